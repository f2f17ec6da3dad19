//! A handshake and 1 kB by quiclab, as a complete run: world, endpoints, connection, transfer, summary.

use crate::case::{Case, Protection};
use crate::clock;
use crate::quiclab::{Run, Traces, transfer};

/// The number of runs in one measurement: a single run is too short for the clock.
const RUNS: u32 = 500;

/// The case: microseconds of CPU time per run. The runs share the scenario and its TLS contexts.
pub(super) struct Handshake {
    protection: Protection,
    prepared: Run,
}

impl Handshake {
    /// Prepares everything that is not measured: the scenario and its TLS contexts.
    pub(super) fn new(protection: Protection) -> Handshake {
        Handshake { protection, prepared: Run::new(protection, 1000, Traces::None) }
    }
}

impl Case for Handshake {
    fn name(&self) -> &'static str {
        match self.protection {
            Protection::Null => "handshake-1kB-null",
            Protection::Tls => "handshake-1kB-tls",
        }
    }

    fn unit(&self) -> &'static str {
        "us"
    }

    fn about(&self) -> &'static str {
        match self.protection {
            Protection::Null => "quiclab, a whole run of handshake and 1 kB, no cryptography",
            Protection::Tls => {
                "quiclab, a whole run of handshake and 1 kB, a full TLS handshake (X25519, Ed25519)"
            }
        }
    }

    fn run(&mut self) -> f64 {
        assert_eq!(transfer(&self.prepared.run()).bytes, 1000, "all bytes arrive");
        let ((), seconds) = clock::time(|| {
            for _ in 0..RUNS {
                std::hint::black_box(self.prepared.run());
            }
        });
        seconds * 1e6 / f64::from(RUNS)
    }
}
