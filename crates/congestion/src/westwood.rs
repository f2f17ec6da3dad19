//! Westwood+ (Grieco and Mascolo 2004): after a loss the window becomes the product of measured bandwidth and minimum
//! RTT.

use crate::additive::{Additive, Increase};
use crate::basis::{Basis, WindowOptions};
use crate::reno::Reno;
use crate::round::Rounds;
use crate::slow_start::{SlowStart, SlowStartOptions};
use crate::window_pacing::PacingOptions;
use crate::{AckSample, Allowance, Controller, Sent, Setup, Signal};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Time};

/// The options of Westwood.
#[derive(Debug, Clone, Options)]
struct WestwoodOptions {
    /// weight of the old estimate in the low-pass filter of the bandwidth (Grieco and Mascolo 2004: 0.9)
    #[option(default = 0.9, within = 0.0..=0.999)]
    alpha: f64,
    /// minimum time between two bandwidth samples if the RTT is shorter (Linux: 50 ms)
    #[option(default = "50 ms")]
    interval: Duration,
    #[options]
    window: WindowOptions,
    #[options]
    pacing: PacingOptions,
    #[options]
    slow_start: SlowStartOptions,
}

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "westwood",
    about: "Westwood+: NewReno, but a loss sets the window to the measured bandwidth times the minimum RTT (Grieco and Mascolo 2004)",
    parameters: WestwoodOptions::PARAMETERS,
    build: &|arguments, setup| Box::new(Westwood::new(arguments, setup)),
};

/// The state of one Westwood+ sender.
#[derive(Debug)]
pub struct Westwood {
    bandwidth: Bandwidth,
    reno: Reno,
}

/// The bandwidth estimate, with one sample per round trip.
#[derive(Debug)]
struct Bandwidth {
    alpha: f64,
    interval: Duration,
    rounds: Rounds,
    /// When the current sample began, and the bytes delivered by then.
    since: Option<(Time, u64)>,
    /// Bytes per second.
    estimate: Option<f64>,
    least_rtt: Duration,
}

impl Bandwidth {
    #[inline]
    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.least_rtt = ack.rtt.min();
        let over = self.rounds.on_ack(ack);
        let Some((since, before)) = self.since else {
            self.since = Some((ack.now, ack.delivered));
            return;
        };
        let span = ack.now.since(since);
        if !over || span < self.interval || span.is_zero() {
            return;
        }
        // b_k = d_k / Delta_k, with a first-order low-pass filter.
        debug_assert!(before <= ack.delivered, "the count of delivered bytes does not fall");
        let sample = (ack.delivered - before) as f64 / span.as_secs_f64();
        let old = self.estimate.unwrap_or(sample);
        self.estimate = Some(self.alpha * old + (1.0 - self.alpha) * sample);
        self.since = Some((ack.now, ack.delivered));
    }
    /// The product of estimated bandwidth and minimum RTT, in bytes.
    fn product(&self) -> Option<u64> {
        self.estimate.map(|rate| (rate * self.least_rtt.as_secs_f64()) as u64)
    }
}

impl Westwood {
    /// Creates a sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> Westwood {
        let options = WestwoodOptions::of(arguments);
        let basis = Basis::new(&options.window, &options.pacing, setup);
        let bandwidth = Bandwidth {
            alpha: options.alpha,
            interval: options.interval,
            rounds: Rounds::new(),
            since: None,
            estimate: None,
            least_rtt: Duration::ZERO,
        };
        let slow_start = SlowStart::new(&options.slow_start, basis.is_paced());
        Westwood { bandwidth, reno: Reno::new(basis, slow_start, Additive::new(Increase::Exact)) }
    }

    fn on_congestion(&mut self, now: Time, newest_sent_at: Time) {
        if !self.reno.basis.recovery.begin(now, newest_sent_at) {
            return;
        }
        // "ssthresh = BWE * RTTmin / seg_size; if cwin > ssthresh then cwin = ssthresh". Half the window before the
        // first measurement.
        self.reno.reduce(self.bandwidth.product().unwrap_or(self.reno.window / 2));
    }
}

