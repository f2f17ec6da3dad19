//! The memory of a connection at rest, both ends of it.

use crate::case::{Case, Protection};
use crate::heap;
use crate::quiclab::{Contexts, Pair};

/// The case: bytes on the heap, both endpoints with their connection, what connections share being left out.
pub(super) struct IdlePair {
    protection: Protection,
    contexts: Contexts,
}

impl IdlePair {
    /// Builds what is shared: the TLS contexts, the options.
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
