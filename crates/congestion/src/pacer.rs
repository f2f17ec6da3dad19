//! The pacer, a leaky bucket over the controller's rate (RFC 9002 section 7.7), decides when the next packet may be
//! sent.

use units::{Duration, Rate, Time};

/// A bucket that fills at the pacing rate and pays for packets. A whole burst may be sent at once after a pause;
/// otherwise packets leave in steps of `quantum` bytes.
#[derive(Debug, Clone)]
pub struct Pacer {
    rate: Rate,
    /// Credit in bits times nanoseconds per second (bits x 1e9), so that nothing is lost to rounding.
    credit: i128,
    burst: i128,
    quantum: i128,
    updated: Time,
}

const SCALE: i128 = 8_000_000_000;

impl Pacer {
    /// Creates a pacer that sends `burst` bytes at once after a pause, and otherwise waits for at least `quantum`
    /// bytes of credit.
    pub fn new(burst: u64, quantum: u64) -> Pacer {
        let burst = i128::from(burst.max(1)) * SCALE;
        Pacer {
            rate: Rate::from_bits_per_sec(u64::MAX),
            credit: burst,
            burst,
            quantum: (i128::from(quantum) * SCALE).min(burst),
            updated: Time::ZERO,
        }
    }

    fn fill(&mut self, now: Time) {
        let gained = i128::from(now.since(self.updated).as_nanos()) * i128::from(self.rate.as_bits_per_sec());
        self.credit = (self.credit + gained).min(self.burst);
        self.updated = self.updated.max(now);
    }

    /// Changes the rate from `now` on.
    #[inline]
    pub fn set_rate(&mut self, now: Time, rate: Rate) {
        if rate != self.rate {
            self.fill(now);
            self.rate = rate;
        }
    }

    /// Changes the number of bytes sent at once. It also limits the credit saved in a pause (draft-ietf-ccwg-bbr-06
    /// section 5.6.2).
    #[inline]
    pub fn set_quantum(&mut self, bytes: u64) {
        self.quantum = i128::from(bytes.max(1)) * SCALE;
        // Excess credit is dropped with the next packet.
        self.burst = self.quantum;
    }

    /// Takes all credit away: the next packet waits for its own.
    pub(crate) fn empty(&mut self, now: Time) {
        self.fill(now);
        self.credit = self.credit.min(0);
    }

    /// Pays for a packet sent at `now`.
    #[inline]
    pub fn on_sent(&mut self, now: Time, bytes: u64) {
        self.fill(now);
        self.credit -= i128::from(bytes) * SCALE;
    }

