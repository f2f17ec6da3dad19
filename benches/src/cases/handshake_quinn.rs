//! A handshake and 1 kB by quinn-proto, as a complete run: endpoints, connection, transfer.

use crate::case::{Case, Protection};
use crate::clock;
use crate::quinn::{Contexts, transfer};

/// The number of runs in one measurement: a single run is too short for the clock.
const RUNS: u32 = 500;

/// The case: microseconds of CPU time per run. The contexts are built once.
pub(super) struct Handshake {
    protection: Protection,
    contexts: Contexts,
}

impl Handshake {
    /// Prepares everything that is not measured: configurations and certificates.
    pub(super) fn new(protection: Protection) -> Handshake {
        Handshake { protection, contexts: Contexts::new(protection) }
    }
}

impl Case for Handshake {
    fn name(&self) -> &'static str {
        match self.protection {
            Protection::Null => "handshake-1kB-quinn-null",
            Protection::Tls => "handshake-1kB-quinn",
        }
    }

    fn unit(&self) -> &'static str {
        "us"
    }

    fn about(&self) -> &'static str {
        match self.protection {
            Protection::Null => {
                "quinn-proto, a whole run of handshake and 1 kB, a modelled handshake without cryptography"
            }
            Protection::Tls => {
                "quinn-proto, a whole run of handshake and 1 kB, a full TLS handshake (X25519, P-256)"
            }
        }
    }

    fn run(&mut self) -> f64 {
        let ((), seconds) = clock::time(|| {
            for _ in 0..RUNS {
                assert_eq!(transfer(&self.contexts, 1000).bytes, 1000, "all bytes arrive");
            }
        });
        seconds * 1e6 / f64::from(RUNS)
    }
}
