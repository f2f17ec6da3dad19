//! The delay line: packets in flight, by the time of their arrival.

use crate::buffer::MAX_IN_FLIGHT;
use crate::count::Count;
use crate::packet::Packet;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use units::Time;
use units::cache::ask_for;

/// The packets in flight. Those that arrive at one instant leave in the order of insertion.
pub(crate) struct Line {
    /// The time of the next arrival; [`Time::NEVER`] if there is none. The link reads it several times for each packet.
    next: Time,
    packets: Packets,
}

enum Packets {
    /// Arrival times never decrease.
    InOrder(VecDeque<(Time, Box<Packet>)>),
    /// A packet may arrive before others that were inserted earlier.
    Reordering(BinaryHeap<Underway>, u64),
}

/// A packet on a reordering line.
pub(crate) struct Underway {
    at: Time,
    sequence: u64,
    packet: Box<Packet>,
}

impl Ord for Underway {
    /// The greatest packet arrives first.
    fn cmp(&self, other: &Underway) -> Ordering {
        (other.at, other.sequence).cmp(&(self.at, self.sequence))
    }
}
impl PartialOrd for Underway {
    fn partial_cmp(&self, other: &Underway) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Underway {
    fn eq(&self, other: &Underway) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Underway {}

impl Line {
    pub(crate) fn new(reorder: bool) -> Line {
        let packets = match reorder {
            true => Packets::Reordering(BinaryHeap::new(), 0),
            false => Packets::InOrder(VecDeque::new()),
        };
        Line { next: Time::NEVER, packets }
    }
    /// Whether the next packet may arrive before those already in flight.
    #[inline]
    pub(crate) fn reorders(&self) -> bool {
        matches!(self.packets, Packets::Reordering(..))
    }
    /// Inserts a packet. On an ordered line, `at` is not before the arrival of the last one.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, packet: Box<Packet>) {
        self.next = self.next.min(at);
        match &mut self.packets {
            Packets::InOrder(line) => {
                let last = line.back().map(|(last, _)| *last);
                debug_assert!(last.is_none_or(|last| last <= at), "on an ordered line nobody overtakes");
                line.push_back((at, packet));
            }
            Packets::Reordering(heap, sequence) => {
                heap.push(Underway { at, sequence: *sequence, packet });
                *sequence += 1;
            }
        }
    }
    /// The next arrival; [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }
    /// Takes the next packet to arrive.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(Time, Box<Packet>)> {
        let (taken, next) = match &mut self.packets {
            Packets::InOrder(line) => (line.pop_front(), line.front().map(|(at, _)| *at)),
            Packets::Reordering(heap, _) => {
                (heap.pop().map(|first| (first.at, first.packet)), heap.peek().map(|first| first.at))
            }
        };
        self.next = next.unwrap_or(Time::NEVER);
        taken
    }
    /// Prefetches the bytes of the next packet to arrive, and the packet behind it, while the previous one is
    /// processed: they were last used a propagation delay ago.
    #[inline]
    pub(crate) fn prefetch_next(&self) {
        if let Packets::InOrder(line) = &self.packets {
            if let Some((_, packet)) = line.front() {
                packet.bytes.first().into_iter().for_each(ask_for);
            }
            if let Some((_, packet)) = line.get(1) {
                ask_for(&**packet);
            }
        }
    }
    /// The packet that arrives behind `ahead` others, if the order is known.
    #[inline]
    pub(crate) fn upcoming(&self, ahead: usize) -> Option<&Packet> {
        match &self.packets {
            Packets::InOrder(line) => line.get(ahead).map(|(_, packet)| &**packet),
            Packets::Reordering(..) => None,
        }
    }
    /// Shows every packet in flight, in any order.
    pub(crate) fn each(&self, show: &mut dyn FnMut(&Packet)) {
        match &self.packets {
            Packets::InOrder(line) => line.iter().for_each(|(_, packet)| show(packet)),
            Packets::Reordering(heap, _) => heap.iter().for_each(|underway| show(&underway.packet)),
        }
    }
    /// Stops unless the next arrival is that of the first packet.
    pub(crate) fn check(&self) {
        let first = match &self.packets {
            Packets::InOrder(line) => line.front().map(|(at, _)| *at),
            Packets::Reordering(heap, _) => heap.peek().map(|first| first.at),
        };
        assert_eq!(first.unwrap_or(Time::NEVER), self.next, "the first packet arrives next");
        assert!(self.len() <= MAX_IN_FLIGHT + 2, "a line that overflows ends the run");
    }
    /// The packets in flight.
    pub(crate) fn count(&self) -> Count {
        let mut count = Count::default();
        self.each(&mut |packet| count.add(packet.size));
        count
    }
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match &self.packets {
            Packets::InOrder(line) => line.len(),
            Packets::Reordering(heap, _) => heap.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_in_order_of_time_and_within_an_instant_first_in_first_out() {
        let at = ([10, 0, 0, 1], 1).into();
        let mut line = Line::new(true);
        for (flow, ns) in [(0, 5), (1, 3), (2, 5), (3, 3), (4, 9), (5, 1), (6, 3)] {
            let mut packet = Packet::new(at, at, Vec::new(), None);
            packet.flow = flow;
            line.push(Time::from_nanos(ns), Box::new(packet));
        }
        assert_eq!((line.next(), line.len()), (Time::from_nanos(1), 7));
        let order: Vec<u32> = std::iter::from_fn(|| line.pop()).map(|(_, packet)| packet.flow).collect();
        assert_eq!(order, [5, 1, 3, 6, 0, 2, 4]);
        assert_eq!(line.next(), Time::NEVER);
    }
}
