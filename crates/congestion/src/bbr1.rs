//! BBRv1 (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 2016; draft-cardwell-iccrg-bbr-congestion-control-00).

use crate::bbr_rounds::{HeldBack, Rounds};
use crate::filter::WindowedMax;
use crate::{AckSample, Allowance, Controller, RateSample, Sent, Setup, Signal};
use random::Stream;
use units::parameter::{Arguments, Default, Kind, Parameter, Row, Value};
use units::{Duration, Rate, Size, Time};

const GAINS: Kind = Kind::Number(0.01, 10.0);

pub(crate) const ROW: Row<crate::Build> = Row {
    name: "bbr1",
    about: "BBRv1: paced at the largest delivery rate of ten rounds, with a window of two bandwidth-delay products; loss is no signal (ACM Queue 2016)",
    parameters: &[
        Parameter {
            name: "high_gain",
            kind: Kind::Number(1.0, 10.0),
            default: Default::Is("2.885390081777927"),
            about: "pacing gain and window gain of STARTUP: BBRHighGain, 2/ln(2)",
        },
        Parameter {
            name: "drain_gain",
            kind: Kind::Number(0.01, 1.0),
            default: Default::Is("0.34657359027997264"),
            about: "pacing gain of DRAIN: the inverse of BBRHighGain",
        },
        Parameter {
            name: "cycle_gains",
            kind: Kind::List(&GAINS),
            default: Default::Is("[1.25, 0.75, 1, 1, 1, 1, 1, 1]"),
            about: "pacing gains of PROBE_BW, one for each phase of a min RTT",
        },
        Parameter {
            name: "cwnd_gain",
            kind: Kind::Number(1.0, 10.0),
            default: Default::Is("2"),
            about: "window of DRAIN's end and of PROBE_BW, in estimated bandwidth-delay products",
        },
        Parameter {
            name: "bandwidth_window",
            kind: Kind::Integer(1, 1000),
            default: Default::Is("10"),
            about: "over how many round trips the largest delivery rate is taken: BtlBwFilterLen",
        },
        Parameter {
            name: "min_rtt_window",
            kind: Kind::Duration,
            default: Default::Is("\"10 s\""),
            about: "how long the least RTT is believed before PROBE_RTT: RTpropFilterLen",
        },
        Parameter {
            name: "probe_rtt_duration",
            kind: Kind::Duration,
            default: Default::Is("\"200 ms\""),
            about: "how long PROBE_RTT keeps the window down at least, and one round trip: ProbeRTTDuration",
        },
        Parameter {
            name: "min_pipe_cwnd",
            kind: Kind::Integer(2, 1000),
            default: Default::Is("4"),
            about: "window of PROBE_RTT, and the least outside of recovery, in packets: BBRMinPipeCwnd",
        },
        Parameter {
            name: "full_pipe_growth",
            kind: Kind::Number(1.0, 10.0),
            default: Default::Is("1.25"),
            about: "STARTUP goes on while the bandwidth grows by this factor",
        },
        Parameter {
            name: "full_pipe_rounds",
            kind: Kind::Integer(1, 100),
            default: Default::Is("3"),
            about: "round trips without that growth that end STARTUP",
        },
        Parameter {
            name: "quanta",
            kind: Kind::Integer(0, 10),
            default: Default::Is("3"),
            about: "send quanta that the window holds beyond the bandwidth-delay product",
        },
    ],
    build: &|arguments, setup| Box::new(Bbr1::new(arguments, setup)),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

#[derive(Debug, Clone)]
struct Options {
    high_gain: f64,
    drain_gain: f64,
    cycle_gains: Vec<f64>,
    cwnd_gain: f64,
    bandwidth_window: u64,
    min_rtt_window: Duration,
    probe_rtt_duration: Duration,
    min_pipe_cwnd: u64,
    full_pipe_growth: f64,
    full_pipe_rounds: u64,
    quanta: u64,
}

impl Options {
    fn of(arguments: &Arguments) -> Options {
        let number = |value: &Value| if let Value::Number(gain) = value { Some(*gain) } else { None };
        let mut cycle_gains: Vec<f64> = arguments.list("cycle_gains").iter().filter_map(number).collect();
        if cycle_gains.is_empty() {
            cycle_gains.push(1.0);
        }
        Options {
            high_gain: arguments.number("high_gain"),
            drain_gain: arguments.number("drain_gain"),
            cycle_gains,
            cwnd_gain: arguments.number("cwnd_gain"),
            bandwidth_window: arguments.integer("bandwidth_window"),
            min_rtt_window: arguments.duration("min_rtt_window"),
            probe_rtt_duration: arguments.duration("probe_rtt_duration"),
            min_pipe_cwnd: arguments.integer("min_pipe_cwnd"),
            full_pipe_growth: arguments.number("full_pipe_growth"),
            full_pipe_rounds: arguments.integer("full_pipe_rounds"),
            quanta: arguments.integer("quanta"),
        }
    }
}

/// One BBRv1 sender. The names are those of the draft, sections 4.1 to 4.3.
#[derive(Debug)]
pub struct Bbr1 {
    options: Options,
    setup: Setup,
    random: Stream,
    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    pacing_rate: f64,
    send_quantum: u64,
    cwnd: u64,
    prior_cwnd: u64,
    /// Delivery rates in bit/s over round trips.
    bandwidths: WindowedMax,
    /// `None` before the first sample.
    min_rtt: Option<Duration>,
    min_rtt_stamp: Time,
    round: Rounds,
    full_pipe: FullPipe,
    cycle_index: usize,
    cycle_stamp: Time,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    /// The samples of packets that were sent in PROBE_RTT say nothing of the bandwidth.
    held_back: HeldBack,
    recovery: Recovery,
    allowance: Allowance,
}

#[derive(Debug, Clone, Copy, Default)]
struct FullPipe {
    bandwidth: f64,
    rounds: u64,
    filled: bool,
}

/// What the loss of packets changes: the window alone, for a round trip (section 4.2.3.4).
#[derive(Debug, Clone, Copy, Default)]
struct Recovery {
    /// Packets sent up to here belong to it; `None`: all is well.
    since: Option<Time>,
    /// The window follows what is delivered.
    conserving: bool,
    /// The first ACK frame of the recovery has yet to come.
    entering: bool,
}

impl Bbr1 {
    /// A sender in STARTUP.
    pub fn new(arguments: &Arguments, setup: Setup) -> Bbr1 {
        Bbr1::start(Options::of(arguments), setup)
    }

    fn start(options: Options, setup: Setup) -> Bbr1 {
        let mut sender = Bbr1 {
            setup,
            random: Stream::new(setup.seed, "bbr1"),
            state: State::Startup,
            pacing_gain: options.high_gain,
            cwnd_gain: options.high_gain,
            pacing_rate: 0.0,
            send_quantum: 0,
            cwnd: setup.initial_window,
            prior_cwnd: 0,
            bandwidths: WindowedMax::default(),
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            round: Rounds::default(),
            full_pipe: FullPipe::default(),
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            held_back: HeldBack::default(),
            recovery: Recovery::default(),
            allowance: Allowance::new(0, None),
            options,
        };
        // 4.2.1: before the first sample, the initial window in a millisecond.
        sender.init_pacing_rate(Duration::from_millis(1));
        sender.set_send_quantum();
        sender.allow();
        sender
    }

    // ---- the model (section 4.1) ----

    fn bandwidth(&self) -> f64 {
        self.bandwidths.get() as f64
    }

    fn packet(&self) -> u64 {
        self.setup.max_datagram_size
    }

    fn min_pipe_cwnd(&self) -> u64 {
        self.options.min_pipe_cwnd * self.packet()
    }

    /// What is in flight at this many estimated bandwidth-delay products, with what the end hosts hold.
    fn inflight(&self, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return self.setup.initial_window };
        let product = self.bandwidth() * min_rtt.as_secs_f64() / 8.0;
        (gain * product) as u64 + self.options.quanta * self.send_quantum
    }

    fn update_bandwidth(&mut self, ack: &AckSample<'_>, sample: &RateSample, app_limited: bool) {
        self.round.update(sample.prior_delivered, ack.delivered);
        if self.round.start {
            // 4.2.3.4: for one round trip.
            self.recovery.conserving = false;
        }
        let Some(rate) = sample.rate.map(Rate::as_bits_per_sec) else { return };
        // 4.1.2.4: a limited sample can only show that there is more.
        if rate >= self.bandwidths.get() || !app_limited {
            self.bandwidths.update(self.options.bandwidth_window, self.round.count, rate);
        }
    }

    /// Gives whether the least RTT was out of date.
    fn update_min_rtt(&mut self, now: Time, sample: Duration) -> bool {
        let expired = self.min_rtt.is_some() && now > self.min_rtt_stamp + self.options.min_rtt_window;
        if self.min_rtt.is_none() {
            // 4.2.1: paced by the first RTT until the bandwidth is known.
            self.init_pacing_rate(sample);
        }
        if expired || self.min_rtt.is_none_or(|known| sample <= known) {
            self.min_rtt = Some(sample);
            self.min_rtt_stamp = now;
        }
        expired
    }

    // ---- the states (section 4.3) ----

    fn check_full_pipe(&mut self, app_limited: bool) {
        if self.full_pipe.filled || !self.round.start || app_limited {
            return;
        }
        let bandwidth = self.bandwidth();
        if bandwidth >= self.full_pipe.bandwidth * self.options.full_pipe_growth {
            self.full_pipe = FullPipe { bandwidth, rounds: 0, filled: false };
            return;
        }
        self.full_pipe.rounds += 1;
        self.full_pipe.filled = self.full_pipe.rounds >= self.options.full_pipe_rounds;
    }

    fn check_drain(&mut self, now: Time, bytes_in_flight: u64) {
        if self.state == State::Startup && self.full_pipe.filled {
            self.state = State::Drain;
            self.pacing_gain = self.options.drain_gain;
            self.cwnd_gain = self.options.high_gain;
        }
        if self.state == State::Drain && bytes_in_flight <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.pacing_gain = self.options.high_gain;
        self.cwnd_gain = self.options.high_gain;
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.cwnd_gain = self.options.cwnd_gain;
        // 4.3.4.3: any phase but the second, the one that drains: index + 1 is taken next.
        let phases = self.options.cycle_gains.len();
        let back = self.random.below((phases as u64).saturating_sub(1).max(1)) as usize;
        self.cycle_index = phases - 1 - back;
        self.advance_cycle(now);
    }

    fn advance_cycle(&mut self, now: Time) {
        self.cycle_stamp = now;
        self.cycle_index = (self.cycle_index + 1) % self.options.cycle_gains.len();
        self.pacing_gain = self.options.cycle_gains[self.cycle_index];
    }

    fn check_cycle(&mut self, ack: &AckSample<'_>) {
        if self.state != State::ProbeBw {
            return;
        }
        let full_length = ack.now.since(self.cycle_stamp) > self.min_rtt.unwrap_or(Duration::MAX);
        let gain = self.pacing_gain;
        let next = if gain > 1.0 {
            // Until the pipe holds what the gain asks for, or shows that it cannot.
            full_length && (ack.lost_bytes > 0 || ack.prior_in_flight >= self.inflight(gain))
        } else if gain < 1.0 {
            // Until the queue is gone, but no longer than an RTT.
            full_length || ack.prior_in_flight <= self.inflight(1.0)
        } else {
            full_length
        };
        if next {
            self.advance_cycle(ack.now);
        }
    }

    fn check_probe_rtt(&mut self, ack: &AckSample<'_>, expired: bool) {
        if self.state != State::ProbeRtt && expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.probe_rtt_done_stamp = None;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack);
        }
        self.idle_restart = false;
    }

    fn handle_probe_rtt(&mut self, ack: &AckSample<'_>) {
        self.held_back.mark(ack.delivered, ack.bytes_in_flight);
        match self.probe_rtt_done_stamp {
            None if ack.bytes_in_flight <= self.min_pipe_cwnd() => {
                self.probe_rtt_done_stamp = Some(ack.now + self.options.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.round.begin(ack.delivered);
            }
            None => {}
            Some(done) => {
                self.probe_rtt_round_done |= self.round.start;
                if self.probe_rtt_round_done && ack.now > done {
                    self.exit_probe_rtt(ack.now);
                }
            }
        }
    }

    fn exit_probe_rtt(&mut self, now: Time) {
        self.min_rtt_stamp = now;
        self.restore_cwnd();
        if self.full_pipe.filled {
            self.enter_probe_bw(now);
        } else {
            self.enter_startup();
        }
    }

    // ---- what the sender may do (section 4.2) ----

    fn init_pacing_rate(&mut self, rtt: Duration) {
        let span = if rtt.is_zero() { Duration::from_millis(1) } else { rtt };
        let nominal = Rate::of(Size::from_bytes(self.setup.initial_window), span).as_bits_per_sec();
        self.pacing_rate = self.options.high_gain * nominal as f64;
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bandwidth();
        if self.full_pipe.filled && rate > 0.0 || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// 4.2.2.
    fn set_send_quantum(&mut self) {
        let packet = self.packet();
        self.send_quantum = if self.pacing_rate < 1.2e6 {
            packet
        } else if self.pacing_rate < 24e6 {
            2 * packet
        } else {
            ((self.pacing_rate / 8000.0) as u64).min(64 * 1024).max(packet)
        };
    }

    fn set_cwnd(&mut self, ack: &AckSample<'_>) {
        let (packet, acked) = (self.packet(), ack.acked_bytes);
        let target = self.inflight(self.cwnd_gain);
        if ack.lost_bytes > 0 {
            self.cwnd = self.cwnd.saturating_sub(ack.lost_bytes).max(packet);
        }
        if std::mem::take(&mut self.recovery.entering) {
            self.cwnd = ack.bytes_in_flight + acked.max(packet);
        }
        if self.recovery.conserving {
            self.cwnd = self.cwnd.max(ack.bytes_in_flight + acked);
        } else {
            if self.full_pipe.filled {
                self.cwnd = (self.cwnd + acked).min(target);
            } else if self.cwnd < target || ack.delivered < self.setup.initial_window {
                self.cwnd += acked;
            }
            self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.min_pipe_cwnd());
        }
    }

    fn save_cwnd(&mut self) {
        let kept =
            if self.recovery.since.is_none() && self.state != State::ProbeRtt { 0 } else { self.prior_cwnd };
        self.prior_cwnd = kept.max(self.cwnd);
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn enter_recovery(&mut self, now: Time, newest_sent_at: Time) {
        if self.recovery.since.is_some_and(|since| newest_sent_at <= since) {
            return;
        }
        self.save_cwnd();
        self.recovery = Recovery { since: Some(now), conserving: true, entering: true };
    }

    fn leave_recovery(&mut self, newest_sent_at: Time) {
        if self.recovery.since.is_some_and(|since| newest_sent_at > since) {
            self.recovery = Recovery::default();
            self.restore_cwnd();
        }
    }

    fn allow(&mut self) {
        // RFC 9002 section 7.2: the least window is two packets, behind a retransmission timeout too.
        let window = self.cwnd.max(2 * self.packet());
        let pacing = Rate::from_bits_per_sec((self.pacing_rate as u64).max(1));
        self.allowance = Allowance { window, pacing: Some(pacing), quantum: Some(self.send_quantum) };
    }
}

impl Controller for Bbr1 {
    /// 4.3.4.4: after a pause in PROBE_BW packets go out at the estimated bandwidth.
    #[inline]
    fn on_sent(&mut self, sent: &Sent) {
        if sent.begins_flight() && sent.app_limited {
            self.idle_restart = true;
            if self.state == State::ProbeBw {
                self.set_pacing_rate(1.0);
                self.allow();
            }
        }
    }

    fn on_ack(&mut self, ack: &AckSample<'_>) {
        self.leave_recovery(ack.newest_sent_at);
        let mut app_limited = true;
        self.round.start = false;
        if let Some(sample) = &ack.rate {
            app_limited = sample.app_limited || self.held_back.covers(sample.prior_delivered);
            self.update_bandwidth(ack, sample, app_limited);
        }
        if self.recovery.entering {
            // The round trip of conservation begins with the recovery.
            self.recovery.conserving = true;
            self.round.begin(ack.delivered);
        }
        self.check_cycle(ack);
        self.check_full_pipe(app_limited);
        self.check_drain(ack.now, ack.bytes_in_flight);
        let expired = self.update_min_rtt(ack.now, ack.now.since(ack.newest_sent_at));
        self.check_probe_rtt(ack, expired);
        self.set_pacing_rate(self.pacing_gain);
        self.set_send_quantum();
        self.set_cwnd(ack);
        self.allow();
    }

    fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            // RFC 3168 section 5: a mark is answered as a loss is.
            Signal::Lost { now, newest_sent_at, .. } | Signal::Marked { now, newest_sent_at, .. } => {
                self.enter_recovery(now, newest_sent_at);
            }
            Signal::PersistentCongestion => {
                // 4.2.3.4: as after a retransmission timeout.
                self.save_cwnd();
                self.cwnd = self.packet();
                self.recovery.conserving = false;
                self.recovery.entering = false;
            }
            Signal::Spurious { .. } => {
                // The slowdown was none: what it told of a full pipe is void.
                self.full_pipe.bandwidth = 0.0;
                self.full_pipe.rounds = 0;
                self.restore_cwnd();
                self.recovery = Recovery::default();
            }
            Signal::DatagramSize { bytes } => {
                let old = self.packet().max(1);
                self.setup.initial_window = self.setup.initial_window * bytes / old;
                self.setup.max_datagram_size = bytes;
                self.set_send_quantum();
            }
            Signal::PathChanged => *self = Bbr1::start(self.options.clone(), self.setup),
        }
        self.allow();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn state(&self) -> &'static str {
        match self.state {
            State::Startup => "startup",
            State::Drain => "drain",
            State::ProbeBw => "probe_bw",
            State::ProbeRtt => "probe_rtt",
        }
    }

    fn gauges(&self, record: &mut dyn FnMut(&'static str, f64)) {
        record("max_bw_mbps", self.bandwidth() / 1e6);
        if let Some(min_rtt) = self.min_rtt {
            record("model_min_rtt_ms", min_rtt.as_secs_f64() * 1e3);
        }
        record("pacing_gain", self.pacing_gain);
        record("cwnd_gain", self.cwnd_gain);
        record("round_count", self.round.count as f64);
    }
}
