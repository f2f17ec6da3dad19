//! A packet number space: received packets and their acknowledgement, and sent packets (RFC 9000 section 12.3).

use crate::ack_history::AckHistory;
use crate::ack_policy::{AckPolicy, Received, When};
use crate::assemble::Payload;
use crate::config::Config;
use crate::probing::Probing;
use crate::ranges::RangeSet;
use crate::sent::SentPackets;
use units::{Duration, Time};
use wire::{EcnCounts, LowerRanges, ShortLists, TypedFrame};

/// The maximum number of remembered ranges of received packet numbers. Numbers below the oldest range count as
/// received (RFC 9000 section 13.2.3).
const MAX_RANGES: usize = 256;
/// The number of ranges up to which the list of those below the highest one is made anew with each gap, in memory that was used before.
/// Longer lists share their ends, for which each gap takes memory; since the peer is asked to forget above [`MANY_RANGES`], it takes many
/// losses to come to this.
const FEW_RANGES: usize = 16;
/// The number of ranges above which the peer is asked to acknowledge ACK frames.
const MANY_RANGES: usize = 10;

/// The three packet number spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SpaceKind {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Data,
}

impl SpaceKind {
    /// All of them, in the order in which they are used.
    pub(crate) const ALL: [SpaceKind; 3] = [SpaceKind::Initial, SpaceKind::Handshake, SpaceKind::Data];

    pub(crate) fn level(self) -> tls::Level {
        match self {
            SpaceKind::Initial => tls::Level::Initial,
            SpaceKind::Handshake => tls::Level::Handshake,
            SpaceKind::Data => tls::Level::OneRtt,
        }
    }
    pub(crate) fn packet_kind(self) -> trace::PacketKind {
        match self {
            SpaceKind::Initial => trace::PacketKind::Initial,
            SpaceKind::Handshake => trace::PacketKind::Handshake,
            SpaceKind::Data => trace::PacketKind::OneRtt,
        }
    }
}

/// One value for each packet number space. The values of the handshake spaces are discarded with them.
#[derive(Debug)]
pub(crate) struct BySpace<T> {
    handshake: [Option<Box<T>>; 2],
    /// The value for 0-RTT and 1-RTT packets.
    pub(crate) data: T,
}

impl<T> BySpace<T> {
    /// The values of Initial, Handshake, and 0-RTT and 1-RTT packets.
    pub(crate) fn new(initial: T, handshake: T, data: T) -> BySpace<T> {
        BySpace { handshake: [Some(Box::new(initial)), Some(Box::new(handshake))], data }
    }
    #[inline]
    pub(crate) fn get(&self, kind: SpaceKind) -> Option<&T> {
        match kind {
            SpaceKind::Data => Some(&self.data),
            handshake => self.handshake[handshake as usize].as_deref(),
        }
    }
    #[inline]
    pub(crate) fn get_mut(&mut self, kind: SpaceKind) -> Option<&mut T> {
        match kind {
            SpaceKind::Data => Some(&mut self.data),
            handshake => self.handshake[handshake as usize].as_deref_mut(),
        }
    }
    /// The values of the handshake spaces that are not discarded.
    #[inline]
    pub(crate) fn handshake(&self) -> impl Iterator<Item = &T> {
        self.handshake.iter().flatten().map(|handshake| &**handshake)
    }
    /// The values of all spaces that are not discarded.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.handshake().chain([&self.data])
    }
    /// Discards the value of a handshake space.
    pub(crate) fn discard(&mut self, kind: SpaceKind) -> Option<Box<T>> {
        self.handshake.get_mut(kind as usize).and_then(Option::take)
    }
}

