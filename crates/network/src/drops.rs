//! Counts of dropped packets by flow.

use std::collections::VecDeque;

/// The number of flows that are counted individually.
const MAX_COUNTED_FLOWS: u32 = 1 << 16;

/// The number of packets of each flow that were dropped at one place.
#[derive(Debug, Default)]
pub(crate) struct Drops {
    /// The first flow that is counted. A place on the way of few flows has counts of these alone.
    first: u32,
    counts: VecDeque<u64>,
}

impl Drops {
    /// Counts a packet of a flow. Flows from 65,536 on are not counted.
    pub(crate) fn note(&mut self, flow: u32) {
        if flow >= MAX_COUNTED_FLOWS {
            return;
        }
        if self.counts.is_empty() {
            self.first = flow;
        }
        while flow < self.first {
            self.counts.push_front(0);
            self.first -= 1;
        }
        let at = (flow - self.first) as usize;
        self.counts.resize(self.counts.len().max(at + 1), 0);
        self.counts[at] += 1;
    }
    /// The dropped packets of a flow.
    pub(crate) fn of(&self, flow: u32) -> u64 {
        let at = flow.checked_sub(self.first);
        at.and_then(|at| self.counts.get(at as usize)).copied().unwrap_or(0)
    }
    /// Adds the counts to those of the flows from 0 on.
    pub(crate) fn add_to(&self, sums: &mut [u64]) {
        for (sum, count) in sums.iter_mut().skip(self.first as usize).zip(&self.counts) {
            *sum += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flow_has_its_count_up_to_the_limit() {
        let mut drops = Drops::default();
        [3, 0, 3, 65_535, 65_536, u32::MAX].into_iter().for_each(|flow| drops.note(flow));
        let counts = [0, 1, 3, 65_535, 65_536, u32::MAX].map(|flow| drops.of(flow));
        assert_eq!(counts, [1, 0, 2, 1, 0, 0]);
        let mut sums = vec![10; 5];
        drops.add_to(&mut sums);
        assert_eq!(sums, [11, 10, 10, 12, 10]);
    }
}
