//! The static properties of an application, in its row of [`APPLICATIONS`].

use crate::{APPLICATIONS, Ends};
use random::Generator;
use units::Size;
pub use units::parameter::OptionError;
use units::parameter::{Arguments, Choice, Room, Row};
pub use units::plugged::PlugError;
use units::plugged::Plugged;
use wire::Side;

/// A function of the options that may reject one of them.
pub type OptionCheck<T> = &'static (dyn Fn(&Arguments) -> Result<T, OptionError> + Send + Sync);
/// Builds both ends of an application. The random stream is exclusive to it.
pub type Build = &'static (dyn Fn(&Arguments, Generator) -> Ends + Send + Sync);
/// A property that depends on the options.
pub type Property = &'static (dyn Fn(&Arguments) -> bool + Send + Sync);

/// The protocol name of applications without a registered one.
pub const UNREGISTERED: &[u8] = b"quiclab";

/// The properties of an application, given its options.
#[derive(Clone, Copy)]
pub struct Profile {
    /// Builds both ends.
    pub build: Build,
    /// The protocol negotiated in the handshake (ALPN, RFC 7301).
    pub alpn: fn(&Arguments) -> &'static [u8],
    /// Checks that it runs over QUIC with these options; `None` if it never does.
    pub over_quic: Option<OptionCheck<()>>,
    /// The maximum number of TCP connections, one per stream, if it runs over TCP with these options; `None` if it
    /// never does.
    pub over_tcp: Option<OptionCheck<usize>>,
    /// Checks that the options are consistent with each other.
    pub check: OptionCheck<()>,
    /// Whether it sends datagrams, which the transport must enable.
    pub datagrams: Property,
    /// Whether its server resets streams whose beginning is still delivered, which the transport must enable.
    pub partial_resets: Property,
    /// Whether it can share a connection with other applications, which requires that its two ends know their protocol without
    /// a handshake.
    pub shares: bool,
    /// Whether it sends by its own clock, and so not more over a faster network.
    pub keeps_time: bool,
    /// Whether its client sends what it uploads on unidirectional streams.
    pub uploads_one_way: bool,
    /// What its options say of its data.
    pub outline: fn(&Arguments) -> Outline,
    /// How it uses other flows as connections of its own; `None` if it does not.
    pub many: Option<Many>,
    /// The flow whose application uses this one's connections; `None` for an application of its own.
    pub branch: Option<Branch>,
}

/// What the options of an application say of its data before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    /// The size of its transfer; `None` if it has none that is known, or no end.
    pub size: Option<Size>,
    /// Whether the client sends it.
    pub uploads: bool,
    /// The streams that carry it at once.
    pub streams: u64,
}

impl Outline {
    /// Of an application whose options say nothing of it: it downloads.
    pub(crate) const UNKNOWN: Outline = Outline { size: None, uploads: false, streams: 1 };
}

/// An application that uses other flows, its branches, as connections of its own: see [`transport::Program`].
#[derive(Debug, Clone, Copy)]
pub struct Many {
    /// The names of the connections to each branch, given the options of the branches; the first of each has no name.
    pub names: fn(&Arguments, &[&Arguments]) -> Names,
    /// Builds the ends of all connections: its own, and those of its branches in the order of their names.
    pub build: fn(&Arguments, &[&Arguments], Generator) -> Vec<Ends>,
}

/// The names of the connections to each branch.
pub type Names = Result<Vec<Vec<String>>, Misfit>;

/// Connections that belong to the application of another flow.
#[derive(Debug, Clone, Copy)]
pub struct Branch {
    /// The name of that flow.
    pub of: fn(&Arguments) -> String,
    /// The end of that flow at whose host these connections begin.
    pub from: Side,
}

/// Why a branch does not fit its application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The number of the branch, or `None` for the application itself.
    pub branch: Option<usize>,
    /// The option at fault.
    pub option: &'static str,
    /// A description.
    pub problem: String,
}

impl Profile {
    /// An application that only runs over QUIC, with an unregistered protocol, without datagrams, on its own
    /// connection, and with options that are always consistent.
    pub const fn of(build: Build) -> Profile {
        Profile {
            build,
            alpn: |_| UNREGISTERED,
            over_quic: Some(&|_| Ok(())),
            over_tcp: None,
            check: &|_| Ok(()),
            datagrams: &|_| false,
            partial_resets: &|_| false,
            shares: false,
            keeps_time: false,
            uploads_one_way: false,
            outline: |_| Outline::UNKNOWN,
            many: None,
            branch: None,
        }
    }
}

/// The applications added by the program.
static PLUGGED: Plugged<Profile> = Plugged::none();