    /// `None` if a packet may be sent at `now`, otherwise when the next one may.
    #[inline]
    pub fn blocked_until(&mut self, now: Time) -> Option<Time> {
        if self.credit > 0 {
            return None;
        }
        self.fill(now);
        if self.credit > 0 {
            return None;
        }
        if self.rate == Rate::ZERO {
            return Some(Time::NEVER);
        }
        let rate = i128::from(self.rate.as_bits_per_sec());
        // Strictly positive credit for a quantum at once.
        let missing = (self.quantum - self.credit).max(1);
        let wait = (missing + rate - 1) / rate;
        Some(self.updated + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of packets of 1200 bytes that can be sent at this time.
    fn leave_at_once(pacer: &mut Pacer, now: Time) -> u64 {
        let mut count = 0;
        while pacer.blocked_until(now).is_none() {
            pacer.on_sent(now, 1200);
            count += 1;
        }
        count
    }

    #[test]
    fn a_burst_and_then_the_rate() {
        let mut pacer = Pacer::new(12_000, 1200);
        let mut now = Time::ZERO;
        pacer.set_rate(now, "9.6 Mbit/s".parse().unwrap()); // 1200 B per ms
        let mut left = Vec::new();
        for _ in 0..30 {
            if let Some(at) = pacer.blocked_until(now) {
                assert!(at > now);
                now = at;
            }
            assert_eq!(pacer.blocked_until(now), None);
            left.push(now);
            pacer.on_sent(now, 1200);
        }
        assert_eq!(left[9], Time::ZERO, "ten packets at once");
        for pair in left[10..].windows(2) {
            assert_eq!(pair[1].since(pair[0]), Duration::from_millis(1));
        }
    }

    #[test]
    fn a_pause_does_not_save_more_than_a_burst() {
        let mut pacer = Pacer::new(2400, 1200);
        pacer.set_rate(Time::ZERO, Rate::from_bits_per_sec(9_600_000));
        let later = Time::ZERO + Duration::from_secs(100);
        assert_eq!(leave_at_once(&mut pacer, later), 2);
    }

    /// draft-ietf-ccwg-bbr-06 section 5.6.2: a pause saves at most a quantum, and packets leave in steps of it.
    #[test]
    fn a_quantum_bounds_what_leaves_at_once() {
        let mut pacer = Pacer::new(12_000, 1200);
        pacer.set_quantum(2400);
        pacer.set_rate(Time::ZERO, Rate::from_bits_per_sec(9_600_000));
        let mut now = Time::ZERO + Duration::from_secs(100);
        let mut left = Vec::new();
        for _ in 0..10 {
            if let Some(at) = pacer.blocked_until(now) {
                now = at;
            }
            pacer.on_sent(now, 1200);
            left.push(now);
        }
        for pair in left.chunks(2) {
            assert_eq!(pair[0], pair[1]);
        }
        for pair in left.chunks(2).collect::<Vec<_>>().windows(2) {
            assert_eq!(pair[1][0].since(pair[0][0]), Duration::from_millis(2));
        }
        // It may also exceed the burst of the options.
        pacer.set_quantum(36_000);
        let later = now + Duration::from_secs(100);
        assert_eq!(leave_at_once(&mut pacer, later), 30);
    }

    /// The same for a decrease: credit saved under a larger quantum, or under the burst of the options, is lost.
    #[test]
    fn a_smaller_quantum_cuts_what_was_saved() {
        for saved in [36_000, 2400, 1200] {
            let mut pacer = Pacer::new(12_000, 1200);
            pacer.set_rate(Time::ZERO, Rate::from_bits_per_sec(9_600_000));
            pacer.set_quantum(saved);
            let later = Time::ZERO + Duration::from_secs(100);
            // Brings the credit up to date.
            pacer.set_rate(later, Rate::from_bits_per_sec(19_200_000));
            pacer.set_quantum(2400);
            assert_eq!(leave_at_once(&mut pacer, later), 2.min(saved / 1200), "saved {saved}");
        }
        let mut pacer = Pacer::new(12_000, 1200);
        pacer.set_quantum(2400);
        assert_eq!(leave_at_once(&mut pacer, Time::ZERO), 2, "the first burst");
    }

    /// RFC 9002 section 7.7: credit and debt up to a rate change count at the old rate.
    #[test]
    fn another_rate_counts_from_when_it_is_set() {
        let at = |us: u64| Time::from_nanos(1000 * us);
        for (faster, free) in [("96 Mbit/s", 1200), ("0.96 Mbit/s", 21_000)] {
            let mut pacer = Pacer::new(12_000, 1200);
            pacer.set_rate(at(0), "9.6 Mbit/s".parse().unwrap()); // 1200 B per ms
            pacer.on_sent(at(0), 14_400);
            // Two packets are owed; one of them is paid for after a millisecond, and then one more is saved.
            pacer.set_rate(at(1000), faster.parse().unwrap());
            assert_eq!(pacer.blocked_until(at(1000)), Some(at(free)), "{faster}");
        }
    }

    #[test]
    fn a_rate_of_zero_blocks_for_ever() {
        let mut pacer = Pacer::new(1200, 1200);
        pacer.set_rate(Time::ZERO, Rate::ZERO);
        pacer.on_sent(Time::ZERO, 1200);
        assert_eq!(pacer.blocked_until(Time::ZERO), Some(Time::NEVER));
    }
}
