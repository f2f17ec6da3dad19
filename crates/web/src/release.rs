//! When the parts of a body may be sent.

use units::{Duration, Time};

/// Equal parts of a body, which may be sent one after the other: they come into being over time, or the client asked for a
/// pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// When the first part may be sent; `None` for at once.
    pub first: Option<Time>,
    /// The time between two parts.
    pub every: Duration,
    /// Their number; 0 counts as 1.
    pub parts: u64,
}

impl Release {
    /// The bytes of a body that may be sent by now, and when there are more.
    pub(crate) fn by(&mut self, now: Time, length: u64) -> (u64, Option<Time>) {
        let first = *self.first.get_or_insert(now);
        if now < first {
            return (0, Some(first));
        }
        let parts = self.parts.max(1);
        let past = now.since(first).as_nanos().checked_div(self.every.as_nanos());
        let released = past.map_or(parts, |past| parts.min(past.saturating_add(1)));
        let bytes = u128::from(length) * u128::from(released) / u128::from(parts);
        let next = (released < parts).then(|| first + self.every.scale(released, 1));
        (bytes as u64, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut release = Release { first: Some(at(10)), every: Duration::from_millis(5), parts: 3 };
        let mut by = |ms| release.by(at(ms), 1000);
        assert_eq!([by(0), by(9)], [(0, Some(at(10))); 2]);
        assert_eq!([by(10), by(14)], [(333, Some(at(15))); 2]);
        assert_eq!([by(15), by(20), by(1000)], [(666, Some(at(20))), (1000, None), (1000, None)]);
        let mut now = Release { first: None, every: Duration::from_millis(1), parts: 2 };
        assert_eq!([now.by(at(7), 10), now.by(at(8), 10)], [(5, Some(at(8))), (10, None)]);
        assert_eq!(Release { first: None, every: Duration::ZERO, parts: 0 }.by(at(0), 10), (10, None));
    }
}
