//! RED (Floyd and Jacobson 1993), gentle: random signals, which become more frequent with the average length of
//! the queue.

use super::fifo::Fifo;
use super::{Bound, Full, LinkProperties, Queue, QueueError, Report, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use random::Generator;
use units::parameter::{Limit, Options, Row};
use units::{Duration, Rate, Size, Time};

/// The options of RED.
#[derive(Debug, Clone, Options)]
struct RedOptions {
    /// average queue below which there is no signal
    #[option(default = "5 packets")]
    min_th: Limit,
    /// average queue at which the probability is max_p
    #[option(default = "15 packets")]
    max_th: Limit,
    /// probability of a signal at max_th
    #[option(default = 0.1, probability)]
    max_p: f64,
    /// weight of a new sample in the average queue
    #[option(default = 0.002, within = 0.0..=1.0)]
    w_q: f64,
    /// whether the probability rises from max_p at max_th to 1 at twice max_th, instead of jumping to 1
    #[option(default = true)]
    gentle: bool,
    /// size of a typical packet: the average of an idle queue decays once per transmission time of it
    #[option(default = "500 B")]
    mean_packet: Size,
    /// whether ECN-capable packets are marked with CE where others are dropped at random
    #[option(default = true)]
    ecn: bool,
    /// limit of the queue, without the packet in transmission
    #[option(default = "1 BDP")]
    limit: Limit,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "red",
    about: "RED (Floyd and Jacobson 1993): signals at random, more often the longer the average queue",
    parameters: RedOptions::PARAMETERS,
    build: &|arguments, setup, stream| {
        Ok(Waiting::Other(Box::new(Red::new(&RedOptions::of(arguments), setup, stream)?)))
    },
};

struct Red {
    /// Whether lengths are in packets, not in bytes.
    in_packets: bool,
    min_th: f64,
    max_th: f64,
    max_p: f64,
    w_q: f64,
    gentle: bool,
    ecn: bool,
    /// The transmission time of a typical packet; zero without a rate.
    typical: Duration,
    average: f64,
    /// Packets since the last signal while one was possible; `None` if none was possible.
    since: Option<u32>,
    /// Since when no packet waits.
    idle: Option<Time>,
    fifo: Fifo,
    bound: Bound,
    stream: Generator,
}

/// The decision about an arriving packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Take,
    Signal,
    Drop,
}

impl Red {
    fn new(options: &RedOptions, setup: LinkProperties<'_>, stream: Generator) -> Result<Red, QueueError> {
        let (low, high) = (options.min_th, options.max_th);
        let in_packets = matches!((low, high), (Limit::Packets(_), Limit::Packets(_)));
        let threshold = |limit: Limit| match limit {
            Limit::Packets(packets) if in_packets => packets as f64,
            Limit::Packets(packets) => packets as f64 * f64::from(setup.mtu),
            other => Bound::new(other, setup).bytes as f64,
        };
        let (min_th, max_th) = (threshold(low), threshold(high));
        // On a link without a rate nothing waits, and both thresholds may be unlimited.
        if min_th >= max_th && setup.rate.is_some() {
            return Err(QueueError::NotAbove { option: "max_th", than: "min_th" });
        }
        let mean = options.mean_packet;
        Ok(Red {
            in_packets,
            min_th,
            max_th,
            max_p: options.max_p,
            w_q: options.w_q,
            gentle: options.gentle,
            ecn: options.ecn,
            typical: setup.rate.map_or(Duration::ZERO, |rate: Rate| rate.time_for(mean)),
            average: 0.0,
            since: None,
            idle: Some(Time::ZERO),
            fifo: Fifo::default(),
            bound: Bound::new(options.limit, setup),
            stream,
        })
    }

    /// Updates the average for an arriving packet.
    fn sample(&mut self, now: Time) {
        match self.idle {
            Some(since) => {
                // As if that number of typical packets had found the queue empty. Without a rate it always is.
                // The rest of the time counts with the next packet: packets that pass in quick succession leave
                // the queue idle.
                let idle = now.since(since).as_nanos();
                let (missed, left) = match self.typical.as_nanos() {
                    0 => (u64::MAX, 0),
                    typical => (idle / typical, idle % typical),
                };
                self.average *= power(1.0 - self.w_q, missed);
                self.idle = Some(now - Duration::from_nanos(left));
            }
            None => {
                let Count { packets, bytes } = self.fifo.waiting();
                let length = if self.in_packets { packets } else { bytes };
                self.average += self.w_q * (length as f64 - self.average);
            }
        }
    }

