//! Queues: what waits for transmission, what is dropped, and what is marked.

mod codel;
mod drop_head;
mod drop_tail;
mod dualpi2;
mod error;
mod fifo;
mod fq_codel;
mod limit;
mod pie;
mod policer;
mod priority;
mod red;
mod ticks;

pub use drop_tail::DropTail;
pub use error::QueueError;
pub use limit::{Bound, Full};

use crate::count::Count;
use crate::packet::Packet;
use random::Stream;
use units::parameter::{Arguments, Room, Row};
use units::{Duration, Rate, Time};
use wire::Ecn;

/// The most packets that any queue holds, whatever its limit says. A queue that would need more reports an overflow,
/// and the run ends with an error instead of with the machine's memory.
pub const MAX_PACKETS: u64 = 1 << 20;

/// What waits for transmission. A queue is in front of a server that takes one packet after the other.
///
/// The contract:
/// * Times never go back from one call to the next. At one instant departures come before arrivals.
/// * The packet in transmission is not in the queue.
/// * [`Packet::entered`] of a packet that comes is the time of the call.
/// * A queue is work-conserving: if packets wait, `dequeue` gives one of them, unless it drops all of them.
/// * A packet that is handed in leaves by `dequeue` or `pass`, or in the report's list of drops, and nowhere else.
/// * A queue that works on a timer (PIE, DualPI2) makes up for the ticks since its last call in the next one: only
///   `enqueue` and `dequeue` can see a difference.
pub trait Queue {
    /// A packet comes: the queue takes it, marks it, or drops it or others for it.
    fn enqueue(&mut self, now: Time, packet: Box<Packet>, report: &mut Report);
    /// The packet to send next. Others may be dropped before it is found.
    fn dequeue(&mut self, now: Time, report: &mut Report) -> Option<Box<Packet>>;
    /// A packet comes while nothing waits and the server is free: it goes through at once, whatever the limit, which
    /// bounds what waits.
    #[inline]
    fn pass(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        self.enqueue(now, packet, report);
        self.dequeue(now, report)
    }
    /// What waits.
    fn waiting(&self) -> Count;
}

/// What a queue did beside taking and giving, during one call.
#[derive(Debug, Default)]
pub struct Report {
    /// Packets that it dropped, in order; those that came and those that waited.
    pub dropped: Vec<Box<Packet>>,
    /// Packets that it marked with CE (RFC 3168 section 5).
    pub marked: u64,
    /// Whether the queue would have had to hold more than [`MAX_PACKETS`].
    pub overflow: bool,
}

impl Report {
    /// Drops a packet.
    #[inline]
    pub fn drop(&mut self, packet: Box<Packet>) {
        self.dropped.push(packet);
    }
    /// Marks a packet if it is ECN-capable; else gives `false`, and the queue drops it if it wants to signal.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let capable = packet.ecn.is_capable();
        if capable {
            packet.ecn = Ecn::Ce;
            self.marked += 1;
        }
        capable
    }
    /// Whether there is nothing to report.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marked == 0 && !self.overflow
    }
}

/// What a queue may know of its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup<'a> {
    /// The mean rate; `None` if it is unlimited.
    pub rate: Option<Rate>,
    /// The base RTT that a bandwidth-delay product counts with.
    pub round_trip: Duration,
    /// The largest packet in bytes.
    pub mtu: u32,
    /// The numbers of packets' flows ([`Packet::flow`]) by the names that the scenario gives them; a flow has one for
    /// each of its ends.
    pub flows: &'a [(String, u32)],
}

/// A queue as a link holds it. The one that stands on nearly every link is known to the compiler.
pub enum Waiting {
    /// The plain one.
    DropTail(DropTail),
    /// Any other.
    Other(Box<dyn Queue>),
}

impl Queue for Waiting {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) {
        match self {
            Waiting::DropTail(queue) => queue.enqueue(now, packet, report),
            Waiting::Other(queue) => queue.enqueue(now, packet, report),
        }
    }
    #[inline]
    fn dequeue(&mut self, now: Time, report: &mut Report) -> Option<Box<Packet>> {
        match self {
            Waiting::DropTail(queue) => queue.dequeue(now, report),
            Waiting::Other(queue) => queue.dequeue(now, report),
        }
    }
    #[inline]
    fn pass(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        match self {
            Waiting::DropTail(queue) => queue.pass(now, packet, report),
            Waiting::Other(queue) => queue.pass(now, packet, report),
        }
    }
    #[inline]
    fn waiting(&self) -> Count {
        match self {
            Waiting::DropTail(queue) => queue.waiting(),
            Waiting::Other(queue) => queue.waiting(),
        }
    }
}

/// How a queue is made. The stream is for queues that draw.
pub type Build = fn(&Arguments, Setup<'_>, Stream) -> Result<Waiting, QueueError>;

/// The queues.
pub static QUEUES: &[Row<Build>] = &[
    drop_tail::ROW,
    drop_head::ROW,
    codel::ROW,
    fq_codel::ROW,
    red::ROW,
    pie::ROW,
    dualpi2::ROW,
    priority::ROW,
    policer::ROW,
];

/// The room of the queues as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of(
        "queues",
        "what waits for transmission, and what is dropped",
        QUEUES,
        Some(("drop-tail", "limit")),
    )
}

/// Makes the queue of this name.
///
/// # Errors
/// If the table has no such row, or the options do not do.
pub fn build(
    name: &str,
    arguments: &Arguments,
    setup: Setup<'_>,
    stream: Stream,
) -> Result<Waiting, QueueError> {
    match QUEUES.iter().find(|row| row.name == name) {
        Some(row) => (row.build)(arguments, setup, stream),
        None => Err(QueueError::Unknown(name.to_owned())),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of queues share.

    use super::{Queue, Report, Setup};
    use crate::packet::Packet;
    use units::{Duration, Time};
    use wire::Ecn;

    /// A link without a rate.
    pub(crate) const SETUP: Setup<'_> =
        Setup { rate: None, round_trip: Duration::ZERO, mtu: 1500, flows: &[] };

    /// So many milliseconds.
    pub(crate) fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    /// A packet of a flow, with so many bytes on the wire, that came at time zero.
    pub(crate) fn packet(flow: u32, size: u32) -> Box<Packet> {
        let at = ([10, 0, 0, 1], 1).into();
        let mut packet = Packet::new(at, at, Vec::new(), None);
        (packet.flow, packet.size) = (flow, size);
        Box::new(packet)
    }
    /// One of 1500 bytes with this ECN field.
    pub(crate) fn ecn(flow: u32, ecn: Ecn) -> Box<Packet> {
        let mut packet = packet(flow, 1500);
        packet.ecn = ecn;
        packet
    }
    /// The flows of all that leave a queue at one time.
    pub(crate) fn drain(queue: &mut impl Queue, at: Time) -> Vec<u32> {
        let mut report = Report::default();
        std::iter::from_fn(|| queue.dequeue(at, &mut report)).map(|packet| packet.flow).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ecn_capable_packets_are_marked() {
        let mut report = Report::default();
        let at = ([10, 0, 0, 1], 1).into();
        let mut packet = Packet::new(at, at, Vec::new(), None);
        assert!(!report.mark(&mut packet));
        assert!(report.is_empty() && packet.ecn == Ecn::NotEct);
        packet.ecn = Ecn::Ect0;
        assert!(report.mark(&mut packet));
        assert_eq!((report.marked, packet.ecn), (1, Ecn::Ce));
    }
}
