//! The effects of losses and CE marks on the model, and their reversal after spurious losses (5.5.10, 5.5.11, 3.7).

use super::Bbr3;
use super::state::{INFINITY, Sample, State};
use crate::LostPacket;
use units::Time;

impl Bbr3 {
    // ---- 5.6.4.4: recovery ----

    /// Whether packets sent at this time belong to the current recovery.
    fn in_recovery(&self, sent_at: Time) -> bool {
        self.recovery.since.is_some_and(|since| sent_at <= since)
    }

    /// `OnEnterFastRecovery()`, unless a recovery is in progress.
    pub(super) fn enter_recovery(&mut self, newest_sent_at: Time) {
        if self.in_recovery(newest_sent_at) {
            return;
        }
        self.save_state_upon_loss();
        self.recovery.since = Some(self.now);
        self.recovery.missing = 0;
        self.recovery.oldest = Time::NEVER;
    }

    /// A packet was acknowledged; if it was sent during recovery, the recovery ends.
    pub(super) fn leave_recovery(&mut self, newest_sent_at: Time) {
        if self.recovery.since.is_some_and(|since| newest_sent_at > since) {
            self.recovery.since = None;
            self.controls.restore_cwnd();
        }
    }

    /// `OnEnterRTO()`: persistent congestion in QUIC takes the place of a retransmission timeout. Its losses were
    /// reported earlier, and the state was saved with the first of them.
    pub(super) fn enter_rto(&mut self) {
        if self.recovery.since.is_none() {
            self.save_state_upon_loss();
        }
        self.controls.cwnd =
            self.in_flight.saturating_add(self.controls.packet()).max(2 * self.controls.packet());
    }

    // ---- 5.5.10.2: each lost packet ----

    /// `NoteLoss()`, at this count of delivered bytes. The state was saved when the recovery began (5.5.11.1). Saving
    /// it with the first loss of each round trip, as in the pseudocode, would save changes made by the recovery
    /// itself.
    fn note_loss(&mut self, delivered: u64) {
        if !self.latest.is_loss_in_round {
            self.latest.round_delivered = delivered;
        }
        self.latest.is_loss_in_round = true;
    }

    /// `HandleLostPacket()`.
    pub(super) fn handle_lost_packet(&mut self, packet: &LostPacket) {
        self.delivered = self.delivered.max(packet.delivered);
        self.recovery.missing += packet.bytes;
        self.recovery.oldest = self.recovery.oldest.min(packet.sent_at);
        if packet.sent.saturating_sub(packet.bytes) != self.latest.range_end || self.latest.ranges == 0 {
            // 5.3.1.3: only discontiguous ranges count.
            self.latest.ranges += 1;
        }
        self.latest.range_end = packet.sent;
        self.note_loss(packet.delivered);
        if !self.cycle.is_sample {
            return;
        }
        let sample = Sample {
            tx_in_flight: packet.in_flight,
            lost: packet.lost,
            app_limited: packet.app_limited || self.held_back.covers(packet.prior_delivered),
            ..self.sample
        };
        if self.is_inflight_too_high(&sample) {
            let tx_in_flight = self.inflight_at_loss(packet);
            self.handle_inflight_too_high(&Sample { tx_in_flight, ..sample });
        }
    }

    /// `IsInflightTooHigh()`: acknowledgements in QUIC are selective (2.2). CE-marked bytes of the round trip count
    /// as lost (3.7).
    pub(super) fn is_inflight_too_high(&self, sample: &Sample) -> bool {
        (sample.lost + self.latest.marked) as f64 > sample.tx_in_flight as f64 * self.options.loss_thresh
    }

    /// `HandleInflightTooHigh()`.
    fn handle_inflight_too_high(&mut self, sample: &Sample) {
        self.cycle.prev_too_high = true;
        // One reaction per probe.
        self.cycle.is_sample = false;
        if !sample.app_limited {
            let floor = (self.target_inflight() as f64 * self.options.beta) as u64;
            self.bounds.inflight_longterm = sample.tx_in_flight.max(floor);
        }
        if self.state == State::ProbeBwUp {
            self.recovery.undo_state = Some(State::ProbeBwUp);
            self.start_probe_bw_down();
        }
    }

