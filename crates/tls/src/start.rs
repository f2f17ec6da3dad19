//! What a session begins with.

use crate::ticket::Ticket;
use random::Stream;
use rustls::quic::Version;
use std::time::Duration;
use units::Time;

/// What each end begins with.
#[derive(Debug)]
pub struct Start {
    /// What it draws from, for itself alone.
    pub random: Stream,
    /// The time, from which tickets age: see [`Context::with_epoch`](crate::Context::with_epoch).
    pub now: Time,
    /// The QUIC version, 1 or 2 (RFC 9369 section 3.1).
    pub version: u32,
    /// Its encoded transport parameters (RFC 9001 section 8.2).
    pub parameters: Vec<u8>,
}

impl Start {
    /// A start at time zero.
    pub fn new(random: Stream, version: u32, parameters: Vec<u8>) -> Start {
        Start { random, now: Time::ZERO, version, parameters }
    }
}

/// A start that was checked.
pub(crate) struct Opening {
    pub(crate) random: Stream,
    pub(crate) now: Time,
    /// The date at time zero.
    pub(crate) epoch: Duration,
    pub(crate) version: Version,
    pub(crate) parameters: Vec<u8>,
}

impl Opening {
    /// The date.
    pub(crate) fn date(&self) -> Duration {
        date(self.epoch, self.now)
    }
}

/// The date at `now`, given that at time zero.
pub(crate) fn date(epoch: Duration, now: Time) -> Duration {
    epoch.saturating_add(Duration::from_nanos(now.as_nanos()))
}

/// What a client asks of the server.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// The name of the host; `None`: the one in the options of the context.
    pub server_name: Option<&'a str>,
    /// A session to take up again.
    pub ticket: Option<Ticket>,
    /// Whether to offer 0-RTT, if the ticket allows it.
    pub early_data: bool,
}

/// What becomes of 0-RTT on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyData {
    /// The client did not ask for it, or the server has not heard of it yet.
    NotOffered,
    /// The client has asked; the server has not answered yet.
    Offered,
    /// The server takes it (RFC 9001 section 4.6.2).
    Accepted,
    /// The server does not take it.
    Rejected,
}
