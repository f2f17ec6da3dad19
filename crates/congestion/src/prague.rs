//! Prague, the scalable controller for L4S (draft-briscoe-iccrg-prague-congestion-control-04).

use crate::basis::{Basis, WindowOptions};
use crate::recovery_period::RecoveryPeriod;
use crate::round::Rounds;
use crate::slow_start::{SlowStart, SlowStartOptions};
use crate::window_pacing::PacingOptions;
use crate::{AckSample, Allowance, Controller, MAX_WINDOW, Sent, Setup, Signal};
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Time};

/// The options of Prague.
#[derive(Debug, Clone, Options)]
struct PragueOptions {
    /// gain of the moving average of the share of marked packets
    /// (draft-briscoe-iccrg-prague-congestion-control-04 section 2.3: 1/16)
    #[option(default = 0.0625, within = 0.001..=1.0)]
    g: f64,
    /// RTT whose rate a flow with a shorter RTT takes (section 2.4.4: 25 ms)
    #[option(default = "25 ms")]
    rtt_virt_min: Duration,
    /// round trips after slow start before that applies (section 2.4.4: 500)
    #[option(default = 500, within = 0..=1_000_000)]
    rtt_transition: u64,
    /// factor of the window after a loss (section 2.4.1: as Reno, 0.5)
    #[option(default = 0.5, within = 0.1..=0.95)]
    beta: f64,
    #[options]
    window: WindowOptions,
    #[options(pacing_gain = 1.0)]
    pacing: PacingOptions,
    #[options]
    slow_start: SlowStartOptions,
}

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "prague",
    about: "Prague for L4S: sends ECT(1) and gives way in proportion to the share of packets that are marked (draft-briscoe-iccrg-prague-congestion-control-04)",
    parameters: PragueOptions::PARAMETERS,
    build: &|arguments, setup| Box::new(Prague::new(arguments, setup)),
};

/// The state of one Prague sender.
#[derive(Debug)]
pub struct Prague {
    basis: Basis,
    options: PragueOptions,
    slow_start: SlowStart,
    marks: Marks,
    /// In bytes.
    window: f64,
    ssthresh: f64,
    /// Rounds since the end of slow start.
    rounds: Rounds,
    since_slow_start: u64,
    reduced: Option<Reduction>,
    allowance: Allowance,
}

/// The last reduction.
#[derive(Debug, Clone, Copy)]
struct Reduction {
    at: Time,
    /// The window before it, if marks caused it.
    before: Option<f64>,
}

/// The average share of CE-marked packets (section 2.3, "Moving Average of ECN Feedback").
#[derive(Debug, Clone, Copy, std::default::Default)]
struct Marks {
    /// `None` before the first mark.
    alpha: Option<f64>,
    /// Packets acknowledged in this virtual round trip, and marked ones among them.
    acked: u64,
    marked: u64,
    since: Option<Time>,
}

impl Marks {
    /// Updates the average, once per virtual round trip.
    #[inline]
    fn on_ack(&mut self, ack: &AckSample<'_>, virtual_rtt: Duration, g: f64) {
        self.acked += ack.acked_packets;
        self.marked += ack.marked_packets;
        let since = *self.since.get_or_insert(ack.now);
        if ack.now.since(since) < virtual_rtt || self.acked == 0 {
            return;
        }
        // Marks may be reported later than their packets, so the share is limited to one.
        let share = (self.marked as f64 / self.acked as f64).min(1.0);
        self.alpha = self.alpha.map(|alpha| alpha + g * (share - alpha));
        (self.acked, self.marked, self.since) = (0, 0, Some(ack.now));
    }
}

