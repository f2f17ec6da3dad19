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
    /// How long after it may be sent a part is worth sending: if some of it is unsent by then, it and all parts after it are
    /// dropped. `None`: all are sent.
    pub deadline: Option<Duration>,
}

impl Release {
    /// The byte at which the part of a byte begins, and the time by which the part has to be sent if sending began at `since`.
    pub(crate) fn due(&self, byte: u64, length: u64, since: Time) -> Option<(u64, Time)> {
        let deadline = self.deadline?;
        let (parts, length) = (u128::from(self.parts.max(1)), u128::from(length.max(1)));
        // The last part that begins at the byte or before it, where beginnings are rounded down.
        let part = (((u128::from(byte) + 1) * parts - 1) / length).min(parts - 1);
        let later = (part as u64).checked_sub(self.ready);
        let filmed = later.map_or(since, |later| self.first.unwrap_or(since) + self.every.scale(later, 1));
        Some(((length * part / parts) as u64, filmed.max(since) + deadline))
    }

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
        let mut release = Release {
            ready: 0,
            first: Some(at(10)),
            every: Duration::from_millis(5),
            parts: 3,
            deadline: None,
        };
        let mut by = |ms| release.by(at(ms), 1000);
        assert_eq!([by(0), by(9)], [(0, Some(at(10))); 2]);
        assert_eq!([by(10), by(14)], [(333, Some(at(15))); 2]);
        assert_eq!([by(15), by(20), by(1000)], [(666, Some(at(20))), (1000, None), (1000, None)]);
        let mut now =
            Release { ready: 0, first: None, every: Duration::from_millis(1), parts: 2, deadline: None };
        assert_eq!([now.by(at(7), 10), now.by(at(8), 10)], [(5, Some(at(8))), (10, None)]);
        let mut some = Release {
            ready: 2,
            first: Some(at(10)),
            every: Duration::from_millis(5),
            parts: 4,
            deadline: None,
        };
        let mut by = |ms| some.by(at(ms), 100);
        assert_eq!([by(0), by(10), by(15)], [(50, Some(at(10))), (75, Some(at(15))), (100, None)]);
        let mut all = Release {
            ready: 9,
            first: Some(at(10)),
            every: Duration::from_millis(5),
            parts: 4,
            deadline: None,
        };
        assert_eq!([all.by(at(0), 100), all.by(at(10), 100)], [(100, None); 2]);
        assert_eq!(
            Release { ready: 0, first: None, every: Duration::ZERO, parts: 0, deadline: None }.by(at(0), 10),
            (10, None)
        );
    }

    #[test]
    fn a_part_is_due_some_time_after_it_may_be_sent() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let ms = Duration::from_millis;
        let release =
            Release { ready: 1, first: Some(at(10)), every: ms(5), parts: 3, deadline: Some(ms(100)) };
        let due = |byte, since| release.due(byte, 1000, at(since));
        assert_eq!([due(0, 3), due(332, 3)], [Some((0, at(103))); 2]);
        assert_eq!([due(333, 3), due(665, 3)], [Some((333, at(110))); 2]);
        assert_eq!([due(666, 3), due(999, 3), due(1000, 3)], [Some((666, at(115))); 3]);
        // Asked for when it had been filmed.
        assert_eq!([due(333, 12), due(666, 12)], [Some((333, at(112))), Some((666, at(115)))]);
        assert_eq!(Release { deadline: None, ..release }.due(0, 1000, at(0)), None);
        assert_eq!(release.due(0, 0, at(3)), Some((0, at(115))));
    }
}
