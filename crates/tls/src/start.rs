//! What a session begins with.

use crate::keys::known_version;
use crate::ticket::Ticket;
use random::Stream;
use rustls::quic::Version;
use std::fmt;
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
    /// Whether the version may become another.
    pub change: Change,
}

impl Start {
    /// A start at time zero, in a version that stays.
    pub fn new(random: Stream, version: u32, parameters: Vec<u8>) -> Start {
        Start { random, now: Time::ZERO, version, parameters, change: Change::Never }
    }
}

/// Whether a session goes on in another version than it began with: compatible version negotiation (RFC 9368 section
/// 2.3). The versions 1 and 2 have the same handshake messages, and other keys (RFC 9369 section 4).
#[derive(Debug, Default)]
pub enum Change {
    /// It stays.
    #[default]
    Never,
    /// At a client: it may [follow](crate::Session::follow) the server into another, unless it takes up an earlier
    /// session: a ticket is of one version (RFC 9369 section 5).
    Follow,
    /// At a server: it asks when the ClientHello has come.
    Choose(Choose),
}

type Choosing = dyn FnOnce(&Offer<'_>) -> Option<Choice> + Send;

/// How a server chooses: see [`Change::Choose`].
pub struct Choose(Box<Choosing>);

/// What a client says that matters for the choice.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Its encoded transport parameters.
    pub parameters: &'a [u8],
    /// Whether it sends 0-RTT packets, which have the keys of the version that it began with.
    pub early_data: bool,
}

/// The version that a session goes on in, 1 or 2, and the transport parameters that the server says then.
#[derive(Debug)]
pub struct Choice {
    /// The version.
    pub version: u32,
    /// The encoded transport parameters.
    pub parameters: Vec<u8>,
}

impl Choose {
    /// By this function; where it gives `None`, the session goes on as it began.
    pub fn new(choose: impl FnOnce(&Offer<'_>) -> Option<Choice> + Send + 'static) -> Choose {
        Choose(Box::new(choose))
    }

    pub(crate) fn ask(self, offer: &Offer<'_>) -> Option<Choice> {
        (self.0)(offer)
    }
}

impl fmt::Debug for Choose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Choose").finish_non_exhaustive()
    }
}

/// A start that was checked.
pub(crate) struct Opening {
    pub(crate) random: Stream,
    pub(crate) now: Time,
    /// The date at time zero.
    pub(crate) epoch: Duration,
    pub(crate) version: Spoken,
    pub(crate) parameters: Vec<u8>,
    pub(crate) change: Change,
}

/// A version of which keys are known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spoken {
    pub(crate) number: u32,
    pub(crate) keys: Version,
}

/// The version of this number, if its keys are known.
pub(crate) fn spoken(number: u32) -> Option<Spoken> {
    known_version(number).map(|keys| Spoken { number, keys })
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