impl Prague {
    /// Creates a sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> Prague {
        let options = PragueOptions::of(arguments);
        let basis = Basis::new(&options.window, &options.pacing, setup);
        let window = basis.initial() as f64;
        let mut sender = Prague {
            slow_start: SlowStart::new(&options.slow_start, basis.is_paced()),
            basis,
            options,
            marks: Marks::default(),
            window,
            ssthresh: f64::INFINITY,
            rounds: Rounds::new(),
            since_slow_start: 0,
            reduced: None,
            allowance: Allowance::new(0, None),
        };
        sender.allow();
        sender
    }

    fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }
    fn allow(&mut self) {
        debug_assert!(self.window.is_finite(), "a window is a number of bytes");
        debug_assert!(
            self.marks.alpha.is_none_or(|alpha| (0.0..=1.0).contains(&alpha)),
            "an average of shares is a share"
        );
        self.window = self.window.clamp(self.basis.minimum() as f64, MAX_WINDOW as f64);
        self.allowance = self.basis.allow(self.window.round() as u64, self.in_slow_start());
    }

    /// Section 2.4.4: the RTT of the flow whose rate this one emulates.
    fn virtual_rtt(&self) -> Duration {
        let independent = !self.in_slow_start() && self.since_slow_start >= self.options.rtt_transition;
        if independent {
            self.basis.smoothed_rtt.max(self.options.rtt_virt_min)
        } else {
            self.basis.smoothed_rtt
        }
    }

    /// Section 2.4.3: additive increase only for unmarked packets, even during reductions by marks. Section 2.4.4: a
    /// flow with RTT R that emulates RTT V gains (R/V)^2 packets per round trip.
    fn grow(&mut self, ack: &AckSample<'_>, virtual_rtt: Duration) {
        let datagram = self.basis.datagram();
        let unmarked = ack.acked_bytes.saturating_sub(ack.marked_packets.saturating_mul(datagram));
        if self.in_slow_start() {
            let growth = self.slow_start.on_ack(ack, datagram);
            self.window = (self.window + growth.bytes as f64).min(self.ssthresh);
            if growth.done {
                self.leave_slow_start();
            }
        } else {
            let ratio = self.basis.smoothed_rtt.as_secs_f64() / virtual_rtt.as_secs_f64().max(1e-9);
            let share = (unmarked as f64 / self.window).min(1.0);
            self.window += datagram as f64 * ratio * ratio * share;
        }
    }

    fn leave_slow_start(&mut self) {
        if self.in_slow_start() {
            self.since_slow_start = 0;
        }
        self.slow_start.stop();
        self.ssthresh = self.window;
    }

    /// Section 2.4.2: once per virtual round trip, by half the average.
    fn on_marked(&mut self, now: Time) {
        let wait = self.virtual_rtt();
        // The first mark counts as if all packets were marked.
        let alpha = *self.marks.alpha.get_or_insert(1.0);
        if self.reduced.is_some_and(|last| now.since(last.at) < wait) {
            return;
        }
        self.leave_slow_start();
        self.reduced = Some(Reduction { at: now, before: Some(self.window) });
        self.window *= 1.0 - alpha / 2.0;
        self.ssthresh = self.window.max(self.basis.minimum() as f64);
    }

    /// Section 2.4.1: like Reno, from the earlier window if marks have already reduced it in this round trip.
    fn on_lost(&mut self, now: Time, newest_sent_at: Time) {
        if !self.basis.recovery.begin(now, newest_sent_at) {
            return;
        }
        self.leave_slow_start();
        let recent = self.reduced.filter(|last| now.since(last.at) < self.basis.smoothed_rtt);
        let before = recent.and_then(|last| last.before).unwrap_or(self.window);
        // Marks of the same round trip add no information to the loss.
        self.reduced = Some(Reduction { at: now, before: None });
        self.window = self.window.min(before * self.options.beta);
        self.ssthresh = self.window.max(self.basis.minimum() as f64);
    }
}

