//! Drop-tail: first in, first out; a packet that does not fit is dropped.

use super::fifo::check_count;
use super::{Bound, Full, LinkProperties, Queue, Report, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use std::collections::VecDeque;
use units::Time;
use units::parameter::{Key, Limit, Options, Row};

/// The options of drop-tail queues.
#[derive(Debug, Clone, Options)]
struct DropTailOptions {
    /// limit of the queue, without the packet in transmission; a time, or a BDP of this link alone, is converted
    /// at its mean rate
    #[option(default = "1 BDP")]
    limit: Limit,
    /// length of the queue above which an arriving ECN-capable packet is marked with CE (RFC 3168 section 5)
    mark_above: Option<Limit>,
}

/// The option with the limit, of which each queue of the table has one with this name.
pub(super) const LIMIT: Key<Limit> = DropTailOptions::LIMIT;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "drop-tail",
    about: "first in, first out, up to a limit; a packet that does not fit is dropped",
    parameters: DropTailOptions::PARAMETERS,
    build: &|arguments, setup, _| {
        let options = DropTailOptions::of(arguments);
        let queue = DropTail::new(options.limit, setup);
        Ok(Waiting::DropTail(match options.mark_above {
            Some(threshold) => queue.marking_above(threshold, setup),
            None => queue,
        }))
    },
};

/// A first-in first-out queue with a limit.
#[derive(Debug)]
pub struct DropTail {
    /// The packets with their sizes, so that a leaving packet is not read.
    packets: VecDeque<(u32, Box<Packet>)>,
    waiting: Count,
    bound: Bound,
    /// The bound below which packets are not marked.
    unmarked: Option<Bound>,
}

impl DropTail {
    /// Creates an empty queue. A limit in bytes admits a packet only if all of it fits.
    pub fn new(limit: Limit, setup: LinkProperties<'_>) -> DropTail {
        let bound = Bound::new(limit, setup);
        DropTail { packets: VecDeque::new(), waiting: Count::default(), bound, unmarked: None }
    }
    /// Adds a threshold: an ECN-capable packet that does not fit below it is marked with CE.
    pub fn marking_above(self, threshold: Limit, setup: LinkProperties<'_>) -> DropTail {
        DropTail { unmarked: Some(Bound::new(threshold, setup)), ..self }
    }
}

impl Queue for DropTail {
    #[inline]
    fn enqueue(&mut self, _now: Time, mut packet: Box<Packet>, report: &mut Report) {
        match self.bound.admits(self.waiting, packet.size) {
            Ok(()) => {
                if self.unmarked.is_some_and(|below| below.admits(self.waiting, packet.size).is_err()) {
                    report.mark(&mut packet);
                }
                self.waiting.add(packet.size);
                self.packets.push_back((packet.size, packet));
            }
            Err(full) => {
                report.overflow |= full == Full::Memory;
                report.drop(packet);
            }
        }
    }
    #[inline]
    fn dequeue(&mut self, _now: Time, _report: &mut Report) -> Option<Box<Packet>> {
        let (size, packet) = self.packets.pop_front()?;
        self.waiting.remove(size);
        Some(packet)
    }
    #[inline]
    fn pass(&mut self, _now: Time, packet: Box<Packet>, _report: &mut Report) -> Option<Box<Packet>> {
        Some(packet)
    }
    #[inline]
    fn waiting(&self) -> Count {
        self.waiting
    }
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.packets.iter().for_each(|(_, packet)| show(packet));
    }
    fn check(&self) {
        check_count(self.waiting, self.packets.iter().map(|(size, _)| *size));
        self.bound.check(self.waiting);
        let kept = self.packets.back().is_none_or(|(size, packet)| *size == packet.size);
        assert!(kept, "the size beside a packet is that of the packet");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn packet(flow: u32) -> Box<Packet> {
        let at = ([10, 0, 0, 1], 1).into();
        let mut packet = Packet::new(at, at, Vec::new(), None);
        (packet.flow, packet.size) = (flow, 1500);
        Box::new(packet)
    }

    /// RFC 3168 section 5.
    #[test]
    fn what_would_wait_above_the_threshold_is_marked_if_it_can_be() {
        let setup = LinkProperties { rate: None, round_trip: Duration::ZERO, mtu: 1500, flows: &[] };
        let mut queue = DropTail::new(Limit::Packets(5), setup).marking_above(Limit::Packets(2), setup);
        let mut report = Report::default();
        for n in 1..=6 {
            let mut packet = packet(n);
            packet.ecn = if n == 4 { wire::Ecn::NotEct } else { wire::Ecn::Ect0 };
            queue.enqueue(Time::ZERO, packet, &mut report);
        }
        assert_eq!((report.marked, report.dropped.len()), (2, 1));
        let left = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut report));
        let marked = left.filter(|packet| packet.ecn == wire::Ecn::Ce).map(|packet| packet.flow);
        assert_eq!(marked.collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn the_last_that_come_are_dropped_and_the_first_leave_first() {
        let setup = LinkProperties { rate: None, round_trip: Duration::ZERO, mtu: 1500, flows: &[] };
        let mut queue = DropTail::new(Limit::Packets(3), setup);
        let mut report = Report::default();
        (1..=5).for_each(|n| queue.enqueue(Time::ZERO, packet(n), &mut report));
        assert_eq!(report.dropped.iter().map(|packet| packet.flow).collect::<Vec<_>>(), [4, 5]);
        assert!(!report.overflow);
        assert_eq!(queue.waiting(), Count { packets: 3, bytes: 4500 });
        let left = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut report)).map(|packet| packet.flow);
        assert_eq!(left.collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(queue.waiting(), Count::default());
    }

    #[test]
    fn no_queue_is_without_end() {
        let setup = LinkProperties { rate: None, round_trip: Duration::ZERO, mtu: 1500, flows: &[] };
        let mut queue = DropTail::new(Limit::Unlimited, setup);
        let mut report = Report::default();
        (0..super::super::MAX_PACKETS).for_each(|_| queue.enqueue(Time::ZERO, packet(0), &mut report));
        assert!(report.is_empty());
        queue.enqueue(Time::ZERO, packet(0), &mut report);
        assert!(report.overflow && report.dropped.len() == 1);
    }
}
