//! The wall clock as the endpoint sees it: time since the program's start.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use units::Time;

/// A monotonic clock whose zero is the moment at which it was made.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    zero: Instant,
    date: Duration,
}

impl Clock {
    /// A clock that shows zero now.
    #[allow(clippy::disallowed_methods, reason = "this is the place where real time comes in")]
    pub fn start() -> Clock {
        // A date before 1970 is that of a machine whose clock was never set: certificates will then not be valid,
        // which is what the user has to hear.
        let date = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { zero: Instant::now(), date }
    }

    /// What it shows.
    #[inline]
    #[allow(clippy::disallowed_methods, reason = "this is the place where real time comes in")]
    pub fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.zero.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The date, as time since 1970 in UTC, as the system has it now: for comparison with times that the system gives.
    #[allow(clippy::disallowed_methods, reason = "this is the place where real time comes in")]
    pub fn date(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    /// What it showed at a date that the system gives; what it shows now, if none is given.
    pub(crate) fn time_of(&self, date: Option<Duration>) -> Time {
        let age = date.and_then(|date| self.date().checked_sub(date)).unwrap_or_default();
        let age = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
        Time::from_nanos(self.now().as_nanos().saturating_sub(age))
    }

    /// The date at which it showed zero, as time since 1970 in UTC: for [`tls::Context::with_epoch`].
    pub fn date_of_zero(&self) -> Duration {
        self.date
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
