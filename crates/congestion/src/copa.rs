//! Copa (Arun and Balakrishnan, NSDI 2018): a target rate that falls with the delay in queues.

use crate::basis::{Basis, MINIMUM_WINDOW};
use crate::filter::WindowedMax;
use crate::recovery_period::RecoveryPeriod;
use crate::round::Rounds;
use crate::{AckSample, Allowance, Controller, MAX_WINDOW, Sent, Setup, Signal};
use units::parameter::{Arguments, Default, Kind, Parameter, Row};
use units::{Duration, Rate, Size, Time};

const DELTA: Parameter = Parameter {
    name: "delta",
    kind: Kind::Number(0.001, 1.0),
    default: Default::Is("0.5"),
    about: "how much delay weighs against rate: 1/delta packets in queues (Copa section 2.1: 0.5)",
};
pub(crate) const ROW: Row<crate::Build> = Row {
    name: "copa",
    about: "Copa: towards a rate of a packet for each delta times the queueing delay, with a mode for company that fills buffers (NSDI 2018)",
    parameters: &PARAMETERS,
    build: &|arguments, setup| Box::new(Copa::new(arguments, setup)),
};
pub(crate) const PARAMETERS: [Parameter; 5] = [
    DELTA,
    Parameter {
        name: "competitive",
        kind: Kind::Flag,
        default: Default::Is("true"),
        about: "change to the competitive mode while a queue is never nearly empty (Copa section 2.2)",
    },
    Parameter {
        name: "min_rtt_window",
        kind: Kind::Duration,
        default: Default::Is("\"10 s\""),
        about: "the least RTT is that of this span (Copa section 2.1: 10 s)",
    },
    Parameter {
        name: "pacing_gain",
        kind: Kind::Number(1.0, 100.0),
        default: Default::Is("2.0"),
        about: "pacing rate in windows per standing RTT (Copa section 2.1: 2)",
    },
    MINIMUM_WINDOW,
];

/// For so many round trips without a nearly empty queue there must be others that fill it (section 2.2).
const FULL_ROUNDS: u64 = 5;
/// Round trips over which the greatest RTT is taken (section 2.2).
const GREATEST_ROUNDS: u64 = 4;
/// Windows in one direction before the velocity grows (section 2.1).
const STEADY_ROUNDS: u32 = 3;

/// The state of one Copa sender.
#[derive(Debug)]
pub struct Copa {
    basis: Basis,
    delta: f64,
    competitive: bool,
    min_rtt_window: Duration,
    pacing_gain: f64,
    /// In bytes.
    window: f64,
    slow_start: bool,
    delays: Delays,
    /// Round trips, for 1/delta.
    rounds: Rounds,
    /// Windows, for the velocity: the first begins with each turn.
    windows: Rounds,
    velocity: Velocity,
    /// When the queue was nearly empty last.
    emptied_at: Option<Time>,
    /// 1/delta in the competitive mode; `None` in the default mode.
    competing: Option<f64>,
    allowance: Allowance,
}

/// The least RTTs of a short and of a long time, and the greatest of a few round trips.
#[derive(Debug, Clone, Copy, std::default::Default)]
struct Delays {
    standing: Least,
    least: Least,
    greatest: WindowedMax,
}

/// The least value of a window: the largest of what is missing to all there is.
#[derive(Debug, Clone, Copy, std::default::Default)]
struct Least(WindowedMax);

impl Least {
    fn update(&mut self, now: Time, value: Duration, window: Duration) {
        self.0.update(window.as_nanos(), now.as_nanos(), u64::MAX - value.as_nanos());
    }
    fn get(&self) -> Duration {
        Duration::from_nanos(u64::MAX - self.0.get())
    }
}

impl Delays {
    /// Section 2.1: RTTstanding over half a smoothed RTT, RTTmin over ten seconds.
    fn update(&mut self, now: Time, latest: Duration, smoothed: Duration, long: Duration) {
        self.standing.update(now, latest, smoothed / 2);
        self.least.update(now, latest, long);
        let window = (smoothed * GREATEST_ROUNDS).as_nanos();
        self.greatest.update(window, now.as_nanos(), latest.as_nanos());
    }
    /// d_q = RTTstanding - RTTmin.
    fn queueing(&self) -> Duration {
        let (standing, least) = (self.standing.get(), self.least.get());
        if standing > least { standing - least } else { Duration::ZERO }
    }
    /// Section 2.2: below a tenth of how much the delay swings.
    fn nearly_empty(&self) -> bool {
        let swing = self.greatest.get().saturating_sub(self.least.get().as_nanos());
        self.queueing().as_nanos() <= swing / 10
    }
}

