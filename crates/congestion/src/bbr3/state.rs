//! The state of a BBRv3 sender, grouped as in draft-ietf-ccwg-bbr-06 section 2.

use crate::filter::WindowedMax;
use units::{Duration, Time};

/// The value of an absent bound, for a rate in bit/s or a volume in bytes.
pub(super) const INFINITY: u64 = u64::MAX;

/// 5.1.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

impl State {
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp)
    }
    /// `IsProbingBW()`.
    pub(super) fn probes_bandwidth(self) -> bool {
        matches!(self, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }
    pub(super) fn name(self) -> &'static str {
        match self {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBwDown => "probe_bw_down",
            State::ProbeBwCruise => "probe_bw_cruise",
            State::ProbeBwRefill => "probe_bw_refill",
            State::ProbeBwUp => "probe_bw_up",
            State::ProbeRtt => "probe_rtt",
        }
    }
}

/// The relation of acknowledgements to probing (2.14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The rate sample of the latest ACK frame, or of a lost packet (2.3).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    /// In bit/s; 0 for no sample.
    pub delivery_rate: u64,
    pub delivered: u64,
    pub prior_delivered: u64,
    pub newly_acked: u64,
    /// Bytes in flight before the acknowledgement.
    pub prior_in_flight: u64,
    pub tx_in_flight: u64,
    pub lost: u64,
    pub app_limited: bool,
}

/// The maximum delivery rates of the current and the previous probing cycle, in bit/s (2.11).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MaxBandwidth {
    previous: u64,
    current: u64,
}

impl MaxBandwidth {
    #[inline]
    pub(super) fn get(&self) -> u64 {
        self.previous.max(self.current)
    }
    #[inline]
    pub(super) fn update(&mut self, rate: u64) {
        self.current = self.current.max(rate);
    }
    /// `AdvanceMaxBwFilter()`; a cycle without a sample does not count.
    pub(super) fn advance(&mut self) {
        if self.current != 0 {
            self.previous = std::mem::take(&mut self.current);
        }
    }
}

/// The bounds set by losses (2.9).
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub bw_shortterm: u64,
    pub inflight_shortterm: u64,
    pub inflight_longterm: u64,
}

impl Bounds {
    pub(super) const NONE: Bounds =
        Bounds { bw_shortterm: INFINITY, inflight_shortterm: INFINITY, inflight_longterm: INFINITY };
}

/// Deliveries and losses in the latest round trip (2.10).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Latest {
    pub bw: u64,
    pub inflight: u64,
    pub round_start: bool,
    pub round_delivered: u64,
    pub is_loss_in_round: bool,
    /// The same values for the round trip that ended with this acknowledgement.
    pub was_loss_in_round: bool,
    /// The number of discontiguous lost ranges in the round, and the end of the last one.
    pub ranges: u64,
    pub range_end: u64,
    /// CE-marked bytes in the round.
    pub marked: u64,
}

/// Detection of a full pipe (2.13).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FullBandwidth {
    pub bw: u64,
    pub count: u64,
    pub now: bool,
    pub reached: bool,
}

impl FullBandwidth {
    /// `ResetFullBW()`, with the baseline for the next detection.
    pub(super) fn reset(&mut self, bw: u64) {
        *self = FullBandwidth { bw, count: 0, now: false, reached: self.reached };
    }
}

/// The cycle of ProbeBW (2.14).
#[derive(Debug, Clone, Copy)]
pub(super) struct Cycle {
    pub ack_phase: AckPhase,
    pub is_sample: bool,
    pub up_acked: u64,
    pub acked_per_increase: u64,
    pub up_rounds: u32,
    pub rounds_since_up: u64,
    pub wait: Duration,
    pub stamp: Time,
    pub prev_too_high: bool,
    pub prev_precautionary: bool,
}

impl Default for Cycle {
    fn default() -> Cycle {
        Cycle {
            ack_phase: AckPhase::Init,
            is_sample: false,
            up_acked: 0,
            acked_per_increase: INFINITY,
            up_rounds: 0,
            rounds_since_up: 0,
            wait: Duration::ZERO,
            stamp: Time::ZERO,
            prev_too_high: false,
            prev_precautionary: false,
        }
    }
}

/// The minimum RTT, and when to probe for it (2.16).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MinRtt {
    /// `None` before the first sample.
    pub value: Option<Duration>,
    pub stamp: Time,
    pub probe_delay: Duration,
    pub probe_stamp: Time,
    pub expired: bool,
    pub done_stamp: Option<Time>,
    pub round_done: bool,
}

/// How far acknowledgements run ahead of the bandwidth (2.12).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ExtraAcked {
    pub interval_start: Time,
    pub delivered: u64,
    pub filter: WindowedMax,
}

/// Loss recovery, and the state to restore if it was spurious (2.15).
#[derive(Debug, Clone, Copy)]
pub(super) struct Recovery {
    /// The recovery covers packets sent up to here; `None` outside of a recovery.
    pub since: Option<Time>,
    pub undo_state: Option<State>,
    pub undo: Bounds,
    /// Bytes declared lost in the recovery and not acknowledged since.
    pub missing: u64,
    /// When the oldest of them was sent.
    pub oldest: Time,
}

impl Default for Recovery {
    fn default() -> Recovery {
        Recovery { since: None, undo_state: None, undo: Bounds::NONE, missing: 0, oldest: Time::ZERO }
    }
}

/// Whether the window was fully used in the latest round trip (`C.is_cwnd_limited`, 2.2).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CwndLimited {
    before: bool,
    now: bool,
}

impl CwndLimited {
    #[inline]
    pub(super) fn note(&mut self) {
        self.now = true;
    }
    #[inline]
    pub(super) fn on_round(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }
    #[inline]
    pub(super) fn get(&self) -> bool {
        self.before || self.now
    }
}
