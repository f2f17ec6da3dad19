//! Control parameters (section 4.2): pacing rate, quantum and window, and the window in recovery.

use super::Bbr1;
use super::phases::State;
use crate::AckSample;
use units::Time;

/// The response to packet loss, which only affects the window (section 4.2.3.4). The draft ends a recovery by "repairing
/// all losses": a loss during a recovery prolongs it, and does not begin another one. The window follows the deliveries
/// in the first round trip only, or losses in each round trip would let it fall in each.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Recovery {
    /// When the last loss was declared: the recovery covers packets sent up to here. `None` outside of a recovery.
    pub(super) until: Option<Time>,
    /// The window follows the delivered bytes.
    pub(super) conserving: bool,
    /// Still waiting for the first ACK frame of the recovery.
    pub(super) entering: bool,
}

impl Bbr1 {
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        self.controls.set_pacing_rate(gain * self.bandwidth(), self.full_pipe.filled);
    }

    /// 4.2.2.
    pub(super) fn set_send_quantum(&mut self) {
        let packet = self.controls.packet();
        self.controls.send_quantum = if self.controls.pacing_rate < 1.2e6 {
            packet
        } else if self.controls.pacing_rate < 24e6 {
            2 * packet
        } else {
            ((self.controls.pacing_rate / 8000.0) as u64).min(64 * 1024).max(packet)
        };
    }

    pub(super) fn set_cwnd(&mut self, ack: &AckSample<'_>) {
        let (packet, acked) = (self.controls.packet(), ack.acked_bytes);
        let target = self.inflight(self.controls.cwnd_gain);
        if ack.lost_bytes > 0 {
            self.controls.cwnd = self.controls.cwnd.saturating_sub(ack.lost_bytes).max(packet);
        }
        if std::mem::take(&mut self.recovery.entering) {
            self.controls.cwnd = ack.bytes_in_flight + acked.max(packet);
        }
        if self.recovery.conserving {
            self.controls.cwnd = self.controls.cwnd.max(ack.bytes_in_flight + acked);
        } else {
            if self.full_pipe.filled {
                self.controls.cwnd = (self.controls.cwnd + acked).min(target);
            } else if self.controls.cwnd < target || ack.delivered < self.controls.setup.initial_window {
                self.controls.cwnd += acked;
            }
            self.controls.cwnd = self.controls.cwnd.max(self.min_pipe_cwnd());
        }
        if self.state == State::ProbeRtt {
            self.controls.cwnd = self.controls.cwnd.min(self.min_pipe_cwnd());
        }
    }

    pub(super) fn save_cwnd(&mut self) {
        self.controls.save_cwnd(self.recovery.until.is_some() || self.state == State::ProbeRtt);
    }

    /// Losses or marks begin a recovery, or prolong the one in progress.
    pub(super) fn enter_recovery(&mut self, now: Time) {
        if self.recovery.until.is_none() {
            self.save_cwnd();
            self.recovery = Recovery { until: None, conserving: true, entering: true };
        }
        self.recovery.until = Some(now);
    }

    /// A packet was acknowledged; if it was sent after the last loss, all losses are repaired.
    pub(super) fn leave_recovery(&mut self, newest_sent_at: Time) {
        if self.recovery.until.is_some_and(|until| newest_sent_at > until) {
            self.recovery = Recovery::default();
            self.controls.restore_cwnd();
        }
    }
}