/// How fast the window moves, and where to (section 2.1).
#[derive(Debug, Clone, Copy)]
struct Velocity {
    value: f64,
    up: bool,
    /// Windows in this direction.
    steady: u32,
    /// The window when this one began.
    before: f64,
}

impl Velocity {
    const fn new(window: f64) -> Velocity {
        Velocity { value: 1.0, up: true, steady: 0, before: window }
    }
    /// The window is to move this way now. A turn counts at once, as in the authors' own code, and not when the window
    /// ends: else the step back is as long as the last one forward had become.
    /// Whether it is one.
    fn turn(&mut self, up: bool, window: f64) -> bool {
        let turned = up != self.up;
        if turned {
            *self = Velocity { up, ..Velocity::new(window) };
        }
        turned
    }
    /// Once in each window.
    fn end_window(&mut self, window: f64) {
        let up = window > self.before;
        if up == self.up {
            self.steady += 1;
            // "only after the direction has remained the same for three RTTs".
            if self.steady >= STEADY_ROUNDS {
                self.value = (self.value * 2.0).min(1e9);
            }
        } else {
            *self = Velocity { up, ..Velocity::new(window) };
        }
        self.before = window;
    }
}

impl Copa {
    /// A sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> Copa {
        let basis = Basis::unpaced(arguments, setup);
        let window = basis.initial() as f64;
        let mut sender = Copa {
            basis,
            delta: arguments.number("delta"),
            competitive: arguments.flag("competitive"),
            min_rtt_window: arguments.duration("min_rtt_window"),
            pacing_gain: arguments.number("pacing_gain"),
            window,
            slow_start: true,
            delays: Delays::default(),
            rounds: Rounds::new(),
            windows: Rounds::new(),
            velocity: Velocity::new(window),
            emptied_at: None,
            competing: None,
            allowance: Allowance::new(0, None),
        };
        sender.allow();
        sender
    }

    fn allow(&mut self) {
        self.window = self.window.clamp(self.basis.minimum() as f64, MAX_WINDOW as f64);
        let window = self.window.round() as u64;
        let known = self.delays.standing.0.get() > 0;
        let span = if known { self.delays.standing.get() } else { self.basis.smoothed_rtt };
        let paced = Size::from_bytes((self.window * self.pacing_gain) as u64);
        let rate = Rate::of(paced, span.max(Duration::from_nanos(1)));
        self.allowance = Allowance::new(window, Some(rate));
    }

    /// 1/delta as it is now, in packets.
    fn inverse_delta(&self) -> f64 {
        self.competing.unwrap_or(1.0 / self.delta)
    }

    /// Section 2.1: whether the rate is below its target, cwnd / RTTstanding <= 1 / (delta d_q).
    fn below_target(&self) -> bool {
        let queueing = self.delays.queueing().as_nanos() as f64;
        let packets = self.window / self.basis.datagram() as f64;
        packets * queueing <= self.inverse_delta() * self.delays.standing.get().as_nanos() as f64
    }

    /// Section 2.2: which mode it is, and 1/delta in the competitive one, which grows by one in each round trip.
    fn choose_mode(&mut self, now: Time, round: bool) {
        let emptied_at = *self.emptied_at.get_or_insert(now);
        if self.delays.nearly_empty() {
            self.emptied_at = Some(now);
            self.competing = None;
        } else if self.competitive && now.since(emptied_at) > self.basis.smoothed_rtt * FULL_ROUNDS {
            let inverse = self.competing.unwrap_or(1.0 / self.delta);
            self.competing = Some(if round { (inverse + 1.0).min(1e9) } else { inverse });
        }
    }

    /// Section 2.1, steps 3 and 4.
    fn move_window(&mut self, ack: &AckSample<'_>, window_over: bool) {
        let acked = ack.acked_bytes;
        let below = self.below_target();
        if self.slow_start {
            if below {
                self.window += acked as f64;
                return;
            }
            self.slow_start = false;
            self.windows.restart(ack.delivered);
            self.velocity = Velocity { up: false, ..Velocity::new(self.window) };
        }
        if window_over {
            self.velocity.end_window(self.window);
        }
        if self.velocity.turn(below, self.window) {
            self.windows.restart(ack.delivered);
        }
        // "cwnd = cwnd +- v / (delta cwnd)" for each packet; not more than the window doubles or vanishes in a round trip.
        let datagram = self.basis.datagram() as f64;
        let for_each_window = (self.velocity.value * self.inverse_delta() * datagram).min(self.window);
        let step = for_each_window * (acked as f64 / self.window).min(1.0);
        self.window += if below { step } else { -step };
    }

    fn on_congestion(&mut self, now: Time, newest_sent_at: Time) {
        if self.basis.recovery.begin(now, newest_sent_at) {
            // Section 2.2: multiplicative decrease of 1/delta, not below the default mode's. That mode itself does not
            // answer to losses.
            let least = 1.0 / self.delta;
            self.competing = self.competing.map(|inverse| (inverse / 2.0).max(least));
        }
    }

    fn begin(&mut self, window: f64) {
        self.window = window;
        self.slow_start = true;
        self.velocity = Velocity::new(window);
        self.competing = None;
        self.emptied_at = None;
    }
}

