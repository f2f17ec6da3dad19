//! Careful Resume at a regulator: its limits on what the controller allows, and the changes of its phase.

use super::careful::{Adjustment, CarefulResume, Congestion, Phase, Transition};
use crate::{Allowance, Signal};
use std::collections::VecDeque;
use units::{Duration, Rate, Size, Time};

/// Careful Resume of one path.
#[derive(Debug)]
pub(crate) struct Resuming {
    state: CarefulResume,
    /// Whether the controller paces and limits the jump itself.
    rate_based: bool,
    /// The least RTT of the connection, once there is a sample.
    rtt: Option<Duration>,
    /// The pacing rate in the Unvalidated phase.
    rate: Option<Rate>,
    /// The largest window in the Unvalidated and in the Safe Retreat phase, in bytes.
    hold: u64,
    /// The changes that nobody has taken; there are four at most.
    changes: VecDeque<Transition>,
}

impl Resuming {
    pub(crate) fn new(state: CarefulResume, rate_based: bool) -> Resuming {
        Resuming { state, rate_based, rtt: None, rate: None, hold: u64::MAX, changes: VecDeque::new() }
    }

    pub(crate) fn state(&self) -> &CarefulResume {
        &self.state
    }
    pub(crate) fn next_transition(&mut self) -> Option<Transition> {
        self.changes.pop_front()
    }

    /// The controller's allowance within the limits of the phase: the Unvalidated phase has the window of the jump, paced over
    /// current_rtt; in the Safe Retreat phase "the CWND MUST NOT be increased".
    pub(crate) fn limit(&self, allowance: Allowance) -> Allowance {
        match self.state.phase() {
            _ if self.rate_based => allowance,
            Phase::Unvalidated => {
                Allowance { window: allowance.window.min(self.hold), pacing: self.rate, ..allowance }
            }
            Phase::SafeRetreat => Allowance { window: allowance.window.min(self.hold), ..allowance },
            _ => allowance,
        }
    }

    fn note(&mut self, change: Option<Transition>) -> Option<Transition> {
        if let Some(change) = change {
            match change.adjustment {
                Some(Adjustment::Jump { window, rtt }) => {
                    self.rate = Some(Rate::of(Size::from_bytes(window), rtt));
                    self.hold = window;
                }
                Some(Adjustment::Retreat { window }) => self.hold = window,
                _ => {}
            }
            self.changes.push_back(change);
        }
        change
    }

    pub(crate) fn on_window_limited(&mut self, now: Time, window: u64, in_flight: u64) -> Option<Transition> {
        let change = self.state.on_window_limited(now, (window, in_flight), self.rtt);
        self.note(change)
    }
    pub(crate) fn before_sent(&mut self, now: Time, in_flight: u64) -> Option<Transition> {
        let change = self.state.before_sent(now, in_flight);
        self.state.on_sent(now);
        self.note(change)
    }
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        (acked, newest_sent_at): (u64, Time),
        in_flight: u64,
    ) -> Option<Transition> {
        let change = self.state.on_ack(now, acked, newest_sent_at, in_flight);
        self.note(change)
    }
    /// The least RTT of the connection: see [`CarefulResume::on_rtt`].
    pub(crate) fn on_rtt(&mut self, rtt: Duration, acked: u64, window: u64) -> Option<Transition> {
        self.rtt = Some(rtt);
        let change = self.state.on_rtt(rtt, acked, window);
        self.note(change)
    }
    pub(crate) fn on_congestion(&mut self, congestion: Congestion) -> Option<Transition> {
        let change = self.state.on_congestion(congestion);
        self.note(change)
    }
    pub(crate) fn on_signal(&mut self, signal: &Signal<'_>) -> Option<Transition> {
        let change = match signal {
            Signal::Marked { .. } => self.state.on_congestion(Congestion::Mark),
            Signal::PersistentCongestion | Signal::PathChanged => self.state.on_persistent_congestion(),
            _ => None,
        };
        self.note(change)
    }
}
