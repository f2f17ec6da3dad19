//! NewReno (RFC 9002 section 7 and appendix B).

use crate::{AckSample, Allowance, Controller, Sent, Setup, Signal};
use units::parameter::{Arguments, Default, Kind, Parameter, Row};
use units::{Duration, Rate, Size, Time};

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "newreno",
    about: "NewReno: slow start, additive increase, one halving per round trip (RFC 9002 section 7)",
    parameters: &[
        Parameter {
            name: "beta",
            kind: Kind::Number(0.1, 0.95),
            default: Default::Is("0.5"),
            about: "what is left of the window after a loss: kLossReductionFactor (RFC 9002 B.1)",
        },
        Parameter {
            name: "minimum_window",
            kind: Kind::Integer(1, 1000),
            default: Default::Is("2"),
            about: "least window in packets: kMinimumWindow (RFC 9002 section 7.2)",
        },
        Parameter {
            name: "increase",
            kind: Kind::Choice(&["exact", "approximate"]),
            default: Default::Is("\"exact\""),
            about: "growth in congestion avoidance: by counting a window's bytes (RFC 5681 section 3.1), or packet by packet as in the pseudocode of RFC 9002 B.5",
        },
        Parameter {
            name: "pacing",
            kind: Kind::Flag,
            default: Default::Is("true"),
            about: "spread packets over the round trip (RFC 9002 section 7.7)",
        },
        Parameter {
            name: "pacing_gain_slow_start",
            kind: Kind::Number(1.0, 100.0),
            default: Default::Is("2.0"),
            about: "pacing rate in slow start, in windows per smoothed RTT",
        },
        Parameter {
            name: "pacing_gain",
            kind: Kind::Number(1.0, 100.0),
            default: Default::Is("1.25"),
            about: "pacing rate afterwards, in windows per smoothed RTT (RFC 9002 section 7.7: N = 1.25)",
        },
    ],
    build: &|arguments, setup| Box::new(NewReno::new(arguments, setup)),
};

/// The state of one NewReno sender.
#[derive(Debug)]
pub struct NewReno {
    setup: Setup,
    beta: f64,
    minimum_window: u64,
    /// Whether the growth in congestion avoidance is counted in bytes.
    exact: bool,
    /// Pacing gains in slow start and afterwards, in thousandths; `None`: unpaced.
    gains: Option<(u64, u64)>,
    window: u64,
    ssthresh: u64,
    /// Bytes acknowledged in congestion avoidance that have not yet grown the window (exact byte counting).
    credit: u64,
    /// Packets sent up to here belong to the recovery period; `None` before the first loss.
    recovery_start: Option<Time>,
    in_recovery: bool,
    smoothed_rtt: Duration,
    allowance: Allowance,
}

impl NewReno {
    /// A sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> NewReno {
        let gain = |name| (arguments.number(name) * 1000.0).round() as u64;
        let minimum_window = arguments.integer("minimum_window") * setup.max_datagram_size;
        let mut sender = NewReno {
            setup,
            beta: arguments.number("beta"),
            minimum_window,
            exact: arguments.text("increase") == "exact",
            gains: arguments.flag("pacing").then(|| (gain("pacing_gain_slow_start"), gain("pacing_gain"))),
            window: setup.initial_window.max(minimum_window),
            ssthresh: u64::MAX,
            credit: 0,
            recovery_start: None,
            in_recovery: false,
            smoothed_rtt: setup.initial_rtt,
            allowance: Allowance::new(0, None),
        };
        sender.allow();
        sender
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    fn allow(&mut self) {
        let pacing = self.gains.map(|(slow_start, later)| {
            let gain = if self.in_slow_start() { slow_start } else { later };
            let base = Rate::of(Size::from_bytes(self.window), self.smoothed_rtt).as_bits_per_sec();
            Rate::from_bits_per_sec((u128::from(base) * u128::from(gain) / 1000).min(u64::MAX.into()) as u64)
        });
        self.allowance = Allowance::new(self.window, pacing);
    }

