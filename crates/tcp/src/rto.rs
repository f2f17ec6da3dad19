//! The retransmission timeout (RFC 6298).

use congestion::{GRANULARITY, RttEstimate};
use units::{Duration, Time};

/// The timeout of one connection and its timer.
#[derive(Debug, Clone)]
pub(crate) struct Rto {
    initial: Duration,
    least: Duration,
    most: Duration,
    /// How often it was doubled since the last RTT sample.
    backoffs: u32,
    /// How often it went off since new data was acknowledged.
    unanswered: u32,
    /// When it goes off.
    pub(crate) at: Option<Time>,
}

impl Rto {
    /// A timer at rest, with the timeout before the first RTT sample, and the bounds of those after it.
    pub(crate) fn new(initial: Duration, least: Duration, most: Duration) -> Rto {
        Rto { initial, least, most, backoffs: 0, unanswered: 0, at: None }
    }

    /// How often it was doubled since the last RTT sample.
    pub(crate) fn backoffs(&self) -> u32 {
        self.backoffs
    }
    /// How often it went off with nothing new acknowledged in between: for the same segment (RFC 9293 section 3.8.3).
    pub(crate) fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// RTO: SRTT + max (G, 4 RTTVAR) (2.2, 2.3), doubled each time that it went off (5.5). The variance term is never below
    /// `min_rto`: even on a path without jitter an acknowledgement may be late by that much.
    #[inline]
    pub(crate) fn timeout(&self, rtt: &RttEstimate) -> Duration {
        let base = if rtt.is_sampled() {
            // 2.4: it SHOULD be rounded up to one second; like all stacks of today this one goes lower.
            rtt.smoothed() + (rtt.variance() * 4).max(GRANULARITY).max(self.least)
        } else {
            // 2.1.
            self.initial
        };
        (base * (1 << self.backoffs.min(16))).min(self.most)
    }

    /// 5.1: something was sent; the timer runs from now on if it did not.
    #[inline]
    pub(crate) fn start(&mut self, now: Time, rtt: &RttEstimate) {
        if self.at.is_none() {
            self.restart(now, rtt);
        }
    }
    /// 5.3: new data was acknowledged; or the first segment leaves once more, whose answer takes a round trip from now on.
    #[inline]
    pub(crate) fn restart(&mut self, now: Time, rtt: &RttEstimate) {
        self.at = Some(now + self.timeout(rtt));
    }
    /// 5.2: all data was acknowledged.
    #[inline]
    pub(crate) fn stop(&mut self) {
        self.at = None;
    }
    /// 5.5, 5.6: it went off.
    pub(crate) fn back_off(&mut self, now: Time, rtt: &RttEstimate) {
        self.backoffs += 1;
        self.unanswered += 1;
        self.restart(now, rtt);
    }
    /// New data was acknowledged, whether or not that gives an RTT sample.
    #[inline]
    pub(crate) fn answered(&mut self) {
        self.unanswered = 0;
    }
    /// 5.7: the SYN went again and there is no sample: three seconds at least.
    pub(crate) fn fall_back(&mut self) {
        self.initial = self.initial.max(Duration::from_secs(3));
    }
    /// Section 5: a new RTT sample was taken, after which the timeout is what it would be.
    #[inline]
    pub(crate) fn recovered(&mut self) {
        self.backoffs = 0;
        self.unanswered = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// RFC 6298 sections 2 and 5.
    #[test]
    fn the_timeout_follows_the_rtt_and_doubles() {
        let mut rto = Rto::new(ms(1000), ms(200), ms(60_000));
        let mut rtt = RttEstimate::new(ms(333));
        assert_eq!(rto.timeout(&rtt), ms(1000));
        rtt.update(ms(100), Duration::ZERO);
        // SRTT 100 ms, RTTVAR 50 ms.
        assert_eq!(rto.timeout(&rtt), ms(300));
        rto.back_off(Time::ZERO, &rtt);
        assert_eq!((rto.at, rto.backoffs()), (Some(Time::ZERO + ms(600)), 1));
        (0..20).for_each(|_| rto.back_off(Time::ZERO, &rtt));
        assert_eq!(rto.timeout(&rtt), ms(60_000));
        rto.recovered();
        rto.start(Time::ZERO + ms(5), &rtt);
        assert_eq!(rto.at, Some(Time::ZERO + ms(60_000)), "it runs already");
        rto.stop();
        rto.start(Time::ZERO + ms(5), &rtt);
        assert_eq!(rto.at, Some(Time::ZERO + ms(305)));
    }

    /// The variance term has a floor, and not the sum: a path of 300 ms without any variance leaves an acknowledgement 200 ms.
    #[test]
    fn the_variance_has_a_floor() {
        let rto = Rto::new(ms(1000), ms(200), ms(60_000));
        for path in [10, 300] {
            let mut rtt = RttEstimate::new(ms(333));
            (0..100).for_each(|_| rtt.update(ms(path), Duration::ZERO));
            assert_eq!(rto.timeout(&rtt), ms(path + 200));
        }
        let mut rtt = RttEstimate::new(ms(333));
        rtt.update(ms(300), Duration::ZERO);
        assert_eq!(rto.timeout(&rtt), ms(900), "4 times 150 ms are more");
        assert_eq!(Rto::new(ms(1000), ms(0), ms(60_000)).timeout(&rtt), ms(900));
        (0..100).for_each(|_| rtt.update(ms(300), Duration::ZERO));
        assert_eq!(
            Rto::new(ms(1000), ms(0), ms(60_000)).timeout(&rtt),
            ms(301),
            "the clock's granularity (2.3)"
        );
    }
}