    /// `InflightAtLoss()`: the bytes in flight at the point within this packet where losses exceeded the threshold.
    fn inflight_at_loss(&self, packet: &LostPacket) -> u64 {
        let thresh = self.options.loss_thresh;
        let inflight_prev = packet.in_flight.saturating_sub(packet.bytes) as f64;
        let lost_prev = packet.lost.saturating_sub(packet.bytes) as f64;
        let lost_prefix = (thresh * inflight_prev - lost_prev) / (1.0 - thresh);
        (inflight_prev + lost_prefix) as u64
    }

    // ---- 3.7: CE ----

    /// Marked packets signal congestion: the round trip counts as one with loss, and their bytes as lost.
    pub(super) fn handle_marked(&mut self, packets: u64, newest_sent_at: Time) {
        self.enter_recovery(newest_sent_at);
        // Unlike a loss, a mark cannot be spurious.
        self.recovery.missing = INFINITY / 2;
        self.latest.ranges += 1;
        self.latest.marked =
            packets.saturating_mul(self.controls.packet()).saturating_add(self.latest.marked).min(1 << 60);
        self.note_loss(self.delivered);
        let sample = Sample { tx_in_flight: self.in_flight, lost: 0, ..self.sample };
        if self.cycle.is_sample && self.is_inflight_too_high(&sample) {
            self.handle_inflight_too_high(&sample);
        }
    }

    // ---- 5.5.10.3: once per round trip ----

    /// `AdaptLowerBoundsFromCongestion()`.
    pub(super) fn adapt_lower_bounds_from_congestion(&mut self) {
        if self.state.probes_bandwidth() || !self.latest.is_loss_in_round {
            return;
        }
        // InitLowerBounds().
        let (max_bw, cwnd, beta) = (self.max_bw.get(), self.controls.cwnd, self.options.beta);
        let bounds = &mut self.bounds;
        if bounds.bw_shortterm == INFINITY {
            bounds.bw_shortterm = max_bw;
        }
        if bounds.inflight_shortterm == INFINITY {
            bounds.inflight_shortterm = cwnd;
        }
        // LossLowerBounds().
        bounds.bw_shortterm = self.latest.bw.max((beta * bounds.bw_shortterm as f64) as u64);
        bounds.inflight_shortterm =
            self.latest.inflight.max((beta * bounds.inflight_shortterm as f64) as u64);
    }

    /// `ResetShortTermModel()`.
    pub(super) fn reset_short_term_model(&mut self) {
        self.bounds.bw_shortterm = INFINITY;
        self.bounds.inflight_shortterm = INFINITY;
    }

    // ---- 5.5.11: undo ----

    /// `SaveStateUponLoss()`.
    fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.recovery.undo_state = None;
        self.recovery.undo = self.bounds;
    }

    /// Bytes that had been declared lost have arrived. When all of a recovery's have, the recovery was spurious.
    pub(super) fn handle_spurious(&mut self, bytes: u64, newest_sent_at: Time) {
        if self.recovery.missing == 0 || newest_sent_at < self.recovery.oldest {
            return;
        }
        self.recovery.missing = self.recovery.missing.saturating_sub(bytes);
        if self.recovery.missing == 0 {
            self.handle_spurious_loss_detection();
        }
    }

    /// `HandleSpuriousLossDetection()` (5.5.11.2).
    fn handle_spurious_loss_detection(&mut self) {
        self.controls.restore_cwnd();
        self.latest.is_loss_in_round = false;
        self.full_bw.reset(0);
        let undo = self.recovery.undo;
        let bounds = &mut self.bounds;
        bounds.bw_shortterm = bounds.bw_shortterm.max(undo.bw_shortterm);
        bounds.inflight_shortterm = bounds.inflight_shortterm.max(undo.inflight_shortterm);
        bounds.inflight_longterm = bounds.inflight_longterm.max(undo.inflight_longterm);
        match std::mem::take(&mut self.recovery).undo_state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw.reached = false;
                if self.state != State::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(State::ProbeBwUp) if self.state != State::ProbeBwUp && self.state != State::ProbeRtt => {
                self.start_probe_bw_refill();
            }
            _ => {}
        }
    }
}
