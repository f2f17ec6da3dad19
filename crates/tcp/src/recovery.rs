//! The sender's view of the path: what is in flight and what became of it, when something is sent again, and how much may
//! be sent. The sum of scoreboard, RTT estimate, RACK-TLP, retransmission timeout, controller and pacer.

use crate::config::Config;
use crate::handshake::Agreed;
use crate::rack::{DUP_THRESHOLD, Rack, Surroundings};
use crate::rto::Rto;
use crate::scoreboard::{Fate, Scoreboard, Segment};
use crate::timestamps::Clock;
use crate::tlp::{Answer, Tlp, Verdict};
use congestion::{
    AckSample, Allowance, Controller, DeliveryRate, Limit, LostPacket, Pacer, RttEstimate, Sent, SentState,
    Setup, Signal,
};
use trace::event::LossTrigger;
use units::{Duration, Rate, Time};

/// Whether losses are being repaired, and up to which number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing is known to be lost.
    Open,
    /// Fast recovery (RFC 6675 section 5, RFC 6582): until all up to here is acknowledged.
    Recovery(u64),
    /// After a retransmission timeout.
    Loss(u64),
}

/// What an acknowledgement says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acknowledgement<'a> {
    /// The number that it acknowledges up to.
    pub(crate) una: u64,
    /// Blocks beyond that, without one that tells of a duplicate.
    pub(crate) blocks: &'a [(u64, u64)],
    /// The duplicate that it tells of (RFC 2883).
    pub(crate) dsack: Option<(u64, u64)>,
    /// The timestamp that it echoes.
    pub(crate) echo: Option<u32>,
    /// Whether it is a duplicate as RFC 5681 section 2 has it.
    pub(crate) duplicate: bool,
    /// Whether it tells of congestion that is not answered yet (RFC 3168 section 6.1.2).
    pub(crate) marked: bool,
}

/// What an acknowledgement came to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outcome {
    /// The RTT sample, if one could be taken.
    pub(crate) rtt: Option<Duration>,
    /// Segments that had been declared lost and were not.
    pub(crate) spurious: u64,
}

/// A segment that was declared lost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loss {
    /// Its first sequence number.
    pub(crate) start: u64,
    pub(crate) trigger: LossTrigger,
}

/// Segments acknowledged by one acknowledgement, taken together.
#[derive(Debug, Default)]
struct Newly {
    bytes: u64,
    packets: u64,
    newest_sent_at: Time,
    oldest_sent_at: Option<Time>,
    /// When the newest of those that were sent once was sent.
    clean_sent_at: Option<Time>,
    spurious: u64,
    spurious_bytes: u64,
    spurious_sent_at: Time,
}

impl Newly {
    #[inline]
    fn add(&mut self, segment: &Segment, echo_is_older: bool) {
        self.bytes += segment.len();
        self.packets += 1;
        self.newest_sent_at = self.newest_sent_at.max(segment.sent_at);
        self.oldest_sent_at = Some(self.oldest_sent_at.map_or(segment.sent_at, |at| at.min(segment.sent_at)));
        if !segment.was_retransmitted() {
            self.clean_sent_at = self.clean_sent_at.max(Some(segment.sent_at));
        }
        // What was declared lost and not sent again came all the same; what was sent again is known by its timestamp to
        // have come the first time (RFC 3522).
        if segment.fate == Fate::Lost || segment.was_retransmitted() && echo_is_older {
            self.spurious += 1;
            self.spurious_bytes += segment.len();
            self.spurious_sent_at = self.spurious_sent_at.max(segment.sent_at);
        }
    }
}

/// Duplicate acknowledgements where there is no SACK (RFC 5681 section 3.2, RFC 6582).
#[derive(Debug, Default)]
struct Duplicates {
    count: u64,
    /// Each tells of a segment that has left the network: taken off what is in flight.
    arrived_bytes: u64,
}

/// Which parts are in use.
#[derive(Debug, Clone, Copy)]
struct Parts {
    sack: bool,
    rack: bool,
    tlp: bool,
    limited_transmit: bool,
    peer_ack_delay: Duration,
}

