//! A bulk transfer by quinn-proto.

use crate::case::{BULK, Case, Protection, Transfer};
use crate::clock;
use crate::quinn::{Contexts, transfer};

/// The case: data packets delivered per CPU second.
pub(super) struct Bulk {
    protection: Protection,
    contexts: Contexts,
    last: Option<Transfer>,
}

impl Bulk {
    /// Prepares everything that is not measured: configurations and certificates.
    pub(super) fn new(protection: Protection) -> Bulk {
        Bulk { protection, contexts: Contexts::new(protection), last: None }
    }
}

impl Case for Bulk {
    fn name(&self) -> &'static str {
        match self.protection {
            Protection::Null => "quinn-null",
            Protection::Tls => "quinn-tls",
        }
    }

    fn unit(&self) -> &'static str {
        "data packets per CPU second"
    }

    fn about(&self) -> &'static str {
        match self.protection {
            Protection::Null => "quinn-proto, bulk transfer, no cryptography",
            Protection::Tls => "quinn-proto, bulk transfer, AES-128-GCM (rustls with ring)",
        }
    }

    fn run(&mut self) -> f64 {
        let (outcome, seconds) = clock::time(|| transfer(&self.contexts, BULK));
        assert_eq!(outcome.bytes, BULK as u64, "all bytes arrive");
        self.last = Some(outcome);
        outcome.data_packets as f64 / seconds
    }

    fn transfer(&self) -> Option<Transfer> {
        self.last
    }
}
