//! Pacing rate, send quantum and window (5.6), and the restart after idle periods (5.4).

use super::Bbr3;
use super::state::{INFINITY, State};

impl Bbr3 {
    /// `SetPacingRateWithGain()` (5.6.2).
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw as f64 * (1.0 - self.options.pacing_margin);
        self.controls.set_pacing_rate(rate, self.full_bw.reached);
    }

    /// `SetSendQuantum()` (5.6.3): the bytes of one millisecond.
    pub(super) fn set_send_quantum(&mut self) {
        let packet = self.controls.packet();
        self.controls.send_quantum =
            ((self.controls.pacing_rate / 8000.0) as u64).min(64 * 1024).max(2 * packet);
    }

    /// `SetCwnd()` (5.6.4.6).
    pub(super) fn set_cwnd(&mut self) {
        self.update_max_inflight();
        let grown = self.controls.cwnd.saturating_add(self.sample.newly_acked);
        if self.full_bw.reached {
            self.controls.cwnd = grown.min(self.max_inflight);
        } else if self.controls.cwnd < self.max_inflight
            || self.delivered < self.controls.setup.initial_window
        {
            self.controls.cwnd = grown;
        }
        self.controls.cwnd = self.controls.cwnd.max(self.min_pipe_cwnd());
        if self.state == State::ProbeRtt {
            self.controls.cwnd = self.controls.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// `BoundCwndForModel()` (5.6.4.7).
    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => self.bounds.inflight_longterm,
            State::ProbeRtt | State::ProbeBwCruise => self.inflight_with_headroom(),
            State::Startup | State::Drain => INFINITY,
        };
        self.controls.cwnd =
            self.controls.cwnd.min(cap.min(self.bounds.inflight_shortterm).max(self.min_pipe_cwnd()));
        debug_assert!(
            self.controls.cwnd >= self.min_pipe_cwnd(),
            "no bound of the model is below the minimum window"
        );
    }

    /// `ProbeRTTCwnd()` (5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp_multiple(self.bw, self.options.probe_rtt_cwnd_gain).max(self.min_pipe_cwnd())
    }

    /// `SaveCwnd()` (5.6.4.4).
    pub(super) fn save_cwnd(&mut self) {
        self.controls.save_cwnd(self.recovery.since.is_some() || self.state == State::ProbeRtt);
    }

    /// `HandleRestartFromIdle()` (5.4.1), called for a packet sent with nothing in flight.
    pub(super) fn handle_restart_from_idle(&mut self) {
        self.idle_restart = true;
        self.extra_acked.interval_start = self.now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done();
        }
    }
}
