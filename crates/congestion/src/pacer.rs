//! The pacer, a leaky bucket over the controller's rate (RFC 9002 section 7.7), decides when the next packet may be
//! sent.

use units::{Duration, Rate, Time};

/// A bucket that fills at the pacing rate and pays for packets. A whole burst may be sent at once after a pause;
/// otherwise packets leave in steps of `quantum` bytes.
///
/// Nothing is sent with less credit than a full packet, and a sender that was held back waits for a whole quantum. What a
/// packet leaves of its credit, because it is smaller or because times are whole nanoseconds, is so saved for the next
/// one, and does not let that one leave at once.
#[derive(Debug, Clone)]
pub struct Pacer {
    rate: Rate,
    /// Credit in bits times nanoseconds per second (bits x 1e9), so that nothing is lost to rounding.
    credit: i128,
    /// The credit with which the next packet may be sent: `packet`, and `quantum` after there was less than that.
    needed: i128,
    packet: i128,
    burst: i128,
    quantum: i128,
    updated: Time,
}

const SCALE: i128 = 8_000_000_000;

impl Pacer {
    /// Creates a pacer for packets of at most `packet` bytes that sends `burst` of them at once after a pause, and
    /// otherwise waits for the credit of `quantum` of them.
    pub fn new(packet: u64, burst: u64, quantum: u64) -> Pacer {
        let packet = i128::from(packet.max(1)) * SCALE;
        let burst = i128::from(burst.max(1)) * packet;
        Pacer {
            rate: Rate::from_bits_per_sec(u64::MAX),
            credit: burst,
            needed: packet,
            packet,
            burst,
            quantum: (i128::from(quantum.max(1)) * packet).min(burst),
            updated: Time::ZERO,
        }
    }