/// The received packet numbers, and the acknowledgement that is due.
#[derive(Debug, Default)]
pub(crate) struct ReceivedPackets {
    pub(crate) ranges: RangeSet,
    /// The ranges below the highest one, for ACK frames that stay typed; `None` if they have changed since they were asked for,
    /// in another way than by another gap.
    lower: Option<LowerRanges>,
    /// Memory for lists of few ranges.
    lists: ShortLists,
    /// Packets below this number are treated as duplicates.
    floor: u64,
    pub(crate) largest_at: Time,
    /// The number of ack-eliciting packets since the last ACK frame sent.
    waiting: u64,
    ack_at: Option<Time>,
    /// The ack_delay_exponent of this endpoint (RFC 9000 section 18.2).
    exponent: u8,
    /// Whether packets that are not ack-eliciting are acknowledged together with other frames (option
    /// `ack_bundling`).
    bundles: bool,
    /// Whether such a packet arrived since the last ACK frame.
    has_unreported: bool,
    /// The last time that the peer was asked to acknowledge an ACK frame.
    asked_at: Option<Time>,
    /// Whether the packet being read requests an immediate acknowledgement.
    immediate_ack_requested: bool,
    /// The largest number reported in an ACK frame.
    largest_reported: Option<u64>,
    /// The newest ack-eliciting packet, unless the peer has an ACK frame that covers it.
    unconfirmed: Option<u64>,
    ce_count: u64,
    ect0_count: u64,
    ect1_count: u64,
}

impl ReceivedPackets {
    #[inline]
    pub(crate) fn is_duplicate(&self, number: u64) -> bool {
        match self.ranges.max() {
            Some(max) if number > max => false,
            _ => number < self.floor || self.ranges.contains(number),
        }
    }

    /// Records a processed packet. `policy` decides when to acknowledge an ack-eliciting one; without it that is
    /// immediately (RFC 9000 section 13.2.1: Initial and Handshake packets).
    #[inline]
    pub(crate) fn note(
        &mut self,
        now: Time,
        number: u64,
        ack_eliciting: bool,
        ecn: wire::Ecn,
        policy: Option<&mut AckPolicy>,
    ) {
        debug_assert!(!self.is_duplicate(number), "a packet is processed once");
        let expected = self.ranges.max().map_or(0, |max| max + 1);
        if number != expected {
            self.note_out_of_order(number);
        }
        self.ranges.insert(number..number + 1);
        if number >= expected {
            self.largest_at = now;
        }
        if self.ranges.len() > MAX_RANGES {
            self.forget_oldest();
        }
        // RFC 9000-13.4.1-1: "Even if an endpoint does not set an ECT field in packets it sends".
        match ecn {
            wire::Ecn::NotEct => {}
            wire::Ecn::Ect0 => self.ect0_count += 1,
            wire::Ecn::Ect1 => self.ect1_count += 1,
            wire::Ecn::Ce => self.ce_count += 1,
        }
        // RFC 9000-13.2.1-4: no "non-ack-eliciting packet in response to a non-ack-eliciting packet".
        let immediate_ack_requested = std::mem::take(&mut self.immediate_ack_requested);
        if !ack_eliciting {
            self.has_unreported |= self.bundles;
            return;
        }
        self.waiting += 1;
        self.unconfirmed = self.unconfirmed.max(Some(number));
        // RFC 9000-13.2.1-2, 9000-13.2.1-1: "all ack-eliciting Initial and Handshake packets immediately", others
        // "within its advertised max_ack_delay".
        let when = policy.map_or(When::Now, |policy| {
            let out_of_order = match policy.reordering_threshold() {
                0 => false,
                1 => number != expected,
                far => self.is_reordered(number, far),
            };
            policy.on_received(&Received {
                out_of_order,
                congestion_experienced: ecn == wire::Ecn::Ce,
                waiting: self.waiting,
            })
        });
        let at = match when {
            _ if immediate_ack_requested => now,
            When::Now => now,
            When::Within(delay) => now + delay,
        };
        self.ack_at = Some(self.ack_at.map_or(at, |known| known.min(at)));
    }

    /// Requests an immediate acknowledgement of the packet being read (draft-ietf-quic-ack-frequency section 5).
    pub(crate) fn ack_immediately(&mut self) {
        self.immediate_ack_requested = true;
    }

