//! Middleboxes: nodes that do something with the packets that pass.

mod nat;

use crate::address::{NodeId, Port};
use crate::error::BuildError;
use crate::node::Node;
use random::Stream;
use trace::{Interest, Log};
use units::Time;
use units::parameter::{Arguments, Room, Row};

/// A node that sees what passes: it lets packets through by sending them on, changed or not, now or later, and drops the
/// others.
pub trait Middlebox: Node {
    /// What it has counted: names, which end with their unit, and values, always in the same order.
    fn counters(&self) -> Vec<(&'static str, u64)>;
    /// The events that wait for a sink, in the order of time.
    fn log(&mut self) -> &mut Log;
    /// The route to a node leaves by this port: to its own address, or to the address of one of its ports. Called for each
    /// host and middlebox when the world is built, and for each address of a port when it comes into use.
    fn learn_route(&mut self, _to: NodeId, _address_of: Option<Port>, _exit: Port) {}
    /// Why a flow cannot begin whose first packet arrives at one port and leaves by another, if it cannot.
    fn stops(&self, _entry: Port, _exit: Port) -> Option<&'static str> {
        None
    }
    /// Loses its memory, if it has one.
    fn forget(&mut self, _now: Time) {}
    /// Packets that it has dropped, by the number of their flow.
    fn drops_of(&self, _flow: u32) -> u64 {
        0
    }
}

/// What a middlebox is made from.
#[derive(Clone, Copy)]
pub struct MiddleboxOptions<'a> {
    /// The values of the row's options.
    pub arguments: &'a Arguments,
    /// Where it stands.
    pub node: NodeId,
    /// The names of the carriers that its ports lead to, in the order of the ports.
    pub carriers: &'a [String],
    /// How many of them are links; those of media follow.
    pub links: usize,
    /// The name that its random streams begin with: `"node ap"`.
    pub name: &'a str,
    /// The random stream of a name.
    pub stream: &'a dyn Fn(&str) -> Stream,
    /// What is noted in its log.
    pub interest: Interest,
}

impl MiddleboxOptions<'_> {
    /// The random stream for a purpose.
    pub fn stream(&self, purpose: &str) -> Stream {
        (self.stream)(&format!("{} {purpose}", self.name))
    }
}

/// How a middlebox is made.
#[derive(Debug, Clone, Copy)]
pub struct Making {
    /// Whether it has a memory that it can lose: [`Middlebox::forget`].
    pub remembers: bool,
    /// Makes it.
    pub build: fn(&MiddleboxOptions<'_>) -> Result<Box<dyn Middlebox>, BuildError>,
}

/// The middleboxes.
pub static MIDDLEBOXES: &[Row<Making>] = &[nat::ROW];

/// The middleboxes as scenarios and `quiclab list` see them.
pub fn room() -> Room {
    Room::of("middleboxes", "nodes that do something with the packets that pass", MIDDLEBOXES, None)
}

/// Whether the middlebox of this name has a memory that it can lose.
pub fn remembers(name: &str) -> bool {
    MIDDLEBOXES.iter().any(|row| row.name == name && row.build.remembers)
}

/// Makes the middlebox of this name.
///
/// # Errors
/// If the table has no such row, or the options cannot be used.
pub fn build(name: &str, options: &MiddleboxOptions<'_>) -> Result<Box<dyn Middlebox>, BuildError> {
    match MIDDLEBOXES.iter().find(|row| row.name == name) {
        Some(row) => (row.build.build)(options),
        None => Err(BuildError::Unknown { room: "middleboxes", name: name.to_owned() }),
    }
}
