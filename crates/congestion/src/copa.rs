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
/// "Nearly empty" is a queueing delay below this share of its swing (section 2.2).
const EMPTY_SHARE: f64 = 0.1;
/// Packets of a sender in the queue at the greatest, times delta, in the default mode (figure 1).
const SWING: f64 = 2.5;
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
    /// The last loss.
    lost_at: Option<Time>,
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
    /// Section 2.2: below this share of how much the delay swings.
    fn nearly_empty(&self, share: f64) -> bool {
        let swing = self.greatest.get().saturating_sub(self.least.get().as_nanos());
        self.queueing().as_nanos() as f64 <= swing as f64 * share
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
            lost_at: None,
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
    ///
    /// RTTstanding belongs to packets that were sent a round trip ago. While the window falls it has become smaller since,
    /// so that the quotient is less than the rate that made this queue, and the sender turns before the queue is empty.
    /// What was in flight with the packet counts then: unless others fill the buffer, against whom it is the paper's rule
    /// that holds its own.
    fn below_target(&self, ack: &AckSample<'_>) -> bool {
        let queueing = self.delays.queueing().as_nanos() as f64;
        // Slow start does not fall: what is above the window then was sent before a persistent congestion.
        let rising = self.slow_start;
        let among_fillers = self.competing.is_some() && self.saw_full_buffer(ack.now);
        let window = match ack.rate {
            Some(sample) if !rising && !among_fillers => self.window.max(sample.in_flight as f64),
            _ => self.window,
        };
        let packets = window / self.basis.datagram() as f64;
        packets * queueing <= self.inverse_delta() * self.delays.standing.get().as_nanos() as f64
    }

    /// Whether packets were lost as long ago as RTTmin is remembered: a full buffer, and so senders that fill it.
    fn saw_full_buffer(&self, now: Time) -> bool {
        self.lost_at.is_some_and(|at| now.since(at) < self.min_rtt_window)
    }

    /// Below what share of its swing a queueing delay counts as that of an empty queue. A sender puts whole packets into
    /// the queue, and so cannot tell less than one of its own from none: with the default of delta one is a fifth of the
    /// swing, and the paper's tenth is half a packet.
    fn empty_share(&self, now: Time) -> f64 {
        if self.saw_full_buffer(now) { EMPTY_SHARE } else { EMPTY_SHARE.max(self.delta / SWING) }
    }

    /// Section 2.2: which mode it is, and 1/delta in the competitive one, which grows by one in each round trip.
    fn choose_mode(&mut self, now: Time, round: bool) {
        let emptied_at = *self.emptied_at.get_or_insert(now);
        if self.delays.nearly_empty(self.empty_share(now)) {
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
            Signal::Lost { now, newest_sent_at, .. } => {
                self.lost_at = Some(now);
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
                self.lost_at = None;
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
    use crate::testing::{Ack, Begin, Bottleneck, Path, SETUP, arguments, at, lose, mark, ms};
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

    /// Section 2.2: alone it empties the queue in each swing and so stays in the default mode.
    #[test]
    fn alone_it_does_not_compete() {
        for (delta, rtt) in [(0.25, 20), (0.25, 80), (0.1, 40), (0.1, 80)] {
            let (most, mean) = queue(delta, rtt, true);
            assert!(mean < 1.4 && most <= 2.5, "delta {delta}, {rtt} ms: mean {mean}, most {most} / delta");
        }
        let (_, mean) = queue(0.5, 20, true);
        assert!(mean < 1.4, "mean {mean} / delta");
    }

    /// What several senders did in the last part of their time together.
    #[derive(Debug)]
    struct Company {
        /// Packets that an arriving one finds in the queue, in the mean and at least.
        mean: f64,
        least: f64,
        /// Share of the bottleneck's time.
        utilisation: f64,
        /// Jain's index of what each sent.
        fairness: f64,
        /// Share of the time in the competitive mode, in the mean over all.
        competing: f64,
    }

    /// So many senders, 500 ms one after the other, at a packet for each half millisecond: from 30 to 60 s.
    fn company(number: u64, delta: f64, competitive: bool) -> Company {
        let begins: Vec<Begin> =
            (0..number).map(|i| Begin { at: at(500 * i), propagation: ms(40) }).collect();
        let mut path = Bottleneck::shared(Duration::from_micros(500), &begins);
        let changes = [("delta", Value::Number(delta)), ("competitive", Value::Flag(competitive))];
        let mut senders: Vec<Copa> = begins.iter().map(|_| sender(&changes)).collect();
        let mut each = vec![0.0; begins.len()];
        let (mut sum, mut least, mut competing) = (0.0, f64::MAX, 0.0);
        let (from, until, step) = (30_000, 60_000, 10);
        for now in (step..=until).step_by(step as usize) {
            let mut all: Vec<&mut dyn Controller> = Vec::new();
            all.extend(senders.iter_mut().map(|s| s as &mut dyn Controller));
            path.run_all(&mut all, at(now), &mut |arrival| {
                if now > from {
                    each[arrival.sender] += 1.0;
                    sum += arrival.queue;
                    least = arrival.queue.min(least);
                }
            });
            if now > from {
                competing += senders.iter().filter(|s| s.competing.is_some()).count() as f64;
            }
        }
        let packets: f64 = each.iter().sum();
        let squares: f64 = each.iter().map(|packets| packets * packets).sum();
        Company {
            mean: sum / packets,
            least,
            utilisation: packets * 0.5 / (until - from) as f64,
            fairness: packets * packets / (squares * number as f64),
            competing: competing * step as f64 / ((until - from) * number) as f64,
        }
    }

    /// Section 2.1 and its figure 1: senders among their own kind empty the queue in each swing, whose mean is not above
    /// 1.25/delta packets for each of them, and so go on to know the RTT without a queue.
    #[test]
    fn among_their_own_kind_they_empty_the_queue() {
        for delta in [0.5, 0.1] {
            for number in [2, 3, 5, 10] {
                let seen = company(number, delta, false);
                let bound = 1.25 * number as f64 / delta;
                assert!(seen.least < 1.0 && seen.mean <= bound, "{number}, delta {delta}: {seen:?}");
                assert!(seen.utilisation > 0.96 && seen.fairness > 0.98, "{number}, delta {delta}: {seen:?}");
            }
        }
    }

    /// Section 2.2: nobody competes, which the queue tells that is empty now and again. Where five and more share 80
    /// packets some now and then take the others for competitors; they find out, and the queue does not grow.
    #[test]
    fn among_their_own_kind_they_find_out_that_nobody_competes() {
        for (number, delta, most, share) in [
            (2, 0.5, 5.0, 0.05),
            (3, 0.5, 7.5, 0.05),
            (5, 0.5, 20.0, 0.25),
            (10, 0.5, 75.0, 0.7),
            (2, 0.1, 25.0, 0.05),
            (3, 0.1, 37.5, 0.05),
            (5, 0.1, 62.5, 0.05),
        ] {
            let seen = company(number, delta, true);
            assert!(seen.mean <= most && seen.competing <= share, "{number}, delta {delta}: {seen:?}");
            assert!(seen.least < 1.0 && seen.utilisation > 0.97, "{number}, delta {delta}: {seen:?}");
            assert!(seen.fairness > 0.98, "{number}, delta {delta}: {seen:?}");
        }
    }

    /// The share of one beside another sender, in a minute, in a buffer of so many packets.
    fn share_beside(other: &str, limit: f64, start: u64) -> f64 {
        let begins = [0, start].map(|ms| Begin { at: at(ms), propagation: Duration::from_millis(40) });
        let mut path = Bottleneck::shared(Duration::from_micros(500), &begins);
        path.limit = limit;
        let row = crate::CONTROLLERS.iter().find(|row| row.name == other).unwrap();
        let mut other = (row.build)(&arguments(row.parameters, &[]), SETUP);
        let mut copa = sender(&[]);
        let mut each = [0.0; 2];
        path.run_all(&mut [&mut copa, &mut *other], at(60_000), &mut |arrival| each[arrival.sender] += 1.0);
        each[0] / (each[0] + each[1])
    }

    /// Section 2.2: beside a sender that fills the buffer it competes. Its share depends on when the other one began.
    #[test]
    fn beside_buffer_fillers_it_takes_its_share() {
        for (other, limit) in [("newreno", 80.0), ("newreno", 160.0), ("cubic", 80.0)] {
            let shares = [100, 500, 1300, 2100].map(|start| share_beside(other, limit, start));
            let mean = shares.iter().sum::<f64>() / 4.0;
            assert!((0.33..0.6).contains(&mean), "{shares:?} beside {other} with {limit} packets of buffer");
        }
    }

    /// What was sent before a persistent congestion does not end the slow start that follows.
    #[test]
    fn slow_start_looks_at_its_window_alone() {
        let mut s = sender(&[]);
        let mut path = Path::new();
        path.round(&mut s, ms(100), 0);
        s.on_signal(&Signal::PersistentCongestion);
        let before = s.window;
        let (now, rtt) = (path.now + ms(150), ms(150));
        let mut ack = Ack::new(now, 1000);
        (ack.rtt, ack.in_flight) = (rtt, 100_000);
        path.rtt.update(rtt, Duration::ZERO);
        ack.tell_with(&mut s, &path.rtt);
        assert_eq!((s.state(), s.window), ("slow_start", before + 1000.0));
    }

    /// A loss tells of a full buffer for as long as RTTmin is remembered; then "nearly empty" is a tenth of the swing.
    #[test]
    fn after_a_loss_the_paper_holds_to_the_letter() {
        let mut s = sender(&[]);
        assert_eq!(
            (s.empty_share(at(0)), sender(&[("delta", Value::Number(0.1))]).empty_share(at(0))),
            (0.2, 0.1)
        );
        mark(&mut s, at(1_000), at(999));
        assert_eq!(s.empty_share(at(1_000)), 0.2, "a mark is no full buffer");
        lose(&mut s, at(1_000), at(999), 1);
        assert_eq!([1_000, 10_999, 11_000].map(|ms| s.empty_share(at(ms))), [0.1, 0.1, 0.2]);
        s.on_signal(&Signal::PathChanged);
        assert_eq!(s.empty_share(at(1_000)), 0.2);
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
        s.competing = Some(3.0);
        lose(&mut s, path.now + ms(1), path.now + ms(1), 1);
        assert_eq!(s.inverse_delta(), 2.0, "not below that of the default mode");
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