    /// Whether this recorded packet reveals or fills a gap so far back that the sender considers it lost
    /// (draft-ietf-quic-ack-frequency section 6.2).
    fn is_reordered(&self, number: u64, threshold: u64) -> bool {
        if self.largest_reported.is_some_and(|acked| number.saturating_add(threshold) <= acked) {
            return true;
        }
        let reported = self.largest_reported.and_then(|acked| acked.checked_sub(threshold));
        let mut missing = reported.map_or(0, |reported| reported + 1).max(self.floor);
        for range in self.ranges.iter() {
            if range.start > missing {
                break;
            }
            missing = missing.max(range.end);
        }
        self.ranges
            .max()
            .is_some_and(|largest| largest.saturating_sub(missing) >= threshold && missing < largest)
    }

    /// Brings the list of lower ranges up to date with a packet that opens a gap above the highest one, or fills one.
    #[cold]
    fn note_out_of_order(&mut self, number: u64) {
        let last = self.ranges.last();
        match &mut self.lower {
            Some(lower) if number > last.end && self.ranges.len() > FEW_RANGES => {
                lower.push(last.start..=last.end - 1, number);
            }
            _ => self.lower = None,
        }
    }

    /// The list of lower ranges.
    #[inline]
    fn listed(&mut self) -> LowerRanges {
        match &self.lower {
            Some(lower) if lower.left_out() <= MAX_RANGES => lower.clone(),
            _ => self.list(),
        }
    }
    #[cold]
    fn list(&mut self) -> LowerRanges {
        let ranges = self.ranges.lower().rev().map(|range| range.start..=range.end - 1);
        let above = self.ranges.last().start;
        let lower = match self.ranges.len() {
            ..=FEW_RANGES => self.lists.make(ranges, above),
            _ => LowerRanges::of(ranges, above),
        };
        self.lower = Some(lower.clone());
        lower
    }

    fn forget_oldest(&mut self) {
        let mut lowest = self.ranges.iter();
        if let (Some(lower), Some(first), Some(second)) = (&mut self.lower, lowest.next(), lowest.next()) {
            lower.leave_lowest(&(first.start..=first.end - 1), second.start);
        }
        drop(lowest);
        // RFC 9000-13.2.3-1, 9000-13.2.3-2: "MUST retain the largest packet number": the highest ranges are
        // kept, and packets below the floor are dropped.
        self.ranges.keep_highest(MAX_RANGES);
        let first = self.ranges.first().expect("the highest ranges are kept");
        self.floor = self.floor.max(first.start);
    }