    /// Stops if what is needed for a packet, sent at once, or saved in a pause contradicts the rest.
    pub fn check(&self) {
        assert!(self.packet > 0, "a packet takes credit");
        assert!(self.quantum >= self.packet, "a quantum has room for a packet");
        assert!(self.quantum <= self.burst, "a pause saves enough credit for a quantum");
        let known = self.needed == self.packet || self.needed == self.quantum;
        assert!(known, "a packet waits for its own credit or for that of a quantum");
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

    /// Changes the number of bytes sent at once, which is one packet at least. It also limits the credit saved in a pause
    /// (draft-ietf-ccwg-bbr-06 section 5.6.2).
    #[inline]
    pub fn set_quantum(&mut self, bytes: u64) {
        self.quantum = (i128::from(bytes) * SCALE).max(self.packet);
        if self.needed != self.packet {
            self.needed = self.quantum;
        }
        // Excess credit is dropped with the next packet.
        self.burst = self.quantum;
    }

    /// Takes all credit away: the next packet waits for its own.
    pub(crate) fn empty(&mut self, now: Time) {
        self.fill(now);
        self.credit = self.credit.min(0);
        self.needed = self.quantum;
    }

    /// Pays for a packet sent at `now`.
    #[inline]
    pub fn on_sent(&mut self, now: Time, bytes: u64) {
        self.fill(now);
        let held_back = self.credit < self.needed;
        self.credit -= i128::from(bytes) * SCALE;
        self.needed = if held_back || self.credit < self.packet { self.quantum } else { self.packet };
    }

    /// `None` if a packet may be sent at `now`, otherwise when the next one may.
    #[inline]
    pub fn blocked_until(&mut self, now: Time) -> Option<Time> {
        if self.credit < self.needed {
            self.fill(now);
            if self.credit < self.needed {
                return Some(self.filled_at());
            }
        }
        None
    }

    /// When the credit is what the next packet needs.
    fn filled_at(&self) -> Time {
        if self.rate == Rate::ZERO {
            return Time::NEVER;
        }
        let rate = i128::from(self.rate.as_bits_per_sec());
        debug_assert!(self.credit < self.needed, "only a packet without credit waits");
        let wait = (self.needed - self.credit + rate - 1) / rate;
        self.updated + Duration::from_nanos(u64::try_from(wait).unwrap_or(u64::MAX))
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
        let mut pacer = Pacer::new(1200, 10, 1);
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

    /// A quantum of one packet: each packet follows its predecessor after the time that that takes at the rate, whatever the
    /// sizes. What a packet smaller than a full one leaves, or the rounding of a time, does not let the next one leave with it.
    #[test]
    fn a_quantum_of_one_packet_is_even_at_every_rate_and_size() {
        let mut random = random::Generator::new(1, "sizes");
        for rate in [64_000, 1_000_000, 9_999_991, 10_000_000, 123_456_789, 10_000_000_000] {
            for (least, most) in [(1200, 1200), (1173, 1173), (1100, 1200), (40, 1200), (90, 110), (1, 3)] {
                let mut pacer = Pacer::new(1200, 10, 1);
                pacer.set_rate(Time::ZERO, Rate::from_bits_per_sec(rate));
                let (mut now, mut free) = (Time::ZERO, None::<f64>);
                for _ in 0..20_000 / most + 200 {
                    if let Some(at) = pacer.blocked_until(now) {
                        assert!(at > now);
                        // As exact as nanoseconds are, and the errors do not add up.
                        let expected = free.get_or_insert(at.as_nanos() as f64);
                        assert!(
                            (at.as_nanos() as f64 - *expected).abs() <= 1.0,
                            "{rate} bit/s, {least} to {most} bytes"
                        );
                        now = at;
                    } else {
                        // Of the smallest packets at the highest rate, several have the same nanosecond.
                        let is_free = free.is_none_or(|free| free <= now.as_nanos() as f64 + 1.0);
                        assert!(is_free, "two packets together: {rate} bit/s, {least} to {most} bytes");
                    }
                    assert_eq!(pacer.blocked_until(now), None);
                    let bytes = least + random.below(most - least + 1);
                    pacer.on_sent(now, bytes);
                    if let Some(free) = &mut free {
                        *free += bytes as f64 * 8e9 / rate as f64;
                    }
                }
                assert!(free.is_some());
            }
        }
    }

    /// A larger quantum: bursts of as many whole packets, and the rate is kept. Packets of other sizes do not change that.
    #[test]
    fn a_quantum_of_several_packets_is_sent_at_once_and_no_more() {
        for quantum in [2, 3, 8] {
            for bytes in [1200, 1190, 1100] {
                let mut pacer = Pacer::new(1200, 10, quantum);
                pacer.set_rate(Time::ZERO, "9.6 Mbit/s".parse().unwrap());
                let mut bursts = vec![(Time::ZERO, 0_u64)];
                for _ in 0..200 {
                    if let Some(at) = pacer.blocked_until(bursts.last().unwrap().0) {
                        bursts.push((at, 0));
                    }
                    let last = bursts.last_mut().unwrap();
                    pacer.on_sent(last.0, bytes);
                    last.1 += 1;
                }
                assert_eq!(bursts[0].1, 10, "what was saved");
                bursts.pop();
                assert!(bursts[1..].iter().all(|(_, packets)| *packets == quantum), "{bursts:?}");
                for pair in bursts[1..].windows(2) {
                    let apart = pair[1].0.since(pair[0].0).as_nanos();
                    assert!(apart.abs_diff(quantum * bytes * 8_000_000 / 9_600) <= 1, "{bursts:?}");
                }
            }
        }
    }

    #[test]
    fn a_pause_does_not_save_more_than_a_burst() {
        let mut pacer = Pacer::new(1200, 2, 1);
        pacer.set_rate(Time::ZERO, Rate::from_bits_per_sec(9_600_000));
        let later = Time::ZERO + Duration::from_secs(100);
        assert_eq!(leave_at_once(&mut pacer, later), 2);
    }

    /// draft-ietf-ccwg-bbr-06 section 5.6.2: a pause saves at most a quantum, and packets leave in steps of it.
    #[test]
    fn a_quantum_bounds_what_leaves_at_once() {
        let mut pacer = Pacer::new(1200, 10, 1);
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
            let mut pacer = Pacer::new(1200, 10, 1);
            pacer.set_rate(Time::ZERO, Rate::from_bits_per_sec(9_600_000));
            pacer.set_quantum(saved);
            let later = Time::ZERO + Duration::from_secs(100);
            // Brings the credit up to date.
            pacer.set_rate(later, Rate::from_bits_per_sec(19_200_000));
            pacer.set_quantum(2400);
            assert_eq!(leave_at_once(&mut pacer, later), 2.min(saved / 1200), "saved {saved}");
        }
        let mut pacer = Pacer::new(1200, 10, 1);
        pacer.set_quantum(2400);
        assert_eq!(leave_at_once(&mut pacer, Time::ZERO), 2, "the first burst");
    }

    /// RFC 9002 section 7.7: credit and debt up to a rate change count at the old rate.
    #[test]
    fn another_rate_counts_from_when_it_is_set() {
        let at = |us: u64| Time::from_nanos(1000 * us);
        for (faster, free) in [("96 Mbit/s", 1200), ("0.96 Mbit/s", 21_000)] {
            let mut pacer = Pacer::new(1200, 10, 1);
            pacer.set_rate(at(0), "9.6 Mbit/s".parse().unwrap()); // 1200 B per ms
            pacer.on_sent(at(0), 14_400);
            // Two packets are owed; one of them is paid for after a millisecond, and then one more is saved.
            pacer.set_rate(at(1000), faster.parse().unwrap());
            assert_eq!(pacer.blocked_until(at(1000)), Some(at(free)), "{faster}");
        }
    }

    #[test]
    fn a_rate_of_zero_blocks_for_ever() {
        let mut pacer = Pacer::new(1200, 1, 1);
        pacer.set_rate(Time::ZERO, Rate::ZERO);
        pacer.on_sent(Time::ZERO, 1200);
        assert_eq!(pacer.blocked_until(Time::ZERO), Some(Time::NEVER));
    }
}
