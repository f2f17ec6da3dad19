//! The outputs of both BBRs: the control parameters and the allowance that follows from them, and the gauges of the
//! model. Section numbers are those of draft-ietf-ccwg-bbr-06.

use crate::resume::bbr::CarefullyResuming;
use crate::{Allowance, Setup};
use units::{Duration, Rate, Size};

/// The control parameters of both BBRs (2.4).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Controls {
    pub(crate) setup: Setup,
    pub(crate) pacing_gain: f64,
    pub(crate) cwnd_gain: f64,
    /// In bit/s.
    pub(crate) pacing_rate: f64,
    /// The maximum number of bytes sent at once.
    pub(crate) send_quantum: u64,
    /// The congestion window in bytes.
    pub(crate) cwnd: u64,
    prior_cwnd: u64,
    pub(crate) resuming: CarefullyResuming,
    pub(crate) allowance: Allowance,
}

impl Controls {
    /// Those of a connection without a sample, by the gains of Startup: before the first one, it sends the initial window
    /// in a millisecond.
    pub(crate) fn new(setup: Setup, pacing_gain: f64, cwnd_gain: f64) -> Controls {
        let mut controls = Controls {
            setup,
            pacing_gain,
            cwnd_gain,
            pacing_rate: 0.0,
            send_quantum: 0,
            cwnd: setup.initial_window,
            prior_cwnd: 0,
            resuming: CarefullyResuming::default(),
            allowance: Allowance::new(0, None),
        };
        controls.init_pacing_rate(pacing_gain, Duration::ZERO);
        controls
    }

    /// The size of a full packet in bytes.
    pub(crate) fn packet(&self) -> u64 {
        self.setup.max_datagram_size
    }

    /// `InitPacingRate()` (5.6.2): by the gain of Startup, and a millisecond for an RTT of zero.
    pub(crate) fn init_pacing_rate(&mut self, gain: f64, rtt: Duration) {
        let span = if rtt.is_zero() { Duration::from_millis(1) } else { rtt };
        let nominal = Rate::of(Size::from_bytes(self.setup.initial_window), span).as_bits_per_sec();
        self.pacing_rate = gain * nominal as f64;
    }

    /// `SetPacingRateWithGain()` (5.6.2): paces at this rate in bit/s, which only increases until the pipe is full. Without
    /// a sample there is no bandwidth to pace by.
    #[inline]
    pub(crate) fn set_pacing_rate(&mut self, rate: f64, full_pipe: bool) {
        if full_pipe && rate > 0.0 || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
        // RFC 9959 appendix B: "the larger of the nominal pacing rate [...] or the calculated probing rate".
        self.pacing_rate = self.pacing_rate.max(self.resuming.rate());
        debug_assert!(self.pacing_rate.is_finite(), "a pacing rate is a number of bits per second");
    }

    /// Ends Careful Resume when its rounds are over, or the Drain state after its retreat.
    #[inline]
    pub(crate) fn end_resuming(&mut self, round: u64, drains: bool, full_pipe: bool) {
        if self.resuming.ends(round, drains) && !full_pipe {
            // The measured rate is the nominal one again.
            self.pacing_rate = 0.0;
        }
    }

    /// `SaveCwnd()` (5.6.4.4); `modulated`: whether recovery or ProbeRTT has reduced the window already.
    pub(crate) fn save_cwnd(&mut self, modulated: bool) {
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// `RestoreCwnd()` (5.6.4.4).
    pub(crate) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// Computes the allowance, after a change of any parameter.
    #[inline]
    pub(crate) fn allow(&mut self) {
        // RFC 9002 section 7.2: the minimum window is two packets, even after a retransmission timeout.
        let window = self.cwnd.max(2 * self.packet());
        let pacing = Rate::from_bits_per_sec((self.pacing_rate as u64).max(1));
        self.allowance = Allowance { window, pacing: Some(pacing), quantum: Some(self.send_quantum) };
    }
}

/// The model of the path in both BBRs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Model {
    /// The maximum delivery rate in bit/s.
    pub(crate) max_bw: f64,
    pub(crate) min_rtt: Option<Duration>,
    pub(crate) pacing_gain: f64,
    pub(crate) cwnd_gain: f64,
    /// Round trips so far.
    pub(crate) round_count: u64,
}

impl Model {
    /// The gauges of the model; unknown values are omitted.
    pub(crate) fn record(self, record: &mut dyn FnMut(&'static str, f64)) {
        record("max_bw_mbps", self.max_bw / 1e6);
        if let Some(min_rtt) = self.min_rtt {
            record("model_min_rtt_ms", min_rtt.as_secs_f64() * 1e3);
        }
        record("pacing_gain", self.pacing_gain);
        record("cwnd_gain", self.cwnd_gain);
        record("round_count", self.round_count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9002 section 7.2.
    #[test]
    fn the_window_is_two_packets_at_least_and_the_pace_is_never_nothing() {
        let setup = Setup {
            max_datagram_size: 1200,
            initial_window: 12_000,
            initial_packets: Some(10),
            initial_rtt: Duration::ZERO,
            seed: 0,
        };
        let allowance = |cwnd, pacing_rate, send_quantum| {
            let mut controls = Controls { cwnd, pacing_rate, send_quantum, ..Controls::new(setup, 2.0, 2.0) };
            controls.allow();
            controls.allowance
        };
        let rate = |bits| Some(Rate::from_bits_per_sec(bits));
        assert_eq!(
            allowance(1200, 0.0, 1200),
            Allowance { window: 2400, pacing: rate(1), quantum: Some(1200) }
        );
        assert_eq!(
            allowance(50_000, 8e6, 2400),
            Allowance { window: 50_000, pacing: rate(8_000_000), quantum: Some(2400) }
        );
    }

    #[test]
    fn what_is_not_known_has_no_gauge() {
        let model = Model { max_bw: 2e6, min_rtt: None, pacing_gain: 1.25, cwnd_gain: 2.0, round_count: 7 };
        let names = |model: Model| {
            let mut gauges = Vec::new();
            model.record(&mut |name, value| gauges.push((name, value)));
            gauges
        };
        let known = [("max_bw_mbps", 2.0), ("pacing_gain", 1.25), ("cwnd_gain", 2.0), ("round_count", 7.0)];
        assert_eq!(names(model), known);
        let model = Model { min_rtt: Some(Duration::from_millis(3)), ..model };
        assert_eq!(names(model)[1], ("model_min_rtt_ms", 3.0));
    }
}
