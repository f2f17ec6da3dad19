//! Vegas (Brakmo and Peterson 1995): the window follows the number of its packets in queues.

use crate::additive::{Additive, Increase};
use crate::basis::{Basis, WindowOptions};
use crate::reno::Reno;
use crate::round::Rounds;
use crate::slow_start::SlowStart;
use crate::window_pacing::PacingOptions;
use crate::{AckSample, Allowance, Controller, Sent, Setup, Signal};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Time};

/// The options of Vegas.
#[derive(Debug, Clone, Options)]
struct VegasOptions {
    /// packets in queues below which the window grows (Brakmo and Peterson 1995 section 3.2: 2)
    #[option(default = 2.0, within = 0.0..=10_000.0)]
    alpha: f64,
    /// packets in queues above which the window shrinks (Brakmo and Peterson 1995 section 3.2: 4)
    #[option(default = 4.0, within = 0.0..=10_000.0)]
    beta: f64,
    /// packets in queues above which slow start ends (Brakmo and Peterson 1995 section 3.3: 1)
    #[option(default = 1.0, within = 0.0..=10_000.0)]
    gamma: f64,
    /// factor of the window after a loss or a CE mark (RFC 9002 section 7.3.2; 0.75 in ns-2's Vegas)
    #[option(default = 0.5, within = 0.1..=0.95)]
    loss_reduction: f64,
    #[options]
    window: WindowOptions,
    #[options]
    pacing: PacingOptions,
}

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "vegas",
    about: "Vegas: keeps a few packets in queues, which it estimates from the RTT (Brakmo and Peterson 1995)",
    parameters: VegasOptions::PARAMETERS,
    build: &|arguments, setup| Box::new(Vegas::new(arguments, setup)),
};

/// The state of one Vegas sender.
#[derive(Debug)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    loss_reduction: f64,
    rounds: Rounds,
    /// In slow start: whether the window grows in this round, which is every other one.
    growing: bool,
    reno: Reno,
}

impl Vegas {
    /// Creates a sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> Vegas {
        let options = VegasOptions::of(arguments);
        let basis = Basis::new(&options.window, &options.pacing, setup);
        // Congestion avoidance is Vegas's own, once per round trip.
        let reno = Reno::new(basis, SlowStart::standard(), Additive::new(Increase::Exact));
        Vegas {
            alpha: options.alpha,
            beta: options.beta,
            gamma: options.gamma,
            loss_reduction: options.loss_reduction,
            rounds: Rounds::new(),
            growing: true,
            reno,
        }
    }

    /// Section 3.2: Diff = Expected - Actual, in packets: the part of the window that is queued.
    fn queued_packets(&self, base: Duration, rtt: Duration) -> f64 {
        debug_assert!(base <= rtt, "no round trip is shorter than the shortest");
        debug_assert!(!rtt.is_zero(), "only a round trip that takes time is compared");
        let share = (rtt - base).as_secs_f64() / rtt.as_secs_f64();
        self.reno.window as f64 * share / self.reno.basis.datagram() as f64
    }

    /// Called once per round trip.
    fn end_round(&mut self, base: Duration, rtt: Duration) {
        let queued = self.queued_packets(base, rtt);
        let reno = &mut self.reno;
        let (datagram, minimum) = (reno.basis.datagram(), reno.basis.minimum());
        if reno.in_slow_start() {
            // Section 3.3: the comparison is only valid after a round without growth.
            if !self.growing && queued > self.gamma {
                // As in Linux: draining the current queue would take one round trip per packet.
                let target = (reno.window as f64 * (base.as_secs_f64() / rtt.as_secs_f64())) as u64;
                reno.window = reno.window.min(target + datagram).max(minimum);
                reno.ssthresh = reno.window;
            }
            self.growing = !self.growing;
        } else if queued < self.alpha {
            reno.window += datagram;
        } else if queued > self.beta {
            reno.window = (reno.window - datagram.min(reno.window)).max(minimum);
            // Stays in congestion avoidance, whatever the window.
            reno.ssthresh = reno.ssthresh.min(reno.window);
        }
    }

    fn on_congestion(&mut self, now: Time, newest_sent_at: Time) {
        if self.reno.basis.recovery.begin(now, newest_sent_at) {
            self.reno.reduce((self.reno.window as f64 * self.loss_reduction) as u64);
        }
    }
}

