//! The sender's view of the path: what is in flight and what became of it, when something is sent again, and how much may
//! be sent. The sum of scoreboard, RTT estimate, RACK-TLP, retransmission timeout, controller and pacer.

mod acknowledge;
mod losses;

pub(crate) use acknowledge::Acknowledgement;
use losses::Loss;

use crate::config::Config;
use crate::handshake::Agreed;
use crate::rack::Rack;
use crate::rto::Rto;
use crate::scoreboard::{Scoreboard, Segment};
use crate::timestamps::Clock;
use crate::tlp::Tlp;
use congestion::{Controller, Limit, Pacer, PathMetrics, Regulator, RttEstimate, SentState, Setup, Signal};
use trace::Log;
use units::{Duration, Time};

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

/// Duplicate acknowledgements where there is no SACK (RFC 5681 section 3.2, RFC 6582).
#[derive(Debug, Default)]
struct Duplicates {
    count: u64,
    /// All up to here was sent when the last recovery began: "recover" (RFC 6582 section 3.2).
    recover: u64,
    /// Each tells of a segment that has left the network: taken off what is in flight.
    arrived_bytes: u64,
}

/// The last retransmission timeout: what it has told of losses is not told again.
#[derive(Debug, Clone, Copy)]
struct Timeout {
    at: Time,
    /// The first number that was not acknowledged then.
    front: u64,
    /// The segment there has timed out before.
    again: bool,
}

impl Timeout {
    /// Whether the loss of this segment is another event: not if it was underway at the timeout, which was answered for all
    /// that was, nor if the timer goes off once more for what it has sent again: "the value of ssthresh is held constant"
    /// (RFC 5681 section 3.1).
    fn is_news(&self, segment: &Segment) -> bool {
        segment.sent_at >= self.at && !self.again
    }
}

