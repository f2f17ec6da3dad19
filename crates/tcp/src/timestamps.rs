//! Timestamps: the clock, the echo, and the protection against old duplicates (RFC 7323 sections 3 to 5).

use units::{Duration, Time};
use wire::tcp::Timestamps;

/// RFC 7323 section 5.4: between 1 ms and 1 s; this clock ticks every millisecond.
const TICK: u64 = 1_000_000;
/// RFC 7323 section 5.5: after 24 idle days TS.Recent is invalid.
const OUTDATED: Duration = Duration::from_secs(24 * 86_400);

/// The clock for TSval.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    /// RFC 7323 section 7.1: a random offset.
    offset: u32,
}

impl Clock {
    pub(crate) fn new(offset: u32) -> Clock {
        Clock { offset }
    }
    /// TSval at a time.
    #[inline]
    pub(crate) fn value(self, at: Time) -> u32 {
        self.offset.wrapping_add((at.as_nanos() / TICK) as u32)
    }
    /// Whether an echoed value is older than this time.
    #[inline]
    pub(crate) fn is_older(self, echo: u32, at: Time) -> bool {
        (echo.wrapping_sub(self.value(at)) as i32) < 0
    }
    /// The time since an echoed value, rounded up; `None` if the clock has not had it: it lies in the future, or before its first
    /// one, so that it was never sent.
    pub(crate) fn since(self, now: Time, echo: u32) -> Option<Duration> {
        let ticks = self.value(now).wrapping_sub(echo);
        let since_start = now.as_nanos() / TICK;
        (ticks as i32 >= 0 && u64::from(ticks) <= since_start)
            .then(|| Duration::from_nanos((u64::from(ticks) + 1) * TICK))
    }
}

/// TS.Recent and the time of its last update.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Recent {
    value: Option<(u32, Time)>,
}

impl Recent {
    /// The value for TSecr.
    #[inline]
    pub(crate) fn echo(&self) -> u32 {
        self.value.map_or(0, |(value, _)| value)
    }
    /// PAWS, R1 of section 5.3: whether a segment with this TSval is an old duplicate.
    #[inline]
    pub(crate) fn is_outdated(&self, now: Time, timestamps: Timestamps) -> bool {
        self.value.is_some_and(|(recent, at)| {
            (timestamps.value.wrapping_sub(recent) as i32) < 0 && now.since(at) < OUTDATED
        })
    }
    /// Section 4.3, (2): updates TS.Recent from a segment that begins at or before Last.ACK.sent.
    #[inline]
    pub(crate) fn update(&mut self, now: Time, timestamps: Timestamps, start: u64, last_ack_sent: u64) {
        // Section 5.5: after so long an idle period any value is new.
        let newer = self.value.is_none_or(|(recent, at)| {
            timestamps.value.wrapping_sub(recent) as i32 >= 0 || now.since(at) >= OUTDATED
        });
        if newer && start <= last_ack_sent {
            self.value = Some((timestamps.value, now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * TICK)
    }

    #[test]
    fn the_clock_wraps_around() {
        let clock = Clock::new(u32::MAX - 5);
        assert_eq!((clock.value(at(5)), clock.value(at(6))), (u32::MAX, 0));
        assert!(clock.is_older(clock.value(at(5)), at(6)) && !clock.is_older(clock.value(at(6)), at(6)));
        assert_eq!(clock.since(at(106), clock.value(at(6))), Some(Duration::from_millis(101)));
        assert_eq!(clock.since(at(6), clock.value(at(106))), None);
        let first = clock.value(at(0));
        assert_eq!(clock.since(at(6), first), Some(Duration::from_millis(7)));
        assert_eq!(clock.since(at(6), first.wrapping_sub(1)), None, "the clock has not had this value");
    }

    /// RFC 7323 sections 4.3 and 5.3.
    #[test]
    fn old_duplicates_are_detected() {
        let stamps = |value| Timestamps { value, echo: 0 };
        let mut recent = Recent::default();
        assert!(!recent.is_outdated(at(0), stamps(7)));
        recent.update(at(0), stamps(100), 1, 1);
        recent.update(at(1), stamps(101), 2, 1);
        assert_eq!(recent.echo(), 100, "a segment behind a gap is not echoed");
        assert!(recent.is_outdated(at(2), stamps(99)) && !recent.is_outdated(at(2), stamps(100)));
        recent.update(at(3), stamps(99), 1, 1);
        assert_eq!(recent.echo(), 100);
        let later = Time::ZERO + OUTDATED;
        assert!(!recent.is_outdated(later, stamps(99)), "after 24 days");
        recent.update(later, stamps(99), 1, 1);
        assert_eq!(recent.echo(), 99, "section 5.5: what was known is void");
        assert!(recent.is_outdated(later, stamps(98)));
        let mut recent = Recent::default();
        recent.update(at(0), stamps(u32::MAX), 1, 1);
        assert!(!recent.is_outdated(at(2), stamps(3)), "the clock wraps around");
    }
}
