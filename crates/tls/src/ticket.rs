//! A ticket as a client keeps it: what it takes to resume a session (RFC 8446 section 4.6.1).

use rustls::NamedGroup;
use rustls::client::Tls13ClientSessionValue;
use std::fmt;

/// What a client needs to take up a session again. It is used once (RFC 8446 appendix C.4), and by a client of the
/// [`Context`](crate::Context) whose session gave it; under another one the handshake is a full one.
pub struct Ticket {
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    /// Of the TLS library, and the group of the key exchange that the server chose.
    Real(Box<Tls13ClientSessionValue>, Option<NamedGroup>),
    Null(Box<Pass>),
}

/// A ticket of the model.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) name: Vec<u8>,
    pub(crate) early_data: bool,
    /// The date of its receipt, in seconds: the library counts whole ones.
    pub(crate) received: u64,
}

impl Ticket {
    /// Whether the server said that it may take 0-RTT data with it (RFC 9001 section 4.6.1).
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
