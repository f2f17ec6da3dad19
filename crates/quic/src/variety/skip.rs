//! Skipped packet numbers, which expose a peer that acknowledges packets it has not received (RFC 9000 section 21.4).

use random::Generator;
use std::collections::VecDeque;
use wire::Ack;

/// One number is skipped among the first packets of this number, then one among twice as many, and so on.
const FIRST_SPAN: u64 = 32;
const LONGEST_SPAN: u64 = 1 << 14;
/// The maximum number of remembered skipped numbers; optimistic ACKs concern recent packets.
const MAX_REMEMBERED: usize = 16;

/// The skipped numbers, and the next one.
#[derive(Debug)]
pub(super) struct SkippedNumbers {
    random: Generator,
    next: u64,
    span: u64,
    skipped: VecDeque<u64>,
}

impl SkippedNumbers {
    pub(super) fn new(mut random: Generator) -> SkippedNumbers {
        let next = 1 + random.below(FIRST_SPAN);
        SkippedNumbers { random, next, span: FIRST_SPAN, skipped: VecDeque::with_capacity(MAX_REMEMBERED) }
    }

    /// Whether to skip this next number; if so, remembers it. Never skips two numbers in a row.
    pub(super) fn is_due(&mut self, number: u64) -> bool {
        if number < self.next {
            return false;
        }
        self.span = (self.span * 2).min(LONGEST_SPAN);
        self.next = number + 2 + self.random.below(self.span);
        if self.skipped.len() == MAX_REMEMBERED {
            self.skipped.pop_front();
        }
        self.skipped.push_back(number);
        true
    }

    /// Whether an ACK frame covers one of them.
    pub(super) fn is_in(&self, ack: &Ack<'_>) -> bool {
        ack.ranges().any(|range| self.skipped.iter().any(|number| range.contains(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Frame, Frames};

    #[test]
    fn numbers_are_skipped_at_growing_intervals() {
        for seed in 0..20 {
            let mut skips = SkippedNumbers::new(Generator::new(seed, "skips"));
            let skipped: Vec<u64> = (0..100_000).filter(|number| skips.is_due(*number)).collect();
            assert!((1..=FIRST_SPAN).contains(&skipped[0]), "{skipped:?}");
            assert!((10..60).contains(&skipped.len()), "{skipped:?}");
            assert!(skipped.windows(2).all(|pair| pair[1] - pair[0] >= 2));
            let last = *skipped.last().unwrap();
            for (range, covered) in
                [(last..=last, true), (last - 1..=last + 1, true), (last + 1..=last + 9, false)]
            {
                let mut bytes = Vec::new();
                wire::frame::ack(&mut bytes, [range], 0, None, 100);
                let Some(Ok(Frame::Ack(ack))) = Frames::new(&bytes, 0).next() else { panic!() };
                assert_eq!(skips.is_in(&ack), covered);
            }
            assert!(skips.skipped.len() <= MAX_REMEMBERED);
        }
    }
}
