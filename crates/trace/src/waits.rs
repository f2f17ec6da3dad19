//! For how long a sender has waited for what.

use crate::wait::{Wait, Waited};
use crate::{Event, Log};
use units::{Duration, Time};

/// The least time after which the same wait is told again: a paced sender changes between window and pacer with every
/// acknowledgement.
const APART: Duration = Duration::from_millis(10);

/// Adds up what one end of a connection waits for.
#[derive(Debug, Clone)]
pub struct Waits {
    now: Waited,
    since: Time,
    gap_since: Time,
    /// What was told since `told_from`, one bit each.
    told: u32,
    told_from: Time,
}

impl Waits {
    /// An end that waits for the handshake.
    pub fn new(now: Time) -> Waits {
        let spans = [Duration::ZERO; Wait::ALL.len()];
        let first = Waited { wait: Wait::Handshake, spans, gap: Duration::ZERO, in_gap: false };
        Waits { now: first, since: now, gap_since: now, told: 0, told_from: now }
    }

    /// The end waits for this from now on.
    #[inline]
    pub fn note(&mut self, now: Time, wait: Wait, log: &mut Log) {
        if wait != self.now.wait || self.told == 0 {
            self.change(now, wait, self.now.in_gap, log);
        }
    }

    /// From now on received data waits for data before it, or no more.
    #[inline]
    pub fn note_gap(&mut self, now: Time, in_gap: bool, log: &mut Log) {
        if in_gap != self.now.in_gap {
            self.change(now, self.now.wait, in_gap, log);
        }
    }

    fn change(&mut self, now: Time, wait: Wait, in_gap: bool, log: &mut Log) {
        self.now.spans[self.now.wait as usize] += now.since(self.since);
        if self.now.in_gap {
            self.now.gap += now.since(self.gap_since);
        }
        (self.since, self.gap_since) = (now, now);
        (self.now.wait, self.now.in_gap) = (wait, in_gap);
        if now.since(self.told_from) >= APART {
            (self.told_from, self.told) = (now, 0);
        }
        let bit = 1 << (2 * u32::from(wait as u8) + u32::from(in_gap));
        if self.told & bit == 0 {
            self.told |= bit;
            log.push(now, Event::Waits(self.now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interest;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn told(log: &mut Log) -> Vec<(u64, Wait, u64)> {
        let records = log.drain().map(|record| match record.event {
            Event::Waits(waited) => {
                let all: u64 = waited.spans.iter().map(|span| span.as_nanos()).sum();
                (record.time.as_nanos() / 1_000_000, waited.wait, all / 1_000_000)
            }
            other => panic!("{other:?}"),
        });
        records.collect()
    }

    #[test]
    fn all_time_belongs_to_something() {
        let mut log = Log::new(Interest::ALL);
        let mut waits = Waits::new(at(5));
        waits.note(at(5), Wait::Handshake, &mut log);
        waits.note(at(7), Wait::SlowStart, &mut log);
        waits.note(at(9), Wait::SlowStart, &mut log);
        waits.note(at(40), Wait::StreamCredit, &mut log);
        assert_eq!(
            told(&mut log),
            [(5, Wait::Handshake, 0), (7, Wait::SlowStart, 2), (40, Wait::StreamCredit, 35)]
        );
        assert_eq!(waits.now.spans[Wait::SlowStart as usize], Duration::from_millis(33));
    }

    #[test]
    fn what_alternates_is_told_now_and_then_and_what_is_new_at_once() {
        let mut log = Log::new(Interest::ALL);
        let mut waits = Waits::new(at(0));
        for ms in 0..20 {
            waits.note(at(ms), if ms % 2 == 0 { Wait::Window } else { Wait::Pacer }, &mut log);
        }
        waits.note(at(20), Wait::Timeout, &mut log);
        let rows = told(&mut log);
        assert_eq!(rows.len(), 5, "{rows:?}");
        assert_eq!(rows.last(), Some(&(20, Wait::Timeout, 20)));
        assert_eq!(waits.now.spans[Wait::Pacer as usize], Duration::from_millis(10));
    }

    #[test]
    fn gaps_are_added_up_beside_the_waits() {
        let mut log = Log::new(Interest::ALL);
        let mut waits = Waits::new(at(0));
        waits.note(at(1), Wait::Application, &mut log);
        waits.note_gap(at(3), true, &mut log);
        waits.note(at(5), Wait::Window, &mut log);
        waits.note_gap(at(8), false, &mut log);
        assert_eq!((waits.now.gap, waits.now.in_gap), (Duration::from_millis(5), false));
        assert_eq!(told(&mut log).len(), 4);
    }
}
