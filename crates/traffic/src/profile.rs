//! What is known of an application before it runs: its profile, in its row of [`APPLICATIONS`].

use crate::{APPLICATIONS, Ends};
use random::Stream;
use units::parameter::Arguments;

/// An option, empty if it is the application itself, and a sentence about what is wrong with it.
pub type Misfit = (&'static str, String);

/// What options come to, or the one of them that does not fit.
pub type Fit<T> = fn(&Arguments) -> Result<T, Misfit>;

/// What applications agree on whose protocol is registered nowhere.
pub const UNREGISTERED: &[u8] = b"quiclab";

/// All that is known of an application, given its options, before it runs.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// Makes both its ends. What they draw comes from the stream, which no other application has.
    pub build: fn(&Arguments, Stream) -> Ends,
    /// The protocol that the ends agree on in the handshake (ALPN, RFC 7301).
    pub alpn: fn(&Arguments) -> &'static [u8],
    /// Whether it goes over QUIC with these options; `None`: never.
    pub over_quic: Option<Fit<()>>,
    /// How many connections it opens over TCP at most, one for each of its streams, if it goes over TCP with these options;
    /// `None`: never.
    pub over_tcp: Option<Fit<usize>>,
    /// Whether its options fit together, as far as a single value does not show it.
    pub check: Fit<()>,
    /// Whether it sends datagrams, which the transport must be told to take.
    pub datagrams: fn(&Arguments) -> bool,
    /// Whether it can share a connection with others: one that needs nothing of the handshake can.
    pub shares: bool,
}

impl Profile {
    /// An application that goes over QUIC only, under an unregistered protocol, by streams, on a connection of its own, and
    /// whose options fit together whatever they are.
    pub const fn of(build: fn(&Arguments, Stream) -> Ends) -> Profile {
        Profile {
            build,
            alpn: |_| UNREGISTERED,
            over_quic: Some(|_| Ok(())),
            over_tcp: None,
            check: |_| Ok(()),
            datagrams: |_| false,
            shares: false,
        }
    }
}

fn find(name: &str) -> Option<&'static Profile> {
    APPLICATIONS.iter().find(|row| row.name == name).map(|row| &row.build)
}

/// Makes both ends of the application of this name; `None` if the table has no such row.
pub fn build(name: &str, arguments: &Arguments, stream: Stream) -> Option<Ends> {
    find(name).map(|profile| (profile.build)(arguments, stream))
}

/// The protocol that the application of this name, with these options, agrees on in the handshake (ALPN, RFC 7301).
pub fn alpn(name: &str, arguments: &Arguments) -> &'static [u8] {
    find(name).map_or(UNREGISTERED, |profile| (profile.alpn)(arguments))
}

/// How many connections an application with these options opens over TCP at most: one for each of its streams.
///
/// # Errors
/// If it does not go over TCP, or needs more than [`transport::MAX_CONNECTIONS`].
pub fn tcp_connections(name: &str, arguments: &Arguments) -> Result<usize, Misfit> {
    match find(name).and_then(|profile| profile.over_tcp) {
        Some(connections) => connections(arguments),
        None => Err(("", format!("{name:?} does not go over TCP; expected protocol = \"quic\""))),
    }
}

/// Whether an application with these options goes over QUIC.
///
/// # Errors
/// If it does not.
pub fn goes_over_quic(name: &str, arguments: &Arguments) -> Result<(), Misfit> {
    match find(name).and_then(|profile| profile.over_quic) {
        Some(fits) => fits(arguments),
        None => Err(("", format!("{name:?} does not go over QUIC; expected protocol = \"tcp\""))),
    }
}

/// Whether options fit together: the option that does not, and what is wrong with it.
///
/// # Errors
/// What a single value does not show to be wrong: a message that is shorter than its header, say.
pub fn check(name: &str, arguments: &Arguments) -> Result<(), Misfit> {
    find(name).map_or(Ok(()), |profile| (profile.check)(arguments))
}

/// Whether an application with these options sends datagrams, which the transport must be told to take.
pub fn needs_datagrams(name: &str, arguments: &Arguments) -> bool {
    find(name).is_some_and(|profile| (profile.datagrams)(arguments))
}

/// The connections of an application whose option `over` says whether all goes on one stream, which is what TCP can carry.
pub(crate) fn one_stream(arguments: &Arguments) -> Result<usize, Misfit> {
    match arguments.text("over").as_str() {
        "stream" => Ok(1),
        over => Err((
            "over",
            format!(
                "found {over:?}, which does not go over TCP; expected \"stream\", or protocol = \"quic\""
            ),
        )),
    }
}
