//! Path MTU discovery by probes (DPLPMTUD, RFC 8899; RFC 9000 section 14.3), without ICMP.
//!
//! A path starts with 1200 bytes. Larger probes, one at a time, test what the path carries: first the maximum
//! (approached by a constant factor if it is far), and after its loss, sizes halfway between a known good and a known
//! bad one. If datagrams of a good size are lost repeatedly, the path is considered a black hole, and the search
//! restarts.

use super::MIN_PAYLOAD;
use units::{Duration, Time};

/// The number of lost probes after which a size is given up: MAX_PROBES (RFC 8899 section 5.1.2).
const MAX_PROBES: u8 = 3;
/// The time after which a finished search is resumed: PMTU_RAISE_TIMER (RFC 8899 section 5.1.1).
const RAISE_AFTER: Duration = Duration::from_secs(600);
/// The maximum ratio of a probe to the current size while no probe is lost, so that the window holds the probe.
const MAX_GROWTH: u16 = 4;
/// The minimum gain in bytes that is worth a probe.
const STEP: u16 = 8;

/// A series of losses of large datagrams without an acknowledged one since.
#[derive(Debug, Clone, Copy)]
struct SuspectedBlackHole {
    /// The time at which the first of them was sent.
    since: Time,
    /// The size of the smallest.
    least: u16,
    /// The number of bursts; each starts with a packet sent after the previous burst was detected.
    bursts: u8,
    last_at: Time,
}

/// The search on one path.
#[derive(Debug, Clone)]
pub(crate) struct MtuSearch {
    /// The largest UDP payload that the path is known to carry.
    current: u16,
    /// The maximum to search for.
    maximum: u16,
    /// The upper bound of the search: larger payloads were lost or are not wanted.
    ceiling: u16,
    /// The size to try now.
    next: Option<u16>,
    /// The packet number and the size of the probe in flight.
    in_flight: Option<(u64, u16)>,
    /// The number of lost probes of the current size.
    lost: u8,
    /// The time at which a finished search is resumed.
    raise_at: Time,
    suspicion: Option<SuspectedBlackHole>,
}

impl MtuSearch {
    /// A search that starts at 1200 bytes (RFC 9000 section 14.3: BASE_PLPMTU).
    pub(crate) fn new(maximum: u16) -> MtuSearch {
        let maximum = maximum.max(MIN_PAYLOAD);
        let mut search = MtuSearch {
            current: MIN_PAYLOAD,
            maximum,
            ceiling: maximum,
            next: None,
            in_flight: None,
            lost: 0,
            raise_at: Time::NEVER,
            suspicion: None,
        };
        search.next = search.candidate();
        search
    }
    /// A new search on another path, with the same maximum.
    pub(crate) fn for_new_path(&self) -> MtuSearch {
        MtuSearch::new(self.maximum)
    }
    /// Limits the search to the peer's maximum (RFC 9000 section 18.2: max_udp_payload_size).
    pub(crate) fn limit(&mut self, maximum: u64) {
        let maximum = u64::from(self.maximum).min(maximum) as u16;
        *self = MtuSearch::new(maximum);
    }
    /// Resumes the search on a path that comes into use; an earlier probe is forgotten.
    pub(crate) fn resume(&mut self) {
        (self.in_flight, self.suspicion) = (None, None);
        self.next = self.candidate();
    }

    /// The largest UDP payload in bytes that the path is known to carry.
    #[inline]
    pub(crate) fn current(&self) -> u16 {
        self.current
    }
    /// Whether the search is finished for now.
    pub(crate) fn is_done(&self) -> bool {
        self.next.is_none() && self.in_flight.is_none()
    }
    /// The size to probe now.
    #[inline]
    pub(crate) fn due(&self) -> Option<u16> {
        self.next
    }

    /// Stops if the bounds of the search cross.
    pub(crate) fn check(&self) {
        assert!(self.current >= MIN_PAYLOAD, "the search starts at 1200 bytes");
        assert!(self.ceiling <= self.maximum, "nothing above the maximum is tried");
        assert!(
            self.next.is_none_or(|size| size > self.current),
            "a probe is larger than what is known to pass"
        );
        assert!(self.next.is_none() || self.in_flight.is_none(), "one probe is in flight at a time");
        assert!(self.lost < MAX_PROBES, "a size is given up after its last probe");
    }