    fn judge(&mut self) -> Verdict {
        let end = if self.gentle { 2.0 * self.max_th } else { self.max_th };
        if self.average < self.min_th {
            self.since = None;
            return Verdict::Take;
        }
        if self.average >= end {
            self.since = Some(0);
            return Verdict::Drop;
        }
        let likelihood = if self.average < self.max_th {
            self.max_p * (self.average - self.min_th) / (self.max_th - self.min_th)
        } else {
            self.max_p + (1.0 - self.max_p) * (self.average - self.max_th) / self.max_th
        };
        // The number of packets between two signals is uniform, not geometric: the count is raised before it is
        // used (figure 2 of the paper).
        let passed = self.since.map_or(0, |count| count.saturating_add(1));
        let rest = 1.0 - f64::from(passed) * likelihood;
        let probability = if rest > 0.0 { likelihood / rest } else { 1.0 };
        if self.stream.chance(probability) {
            self.since = Some(0);
            return Verdict::Signal;
        }
        self.since = Some(passed);
        Verdict::Take
    }

    /// Handles an arriving packet apart from the limit: `None` if it is dropped.
    fn admit(&mut self, now: Time, mut packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        self.sample(now);
        let dropped = match self.judge() {
            Verdict::Take => false,
            Verdict::Signal => !(self.ecn && report.mark(&mut packet)),
            // RFC 3168 section 7: above the upper threshold packets are dropped and not marked.
            Verdict::Drop => true,
        };
        if dropped {
            report.drop(packet);
            return None;
        }
        Some(packet)
    }
}

impl Queue for Red {
    fn enqueue(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) {
        // A packet that does not fit is no signal of the average, and draws nothing.
        if let Err(full) = self.bound.admits(self.fifo.waiting(), packet.size) {
            self.sample(now);
            report.overflow |= full == Full::Memory;
            return report.drop(packet);
        }
        if let Some(packet) = self.admit(now, packet, report) {
            self.fifo.push(packet);
            self.idle = None;
        }
    }
    fn dequeue(&mut self, now: Time, _report: &mut Report) -> Option<Box<Packet>> {
        let packet = self.fifo.pop();
        if self.fifo.is_empty() {
            self.idle = Some(now);
        }
        packet
    }
    fn pass(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        self.admit(now, packet, report)
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
        assert_eq!(self.idle.is_some(), self.fifo.is_empty(), "a queue is idle while no packet waits");
        assert!(self.average >= 0.0, "the average of lengths is a length");
    }
}

