//! NewReno (RFC 9002 section 7 and appendix B).

use crate::additive::{Additive, Increase};
use crate::basis::{Basis, MarkOptions, WindowOptions};
use crate::reno::Reno;
use crate::slow_start::{SlowStart, SlowStartOptions};
use crate::window_pacing::PacingOptions;
use crate::{AckSample, Allowance, Controller, Sent, Setup, Signal};
use units::Time;
use units::parameter::{Arguments, Options, Row};

/// The options of NewReno.
#[derive(Debug, Clone, Options)]
struct NewRenoOptions {
    /// factor of the window after a loss: kLossReductionFactor (RFC 9002 B.1)
    #[option(default = 0.5, within = 0.1..=0.95)]
    beta: f64,
    #[options]
    marks: MarkOptions,
    #[options]
    window: WindowOptions,
    /// growth in congestion avoidance: by counting a window's bytes (RFC 5681 section 3.1), or packet by packet
    /// as in the pseudocode of RFC 9002 B.5
    #[option(default = "exact")]
    increase: Increase,
    #[options]
    pacing: PacingOptions,
    #[options]
    slow_start: SlowStartOptions,
}

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "newreno",
    about: "NewReno: slow start, additive increase, one halving per round trip (RFC 9002 section 7)",
    parameters: NewRenoOptions::PARAMETERS,
    build: &|arguments, setup| Box::new(NewReno::new(arguments, setup)),
};

/// The state of one NewReno sender.
#[derive(Debug)]
pub struct NewReno {
    /// The shares of the window kept after a loss and after a mark.
    beta: f64,
    beta_ecn: f64,
    reno: Reno,
}

impl NewReno {
    /// Creates a sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> NewReno {
        let options = NewRenoOptions::of(arguments);
        let basis = Basis::new(&options.window, &options.pacing, setup);
        let slow_start = SlowStart::new(&options.slow_start, basis.is_paced());
        NewReno {
            beta: options.beta,
            beta_ecn: options.marks.beta_ecn(options.beta),
            reno: Reno::new(basis, slow_start, Additive::new(options.increase)),
        }
    }

    /// B.6: once per round trip, regardless of the number of losses or marks.
    fn congestion_event(&mut self, now: Time, newest_sent_at: Time, beta: f64) {
        if !self.reno.basis.recovery.begin(now, newest_sent_at) {
            return;
        }
        self.reno.reduce((self.reno.window as f64 * beta) as u64);
    }
}

