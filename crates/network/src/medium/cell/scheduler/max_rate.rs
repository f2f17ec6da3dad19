//! Maximum rate: the terminal with the best channel gets all that it can use.

use super::{Build, Candidate, Scheduler};
use units::parameter::Row;

pub(super) const ROW: Row<Build> = Row {
    name: "max-rate",
    about: "the best channel first: the highest throughput of the cell, and nothing for those at its edge",
    parameters: &[],
    build: |_, _, _| Box::new(MaxRate),
};

struct MaxRate;

impl Scheduler for MaxRate {
    fn sort(&mut self, _: u64, candidates: &mut [Candidate]) {
        // The sort is stable: of equal ones the first comes first.
        candidates.sort_by(|one, other| other.bits.total_cmp(&one.bits));
    }
    fn note(&mut self, _: u64, _: u16, _: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_channel_is_first_and_ties_go_to_the_first() {
        let mut all =
            [(0, 100.0), (1, 300.0), (2, 300.0)].map(|(terminal, bits)| Candidate { terminal, bits });
        MaxRate.sort(0, &mut all);
        assert_eq!(all.map(|candidate| candidate.terminal), [1, 2, 0]);
    }
}
