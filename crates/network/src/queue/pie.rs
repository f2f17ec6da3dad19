//! PIE (RFC 8033): drops with a probability that a proportional-integral controller derives from the delay.

use super::fifo::Fifo;
use super::ticks::Ticks;
use super::{Bound, LinkProperties, Queue, QueueError, Report, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use random::Generator;
use units::parameter::{Choice, Limit, Options, Row};
use units::{Duration, Time};

/// The options of PIE.
#[derive(Debug, Clone, Options)]
struct PieOptions {
    /// target delay: QDELAY_REF (RFC 8033 section 4.2)
    #[option(default = "15 ms")]
    target: Duration,
    /// how often the probability is computed (RFC 8033 section 4.2)
    #[option(default = "15 ms")]
    t_update: Duration,
    /// weight of the delay's distance from the target, in 1/s (RFC 8033 section 4.2)
    #[option(default = 0.125, within = 0.0..=1000.0)]
    alpha: f64,
    /// weight of the delay's growth since the last update, in 1/s (RFC 8033 section 4.2)
    #[option(default = 1.25, within = 0.0..=1000.0)]
    beta: f64,
    /// length of a burst that is accepted without drops after an idle time (RFC 8033 section 4.4)
    #[option(default = "150 ms")]
    max_burst: Duration,
    /// how the delay is estimated: from bytes and departure rate, or from the last packet (RFC 8033 section 4.3)
    #[option(default = "departure-rate")]
    delay: DelayEstimate,
    /// derandomization: whether drops are kept from being too close together or too far apart (RFC 8033 section
    /// 5.4)
    #[option(default = true)]
    derandomize: bool,
    /// whether ECN-capable packets are marked with CE instead of dropped (RFC 8033 section 5.1)
    #[option(default = true)]
    ecn: bool,
    /// probability above which ECN-capable packets are dropped too (RFC 8033 section 5.1)
    #[option(default = 0.1, probability)]
    mark_ecnth: f64,
    /// limit of the queue, without the packet in transmission
    #[option(default = "1000 packets")]
    limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum DelayEstimate {
    DepartureRate,
    Timestamp,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "pie",
    about: "PIE (RFC 8033): drops at random, with a probability that keeps the delay at a target",
    parameters: PieOptions::PARAMETERS,
    build: &|arguments, setup, stream| {
        Ok(Waiting::Other(Box::new(Pie::new(&PieOptions::of(arguments), setup, stream)?)))
    },
};

/// The number of bytes over which the departure rate is measured (RFC 8033 section 5.2).
const DQ_THRESHOLD: u64 = 1 << 14;
/// Weight of a new sample: DQ_THRESHOLD over 2^16 (RFC 8033 section 5.2).
const DQ_WEIGHT: f64 = 0.25;

/// The constants of PIE.
struct Law {
    /// In seconds.
    target: f64,
    t_update: Duration,
    alpha: f64,
    beta: f64,
    max_burst: Duration,
    by_timestamp: bool,
    derandomize: bool,
    ecn: bool,
    mark_ecnth: f64,
    /// Two packets of the maximum size: with no more waiting, nothing is dropped (RFC 8033 section 4.1, which
    /// has MEAN_PKTSIZE without a number).
    few: u64,
}

/// The state of the controller. It is compared to detect ticks that change nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
struct State {
    drop_prob: f64,
    /// The delay at the last update, in seconds.
    qdelay_old: f64,
    burst_allowance: Duration,
}

/// The departure rate (RFC 8033 section 5.2).
#[derive(Debug, Clone, Copy, Default)]
struct Departures {
    /// The start of the measurement, and the bytes that have left the queue since then.
    began: Option<(Time, u64)>,
    /// The average time for a byte in seconds: `avg_dq_time` over DQ_THRESHOLD. Zero before the first
    /// measurement.
    time: f64,
}

impl Departures {
    /// Counts a packet of `size` bytes that leaves a queue of `backlog` bytes, itself included.
    fn depart(&mut self, now: Time, backlog: u64, size: u64) {
        if let Some((since, bytes)) = self.began
            && bytes >= DQ_THRESHOLD
        {
            // A packet leaves at the start of its transmission, so that the bytes that left before it were sent
            // since then.
            let sample = now.since(since).as_secs_f64() / bytes as f64;
            self.time = match self.time > 0.0 {
                true => self.time * (1.0 - DQ_WEIGHT) + sample * DQ_WEIGHT,
                false => sample,
            };
            self.began = None;
        }
        if self.began.is_none() && backlog >= DQ_THRESHOLD {
            self.began = Some((now, 0));
        }
        if let Some((_, bytes)) = &mut self.began {
            *bytes += size;
        }
        // The next packet may arrive any time later, and the pause would count as a slow departure: without a
        // queue there is nothing to measure.
        if backlog <= size {
            self.began = None;
        }
    }
}

struct Pie {
    law: Law,
    state: State,
    ticks: Ticks,
    departures: Departures,
    /// The delay of the last packet that left, in seconds.
    last_delay: f64,
    /// The sum of the probabilities since the last drop.
    accu_prob: f64,
    fifo: Fifo,
    bound: Bound,
    stream: Generator,
}

impl Pie {
    fn new(options: &PieOptions, setup: LinkProperties<'_>, stream: Generator) -> Result<Pie, QueueError> {
        let law = Law {
            target: options.target.as_secs_f64(),
            t_update: options.t_update,
            alpha: options.alpha,
            beta: options.beta,
            max_burst: options.max_burst,
            by_timestamp: options.delay == DelayEstimate::Timestamp,
            derandomize: options.derandomize,
            ecn: options.ecn,
            mark_ecnth: options.mark_ecnth,
            few: 2 * u64::from(setup.mtu),
        };
        if law.t_update.is_zero() {
            return Err(QueueError::Zero("t_update"));
        }
        Ok(Pie {
            state: State { drop_prob: 0.0, qdelay_old: 0.0, burst_allowance: law.max_burst },
            ticks: Ticks::new(law.t_update),
            law,
            departures: Departures::default(),
            last_delay: 0.0,
            accu_prob: 0.0,
            fifo: Fifo::default(),
            bound: Bound::new(options.limit, setup),
            stream,
        })
    }

    /// Processes the updates since the last call. Their inputs have not changed since.
    fn catch_up(&mut self, now: Time) {
        while self.ticks.due(now).is_some() {
            let before = self.state;
            let delay = self.delay();
            self.state.update(&self.law, delay);
            if self.state == before {
                self.ticks.skip(now);
                return;
            }
        }
    }

    /// The delay of the queue in seconds (RFC 8033 section 4.3).
    fn delay(&self) -> f64 {
        let waiting = self.fifo.waiting();
        match (waiting.packets, self.law.by_timestamp) {
            (0, _) => 0.0,
            (_, true) => self.last_delay,
            // The time is zero before the first measurement.
            (_, false) => waiting.bytes as f64 * self.departures.time,
        }
    }

    /// Whether to drop or mark an arriving packet (RFC 8033 sections 4.1 and 5.4).
    fn drop_early(&mut self) -> bool {
        let State { drop_prob, qdelay_old, burst_allowance } = self.state;
        if !burst_allowance.is_zero() {
            return false;
        }
        if (qdelay_old < self.law.target / 2.0 && drop_prob < 0.2)
            || self.fifo.waiting().bytes <= self.law.few
        {
            return false;
        }
        if self.law.derandomize {
            // RFC 8033 section 5.4: neither before 0.85 nor after 8.5 expected drops.
            self.accu_prob = if drop_prob > 0.0 { self.accu_prob + drop_prob } else { 0.0 };
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                self.accu_prob = 0.0;
                return true;
            }
        }
        let hit = self.stream.chance(drop_prob);
        if hit {
            self.accu_prob = 0.0;
        }
        hit
    }
}

impl State {
    /// One update with this delay, in seconds (RFC 8033 section 4.2).
    fn update(&mut self, law: &Law, delay: f64) {
        let mut step = law.alpha * (delay - law.target) + law.beta * (delay - self.qdelay_old);
        // The smaller the probability, the smaller its steps.
        step /= match self.drop_prob {
            p if p < 0.000_001 => 2048.0,
            p if p < 0.000_01 => 512.0,
            p if p < 0.000_1 => 128.0,
            p if p < 0.001 => 32.0,
            p if p < 0.01 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        // RFC 8033 section 5.5: large increases are limited.
        if self.drop_prob >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        self.drop_prob = (self.drop_prob + step).clamp(0.0, 1.0);
        if delay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        // RFC 8033 section 4.4.
        let calm = |delay: f64| delay < law.target / 2.0;
        self.burst_allowance = if self.drop_prob == 0.0 && calm(delay) && calm(self.qdelay_old) {
            law.max_burst
        } else {
            let left = self.burst_allowance.as_nanos().saturating_sub(law.t_update.as_nanos());
            Duration::from_nanos(left)
        };
        self.qdelay_old = delay;
    }
}

impl Queue for Pie {
    fn enqueue(&mut self, now: Time, mut packet: Box<Packet>, report: &mut Report) {
        self.catch_up(now);
        // RFC 8033 appendix B: a packet that does not fit is dropped before the random decision, and counts as
        // a drop.
        if self.bound.admits(self.fifo.waiting(), packet.size).is_err() {
            self.accu_prob = 0.0;
        } else if self.drop_early() {
            let marks = self.law.ecn && self.state.drop_prob < self.law.mark_ecnth;
            if !(marks && report.mark(&mut packet)) {
                return report.drop(packet);
            }
        }
        self.fifo.offer(self.bound, packet, report);
    }
    fn dequeue(&mut self, now: Time, _report: &mut Report) -> Option<Box<Packet>> {
        self.catch_up(now);
        let backlog = self.fifo.waiting().bytes;
        let packet = self.fifo.pop()?;
        self.departures.depart(now, backlog, u64::from(packet.size));
        self.last_delay = now.since(packet.entered).as_secs_f64();
        Some(packet)
    }
    fn pass(&mut self, now: Time, packet: Box<Packet>, _report: &mut Report) -> Option<Box<Packet>> {
        // Nothing is dropped while no packet waits.
        self.catch_up(now);
        self.last_delay = 0.0;
        Some(packet)
    }
    fn waiting(&self) -> Count {
        self.fifo.waiting()
    }
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.fifo.each(show);
    }
    fn check(&self) {
        self.fifo.check();
        self.bound.check(self.fifo.waiting());
        assert!((0.0..=1.0).contains(&self.state.drop_prob), "drop_prob is a probability");
        assert!(self.state.burst_allowance <= self.law.max_burst, "what is left of a burst was allowed");
        let measures = self.departures.began.is_some();
        assert!(!measures || !self.fifo.is_empty(), "departures are measured while packets wait");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, at, changed, ecn, packet};
    use wire::Ecn;

    fn pie(changes: &[(&str, &str)]) -> Pie {
        let own = [
            ("target", "15 ms"),
            ("t_update", "15 ms"),
            ("alpha", "0.125"),
            ("beta", "1.25"),
            ("max_burst", "150 ms"),
            ("delay", "timestamp"),
            ("derandomize", "true"),
            ("ecn", "true"),
            ("mark_ecnth", "0.1"),
            ("limit", "1000 packets"),
        ];
        let options = PieOptions::written(&changed(&own, changes)).unwrap();
        Pie::new(&options, SETUP, Generator::new(5, "test")).unwrap()
    }
    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-12
    }

    /// RFC 8033 section 4.2: 0.125 (25 - 15) ms + 1.25 (25 - 20) ms = 0.0075, in full from a probability of 0.1 on.
    #[test]
    fn one_update_by_hand() {
        let law = pie(&[]).law;
        for (before, divisor) in
            [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0), (0.1, 1.0)]
        {
            let mut state = State { drop_prob: before, qdelay_old: 0.020, burst_allowance: Duration::ZERO };
            state.update(&law, 0.025);
            assert!(near(state.drop_prob, before + 0.0075 / divisor), "{before}");
            assert_eq!(state.qdelay_old, 0.025);
        }
        // RFC 8033 section 5.5: 0.125 × 85 ms + 1.25 × 80 ms is more than 0.02.
        let mut state = State { drop_prob: 0.3, qdelay_old: 0.020, burst_allowance: Duration::ZERO };
        state.update(&law, 0.1);
        assert!(near(state.drop_prob, 0.32));
        // Section 4.2: with no delay twice it decays by 2 % beside its step of -0.125 × 15 ms.
        let mut state = State { drop_prob: 0.3, qdelay_old: 0.0, burst_allowance: Duration::ZERO };
        state.update(&law, 0.0);
        assert!(near(state.drop_prob, (0.3 - 0.001875) * 0.98));
    }

    /// RFC 8033 section 4.4: ten updates of 15 ms use up 150 ms; calm gives them back.
    #[test]
    fn a_burst_is_let_in_for_a_while() {
        let law = pie(&[]).law;
        let mut state = State { drop_prob: 0.0, qdelay_old: 0.0, burst_allowance: law.max_burst };
        (0..9).for_each(|_| state.update(&law, 0.05));
        assert_eq!(state.burst_allowance, Duration::from_millis(15));
        state.update(&law, 0.05);
        assert!(state.burst_allowance.is_zero() && state.drop_prob > 0.0);
        let calm = (0..).take_while(|_| {
            state.update(&law, 0.0);
            state.burst_allowance.is_zero()
        });
        assert_eq!(calm.count(), 1, "the delay before was long");
        assert_eq!((state.burst_allowance, state.drop_prob), (law.max_burst, 0.0));
    }

    /// RFC 8033 section 5.4: at a probability of 1/8 the spans between drops are from 7 packets on, for 0.85 × 8 are
    /// 6.8, up to 8.5 × 8 = 68.
    #[test]
    fn drops_are_neither_too_close_nor_too_far_apart() {
        let spans = |derandomize: bool| {
            let mut pie = pie(&[("derandomize", if derandomize { "true" } else { "false" })]);
            pie.state = State { drop_prob: 0.125, qdelay_old: 0.02, burst_allowance: Duration::ZERO };
            (0..3).for_each(|_| pie.fifo.push(packet(0, 1500)));
            let (mut spans, mut span) = (Vec::new(), 0);
            for _ in 0..100_000 {
                span += 1;
                if pie.drop_early() {
                    spans.push(std::mem::take(&mut span));
                }
            }
            (*spans.iter().min().unwrap(), *spans.iter().max().unwrap())
        };
        let (least, most) = spans(true);
        assert!(least == 7 && (50..=68).contains(&most), "{least} {most}");
        assert!(spans(false).0 == 1 && spans(false).1 > 68);
    }

    /// RFC 8033 appendix B: what the limit drops begins the distance to the next drop anew, and draws nothing.
    #[test]
    fn a_drop_by_the_limit_is_a_drop() {
        let limit = |packets: &str| {
            let mut pie = pie(&[("limit", packets)]);
            pie.state = State { drop_prob: 0.125, qdelay_old: 0.02, burst_allowance: Duration::ZERO };
            (0..3).for_each(|_| pie.fifo.push(packet(0, 1500)));
            let mut report = Report::default();
            (0..3).for_each(|n| pie.enqueue(at(0), packet(n, 1500), &mut report));
            (pie.accu_prob, report.dropped.len(), pie.stream.bits())
        };
        let mut untouched = Generator::new(5, "test");
        assert_eq!(limit("6 packets"), (0.375, 0, untouched.bits()));
        let mut untouched = Generator::new(5, "test");
        assert_eq!(limit("5 packets"), (0.0, 1, untouched.bits()));
    }

    /// RFC 8033 section 4.1: with two packets waiting nothing is dropped.
    #[test]
    fn a_short_queue_drops_nothing() {
        let mut pie = pie(&[]);
        pie.state = State { drop_prob: 1.0, qdelay_old: 0.02, burst_allowance: Duration::ZERO };
        let mut report = Report::default();
        (0..20).for_each(|n| pie.enqueue(at(0), packet(n, 1500), &mut report));
        assert_eq!((pie.waiting().packets, report.dropped.len()), (3, 17));
        assert!(pie.pass(at(0), packet(9, 1500), &mut report).is_some());
    }

    /// RFC 8033 section 5.1.
    #[test]
    fn marks_below_a_tenth_and_drops_above() {
        for (drop_prob, marked, dropped) in [(0.0999, true, false), (0.1, false, true)] {
            let mut pie = pie(&[]);
            pie.state = State { drop_prob, qdelay_old: 0.02, burst_allowance: Duration::ZERO };
            (0..3).for_each(|n| pie.fifo.push(packet(n, 1500)));
            let mut report = Report::default();
            (0..100).for_each(|n| pie.enqueue(at(0), ecn(n, Ecn::Ect0), &mut report));
            assert_eq!((report.marked > 0, !report.dropped.is_empty()), (marked, dropped), "{drop_prob}");
            let before = report.dropped.len();
            (0..100).for_each(|n| pie.enqueue(at(0), ecn(n, Ecn::NotEct), &mut report));
            assert!(report.dropped.len() > before);
        }
    }

    /// RFC 8033 section 5.2: 12 packets of 1500 bytes, one each millisecond, are 1.5 MB/s; 30 of them are 30 ms.
    #[test]
    fn the_rate_of_departure_gives_the_delay() {
        let mut pie = pie(&[("delay", "departure-rate")]);
        let mut report = Report::default();
        (0..42).for_each(|n| pie.enqueue(at(0), packet(n, 1500), &mut report));
        assert_eq!(pie.delay(), 0.0, "nothing is known yet");
        (0..12).for_each(|ms| assert!(pie.dequeue(at(ms), &mut report).is_some()));
        assert!(near(pie.delay(), 0.030), "{}", pie.delay());
    }

    /// RFC 8033 section 5.2: what is averaged is the time. 4 ms for a packet and then 1 ms are 3/4 × 4 + 1/4 × 1 = 3.25 ms,
    /// where the average of the rates would stand for 2.29 ms.
    #[test]
    fn departure_times_are_averaged_and_not_rates() {
        let mut pie = pie(&[("delay", "departure-rate")]);
        let mut report = Report::default();
        (0..100).for_each(|n| pie.enqueue(at(0), packet(n, 1500), &mut report));
        (0..12).for_each(|n| assert!(pie.dequeue(at(4 * n), &mut report).is_some()));
        assert!(near(pie.delay(), 88.0 * 0.004), "{}", pie.delay());
        (1..12).for_each(|n| assert!(pie.dequeue(at(44 + n), &mut report).is_some()));
        assert!(near(pie.delay(), 77.0 * 0.003_25), "{}", pie.delay());
    }

    /// RFC 8033 section 5.2: only a queue is measured. A pause in which nothing waits is no slow departure.
    #[test]
    fn a_pause_is_no_part_of_a_measurement() {
        let mut pie = pie(&[("delay", "departure-rate")]);
        let mut report = Report::default();
        for begin in [0, 1000] {
            (0..11).for_each(|n| pie.enqueue(at(begin), packet(n, 1500), &mut report));
            (0..11).for_each(|ms| assert!(pie.dequeue(at(begin + ms), &mut report).is_some()));
        }
        (0..30).for_each(|n| pie.enqueue(at(2000), packet(n, 1500), &mut report));
        (0..12).for_each(|ms| assert!(pie.dequeue(at(2000 + ms), &mut report).is_some()));
        assert!(near(pie.delay(), 0.018), "{}", pie.delay());
    }

    #[test]
    fn ticks_are_made_up_for_and_calm_ones_passed_over() {
        let (mut one, mut other) = (pie(&[]), pie(&[]));
        let mut report = Report::default();
        for pie in [&mut one, &mut other] {
            (0..100).for_each(|n| pie.enqueue(at(0), packet(n, 1500), &mut report));
            assert!(pie.dequeue(at(29), &mut report).is_some());
        }
        (30..300).for_each(|ms| one.catch_up(at(ms)));
        other.catch_up(at(299));
        assert!(one.state == other.state && one.state.drop_prob > 0.0);
        while one.dequeue(at(300), &mut report).is_some() {}
        // A thousand years of calm take no time.
        one.catch_up(Time::from_nanos(1 << 62));
        assert_eq!(one.state.burst_allowance, one.law.max_burst);
    }
}
