//! Delayed acknowledgements (RFC 5681 section 4.2, RFC 9293 section 3.8.6.3).

use units::{Duration, Time};

/// Decides when to send an acknowledgement.
#[derive(Debug, Clone)]
pub(crate) struct AckPolicy {
    /// Full-sized segments per acknowledgement.
    ratio: u64,
    delay: Duration,
    /// The largest payload received so far, taken as the size of a full-sized segment.
    largest: u64,
    /// Received bytes that have not been acknowledged.
    bytes: u64,
    deadline: Option<Time>,
    now: bool,
}

impl AckPolicy {
    pub(crate) fn new(ratio: u64, delay: Duration) -> AckPolicy {
        AckPolicy { ratio, delay, largest: 1, bytes: 0, deadline: None, now: false }
    }
    /// Data arrived in order.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Time, length: u64) {
        self.largest = self.largest.max(length);
        self.bytes += length;
        // RFC 5681 section 4.2: "at least every second full-sized segment", and within 500 ms.
        if self.bytes >= self.ratio * self.largest || self.delay.is_zero() {
            self.now = true;
        } else if self.deadline.is_none() {
            self.deadline = Some(now + self.delay);
        }
    }
    /// Requests an immediate acknowledgement.
    #[inline]
    pub(crate) fn at_once(&mut self) {
        self.now = true;
    }
    /// Whether an acknowledgement is due.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.now || self.deadline.is_some_and(|at| at <= now)
    }
    /// The deadline of the delayed acknowledgement, if any.
    #[inline]
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.deadline
    }
    /// Cancels the delayed acknowledgement.
    pub(crate) fn no_timer(&mut self) {
        self.deadline = None;
    }
    /// A segment with an acknowledgement was sent.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        self.bytes = 0;
        self.deadline = None;
        self.now = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// RFC 5681 section 4.2.
    #[test]
    fn every_second_full_sized_segment_or_after_the_delay() {
        let mut policy = AckPolicy::new(2, Duration::from_millis(40));
        policy.on_data(at(0), 1448);
        assert!(!policy.is_due(at(39)) && policy.is_due(at(40)));
        policy.on_data(at(1), 1448);
        assert!(policy.is_due(at(1)));
        policy.on_sent();
        assert_eq!((policy.is_due(at(100)), policy.wake_at()), (false, None));
        policy.on_data(at(100), 100);
        policy.on_data(at(110), 100);
        assert!(!policy.is_due(at(110)), "two small segments are not two full-sized ones");
        assert_eq!(policy.wake_at(), Some(at(140)));
        policy.at_once();
        assert!(policy.is_due(at(111)));
    }
}
