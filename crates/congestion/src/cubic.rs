//! CUBIC (RFC 9438).

use crate::options::join;
use crate::recovery_period::RecoveryPeriod;
use crate::slow_start::{self, SlowStart};
use crate::window_pacing::{self, WindowPacing};
use crate::{AckSample, Allowance, Controller, MAX_WINDOW, Sent, Setup, Signal};
use units::parameter::{Arguments, Default, Kind, Parameter, Row, Value};
use units::{Duration, Time};

const OWN: [Parameter; 7] = [
    Parameter {
        name: "c",
        kind: Kind::Number(0.001, 100.0),
        default: Default::Is("0.4"),
        about: "how fast the window grows away from the plateau, in packets per cubed second: C (RFC 9438 section 5.1)",
    },
    Parameter {
        name: "beta",
        kind: Kind::Number(0.1, 0.95),
        default: Default::Is("0.7"),
        about: "what is left of the window after a loss: beta_cubic (RFC 9438 section 4.6)",
    },
    Parameter {
        name: "beta_ecn",
        kind: Kind::Number(0.1, 0.99),
        default: Default::Absent,
        about: "what is left of the window after a CE mark; as after a loss, unless said (RFC 8511 says 0.85)",
    },
    Parameter {
        name: "fast_convergence",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "leave room for others when the window was smaller than at the loss before (RFC 9438 section 4.7)",
    },
    Parameter {
        name: "reno_friendly",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "never slower than Reno would be (RFC 9438 section 4.3)",
    },
    Parameter {
        name: "spurious_undo",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "take a reduction back when every packet that led to it was acknowledged after all (RFC 9438 section 4.9)",
    },
    Parameter {
        name: "minimum_window",
        kind: Kind::Integer(1, 1000),
        default: Default::Is("2"),
        about: "least window in packets (RFC 9438 section 4.6, RFC 9002 section 7.2)",
    },
];
pub(crate) const PARAMETERS: [Parameter; 18] = join::<10, 8, 18>(
    join::<7, 3, 10>(OWN, window_pacing::parameters("1.25")),
    slow_start::parameters("\"hystart++\""),
);

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "cubic",
    about: "CUBIC: the window follows a cubic function of the time since the last loss, at least as fast as Reno (RFC 9438)",
    parameters: &PARAMETERS,
    build: &|arguments, setup| Box::new(Cubic::new(arguments, setup)),
};

/// The state of one CUBIC sender. Windows are in bytes and not rounded: the algorithm adds parts of bytes.
#[derive(Debug)]
pub struct Cubic {
    setup: Setup,
    options: Options,
    pacing: WindowPacing,
    slow_start: SlowStart,
    recovery: RecoveryPeriod,
    /// What section 4.9 puts back.
    curve: Curve,
    /// The last reduction, while it may yet turn out to be wrong.
    undo: Option<Undo>,
    /// Since when the window has not been used: that time is no part of an epoch (section 4.2).
    unused_since: Option<Time>,
    delivered: u64,
    smoothed_rtt: Duration,
    allowance: Allowance,
}

#[derive(Debug)]
struct Options {
    c: f64,
    beta: f64,
    beta_ecn: f64,
    fast_convergence: bool,
    reno_friendly: bool,
    spurious_undo: bool,
    /// Packets.
    minimum_window: u64,
}

/// The variables of section 4.1.2.
#[derive(Debug, Clone, Copy)]
struct Curve {
    cwnd: f64,
    ssthresh: f64,
    /// The window at the last reduction; zero before.
    cwnd_prior: f64,
    /// `None`: the congestion avoidance that follows begins on the plateau (section 4.8, 4.10).
    w_max: Option<f64>,
    /// The congestion avoidance stage; `None` before it begins.
    epoch: Option<Epoch>,
}

/// A congestion avoidance stage.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// `t_epoch`, moved on by the time in which the window was not used.
    start: Time,
    w_max: f64,
    /// Seconds.
    k: f64,
    w_est: f64,
}

#[derive(Debug)]
struct Undo {
    before: Curve,
    slow_start: SlowStart,
    /// Packets sent up to here belong to an earlier reduction.
    since: Option<Time>,
    /// Lost packets that have not been acknowledged.
    missing: u64,
}

