//! CUBIC's response to congestion (RFC 9438 sections 4.6 to 4.9): one reduction per round trip, and its reversal.

use super::Cubic;
use super::curve::Curve;
use crate::recovery_period::RecoveryPeriod;
use crate::slow_start::SlowStart;
use units::Time;

/// The last reduction, while it may still prove wrong.
#[derive(Debug)]
pub(super) struct Undo {
    before: Curve,
    slow_start: SlowStart,
    /// Packets sent up to here belong to an earlier reduction.
    since: Option<Time>,
    /// Lost packets that were not acknowledged.
    missing: u64,
}

impl Undo {
    /// Whether a packet sent at this time was sent after the previous reduction.
    fn follows(&self, sent_at: Time) -> bool {
        self.since.is_none_or(|since| sent_at > since)
    }
}

impl Cubic {
    /// Sections 4.6 and 4.7, once per round trip.
    pub(super) fn congestion_event(&mut self, now: Time, newest_sent_at: Time, beta: f64) {
        let (before, slow_start, since) = (self.curve, self.slow_start, self.basis.recovery.start());
        if !self.basis.recovery.begin(now, newest_sent_at) {
            return;
        }
        self.undo = self.options.spurious_undo.then_some(Undo { before, slow_start, since, missing: 0 });
        self.slow_start.stop();
        self.unused_since = None;
        let curve = &mut self.curve;
        let before = curve.cwnd;
        let shrinking = curve.w_max.is_some_and(|w_max| before < w_max);
        // Section 4.7: "W_max = cwnd * (1 + beta_cubic) / 2".
        let share =
            if self.options.fast_convergence && shrinking { (1.0 + self.options.beta) / 2.0 } else { 1.0 };
        curve.w_max = Some(before * share);
        curve.cwnd_prior = before;
        curve.epoch = None;
        curve.ssthresh = (before * beta).max(self.basis.minimum() as f64);
        curve.cwnd = curve.ssthresh;
        debug_assert!(curve.w_max.is_some_and(|w_max| w_max > 0.0), "the plateau is that of a window");
    }

    pub(super) fn on_lost(&mut self, now: Time, newest_sent_at: Time, packets: u64) {
        self.congestion_event(now, newest_sent_at, self.options.beta);
        if let Some(undo) = self.undo.as_mut().filter(|undo| undo.follows(newest_sent_at)) {
            undo.missing += packets;
        }
    }

    pub(super) fn on_marked(&mut self, now: Time, newest_sent_at: Time) {
        self.congestion_event(now, newest_sent_at, self.options.marks.beta_ecn(self.options.beta));
        // A mark is never spurious, so there is nothing to undo.
        self.undo = None;
    }

    /// Section 4.9: when no packet counts as lost any more, the reduction is reversed.
    pub(super) fn on_spurious(&mut self, newest_sent_at: Time, packets: u64) {
        let covered = self.basis.recovery.covers(newest_sent_at);
        let Some(undo) = self.undo.as_mut().filter(|undo| covered && undo.follows(newest_sent_at)) else {
            return;
        };
        undo.missing = undo.missing.saturating_sub(packets);
        if undo.missing > 0 {
            return;
        }
        // Section 4.9.2: only "if the current cwnd is lower than cwnd_prior".
        if let Some(undo) = self.undo.take_if(|undo| self.curve.cwnd < undo.before.cwnd) {
            self.curve = undo.before;
            self.slow_start = undo.slow_start;
            self.basis.recovery.end();
        }
        self.undo = None;
    }

    /// Section 4.8: as after a retransmission timeout.
    pub(super) fn collapse(&mut self) {
        self.curve.cwnd = self.basis.minimum() as f64;
        self.curve.w_max = None;
        self.curve.epoch = None;
        self.undo = None;
        self.unused_since = None;
        self.basis.recovery = RecoveryPeriod::default();
    }
}
