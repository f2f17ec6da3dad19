//! The sender's state of the path: scoreboard, RTT estimate, RACK-TLP, retransmission timeout, controller and pacer.
//! They determine what is in flight, what to retransmit, and how much may be sent.

mod acknowledge;
mod learning;
mod losses;

pub(crate) use acknowledge::Acknowledgement;
pub use learning::DatedPaths;
use losses::Loss;

use crate::config::Config;
use crate::handshake::Negotiated;
use crate::rack::Rack;
use crate::rto::Rto;
use crate::scoreboard::{Scoreboard, Segment};
use crate::timestamps::Clock;
use crate::tlp::Tlp;
use congestion::{
    Capacity, Controller, Limit, Pacer, PathMetrics, Regulator, RttEstimate, SentState, Setup, Signal,
};
use trace::{Log, Wait};
use units::{Duration, Time};

/// Whether losses are being repaired, and up to which number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// No known losses.
    Open,
    /// Fast recovery (RFC 6675 section 5, RFC 6582), until everything up to this number is acknowledged.
    Recovery(u64),
    /// After a retransmission timeout.
    Loss(u64),
}

/// Duplicate acknowledgements without SACK (RFC 5681 section 3.2, RFC 6582).
#[derive(Debug, Default)]
struct Duplicates {
    count: u64,
    /// The highest number sent when the last recovery began: "recover" (RFC 6582 section 3.2).
    recover: u64,
    /// Each duplicate means that a segment has left the network, and reduces the bytes in flight.
    arrived_bytes: u64,
}

/// The last retransmission timeout, which is a single congestion event.
#[derive(Debug, Clone, Copy)]
struct Timeout {
    at: Time,
    /// The first unacknowledged number at the timeout.
    front: u64,
    /// The same segment has timed out before.
    again: bool,
}

impl Timeout {
    /// Whether the loss of this segment is a new congestion event: not if the segment was in flight at the timeout, and
    /// not after a repeated timeout of the same segment, when "the value of ssthresh is held constant" (RFC 5681
    /// section 3.1).
    fn is_new_event(&self, segment: &Segment) -> bool {
        segment.sent_at >= self.at && !self.again
    }
}

/// The mechanisms in use.
#[derive(Debug, Clone, Copy)]
struct Features {
    sack: bool,
    rack: bool,
    prr: bool,
    tlp: bool,
    limited_transmit: bool,
    peer_ack_delay: Duration,
}

/// The tail loss probe.
#[derive(Default)]
pub(crate) struct Probe {
    /// Its timer.
    at: Option<Time>,
    /// Whether one is to be sent now.
    pub(crate) due: bool,
    /// The segment retransmitted by the last one.
    last: Option<(u64, Time, SentState)>,
}

/// The recovery state of a connection.
pub(crate) struct Recovery {
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimate,
    pub(crate) rto: Rto,
    clock: Clock,
    regulator: Regulator,
    /// What is learned of the path's capacity, if the options ask for it.
    capacity: Option<Box<Capacity>>,
    rack: Rack,
    tlp: Tlp,
    pub(crate) probe: Probe,
    /// RACK's reordering timer.
    reorder_at: Option<Time>,
    phase: Phase,
    duplicates: Duplicates,
    timeout: Option<Timeout>,
    /// The window was reduced since this flag was last cleared.
    pub(crate) reduced: bool,
    /// The first retransmission of a recovery ignores the congestion window.
    retransmit_now: bool,
    /// SND.UNA and SND.NXT as numbers.
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    mss: u64,
    /// The seed of the controller's random numbers.
    seed: u64,
    features: Features,
    numbers: Vec<u64>,
    /// Segments declared lost since the last trace.
    pub(crate) losses: Vec<Loss>,
    pub(crate) probes_sent: u64,
    pub(crate) timeouts: u64,
}