impl Controller for NewReno {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let pace_anew = self.reno.basis.hear(ack);
        let recovering = self.reno.basis.recovery.covers(ack.newest_sent_at);
        if recovering || ack.app_limited() {
            // 7.3.2: no growth in recovery; 7.8: none while the window is underused.
            if pace_anew {
                self.reno.allow();
            }
            return;
        }
        self.reno.basis.recovery.end();
        self.reno.grow(ack);
        self.reno.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, newest_sent_at, .. } => {
                self.congestion_event(now, newest_sent_at, self.beta);
            }
            Signal::Marked { now, newest_sent_at, .. } => {
                // 7.1: like a loss; RFC 8511 allows a smaller reduction.
                self.congestion_event(now, newest_sent_at, self.beta_ecn);
            }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::arguments;
    use crate::{Limit, RttEstimate};
    use units::parameter::Value;
    use units::{Duration, Rate};

    const SETUP: Setup = Setup {
        max_datagram_size: 1000,
        initial_window: 10_000,
        initial_packets: Some(10),
        initial_rtt: Duration::from_millis(333),
        seed: 0,
    };

    fn sender() -> NewReno {
        growing("exact")
    }
    fn growing(increase: &str) -> NewReno {
        let arguments =
            arguments(NewRenoOptions::PARAMETERS, &[("increase", Value::Text(increase.to_owned()))]);
        NewReno::new(&arguments, SETUP)
    }

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn ack(sender: &mut NewReno, now: u64, sent: u64, bytes: u64) {
        let mut rtt = RttEstimate::new(Duration::from_millis(333));
        rtt.update(Duration::from_millis(100), Duration::ZERO);
        sender.on_ack(&AckSample {
            now: at(now),
            acked_bytes: bytes,
            newest_sent_at: at(sent),
            oldest_sent_at: at(sent),
            bytes_in_flight: 0,
            prior_in_flight: bytes,
            lost_bytes: 0,
            acked_packets: bytes.div_ceil(1000),
            marked_packets: 0,
            delivered: bytes,
            limit: Limit::Window,
            rtt: &rtt,
            rtt_sample: Some(rtt.latest()),
            rate: None,
        });
    }

    fn lose(sender: &mut NewReno, now: u64, sent: u64) {
        sender.on_signal(&Signal::Lost {
            now: at(now),
            bytes: 1000,
            newest_sent_at: at(sent),
            bytes_in_flight: 0,
            packets: &[],
        });
    }

    /// RFC 9002 7.3.3: "at most one maximum datagram size for each congestion window that is acknowledged": bytes
    /// counted before a reduction do not count after it.
    #[test]
    fn the_count_of_a_window_begins_anew_with_a_reduction() {
        let mut sender = sender();
        lose(&mut sender, 100, 50);
        ack(&mut sender, 200, 150, 4999);
        assert_eq!(sender.allowance().window, 5000);
        lose(&mut sender, 300, 250);
        ack(&mut sender, 400, 350, 2499);
        assert_eq!(sender.allowance().window, 2500);
        ack(&mut sender, 400, 350, 1);
        assert_eq!(sender.allowance().window, 3500);
    }

    /// RFC 9002 B.5: congestion_window += max_datagram_size * acked_bytes / congestion_window, packet by packet.
    #[test]
    fn the_approximate_increase_falls_short_of_a_datagram_for_each_window() {
        let mut s = growing("approximate");
        lose(&mut s, 50, 40);
        assert_eq!(s.allowance().window, 5_000);
        // 5000 + 200, + 192, + 185, + 179, + 173.
        ack(&mut s, 100, 60, 5_000);
        assert_eq!(s.allowance().window, 5_929);
        ack(&mut s, 110, 70, 500);
        assert_eq!(s.allowance().window, 5_929 + 84);
    }

    #[test]
    fn slow_start_doubles_and_a_loss_halves_once_per_round_trip() {
        let mut s = sender();
        ack(&mut s, 100, 0, 10_000);
        assert_eq!((s.allowance().window, s.state()), (20_000, "slow_start"));
        assert_eq!(s.allowance().pacing, Some(Rate::from_bits_per_sec(2 * 20_000 * 8 * 10)));
        lose(&mut s, 200, 150);
        assert_eq!((s.allowance().window, s.ssthresh(), s.state()), (10_000, Some(10_000), "recovery"));
        lose(&mut s, 210, 199);
        assert_eq!(s.allowance().window, 10_000, "same recovery period");
        ack(&mut s, 250, 190, 5_000);
        assert_eq!(s.allowance().window, 10_000, "no growth in recovery");
        ack(&mut s, 350, 260, 9_999);
        assert_eq!((s.allowance().window, s.state()), (10_000, "congestion_avoidance"));
        ack(&mut s, 351, 261, 1);
        assert_eq!(s.allowance().window, 11_000);
        assert_eq!(s.allowance().pacing, Some(Rate::from_bits_per_sec(11_000 * 80 * 5 / 4)));
        lose(&mut s, 400, 390);
        assert_eq!(s.allowance().window, 5_500);
    }

    /// RFC 9002 appendix B.8: persistent congestion ends the recovery period ("congestion_recovery_start_time = 0"),
    /// so packets sent before the loss grow the window too.
    #[test]
    fn persistent_congestion_ends_the_recovery() {
        let mut sender = sender();
        lose(&mut sender, 100, 50);
        sender.on_signal(&Signal::PersistentCongestion);
        assert_eq!((sender.allowance().window, sender.state()), (2000, "slow_start"));
        ack(&mut sender, 150, 90, 500);
        assert_eq!(sender.allowance().window, 2500);
    }

    #[test]
    fn slow_start_stops_at_the_threshold() {
        let mut s = sender();
        lose(&mut s, 10, 5);
        lose(&mut s, 20, 15);
        s.on_signal(&Signal::PersistentCongestion);
        assert_eq!((s.allowance().window, s.ssthresh()), (2000, Some(2500)));
        ack(&mut s, 100, 50, 1000);
        assert_eq!(s.allowance().window, 2500, "500 in slow start, 500 kept for congestion avoidance");
        ack(&mut s, 101, 51, 2000);
        assert_eq!(s.allowance().window, 3500);
    }

    #[test]
    fn the_window_never_falls_below_the_minimum() {
        let mut s = sender();
        for i in 1..50 {
            lose(&mut s, 100 * i, 100 * i - 1);
            assert!(s.allowance().window >= 2000);
        }
    }

    /// RFC 9002 section 7.2.
    #[test]
    fn with_the_size_of_datagrams_grow_the_least_window_and_its_steps() {
        let mut sender = sender();
        sender.on_signal(&Signal::DatagramSize { bytes: 1500 });
        assert_eq!(sender.allowance().window, 10_000, "what is underway is what it was");
        sender.on_signal(&Signal::PersistentCongestion);
        assert_eq!(sender.allowance().window, 3000);
        sender.on_signal(&Signal::DatagramSize { bytes: 4500 });
        assert_eq!(sender.allowance().window, 9000);
        sender.on_signal(&Signal::PathChanged);
        assert_eq!(sender.allowance().window, 45_000);
    }

    /// RFC 9002 7.2: the initial window "SHOULD be recalculated with the new size", by the rule it came from.
    #[test]
    fn with_the_size_of_datagrams_the_first_window_follows_its_rule() {
        for (initial_packets, first) in [(None, 17_944), (Some(10), 89_720)] {
            let initial_window = crate::initial_window(initial_packets, 1200);
            assert_eq!(initial_window, 12_000);
            let setup = Setup { max_datagram_size: 1200, initial_window, initial_packets, ..SETUP };
            let mut sender = NewReno::new(&arguments(NewRenoOptions::PARAMETERS, &[]), setup);
            sender.on_signal(&Signal::DatagramSize { bytes: 8972 });
            assert_eq!(sender.allowance().window, 17_944, "the least window: two packets of this size");
            sender.on_signal(&Signal::PathChanged);
            assert_eq!(sender.allowance().window, first);
        }
    }

    /// RFC 8511: a mark reduces the window less than a loss, if configured; otherwise RFC 9002 section 7.1 applies.
    #[test]
    fn a_mark_counts_as_a_loss_unless_the_options_say_less() {
        for (beta_ecn, left) in [(None, 5_000), (Some(0.8), 8_000)] {
            let changes: Vec<_> =
                beta_ecn.map(|beta| ("beta_ecn", Value::Number(beta))).into_iter().collect();
            let mut s = NewReno::new(&arguments(NewRenoOptions::PARAMETERS, &changes), SETUP);
            s.on_signal(&Signal::Marked { now: at(10), packets: 1, newest_sent_at: at(5) });
            assert_eq!((s.allowance().window, s.state()), (left, "recovery"));
            s.on_signal(&Signal::Marked { now: at(11), packets: 1, newest_sent_at: at(9) });
            assert_eq!(s.allowance().window, left, "once in a round trip");
        }
    }
}