impl Controller for Prague {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        let usable = self.basis.on_ack(ack);
        if self.rounds.on_ack(ack) {
            self.since_slow_start += 1;
        }
        let virtual_rtt = self.virtual_rtt();
        self.marks.on_ack(ack, virtual_rtt, self.options.g);
        if usable {
            self.grow(ack, virtual_rtt);
        }
        self.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, newest_sent_at, .. } => self.on_lost(now, newest_sent_at),
            Signal::Marked { now, .. } => self.on_marked(now),
            Signal::PersistentCongestion => {
                self.window = self.basis.minimum() as f64;
                self.basis.recovery = RecoveryPeriod::default();
            }
            Signal::Spurious { .. } => {}
            Signal::DatagramSize { bytes } => {
                self.window = self.window.max(self.basis.resize(0, bytes) as f64);
            }
            Signal::PathChanged => {
                self.window = self.basis.restart() as f64;
                self.ssthresh = f64::INFINITY;
                self.marks = Marks::default();
                self.slow_start.restart(self.basis.delivered);
                self.rounds.restart(self.basis.delivered);
                (self.since_slow_start, self.reduced) = (0, None);
            }
            Signal::Resume { adjustment, .. } => {
                self.basis.resume_unrounded(adjustment, &mut self.window, &mut self.ssthresh);
            }
        }
        self.allow();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }
    fn is_l4s(&self) -> bool {
        true
    }
    fn ssthresh(&self) -> Option<u64> {
        self.ssthresh.is_finite().then_some(self.ssthresh.round() as u64)
    }
    fn state(&self) -> &'static str {
        if self.basis.recovery.is_active() {
            "recovery"
        } else if self.in_slow_start() {
            self.slow_start.state()
        } else {
            "congestion_avoidance"
        }
    }
    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if let Some(alpha) = self.marks.alpha {
            record("prague_alpha", alpha);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Path, SETUP, arguments, lose, mark, ms};
    use units::parameter::Value;

    fn sender(changes: &[(&'static str, Value)]) -> Prague {
        Prague::new(&arguments(PragueOptions::PARAMETERS, changes), SETUP)
    }
    fn packets(s: &Prague) -> f64 {
        s.window / 1000.0
    }
    /// A sender in congestion avoidance whose window is this number of packets and whose average is one.
    fn avoiding(window: f64, changes: &[(&'static str, Value)]) -> (Prague, Path) {
        let mut s = sender(changes);
        let mut path = Path::new();
        s.window = window * 2000.0;
        mark(&mut s, path.now, path.now);
        assert_eq!((packets(&s), s.state()), (window, "congestion_avoidance"));
        path.now += ms(100);
        (s, path)
    }

    /// Sections 2.3 and 2.4.2: alpha is 1 with the first mark.
    #[test]
    fn the_first_mark_halves_the_window_and_ends_slow_start() {
        let mut s = sender(&[]);
        assert!(s.is_l4s());
        let mut path = Path::new();
        path.round(&mut s, ms(10), 0);
        assert_eq!((packets(&s), s.state()), (20.0, "slow_start"));
        mark(&mut s, path.now, path.now);
        assert_eq!((packets(&s), s.ssthresh()), (10.0, Some(10_000)));
        mark(&mut s, path.now, path.now);
        assert_eq!(packets(&s), 10.0, "once in a round trip");
    }

    /// Section 2.3: alpha += g (frac - alpha), once in a round trip, with a quarter of the packets marked.
    #[test]
    fn the_average_follows_the_share_of_marked_packets() {
        let (mut s, mut path) = avoiding(100.0, &[]);
        let mut expected = 1.0;
        for _ in 0..60 {
            let window = s.allowance().window / 1000;
            path.round(&mut s, ms(100), window / 4);
            expected += (0.25 - expected) / 16.0;
        }
        let alpha = s.marks.alpha.unwrap();
        assert!((alpha - expected).abs() < 0.03, "{alpha}, by the formula {expected}");
    }

    /// Section 2.4.2: a reduction by alpha/2.
    #[test]
    fn a_mark_reduces_by_half_the_average() {
        let (mut s, path) = avoiding(100.0, &[]);
        s.marks.alpha = Some(0.2);
        mark(&mut s, path.now + ms(200), path.now);
        assert_eq!(packets(&s), 90.0);
    }

    /// Sections 2.4.3 and 2.4.4: marked packets add nothing; (R/V)^2 packets for each window below 25 ms.
    #[test]
    fn the_increase_depends_on_the_rtt_and_on_what_is_not_marked() {
        let now = [("rtt_transition", Value::Integer(0))];
        for (rtt, changes, gained) in
            [(100, &now[..], 1.0), (10, &now[..], 0.16), (5, &now[..], 0.04), (10, &[][..], 1.0)]
        {
            let (mut s, mut path) = avoiding(50.0, changes);
            path.round(&mut s, ms(rtt), 0);
            let got = packets(&s) - 50.0;
            assert!((got - gained).abs() <= gained * 0.03, "{rtt} ms: {got}");
        }
        let (mut s, mut path) = avoiding(50.0, &[]);
        s.reduced = Some(Reduction { at: path.now + ms(100), before: None });
        path.round(&mut s, ms(100), 25);
        assert!((packets(&s) - 50.5).abs() < 0.02, "{}", packets(&s));
    }

    /// Section 2.4.1: the response to a loss is Reno's; reductions by marks in the same round trip count towards it.
    #[test]
    fn a_loss_is_answered_as_reno_does() {
        let (mut s, path) = avoiding(100.0, &[]);
        lose(&mut s, path.now + ms(300), path.now, 1);
        assert_eq!((packets(&s), s.state()), (50.0, "recovery"));
        let (mut s, path) = avoiding(100.0, &[]);
        s.marks.alpha = Some(0.4);
        mark(&mut s, path.now + ms(300), path.now);
        assert_eq!(packets(&s), 80.0);
        lose(&mut s, path.now + ms(310), path.now, 1);
        assert_eq!(packets(&s), 50.0, "half of 100 and not of 80");
        mark(&mut s, path.now + ms(320), path.now);
        assert_eq!(packets(&s), 50.0, "and a mark in the same round trip takes no more");
    }

    /// Section 2.4.1: each loss halves the window, even within a round trip: reductions by marks count towards a
    /// loss, those by losses do not.
    #[test]
    fn a_second_loss_halves_again() {
        let (mut s, path) = avoiding(100.0, &[]);
        lose(&mut s, path.now + ms(300), path.now, 1);
        lose(&mut s, path.now + ms(350), path.now + ms(310), 1);
        assert_eq!(packets(&s), 25.0);
    }

    /// Section 2.4.4: below 25 ms, reductions are 25 ms apart as well.
    #[test]
    fn reductions_are_a_virtual_round_trip_apart() {
        let (mut s, mut path) = avoiding(50.0, &[("rtt_transition", Value::Integer(0))]);
        path.round(&mut s, ms(5), 0);
        s.marks.alpha = Some(0.1);
        mark(&mut s, path.now, path.now);
        let reduced = packets(&s);
        mark(&mut s, path.now + ms(10), path.now);
        assert_eq!(packets(&s), reduced);
        mark(&mut s, path.now + ms(25), path.now);
        assert!(packets(&s) < reduced);
    }
}