impl Recovery {
    /// Creates the state of an unused path. Returns `None` if the configured controller does not exist.
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
            capacity: None,
            rack: Rack::new(),
            tlp: Tlp::default(),
            probe: Probe::default(),
            reorder_at: None,
            phase: Phase::Open,
            duplicates: Duplicates::default(),
            timeout: None,
            reduced: false,
            retransmit_now: false,
            una: 0,
            nxt: 1,
            mss,
            seed,
            features: Features {
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

    /// The handshake is complete: the segment size, the RTT and the peer's SACK support are known. If nothing was sent
    /// yet, the controller starts with these values. RFC 5681 section 3.1: if the SYN counts as lost, the window is one
    /// segment.
    pub(crate) fn on_established(
        &mut self,
        now: Time,
        config: &Config,
        negotiated: &Negotiated,
        syn_was_lost: bool,
    ) {
        let (mss, sack) = (u64::from(negotiated.mss), negotiated.sack);
        self.features.sack = sack;
        self.mss = mss;
        if self.board.is_empty() {
            let segments = if syn_was_lost { 1 } else { config.initial_window };
            let initial_rtt = if self.rtt.is_sampled() { self.rtt.smoothed() } else { config.initial_rtt };
            let seed = self.seed;
            let (initial_window, initial_packets) = (mss * segments, Some(segments));
            let setup = Setup { max_datagram_size: mss, initial_window, initial_packets, initial_rtt, seed };
            let controller = controller(config, setup);
            let controller = controller.expect("the controller before the handshake can be built again");
            self.regulator.begin_anew(now, controller, pacer(config, mss));
        } else {
            self.regulator.signal(now, &Signal::DatagramSize { bytes: mss });
        }
    }

    /// The congestion window in bytes.
    pub(crate) fn window(&self) -> u64 {
        self.regulator.window()
    }

    /// The meaning of a full window.
    pub(crate) fn wait(&self) -> Wait {
        Wait::window(self.backoffs(), self.regulator.controller().state())
    }
    /// The wait after everything has been sent.
    pub(crate) fn after_all(&self) -> Wait {
        Wait::after_all(self.in_flight(), self.backoffs())
    }
    /// See [`Regulator::trace`].
    pub(crate) fn trace(&self, now: Time, traced: &mut &'static str, log: &mut Log) {
        let path =
            PathMetrics { rtt: &self.rtt, bytes_in_flight: self.in_flight(), pto_count: self.backoffs() };
        self.regulator.trace(now, &path, traced, log);
    }

    /// The number of consecutive timeouts without an answer.
    pub(crate) fn backoffs(&self) -> u32 {
        self.rto.backoffs() + u32::from(self.tlp.is_outstanding())
    }

    /// Bytes in flight.
    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        debug_assert!(
            self.duplicates.arrived_bytes <= self.board.in_flight(),
            "what duplicates say has arrived was in flight"
        );
        self.board.in_flight() - self.duplicates.arrived_bytes
    }

    fn in_recovery(&self) -> bool {
        self.phase != Phase::Open
    }

    /// Whether the window admits `bytes` more bytes.
    #[inline]
    pub(crate) fn admits(&self, bytes: u64) -> bool {
        let mut flight = self.in_flight();
        if !self.features.limited_transmit && !self.in_recovery() {
            // RFC 5681 section 3.2, step 1, without RFC 3042: the first duplicates do not permit new segments.
            flight += self.board.sacked();
        }
        flight + bytes <= self.window()
    }

    /// The next segment to retransmit, if the window admits it.
    pub(crate) fn next_retransmission(&mut self) -> Option<u64> {
        let number = self.board.next_lost()?;
        let length = self.board.get(number)?.len();
        // RFC 6675 section 5, step 4.3; RFC 5681 section 3.2, step 3: the first retransmission ignores the window.
        (self.retransmit_now || self.in_flight() + length <= self.window()).then_some(number)
    }

    /// The time at which the pacer releases the next segment, unless it may be sent now.
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

    /// Stops if numbers, scoreboard and timers contradict each other.
    pub(crate) fn check(&self) {
        self.board.check();
        assert!(self.una <= self.nxt, "the peer acknowledges only what was sent");
        let first = self.board.front().map(|front| front.start);
        assert!(first.is_none_or(|first| first >= self.una), "what is acknowledged is not on the board");
        self.rtt.check();
        self.regulator.check();
        assert!(
            !self.probe.due || !self.board.is_empty(),
            "a tail loss probe is due while something is in flight"
        );
        assert!(
            self.probe.at.is_none() || !self.board.is_empty(),
            "a probe is timed while something is in flight"
        );
        assert!(
            self.reorder_at.is_none() || !self.board.is_empty(),
            "reordering is awaited while something is in flight"
        );
    }

