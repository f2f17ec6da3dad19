//! Events on the path at given times, counted from a client's first packet.

use super::Rebind;
use units::{Duration, Time};

/// Blackouts and moves.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    blackouts: Vec<(Duration, Duration)>,
    /// In the order of time.
    rebinds: Vec<(Duration, Rebind)>,
    /// The number of completed moves.
    done: usize,
    start: Option<Time>,
}

impl Script {
    pub(super) fn new(blackouts: &[(Duration, Duration)], rebinds: &[(Duration, Rebind)]) -> Script {
        let mut rebinds = rebinds.to_vec();
        rebinds.sort_by_key(|(at, _)| *at);
        Script { blackouts: blackouts.to_vec(), rebinds, done: 0, start: None }
    }

    /// Notes a client's packet; the first one starts the script.
    pub(super) fn hear(&mut self, at: Time) {
        self.start.get_or_insert(at);
    }
    /// Whether a packet that arrives now is lost.
    pub(super) fn is_dark(&self, now: Time) -> bool {
        let Some(start) = self.start else { return false };
        let since = now.since(start);
        self.blackouts.iter().any(|(from, to)| *from <= since && since < *to)
    }
    /// The due move, once.
    pub(super) fn due(&mut self, now: Time) -> Option<Rebind> {
        let (_, rebind) =
            *self.rebinds.get(self.done).filter(|_| self.next_at().is_some_and(|at| at <= now))?;
        self.done += 1;
        Some(rebind)
    }
    /// The time of the next move.
    pub(super) fn next_at(&self) -> Option<Time> {
        Some(self.start? + self.rebinds.get(self.done)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn times_count_from_the_first_packet() {
        let mut script =
            Script::new(&[(ms(10), ms(20))], &[(ms(30), Rebind::Address), (ms(5), Rebind::Port)]);
        let at = |n| Time::ZERO + ms(1000 + n);
        assert_eq!((script.is_dark(at(15)), script.next_at(), script.due(at(15))), (false, None, None));
        script.hear(at(0));
        script.hear(at(3));
        let dark: Vec<u64> = (0..40).filter(|n| script.is_dark(at(*n))).collect();
        assert_eq!(dark, (10..20).collect::<Vec<_>>());
        assert_eq!((script.next_at(), script.due(at(4))), (Some(at(5)), None));
        assert_eq!((script.due(at(31)), script.due(at(31)), script.due(at(99))), {
            (Some(Rebind::Port), Some(Rebind::Address), None)
        });
    }
}
