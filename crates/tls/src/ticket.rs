//! A client's ticket: what it needs to resume a session (RFC 8446 section 4.6.1).

use rustls::NamedGroup;
use rustls::client::Tls13ClientSessionValue;
use std::fmt;

/// A ticket for resuming a session. It is used once (RFC 8446 appendix C.4), by a client of the
/// [`Context`](crate::Context) whose session received it; with any other context the handshake is a full one.
pub struct Ticket {
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    /// A ticket of the TLS library, and the key exchange group that the server chose.
    Real(Box<Tls13ClientSessionValue>, Option<NamedGroup>),
    Null(Box<ModelTicket>),
}

/// A ticket of the model.
#[derive(Debug)]
pub(crate) struct ModelTicket {
    pub(crate) name: Vec<u8>,
    pub(crate) early_data: bool,
    /// The date of receipt in seconds; the library also counts whole seconds.
    pub(crate) received: u64,
}

impl Ticket {
    /// Whether the server announced that it may accept 0-RTT data with this ticket (RFC 9001 section 4.6.1).
    pub fn allows_early_data(&self) -> bool {
        match &self.kind {
            Kind::Real(value, _) => value.max_early_data_size() > 0,
            Kind::Null(pass) => pass.early_data,
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("allows_early_data", &self.allows_early_data()).finish_non_exhaustive()
    }
}
