//! The model of the path: bandwidth, minimum RTT, aggregation, and quantities derived from them (5.5).

use super::Bbr3;
use super::state::{INFINITY, State};
use units::Duration;

impl Bbr3 {
    // ---- 5.5.10.3: deliveries in the latest round trip ----

    /// `UpdateLatestDeliverySignals()`.
    pub(super) fn update_latest_delivery_signals(&mut self) {
        let (latest, sample) = (&mut self.latest, &self.sample);
        latest.round_start = false;
        latest.bw = latest.bw.max(sample.delivery_rate);
        latest.inflight = latest.inflight.max(sample.delivered);
        if sample.prior_delivered >= latest.round_delivered {
            latest.round_delivered = self.delivered;
            latest.round_start = true;
        }
    }

    /// `AdvanceLatestDeliverySignals()`.
    pub(super) fn advance_latest_delivery_signals(&mut self) {
        if self.latest.round_start {
            self.latest.bw = self.sample.delivery_rate;
            self.latest.inflight = self.sample.delivered;
            self.latest.ranges = 0;
            self.latest.marked = 0;
        }
    }

    /// `ResetCongestionSignals()`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.latest.is_loss_in_round = false;
        self.latest.bw = 0;
        self.latest.inflight = 0;
    }

    /// `UpdateCongestionSignals()`.
    pub(super) fn update_congestion_signals(&mut self) {
        self.update_max_bw();
        self.latest.was_loss_in_round = false;
        if !self.latest.round_start {
            return;
        }
        self.adapt_lower_bounds_from_congestion();
        self.latest.was_loss_in_round = std::mem::take(&mut self.latest.is_loss_in_round);
    }

    // ---- 5.5.1 and 5.5.5: rounds and bandwidth ----

    /// `UpdateRound()`.
    fn update_round(&mut self) {
        self.rounds.update(self.sample.prior_delivered, self.delivered);
        if self.rounds.start {
            self.cycle.rounds_since_up += 1;
            self.cwnd_limited.on_round();
        }
    }

    /// `UpdateMaxBw()`: an application-limited sample can only raise the estimate (5.5.4).
    fn update_max_bw(&mut self) {
        self.update_round();
        let rate = self.sample.delivery_rate;
        if self.controls.resuming.discards_rates() {
            return;
        }
        if rate > 0 && (rate >= self.max_bw.get() || !self.sample.app_limited) {
            self.max_bw.update(rate);
        }
    }

    /// `BoundBWForModel()`.
    pub(super) fn bound_bw_for_model(&mut self) {
        self.bw = self.max_bw.get().min(self.bounds.bw_shortterm);
    }

    // ---- 5.5.9: aggregation ----

    /// `UpdateACKAggregation()`.
    pub(super) fn update_ack_aggregation(&mut self) {
        let interval = self.now.since(self.extra_acked.interval_start);
        let mut expected = self.volume(self.bw, interval);
        if self.extra_acked.delivered <= expected {
            self.extra_acked.delivered = 0;
            self.extra_acked.interval_start = self.now;
            expected = 0;
        }
        self.extra_acked.delivered += self.sample.newly_acked;
        let extra = self.extra_acked.delivered.saturating_sub(expected).min(self.controls.cwnd);
        let window = if self.full_bw.reached { self.options.extra_acked_filter_len } else { 1 };
        self.extra_acked.filter.update(window, self.rounds.count, extra);
    }

    // ---- 5.3.4.3: the minimum RTT ----

    /// `UpdateMinRTT()`; without a sample the minimum RTT is unchanged.
    pub(super) fn update_min_rtt(&mut self, sample: Option<Duration>) {
        let min_rtt = &mut self.min_rtt;
        let Some(known) = min_rtt.value else {
            let Some(rtt) = sample else { return };
            *min_rtt = super::MinRtt {
                value: Some(rtt),
                stamp: self.now,
                probe_delay: rtt,
                probe_stamp: self.now,
                ..Default::default()
            };
            // 5.6.2: paced by the first RTT until the bandwidth is known.
            self.controls.init_pacing_rate(self.options.startup_pacing_gain, rtt);
            return;
        };
        min_rtt.expired = self.now > min_rtt.probe_stamp + self.options.probe_rtt_interval;
        if let Some(rtt) = sample.filter(|rtt| *rtt < min_rtt.probe_delay || min_rtt.expired) {
            min_rtt.probe_delay = rtt;
            min_rtt.probe_stamp = self.now;
        }
        if min_rtt.probe_delay < known || self.now > min_rtt.stamp + self.options.min_rtt_filter_len {
            min_rtt.value = Some(min_rtt.probe_delay);
            min_rtt.stamp = min_rtt.probe_stamp;
        }
    }

    // ---- 5.6.4.2: the target for bytes in flight ----

    /// The bytes delivered at this bandwidth in this time.
    #[inline]
    fn volume(&self, bw: u64, span: Duration) -> u64 {
        (bw as f64 * span.as_nanos() as f64 / 8e9) as u64
    }

    /// BBR.bdp.
    pub(super) fn bdp(&self) -> u64 {
        self.bdp_multiple(self.bw, 1.0)
    }

    /// `BDPMultiple(gain)`, at this bandwidth.
    #[inline]
    pub(super) fn bdp_multiple(&self, bw: u64, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt.value else { return self.controls.setup.initial_window };
        (gain * self.volume(bw, min_rtt) as f64) as u64
    }

    /// `QuantizationBudget()`.
    fn quantization_budget(&self, inflight_cap: u64) -> u64 {
        // 5.5.8.2.
        let offload_budget = self.options.offload_quanta * self.controls.send_quantum;
        let cap = inflight_cap.max(offload_budget).max(self.min_pipe_cwnd());
        if self.state == State::ProbeBwUp { cap.saturating_add(2 * self.controls.packet()) } else { cap }
    }

    /// `Inflight(bw, gain)`.
    pub(super) fn inflight(&self, bw: u64, gain: f64) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// `UpdateMaxInflight()`.
    pub(super) fn update_max_inflight(&mut self) {
        let cap =
            self.bdp_multiple(self.bw, self.controls.cwnd_gain).saturating_add(self.extra_acked.filter.get());
        self.max_inflight = self.quantization_budget(cap);
    }

    /// `TargetInflight()`.
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp().min(self.controls.cwnd)
    }

    /// `InflightWithHeadroom()`.
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let longterm = self.bounds.inflight_longterm;
        if longterm == INFINITY {
            return INFINITY;
        }
        let headroom = ((self.options.headroom * longterm as f64) as u64).max(self.controls.packet());
        longterm.saturating_sub(headroom).max(self.min_pipe_cwnd())
    }
}