impl Undo {
    /// Whether a packet that was sent then was sent after the reduction before this one.
    fn follows(&self, sent_at: Time) -> bool {
        self.since.is_none_or(|since| sent_at > since)
    }
}

impl Cubic {
    /// A sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> Cubic {
        let beta = arguments.number("beta");
        let options = Options {
            c: arguments.number("c"),
            beta,
            beta_ecn: match arguments.get("beta_ecn") {
                Some(Value::Number(beta)) => *beta,
                _ => beta,
            },
            fast_convergence: arguments.flag("fast_convergence"),
            reno_friendly: arguments.flag("reno_friendly"),
            spurious_undo: arguments.flag("spurious_undo"),
            minimum_window: arguments.integer("minimum_window"),
        };
        let pacing = WindowPacing::new(arguments);
        let mut sender = Cubic {
            setup,
            options,
            pacing,
            slow_start: SlowStart::new(arguments, pacing.is_on()),
            recovery: RecoveryPeriod::default(),
            curve: Curve { cwnd: 0.0, ssthresh: f64::INFINITY, cwnd_prior: 0.0, w_max: None, epoch: None },
            undo: None,
            unused_since: None,
            delivered: 0,
            smoothed_rtt: setup.initial_rtt,
            allowance: Allowance::new(0, None),
        };
        sender.curve.cwnd = (setup.initial_window as f64).max(sender.minimum());
        sender.allow();
        sender
    }

    fn minimum(&self) -> f64 {
        (self.options.minimum_window * self.setup.max_datagram_size) as f64
    }
    fn in_slow_start(&self) -> bool {
        self.curve.cwnd < self.curve.ssthresh
    }
    fn allow(&mut self) {
        let window = (self.curve.cwnd.round() as u64).min(MAX_WINDOW);
        let pacing = self.pacing.rate(window, self.smoothed_rtt, self.in_slow_start());
        self.allowance = Allowance::new(window, pacing);
    }

    /// Section 4.2: the stage begins, K from where the window is to where it was.
    fn begin_epoch(&self, now: Time) -> Epoch {
        let Curve { cwnd, w_max, .. } = self.curve;
        match w_max {
            Some(w_max) if w_max > cwnd => {
                let packets = (w_max - cwnd) / self.setup.max_datagram_size as f64;
                Epoch { start: now, w_max, k: cube_root(packets / self.options.c), w_est: cwnd }
            }
            // Sections 4.8 and 4.10: after persistent congestion, or out of slow start without a loss.
            _ => Epoch { start: now, w_max: cwnd, k: 0.0, w_est: cwnd },
        }
    }

    /// W_cubic(t) in bytes (section 4.2, figure 1).
    #[inline]
    fn w_cubic(&self, epoch: &Epoch, t: f64) -> f64 {
        let x = t - epoch.k;
        self.options.c * self.setup.max_datagram_size as f64 * (x * x * x) + epoch.w_max
    }

    /// Sections 4.3 to 4.5.
    fn avoid_congestion(&mut self, now: Time, acked: u64) {
        let mut epoch = match self.curve.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(now),
        };
        if let Some(since) = self.unused_since.take() {
            // Section 4.2: "t_current - t_epoch" leaves out the time in which the window was not updated.
            epoch.start += now.since(since);
        }
        let (acked, datagram) = (acked as f64, self.setup.max_datagram_size as f64);
        let cwnd = self.curve.cwnd;
        let t = now.since(epoch.start).as_secs_f64();
        // Section 4.2: where the curve will be in a round trip, not below the window and not above one and a half.
        let target = self.w_cubic(&epoch, t + self.smoothed_rtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
        let mut grown = (cwnd + (target - cwnd) * (acked / cwnd)).min(target);
        if self.options.reno_friendly {
            // Section 4.3: alpha_cubic, until the window is what it was before the reduction.
            let beta = self.options.beta;
            let alpha =
                if epoch.w_est < self.curve.cwnd_prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
            epoch.w_est += alpha * datagram * (acked / cwnd);
            if self.w_cubic(&epoch, t) < epoch.w_est {
                grown = grown.max(epoch.w_est);
            }
        }
        self.curve.cwnd = grown.min(MAX_WINDOW as f64);
        self.curve.epoch = Some(epoch);
    }

    /// Sections 4.6 and 4.7. Gives whether a recovery period begins.
    fn congestion_event(&mut self, now: Time, newest_sent_at: Time, beta: f64) -> bool {
        let (before, slow_start, since) = (self.curve, self.slow_start, self.recovery.start());
        if !self.recovery.begin(now, newest_sent_at) {
            return false;
        }
        self.undo = self.options.spurious_undo.then_some(Undo { before, slow_start, since, missing: 0 });
        self.slow_start.stop();
        self.unused_since = None;
        let curve = &mut self.curve;
        let before = curve.cwnd;
        let shrinking = curve.w_max.is_some_and(|w_max| before < w_max);
        // Section 4.7: "W_max = cwnd * (1 + beta_cubic) / 2".
        let share =
            if self.options.fast_convergence && shrinking { (1.0 + self.options.beta) / 2.0 } else { 1.0 };
        curve.w_max = Some(before * share);
        curve.cwnd_prior = before;
        curve.epoch = None;
        let least = self.minimum();
        self.curve.ssthresh = (before * beta).max(least);
        self.curve.cwnd = self.curve.ssthresh;
        true
    }

    fn on_lost(&mut self, now: Time, newest_sent_at: Time, packets: u64) {
        self.congestion_event(now, newest_sent_at, self.options.beta);
        if let Some(undo) = self.undo.as_mut().filter(|undo| undo.follows(newest_sent_at)) {
            undo.missing += packets;
        }
    }

    /// Section 4.9: when nothing is left that was lost, the reduction is taken back.
    fn on_spurious(&mut self, newest_sent_at: Time, packets: u64) {
        let Some(undo) = &mut self.undo else { return };
        let belongs =
            undo.since.is_none_or(|since| newest_sent_at > since) && self.recovery.covers(newest_sent_at);
        if !belongs {
            return;
        }
        undo.missing = undo.missing.saturating_sub(packets);
        if undo.missing > 0 {
            return;
        }
        // Section 4.9.2: only "if the current cwnd is lower than cwnd_prior".
        if let Some(undo) = self.undo.take_if(|undo| self.curve.cwnd < undo.before.cwnd) {
            self.curve = undo.before;
            self.slow_start = undo.slow_start;
            self.recovery.end();
        }
        self.undo = None;
    }

    /// Section 4.8: as after a retransmission timeout.
    fn collapse(&mut self) {
        self.curve.cwnd = self.minimum();
        self.curve.w_max = None;
        self.curve.epoch = None;
        self.undo = None;
        self.unused_since = None;
        self.recovery = RecoveryPeriod::default();
    }
}

