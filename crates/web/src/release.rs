//! When the parts of a body may be sent.

use units::{Duration, Time};

/// Equal parts of a body, which may be sent one after the other: they come into being over time, or the client asked for a
/// pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The parts that may be sent at once.
    pub ready: u64,
    /// When the first part after these may be sent; `None` for at once.
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
        let parts = self.parts.max(1);
        let share = |released: u64| (u128::from(length) * u128::from(released) / u128::from(parts)) as u64;
        if now < first {
            return (share(self.ready.min(parts)), (self.ready < parts).then_some(first));
        }
        let past = now.since(first).as_nanos().checked_div(self.every.as_nanos());
        let released =
            past.map_or(parts, |past| parts.min(past.saturating_add(1).saturating_add(self.ready)));
        let next = (released < parts).then(|| first + self.every.scale(released - self.ready, 1));
        (share(released), next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut release =
            Release { ready: 0, first: Some(at(10)), every: Duration::from_millis(5), parts: 3 };
        let mut by = |ms| release.by(at(ms), 1000);
        assert_eq!([by(0), by(9)], [(0, Some(at(10))); 2]);
        assert_eq!([by(10), by(14)], [(333, Some(at(15))); 2]);
        assert_eq!([by(15), by(20), by(1000)], [(666, Some(at(20))), (1000, None), (1000, None)]);
        let mut now = Release { ready: 0, first: None, every: Duration::from_millis(1), parts: 2 };
        assert_eq!([now.by(at(7), 10), now.by(at(8), 10)], [(5, Some(at(8))), (10, None)]);
        let mut some = Release { ready: 2, first: Some(at(10)), every: Duration::from_millis(5), parts: 4 };
        let mut by = |ms| some.by(at(ms), 100);
        assert_eq!([by(0), by(10), by(15)], [(50, Some(at(10))), (75, Some(at(15))), (100, None)]);
        let mut all = Release { ready: 9, first: Some(at(10)), every: Duration::from_millis(5), parts: 4 };
        assert_eq!([all.by(at(0), 100), all.by(at(10), 100)], [(100, None); 2]);
        assert_eq!(
            Release { ready: 0, first: None, every: Duration::ZERO, parts: 0 }.by(at(0), 10),
            (10, None)
        );
    }
}