/// Which parts are in use.
#[derive(Debug, Clone, Copy)]
struct Parts {
    sack: bool,
    rack: bool,
    prr: bool,
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
    regulator: Regulator,
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
    timeout: Option<Timeout>,
    /// The window was reduced since the last look.
    pub(crate) reduced: bool,
    /// The first retransmission of a recovery does not wait for room in the window.
    retransmit_now: bool,
    /// SND.UNA and SND.NXT as numbers.
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    mss: u64,
    /// What the controller's random draws follow from.
    seed: u64,
    parts: Parts,
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
            initial_packets: Some(config.initial_window),
            initial_rtt: config.initial_rtt,
            seed,
        };
        let controller = controller(config, setup)?;
        Some(Recovery {
            board: Scoreboard::default(),
            rtt: RttEstimate::new(config.initial_rtt),
            rto: Rto::new(config.initial_rto, config.min_rto, config.max_rto),
            clock,
            regulator: Regulator::new(Time::ZERO, controller, pacer(config, mss)),
            rack: Rack::new(),
            tlp: Tlp::default(),
            pto_at: None,
            reorder_at: None,
            probe_due: false,
            probed: None,
            phase: Phase::Open,
            duplicates: Duplicates::default(),
            timeout: None,
            reduced: false,
            retransmit_now: false,
            una: 0,
            nxt: 1,
            mss,
            seed,
            parts: Parts {
                sack: config.sack,
                rack: config.rack,
                prr: config.prr,
                tlp: config.tlp,
                limited_transmit: config.limited_transmit,
                peer_ack_delay: config.peer_ack_delay,
            },
            numbers: Vec::new(),
            losses: Vec::new(),
            probes_sent: 0,
            timeouts: 0,
        })
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
            let (initial_window, initial_packets) = (mss * segments, Some(segments));
            let setup = Setup { max_datagram_size: mss, initial_window, initial_packets, initial_rtt, seed };
            if let Some(controller) = controller(config, setup) {
                self.regulator.begin_anew(now, controller, pacer(config, mss));
            }
        } else {
            self.regulator.signal(now, &Signal::DatagramSize { bytes: mss });
        }
    }

    /// The congestion window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.regulator.window()
    }

    /// See [`Regulator::trace`].
    pub(crate) fn trace(&self, now: Time, told: &mut &'static str, log: &mut Log) {
        let path =
            PathMetrics { rtt: &self.rtt, bytes_in_flight: self.in_flight(), pto_count: self.backoffs() };
        self.regulator.trace(now, &path, told, log);
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
        flight + bytes <= self.window()
    }

    /// The segment to be sent again now, if the window admits one.
    pub(crate) fn next_retransmission(&mut self) -> Option<u64> {
        let number = self.board.next_lost()?;
        let length = self.board.get(number)?.len();
        // RFC 6675 section 5, step 4.3; RFC 5681 section 3.2, step 3: the first one goes whatever is in flight.
        (self.retransmit_now || self.in_flight() + length <= self.window()).then_some(number)
    }

    /// When the pacer lets the next segment go, if not now.
    #[inline]
    pub(crate) fn paced_until(&mut self, now: Time) -> Option<Time> {
        self.regulator.paced_until(now)
    }

    /// See [`Regulator::note_stop`].
    #[inline]
    pub(crate) fn note_stop(&mut self, now: Time, limit: Limit) {
        self.regulator.note_stop(now, limit, self.in_flight());
    }

    /// See [`Regulator::note_dry`].
    #[inline]
    pub(crate) fn note_dry(&mut self, now: Time) {
        self.regulator.note_dry(now);
    }

    /// New data leaves, SND.NXT moves on.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, end: u64, fin: bool) {
        let start = self.nxt;
        let bytes = Segment::bytes(start, end, fin);
        let rate = self.regulator.before_sent(now, bytes, self.in_flight());
        self.board.push((start, end), fin, now, rate);
        self.nxt = end;
        self.regulator.on_sent(now, bytes, self.in_flight(), &rate);
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
        let rate = self.regulator.before_sent(now, length, self.in_flight());
        self.board.resent(number, now, rate);
        self.retransmit_now = false;
        self.regulator.on_sent(now, length, self.in_flight(), &rate);
        if self.probe_due {
            self.probed = Some(state);
            self.probe_was_sent(now, true);
        } else if number == self.board.front_number() {
            // Only the answer to this segment moves SND.UNA, a round trip from now.
            self.rto.restart(now, &self.rtt);
        } else {
            self.rto.start(now, &self.rtt);
        }
    }

    fn probe_was_sent(&mut self, now: Time, retransmission: bool) {
        self.probe_due = false;
        self.probes_sent += 1;
        self.tlp.on_sent(self.nxt, retransmission);
        // RFC 8985 section 7.3: behind a probe the retransmission timer runs anew.
        self.rto.restart(now, &self.rtt);
        self.pto_at = None;
    }

    /// RFC 8985 section 7.2: only with SACK, outside of a recovery, one at a time, and not where selective acknowledgements let RACK
    /// find what is missing.
    #[inline]
    fn schedule_probe(&mut self, now: Time) {
        let wanted = self.parts.tlp
            && self.parts.sack
            && self.phase == Phase::Open
            && !self.tlp.is_underway()
            && !(self.parts.rack && self.board.sacked_segments() > 0)
            && self.reorder_at.is_none()
            && !self.board.is_empty();
        self.pto_at = wanted.then(|| {
            let smoothed = self.rtt.is_sampled().then(|| self.rtt.smoothed());
            let alone = self.board.len() == 1;
            Tlp::timeout(now, smoothed, alone, self.parts.peer_ack_delay, self.rto.at)
        });
    }

    fn restart_timers(&mut self, now: Time, advanced: bool) {
        if advanced {
            self.rto.answered();
        }
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

    /// All timers stop.
    pub(crate) fn stop(&mut self) {
        self.rto.stop();
        (self.pto_at, self.reorder_at, self.probe_due) = (None, None, false);
    }
}

fn controller(config: &Config, setup: Setup) -> Option<Box<dyn Controller>> {
    congestion::build(config.controller.name, &config.controller.arguments, setup)
}

fn pacer(config: &Config, mss: u64) -> Pacer {
    Pacer::new(config.pacing_burst * mss, config.pacing_quantum * mss)
}
