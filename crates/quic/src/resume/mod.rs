//! What is remembered between connections, and 0-RTT, which relies on it (RFC 9001 section 4.6).

mod early;
mod memory;
mod session;

pub(crate) use early::ZeroRtt;
pub use memory::Memory;
pub(crate) use session::{RememberedSession, admits, lowered, remembered, terms, ticket_key};

use std::sync::Arc;

/// The entry of a connection's server in its client's memory.
#[derive(Debug, Clone)]
pub(crate) struct RememberedServer {
    pub(crate) memory: Memory,
    /// The authority: see [`Memory`].
    pub(crate) server: Arc<str>,
}