impl Controller for Cubic {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.smoothed_rtt = ack.rtt.smoothed();
        self.delivered = ack.delivered;
        if self.recovery.covers(ack.newest_sent_at) {
            self.allow();
            return;
        }
        self.recovery.end();
        if ack.app_limited() {
            // RFC 9002 section 7.8: no growth while the window is not used.
            if self.curve.epoch.is_some() {
                self.unused_since.get_or_insert(ack.now);
            }
            self.allow();
            return;
        }
        let mut acked = ack.acked_bytes;
        if self.in_slow_start() {
            let growth = self.slow_start.on_ack(ack, self.setup.max_datagram_size);
            let room = self.curve.ssthresh - self.curve.cwnd;
            let grown = (growth.bytes as f64).min(room);
            self.curve.cwnd = (self.curve.cwnd + grown).min(MAX_WINDOW as f64);
            acked = (growth.bytes as f64 - grown) as u64;
            if growth.done {
                self.slow_start.stop();
                self.curve.ssthresh = self.curve.cwnd;
                // Section 4.10: no loss, so that W_max is not known.
                (self.curve.w_max, self.curve.cwnd_prior) = (None, self.curve.cwnd);
            }
        }
        if !self.in_slow_start() {
            self.avoid_congestion(ack.now, acked);
        }
        self.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { now, newest_sent_at, packets, .. } => {
                self.on_lost(now, newest_sent_at, packets.len() as u64);
            }
            Signal::Marked { now, newest_sent_at, .. } => {
                self.congestion_event(now, newest_sent_at, self.options.beta_ecn);
                // What the network itself says is never wrong: nothing to undo.
                self.undo = None;
            }
            Signal::PersistentCongestion => self.collapse(),
            Signal::Spurious { newest_sent_at, packets, .. } => self.on_spurious(newest_sent_at, packets),
            Signal::DatagramSize { bytes } => {
                let old = self.setup.max_datagram_size.max(1);
                self.setup.initial_window = self.setup.initial_window * bytes / old;
                self.setup.max_datagram_size = bytes;
                self.curve.cwnd = self.curve.cwnd.max(self.minimum());
            }
            Signal::PathChanged => {
                // RFC 9000 section 9.4: as at the start.
                self.collapse();
                self.curve.cwnd = (self.setup.initial_window as f64).max(self.minimum());
                (self.curve.ssthresh, self.curve.cwnd_prior) = (f64::INFINITY, 0.0);
                self.slow_start.restart(self.delivered);
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
        self.curve.ssthresh.is_finite().then_some(self.curve.ssthresh.round() as u64)
    }

