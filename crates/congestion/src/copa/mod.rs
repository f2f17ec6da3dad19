//! Copa (Arun and Balakrishnan, NSDI 2018): a target rate that decreases with queueing delay.

mod delays;
mod mode;
#[cfg(test)]
mod tests;

use crate::basis::{Basis, WindowOptions};
use crate::recovery_period::RecoveryPeriod;
use crate::round::Rounds;
use crate::{AckSample, Allowance, Controller, MAX_WINDOW, Sent, Setup, Signal};
use delays::Delays;
use mode::Mode;
use units::parameter::{Arguments, Options, Row};
use units::{Duration, Rate, Size, Time};

/// The options of Copa.
#[derive(Debug, Clone, Options)]
struct CopaOptions {
    /// weight of delay against rate: the flow aims at 1/delta packets in queues (Copa section 2.1: 0.5)
    #[option(default = 0.5, within = 0.001..=1.0)]
    delta: f64,
    /// switch to the competitive mode while the queue is never nearly empty (Copa section 2.2)
    #[option(default = true)]
    competitive: bool,
    /// time over which the minimum RTT is taken (Copa section 2.1: 10 s)
    #[option(default = "10 s")]
    min_rtt_window: Duration,
    /// pacing rate in windows per standing RTT (Copa section 2.1: 2)
    #[option(default = 2.0, within = 1.0..=100.0)]
    pacing_gain: f64,
    #[options]
    window: WindowOptions,
}

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "copa",
    about: "Copa: aims at a rate of one packet per delta times the queueing delay, and competes with flows that fill buffers in a mode of its own (NSDI 2018)",
    parameters: CopaOptions::PARAMETERS,
    build: &|arguments, setup| Box::new(Copa::new(arguments, setup)),
};

/// The number of windows in one direction before the velocity grows (section 2.1).
const STEADY_ROUNDS: u32 = 3;

/// The state of one Copa sender.
#[derive(Debug)]
pub struct Copa {
    basis: Basis,
    min_rtt_window: Duration,
    pacing_gain: f64,
    /// In bytes.
    window: f64,
    slow_start: bool,
    delays: Delays,
    /// Round trips, for 1/delta.
    rounds: Rounds,
    /// Windows, for the velocity. A change of direction starts a new one.
    windows: Rounds,
    velocity: Velocity,
    mode: Mode,
    allowance: Allowance,
}

/// The speed and direction of the window (section 2.1).
#[derive(Debug, Clone, Copy)]
struct Velocity {
    value: f64,
    up: bool,
    /// The number of windows in this direction.
    steady: u32,
    /// The window at the start of the current one.
    before: f64,
}

impl Velocity {
    const fn new(window: f64) -> Velocity {
        Velocity { value: 1.0, up: true, steady: 0, before: window }
    }
    /// Sets the direction of the window. As in the authors' code, a change takes effect at once and not at the end of
    /// a window; otherwise the step back would be as long as the last step forward. Returns whether the direction
    /// changed.
    fn turn(&mut self, up: bool, window: f64) -> bool {
        let turned = up != self.up;
        if turned {
            *self = Velocity { up, ..Velocity::new(window) };
        }
        turned
    }
    /// Called once per window.
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
    /// Creates a sender in slow start.
    pub fn new(arguments: &Arguments, setup: Setup) -> Copa {
        let options = CopaOptions::of(arguments);
        let basis = Basis::unpaced(&options.window, setup);
        let window = basis.initial() as f64;
        let min_rtt_window = options.min_rtt_window;
        let mut sender = Copa {
            basis,
            min_rtt_window,
            pacing_gain: options.pacing_gain,
            window,
            slow_start: true,
            delays: Delays::default(),
            rounds: Rounds::new(),
            windows: Rounds::new(),
            velocity: Velocity::new(window),
            mode: Mode::new(options.delta, options.competitive, min_rtt_window),
            allowance: Allowance::new(0, None),
        };
        sender.allow();
        sender
    }