/// Adds an application from outside of this crate, which scenarios then find by name like any other. It replaces an added
/// application of the same name.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Profile>) -> Result<(), PlugError> {
    PLUGGED.add(APPLICATIONS, row)
}

/// The table of applications for scenarios and `quiclab list`.
pub fn room() -> Room {
    let room = Room::of("applications", "what generates the traffic", APPLICATIONS, None);
    PLUGGED.extend(room.checked_by(check))
}

/// The properties of the application with this name.
pub(crate) fn find(name: &str) -> Option<Profile> {
    PLUGGED.find(APPLICATIONS, name).map(|row| row.build)
}

/// Builds both ends of the application with this name; `None` if there is no such row.
pub fn build(name: &str, arguments: &Arguments, stream: Generator) -> Option<Ends> {
    find(name).map(|profile| (profile.build)(arguments, stream))
}

/// The end of that flow at whose host the connections of the application with this name begin; `None` for one of its own.
pub fn branch_from(name: &str) -> Option<Side> {
    find(name).and_then(|profile| profile.branch).map(|branch| branch.from)
}

/// The flow whose application uses the connections of the application with this name; `None` for one of its own.
pub fn branch_of(name: &str, arguments: &Arguments) -> Option<String> {
    find(name).and_then(|profile| profile.branch).map(|branch| (branch.of)(arguments))
}

/// How the application with this name uses other flows; `None` if it does not.
pub fn many(name: &str) -> Option<Many> {
    find(name).and_then(|profile| profile.many)
}

/// What the options of the application with this name say of its data.
pub fn outline(name: &str, arguments: &Arguments) -> Outline {
    find(name).map_or(Outline::UNKNOWN, |profile| (profile.outline)(arguments))
}

/// The protocol that the application with this name and these options negotiates in the handshake (ALPN, RFC 7301).
pub fn alpn(name: &str, arguments: &Arguments) -> &'static [u8] {
    find(name).map_or(UNREGISTERED, |profile| (profile.alpn)(arguments))
}

/// The maximum number of TCP connections of an application with these options: one per stream.
///
/// # Errors
/// If it does not run over TCP, or needs more than [`transport::MAX_CONNECTIONS`].
pub fn tcp_connections(name: &str, arguments: &Arguments) -> Result<usize, OptionError> {
    match find(name).and_then(|profile| profile.over_tcp) {
        Some(connections) => connections(arguments),
        None => Err(("", format!("{name:?} does not go over TCP; expected protocol = \"quic\""))),
    }
}

/// Checks that an application with these options runs over QUIC.
///
/// # Errors
/// If it does not.
pub fn goes_over_quic(name: &str, arguments: &Arguments) -> Result<(), OptionError> {
    match find(name).and_then(|profile| profile.over_quic) {
        Some(fits) => fits(arguments),
        None => Err(("", format!("{name:?} does not go over QUIC; expected protocol = \"tcp\""))),
    }
}

/// Checks that the options are consistent with each other.
///
/// # Errors
/// An inconsistency between options, such as a message shorter than its header.
pub fn check(name: &str, arguments: &Arguments) -> Result<(), OptionError> {
    find(name).map_or(Ok(()), |profile| (profile.check)(arguments))
}

/// Whether an application with these options sends datagrams, which the transport must enable.
pub fn needs_datagrams(name: &str, arguments: &Arguments) -> bool {
    find(name).is_some_and(|profile| (profile.datagrams)(arguments))
}

/// Whether the server of an application with these options resets streams whose beginning is still delivered, which the
/// transport must enable.
pub fn needs_partial_resets(name: &str, arguments: &Arguments) -> bool {
    find(name).is_some_and(|profile| (profile.partial_resets)(arguments))
}

/// Whether an application sends by its own clock, and so not more over a faster network.
pub fn keeps_time(name: &str) -> bool {
    find(name).is_some_and(|profile| profile.keeps_time)
}

/// Whether the client of an application sends what it uploads on unidirectional streams.
pub fn uploads_one_way(name: &str) -> bool {
    find(name).is_some_and(|profile| profile.uploads_one_way)
}

/// The number of TCP connections of an application with the option `over`: one if everything goes on one stream, which
/// is all that TCP can carry.
pub(crate) fn one_stream<T: Choice + PartialEq>(over: &T, one: &T) -> Result<usize, OptionError> {
    if over == one {
        return Ok(1);
    }
    let (found, expected) = (over.word(), one.word());
    Err((
        "over",
        format!("found {found:?}, which does not go over TCP; expected {expected:?}, or protocol = \"quic\""),
    ))
}