/// The state of one connection's path.
pub(crate) struct Recovery {
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimate,
    pub(crate) rto: Rto,
    clock: Clock,
    controller: Box<dyn Controller>,
    allowance: Allowance,
    pacer: Pacer,
    delivery: DeliveryRate,
    rack: Rack,
    tlp: Tlp,
    /// When a tail loss probe is due.
    pto_at: Option<Time>,
    /// When RACK stops waiting for what may be reordered.
    reorder_at: Option<Time>,
    /// Whether a probe is to be sent now.
    pub(crate) probe_due: bool,
    /// The segment that the last probe has sent again.
    probed: Option<(u64, Time, SentState)>,
    phase: Phase,
    duplicates: Duplicates,
    /// The first retransmission of a recovery does not wait for room in the window.
    retransmit_now: bool,
    limit: Limit,
    /// From when on the pacer would have let something go, while there was nothing.
    dry_from: Option<Time>,
    pub(crate) last_rate: Option<Rate>,
    /// SND.UNA and SND.NXT as numbers.
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    mss: u64,
    /// What the controller's random draws follow from.
    seed: u64,
    parts: Parts,
    lost: Vec<LostPacket>,
    numbers: Vec<u64>,
    /// What was declared lost since the last look, for traces.
    pub(crate) losses: Vec<Loss>,
    pub(crate) probes_sent: u64,
    pub(crate) timeouts: u64,
}

impl Recovery {
    /// A path that nothing was sent on. `None` without a controller of the name in the options.
    pub(crate) fn new(config: &Config, clock: Clock, seed: u64) -> Option<Recovery> {
        let mss = u64::from(config.mss);
        let setup = Setup {
            max_datagram_size: mss,
            initial_window: mss * config.initial_window,
            initial_rtt: config.initial_rtt,
            seed,
        };
        let controller = controller(config, setup)?;
        let mut recovery = Recovery {
            board: Scoreboard::default(),
            rtt: RttEstimate::new(config.initial_rtt),
            rto: Rto::new(config.initial_rto, config.min_rto, config.max_rto),
            clock,
            allowance: controller.allowance(),
            controller,
            pacer: Pacer::new(config.pacing_burst * mss, config.pacing_quantum * mss),
            delivery: DeliveryRate::default(),
            rack: Rack::new(),
            tlp: Tlp::default(),
            pto_at: None,
            reorder_at: None,
            probe_due: false,
            probed: None,
            phase: Phase::Open,
            duplicates: Duplicates::default(),
            retransmit_now: false,
            limit: Limit::default(),
            dry_from: None,
            last_rate: None,
            una: 0,
            nxt: 1,
            mss,
            seed,
            parts: Parts {
                sack: config.sack,
                rack: config.rack,
                tlp: config.tlp,
                limited_transmit: config.limited_transmit,
                peer_ack_delay: config.peer_ack_delay,
            },
            lost: Vec::new(),
            numbers: Vec::new(),
            losses: Vec::new(),
            probes_sent: 0,
            timeouts: 0,
        };
        recovery.set_pacer(Time::ZERO);
        Some(recovery)
    }

    /// The handshake is over: the size of segments and the RTT are known, and whether the peer knows SACK. Where nothing
    /// was sent yet, the controller begins with what is known now. RFC 5681 section 3.1: after a lost SYN with one segment.
    pub(crate) fn on_established(&mut self, now: Time, config: &Config, agreed: &Agreed, syn_was_lost: bool) {
        let (mss, sack) = (u64::from(agreed.mss), agreed.sack);
        self.parts.sack = sack;
        self.mss = mss;
        if self.board.is_empty() {
            let segments = if syn_was_lost { 1 } else { config.initial_window };
            let initial_rtt = if self.rtt.is_sampled() { self.rtt.smoothed() } else { config.initial_rtt };
            let seed = self.seed;
            let setup = Setup { max_datagram_size: mss, initial_window: mss * segments, initial_rtt, seed };
            if let Some(controller) = controller(config, setup) {
                self.controller = controller;
                self.pacer = Pacer::new(config.pacing_burst * mss, config.pacing_quantum * mss);
                self.allowance = self.controller.allowance();
            }
        } else {
            self.controller.on_signal(&Signal::DatagramSize { bytes: mss });
        }
        self.set_pacer(now);
        self.update_allowance(now);
    }

    fn update_allowance(&mut self, now: Time) {
        let next = self.controller.allowance();
        let same = (next.pacing, next.quantum) == (self.allowance.pacing, self.allowance.quantum);
        self.allowance = next;
        if !same {
            self.set_pacer(now);
        }
    }