impl Controller for Vegas {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let over = self.rounds.on_ack(ack);
        let rtt = ack.rtt.latest();
        if self.reno.basis.on_ack(ack) {
            if over && !rtt.is_zero() {
                // Section 3.2: the RTT of a distinguished segment, here the first of the round, whose acknowledgement
                // ends it.
                self.end_round(ack.rtt.min().min(rtt), rtt);
            }
            if self.reno.in_slow_start() && self.growing {
                self.reno.grow_in_slow_start(ack);
            }
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
                self.rounds.restart(self.reno.basis.delivered);
                self.growing = true;
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
    use crate::testing::{Bottleneck, Path, SETUP, arguments, at, lose, mark, ms};
    use units::parameter::Value;

    fn sender(changes: &[(&'static str, Value)]) -> Vegas {
        Vegas::new(&arguments(VegasOptions::PARAMETERS, changes), SETUP)
    }
    fn packets(s: &Vegas) -> u64 {
        s.allowance().window / 1000
    }

    /// Section 3.3.
    #[test]
    fn slow_start_doubles_every_other_round() {
        let mut s = sender(&[]);
        let mut path = Path::new();
        let mut windows = Vec::new();
        for _ in 0..7 {
            path.round(&mut s, ms(100), 0);
            windows.push(packets(&s));
        }
        assert_eq!(windows, [20, 20, 40, 40, 80, 80, 160]);
    }

    /// Sections 3.2 and 3.3: a window of w packets over 100 ms at an RTT of r keeps w (r - 100) / r packets in queues.
    #[test]
    fn the_window_stays_where_two_to_four_packets_are_queued() {
        let mut s = sender(&[]);
        let mut path = Path::new();
        path.round(&mut s, ms(100), 0);
        // 20 packets at 106 ms: 1.13 packets, above gamma; 20 x 100 / 106 + 1 are left.
        path.round(&mut s, ms(106), 0);
        assert_eq!((packets(&s), s.state()), (20, "slow_start"));
        path.round(&mut s, ms(106), 0);
        assert_eq!((s.allowance().window, s.state()), (19_867, "congestion_avoidance"));
        // At 105 ms: 0.95 packets, below alpha.
        path.round(&mut s, ms(105), 0);
        assert_eq!(s.allowance().window, 20_867);
        // At 120 ms: 3.5 packets, between alpha and beta.
        path.round(&mut s, ms(120), 0);
        assert_eq!(s.allowance().window, 20_867);
        // At 130 ms: 4.8 packets, above beta.
        path.round(&mut s, ms(130), 0);
        assert_eq!(s.allowance().window, 19_867);
        path.round(&mut s, ms(100), 0);
        assert_eq!(s.allowance().window, 20_867);
    }

    #[test]
    fn it_shrinks_to_its_minimum_and_stays_in_congestion_avoidance() {
        let mut s = sender(&[("minimum_window", Value::Integer(4))]);
        let mut path = Path::new();
        path.round(&mut s, ms(100), 0);
        for _ in 0..40 {
            path.round(&mut s, ms(1000), 0);
        }
        // 4 packets at ten times the base RTT: 3.6 queued, which is right.
        assert_eq!((packets(&s), s.state()), (4, "congestion_avoidance"));
    }

    /// RFC 9002 sections 7.1 and 7.3.2.
    #[test]
    fn a_loss_and_a_mark_halve_unless_the_options_say_less() {
        for (changes, left) in [(vec![], 5_000), (vec![("loss_reduction", Value::Number(0.75))], 7_500)] {
            let path = Path::new();
            let mut s = sender(&changes);
            lose(&mut s, path.now, path.now, 1);
            assert_eq!((s.allowance().window, s.ssthresh()), (left, Some(left)));
            let mut s = sender(&changes);
            mark(&mut s, path.now, path.now);
            mark(&mut s, path.now, path.now);
            assert_eq!((s.allowance().window, s.state()), (left, "recovery"));
        }
    }

    /// Section 3.2, packet by packet: between alpha and beta packets are in the queue, and the bottleneck is busy.
    #[test]
    fn at_a_bottleneck_it_keeps_between_alpha_and_beta_packets_in_the_queue() {
        for (alpha, beta, rtt) in [(2.0, 4.0, 20), (2.0, 4.0, 80), (6.0, 9.0, 40)] {
            let mut s = sender(&[("alpha", Value::Number(alpha)), ("beta", Value::Number(beta))]);
            let mut path = Bottleneck::new(Duration::from_micros(500), ms(rtt));
            path.run(&mut s, at(20_000), &mut |_| {});
            let (mut sum, mut count) = (0.0, 0.0);
            path.run(&mut s, at(30_000), &mut |queue| {
                sum += queue;
                count += 1.0;
            });
            let mean = sum / count;
            assert!((alpha - 1.0..=beta).contains(&mean), "{alpha} to {beta}, {rtt} ms: {mean} packets");
            assert!(
                (19_990.0..=20_010.0).contains(&count),
                "{alpha} to {beta}, {rtt} ms: {count} packets in 10 s"
            );
        }
    }
}
