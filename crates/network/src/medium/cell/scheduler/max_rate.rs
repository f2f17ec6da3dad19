//! Maximum rate: the terminal with the best channel gets all that it can use.

use super::{Build, Candidate, Scheduler};
use units::parameter::Row;

pub(super) const ROW: Row<Build> = Row {
    name: "max-rate",
    about: "the best channel first: highest throughput of the cell, nothing for terminals at its edge",
    parameters: &[],
    build: &|_, _, _| Box::new(MaxRate),
};

struct MaxRate;

impl Scheduler for MaxRate {
    fn rank(&mut self, _: u64, candidates: &mut [Candidate]) {
        candidates.iter_mut().for_each(|candidate| candidate.priority = candidate.bits);
    }
    fn note(&mut self, _: u64, _: u16, _: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_channel_is_first_and_ties_go_to_the_first() {
        let mut all = [(0, 100.0), (1, 300.0), (2, 300.0)].map(|(terminal, bits)| Candidate {
            terminal,
            bits,
            priority: 0.0,
        });
        MaxRate.rank(0, &mut all);
        (0..3).for_each(|at| MaxRate.select(&mut all, at));
        assert_eq!(all.map(|candidate| candidate.terminal), [1, 2, 0]);
    }
}
