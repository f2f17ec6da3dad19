//! Proportional fair: the terminal whose channel is best compared with what it had in the last time.
//!
//! The priority of a terminal is its rate now over the mean of what it was given, which is an exponential average
//! over a window of t slots: T <- (1 - 1/t) T + R/t in each slot (Jalali, Padovani and Pankaj 2000). The average of a
//! terminal that gets nothing decays lazily.

use super::{Build, Candidate, Scheduler};
use units::parameter::{Default, Kind, Parameter, Row};

pub(super) const ROW: Row<Build> = Row {
    name: "proportional-fair",
    about: "the best channel compared with what a terminal has had",
    parameters: &[Parameter {
        name: "window",
        kind: Kind::Duration,
        default: Default::Is("\"100 ms\""),
        about: "time constant of the average of what a terminal has had",
    }],
    build: |arguments, terminals, slot_ns| {
        let slots = (arguments.duration("window").as_nanos() / slot_ns).max(1);
        Box::new(ProportionalFair::new(terminals, slots as f64))
    },
};

struct ProportionalFair {
    /// What remains of an average after a slot.
    decay: f64,
    /// The average of each terminal in bits per slot, and the slot behind the one in which it was last updated.
    had: Vec<(f64, u64)>,
    /// The priorities of one slot, by terminal.
    priorities: Vec<f64>,
}

impl ProportionalFair {
    fn new(terminals: usize, slots: f64) -> ProportionalFair {
        ProportionalFair {
            decay: 1.0 - 1.0 / slots,
            had: vec![(0.0, 0); terminals],
            priorities: vec![0.0; terminals],
        }
    }
    /// The average of a terminal before a slot.
    fn mean(&self, slot: u64, terminal: u16) -> f64 {
        let (mean, at) = self.had[usize::from(terminal)];
        mean * self.decay.powi(slot.saturating_sub(at).min(1 << 30) as i32)
    }
}

impl Scheduler for ProportionalFair {
    fn sort(&mut self, slot: u64, candidates: &mut [Candidate]) {
        if candidates.len() < 2 {
            return;
        }
        for candidate in &*candidates {
            // Whoever has had nothing is first.
            let mean = self.mean(slot, candidate.terminal).max(1e-9);
            self.priorities[usize::from(candidate.terminal)] = candidate.bits / mean;
        }
        let priority = |candidate: &Candidate| self.priorities[usize::from(candidate.terminal)];
        candidates.sort_by(|one, other| priority(other).total_cmp(&priority(one)));
    }
    fn note(&mut self, slot: u64, terminal: u16, bits: u32) {
        let mean = self.mean(slot, terminal);
        self.had[usize::from(terminal)] =
            (mean * self.decay + (1.0 - self.decay) * f64::from(bits), slot + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_served_when_its_channel_is_good_for_it() {
        // Terminal 1 has twice the rate of terminal 0, and both vary: each gets the slots in which it is at its best.
        let mut scheduler = ProportionalFair::new(2, 100.0);
        let mut served = [[0; 2]; 2];
        for slot in 0..10_000_u64 {
            let good = (slot % 2) as usize;
            let bits = |terminal: usize| if terminal == good { 200.0 } else { 100.0 } * (1 + terminal) as f64;
            let mut all =
                [0, 1].map(|terminal| Candidate { terminal: terminal as u16, bits: bits(terminal) });
            scheduler.sort(slot, &mut all);
            let first = all[0];
            scheduler.note(slot, first.terminal, first.bits as u32);
            served[usize::from(first.terminal)][usize::from(usize::from(first.terminal) == good)] += 1;
        }
        assert!(served.iter().all(|[bad, good]| *good > 4_900 && *bad < 100), "{served:?}");
    }

    #[test]
    fn averages_decay_lazily_as_they_would_slot_by_slot() {
        let mut scheduler = ProportionalFair::new(1, 10.0);
        scheduler.note(0, 0, 1000);
        assert!((scheduler.mean(1, 0) - 100.0).abs() < 1e-9);
        assert!((scheduler.mean(3, 0) - 100.0 * 0.81).abs() < 1e-9);
        scheduler.note(3, 0, 1000);
        assert!((scheduler.mean(4, 0) - (100.0 * 0.81 * 0.9 + 100.0)).abs() < 1e-9);
    }
}
