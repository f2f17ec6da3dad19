//! What is remembered between connections, and what becomes of data that relies on it (0-RTT, RFC 9001 section 4.6).

mod early;
mod memory;
mod session;

pub(crate) use early::ZeroRtt;
pub use memory::Memory;
pub(crate) use session::{Session, admits, lowered, remembered, terms};

use std::sync::Arc;

/// A client's memory, and the server of the connection that remembers.
#[derive(Debug, Clone)]
pub(crate) struct Remembering {
    pub(crate) memory: Memory,
    /// The authority: see [`Memory`].
    pub(crate) server: Arc<str>,
}
