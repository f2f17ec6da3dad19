//! What is remembered between connections, and 0-RTT, which relies on it (RFC 9001 section 4.6).

mod early;
mod memory;
mod session;

pub(crate) use early::ZeroRtt;
pub use memory::Memory;
pub(crate) use session::{Session, admits, lowered, remembered, terms};

use std::sync::Arc;

/// A client's memory, and the key of a connection's server in it.
#[derive(Debug, Clone)]
pub(crate) struct Remembering {
    pub(crate) memory: Memory,
    /// The authority: see [`Memory`].
    pub(crate) server: Arc<str>,
}