    fn candidate(&self) -> Option<u16> {
        let (low, high) = (self.current, self.ceiling);
        if high <= low {
            None
        } else if high == self.maximum {
            Some(high.min(low.saturating_mul(MAX_GROWTH)))
        } else {
            (high - low >= STEP).then(|| low + (high - low).div_ceil(2))
        }
    }
    fn plan(&mut self, now: Time) {
        self.next = self.candidate();
        if self.next.is_none() {
            self.raise_at = now + RAISE_AFTER;
        }
    }

    /// Notes that the due probe was sent with this packet number.
    pub(crate) fn on_probe_sent(&mut self, number: u64) {
        self.in_flight = self.next.take().map(|size| (number, size));
    }
    /// Notes the acknowledgement of a packet sent on this path.
    #[inline]
    pub(crate) fn on_acked(&mut self, now: Time, number: u64, size: u32, sent_at: Time) {
        if let Some((_, size)) = self.in_flight.filter(|(probe, _)| *probe == number) {
            (self.in_flight, self.lost, self.suspicion) = (None, 0, None);
            self.current = size;
            self.plan(now);
        } else if self.is_done() && self.raise_at <= now {
            // RFC 8899 section 5.3.3. Only when something is acknowledged, so the search does not keep an idle
            // connection alive.
            self.ceiling = self.maximum;
            self.plan(now);
        }
        if self.suspicion.is_some_and(|known| sent_at >= known.since && size >= u32::from(known.least)) {
            self.suspicion = None;
        }
    }
    /// Notes the loss of a packet sent on this path. Returns whether the path is now considered a black hole (RFC
    /// 8899 section 4.3).
    pub(crate) fn on_lost(&mut self, now: Time, number: u64, size: u32, sent_at: Time) -> bool {
        if let Some((_, size)) = self.in_flight.filter(|(probe, _)| *probe == number) {
            self.in_flight = None;
            self.lost += 1;
            if self.lost >= MAX_PROBES {
                (self.ceiling, self.lost) = (size - 1, 0);
            }
            self.plan(now);
            return false;
        }
        if size <= u32::from(MIN_PAYLOAD) || size > u32::from(self.current) {
            return false;
        }
        let size = size as u16;
        let first = SuspectedBlackHole { since: sent_at, least: size, bursts: 0, last_at: Time::ZERO };
        let known = self.suspicion.get_or_insert(first);
        known.least = known.least.min(size);
        if known.bursts == 0 || sent_at > known.last_at {
            known.bursts += 1;
            known.last_at = now;
        }
        known.bursts >= MAX_PROBES && self.fall_back()
    }
    /// Notes a number of successive probe timeouts. Returns whether the size was reset.
    pub(crate) fn on_silence(&mut self, timeouts: u32) -> bool {
        timeouts >= u32::from(MAX_PROBES) && self.fall_back()
    }
    /// Restarts the search at 1200 bytes. Returns whether that lowers the size.
    fn fall_back(&mut self) -> bool {
        let falls = self.current > MIN_PAYLOAD;
        if falls {
            *self = self.for_new_path();
        }
        falls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// Probes until the search is finished, on a path that carries this size; returns the sizes in order.
    fn search(search: &mut MtuSearch, carries: u16, number: &mut u64) -> Vec<u16> {
        let mut tried = Vec::new();
        while let Some(size) = search.due() {
            tried.push(size);
            search.on_probe_sent(*number);
            assert_eq!(search.due(), None, "one at a time");
            if size <= carries {
                search.on_acked(at(*number), *number, u32::from(size), at(*number));
            } else {
                assert!(!search.on_lost(at(*number), *number, u32::from(size), at(*number)));
            }
            *number += 1;
        }
        assert!(search.is_done());
        tried
    }

    /// RFC 8899 section 5.3.
    #[test]
    fn the_largest_is_tried_first_and_then_the_middle() {
        let mut all = MtuSearch::new(1472);
        assert_eq!((all.current(), search(&mut all, 1500, &mut 0)), (1200, vec![1472]));
        assert_eq!(all.current(), 1472);
        let mut some = MtuSearch::new(1472);
        let tried = search(&mut some, 1400, &mut 0);
        assert_eq!(tried, [1472, 1472, 1472, 1336, 1404, 1404, 1404, 1370, 1387, 1395, 1399]);
        assert_eq!(some.current(), 1399);
        let mut none = MtuSearch::new(1472);
        search(&mut none, 1200, &mut 0);
        assert_eq!(none.current(), 1200);
        assert_eq!(MtuSearch::new(1200).due(), None);
        for carries in 1200..=9000 {
            let mut jumbo = MtuSearch::new(9000);
            let tried = search(&mut jumbo, carries, &mut 0);
            let found = jumbo.current();
            assert!(found <= carries && carries - found < STEP, "{carries}: {found}");
            assert!(tried.len() <= 3 * 12, "{carries}: {tried:?}");
        }
    }

    #[test]
    fn a_distant_maximum_is_approached_in_steps() {
        assert_eq!(search(&mut MtuSearch::new(65_527), 65_527, &mut 0), [4800, 19_200, 65_527]);
    }

    #[test]
    fn a_single_lost_probe_is_repeated() {
        let mut one = MtuSearch::new(1472);
        for number in 0..2 {
            one.on_probe_sent(number);
            assert!(!one.on_lost(at(1), number, 1472, at(0)));
            assert_eq!(one.due(), Some(1472));
        }
        one.on_probe_sent(7);
        one.on_acked(at(2), 7, 1472, at(1));
        assert_eq!((one.current(), one.is_done()), (1472, true));
    }

    /// RFC 8899 section 5.1.1: PMTU_RAISE_TIMER.
    #[test]
    fn after_ten_minutes_it_is_tried_again_once_something_is_acknowledged() {
        let (mut path, mut number) = (MtuSearch::new(1472), 0);
        search(&mut path, 1300, &mut number);
        let over_at = number - 1;
        path.on_acked(at(over_at + 599_999), 900, 1200, at(599_990));
        assert_eq!(path.due(), None);
        path.on_acked(at(over_at + 600_000), 901, 1200, at(599_991));
        assert_eq!(path.due(), Some(1472));
        search(&mut path, 1472, &mut number);
        assert_eq!(path.current(), 1472);
    }

    /// RFC 8899 section 4.3.
    #[test]
    fn repeated_losses_of_large_packets_only_are_a_black_hole() {
        let mut path = MtuSearch::new(1472);
        search(&mut path, 1472, &mut 0);
        let mut lose = |ms, number, size| path.on_lost(at(ms), number, size, at(ms - 50));
        assert!(!lose(100, 10, 1472) && !lose(100, 11, 1472), "one burst");
        assert!(!lose(140, 12, 1472), "sent before the first was noticed");
        assert!(!lose(160, 13, 1200), "small");
        assert!(!lose(200, 14, 1472));
        let mut again = path.clone();
        // An acknowledged packet of the same size: not a black hole.
        again.on_acked(at(230), 15, 1472, at(180));
        assert!(!again.on_lost(at(300), 16, 1472, at(250)));
        // An acknowledged smaller packet shows nothing.
        path.on_acked(at(230), 15, 1300, at(180));
        assert!(path.on_lost(at(300), 16, 1472, at(250)));
        assert_eq!((path.current(), path.due()), (1200, Some(1472)));
    }

    #[test]
    fn silence_after_three_probe_timeouts_is_a_black_hole() {
        let mut path = MtuSearch::new(1472);
        assert!(!path.on_silence(5), "1200 is what there was");
        search(&mut path, 1472, &mut 0);
        assert!(!path.on_silence(2) && path.on_silence(3));
        assert_eq!(path.current(), 1200);
    }

    /// RFC 9000 section 18.2.
    #[test]
    fn the_peer_limits_the_size() {
        let mut path = MtuSearch::new(9000);
        path.limit(1350);
        assert_eq!(search(&mut path, 9000, &mut 0), [1350]);
        path.limit(65_527);
        assert_eq!(path.for_new_path().due(), Some(1350));
    }
}
