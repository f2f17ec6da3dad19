//! Queues: which packets wait, which are dropped, and which are marked.

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
pub use policer::policed_rate;
pub use units::plugged::PlugError;

use crate::count::Count;
use crate::packet::Packet;
use random::Generator;
use units::parameter::{Arguments, Component, Limit, Room, Row};
use units::plugged::Plugged;
use units::{Duration, Rate, Time};
use wire::Ecn;

/// The maximum number of packets in any queue, whatever its limit. A queue that would need more reports an
/// overflow, and the run ends with an error before the machine's memory does.
pub const MAX_PACKETS: u64 = 1 << 20;

/// The limit of a queue of the table by its options; `None` if it has none, or is one from outside.
pub fn limit_of(queue: &Component) -> Option<Limit> {
    let is_known = QUEUES.iter().any(|row| row.name == queue.name);
    if is_known { queue.arguments.given(drop_tail::LIMIT) } else { None }
}

/// The packets that wait for transmission, in front of a server that takes one packet at a time.
///
/// The contract:
/// * Time never goes back from one call to the next. At one instant departures precede arrivals.
/// * The packet in transmission is not in the queue.
/// * [`Packet::entered`] of an arriving packet is the time of the call.
/// * A queue is work-conserving: if packets wait, `dequeue` returns one of them, unless it drops all of them.
/// * A packet that was handed in leaves by `dequeue`, by `pass`, or in the report's list of drops, and nowhere
///   else.
/// * A queue that works on a timer (PIE, DualPI2) processes the ticks since its last call in the next one: only
///   `enqueue` and `dequeue` can observe a difference.
pub trait Queue {
    /// Handles an arriving packet: enqueues it, marks it, drops it, or drops others to make room.
    fn enqueue(&mut self, now: Time, packet: Box<Packet>, report: &mut Report);
    /// The next packet to send. Others may be dropped before it is found.
    fn dequeue(&mut self, now: Time, report: &mut Report) -> Option<Box<Packet>>;
    /// Handles a packet that arrives while nothing waits and the server is free: it passes at once, regardless
    /// of the limit, which bounds waiting packets.
    #[inline]
    fn pass(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        self.enqueue(now, packet, report);
        self.dequeue(now, report)
    }
    /// The number of waiting packets.
    fn waiting(&self) -> Count;
    /// Shows every waiting packet, in any order: for the books at the end of a run.
    fn each(&self, show: &mut dyn FnMut(&Packet));
    /// Stops unless what is certain of its contents holds. Called after each of the calls above, by tests, by the fuzzer and
    /// in builds with debug assertions; there the buffer that drives a queue checks the contract, too.
    fn check(&self) {}
}

/// The drops and marks of a queue during one call.
#[derive(Debug, Default)]
pub struct Report {
    /// Dropped packets in order, both arriving and waiting ones.
    pub dropped: Vec<Box<Packet>>,
    /// The number of packets marked with CE (RFC 3168 section 5).
    pub marked: u64,
    /// Whether the queue would have exceeded [`MAX_PACKETS`].
    pub overflow: bool,
}

impl Report {
    /// Drops a packet.
    #[inline]
    pub fn drop(&mut self, packet: Box<Packet>) {
        self.dropped.push(packet);
    }
    /// Marks a packet if it is ECN-capable. Otherwise returns `false`, and the queue drops the packet if it
    /// wants to signal congestion.
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

/// The properties of a link that its queue may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkProperties<'a> {
    /// The mean rate; `None` if it is unlimited.
    pub rate: Option<Rate>,
    /// The base RTT for bandwidth-delay products.
    pub round_trip: Duration,
    /// The maximum packet size in bytes.
    pub mtu: u32,
    /// The numbers of packets' flows ([`Packet::flow`]) by the names in the scenario; a flow has one for each
    /// of its ends.
    pub flows: &'a [(String, u32)],
}

/// A queue of a link. The most common one is known to the compiler.
pub enum Waiting {
    /// Drop-tail.
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
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        match self {
            Waiting::DropTail(queue) => queue.each(show),
            Waiting::Other(queue) => queue.each(show),
        }
    }
    fn check(&self) {
        match self {
            Waiting::DropTail(queue) => queue.check(),
            Waiting::Other(queue) => queue.check(),
        }
    }
}

/// The constructor of a queue. The stream is for queues that draw.
pub type Build =
    &'static (dyn Fn(&Arguments, LinkProperties<'_>, Generator) -> Result<Waiting, QueueError> + Send + Sync);

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

/// The queues added by the program.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds a queue from outside of this crate, which scenarios then find by name like any other. It replaces an added queue
/// of the same name.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(QUEUES, row)
}

/// The room of the queues as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    PLUGGED.extend(Room::of(
        "queues",
        "what waits for transmission, and what is dropped",
        QUEUES,
        Some(("drop-tail", "limit")),
    ))
}

/// Builds the queue with this name.
///
/// # Errors
/// If the table has no such row, or the options are invalid.
pub fn build(
    name: &str,
    arguments: &Arguments,
    setup: LinkProperties<'_>,
    stream: Generator,
) -> Result<Waiting, QueueError> {
    match PLUGGED.find(QUEUES, name) {
        Some(row) => (row.build)(arguments, setup, stream),
        None => Err(QueueError::Unknown(name.to_owned())),
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Helpers for tests of queues.

    use super::{LinkProperties, Queue, Report};
    use crate::packet::Packet;
    use units::{Duration, Time};
    use wire::Ecn;

    /// A link without a rate.
    pub(crate) const SETUP: LinkProperties<'_> =
        LinkProperties { rate: None, round_trip: Duration::ZERO, mtu: 1500, flows: &[] };

    /// The time after this number of milliseconds.
    pub(crate) fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    /// A packet of a flow with this size on the wire, which arrived at time zero.
    pub(crate) fn packet(flow: u32, size: u32) -> Box<Packet> {
        let at = ([10, 0, 0, 1], 1).into();
        let mut packet = Packet::new(at, at, Vec::new(), None);
        (packet.flow, packet.size) = (flow, size);
        Box::new(packet)
    }
    /// These options, and in place of those of the same names the changed ones.
    pub(crate) fn changed<'a>(
        own: &[(&'a str, &'a str)],
        changes: &[(&'a str, &'a str)],
    ) -> Vec<(&'a str, &'a str)> {
        let kept = own.iter().filter(|(name, _)| changes.iter().all(|(key, _)| key != name));
        kept.chain(changes).copied().collect()
    }
    /// A packet of 1500 bytes with this ECN field.
    pub(crate) fn ecn(flow: u32, ecn: Ecn) -> Box<Packet> {
        let mut packet = packet(flow, 1500);
        packet.ecn = ecn;
        packet
    }
    /// The flows of all packets that leave a queue at one time.
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