    /// New data is sent and advances SND.NXT.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, end: u64, fin: bool) {
        let start = self.nxt;
        let bytes = Segment::bytes(start, end, fin);
        let rate = self.regulator.before_sent(now, bytes, self.in_flight());
        self.board.push(start, end, fin, now, rate);
        self.nxt = end;
        self.regulator.on_sent(now, bytes, self.in_flight(), &rate);
        self.rto.start(now, &self.rtt);
        if self.probe.due {
            self.probe_was_sent(now, false);
        } else {
            self.schedule_probe(now);
        }
    }

    /// A segment is retransmitted.
    pub(crate) fn on_resent(&mut self, now: Time, number: u64) {
        let segment = self.board.get(number).expect("a segment that is sent again is on the board");
        let (length, state) = (segment.len(), (segment.len(), segment.sent_at, segment.rate));
        let rate = self.regulator.before_sent(now, length, self.in_flight());
        self.board.resent(number, now, rate);
        self.retransmit_now = false;
        self.regulator.on_sent(now, length, self.in_flight(), &rate);
        if self.probe.due {
            self.probe.last = Some(state);
            self.probe_was_sent(now, true);
        } else if number == self.board.front_number() {
            // SND.UNA advances only with the answer to this segment, a round trip from now.
            self.rto.restart(now, &self.rtt);
        } else {
            self.rto.start(now, &self.rtt);
        }
    }

    fn probe_was_sent(&mut self, now: Time, retransmission: bool) {
        self.probe.due = false;
        self.probes_sent += 1;
        self.tlp.on_sent(self.nxt, retransmission);
        // RFC 8985 section 7.3: a probe restarts the retransmission timer.
        self.rto.restart(now, &self.rtt);
        self.probe.at = None;
    }

    /// RFC 8985 section 7.2: schedules a probe, but only with SACK, outside of recovery, one at a time, and not if
    /// selective acknowledgements let RACK detect the losses.
    #[inline]
    fn schedule_probe(&mut self, now: Time) {
        let wanted = self.features.tlp
            && self.features.sack
            && self.phase == Phase::Open
            && !self.tlp.is_outstanding()
            && !(self.features.rack && self.board.sacked_segments() > 0)
            && self.reorder_at.is_none()
            && !self.board.is_empty();
        self.probe.at = wanted.then(|| {
            let smoothed = self.rtt.is_sampled().then(|| self.rtt.smoothed());
            let alone = self.board.len() == 1;
            Tlp::timeout(now, smoothed, alone, self.features.peer_ack_delay, self.rto.at)
        });
    }

    fn restart_timers(&mut self, now: Time, advanced: bool) {
        if advanced {
            self.rto.answered();
        }
        if self.board.is_empty() {
            self.rto.stop();
            (self.probe.at, self.reorder_at, self.probe.due) = (None, None, false);
        } else if advanced {
            self.rto.restart(now, &self.rtt);
            self.schedule_probe(now);
        }
    }

    /// The earliest timer.
    #[inline]
    pub(crate) fn wake_at(&self) -> Option<Time> {
        [self.rto.at, self.probe.at, self.reorder_at].into_iter().flatten().min()
    }

    /// The byte of a window probe was acknowledged, which is not on the scoreboard.
    pub(crate) fn skip_to(&mut self, number: u64) {
        debug_assert!(self.board.is_empty(), "a window is probed while nothing is in flight");
        if self.board.is_empty() {
            (self.una, self.nxt) = (number, number);
        }
    }

    /// Starts the timer for data sent with the SYN.
    pub(crate) fn resume(&mut self, now: Time) {
        self.rto.restart(now, &self.rtt);
    }

    /// Stops all timers.
    pub(crate) fn stop(&mut self) {
        self.rto.stop();
        (self.probe.at, self.reorder_at, self.probe.due) = (None, None, false);
    }
}

fn controller(config: &Config, setup: Setup) -> Option<Box<dyn Controller>> {
    congestion::build(config.controller.name, &config.controller.arguments, setup)
}

fn pacer(config: &Config, mss: u64) -> Pacer {
    Pacer::new(mss, config.pacing_burst, config.pacing_quantum)
}