impl Controller for Copa {
    fn on_sent(&mut self, _sent: &Sent) {}

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.basis.on_ack(ack);
        let smoothed = self.basis.smoothed_rtt;
        self.delays.update(ack.now, ack.rtt.latest(), smoothed, self.min_rtt_window);
        let window_over = self.windows.on_ack(ack);
        let round = self.rounds.on_ack(ack);
        self.choose_mode(ack.now, round);
        // Losses do not hold the window, so that there is no recovery without growth.
        if !ack.app_limited() {
            self.move_window(ack, window_over);
        } else if window_over {
            self.velocity = Velocity::new(self.window);
        }
        self.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            // RFC 9002 section 7.1: a mark counts as a loss; Copa itself does not speak of marks.
            Signal::Lost { now, newest_sent_at, .. } | Signal::Marked { now, newest_sent_at, .. } => {
                self.on_congestion(now, newest_sent_at);
            }
            Signal::PersistentCongestion => {
                self.basis.recovery = RecoveryPeriod::default();
                self.begin(self.basis.minimum() as f64);
            }
            Signal::Spurious { .. } => {}
            Signal::DatagramSize { bytes } => {
                self.window = self.window.max(self.basis.resize(0, bytes) as f64);
            }
            Signal::PathChanged => {
                let window = self.basis.restart();
                self.delays = Delays::default();
                self.rounds.restart(self.basis.delivered);
                self.windows.restart(self.basis.delivered);
                self.begin(window as f64);
            }
        }
        self.allow();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }
    fn state(&self) -> &'static str {
        match (self.slow_start, self.competing) {
            (true, _) => "slow_start",
            (false, None) => "default_mode",
            (false, Some(_)) => "competitive_mode",
        }
    }
    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("copa_delta", 1.0 / self.inverse_delta());
        record("copa_velocity", self.velocity.value);
        if self.delays.standing.0.get() > 0 {
            record("copa_queueing_delay_s", self.delays.queueing().as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bottleneck, Path, SETUP, arguments, at, lose, mark, ms};
    use units::parameter::Value;

    fn sender(changes: &[(&'static str, Value)]) -> Copa {
        Copa::new(&arguments(&PARAMETERS, changes), SETUP)
    }
    fn packets(s: &Copa) -> u64 {
        s.allowance().window.div_ceil(1000)
    }
    /// A bottleneck of one packet for each millisecond behind 100 ms: what is more than 100 packets waits in it.
    fn through_bottleneck(s: &mut Copa, path: &mut Path, others: u64) {
        let waiting = (packets(s) + others).saturating_sub(100);
        path.round(s, ms(100 + waiting), 0);
    }

    /// The largest and the mean queue after five seconds at a packet for each half millisecond, both times delta.
    fn queue(delta: f64, rtt: u64, competitive: bool) -> (f64, f64) {
        let mut s = sender(&[("delta", Value::Number(delta)), ("competitive", Value::Flag(competitive))]);
        let mut path = Bottleneck::new(Duration::from_micros(500), ms(rtt));
        path.run(&mut s, at(5_000), &mut |_| {});
        let (mut most, mut sum, mut count) = (0.0_f64, 0.0, 0.0);
        path.run(&mut s, at(20_000), &mut |queue| {
            most = most.max(queue);
            sum += queue;
            count += 1.0;
        });
        assert!(count > 0.99 * 30_000.0, "delta {delta}, {rtt} ms: {count} packets in 15 s");
        (most * delta, sum / count * delta)
    }

    /// The analysis of the paper: the queue swings between nothing and 2.5/delta packets, 1.25/delta in the mean.
    #[test]
    fn the_queue_swings_around_its_equilibrium() {
        for (delta, rtt) in [(0.5, 20), (0.5, 80), (0.25, 20), (0.25, 80), (0.1, 40), (0.1, 80)] {
            let (most, mean) = queue(delta, rtt, false);
            assert!((1.1..1.4).contains(&mean), "delta {delta}, {rtt} ms: mean {mean} / delta");
            assert!((2.0..=2.5).contains(&most), "delta {delta}, {rtt} ms: at most {most} / delta");
        }
    }

    /// Section 2.2: alone it empties the queue in each swing and so stays in the default mode. Where a swing is but five
    /// packets, "nearly empty" is less than one, and the sender is now and then mistaken for some round trips.
    #[test]
    fn alone_it_does_not_compete() {
        for (delta, rtt) in [(0.25, 20), (0.25, 80), (0.1, 40), (0.1, 80)] {
            let (most, mean) = queue(delta, rtt, true);
            assert!(mean < 1.4 && most <= 2.5, "delta {delta}, {rtt} ms: mean {mean}, most {most} / delta");
        }
        let (_, mean) = queue(0.5, 20, true);
        assert!(mean < 1.6, "mean {mean} / delta");
    }

    /// Section 2.1: 2 cwnd / RTTstanding.
    #[test]
    fn packets_are_paced_at_two_windows_for_each_standing_rtt() {
        let mut s = sender(&[]);
        Path::new().round(&mut s, ms(50), 0);
        assert_eq!(s.allowance(), Allowance::new(20_000, Some(Rate::from_bits_per_sec(2 * 20_000 * 8 * 20))));
    }

    /// Section 2.1: after three windows in one direction the velocity doubles, and a turn sets it back.
    #[test]
    fn the_velocity_doubles_while_the_direction_stays() {
        let mut velocity = Velocity::new(10.0);
        let mut values = Vec::new();
        for window in [11.0, 12.0, 13.0, 14.0, 16.0, 20.0, 19.0, 18.0] {
            velocity.end_window(window);
            values.push(velocity.value);
        }
        assert_eq!(values, [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 1.0, 1.0]);
    }

    /// Section 2.2: where others keep the queue full, 1/delta grows by one in each round trip, and a loss halves it.
    #[test]
    fn among_buffer_fillers_it_competes() {
        let mut s = sender(&[]);
        let mut path = Path::new();
        for _ in 0..20 {
            through_bottleneck(&mut s, &mut path, 0);
        }
        assert_eq!(s.state(), "default_mode");
        for _ in 0..30 {
            through_bottleneck(&mut s, &mut path, 200);
        }
        assert_eq!(s.state(), "competitive_mode");
        let before = s.inverse_delta();
        assert!(before > 10.0, "{before}");
        lose(&mut s, path.now, path.now, 1);
        assert_eq!(s.inverse_delta(), before / 2.0);
        mark(&mut s, path.now, path.now);
        assert_eq!(s.inverse_delta(), before / 2.0, "once in a round trip");
        for _ in 0..20 {
            path.round(&mut s, ms(100), 0);
        }
        assert_eq!((s.state(), s.inverse_delta()), ("default_mode", 2.0));
    }

    /// Section 2.1: the default mode does not answer to losses.
    #[test]
    fn a_loss_alone_changes_nothing_in_the_default_mode() {
        let mut s = sender(&[]);
        let mut path = Path::new();
        path.round(&mut s, ms(100), 0);
        let before = s.allowance();
        lose(&mut s, path.now, path.now, 3);
        assert_eq!(s.allowance(), before);
        s.on_signal(&Signal::PersistentCongestion);
        assert_eq!((s.allowance().window, s.state()), (2_000, "slow_start"));
    }
}
