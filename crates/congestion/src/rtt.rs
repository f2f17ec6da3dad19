//! The round-trip time estimate (RFC 9002 section 5).

use units::Duration;

/// The granularity of timers (RFC 9002 section 6.1.2).
pub const GRANULARITY: Duration = Duration::from_millis(1);

/// The estimate of one path's round-trip time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RttEstimate {
    latest: Duration,
    min: Duration,
    smoothed: Duration,
    variance: Duration,
    sampled: bool,
}

impl RttEstimate {
    /// Creates an estimate without samples: `initial` serves as the smoothed RTT, and half of it as the variance (RFC
    /// 9002 section 6.2.2; its default is 333 ms).
    pub fn new(initial: Duration) -> RttEstimate {
        RttEstimate {
            latest: Duration::ZERO,
            min: Duration::ZERO,
            smoothed: initial,
            variance: initial / 2,
            sampled: false,
        }
    }

    /// Adds a sample. `ack_delay` is the delay reported by the peer, already limited to its max_ack_delay if the
    /// handshake is confirmed (RFC 9002 section 5.3).
    pub fn update(&mut self, latest: Duration, ack_delay: Duration) {
        self.latest = latest;
        if !self.sampled {
            self.sampled = true;
            self.min = latest;
            self.smoothed = latest;
            self.variance = latest / 2;
            return;
        }
        // 5.2: the minimum ignores the peer's delay, which might be wrong.
        self.min = self.min.min(latest);
        let adjusted = if latest >= self.min + ack_delay { latest - ack_delay } else { latest };
        let deviation =
            if self.smoothed > adjusted { self.smoothed - adjusted } else { adjusted - self.smoothed };
        self.variance = (self.variance * 3 + deviation) / 4;
        self.smoothed = (self.smoothed * 7 + adjusted) / 8;
        debug_assert!(
            self.min <= adjusted,
            "a sample without the peer's delay is no shorter than the shortest"
        );
    }

    /// Stops if the estimate contradicts its samples.
    pub fn check(&self) {
        assert!(self.min <= self.latest, "no sample is shorter than the shortest");
        assert!(self.sampled || self.latest.is_zero(), "a sample makes the estimate a sampled one");
        // The mean is rounded down at each sample.
        let mean = self.smoothed + Duration::from_nanos(8);
        assert!(self.min <= mean, "the mean of the samples is no shorter than the shortest");
    }

    /// The latest sample; zero before the first.
    pub fn latest(&self) -> Duration {
        self.latest
    }
    /// The minimum; zero before the first sample.
    pub fn min(&self) -> Duration {
        self.min
    }
    /// The smoothed RTT; the initial value before the first sample.
    pub fn smoothed(&self) -> Duration {
        self.smoothed
    }
    /// The mean deviation.
    pub fn variance(&self) -> Duration {
        self.variance
    }
    /// Whether there was a sample.
    pub fn is_sampled(&self) -> bool {
        self.sampled
    }
    /// The probe timeout without the peer's max_ack_delay (RFC 9002 section 6.2.1).
    pub fn pto(&self) -> Duration {
        self.smoothed + (self.variance * 4).max(GRANULARITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn the_first_sample_replaces_the_initial_value() {
        let mut rtt = RttEstimate::new(ms(333));
        assert_eq!(
            (rtt.smoothed(), rtt.variance(), rtt.pto()),
            (ms(333), Duration::from_micros(166_500), ms(999))
        );
        rtt.update(ms(100), ms(10));
        assert_eq!((rtt.smoothed(), rtt.variance(), rtt.min()), (ms(100), ms(50), ms(100)));
    }

    #[test]
    fn the_formulas_of_section_5_3() {
        let mut rtt = RttEstimate::new(ms(333));
        rtt.update(ms(100), ms(0));
        rtt.update(ms(140), ms(20));
        // adjusted 120: variance 3/4 50 + 1/4 20 = 42.5, smoothed 7/8 100 + 1/8 120 = 102.5
        assert_eq!(
            (rtt.variance(), rtt.smoothed()),
            (Duration::from_micros(42_500), Duration::from_micros(102_500))
        );
        assert_eq!((rtt.latest(), rtt.min()), (ms(140), ms(100)));
    }

    #[test]
    fn an_ack_delay_that_would_go_below_the_minimum_is_ignored() {
        let mut rtt = RttEstimate::new(ms(333));
        rtt.update(ms(100), ms(0));
        rtt.update(ms(110), ms(20));
        assert_eq!(rtt.smoothed(), Duration::from_micros(101_250));
    }

    #[test]
    fn the_probe_timeout_has_a_floor() {
        let mut rtt = RttEstimate::new(ms(333));
        for _ in 0..200 {
            rtt.update(ms(10), ms(0));
        }
        assert!(rtt.pto() >= ms(11) - Duration::from_nanos(1) && rtt.pto() <= ms(11), "{:?}", rtt.pto());
    }
}
