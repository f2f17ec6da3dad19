//! The memory of both ends of a connection at rest.

use crate::case::{Case, Protection};
use crate::heap;
use crate::quiclab::{Contexts, Pair};

/// The case: bytes on the heap for two endpoints with their connection, without what connections share.
pub(super) struct IdlePair {
    protection: Protection,
    contexts: Contexts,
}

impl IdlePair {
    /// Builds what connections share: the TLS contexts and the options.
    pub(super) fn new(protection: Protection) -> IdlePair {
        IdlePair { protection, contexts: Contexts::new(protection) }
    }
}

impl Case for IdlePair {
    fn name(&self) -> &'static str {
        match self.protection {
            Protection::Null => "idle-pair",
            Protection::Tls => "idle-pair-tls",
        }
    }

    fn unit(&self) -> &'static str {
        "bytes"
    }

    fn about(&self) -> &'static str {
        match self.protection {
            Protection::Null => "quiclab, two endpoints and their connection at rest, no cryptography",
            Protection::Tls => "quiclab, two endpoints and their connection at rest, with TLS",
        }
    }

    fn run(&mut self) -> f64 {
        let (pair, heap) = heap::count(|| Box::new(Pair::at_rest(&self.contexts)));
        drop(pair);
        heap.held as f64
    }
}