    fn set_pacer(&mut self, now: Time) {
        if let Some(bytes) = self.allowance.quantum {
            self.pacer.set_quantum(bytes);
        }
        self.pacer.set_rate(now, self.allowance.pacing.unwrap_or(Rate::from_bits_per_sec(u64::MAX)));
    }

    /// The congestion window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.allowance.window
    }
    /// The rate at which segments are released, if paced.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        self.allowance.pacing
    }
    pub(crate) fn controller(&self) -> &dyn Controller {
        &*self.controller
    }
    /// How often a timer went off in a row without an answer.
    pub(crate) fn backoffs(&self) -> u32 {
        self.rto.backoffs() + u32::from(self.tlp.is_underway())
    }
    /// Bytes in flight.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.board.in_flight().saturating_sub(self.duplicates.arrived_bytes)
    }
    fn in_recovery(&self) -> bool {
        self.phase != Phase::Open
    }

    /// Whether the window admits so many bytes more.
    #[inline]
    pub(crate) fn admits(&self, bytes: u64) -> bool {
        let mut flight = self.in_flight();
        if !self.parts.limited_transmit && !self.in_recovery() {
            // RFC 5681 section 3.2, step 1, without RFC 3042: the first duplicates let nothing out.
            flight += self.board.sacked();
        }
        flight + bytes <= self.allowance.window
    }
    /// The segment to be sent again now, if the window admits one.
    pub(crate) fn next_retransmission(&mut self) -> Option<u64> {
        let number = self.board.next_lost()?;
        let length = self.board.get(number)?.len();
        // RFC 6675 section 5, step 4.3; RFC 5681 section 3.2, step 3: the first one goes whatever is in flight.
        (self.retransmit_now || self.in_flight() + length <= self.allowance.window).then_some(number)
    }
    /// When the pacer lets the next segment go, if not now.
    #[inline]
    pub(crate) fn paced_until(&mut self, now: Time) -> Option<Time> {
        self.allowance.pacing?;
        self.pacer.blocked_until(now)
    }
    /// The sender stopped at this, with something to send.
    #[inline]
    pub(crate) fn note_stop(&mut self, now: Time, limit: Limit) {
        self.limit = limit;
        if limit != Limit::Application {
            self.settle_dry(now);
        }
    }

    /// The sender stopped because nothing waited to be sent, nor to be sent again, while the window had room.
    #[inline]
    pub(crate) fn note_dry(&mut self, now: Time) {
        self.limit = Limit::Application;
        if self.dry_from.is_none() {
            self.dry_from = Some(self.paced_until(now).unwrap_or(now));
        }
    }

    /// Something is there to be sent. If it could have gone earlier, the application held the rate down, and what goes
    /// within the next round trip tells nothing of the network (draft-ietf-ccwg-bbr-06 section 4.1.2.4).
    #[inline]
    fn settle_dry(&mut self, now: Time) {
        if self.dry_from.take().is_some_and(|from| now > from) {
            self.delivery.on_app_limited(self.in_flight());
        }
    }

    /// New data leaves, SND.NXT moves on.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, end: u64, fin: bool) {
        let start = self.nxt;
        let bytes = Segment::bytes(start, end, fin);
        self.settle_dry(now);
        let rate = self.delivery.on_sent(now, bytes, self.in_flight());
        self.board.push((start, end), fin, now, rate);
        self.nxt = end;
        self.count_sent(now, bytes, &rate);
        self.rto.start(now, &self.rtt);
        if self.probe_due {
            self.probe_was_sent(now, false);
        } else {
            self.schedule_probe(now);
        }
    }

    /// A segment leaves once more.
    pub(crate) fn on_resent(&mut self, now: Time, number: u64) {
        let Some(segment) = self.board.get(number) else { return };
        let (length, state) = (segment.len(), (segment.len(), segment.sent_at, segment.rate));
        self.settle_dry(now);
        let rate = self.delivery.on_sent(now, length, self.in_flight());
        self.board.resent(number, now, rate);
        self.retransmit_now = false;
        self.count_sent(now, length, &rate);
        if self.probe_due {
            self.probed = Some(state);
            self.probe_was_sent(now, true);
        } else {
            self.rto.start(now, &self.rtt);
        }
    }

    fn count_sent(&mut self, now: Time, bytes: u64, rate: &SentState) {
        let (bytes_in_flight, app_limited) = (self.in_flight(), rate.app_limited());
        self.controller.on_sent(&Sent { now, bytes, bytes_in_flight, app_limited });
        self.update_allowance(now);
        self.pacer.on_sent(now, bytes);
    }

    fn probe_was_sent(&mut self, now: Time, retransmission: bool) {
        self.probe_due = false;
        self.probes_sent += 1;
        self.tlp.on_sent(self.nxt, retransmission);
        // RFC 8985 section 7.3: behind a probe the retransmission timer runs anew.
        self.rto.restart(now, &self.rtt);
        self.pto_at = None;
    }

    /// RFC 8985 section 7.2: only with SACK, outside of a recovery, one at a time.
    #[inline]
    fn schedule_probe(&mut self, now: Time) {
        let wanted = self.parts.tlp
            && self.parts.sack
            && self.phase == Phase::Open
            && !self.tlp.is_underway()
            && !self.board.is_empty();
        self.pto_at = wanted.then(|| {
            let smoothed = self.rtt.is_sampled().then(|| self.rtt.smoothed());
            let alone = self.board.len() == 1;
            Tlp::timeout(now, smoothed, alone, self.parts.peer_ack_delay, self.rto.at)
        });
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            min_rtt: self.rtt.min(),
            smoothed_rtt: self.rtt.smoothed(),
            in_recovery: self.in_recovery(),
        }
    }

    /// Takes an acknowledgement in.
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Acknowledgement<'_>) -> Outcome {
        let (prior_in_flight, prior_lost) = (self.in_flight(), self.delivery.lost());
        let newly = self.take_in(now, ack);
        let advanced = ack.una > self.una;
        self.una = self.una.max(ack.una);
        let sample = self.sample_rtt(now, &newly, ack.echo);
        self.rack.on_una(self.una);
        self.judge_probe(now, ack);
        if let Phase::Recovery(point) | Phase::Loss(point) = self.phase
            && self.una >= point
        {
            self.phase = Phase::Open;
            self.retransmit_now = false;
            self.duplicates = Duplicates::default();
            self.rack.on_recovered();
        }
        self.detect(now, ack, advanced, newly.bytes);
        self.restart_timers(now, advanced);
        if ack.marked {
            let newest_sent_at = newly.newest_sent_at;
            self.controller.on_signal(&Signal::Marked { now, packets: 1, newest_sent_at });
        }
        if newly.spurious > 0 {
            self.controller.on_signal(&Signal::Spurious {
                now,
                packets: newly.spurious,
                bytes: newly.spurious_bytes,
                newest_sent_at: newly.spurious_sent_at,
            });
        }
        let rate = self.delivery.sample(now, self.rtt.min());
        self.last_rate = rate.and_then(|sample| sample.rate).or(self.last_rate);
        if newly.bytes > 0 {
            self.controller.on_ack(&AckSample {
                now,
                acked_bytes: newly.bytes,
                newest_sent_at: newly.newest_sent_at,
                oldest_sent_at: newly.oldest_sent_at.unwrap_or(now),
                bytes_in_flight: self.in_flight(),
                prior_in_flight,
                lost_bytes: self.delivery.lost() - prior_lost,
                acked_packets: newly.packets,
                marked_packets: u64::from(ack.marked),
                delivered: self.delivery.delivered(),
                limit: self.limit,
                rtt: &self.rtt,
                rate,
            });
        }
        self.update_allowance(now);
        Outcome { rtt: sample, spurious: newly.spurious }
    }

    /// Takes out and marks what is acknowledged.
    fn take_in(&mut self, now: Time, ack: &Acknowledgement<'_>) -> Newly {
        let mut newly = Newly::default();
        let Recovery { board, rack, delivery, rtt, clock, parts, una, .. } = self;
        // The echo is that of the segment that moved the left edge (RFC 7323 section 4.3): of others it says nothing.
        let una = *una;
        let mut delivered = |segment: &Segment| {
            let echo = ack.echo.filter(|_| segment.start <= una && ack.una > una);
            let echo_is_older = echo.is_some_and(|echo| clock.is_older(echo, segment.sent_at));
            newly.add(segment, echo_is_older);
            delivery.on_acked(now, segment.len(), segment.sent_at, &segment.rate);
            rack.on_delivered(now, segment, echo_is_older, rtt.min());
        };
        // What is selectively acknowledged was delivered then.
        board.acknowledge(ack.una, |segment| {
            if segment.fate != Fate::Sacked {
                delivered(segment);
            }
        });
        if parts.sack && !ack.blocks.is_empty() {
            board.sack(ack.blocks, &mut delivered);
        }
        newly
    }

    /// RFC 6298 section 3 (Karn): from what was sent once; else, with timestamps, from the echo (RFC 7323 section 4).
    fn sample_rtt(&mut self, now: Time, newly: &Newly, echo: Option<u32>) -> Option<Duration> {
        let sample = match newly.clean_sent_at {
            Some(sent_at) => now.since(sent_at),
            None if newly.bytes > 0 => self.clock.since(now, echo?)?,
            None => return None,
        };
        self.rtt.update(sample, Duration::ZERO);
        self.rto.recovered();
        Some(sample)
    }

    fn judge_probe(&mut self, now: Time, ack: &Acknowledgement<'_>) {
        let was_underway = self.tlp.is_underway();
        let dsack_end = ack.dsack.map(|(_, end)| end);
        let bare_duplicate = ack.duplicate && ack.blocks.is_empty() && ack.dsack.is_none();
        let verdict = self.tlp.on_ack(Answer { una: self.una, dsack_end, bare_duplicate });
        if verdict == Verdict::Repaired
            && let Some((bytes, sent_at, state)) = self.probed.take()
        {
            // RFC 8985 section 7.4.2: a loss that was repaired unnoticed is answered as any other.
            self.lost.clear();
            let packet = self.delivery.on_lost(bytes, sent_at, &state);
            self.lost.push(packet);
            self.signal_losses(now);
        }
        // The duplicate of a probe tells nothing of reordering.
        let ended_it = was_underway && !self.tlp.is_underway();
        if ack.dsack.is_some() && !ended_it {
            self.rack.on_dsack(self.nxt);
        }
    }

    /// Finds what is lost, by what was acknowledged.
    fn detect(&mut self, now: Time, ack: &Acknowledgement<'_>, advanced: bool, newly_bytes: u64) {
        self.numbers.clear();
        let mut trigger = LossTrigger::TimeThreshold;
        if !self.parts.sack {
            trigger = LossTrigger::PacketThreshold;
            self.count_duplicates(ack, advanced, newly_bytes);
        } else if self.parts.rack {
            let around = self.surroundings();
            self.reorder_at = self.rack.detect(now, &mut self.board, around, &mut self.numbers);
        } else {
            trigger = LossTrigger::PacketThreshold;
            self.board.below_threshold(DUP_THRESHOLD, &mut self.numbers);
            for number in &self.numbers {
                self.board.lose(*number);
            }
        }
        self.declare(now, trigger);
    }

    /// Without SACK: three duplicates declare the first segment lost (RFC 5681 section 3.2), and so does each
    /// acknowledgement of a part in the recovery that follows (RFC 6582 section 3.2).
    fn count_duplicates(&mut self, ack: &Acknowledgement<'_>, advanced: bool, newly_bytes: u64) {
        let mut lose = false;
        if advanced {
            lose = matches!(self.phase, Phase::Recovery(_));
            self.duplicates.count = 0;
            self.duplicates.arrived_bytes = match self.phase {
                Phase::Recovery(_) => self.duplicates.arrived_bytes.saturating_sub(newly_bytes),
                _ => 0,
            };
        } else if ack.duplicate && !self.board.is_empty() {
            self.duplicates.count += 1;
            let counts = self.parts.limited_transmit || self.duplicates.count >= DUP_THRESHOLD;
            if counts && matches!(self.phase, Phase::Open | Phase::Recovery(_)) {
                // RFC 3042 section 2; RFC 5681 section 3.2, step 4: it has left the network.
                let most = self.board.in_flight().saturating_sub(self.mss);
                self.duplicates.arrived_bytes = (self.duplicates.arrived_bytes + self.mss).min(most);
            }
            lose = self.duplicates.count == DUP_THRESHOLD && self.phase == Phase::Open;
        }
        let first = self.board.front_number();
        if lose && self.board.lose(first) {
            self.numbers.push(first);
        }
    }

    /// Tells of the segments in `numbers`, which were just declared lost.
    fn declare(&mut self, now: Time, trigger: LossTrigger) {
        if self.numbers.is_empty() {
            return;
        }
        self.lost.clear();
        for number in &self.numbers {
            let Some(segment) = self.board.get(*number) else { continue };
            self.lost.push(self.delivery.on_lost(segment.len(), segment.sent_at, &segment.rate));
            self.losses.push(Loss { start: segment.start, trigger });
        }
        if self.phase == Phase::Open {
            self.phase = Phase::Recovery(self.nxt);
            self.retransmit_now = true;
        }
        self.tlp.forget();
        self.pto_at = None;
        self.probe_due = false;
        self.signal_losses(now);
    }

    fn signal_losses(&mut self, now: Time) {
        let bytes = self.lost.iter().map(|packet| packet.bytes).sum();
        let newest_sent_at = self.lost.iter().map(|packet| packet.sent_at).max().unwrap_or(now);
        let (bytes_in_flight, packets) = (self.in_flight(), &self.lost[..]);
        self.controller.on_signal(&Signal::Lost { now, bytes, newest_sent_at, bytes_in_flight, packets });
        self.update_allowance(now);
    }

    fn restart_timers(&mut self, now: Time, advanced: bool) {
        if self.board.is_empty() {
            self.rto.stop();
            (self.pto_at, self.reorder_at, self.probe_due) = (None, None, false);
        } else if advanced {
            self.rto.restart(now, &self.rtt);
            self.schedule_probe(now);
        }
    }

    /// When something is to be done.
    #[inline]
    pub(crate) fn wake_at(&self) -> Option<Time> {
        [self.rto.at, self.pto_at, self.reorder_at].into_iter().flatten().min()
    }

    /// Does what is due; tells whether the retransmission timer went off.
    pub(crate) fn wake(&mut self, now: Time) -> bool {
        if self.reorder_at.is_some_and(|at| at <= now) {
            self.numbers.clear();
            let around = self.surroundings();
            self.reorder_at = self.rack.detect(now, &mut self.board, around, &mut self.numbers);
            self.declare(now, LossTrigger::TimeThreshold);
        }
        if self.pto_at.is_some_and(|at| at <= now) {
            self.pto_at = None;
            if !self.board.is_empty() {
                self.probe_due = true;
                // The probe itself sets the timer anew.
                self.rto.restart(now, &self.rtt);
            }
        }
        let due = self.rto.at.is_some_and(|at| at <= now);
        if due {
            self.on_timeout(now);
        }
        due
    }

    /// RFC 6298 section 5, RFC 5681 section 3.1, RFC 8985 section 6.3.
    fn on_timeout(&mut self, now: Time) {
        if self.board.is_empty() {
            return self.rto.stop();
        }
        self.timeouts += 1;
        self.rto.back_off(now, &self.rtt);
        if self.board.front().is_some_and(|front| front.fate == Fate::Sacked) {
            // RFC 2018 section 8: the receiver has taken back what it said.
            self.board.forget_sacks();
        }
        self.numbers.clear();
        if self.parts.rack && self.parts.sack {
            let around = self.surroundings();
            self.rack.on_timeout(now, &mut self.board, around, &mut self.numbers);
        } else {
            self.numbers.extend(self.board.flying());
            for number in &self.numbers {
                self.board.lose(*number);
            }
        }
        self.reorder_at = None;
        self.duplicates = Duplicates::default();
        self.declare(now, LossTrigger::Probe);
        self.phase = Phase::Loss(self.nxt);
        self.retransmit_now = true;
        (self.pto_at, self.probe_due) = (None, false);
        self.tlp.forget();
        // RFC 5681 section 3.1: the window falls to its least, and slow start begins anew.
        self.controller.on_signal(&Signal::PersistentCongestion);
        self.update_allowance(now);
    }

    /// A byte that was not on the scoreboard was acknowledged: the one that probed the peer's window.
    pub(crate) fn skip_to(&mut self, number: u64) {
        if self.board.is_empty() {
            (self.una, self.nxt) = (number, number);
        }
    }

    /// What went with the SYN is watched from now on.
    pub(crate) fn resume(&mut self, now: Time) {
        self.rto.restart(now, &self.rtt);
    }

    /// All that is underway goes again without any blame: it went with a SYN, and the peer did not take it.
    pub(crate) fn resend_all(&mut self) {
        self.numbers.clear();
        self.numbers.extend(self.board.flying());
        for number in &self.numbers {
            self.board.lose(*number);
        }
        self.retransmit_now = true;
    }

    /// All timers stop.
    pub(crate) fn stop(&mut self) {
        self.rto.stop();
        (self.pto_at, self.reorder_at, self.probe_due) = (None, None, false);
    }
}

fn controller(config: &Config, setup: Setup) -> Option<Box<dyn Controller>> {
    congestion::build(config.controller.name, &config.controller.arguments, setup)
}
