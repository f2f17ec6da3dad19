//! The downlink packets of a flow that wait for an acknowledgement, and the one that an uplink acknowledgement most likely
//! acknowledges.

use std::collections::VecDeque;
use units::{Duration, Time};

/// The times at which downlink packets passed the node, the oldest first.
///
/// Packet numbers are encrypted, so that acknowledgements are counted: each is for the next `ack_every` packets. It is
/// never for a packet that passed too short a time ago to be acknowledged: where fewer are old enough, as when the
/// receiver's timer sent the acknowledgement, it is for those.
#[derive(Debug)]
pub(super) struct Mapping {
    waiting: VecDeque<Time>,
    most: usize,
    ack_every: u64,
    lifetime: Duration,
    last: Option<Time>,
}

impl Mapping {
    /// An empty table for at most `most` packets that are at most `lifetime` old.
    pub(super) fn new(most: usize, ack_every: u64, lifetime: Duration) -> Mapping {
        Mapping { waiting: VecDeque::new(), most, ack_every, lifetime, last: None }
    }
    /// Empties the table.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.last = None;
    }
    /// Joins a downlink packet to the table. After a pause longer than `quiet`, all earlier packets have been acknowledged
    /// or are lost.
    pub(super) fn join(&mut self, now: Time, quiet: Duration) {
        if self.last.is_some_and(|last| now.since(last) > quiet) {
            self.waiting.clear();
        }
        self.last = Some(now);
        if self.waiting.len() == self.most {
            self.waiting.pop_front();
        }
        self.waiting.push_back(now);
    }
    /// When the newest packet passed that an acknowledgement acknowledges, if any waits that is at least `least_age` old.
    pub(super) fn map(&mut self, now: Time, least_age: Duration) -> Option<Time> {
        while self.waiting.front().is_some_and(|passed| now.since(*passed) > self.lifetime) {
            self.waiting.pop_front();
        }
        let mut newest = None;
        for _ in 0..self.ack_every {
            match self.waiting.front() {
                Some(passed) if now.since(*passed) >= least_age => newest = self.waiting.pop_front(),
                _ => break,
            }
        }
        newest
    }
    /// Stops unless the packets are in the order in which they passed.
    pub(super) fn check(&self) {
        assert!(self.waiting.len() <= self.most, "a table has no more packets than it may");
        assert!(self.waiting.iter().is_sorted(), "packets pass in the order of time");
        let newest = self.waiting.back();
        assert!(
            newest.is_none() || newest == self.last.as_ref(),
            "the newest packet is the last that passed"
        );
    }
    /// When the last downlink packet passed.
    pub(super) fn last(&self) -> Option<Time> {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }
    const QUIET: Duration = Duration::from_millis(200);

    #[test]
    fn each_acknowledgement_is_for_the_next_two_packets() {
        let mut mapping = Mapping::new(100, 2, Duration::from_secs(1));
        (0..5).for_each(|n| mapping.join(at(10 * n), QUIET));
        assert_eq!(mapping.map(at(60), Duration::ZERO), Some(at(10)));
        assert_eq!(mapping.map(at(80), Duration::ZERO), Some(at(30)));
        // The receiver's timer sends the last one, which is for one packet.
        assert_eq!(mapping.map(at(115), Duration::ZERO), Some(at(40)));
        assert_eq!(mapping.map(at(116), Duration::ZERO), None);
    }

    #[test]
    fn no_acknowledgement_is_for_a_packet_that_is_too_young() {
        let mut mapping = Mapping::new(100, 2, Duration::from_secs(1));
        [0, 30, 40].into_iter().for_each(|ms| mapping.join(at(ms), QUIET));
        assert_eq!(mapping.map(at(75), Duration::from_millis(50)), Some(at(0)));
        assert_eq!(mapping.map(at(76), Duration::from_millis(50)), None);
        assert_eq!(mapping.map(at(90), Duration::from_millis(50)), Some(at(40)));
    }

    #[test]
    fn the_oldest_leave_a_full_table_and_all_that_are_too_old() {
        let mut mapping = Mapping::new(2, 1, Duration::from_millis(100));
        [0, 10, 20].into_iter().for_each(|ms| mapping.join(at(ms), QUIET));
        assert_eq!(mapping.map(at(50), Duration::ZERO), Some(at(10)));
        assert_eq!(mapping.map(at(121), Duration::ZERO), None);
        assert_eq!(mapping.last(), Some(at(20)));
    }

    #[test]
    fn a_pause_empties_the_table() {
        let mut mapping = Mapping::new(9, 1, Duration::from_secs(1));
        [0, 200, 401].into_iter().for_each(|ms| mapping.join(at(ms), QUIET));
        assert_eq!(mapping.map(at(450), Duration::ZERO), Some(at(401)));
    }
}
