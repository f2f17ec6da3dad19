//! What is remembered between connections.

mod memory;

pub use memory::Memory;

use std::sync::Arc;

/// A client's memory, and the server of the connection that remembers.
#[derive(Debug, Clone)]
pub(crate) struct Remembering {
    pub(crate) memory: Memory,
    /// The authority: see [`Memory`].
    pub(crate) server: Arc<str>,
}
