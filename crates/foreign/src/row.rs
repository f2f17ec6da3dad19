//! The rows of stacks.

use crate::{Options, STACKS};
use random::Generator;
use std::net::SocketAddr;
use transport::{Connection, Stack};
use units::parameter::{Arguments, Room, Row};

/// The room of stacks.
pub const ROOM: &str = "stacks";

/// An endpoint of another stack, as its host sees it.
pub type Endpoint = Box<dyn Stack<Connection = dyn Connection, Opening = SocketAddr>>;

/// Builds an endpoint.
pub type Build = fn(Setup<'_>) -> Endpoint;

/// The inputs of an endpoint.
#[derive(Debug)]
pub struct Setup<'a> {
    /// Its address.
    pub local: SocketAddr,
    /// The options of its connections.
    pub options: &'a Options,
    /// The options of the stack itself, which its row names.
    pub arguments: &'a Arguments,
    /// Its TLS.
    pub tls: tls::Context,
    /// All that it draws comes from here.
    pub random: Generator,
    /// The most connections that a server accepts at a time; 0 for a client.
    pub max_connections: usize,
}

/// Whose QUIC endpoints a host has: what a row of [`STACKS`] builds.
#[derive(Debug, Clone, Copy)]
pub enum Maker {
    /// Those of this project: nothing here limits them.
    Own,
    /// Those of another project.
    Foreign(&'static Foreign),
}

/// A stack of another project: what it can do, by which scenarios are checked, and how it is built. A flow that needs more is an error
/// when the scenario is read.
#[derive(Debug)]
pub struct Foreign {
    /// The name of the row: `"quinn"`.
    pub name: &'static str,
    /// The name of the project or library, for messages: `"quinn-proto"`.
    pub project: &'static str,
    /// The cargo feature of builds that have it.
    pub feature: &'static str,
    /// Its controllers with which equal seeds give equal runs, by their names in scenarios.
    pub controllers: &'static [&'static str],
    /// The options of `[transport]` that it follows. The others have no effect at an end with this stack.
    pub options: &'static [&'static str],
    /// Whether it has DATAGRAM frames (RFC 9221).
    pub datagrams: bool,
    /// Whether it has RESET_STREAM_AT frames, which applications with deadlines need.
    pub partial_resets: bool,
    /// Whether it sends and accepts 0-RTT data.
    pub early_data: bool,
    /// Builds an endpoint; `None` if this build does not have it.
    pub build: Option<Build>,
}

/// The stacks of hosts as scenarios and `quiclab list` see them.
pub fn room() -> Room {
    Room::of(ROOM, "whose QUIC endpoints a host has", STACKS, None)
}

/// The stack of another project with this name; `None` for the endpoints of this one.
///
/// # Panics
/// If no row has the name: the reader of scenarios refuses those.
pub fn foreign(name: &str) -> Option<&'static Foreign> {
    let row = STACKS.iter().find(|row| row.name == name);
    match row.unwrap_or_else(|| panic!("the reader knows the stack {name:?}")).build {
        Maker::Own => None,
        Maker::Foreign(foreign) => Some(foreign),
    }
}

/// The row of a stack of another project.
pub(crate) const fn row(about: &'static str, foreign: &'static Foreign) -> Row<Maker> {
    Row { name: foreign.name, about, parameters: &[], build: Maker::Foreign(foreign) }
}
