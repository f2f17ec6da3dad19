//! Loss detection and the probe timeout: the pure functions of RFC 9002.

use congestion::{GRANULARITY, RttEstimate};
use trace::event::LossTrigger;
use units::{Duration, Time};

/// The distance from a later acknowledged packet at which a packet is lost: kPacketThreshold (RFC 9002 section
/// 6.1.1).
pub const PACKET_THRESHOLD: u64 = 3;
/// kPersistentCongestionThreshold (RFC 9002 section 7.6.1).
const PERSISTENT_CONGESTION_THRESHOLD: u64 = 3;
/// The maximum exponent of the probe timeout's backoff, which prevents overflow.
const MAX_BACKOFF_EXPONENT: u32 = 16;

/// The age at which a packet older than an acknowledged one is lost (RFC 9002 section 6.1.2: kTimeThreshold 9/8).
pub fn time_threshold(rtt: &RttEstimate) -> Duration {
    rtt.latest().max(rtt.smoothed()).scale(9, 8).max(GRANULARITY)
}

/// Whether a packet older than `largest_acked` is lost at `now`; otherwise the time at which it will be (RFC 9002
/// section A.10).
pub fn judge(
    number: u64,
    sent_at: Time,
    largest_acked: u64,
    threshold: Duration,
    now: Time,
) -> Result<LossTrigger, Time> {
    if largest_acked >= number + PACKET_THRESHOLD {
        Ok(LossTrigger::PacketThreshold)
    } else if sent_at + threshold <= now {
        Ok(LossTrigger::TimeThreshold)
    } else {
        Err(sent_at + threshold)
    }
}

/// The probe timeout (RFC 9002 section 6.2.1). `max_ack_delay` is zero for the Initial and Handshake spaces.
pub fn probe_timeout(rtt: &RttEstimate, max_ack_delay: Duration, count: u32) -> Duration {
    backed_off(rtt.pto() + max_ack_delay, count)
}

/// A probe timeout after this number of expiries without an acknowledgement.
#[inline]
pub fn backed_off(timeout: Duration, count: u32) -> Duration {
    timeout * (1 << count.min(MAX_BACKOFF_EXPONENT))
}

/// The period over which all packets must be lost for persistent congestion (RFC 9002 section 7.6.1).
pub fn persistent_congestion_period(rtt: &RttEstimate, max_ack_delay: Duration) -> Duration {
    (rtt.pto() + max_ack_delay) * PERSISTENT_CONGESTION_THRESHOLD
}

/// Measures a run of lost ack-eliciting packets, to detect persistent congestion (RFC 9002 section 7.6.2). Losses are
/// passed in order of packet numbers; a missing number was acknowledged and ends the run.
#[derive(Debug, Default)]
pub struct LossRun {
    start: Option<Time>,
    next: u64,
    longest: Duration,
}

impl LossRun {
    /// Adds a lost packet. Only packets sent after the first RTT sample may be added.
    pub fn lost(&mut self, number: u64, sent_at: Time, ack_eliciting: bool) {
        if number != self.next {
            self.start = None;
        }
        self.next = number + 1;
        if ack_eliciting {
            let start = *self.start.get_or_insert(sent_at);
            self.longest = self.longest.max(sent_at.since(start));
        }
    }
    /// The longest time between two lost ack-eliciting packets without an acknowledged one in between.
    pub fn longest(&self) -> Duration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn rtt(ms: u64) -> RttEstimate {
        let mut rtt = RttEstimate::new(Duration::from_millis(333));
        rtt.update(Duration::from_millis(ms), Duration::ZERO);
        rtt
    }

    #[test]
    fn three_packets_or_nine_eighths() {
        let threshold = time_threshold(&rtt(80));
        assert_eq!(threshold, Duration::from_millis(90));
        assert_eq!(judge(5, at(100), 8, threshold, at(101)), Ok(LossTrigger::PacketThreshold));
        assert_eq!(judge(6, at(100), 8, threshold, at(189)), Err(at(190)));
        assert_eq!(judge(6, at(100), 8, threshold, at(190)), Ok(LossTrigger::TimeThreshold));
        let mut tiny = RttEstimate::new(Duration::from_millis(333));
        tiny.update(Duration::from_micros(10), Duration::ZERO);
        assert_eq!(time_threshold(&tiny), Duration::from_millis(1));
    }

    /// RFC 9002 section 6.1.2: the longer of latest and smoothed RTT, so that a path that has just become slower
    /// causes no spurious losses.
    #[test]
    fn the_threshold_uses_the_latest_sample_if_it_is_longer() {
        let mut rising = rtt(80);
        rising.update(Duration::from_millis(160), Duration::ZERO);
        assert_eq!(rising.smoothed(), Duration::from_millis(90));
        assert_eq!(time_threshold(&rising), Duration::from_millis(180));
    }

    #[test]
    fn the_probe_timeout_doubles() {
        // smoothed 100 ms, variance 50 ms: 300 ms, and the peer's 25 ms.
        let delay = Duration::from_millis(25);
        assert_eq!(probe_timeout(&rtt(100), delay, 0), Duration::from_millis(325));
        assert_eq!(probe_timeout(&rtt(100), delay, 3), Duration::from_millis(2600));
        assert_eq!(persistent_congestion_period(&rtt(100), delay), Duration::from_millis(975));
        assert_eq!(probe_timeout(&rtt(100), delay, 40), probe_timeout(&rtt(100), delay, 16));
    }

    #[test]
    fn a_run_of_losses_is_broken_by_an_acknowledged_number() {
        let mut run = LossRun::default();
        run.lost(0, at(0), true);
        run.lost(1, at(10), false);
        run.lost(2, at(100), true);
        assert_eq!(run.longest(), Duration::from_millis(100));
        run.lost(4, at(1000), true);
        assert_eq!(run.longest(), Duration::from_millis(100));
        run.lost(5, at(1300), true);
        assert_eq!(run.longest(), Duration::from_millis(300));
    }
}
