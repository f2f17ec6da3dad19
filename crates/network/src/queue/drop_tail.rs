//! Drop-tail: first in, first out; what does not fit is dropped.

use super::{Bound, Full, Queue, Report, Setup, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use std::collections::VecDeque;
use units::Time;
use units::parameter::{Default, Kind, Limit, Parameter, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "drop-tail",
    about: "first in, first out, up to a limit; a packet that does not fit is dropped",
    parameters: &[Parameter {
        name: "limit",
        kind: Kind::Limit,
        default: Default::Is("\"1 BDP\""),
        about: "what may wait, without the packet in transmission; time and BDP count at the link's mean rate",
    }],
    build: |arguments, setup, _| Waiting::DropTail(DropTail::new(arguments.limit("limit"), setup)),
};

/// A first-in first-out queue with a limit.
#[derive(Debug)]
pub struct DropTail {
    packets: VecDeque<Box<Packet>>,
    waiting: Count,
    bound: Bound,
}

impl DropTail {
    /// An empty queue. A limit in bytes admits a packet only if it fits as a whole.
    pub fn new(limit: Limit, setup: Setup) -> DropTail {
        DropTail { packets: VecDeque::new(), waiting: Count::default(), bound: Bound::new(limit, setup) }
    }
}

impl Queue for DropTail {
    #[inline]
    fn enqueue(&mut self, _now: Time, packet: Box<Packet>, report: &mut Report) {
        match self.bound.admits(self.waiting, packet.size) {
            Ok(()) => {
                self.waiting.add(packet.size);
                self.packets.push_back(packet);
            }
            Err(full) => {
                report.overflow |= full == Full::Memory;
                report.drop(packet);
            }
        }
    }
    #[inline]
    fn dequeue(&mut self, _now: Time, _report: &mut Report) -> Option<Box<Packet>> {
        let packet = self.packets.pop_front()?;
        self.waiting.remove(packet.size);
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

    #[test]
    fn the_last_that_come_are_dropped_and_the_first_leave_first() {
        let setup = Setup { rate: None, round_trip: Duration::ZERO, mtu: 1500 };
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
        let setup = Setup { rate: None, round_trip: Duration::ZERO, mtu: 1500 };
        let mut queue = DropTail::new(Limit::Unlimited, setup);
        let mut report = Report::default();
        (0..super::super::MAX_PACKETS).for_each(|_| queue.enqueue(Time::ZERO, packet(0), &mut report));
        assert!(report.is_empty());
        queue.enqueue(Time::ZERO, packet(0), &mut report);
        assert!(report.overflow && report.dropped.len() == 1);
    }
}