    /// B.5: each acknowledged packet adds its share of a datagram, of the window as it is then.
    fn approximate(&mut self, mut acked: u64) {
        let datagram = self.setup.max_datagram_size;
        while acked > 0 {
            let packet = acked.min(datagram);
            self.window += datagram * packet / self.window;
            acked -= packet;
        }
    }

    /// B.6: once per round trip, whatever the number of losses or marks in it.
    fn congestion_event(&mut self, now: Time, newest_sent_at: Time) {
        if self.recovery_start.is_some_and(|start| newest_sent_at <= start) {
            return;
        }
        self.recovery_start = Some(now);
        self.in_recovery = true;
        self.ssthresh = ((self.window as f64 * self.beta) as u64).max(self.minimum_window);
        self.window = self.ssthresh;
        self.credit = 0;
    }
}

impl Controller for NewReno {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let pace_anew = self.smoothed_rtt != ack.rtt.smoothed();
        self.smoothed_rtt = ack.rtt.smoothed();
        let recovering = self.recovery_start.is_some_and(|start| ack.newest_sent_at <= start);
        if recovering || ack.app_limited() {
            // 7.3.2: no growth in recovery; 7.8: none while the window is not used.
            if pace_anew {
                self.allow();
            }
            return;
        }
        self.in_recovery = false;
        let mut acked = ack.acked_bytes;
        if self.in_slow_start() {
            // 7.3.1: by the bytes acknowledged, up to the threshold; the rest counts in congestion avoidance.
            let grown = acked.min(self.ssthresh - self.window);
            self.window += grown;
            acked -= grown;
        }
        if !self.in_slow_start() {
            // 7.3.3: one datagram for each window acknowledged.
            if self.exact {
                self.credit += acked;
                while self.credit >= self.window {
                    self.credit -= self.window;
                    self.window += self.setup.max_datagram_size;
                }
            } else {
                self.approximate(acked);
            }
        }
        self.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, newest_sent_at, .. } | Signal::Marked { now, newest_sent_at, .. } => {
                self.congestion_event(now, newest_sent_at);
            }
            Signal::PersistentCongestion => {
                // 7.6.2: back to the minimum and to slow start; the recovery period ends.
                self.window = self.minimum_window;
                self.credit = 0;
                self.recovery_start = None;
                self.in_recovery = false;
            }
            Signal::Spurious { .. } => {}
            Signal::DatagramSize { bytes } => {
                // 7.2: what counts in datagrams counts in those of the new size.
                let old = self.setup.max_datagram_size.max(1);
                self.minimum_window = self.minimum_window * bytes / old;
                self.setup.initial_window = self.setup.initial_window * bytes / old;
                self.setup.max_datagram_size = bytes;
                self.window = self.window.max(self.minimum_window);
            }
            Signal::PathChanged => {
                // RFC 9000 section 9.4: as at the start.
                self.window = self.setup.initial_window.max(self.minimum_window);
                self.ssthresh = u64::MAX;
                self.credit = 0;
                self.recovery_start = None;
                self.in_recovery = false;
                self.smoothed_rtt = self.setup.initial_rtt;
            }
        }
        self.allow();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh != u64::MAX).then_some(self.ssthresh)
    }

    fn state(&self) -> &'static str {
        if self.in_recovery {
            "recovery"
        } else if self.in_slow_start() {
            "slow_start"
        } else {
            "congestion_avoidance"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limit, RttEstimate};
    use units::parameter::Value;

    const SETUP: Setup =
        Setup { max_datagram_size: 1000, initial_window: 10_000, initial_rtt: Duration::from_millis(333) };

    fn sender() -> NewReno {
        growing("exact")
    }
    fn growing(increase: &str) -> NewReno {
        let arguments = Arguments(vec![
            ("beta", Value::Number(0.5)),
            ("minimum_window", Value::Integer(2)),
            ("increase", Value::Text(increase.to_owned())),
            ("pacing", Value::Flag(true)),
            ("pacing_gain_slow_start", Value::Number(2.0)),
            ("pacing_gain", Value::Number(1.25)),
        ]);
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
}
