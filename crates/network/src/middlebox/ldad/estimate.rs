//! The state of a flow: its usual RTT, the range around it, and the probe timeout of its sender.

use units::Duration;

/// The least part of the probe timeout that follows from variation: kGranularity (RFC 9002 section 6.1.2).
const GRANULARITY: Duration = Duration::from_millis(1);

/// The options of the estimate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The samples that are taken before any is abnormal.
    pub samples: u64,
    /// The upper end of the usual range, in mean deviations above the usual RTT, in thousandths.
    pub tolerance: u64,
    /// The least distance of that end.
    pub least_excess: Duration,
    /// The peer's max_ack_delay in the sender's probe timeout.
    pub max_ack_delay: Duration,
}

/// The usual RTT of a flow: mean and mean deviation as in RFC 9002 section 5.3, without the peer's delay, which is
/// encrypted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Estimate {
    mean: Duration,
    deviation: Duration,
    taken: u64,
}

impl Estimate {
    /// Adds a sample.
    pub(super) fn add(&mut self, rtt: Duration) {
        if self.taken == 0 {
            (self.mean, self.deviation) = (rtt, rtt / 2);
        } else {
            let off = if rtt > self.mean { rtt - self.mean } else { self.mean - rtt };
            self.deviation = (self.deviation * 3 + off) / 4;
            self.mean = (self.mean * 7 + rtt) / 8;
        }
        self.taken += 1;
    }
    /// Whether a sample is above the usual range. Never before `samples` of them.
    pub(super) fn is_abnormal(&self, rtt: Duration, limits: &Limits) -> bool {
        let excess = self.deviation.scale(limits.tolerance, 1000).max(limits.least_excess);
        self.taken >= limits.samples && rtt > self.mean + excess
    }
    /// The usual RTT; `None` before the first sample.
    pub(super) fn usual(&self) -> Option<Duration> {
        (self.taken > 0).then_some(self.mean)
    }
    /// The sender's probe timeout (RFC 9002 section 6.2.1); `None` before the first sample.
    pub(super) fn pto(&self, limits: &Limits) -> Option<Duration> {
        let usual = self.usual()?;
        Some(usual + (self.deviation * 4).max(GRANULARITY) + limits.max_ack_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }
    const LIMITS: Limits = Limits {
        samples: 2,
        tolerance: 4000,
        least_excess: Duration::from_millis(10),
        max_ack_delay: Duration::from_millis(25),
    };

    #[test]
    fn the_usual_range_by_hand() {
        let mut estimate = Estimate::default();
        assert_eq!((estimate.usual(), estimate.pto(&LIMITS)), (None, None));
        estimate.add(ms(80));
        assert!(!estimate.is_abnormal(ms(1000), &LIMITS), "one sample is not enough");
        estimate.add(ms(80));
        // Mean deviation 3/4 of 40: the range ends at 80 + 120, the probe timeout 80 + 120 + 25.
        assert_eq!((estimate.usual(), estimate.pto(&LIMITS)), (Some(ms(80)), Some(ms(225))));
        assert!(!estimate.is_abnormal(ms(200), &LIMITS) && estimate.is_abnormal(ms(201), &LIMITS));
        (0..100).for_each(|_| estimate.add(ms(80)));
        // No deviation is left: 80 + 10, and 80 + 1 + 25.
        assert!(!estimate.is_abnormal(ms(90), &LIMITS) && estimate.is_abnormal(ms(91), &LIMITS));
        assert_eq!(estimate.pto(&LIMITS), Some(ms(106)));
        estimate.add(ms(96));
        // 7/8 of 80 and 1/8 of 96; a quarter of 16.
        assert_eq!(estimate.usual(), Some(ms(82)));
        assert!(!estimate.is_abnormal(ms(98), &LIMITS) && estimate.is_abnormal(ms(99), &LIMITS));
    }
}
