//! Round robin: in each slot all terminals share equally, beginning with another one each time.

use super::{Build, Candidate, Scheduler};
use units::parameter::Row;

pub(super) const ROW: Row<Build> = Row {
    name: "round-robin",
    about: "equal shares of each slot; the remainder goes round",
    parameters: &[],
    build: &|_, _, _| Box::new(RoundRobin::default()),
};

/// The last slot: the first and the last terminal that were served, how many were, and how many wanted to.
#[derive(Default)]
struct RoundRobin {
    first: u16,
    last: u16,
    served: usize,
    candidates: usize,
}

impl Scheduler for RoundRobin {
    fn rank(&mut self, _: u64, candidates: &mut [Candidate]) {
        if candidates.is_empty() {
            return;
        }
        // Where all were served, the next slot begins with the second one; otherwise with the first that was not.
        let before = if self.served < self.candidates { self.last } else { self.first };
        let begin = candidates.partition_point(|candidate| candidate.terminal <= before);
        let begin = if self.candidates == 0 { 0 } else { begin };
        candidates.rotate_left(begin);
        (self.served, self.candidates) = (0, candidates.len());
    }
    /// They are in order already.
    fn select(&self, _: &mut [Candidate], _: usize) {}
    fn share(&self, left: u16, candidates: usize) -> u16 {
        left.div_ceil(candidates.max(1) as u16)
    }
    fn note(&mut self, _: u64, terminal: u16, _: u32) {
        if self.served == 0 {
            self.first = terminal;
        }
        self.last = terminal;
        self.served += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The resource blocks that each of some terminals gets of ten in each of 30 slots.
    fn serve(terminals: u16) -> Vec<u16> {
        let mut scheduler = RoundRobin::default();
        let mut served = vec![0; terminals.into()];
        for slot in 0..30 {
            let mut all: Vec<Candidate> =
                (0..terminals).map(|terminal| Candidate { terminal, bits: 100.0, priority: 0.0 }).collect();
            scheduler.rank(slot, &mut all);
            let mut left = 10;
            for (at, candidate) in all.iter().enumerate() {
                let share = scheduler.share(left, all.len() - at);
                left -= share;
                served[usize::from(candidate.terminal)] += share;
                if share > 0 {
                    scheduler.note(slot, candidate.terminal, u32::from(share) * 100);
                }
            }
            assert_eq!(left, 0);
        }
        served
    }

    #[test]
    fn shares_are_equal_and_the_remainder_goes_round() {
        // 10 blocks are 4, 3 and 3, or one for each of 10 of 15 or 25 terminals.
        assert_eq!(serve(3), [100, 100, 100]);
        assert_eq!(serve(15), [20; 15]);
        assert_eq!(serve(25), [12; 25]);
    }
}
