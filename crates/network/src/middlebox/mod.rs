//! Middleboxes: nodes that process packets in transit.

mod ack_pacer;
mod ldad;
mod nat;
mod quic_flows;

use crate::address::{NodeId, Port};
use crate::error::BuildError;
use crate::node::Node;
use random::Generator;
use trace::{Interest, Log};
use units::Time;
use units::parameter::{Arguments, Room, Row};
use units::plugged::Plugged;

pub use nat::forgets_after;
pub use units::plugged::PlugError;

/// A node that processes packets in transit: it forwards a packet, changed or not, now or later, or drops it.
pub trait Middlebox: Node {
    /// The counters: names, which end with their unit, and values, always in the same order.
    fn counters(&self) -> Vec<(&'static str, u64)>;
    /// The events that no sink has taken, in the order of time.
    fn log(&mut self) -> &mut Log;
    /// The route to a node, or to the address of one of its ports, leaves by this port. Called for each host
    /// and middlebox when the world is built, and for the address of a port when it is put into use.
    fn learn_route(&mut self, _to: NodeId, _address_of: Option<Port>, _exit: Port) {}
    /// The reason why a flow cannot begin whose first packet arrives at one port and leaves by another, if
    /// there is one.
    fn stops(&self, _entry: Port, _exit: Port) -> Option<&'static str> {
        None
    }
    /// Clears the memory of the node, if it has one.
    fn forget(&mut self, _now: Time) {}
    /// Passes on the logs of the connections that the node itself has, as a proxy does, and that have records: the number
    /// in the packets that a connection sends ([`crate::Packet::flow`]), the connection's number among those, counted from
    /// 0, and the log.
    fn connection_logs(&mut self, _take: &mut dyn FnMut(u32, u32, &mut Log)) {}
    /// Stops unless what is certain of its memory holds. Called after each of its steps in builds with debug assertions.
    fn check(&self) {}
}

/// The inputs for building a middlebox.
#[derive(Clone, Copy)]
pub struct MiddleboxOptions<'a> {
    /// The values of the row's options.
    pub arguments: &'a Arguments,
    /// The node.
    pub node: NodeId,
    /// The names of the carriers at the ports, in the order of the ports. At a host, the host's own name follows them: the
    /// port to it is the last one, and counts as a link if there are no media.
    pub carriers: &'a [String],
    /// The number of links among the carriers; media follow them.
    pub links: usize,
    /// The prefix of the names of its random streams: `"node ap"`.
    pub name: &'a str,
    /// The random stream with a name.
    pub stream: &'a dyn Fn(&str) -> Generator,
    /// The interest of the log.
    pub interest: Interest,
}

impl MiddleboxOptions<'_> {
    /// The random stream for a purpose.
    pub fn stream(&self, purpose: &str) -> Generator {
        (self.stream)(&format!("{} {purpose}", self.name))
    }
}

/// The constructor of a middlebox.
pub type Build = dyn Fn(&MiddleboxOptions<'_>) -> Result<Box<dyn Middlebox>, BuildError> + Send + Sync;

/// The properties of a middlebox that are known before it is built.
#[derive(Clone, Copy)]
pub struct Profile {
    /// Whether it has a memory to clear: [`Middlebox::forget`].
    pub remembers: bool,
    /// Whether it may stand at a host, before the host's endpoints: [`crate::Front`].
    pub at_hosts: bool,
    /// Builds it.
    pub build: &'static Build,
}

/// The middleboxes.
pub static MIDDLEBOXES: &[Row<Profile>] = &[ack_pacer::ROW, ldad::ROW, nat::ROW];

/// The middleboxes added by the program.
static PLUGGED: Plugged<Profile> = Plugged::none();

/// Adds a middlebox from outside of this crate, which scenarios then find by name like any other. It replaces an added middlebox
/// of the same name.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Profile>) -> Result<(), PlugError> {
    PLUGGED.add(MIDDLEBOXES, row)
}

/// The room of the middleboxes. Scenarios also have those that are put together from endpoints, which this crate does
/// not know.
pub fn room() -> Room {
    PLUGGED.extend(Room::of("middleboxes", "nodes that act on the packets that pass", MIDDLEBOXES, None))
}

/// Whether the middlebox with this name has a memory to clear.
pub fn remembers(name: &str) -> bool {
    PLUGGED.find(MIDDLEBOXES, name).is_some_and(|row| row.build.remembers)
}

/// Whether the middlebox with this name may stand at a host.
pub fn is_for_hosts(name: &str) -> bool {
    PLUGGED.find(MIDDLEBOXES, name).is_some_and(|row| row.build.at_hosts)
}

/// Builds the middlebox with this name.
///
/// # Errors
/// If the table has no such row, or the options cannot be used.
pub fn build(name: &str, options: &MiddleboxOptions<'_>) -> Result<Box<dyn Middlebox>, BuildError> {
    match PLUGGED.find(MIDDLEBOXES, name) {
        Some(row) => (row.build.build)(options),
        None => Err(BuildError::Unknown { room: "middleboxes", name: name.to_owned() }),
    }
}
