//! The wall clock of an endpoint: the time since the start of the program.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use units::Time;

/// A monotonic clock that starts at zero when it is created.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    zero: Instant,
    date: Duration,
}

impl Clock {
    /// Creates a clock, which shows zero now.
    #[allow(clippy::disallowed_methods, reason = "this is the place where real time comes in")]
    pub fn start() -> Clock {
        // A date before 1970 means that the machine's clock was never set: certificates are then invalid, and
        // the user must learn of it.
        let date = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { zero: Instant::now(), date }
    }

    /// The time of the clock.
    #[inline]
    #[allow(clippy::disallowed_methods, reason = "this is the place where real time comes in")]
    pub fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.zero.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The current date of the system since 1970 in UTC, for comparison with timestamps of the system.
    #[allow(clippy::disallowed_methods, reason = "this is the place where real time comes in")]
    pub fn date(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    /// The time of the clock together with the date of the same moment. The times of other dates are computed
    /// from the two, in the same order.
    pub(crate) fn reading(&self) -> Reading {
        Reading { now: self.now(), date: self.date() }
    }

    /// The date of the clock's zero since 1970 in UTC: for [`tls::Context::with_epoch`].
    pub fn date_of_zero(&self) -> Duration {
        self.date
    }
}

/// The time of a clock at a date.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    now: Time,
    date: Duration,
}

impl Reading {
    /// The time of the clock at another date near this one; without a date, that of this one.
    pub(crate) fn time_at(&self, date: Option<Duration>) -> Time {
        let date = date.unwrap_or(self.date);
        let nanos = |span: Duration| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX);
        let now = self.now.as_nanos();
        Time::from_nanos(match date.checked_sub(self.date) {
            Some(later) => now.saturating_add(nanos(later)),
            None => now.saturating_sub(nanos(self.date - date)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_the_order_and_the_distance_of_dates() {
        let reading = Reading { now: Time::from_nanos(5000), date: Duration::from_secs(100) };
        let at = |nanos| reading.time_at(Some(Duration::from_nanos(nanos))).as_nanos();
        assert_eq!([99_999_999_000, 100_000_000_000, 100_000_000_007].map(at), [4000, 5000, 5007]);
        assert_eq!((at(1), reading.time_at(None).as_nanos()), (0, 5000));
    }

    #[test]
    fn it_never_goes_back() {
        let clock = Clock::start();
        let mut last = Time::ZERO;
        for _ in 0..1000 {
            let now = clock.now();
            assert!(now >= last);
            last = now;
        }
        // 2020-01-01: the certificates of tests are older than that.
        assert!(clock.date_of_zero() > Duration::from_secs(1_577_836_800));
    }
}
