//! A token bucket: a rate with a burst, counted exactly.

use units::{Duration, Rate, Size, Time};

/// Bits times 10^9: rate in bit/s times nanoseconds, so that nothing is rounded.
type Work = i128;

const WORK_PER_BYTE: Work = 8_000_000_000;

/// Tokens that arrive at a rate, up to a burst (like the bucket of RFC 2697). The bucket is full at the start.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    rate: u64,
    burst: Work,
    tokens: Work,
    at: Time,
}

impl Bucket {
    /// Creates a full bucket.
    pub(crate) fn new(rate: Rate, burst: Size) -> Bucket {
        let burst = Work::from(burst.as_bytes()) * WORK_PER_BYTE;
        Bucket { rate: rate.as_bits_per_sec(), burst, tokens: burst, at: Time::ZERO }
    }
    /// The rate of the tokens.
    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.rate)
    }
    /// Adds the tokens up to `now`.
    fn fill(&mut self, now: Time) {
        let came = Work::from(self.rate) * Work::from(now.since(self.at).as_nanos());
        self.tokens = self.tokens.saturating_add(came).min(self.burst);
        self.at = self.at.max(now);
    }
    /// Stops unless the tokens are what a policer leaves of a burst: it takes no more than there are.
    pub(crate) fn check(&self) {
        assert!((0..=self.burst).contains(&self.tokens), "a bucket holds tokens up to its burst");
    }
    /// Takes the tokens of a packet if all are available.
    pub(crate) fn take(&mut self, now: Time, size: u32) -> bool {
        self.fill(now);
        let needed = Work::from(size) * WORK_PER_BYTE;
        let enough = self.tokens >= needed;
        if enough {
            self.tokens -= needed;
        }
        enough
    }
    /// Takes the tokens of a packet as soon as they are available, from `now` on and after earlier packets;
    /// returns that time. A packet larger than the burst is sent when the bucket is full, and leaves a debt.
    pub(crate) fn wait(&mut self, now: Time, size: u32) -> Time {
        let now = now.max(self.at);
        self.fill(now);
        let needed = Work::from(size) * WORK_PER_BYTE;
        let missing = needed.min(self.burst) - self.tokens;
        if missing > 0 {
            if self.rate == 0 {
                return Time::NEVER;
            }
            let ns = missing.unsigned_abs().div_ceil(u128::from(self.rate));
            self.at = now + Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX));
            // The tokens of the rest of the last nanosecond are kept, even above the burst, so that the rate is
            // exact.
            self.tokens = self.tokens.saturating_add(Work::from(self.rate) * ns as Work);
        }
        self.tokens -= needed;
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Mbit/s are a byte in each microsecond.
    fn bucket(burst: u64) -> Bucket {
        Bucket::new(Rate::from_bits_per_sec(8_000_000), Size::from_bytes(burst))
    }
    fn us(n: u64) -> Time {
        Time::from_nanos(1000 * n)
    }

    #[test]
    fn a_full_bucket_lets_a_burst_through_and_then_the_rate() {
        let mut bucket = bucket(3000);
        assert_eq!([1500, 1500, 1].map(|size| bucket.take(us(0), size)), [true, true, false]);
        assert_eq!([99, 100, 100].map(|at| bucket.take(us(at), 100)), [false, true, false]);
        assert!(
            bucket.take(us(100_000), 3000) && !bucket.take(us(100_000), 1),
            "it holds no more than the burst"
        );
    }

    #[test]
    fn who_waits_goes_when_the_tokens_are_there_and_keeps_the_rate() {
        let mut bucket = bucket(2000);
        assert_eq!([1500, 1500, 1500].map(|size| bucket.wait(us(0), size)), [us(0), us(1000), us(2500)]);
        // Larger than the bucket: it goes when that is full, and the next one pays for it.
        assert_eq!(bucket.wait(us(2500), 5000), us(4500));
        assert_eq!(bucket.wait(us(4500), 1), us(7501));
        let odd = Rate::from_bits_per_sec(7_777_777);
        let mut bucket = Bucket::new(odd, Size::ZERO);
        let last = (0..1_000_000).fold(us(0), |at, _| bucket.wait(at, 1500));
        // The last one begins when the others have been paid for: 12000 × 999,999 bits.
        assert_eq!(last.as_nanos(), (12_000u128 * 999_999 * 1_000_000_000).div_ceil(7_777_777) as u64);
    }

    #[test]
    fn a_rate_of_zero_gives_the_burst_and_no_more() {
        let mut bucket = Bucket::new(Rate::ZERO, Size::from_bytes(10));
        assert_eq!([10, 1].map(|size| bucket.wait(us(5), size)), [us(5), Time::NEVER]);
    }
}
