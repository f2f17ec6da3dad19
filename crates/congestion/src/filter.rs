//! The maximum over a sliding window: Kathleen Nichols' algorithm, with three samples regardless of the number of
//! values.

/// The maximum of the values within a window of real or virtual time. Keeps the best value and the best two after it,
/// so that a successor is available when the best expires. A value expires when it is older than the length of the
/// window.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WindowedMax {
    /// Time and value: the maximum, the maximum after it, and the maximum after that.
    best: [(u64, u64); 3],
}

impl WindowedMax {
    /// The maximum; 0 before the first value.
    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.best[0].1
    }

    /// Adds a value, for a window of this length, and returns the maximum. Times do not decrease.
    #[inline]
    pub(crate) fn update(&mut self, window: u64, time: u64, value: u64) -> u64 {
        let sample = (time, value);
        debug_assert!(time >= self.best[2].0, "the times of values do not decrease");
        if value >= self.best[0].1 || time.saturating_sub(self.best[2].0) > window {
            // A new maximum, or no unexpired value.
            self.best = [sample; 3];
            return value;
        }
        if value >= self.best[1].1 {
            self.best[1] = sample;
            self.best[2] = sample;
        } else if value >= self.best[2].1 {
            self.best[2] = sample;
        }
        self.age(window, sample);
        debug_assert!(self.best.is_sorted_by(|one, other| one.1 >= other.1), "the best value comes first");
        debug_assert!(
            self.best.is_sorted_by_key(|(time, _)| *time),
            "each successor of a maximum is younger"
        );
        self.get()
    }

    /// Drops expired values, and spreads the three over different parts of the window.
    fn age(&mut self, window: u64, sample: (u64, u64)) {
        let passed = sample.0.saturating_sub(self.best[0].0);
        if passed > window {
            self.best = [self.best[1], self.best[2], sample];
            if sample.0.saturating_sub(self.best[0].0) > window {
                self.best = [self.best[1], self.best[2], sample];
            }
        } else if self.best[1].0 == self.best[0].0 && passed > window / 4 {
            // A quarter of the window without a second value: the new one becomes it.
            self.best[1] = sample;
            self.best[2] = sample;
        } else if self.best[2].0 == self.best[1].0 && passed > window / 2 {
            self.best[2] = sample;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_within_the_window_and_then_the_next_best() {
        let mut filter = WindowedMax::default();
        assert_eq!(filter.update(10, 0, 50), 50);
        for time in 1..=10 {
            assert_eq!(filter.update(10, time, 40 - time), 50, "at {time}");
        }
        // Rounds 1 to 10 have expired; of the others, 3 came first after a quarter of the window.
        let next = filter.update(10, 11, 1);
        assert!((29..=39).contains(&next), "{next}");
        assert_eq!(filter.update(10, 12, 60), 60);
    }

    /// Compared with the full history: at least the maximum of the newer half of the window, at most that of the
    /// whole.
    #[test]
    fn it_stays_between_the_largest_of_half_the_window_and_of_the_whole() {
        let mut random = random::Generator::new(1, "values");
        let mut filter = WindowedMax::default();
        let mut history = Vec::new();
        for time in 0..2000u64 {
            let value = random.below(1000);
            history.push(value);
            let got = filter.update(10, time, value);
            let since = |window: u64| {
                let from = time.saturating_sub(window) as usize;
                history[from..].iter().copied().max().unwrap()
            };
            assert!(got <= since(10) && got >= since(4), "{got} at {time}");
        }
    }

    #[test]
    fn after_a_long_silence_the_newest_counts() {
        let mut filter = WindowedMax::default();
        filter.update(10, 0, 100);
        assert_eq!(filter.update(10, 50, 3), 3);
    }
}