impl Controller for Westwood {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.bandwidth.on_ack(ack);
        if self.reno.basis.on_ack(ack) {
            self.reno.grow(ack);
        }
        self.reno.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            // RFC 9002 section 7.1: a mark counts as a loss.
            Signal::Lost { now, newest_sent_at, .. } | Signal::Marked { now, newest_sent_at, .. } => {
                self.on_congestion(now, newest_sent_at);
            }
            Signal::PathChanged => {
                self.bandwidth.rounds.restart(self.reno.basis.delivered);
                (self.bandwidth.since, self.bandwidth.estimate) = (None, None);
            }
            // After persistent congestion "ssthresh = BWE * RTTmin; cwin = 1": the threshold was set with the loss.
            _ => {}
        }
        self.reno.on_signal(signal);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.reno.allowance()
    }
    fn ssthresh(&self) -> Option<u64> {
        self.reno.ssthresh()
    }
    fn state(&self) -> &'static str {
        self.reno.state()
    }
    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if let Some(rate) = self.bandwidth.estimate {
            record("westwood_bandwidth_bps", rate * 8.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RttEstimate;
    use crate::testing::{Ack, SETUP, arguments, at, lose, mark, ms};
    use units::parameter::Value;

    fn sender(changes: &[(&'static str, Value)]) -> Westwood {
        Westwood::new(&arguments(WestwoodOptions::PARAMETERS, changes), SETUP)
    }

    /// Rounds of 100 ms, each delivering this many bytes, with an RTT of `rtt` milliseconds.
    fn steady(s: &mut Westwood, from: u64, rounds: u64, bytes: u64, rtt: u64) -> u64 {
        let mut estimate = RttEstimate::new(ms(100));
        estimate.update(ms(rtt), Duration::ZERO);
        let mut delivered = s.reno.basis.delivered;
        for round in 0..rounds {
            let before = delivered;
            delivered += bytes;
            let ack = Ack { delivered: (before, delivered), ..Ack::new(at(from + 100 * round), bytes) };
            ack.tell_with(s, &estimate);
        }
        from + 100 * rounds
    }

    /// BWE = 50 kB per 100 ms; RTTmin = 80 ms: 40 kB.
    #[test]
    fn a_loss_leaves_what_the_bandwidth_fills_in_the_least_rtt() {
        let mut s = sender(&[]);
        let now = steady(&mut s, 1000, 10, 50_000, 80);
        assert_eq!(s.allowance().window, 510_000);
        lose(&mut s, at(now), at(now - 50), 1);
        assert!((39_999..=40_000).contains(&s.allowance().window), "{}", s.allowance().window);
        assert_eq!(s.state(), "recovery");
        lose(&mut s, at(now + 1), at(now - 40), 1);
        assert!(s.allowance().window >= 39_999, "once in a round trip");
        let mut t = sender(&[]);
        let now = steady(&mut t, 1000, 10, 50_000, 80);
        mark(&mut t, at(now), at(now - 50));
        assert_eq!(t.allowance().window, s.allowance().window, "a mark is a loss");
    }

    /// b = 0.9 b + 0.1 sample.
    #[test]
    fn the_filter_follows_a_change_by_a_tenth_in_each_round() {
        let mut s = sender(&[]);
        let now = steady(&mut s, 1000, 5, 50_000, 80);
        steady(&mut s, now, 3, 20_000, 80);
        let expected = 200_000.0 + 300_000.0 * 0.9_f64 * 0.9 * 0.9;
        assert!((s.bandwidth.estimate.unwrap() - expected).abs() < 1e-6);
    }

    #[test]
    fn samples_are_at_least_an_interval_apart() {
        let mut s = sender(&[("interval", Value::Duration(ms(1000)))]);
        steady(&mut s, 1000, 10, 50_000, 80);
        assert_eq!(s.bandwidth.estimate, None);
        steady(&mut s, 2000, 1, 50_000, 80);
        assert_eq!(s.bandwidth.estimate, Some(500_000.0));
    }

    /// If the product exceeds the window, the window stays and slow start continues up to the product.
    #[test]
    fn a_loss_never_widens_the_window_and_without_a_measure_it_halves() {
        let mut s = sender(&[]);
        lose(&mut s, at(10), at(5), 1);
        assert_eq!(s.allowance().window, 5_000);
        let now = steady(&mut s, 1000, 3, 5_000, 80);
        s.reno.window = 3_000;
        lose(&mut s, at(now), at(now - 50), 1);
        assert_eq!((s.allowance().window, s.ssthresh().map(|s| s.div_ceil(1000))), (3_000, Some(4)));
        s.on_signal(&Signal::PersistentCongestion);
        assert_eq!(s.allowance().window, 2_000);
    }
}
