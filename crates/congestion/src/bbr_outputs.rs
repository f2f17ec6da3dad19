//! The outputs of both BBRs: the sender's allowance, and the gauges of the model.

use crate::{Allowance, Setup};
use units::{Duration, Rate};

/// The control parameters of both BBRs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Controls {
    /// The congestion window in bytes.
    pub(crate) cwnd: u64,
    /// In bit/s.
    pub(crate) pacing_rate: f64,
    /// The maximum number of bytes sent at once.
    pub(crate) send_quantum: u64,
}

impl Controls {
    /// The sender's allowance.
    #[inline]
    pub(crate) fn allowance(self, setup: &Setup) -> Allowance {
        // RFC 9002 section 7.2: the minimum window is two packets, even after a retransmission timeout.
        let window = self.cwnd.max(2 * setup.max_datagram_size);
        let pacing = Rate::from_bits_per_sec((self.pacing_rate as u64).max(1));
        Allowance { window, pacing: Some(pacing), quantum: Some(self.send_quantum) }
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
        let controls = Controls { cwnd: 1200, pacing_rate: 0.0, send_quantum: 1200 };
        let rate = |bits| Some(Rate::from_bits_per_sec(bits));
        assert_eq!(
            controls.allowance(&setup),
            Allowance { window: 2400, pacing: rate(1), quantum: Some(1200) }
        );
        let controls = Controls { cwnd: 50_000, pacing_rate: 8e6, send_quantum: 2400 };
        assert_eq!(
            controls.allowance(&setup),
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
