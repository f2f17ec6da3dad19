//! The retransmission timeout (RFC 6298).

use congestion::{GRANULARITY, RttEstimate};
use units::{Duration, Time};

/// The timeout of a connection and its timer.
#[derive(Debug, Clone)]
pub(crate) struct Rto {
    initial: Duration,
    least: Duration,
    most: Duration,
    /// The number of doublings since the last RTT sample.
    backoffs: u32,
    /// The number of timeouts since new data was acknowledged.
    unanswered: u32,
    /// The expiry of the timer, if it runs.
    pub(crate) at: Option<Time>,
}

impl Rto {
    /// Creates a stopped timer with the timeout before the first RTT sample and the bounds of later timeouts.
    pub(crate) fn new(initial: Duration, least: Duration, most: Duration) -> Rto {
        Rto { initial, least, most, backoffs: 0, unanswered: 0, at: None }
    }

    /// The number of doublings since the last RTT sample.
    pub(crate) fn backoffs(&self) -> u32 {
        self.backoffs
    }
    /// The number of timeouts since new data was acknowledged, all for the same segment (RFC 9293 section 3.8.3).
    pub(crate) fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// RTO: SRTT + max (G, 4 RTTVAR) (2.2, 2.3), doubled with each timeout (5.5). The variance term is at least
    /// `min_rto`, since even on a path without jitter an acknowledgement may be delayed by that much.
    #[inline]
    pub(crate) fn timeout(&self, rtt: &RttEstimate) -> Duration {
        let base = if rtt.is_sampled() {
            // 2.4: the RTO SHOULD be rounded up to one second; like all current stacks, this one goes lower.
            rtt.smoothed() + (rtt.variance() * 4).max(GRANULARITY).max(self.least)
        } else {
            // 2.1.
            self.initial
        };
        (base * (1 << self.backoffs.min(16))).min(self.most)
    }

    /// 5.1: something was sent; starts the timer unless it is running.
    #[inline]
    pub(crate) fn start(&mut self, now: Time, rtt: &RttEstimate) {
        if self.at.is_none() {
            self.restart(now, rtt);
        }
    }
    /// 5.3: new data was acknowledged, or the first segment was retransmitted. Restarts the timer.
    #[inline]
    pub(crate) fn restart(&mut self, now: Time, rtt: &RttEstimate) {
        self.at = Some(now + self.timeout(rtt));
    }
    /// 5.2: all data was acknowledged.
    #[inline]
    pub(crate) fn stop(&mut self) {
        self.at = None;
    }
    /// 5.5, 5.6: the timer has expired.
    pub(crate) fn back_off(&mut self, now: Time, rtt: &RttEstimate) {
        self.backoffs += 1;
        self.unanswered += 1;
        self.restart(now, rtt);
    }
    /// New data was acknowledged, with or without an RTT sample.
    #[inline]
    pub(crate) fn answered(&mut self) {
        self.unanswered = 0;
    }
    /// 5.7: the SYN was retransmitted and there is no RTT sample: the RTO is at least three seconds.
    pub(crate) fn fall_back(&mut self) {
        self.initial = self.initial.max(Duration::from_secs(3));
    }
    /// Section 5: an RTT sample ends the backoff.
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

    /// The minimum applies to the variance term, not to the sum: on a path of 300 ms without variance an
    /// acknowledgement may be 200 ms late.
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
