//! The inputs of a new session.

use crate::keys::known_version;
use crate::ticket::Ticket;
use random::Generator;
use rustls::quic::Version;
use std::fmt;
use std::time::Duration;
use units::Time;

/// The inputs of either end.
#[derive(Debug)]
pub struct Start {
    /// The session's own random stream.
    pub random: Generator,
    /// The current time, for the age of tickets: see [`Context::with_epoch`](crate::Context::with_epoch).
    pub now: Time,
    /// The QUIC version, 1 or 2 (RFC 9369 section 3.1).
    pub version: u32,
    /// Its encoded transport parameters (RFC 9001 section 8.2).
    pub parameters: Vec<u8>,
    /// Whether the version may change.
    pub change: Change,
}

impl Start {
    /// A start at time zero, in a fixed version.
    pub fn new(random: Generator, version: u32, parameters: Vec<u8>) -> Start {
        Start { random, now: Time::ZERO, version, parameters, change: Change::Never }
    }
}

/// Whether a session may switch to another version: compatible version negotiation (RFC 9368 section 2.3). Versions 1
/// and 2 have the same handshake messages and different keys (RFC 9369 section 4).
#[derive(Debug, Default)]
pub enum Change {
    /// The version is fixed.
    #[default]
    Never,
    /// The client may [follow](crate::Session::follow) the server to another version, unless it resumes a session,
    /// because a ticket belongs to one version (RFC 9369 section 5).
    Follow,
    /// The server chooses when the ClientHello has arrived.
    Choose(Choose),
}

type Choosing = dyn FnOnce(&Offer<'_>) -> Option<Choice> + Send;

/// The choice of a server: see [`Change::Choose`].
pub struct Choose(Box<Choosing>);

/// The parts of a ClientHello that matter for the choice.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// Its encoded transport parameters.
    pub parameters: &'a [u8],
    /// Whether the client sends 0-RTT packets, which have the keys of its original version.
    pub early_data: bool,
}

/// The version for the rest of the session, 1 or 2, and the transport parameters that the server then sends.
#[derive(Debug)]
pub struct Choice {
    /// The version.
    pub version: u32,
    /// The encoded transport parameters.
    pub parameters: Vec<u8>,
}

impl Choose {
    /// Chooses with this function; if it returns `None`, the session keeps its version.
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

/// A validated start.
pub(crate) struct Opening {
    pub(crate) random: Generator,
    pub(crate) now: Time,
    /// The date at time zero.
    pub(crate) epoch: Duration,
    pub(crate) version: KnownVersion,
    pub(crate) parameters: Vec<u8>,
    pub(crate) change: Change,
}

/// A version with known keys.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownVersion {
    pub(crate) number: u32,
    pub(crate) keys: Version,
}

/// The version of this number, if its keys are known.
pub(crate) fn supported_version(number: u32) -> Option<KnownVersion> {
    known_version(number).map(|keys| KnownVersion { number, keys })
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

/// What a client asks the server for.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// The host name; `None` for the one in the options of the context.
    pub server_name: Option<&'a str>,
    /// A session to resume.
    pub ticket: Option<Ticket>,
    /// Whether to offer 0-RTT if the ticket allows it.
    pub early_data: bool,
}

/// The state of 0-RTT on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyData {
    /// The client did not ask for it, or its ClientHello has not arrived yet.
    NotOffered,
    /// The client has asked, and the server has not answered yet.
    Offered,
    /// The server accepts it (RFC 9001 section 4.6.2).
    Accepted,
    /// The server rejects it.
    Rejected,
}