    /// Whether an ACK frame is due now.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.ack_at.is_some_and(|at| at <= now)
    }
    /// Whether an ACK frame may be sent together with other frames.
    #[inline]
    pub(crate) fn is_waiting(&self) -> bool {
        self.ack_at.is_some() || self.has_unreported
    }
    /// Lets the next packet carry an ACK frame, even if nothing that arrived asks for one.
    pub(crate) fn report(&mut self) {
        self.has_unreported = !self.ranges.is_empty();
    }
    /// Whether an ack-eliciting packet has arrived whose acknowledgement may have been lost.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.unconfirmed.is_some()
    }
    /// The latest time at which an ACK frame must be sent.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.ack_at
    }
    /// The time since the largest packet arrived, for the ACK Delay field (RFC 9000-13.2.5-1).
    fn delay(&self, now: Time) -> Duration {
        now.since(self.largest_at)
    }
    /// The counts of ECN marks, if any were received (RFC 9000 section 13.4.1).
    fn ecn_counts(&self) -> Option<EcnCounts> {
        let counts = EcnCounts { ect0: self.ect0_count, ect1: self.ect1_count, ce: self.ce_count };
        (counts != EcnCounts::default()).then_some(counts)
    }
    /// Adds an ACK frame to a packet, with as many ranges as fit.
    #[inline]
    pub(crate) fn fill(&mut self, now: Time, payload: &mut Payload<'_>) {
        if self.write(now, payload) {
            self.note_ack_sent();
        }
    }
    /// The same without counting it as sent: the packet is likely to be lost. Returns whether it fits.
    #[inline]
    pub(crate) fn write(&mut self, now: Time, payload: &mut Payload<'_>) -> bool {
        let Some(largest) = self.ranges.max() else { return false };
        let delay = self.delay(now).as_micros() >> self.exponent;
        let ecn = self.ecn_counts();
        if payload.may_be_typed() && ecn.is_none() {
            let first_range = largest - self.ranges.last().start;
            let frame = TypedFrame::Ack { largest, first_range, lower: self.listed(), delay };
            if payload.typed_ack(largest, frame) {
                return true;
            }
        }
        let mut written = 0;
        payload.ack(largest, |out, room| {
            let descending = self.ranges.iter().rev().map(|range| range.start..=range.end - 1);
            written = wire::frame::ack(out, descending, delay, ecn, room);
            written > 0
        });
        written > 0
    }
    /// Notes that an ACK frame was sent.
    #[inline]
    fn note_ack_sent(&mut self) {
        // RFC 9000-13.2.1-3: not "more than one such packet in response to receiving an ack-eliciting packet".
        self.waiting = 0;
        self.ack_at = None;
        self.has_unreported = false;
        self.largest_reported = self.ranges.max();
    }
    /// Whether to ask the peer to acknowledge the ACK frame being sent, at most once per round trip: until it does,
    /// every ACK frame repeats all ranges. A return value of `true` counts as having asked.
    #[inline]
    pub(crate) fn requests_ack_of_acks(&mut self, now: Time, rtt: Duration) -> bool {
        // RFC 9000 section 13.2.4. With few ranges there is little to gain.
        if self.ranges.len() <= MANY_RANGES || self.asked_at.is_some_and(|asked| now < asked + rtt) {
            return false;
        }
        self.asked_at = Some(now);
        true
    }
    /// Stops if what is to be acknowledged contradicts what has arrived.
    fn check(&self) {
        self.ranges.check();
        let newest = self.ranges.max();
        assert!(self.ranges.len() <= MAX_RANGES, "the number of ranges is limited");
        assert_eq!(
            self.ack_at.is_some(),
            self.waiting > 0,
            "an acknowledgement has a time while a packet waits for it"
        );
        assert!(self.unconfirmed <= newest, "a packet without a confirmed acknowledgement has arrived");
        assert!(self.largest_reported <= newest, "only what has arrived was reported");
        assert!(newest.is_none_or(|newest| self.floor <= newest), "the newest packet is above the floor");
        assert!(!self.has_unreported || newest.is_some(), "what is unreported has arrived");
    }
    /// Notes that the peer has received an ACK frame up to `largest`: lower numbers need not be reported again (RFC
    /// 9000 section 13.2.4).
    #[inline]
    pub(crate) fn on_ack_acked(&mut self, largest: u64) {
        debug_assert!(self.ranges.max() >= Some(largest), "an ACK frame reports only what had arrived");
        self.unconfirmed = self.unconfirmed.filter(|newest| *newest > largest);
        if self.ranges.len() > 1 {
            self.floor = self.floor.max(largest);
            self.ranges.remove_below(largest);
            self.lower = None;
        }
    }
}

/// A packet number space.
pub(crate) struct Space {
    pub(crate) received: ReceivedPackets,
    pub(crate) sent: SentPackets,
    pub(crate) largest_acked: Option<u64>,
    pub(crate) heard: AckHistory,
    /// The newest ECN counts reported by the peer (RFC 9000 section 13.4.2.1).
    pub(crate) ecn_counts: EcnCounts,
    /// The time at which the next packet is declared lost by the time threshold.
    pub(crate) loss_time: Option<Time>,
    pub(crate) last_eliciting_at: Time,
    /// Pending probes, and the data that they repeat.
    pub(crate) probing: Probing,
    /// Whether the next packet carries a PING if it is not otherwise ack-eliciting.
    pub(crate) ping: bool,
}

impl Space {
    /// A handshake space with the options of a connection.
    pub(crate) fn of_handshake(config: &Config) -> Space {
        let received = ReceivedPackets { exponent: config.ack_delay_exponent, ..ReceivedPackets::default() };
        Space { received, ..Space::new() }
    }
    /// The space of 0-RTT and 1-RTT packets with the options of a connection.
    pub(crate) fn of_data(config: &Config) -> Space {
        let mut space = Space::of_handshake(config);
        space.received.bundles = config.ack.bundling;
        space
    }

