//! The model of the path (section 4.1): the bottleneck bandwidth and the minimum RTT.

use super::Bbr1;
use crate::{AckSample, RateSample};
use units::{Duration, Rate, Time};

impl Bbr1 {
    pub(super) fn bandwidth(&self) -> f64 {
        self.bandwidths.get() as f64
    }

    /// The bytes in flight for this multiple of the estimated bandwidth-delay product, plus an allowance for the end
    /// hosts.
    pub(super) fn inflight(&self, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return self.controls.setup.initial_window };
        let product = self.bandwidth().max(self.controls.resuming.rate()) * min_rtt.as_secs_f64() / 8.0;
        (gain * product) as u64 + self.options.quanta * self.controls.send_quantum
    }

    pub(super) fn update_bandwidth(&mut self, ack: &AckSample<'_>, sample: &RateSample, app_limited: bool) {
        self.round.update(sample.prior_delivered, ack.delivered);
        if self.round.start {
            // 4.2.3.4: for one round trip.
            self.recovery.conserving = false;
        }
        if self.controls.resuming.discards_rates() {
            return;
        }
        let Some(rate) = sample.rate.map(Rate::as_bits_per_sec) else { return };
        // 4.1.2.4: an application-limited sample can only raise the estimate.
        if rate >= self.bandwidths.get() || !app_limited {
            self.bandwidths.update(self.options.bandwidth_window, self.round.count, rate);
        }
    }

    /// `BBRUpdateRTprop()`; without a sample the minimum RTT is unchanged. Returns whether the minimum had expired.
    pub(super) fn update_min_rtt(&mut self, now: Time, sample: Option<Duration>) -> bool {
        let expired = self.min_rtt.is_some() && now > self.min_rtt_stamp + self.options.min_rtt_window;
        let Some(sample) = sample else { return expired };
        if self.min_rtt.is_none() {
            // 4.2.1: paced by the first RTT until the bandwidth is known.
            self.controls.init_pacing_rate(self.options.high_gain, sample);
        }
        if expired || self.min_rtt.is_none_or(|known| sample <= known) {
            self.min_rtt = Some(sample);
            self.min_rtt_stamp = now;
        }
        expired
    }
}
