//! The periodic timer of a queue without timers: the ticks since the last call are processed in the next one.

use units::{Duration, Time};

/// Ticks at all positive multiples of a period.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticks {
    period: Duration,
    next: Time,
}

impl Ticks {
    /// Creates ticks with this period, which must not be zero.
    pub(super) fn new(period: Duration) -> Ticks {
        assert!(!period.is_zero(), "time passes from one tick to the next");
        Ticks { period, next: Time::ZERO + period }
    }
    /// The next unprocessed tick up to and at `now`.
    #[inline]
    pub(super) fn due(&mut self, now: Time) -> Option<Time> {
        let at = self.next;
        if at > now {
            return None;
        }
        self.next = at + self.period;
        Some(at)
    }
    /// Skips all ticks up to and at `now`, if none of them would change anything. Returns the last one, if any.
    pub(super) fn skip(&mut self, now: Time) -> Option<Time> {
        if self.next > now {
            return None;
        }
        let period = self.period.as_nanos();
        let last = Time::from_nanos(now.as_nanos() / period * period);
        self.next = last + self.period;
        Some(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::at;

    #[test]
    fn each_multiple_is_given_once() {
        let mut ticks = Ticks::new(Duration::from_millis(15));
        assert_eq!(ticks.due(at(14)), None);
        let due: Vec<Time> = std::iter::from_fn(|| ticks.due(at(45))).collect();
        assert_eq!(due, [at(15), at(30), at(45)]);
        assert_eq!((ticks.skip(at(59)), ticks.skip(at(75))), (None, Some(at(75))));
        assert_eq!(
            (ticks.skip(at(121)), ticks.due(at(134)), ticks.due(at(135))),
            (Some(at(120)), None, Some(at(135)))
        );
    }
}
