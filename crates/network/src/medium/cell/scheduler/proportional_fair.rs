//! Proportional fair: the terminal whose channel is best compared with what it had in the last time.
//!
//! The priority of a terminal is its rate now over the mean of what it was given, which is an exponential average
//! over a window of t slots: T <- (1 - 1/t) T + R/t in each slot (Jalali, Padovani and Pankaj 2000). Averages decay
//! lazily.

use super::{Build, Candidate, Scheduler};
use units::Duration;
use units::parameter::{Options, Row};

/// The options of the proportional-fair scheduler.
#[derive(Debug, Clone, Options)]
struct ProportionalFairOptions {
    /// time constant of the average throughput of a terminal
    #[option(default = "100 ms")]
    window: Duration,
}

pub(super) const ROW: Row<Build> = Row {
    name: "proportional-fair",
    about: "proportional fair: the best channel relative to a terminal's past throughput",
    parameters: ProportionalFairOptions::PARAMETERS,
    build: &|arguments, terminals, slot_ns| {
        let slots = (ProportionalFairOptions::of(arguments).window.as_nanos() / slot_ns).max(1);
        Box::new(ProportionalFair::new(terminals, slots as f64))
    },
};

struct ProportionalFair {
    /// What remains of an average after a slot.
    decay: f64,
    /// The averages of the terminals in bits per slot, each divided by what remains of it at the slot after `since`.
    /// They all decay alike, so that this ratio only changes for a terminal that gets something.
    had: Vec<f64>,
    since: u64,
    /// Slots after which all are scaled anew, so that no ratio overflows.
    longest: u64,
}

impl ProportionalFair {
    fn new(terminals: usize, slots: f64) -> ProportionalFair {
        // With an average over one slot only the last slot counts.
        let decay = (1.0 - 1.0 / slots).max(1e-6);
        // Until then averages shrink to e^-200.
        let longest = ((-200.0 / decay.ln()) as u64).min(1 << 30);
        ProportionalFair { decay, had: vec![0.0; terminals], since: 0, longest }
    }
    /// What remains at a slot of an average at `since`.
    fn remains(&mut self, slot: u64) -> f64 {
        if slot - self.since > self.longest {
            let remains = self.decay.powf((slot - self.since) as f64);
            self.had.iter_mut().for_each(|had| *had *= remains);
            self.since = slot;
        }
        self.decay.powi((slot - self.since) as i32)
    }
}

impl Scheduler for ProportionalFair {
    fn rank(&mut self, _: u64, candidates: &mut [Candidate]) {
        for candidate in candidates {
            // Whoever has had nothing is first.
            candidate.priority = candidate.bits / self.had[usize::from(candidate.terminal)].max(1e-300);
        }
    }
    fn note(&mut self, slot: u64, terminal: u16, bits: u32) {
        // The average is updated at the end of the slot.
        let remains = self.remains(slot + 1);
        self.had[usize::from(terminal)] += (1.0 - self.decay) * f64::from(bits) / remains;
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
            let mut all = [0, 1].map(|terminal| Candidate {
                terminal: terminal as u16,
                bits: bits(terminal),
                priority: 0.0,
            });
            scheduler.rank(slot, &mut all);
            scheduler.select(&mut all, 0);
            let first = all[0];
            scheduler.note(slot, first.terminal, first.bits as u32);
            served[usize::from(first.terminal)][usize::from(usize::from(first.terminal) == good)] += 1;
        }
        assert!(served.iter().all(|[bad, good]| *good > 4_900 && *bad < 100), "{served:?}");
    }

    #[test]
    fn averages_decay_as_they_would_slot_by_slot() {
        for slots in [1.0, 10.0, 1000.0] {
            let mut scheduler = ProportionalFair::new(2, slots);
            let mut means = [0.0; 2];
            let mut draw = random::Generator::new(1, "slots");
            for slot in 0..100_000_u64 {
                let bits = [1, 2].map(|most| (draw.below(20) == 0) as u32 * 500 * most);
                for (terminal, bits) in (0..).zip(bits) {
                    means[usize::from(terminal)] *= 1.0 - 1.0 / slots;
                    means[usize::from(terminal)] += f64::from(bits) / slots;
                    if bits > 0 {
                        scheduler.note(slot, terminal, bits);
                    }
                }
                let ratio = scheduler.had[0] / scheduler.had[1];
                // Of what is below a millionth of the other one, the ratio is not needed.
                if means[0] > 1e-6 * means[1] && means[1] > 1e-6 * means[0] && means[0] > 1e-9 {
                    assert!(
                        (ratio / (means[0] / means[1]) - 1.0).abs() < 1e-3,
                        "{slots}, {slot}: {ratio} {means:?}"
                    );
                }
            }
        }
    }
}
