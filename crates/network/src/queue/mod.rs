//! Queues: what waits for transmission, and what is dropped.

mod drop_tail;

pub use drop_tail::DropTail;

use crate::Packet;
use units::parameter::{Arguments, Room, Row};
use units::{Duration, Rate, Time};

/// The most packets that any queue holds, whatever its limit says: a run that fills it has lost its way.
pub const MAX_PACKETS: u64 = 10_000_000;

/// A packet that the queue did not take, or threw out.
#[derive(Debug)]
pub struct Drop {
    /// The packet.
    pub packet: Packet,
}

/// A packet that was thrown out when another was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thrown {
    /// Its bytes on the wire.
    pub size: u32,
    /// Whom it belonged to.
    pub owner: u32,
}

/// A queue. Times never go back from one call to the next.
pub trait Queue {
    /// A packet comes; the queue takes it, marks it, or refuses it.
    ///
    /// # Errors
    /// The packet, if it is not taken.
    fn enqueue(&mut self, now: Time, packet: Packet) -> Result<(), Drop>;
    /// The packet to send next. Packets that are thrown out instead go into `thrown`.
    fn dequeue(&mut self, now: Time, thrown: &mut Vec<Thrown>) -> Option<Packet>;
    /// Packets that wait.
    fn packets(&self) -> u64;
    /// Their bytes on the wire.
    fn bytes(&self) -> u64;
}

/// What a queue may know of its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// The mean rate; `None` if it is unlimited.
    pub rate: Option<Rate>,
    /// The propagation delay there and back.
    pub round_trip: Duration,
}

/// How a queue is made.
pub type Build = fn(&Arguments, Setup) -> Box<dyn Queue>;

/// The queues.
pub static QUEUES: &[Row<Build>] = &[drop_tail::ROW];

/// The room of the queues as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("queues", "what waits for transmission", QUEUES, Some(("drop-tail", "limit")))
}

/// Makes the queue of this name.
///
/// # Errors
/// If the table has no such row.
pub fn build(name: &str, arguments: &Arguments, setup: Setup) -> Result<Box<dyn Queue>, String> {
    let row = QUEUES.iter().find(|row| row.name == name).ok_or_else(|| format!("no queue {name:?}"))?;
    Ok((row.build)(arguments, setup))
}