    fn state(&self) -> &'static str {
        if self.recovery.is_active() {
            "recovery"
        } else if self.in_slow_start() {
            self.slow_start.state()
        } else {
            "congestion_avoidance"
        }
    }

    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        if let Some(epoch) = &self.curve.epoch {
            record("cubic_epoch_s", epoch.start.as_secs_f64());
            record("cubic_k_s", epoch.k);
            record("cubic_w_max_bytes", epoch.w_max);
            record("cubic_w_est_bytes", epoch.w_est);
        }
    }
}

/// The cube root of a number that is not negative, by Newton's method in basic operations alone, which give the same
/// bits on every machine (`f64::cbrt` is the C library's).
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // From above the root the iteration falls until it cannot fall any more.
    let mut root = x.max(1.0);
    loop {
        let next = (2.0 * root + x / (root * root)) / 3.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limit;
    use crate::testing::{Ack, SETUP, arguments, at, lose, mark, ms};

    fn sender(changes: &[(&'static str, Value)]) -> Cubic {
        let mut all = vec![("slow_start", Value::Text("standard".to_owned()))];
        all.extend_from_slice(changes);
        Cubic::new(&arguments(&PARAMETERS, &all), SETUP)
    }
    /// With a window of so many packets, in slow start.
    fn grown(packets: u64, changes: &[(&'static str, Value)]) -> Cubic {
        let mut s = sender(changes);
        Ack::new(at(100), packets * 1000 - 10_000).tell(&mut s);
        assert_eq!(s.allowance().window, packets * 1000);
        s
    }

    #[test]
    fn cube_roots_are_as_near_as_numbers_can_be() {
        for i in 1..2000_u32 {
            let root = f64::from(i) * 0.37;
            let found = cube_root(root * root * root);
            assert!((found - root).abs() <= root * 4.0 * f64::EPSILON, "{root}: {found}");
        }
        assert_eq!((cube_root(0.0), cube_root(-1.0), cube_root(8.0)), (0.0, 0.0, 2.0));
        assert!((cube_root(1e-9) - 1e-3).abs() < 1e-15);
    }

    /// RFC 9438 section 4.2, figures 1, 2 and 4, against the formulas written out a second time, acknowledgement by
    /// acknowledgement: 1000 packets at the loss, 700 after it, so that K = cbrt(300 / 0.4) = 9.0856 s.
    #[test]
    fn the_window_follows_the_curve_sample_by_sample() {
        let mut s = grown(1000, &[]);
        lose(&mut s, at(200), at(150), 1);
        assert_eq!((s.allowance().window, s.ssthresh()), (700_000, Some(700_000)));
        let k = (300.0_f64 / 0.4).cbrt();
        assert!((k - 9.0856).abs() < 1e-4);
        let mut expected = 700.0_f64;
        let begin = 301;
        for i in 0..180_000_u64 {
            // Some 1000 acknowledgements for each round trip of 100 ms.
            let now = Time::from_nanos(begin * 1_000_000 + i * 100_000);
            Ack::new(now, 1000).tell(&mut s);
            let t = i as f64 * 1e-4;
            let w_cubic = |t: f64| 0.4 * (t - k).powi(3) + 1000.0;
            let target = w_cubic(t + 0.1).clamp(expected, 1.5 * expected);
            expected += (target - expected) / expected;
            let window = s.allowance().window as f64 / 1000.0;
            assert!((window - expected).abs() < 0.002, "{t} s: {window}, by the formula {expected}");
            if t > 1.0 && t < 17.0 {
                // And the curve itself: the window lags and leads by less than a round trip.
                let near = w_cubic(t - 0.1) - 1.0..w_cubic(t + 0.1) + 1.0;
                assert!(near.contains(&window), "{t} s: {window}, on the curve {}", w_cubic(t));
            }
        }
        assert!((s.allowance().window / 1000).abs_diff(1283) < 10, "past the plateau the window is convex");
    }

    /// RFC 9438 section 4.3: alpha = 3 (1 - 0.7) / (1 + 0.7) = 0.529 packets for each window, and 1 once the window of
    /// before is reached.
    #[test]
    fn where_the_curve_is_slow_the_window_grows_as_reno_does() {
        let mut s = grown(20, &[]);
        lose(&mut s, at(200), at(150), 1);
        let mut expected = 14.0_f64;
        let mut window = 14.0_f64;
        for round in 0..20_u64 {
            for _ in 0..10 {
                let now = at(301 + 10 * round);
                Ack { rtt: ms(10), ..Ack::new(now, 1000) }.tell(&mut s);
                let alpha = if expected < 20.0 { 9.0 / 17.0 } else { 1.0 };
                expected += alpha / window;
                let t = (10 * round) as f64 * 1e-3;
                let k = (6.0_f64 / 0.4).cbrt();
                let w_cubic = |t: f64| 0.4 * (t - k).powi(3) + 20.0;
                let target = w_cubic(t + 0.01).clamp(window, 1.5 * window);
                let concave = window + (target - window) / window;
                window = if w_cubic(t) < expected { concave.max(expected) } else { concave };
                let told = s.allowance().window as f64 / 1000.0;
                assert!((told - window).abs() < 0.002, "{round}: {told}, by the formula {window}");
            }
        }
        assert!(window > 20.0, "{window}");
        let mut alone = grown(20, &[("reno_friendly", Value::Flag(false))]);
        lose(&mut alone, at(200), at(150), 1);
        (0..200).for_each(|i| Ack { rtt: ms(10), ..Ack::new(at(301 + i), 1000) }.tell(&mut alone));
        assert!(alone.allowance().window < s.allowance().window);
    }

    /// RFC 9438 section 4.2: "if W_cubic(t + RTT) > 1.5 * cwnd".
    #[test]
    fn the_window_grows_by_half_in_a_round_trip_at_most() {
        let mut s = grown(10, &[("c", Value::Number(100.0)), ("reno_friendly", Value::Flag(false))]);
        lose(&mut s, at(200), at(150), 1);
        Ack::new(at(301), 1000).tell(&mut s);
        let before = s.allowance().window;
        Ack::new(at(60_000), 1000).tell(&mut s);
        let step = s.allowance().window - before;
        assert!((400..=500).contains(&step), "a packet acknowledged adds half a packet, not {step}");
        Ack::new(at(60_001), 1_000_000).tell(&mut s);
        assert!(s.allowance().window <= (before + step) * 3 / 2);
    }

    /// RFC 9438 section 4.7.
    #[test]
    fn a_second_loss_below_the_plateau_leaves_room_for_others() {
        for (fast, w_max) in [(true, 595.0), (false, 700.0)] {
            let mut s = grown(1000, &[("fast_convergence", Value::Flag(fast))]);
            lose(&mut s, at(200), at(150), 1);
            lose(&mut s, at(400), at(350), 1);
            assert_eq!(s.allowance().window, 490_000);
            assert!((s.curve.w_max.unwrap() - w_max * 1000.0).abs() < 1e-6);
        }
    }

    /// RFC 9438 section 4.2: the time in which the window is not used is no part of the epoch.
    #[test]
    fn an_idle_sender_does_not_leap_along_the_curve() {
        let busy = |pause: u64| {
            let mut s = grown(1000, &[]);
            lose(&mut s, at(200), at(150), 1);
            (0..1000).for_each(|i| Ack::new(at(301 + i), 1000).tell(&mut s));
            Ack { limit: Limit::Application, ..Ack::new(at(1301), 1000) }.tell(&mut s);
            Ack { limit: Limit::Application, ..Ack::new(at(1302 + pause / 2), 1000) }.tell(&mut s);
            (0..1000).for_each(|i| Ack::new(at(1302 + pause + i), 1000).tell(&mut s));
            s.allowance().window
        };
        assert_eq!(busy(0).abs_diff(busy(20_000)), 0);
        assert!(busy(0) > 700_000);
    }

    /// RFC 9438 section 4.9: what turns out not to be lost gives back the window, the plateau and the epoch.
    #[test]
    fn a_spurious_loss_is_undone() {
        let mut s = grown(1000, &[]);
        lose(&mut s, at(200), at(150), 1);
        (0..1000).for_each(|i| Ack::new(at(301 + i), 1000).tell(&mut s));
        let (before, curve) = (s.allowance().window, format!("{:?}", s.curve));
        lose(&mut s, at(2000), at(1950), 2);
        lose(&mut s, at(2001), at(1951), 1);
        assert!(s.allowance().window.abs_diff(before * 7 / 10) <= 1);
        let reduced = s.allowance().window;
        let spurious = |sent, packets| Signal::Spurious {
            now: at(2050),
            packets,
            bytes: packets * 1000,
            newest_sent_at: at(sent),
        };
        s.on_signal(&spurious(140, 5));
        s.on_signal(&spurious(1950, 2));
        assert_eq!(s.allowance().window, reduced, "one is still missing, those of long ago do not count");
        s.on_signal(&spurious(1951, 1));
        assert_eq!(format!("{:?}", s.curve), curve);
        s.on_signal(&spurious(1951, 1));
        assert_eq!(s.allowance().window, before, "once");
    }

    /// RFC 9438 section 4.9: not where a mark came too, not where the options say no.
    #[test]
    fn a_mark_is_never_spurious() {
        let spurious = Signal::Spurious { now: at(300), packets: 1, bytes: 1000, newest_sent_at: at(150) };
        let mut s = grown(100, &[]);
        lose(&mut s, at(200), at(150), 1);
        mark(&mut s, at(201), at(151));
        s.on_signal(&spurious);
        assert_eq!(s.allowance().window, 70_000);
        let mut s = grown(100, &[("spurious_undo", Value::Flag(false))]);
        lose(&mut s, at(200), at(150), 1);
        s.on_signal(&spurious);
        assert_eq!(s.allowance().window, 70_000);
    }

    /// RFC 9438 section 4.6; RFC 8511 section 3.
    #[test]
    fn a_mark_counts_as_a_loss_unless_the_options_say_less() {
        for (changes, left) in [(vec![], 70_000), (vec![("beta_ecn", Value::Number(0.85))], 85_000)] {
            let mut s = grown(100, &changes);
            mark(&mut s, at(200), at(150));
            assert_eq!((s.allowance().window, s.state()), (left, "recovery"));
            mark(&mut s, at(210), at(199));
            assert_eq!(s.allowance().window, left);
        }
    }

    /// RFC 9438 section 4.8: K is 0 and the plateau is where congestion avoidance begins.
    #[test]
    fn after_persistent_congestion_the_curve_begins_on_its_plateau() {
        let mut s = grown(100, &[]);
        lose(&mut s, at(200), at(150), 1);
        s.on_signal(&Signal::PersistentCongestion);
        assert_eq!((s.allowance().window, s.ssthresh(), s.state()), (2_000, Some(70_000), "slow_start"));
        Ack::new(at(400), 68_000).tell(&mut s);
        assert_eq!((s.allowance().window, s.state()), (70_000, "congestion_avoidance"));
        let epoch = s.curve.epoch.unwrap();
        assert_eq!((epoch.k, epoch.w_max), (0.0, 70_000.0));
    }

    /// RFC 9000 section 9.4.
    #[test]
    fn another_path_is_begun_anew() {
        let mut s = grown(100, &[]);
        lose(&mut s, at(200), at(150), 1);
        s.on_signal(&Signal::PathChanged);
        assert_eq!((s.allowance().window, s.ssthresh(), s.state()), (10_000, None, "slow_start"));
    }
}
