//! The playback clock: the position in the media as a function of time.

use units::{Duration, Time};

/// One as a rate of playback: media time equals time.
pub(crate) const UNIT: u64 = 1_000_000;

/// The position in the media, which rises by a rate in millionths; 0 stands still.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// The position at a time, and the rate since then.
    since: Time,
    position: Duration,
    rate: u64,
}

impl Clock {
    /// A clock that stands at a position.
    pub(super) fn standing(now: Time, position: Duration) -> Clock {
        Clock { since: now, position, rate: 0 }
    }
    /// The rate in millionths.
    pub(super) fn rate(&self) -> u64 {
        self.rate
    }
    /// The position, rounded down to nanoseconds. It is asked for with each packet: at the usual rates nothing is divided.
    pub(super) fn position(&self, now: Time) -> Duration {
        let since = now.since(self.since);
        self.position
            + match self.rate {
                0 => Duration::ZERO,
                UNIT => since,
                rate => since.scale(rate, UNIT),
            }
    }
    /// The first time at which a position is reached; `None` if the clock stands before it.
    pub(super) fn reaches(&self, position: Duration) -> Option<Time> {
        if position <= self.position {
            return Some(self.since);
        }
        match self.rate {
            0 => return None,
            UNIT => return Some(self.since + (position - self.position)),
            _ => {}
        }
        let media = u128::from((position - self.position).as_nanos()) * u128::from(UNIT);
        let span = media.div_ceil(u128::from(self.rate));
        Some(self.since + Duration::from_nanos(u64::try_from(span).unwrap_or(u64::MAX)))
    }
    /// It is at a position that it [reaches](Clock::reaches) at this time. That time is rounded up to nanoseconds, so that at
    /// unusual rates it would have gone past it by less than another one, which would be played by the clock and in no segment.
    pub(super) fn arrive(&mut self, now: Time, position: Duration) {
        let past = self.position(now).as_nanos().saturating_sub(position.as_nanos());
        if (1..=self.rate / UNIT).contains(&past) {
            *self = Clock { since: now, position, ..*self };
        }
    }
    /// Goes on at another rate.
    pub(super) fn set_rate(&mut self, now: Time, rate: u64) {
        *self = Clock { since: now, position: self.position(now), rate };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_follow_the_rate() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let ms = Duration::from_millis;
        let mut clock = Clock::standing(at(5), ms(1000));
        assert_eq!((clock.position(at(9)), clock.reaches(ms(1001))), (ms(1000), None));
        clock.set_rate(at(10), UNIT);
        assert_eq!((clock.position(at(35)), clock.reaches(ms(1025))), (ms(1025), Some(at(35))));
        let far = ms(1000) + Duration::from_nanos(7);
        assert_eq!(clock.reaches(far), Some(at(10) + Duration::from_nanos(7)), "as with any other rate");
        clock.set_rate(at(35), 1_050_000);
        assert_eq!((clock.position(at(135)), clock.reaches(ms(1130))), (ms(1130), Some(at(135))));
        // Three nanoseconds of media take 2.86 ns: the position is reached in the nanosecond that follows.
        assert_eq!(clock.reaches(ms(1025) + Duration::from_nanos(3)), Some(at(35) + Duration::from_nanos(3)));
        assert_eq!(clock.reaches(ms(3)), Some(at(35)));
    }

    #[test]
    fn a_clock_arrives_where_it_was_expected() {
        let ns = Duration::from_nanos;
        for (rate, target) in [(1_050_000, 40), (1_050_000, 41), (950_000, 40), (1_999_999, 7), (UNIT, 9)] {
            let mut clock = Clock::standing(Time::ZERO, Duration::ZERO);
            clock.set_rate(Time::ZERO, rate);
            let at = clock.reaches(ns(target)).unwrap();
            clock.arrive(at, ns(target));
            assert_eq!((clock.position(at), clock.rate()), (ns(target), rate), "{rate}");
        }
        // Elsewhere it is where it is.
        let mut clock = Clock::standing(Time::ZERO, ns(100));
        clock.arrive(Time::ZERO, ns(50));
        assert_eq!(clock.position(Time::ZERO), ns(100));
    }
}