/// A power of a number from 0 to 1, by squaring: the same on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 && result > 0.0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, at, changed, ecn, packet};
    use wire::Ecn;

    fn red(min_th: &str, max_th: &str, changes: &[(&str, &str)]) -> Result<Red, QueueError> {
        let own = [
            ("min_th", min_th),
            ("max_th", max_th),
            ("max_p", "0.1"),
            ("w_q", "0.002"),
            ("gentle", "true"),
            ("mean_packet", "500 B"),
            ("ecn", "true"),
            ("limit", "100 packets"),
        ];
        let options = RedOptions::written(&changed(&own, changes)).unwrap();
        let setup = LinkProperties { rate: Some("4 Mbit/s".parse().unwrap()), ..SETUP };
        Red::new(&options, setup, Generator::new(5, "test"))
    }

    /// The average after three packets that found 0, 1 and 2 packets, with weight 1/2: 0, 0.5, 1.25.
    #[test]
    fn the_average_is_weighted_and_decays_while_idle() {
        let mut queue = red("5 packets", "15 packets", &[("w_q", "0.5")]).unwrap();
        let mut report = Report::default();
        (0..3).for_each(|n| queue.enqueue(at(0), packet(n, 500), &mut report));
        assert_eq!(queue.average, 1.25);
        (0..3).for_each(|_| assert!(queue.dequeue(at(1), &mut report).is_some()));
        // 500 bytes take 1 ms at 4 Mbit/s: four of them fit into the pause.
        queue.enqueue(at(5), packet(3, 500), &mut report);
        assert_eq!(queue.average, 1.25 / 16.0);
    }

    /// Packets that pass each 0.9 ms leave a queue idle in which a typical one takes 1 ms: after 9 ms, nine of those.
    #[test]
    fn the_average_decays_too_while_packets_pass_in_quick_succession() {
        let mut queue = red("5 packets", "15 packets", &[("w_q", "0.5")]).unwrap();
        queue.average = 4.0;
        for n in 1..=10 {
            let now = Time::ZERO + Duration::from_micros(900 * n);
            assert!(queue.pass(now, packet(0, 100), &mut Report::default()).is_some());
        }
        assert_eq!(queue.average, 4.0 / 512.0);
    }

    /// Figure 2 of the paper: at a likelihood of 1/50 the spans between signals are uniform from 1 to 49, since the first
    /// packet after a signal counts as 1; their mean is 25 and not 50.
    #[test]
    fn spans_between_signals_are_uniform() {
        let mut queue = red("5 packets", "15 packets", &[]).unwrap();
        queue.average = 7.0;
        let (mut spans, mut span) = (Vec::new(), 0);
        for _ in 0..100_000 {
            span += 1;
            match queue.judge() {
                Verdict::Take => {}
                Verdict::Signal => spans.push(std::mem::take(&mut span)),
                Verdict::Drop => panic!("below max_th"),
            }
        }
        let mean = f64::from(spans.iter().sum::<u32>()) / spans.len() as f64;
        // The sum of 50 fiftieths is not exactly 1.
        assert!(spans.iter().all(|span| (1..=50).contains(span)), "{spans:?}");
        assert!((mean - 25.0).abs() < 0.7, "{mean}");
        let long = spans.iter().filter(|span| **span > 40).count() as f64 / spans.len() as f64;
        assert!((long - 0.2).abs() < 0.02, "{long}");
    }

    /// 20 packets on average are a third of the way from 15 to 30: 0.1 + 0.9 / 3 = 0.4.
    #[test]
    fn gentle_goes_on_to_one_at_twice_the_threshold() {
        let share = |average: f64, gentle: bool| {
            let mut queue =
                red("5 packets", "15 packets", &[("gentle", if gentle { "true" } else { "false" })]).unwrap();
            queue.average = average;
            let verdicts: Vec<Verdict> = (0..20_000)
                .map(|_| {
                    queue.since = None;
                    queue.judge()
                })
                .collect();
            let of = |verdict| verdicts.iter().filter(|known| **known == verdict).count() as f64 / 20_000.0;
            (of(Verdict::Signal), of(Verdict::Drop))
        };
        let (signal, drop) = share(20.0, true);
        assert!((signal - 0.4).abs() < 0.01 && drop == 0.0, "{signal}");
        assert_eq!(share(30.0, true), (0.0, 1.0));
        assert_eq!(share(15.0, false), (0.0, 1.0));
        assert_eq!(share(4.9, true), (0.0, 0.0));
    }

    /// RFC 3168 section 7.
    #[test]
    fn capable_packets_are_marked_between_the_thresholds_and_dropped_above() {
        let mut queue = red("1 packets", "2 packets", &[("max_p", "1.0"), ("w_q", "0.0")]).unwrap();
        let mut report = Report::default();
        queue.average = 1.999;
        (0..2).for_each(|n| queue.enqueue(at(0), ecn(n, Ecn::Ect0), &mut report));
        queue.enqueue(at(0), ecn(2, Ecn::NotEct), &mut report);
        assert_eq!((report.marked, report.dropped.len()), (2, 1));
        queue.average = 4.0;
        queue.enqueue(at(0), ecn(3, Ecn::Ect0), &mut report);
        assert_eq!((report.marked, report.dropped.len()), (2, 2));
    }

    #[test]
    fn thresholds_in_bytes_and_in_the_wrong_order() {
        assert_eq!(
            red("15 packets", "5 packets", &[]).err(),
            Some(QueueError::NotAbove { option: "max_th", than: "min_th" })
        );
        let queue = red("2 packets", "9000 B", &[]).unwrap();
        assert_eq!((queue.in_packets, queue.min_th, queue.max_th), (false, 3000.0, 9000.0));
    }
}
