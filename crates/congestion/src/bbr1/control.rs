//! Control parameters (section 4.2): pacing rate, quantum and window, and the window in recovery.

use super::Bbr1;
use super::phases::State;
use crate::AckSample;
use crate::bbr_outputs::Controls;
use units::{Duration, Rate, Size, Time};

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
    pub(super) fn init_pacing_rate(&mut self, rtt: Duration) {
        let span = if rtt.is_zero() { Duration::from_millis(1) } else { rtt };
        let nominal = Rate::of(Size::from_bytes(self.setup.initial_window), span).as_bits_per_sec();
        self.pacing_rate = self.options.high_gain * nominal as f64;
    }

    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth();
        if self.full_pipe.filled && rate > 0.0 || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
        // RFC 9959 appendix B: "the larger of the nominal pacing rate [...] or the calculated probing rate".
        self.pacing_rate = self.pacing_rate.max(self.resuming.rate());
        debug_assert!(self.pacing_rate.is_finite(), "a pacing rate is a number of bits per second");
    }

    /// 4.2.2.
    pub(super) fn set_send_quantum(&mut self) {
        let packet = self.packet();
        self.send_quantum = if self.pacing_rate < 1.2e6 {
            packet
        } else if self.pacing_rate < 24e6 {
            2 * packet
        } else {
            ((self.pacing_rate / 8000.0) as u64).min(64 * 1024).max(packet)
        };
    }

    pub(super) fn set_cwnd(&mut self, ack: &AckSample<'_>) {
        let (packet, acked) = (self.packet(), ack.acked_bytes);
        let target = self.inflight(self.cwnd_gain);
        if ack.lost_bytes > 0 {
            self.cwnd = self.cwnd.saturating_sub(ack.lost_bytes).max(packet);
        }
        if std::mem::take(&mut self.recovery.entering) {
            self.cwnd = ack.bytes_in_flight + acked.max(packet);
        }
        if self.recovery.conserving {
            self.cwnd = self.cwnd.max(ack.bytes_in_flight + acked);
        } else {
            if self.full_pipe.filled {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || ack.delivered < self.setup.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.min_pipe_cwnd());
        }
    }

    pub(super) fn save_cwnd(&mut self) {
        let kept =
            if self.recovery.until.is_none() && self.state != State::ProbeRtt { 0 } else { self.prior_cwnd };
        self.prior_cwnd = kept.max(self.cwnd);
    }

    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
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
            self.restore_cwnd();
        }
    }

    pub(super) fn allow(&mut self) {
        let Bbr1 { cwnd, pacing_rate, send_quantum, .. } = *self;
        self.allowance = Controls { cwnd, pacing_rate, send_quantum }.allowance(&self.setup);
    }
}