    fn allow(&mut self) {
        self.window = self.window.clamp(self.basis.minimum() as f64, MAX_WINDOW as f64);
        let window = self.window.round() as u64;
        let span = if self.delays.known() { self.delays.standing() } else { self.basis.smoothed_rtt };
        let paced = Size::from_bytes((self.window * self.pacing_gain) as u64);
        let rate = Rate::of(paced, span.max(Duration::from_nanos(1)));
        self.allowance = Allowance::new(window, Some(rate));
    }

    /// Section 2.1: whether the rate is below its target, cwnd / RTTstanding <= 1 / (delta d_q).
    ///
    /// RTTstanding belongs to packets sent a round trip ago. While the window falls, it has shrunk since, so the
    /// quotient is below the rate that caused this queue, and the sender would turn before the queue is empty. So the
    /// bytes in flight along with the packet are used instead, except against buffer-filling senders, where only the
    /// paper's rule keeps its share.
    fn below_target(&self, ack: &AckSample<'_>) -> bool {
        let queueing = self.delays.queueing().as_nanos() as f64;
        // Slow start never decreases; any excess over the window was sent before a persistent congestion.
        let rising = self.slow_start;
        let window = match ack.rate {
            Some(sample) if !rising && !self.mode.among_fillers(ack.now, &self.delays) => {
                self.window.max(sample.in_flight as f64)
            }
            _ => self.window,
        };
        let packets = window / self.basis.datagram() as f64;
        packets * queueing <= self.mode.inverse_delta() * self.delays.standing().as_nanos() as f64
    }

    /// Section 2.1, steps 3 and 4.
    fn move_window(&mut self, ack: &AckSample<'_>, window_over: bool) {
        let acked = ack.acked_bytes;
        let below = self.below_target(ack);
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
        // "cwnd = cwnd +- v / (delta cwnd)" for each packet; a round trip at most doubles the window or reduces it to
        // the minimum.
        let datagram = self.basis.datagram() as f64;
        let for_each_window = (self.velocity.value * self.mode.inverse_delta() * datagram).min(self.window);
        let step = for_each_window * (acked as f64 / self.window).min(1.0);
        debug_assert!(
            step >= 0.0 && step <= self.window,
            "a step neither turns the window around nor doubles it"
        );
        self.window += if below { step } else { -step };
    }

    fn on_congestion(&mut self, now: Time, newest_sent_at: Time) {
        if self.basis.recovery.begin(now, newest_sent_at) {
            self.mode.on_congestion();
        }
    }

    fn begin(&mut self, window: f64) {
        self.window = window;
        self.slow_start = true;
        self.velocity = Velocity::new(window);
        self.mode.restart();
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
        self.mode.on_ack(ack.now, &self.delays, smoothed, round);
        // Losses do not freeze the window, so growth continues in recovery.
        if !ack.app_limited() {
            self.move_window(ack, window_over);
        } else if window_over {
            self.velocity = Velocity::new(self.window);
        }
        self.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            // RFC 9002 section 7.1: a mark counts as a loss; Copa itself does not mention marks.
            Signal::Lost { now, newest_sent_at, .. } => {
                self.mode.on_loss(now, &self.delays);
                self.on_congestion(now, newest_sent_at);
            }
            Signal::Marked { now, newest_sent_at, .. } => self.on_congestion(now, newest_sent_at),
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
                self.mode.forget();
                self.rounds.restart(self.basis.delivered);
                self.windows.restart(self.basis.delivered);
                self.begin(window as f64);
            }
            Signal::Resume { adjustment, .. } => {
                let (mut window, mut threshold) = (self.window, f64::INFINITY);
                self.basis.resume_unrounded(adjustment, &mut window, &mut threshold);
                let slow_start = self.slow_start;
                self.begin(window);
                // It has no threshold: slow start goes on after a jump, and not after a retreat.
                self.slow_start = slow_start && threshold.is_infinite();
            }
        }
        self.allow();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }
    fn state(&self) -> &'static str {
        match (self.slow_start, self.mode.competes()) {
            (true, _) => "slow_start",
            (false, false) => "default_mode",
            (false, true) => "competitive_mode",
        }
    }
    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("copa_delta", 1.0 / self.mode.inverse_delta());
        record("copa_velocity", self.velocity.value);
        if self.delays.known() {
            record("copa_queueing_delay_s", self.delays.queueing().as_secs_f64());
        }
    }
}
