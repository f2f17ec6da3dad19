//! The books of packets: what came of each packet that was sent, flow by flow.

use crate::count::Count;
use crate::packet::Packet;
use std::collections::VecDeque;

/// The number of flows that are counted individually; further ones are counted together.
const MAX_COUNTED_FLOWS: u32 = 1 << 16;

/// Packets and bytes of each flow at one place.
#[derive(Debug, Default)]
pub struct Ledger {
    /// The first flow that is counted. A place on the way of few flows has counts of these alone.
    first: u32,
    counts: VecDeque<Count>,
    /// The flows from [`MAX_COUNTED_FLOWS`] on.
    others: Count,
}

impl Ledger {
    /// Counts a packet of a flow with this size. Flows from 65,536 on are counted together.
    #[inline]
    pub fn add(&mut self, flow: u32, size: u32) {
        match self.counts.get_mut(flow.wrapping_sub(self.first) as usize) {
            Some(count) => count.add(size),
            None => self.add_all(flow, Count { packets: 1, bytes: size.into() }),
        }
    }
    /// Counts many packets of a flow.
    #[cold]
    pub fn add_all(&mut self, flow: u32, count: Count) {
        let sum = self.entry(flow);
        *sum = *sum + count;
    }
    /// The packets of a flow.
    pub fn of(&self, flow: u32) -> Count {
        let at = flow.checked_sub(self.first);
        at.and_then(|at| self.counts.get(at as usize)).copied().unwrap_or_default()
    }
    /// The packets of all flows.
    pub fn total(&self) -> Count {
        self.counts.iter().fold(self.others, |sum, count| sum + *count)
    }

    fn entry(&mut self, flow: u32) -> &mut Count {
        if flow >= MAX_COUNTED_FLOWS {
            return &mut self.others;
        }
        if self.counts.is_empty() {
            self.first = flow;
        }
        while flow < self.first {
            self.counts.push_front(Count::default());
            self.first -= 1;
        }
        let at = (flow - self.first) as usize;
        self.counts.resize(self.counts.len().max(at + 1), Count::default());
        &mut self.counts[at]
    }

    /// Adds the counts of another place.
    pub fn merge(&mut self, other: &Ledger) {
        (other.first..).zip(&other.counts).for_each(|(flow, count)| self.add_all(flow, *count));
        self.others = self.others + other.others;
    }
}

/// What came of the packets at some places of the network, flow by flow. Over all places, what was sent or copied was taken or
/// dropped, or is still there.
#[derive(Debug, Default)]
pub struct PacketBooks {
    /// Packets that nodes have made.
    pub sent: Ledger,
    /// Copies that carriers have made.
    pub copied: Ledger,
    /// Packets that have ended at the nodes for which they were.
    pub taken: Ledger,
    /// Packets that were dropped or lost.
    pub dropped: Ledger,
    /// Packets that are still there, in a queue for example.
    pub held: Ledger,
}

impl PacketBooks {
    /// Counts a packet that is still there.
    pub fn hold(&mut self, packet: &Packet) {
        self.held.add(packet.flow, packet.size);
    }

    /// Adds the books of other places.
    pub fn merge(&mut self, other: &PacketBooks) {
        let PacketBooks { sent, copied, taken, dropped, held } = other;
        self.sent.merge(sent);
        self.copied.merge(copied);
        self.taken.merge(taken);
        self.dropped.merge(dropped);
        self.held.merge(held);
    }
}

/// What came of the packets at a node: what arrived or was made there has gone on, was taken or dropped, or is still there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeBooks {
    /// Packets that carriers have delivered to it.
    pub arrived: Count,
    /// Packets that it has made.
    pub sent: Count,
    /// Packets that it has handed to carriers.
    pub handed_on: Count,
    /// Packets that have ended at it as their destination.
    pub taken: Count,
    /// Packets that it has dropped.
    pub dropped: Count,
    /// Packets that it still has.
    pub held: Count,
}

/// The books of a world.
#[derive(Debug, Default)]
pub struct Books {
    /// Those of the flows, over all carriers and nodes.
    pub flows: PacketBooks,
    /// Those of each node.
    pub nodes: Vec<NodeBooks>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_has_its_count_up_to_the_limit() {
        let mut ledger = Ledger::default();
        [3, 0, 3, 65_535, 65_536, u32::MAX].into_iter().for_each(|flow| ledger.add(flow, 100));
        let packets = [0, 1, 3, 65_535, 65_536, u32::MAX].map(|flow| ledger.of(flow).packets);
        assert_eq!(packets, [1, 0, 2, 1, 0, 0]);
        assert_eq!(ledger.total(), Count { packets: 6, bytes: 600 });
        let mut sums = Ledger::default();
        sums.add(2, 7);
        sums.merge(&ledger);
        assert_eq!([0, 2, 3].map(|flow| sums.of(flow).bytes), [100, 7, 200]);
        assert_eq!(sums.total(), Count { packets: 7, bytes: 607 });
    }
}
