//! A page of five objects over HTTP/3, as a complete run: world, endpoints, connection, requests, summary.

use crate::case::{Case, Protection};
use crate::clock;
use crate::quiclab::{Run, Traces, transfer};

/// The number of runs in one measurement: a single run is too short for the clock.
const RUNS: u32 = 500;

/// The objects of the page: a document and what it shows, 100 kB in all.
const APPLICATION: &str = r#"flow.download.application={ type = "http3", sizes = ["20 kB"], count = 5 }"#;

/// The bytes of all objects.
const BYTES: u64 = 100_000;

/// The case: microseconds of CPU time per run. The runs share the scenario and its TLS contexts.
pub(super) struct Page {
    prepared: Run,
}

impl Page {
    /// Prepares everything that is not measured: the scenario and its TLS contexts.
    pub(super) fn new() -> Page {
        Page {
            prepared: Run::with(Protection::Null, BYTES as usize, Traces::None, &[APPLICATION.to_owned()]),
        }
    }
}

impl Case for Page {
    fn name(&self) -> &'static str {
        "page-5-objects"
    }

    fn unit(&self) -> &'static str {
        "us"
    }

    fn about(&self) -> &'static str {
        "quiclab, a whole run of a page of 5 objects of 20 kB over HTTP/3, no cryptography"
    }

    fn run(&mut self) -> f64 {
        assert_eq!(transfer(&self.prepared.run()).bytes, BYTES, "all bytes arrive");
        let ((), seconds) = clock::time(|| {
            for _ in 0..RUNS {
                std::hint::black_box(self.prepared.run());
            }
        });
        seconds * 1e6 / f64::from(RUNS)
    }
}