    /// Stops if the space contradicts itself.
    pub(crate) fn check(&self) {
        self.sent.check();
        self.received.check();
        let sent = self.sent.next_number();
        assert!(
            self.largest_acked.is_none_or(|acked| acked < sent),
            "the peer acknowledges only what was sent"
        );
    }

    pub(crate) fn new() -> Space {
        Space {
            received: ReceivedPackets::default(),
            sent: SentPackets::default(),
            largest_acked: None,
            heard: AckHistory::default(),
            ecn_counts: EcnCounts::default(),
            loss_time: None,
            last_eliciting_at: Time::ZERO,
            probing: Probing::default(),
            ping: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AckOptions;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// RFC 9000-13.2.5-1.
    #[test]
    fn acks_are_due_by_the_policy() {
        let mut policy =
            AckPolicy::new(&AckOptions { ratio: 2, max_delay: Duration::from_millis(25), bundling: false });
        let mut received = ReceivedPackets::default();
        let mut note = |received: &mut ReceivedPackets, ms, number, eliciting| {
            received.note(at(ms), number, eliciting, wire::Ecn::NotEct, Some(&mut policy));
        };
        note(&mut received, 0, 0, true);
        assert!(!received.is_due(at(24)) && received.is_due(at(25)));
        note(&mut received, 1, 1, true);
        assert!(received.is_due(at(1)));
        received.note_ack_sent();
        note(&mut received, 2, 2, false);
        assert!(!received.is_waiting(), "nothing is owed for packets that elicit no acknowledgement");
        note(&mut received, 3, 4, true);
        assert!(received.is_due(at(3)), "a gap");
        received.note_ack_sent();
        note(&mut received, 4, 3, true);
        assert!(received.is_due(at(4)), "out of order");
        assert_eq!(received.delay(at(10)), Duration::from_millis(7), "counted from the largest");
    }

    /// RFC 9000 section 13.2.4: not with every packet, otherwise the peers acknowledge acknowledgements forever.
    #[test]
    fn an_acknowledgement_of_acks_is_requested_once_per_round_trip() {
        let mut received = ReceivedPackets::default();
        let rtt = Duration::from_millis(100);
        assert!(!received.requests_ack_of_acks(at(0), rtt), "few ranges");
        for number in (0..40).step_by(2) {
            received.note(at(0), number, true, wire::Ecn::NotEct, None);
        }
        let asks = [0, 1, 99, 100, 101, 250].map(|ms| received.requests_ack_of_acks(at(ms), rtt));
        assert_eq!(asks, [true, false, false, true, false, true]);
    }

    /// The INET paper, section III-C: such packets are acknowledged together with other frames, and never on their
    /// own.
    #[test]
    fn packets_that_are_not_ack_eliciting_may_be_acknowledged_with_other_frames() {
        for bundling in [false, true] {
            let ack = AckOptions { ratio: 2, max_delay: Duration::from_millis(25), bundling };
            let config = Config { ack, ..Config::default() };
            let mut received = Space::of_data(&config).received;
            received.note(at(0), 0, false, wire::Ecn::NotEct, Some(&mut AckPolicy::new(&ack)));
            assert_eq!(received.is_waiting(), bundling);
            assert!(!received.is_due(at(1_000_000)) && received.deadline().is_none());
            received.note_ack_sent();
            assert!(!received.is_waiting());
        }
    }

    /// RFC 9000-13.2.3-1, 9000-13.2.3-2.
    #[test]
    fn received_and_forgotten_numbers_are_duplicates() {
        let mut received = ReceivedPackets::default();
        for number in (0..2000).step_by(2) {
            assert!(!received.is_duplicate(number));
            received.note(at(0), number, true, wire::Ecn::NotEct, None);
            assert!(received.is_duplicate(number));
            assert!(received.ranges.len() <= MAX_RANGES);
        }
        received.note(at(0), 2000, true, wire::Ecn::NotEct, None);
        assert_eq!(received.ranges.len(), MAX_RANGES);
        assert!(received.is_duplicate(3) && !received.is_duplicate(1999));
        received.on_ack_acked(1990);
        assert!(received.is_duplicate(1989) && !received.is_duplicate(1991));
    }
}
