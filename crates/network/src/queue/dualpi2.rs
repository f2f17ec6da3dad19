//! DualPI2 (RFC 9332 appendix A): two queues for two kinds of congestion control, coupled so that they share a link.

use super::fifo::Fifo;
use super::ticks::Ticks;
use super::{Bound, Full, LinkProperties, Queue, QueueError, Report, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use units::parameter::{Choice, Limit, Options, Row};
use units::{Duration, Time};

/// The options of DualPI2.
#[derive(Debug, Clone, Options)]
struct DualPi2Options {
    /// target delay of the classic queue (RFC 9332 appendix A.1)
    #[option(default = "15 ms")]
    target: Duration,
    /// how often the base probability is computed: min(target, RTT_max / 3) (RFC 9332 appendix A.1); Linux: 16 ms
    #[option(default = "15 ms")]
    t_update: Duration,
    /// weight of the delay's distance from the target, in 1/s: 0.1 t_update / RTT_max^2 (RFC 9332 appendix A.1);
    /// Linux: 0.16
    #[option(default = 0.15, within = 0.0..=1000.0)]
    alpha: f64,
    /// weight of the delay's growth since the last update, in 1/s: 0.3 / RTT_max (RFC 9332 appendix A.1); Linux:
    /// 3.2
    #[option(default = 3.0, within = 0.0..=1000.0)]
    beta: f64,
    /// coupling factor: L4S packets are marked with k times the base probability (RFC 9332 section 2.1)
    #[option(default = 2.0, within = 0.0..=1000.0)]
    k: f64,
    /// delay in the L4S queue above which it marks by itself (RFC 9332 appendix A.1)
    #[option(default = "800 us")]
    min_th: Duration,
    /// further delay above min_th at which it marks everything; 0 is a step (RFC 9332 appendix A.1)
    #[option(default = "400 us")]
    range: Duration,
    /// packets in the L4S queue up to which it does not mark by itself (RFC 9332 appendix A.1)
    #[option(default = 1, within = 0..=1 << 20)]
    th_len: u64,
    /// which queue is served: by weights, or by time of arrival shifted in favour of L4S (RFC 9332 section 4.2.2)
    #[option(default = "wrr")]
    scheduler: SchedulerName,
    /// wrr: minimum share of the link for the classic queue while it is not empty
    #[option(default = 0.0625, within = 0.0..=1.0)]
    classic_weight: f64,
    /// ts-fifo: how much earlier a classic packet must have arrived to be sent first (RFC 9332 appendix A.2)
    #[option(default = "50 ms")]
    tshift: Duration,
    /// whether ECT(0) packets of the classic queue are marked with CE instead of dropped
    #[option(default = true)]
    ecn: bool,
    /// limit of both queues together (RFC 9332 appendix A.1)
    #[option(default = "250 ms")]
    limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum SchedulerName {
    Wrr,
    TsFifo,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "dualpi2",
    about: "DualPI2 (RFC 9332): L4S traffic in a queue with very low delay, coupled to the classic one",
    parameters: DualPi2Options::PARAMETERS,
    build: &|arguments, setup, _| {
        Ok(Waiting::Other(Box::new(DualPi2::new(&DualPi2Options::of(arguments), setup)?)))
    },
};

/// The constants of DualPI2.
struct Law {
    /// In seconds.
    target: f64,
    alpha: f64,
    beta: f64,
    k: f64,
    min_th: Duration,
    range: Duration,
    th_len: u64,
    scheduler: Scheduler,
    ecn: bool,
    /// The classic probability from which on all packets are dropped (RFC 9332 appendix A.1).
    p_c_max: f64,
}

#[derive(Debug, Clone, Copy)]
enum Scheduler {
    /// The weight of the classic queue.
    Weights(f64),
    /// The shift of time.
    Shift(Duration),
}

/// A queue, and the accumulated likelihood of its next signal.
#[derive(Debug, Default)]
struct Side {
    fifo: Fifo,
    count: f64,
}

impl Side {
    /// RFC 9332 appendix A.1, `recur`: evenly spaced signals at the given likelihood, without chance.
    fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let due = self.count > 1.0;
        if due {
            self.count -= 1.0;
        }
        due
    }
}

struct DualPi2 {
    law: Law,
    bound: Bound,
    l4s: Side,
    classic: Side,
    /// The base probability p', and the delay at the last update in seconds.
    base: f64,
    before: f64,
    ticks: Ticks,
    /// The credit of the classic queue in bytes since both queues wait: it is served when the credit covers its
    /// packet.
    credit: f64,
}

impl DualPi2 {
    fn new(options: &DualPi2Options, setup: LinkProperties<'_>) -> Result<DualPi2, QueueError> {
        let t_update = options.t_update;
        if t_update.is_zero() {
            return Err(QueueError::Zero("t_update"));
        }
        let k = options.k;
        Ok(DualPi2 {
            law: Law {
                target: options.target.as_secs_f64(),
                alpha: options.alpha,
                beta: options.beta,
                k,
                min_th: options.min_th,
                range: options.range,
                th_len: options.th_len,
                scheduler: match options.scheduler {
                    SchedulerName::Wrr => Scheduler::Weights(options.classic_weight),
                    SchedulerName::TsFifo => Scheduler::Shift(options.tshift),
                },
                ecn: options.ecn,
                p_c_max: (1.0 / (k * k)).min(1.0),
            },
            bound: Bound::new(options.limit, setup),
            l4s: Side::default(),
            classic: Side::default(),
            base: 0.0,
            before: 0.0,
            ticks: Ticks::new(t_update),
            credit: 0.0,
        })
    }

    /// Processes the updates since the last call (RFC 9332 appendix A.1 and A.2). The queues have not changed
    /// since, but their delays have grown.
    fn catch_up(&mut self, now: Time) {
        while let Some(at) = self.ticks.due(now) {
            let delay = self.delay(at);
            self.base += self.law.alpha * (delay - self.law.target) + self.law.beta * (delay - self.before);
            self.base = self.base.clamp(0.0, 1.0);
            let rests = delay == 0.0 && self.before == 0.0 && self.base == 0.0;
            let full = delay >= self.law.target && self.base == 1.0;
            self.before = delay;
            // A growing delay leaves a probability of one unchanged.
            if rests || full {
                if let Some(last) = self.ticks.skip(now) {
                    self.before = self.delay(last);
                }
                return;
            }
        }
    }

    /// The longer of the two delays, in seconds (RFC 9332 appendix A.2).
    fn delay(&self, at: Time) -> f64 {
        self.classic.fifo.delay(at).max(self.l4s.fifo.delay(at)).as_secs_f64()
    }

    fn side(&mut self, packet: &Packet) -> &mut Side {
        if packet.ecn.is_l4s() { &mut self.l4s } else { &mut self.classic }
    }

    /// Whether the next packet is taken from the L4S queue. At least one of the queues is not empty.
    fn l4s_goes_first(&self, now: Time) -> bool {
        let (Some(_), Some(classic)) = (self.l4s.fifo.head(), self.classic.fifo.head()) else {
            return !self.l4s.fifo.is_empty();
        };
        match self.law.scheduler {
            Scheduler::Weights(weight) => self.credit < (1.0 - weight) * f64::from(classic.size),
            Scheduler::Shift(shift) => self.l4s.fifo.delay(now) + shift >= now.since(classic.entered),
        }
    }

    fn both_wait(&self) -> bool {
        !self.l4s.fifo.is_empty() && !self.classic.fifo.is_empty()
    }

    /// Counts a packet of one queue that is sent while both wait.
    fn account(&mut self, l4s: bool, size: u32) {
        let Scheduler::Weights(weight) = self.law.scheduler else { return };
        if l4s {
            self.credit += weight * f64::from(size);
        } else {
            self.credit -= (1.0 - weight) * f64::from(size);
        }
    }

    /// Applies signals to a packet that is sent after `delay`; `None` if it is dropped.
    fn signal(
        &mut self,
        mut packet: Box<Packet>,
        delay: Duration,
        report: &mut Report,
    ) -> Option<Box<Packet>> {
        let (coupled, p_c) = (self.law.k * self.base, self.base * self.base);
        let dropped = if packet.ecn.is_l4s() {
            // RFC 9332 appendix A.2: when the coupled probability is 1, marks carry no more information, and
            // packets must be dropped.
            let overloaded = coupled >= 1.0;
            let dropped = overloaded && self.l4s.recur(p_c);
            if !dropped
                && (overloaded || {
                    let own = self.own_probability(delay);
                    self.l4s.recur(own.max(coupled))
                })
            {
                report.mark(&mut packet);
            }
            dropped
        } else {
            let marks = self.law.ecn && p_c < self.law.p_c_max;
            self.classic.recur(p_c) && !(marks && report.mark(&mut packet))
        };
        if dropped {
            report.drop(packet);
            return None;
        }
        Some(packet)
    }

    /// The own probability of the L4S queue, after a packet with this delay was taken out of it (RFC 9332
    /// appendix A.1, `laqm`).
    fn own_probability(&self, delay: Duration) -> f64 {
        if self.l4s.fifo.waiting().packets < self.law.th_len || delay < self.law.min_th {
            return 0.0;
        }
        let above = delay.as_nanos() - self.law.min_th.as_nanos();
        if above >= self.law.range.as_nanos() { 1.0 } else { above as f64 / self.law.range.as_nanos() as f64 }
    }
}

impl Queue for DualPi2 {
    fn enqueue(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) {
        self.catch_up(now);
        if let Err(full) = self.bound.admits(self.waiting(), packet.size) {
            report.overflow |= full == Full::Memory;
            return report.drop(packet);
        }
        self.side(&packet).fifo.push(packet);
    }

    fn dequeue(&mut self, now: Time, report: &mut Report) -> Option<Box<Packet>> {
        self.catch_up(now);
        loop {
            let l4s = self.l4s_goes_first(now);
            let side = if l4s { &mut self.l4s } else { &mut self.classic };
            let packet = side.fifo.pop()?;
            let (size, delay) = (packet.size, now.since(packet.entered));
            let both_wait = self.both_wait();
            if !both_wait {
                // Also if this packet is dropped, and no other is sent.
                self.credit = 0.0;
            }
            if let Some(packet) = self.signal(packet, delay, report) {
                if both_wait {
                    self.account(l4s, size);
                }
                return Some(packet);
            }
        }
    }

    fn pass(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        self.catch_up(now);
        self.signal(packet, Duration::ZERO, report)
    }

    fn waiting(&self) -> Count {
        self.l4s.fifo.waiting() + self.classic.fifo.waiting()
    }
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.l4s.fifo.each(show);
        self.classic.fifo.each(show);
    }
    fn check(&self) {
        self.bound.check(self.waiting());
        assert!((0.0..=1.0).contains(&self.base), "the base probability is a probability");
        assert!(
            self.credit == 0.0 || self.both_wait(),
            "credit is what one queue owes the other while both wait"
        );
        for (side, l4s) in [(&self.l4s, true), (&self.classic, false)] {
            side.fifo.check();
            assert!((0.0..=1.0).contains(&side.count), "a likelihood above one has become a signal");
            let own = side.fifo.head().is_none_or(|packet| packet.ecn.is_l4s() == l4s);
            assert!(own, "each packet waits in the queue of its ECN field");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, at, changed, ecn};
    use units::parameter::Default;
    use wire::Ecn;

    fn dualpi2(changes: &[(&str, &str)]) -> DualPi2 {
        let own = [
            ("target", "15 ms"),
            ("t_update", "16 ms"),
            ("alpha", "0.16"),
            ("beta", "3.2"),
            ("k", "2.0"),
            ("min_th", "800 us"),
            ("range", "400 us"),
            ("th_len", "1"),
            ("scheduler", "wrr"),
            ("classic_weight", "0.0625"),
            ("tshift", "30 ms"),
            ("ecn", "true"),
            ("limit", "100 packets"),
        ];
        let options = DualPi2Options::written(&changed(&own, changes)).unwrap();
        DualPi2::new(&options, SETUP).unwrap()
    }
    /// RFC 9332 appendix A.1, with a target of 15 ms and RTT_max = 100 ms.
    #[test]
    fn the_defaults_follow_from_the_target_and_the_longest_rtt() {
        let default = |name| {
            let option = ROW.parameters.iter().find(|option| option.name == name).unwrap();
            let Default::Is(text) = option.default else { panic!("{name} has a default") };
            text.trim_matches('"')
        };
        let seconds = |name| default(name).parse::<Duration>().unwrap().as_secs_f64();
        let number = |name| default(name).parse::<f64>().unwrap();
        let rtt_max = 0.1;
        assert_eq!(seconds("t_update"), f64::min(seconds("target"), rtt_max / 3.0));
        assert!((number("alpha") - 0.1 * seconds("t_update") / (rtt_max * rtt_max)).abs() < 1e-12);
        assert!((number("beta") - 0.3 / rtt_max).abs() < 1e-12);
        // Appendix A.2: "For the public Internet, a good value for tshift is 50 ms."
        assert_eq!(seconds("tshift"), 0.05);
    }

    fn put(queue: &mut DualPi2, now: Time, flow: u32, field: Ecn) {
        let mut packet = ecn(flow, field);
        packet.entered = now;
        queue.enqueue(now, packet, &mut Report::default());
    }

    /// RFC 9332 appendix A.1, with a classic packet that came at 24 ms and waits: the delay at the ticks of 16, 32, 48,
    /// 64 ms is 0, 8, 24, 40 ms. The first two: 0.16 × (0 - 15) ms < 0 is 0; 0.16 × (8 - 15) ms + 3.2 × 8 ms = 0.02448.
    #[test]
    fn the_base_probability_by_hand() {
        let mut queue = dualpi2(&[]);
        let mut expected = [0.0, 0.02448, 0.02448 + 0.00144 + 0.0512, 0.0].into_iter();
        put(&mut queue, at(24), 0, Ecn::NotEct);
        assert_eq!(queue.base, expected.next().unwrap());
        for ms in [32, 48] {
            queue.catch_up(at(ms));
            assert!((queue.base - expected.next().unwrap()).abs() < 1e-12, "{}", queue.base);
        }
        let mut at_once = dualpi2(&[]);
        put(&mut at_once, at(24), 0, Ecn::NotEct);
        at_once.catch_up(at(48));
        assert_eq!(at_once.base, queue.base);
    }

    /// RFC 9332 appendix A.2, figure 8: "use greatest queuing time": an L4S queue that nobody answers drives the base
    /// probability as a classic one does.
    #[test]
    fn the_longer_of_both_queues_drives_the_base_probability() {
        let mut queue = dualpi2(&[]);
        put(&mut queue, at(24), 0, Ecn::Ect1);
        queue.catch_up(at(32));
        assert!((queue.base - 0.02448).abs() < 1e-12, "{}", queue.base);
    }

    #[test]
    fn ticks_that_change_nothing_take_no_time() {
        let mut queue = dualpi2(&[]);
        queue.catch_up(Time::from_nanos(1 << 62));
        put(&mut queue, Time::from_nanos(1 << 62), 0, Ecn::NotEct);
        queue.catch_up(Time::from_nanos(1 << 63));
        assert_eq!(queue.base, 1.0);
        let last = queue.ticks.skip(Time::from_nanos(1 << 63));
        assert_eq!((last, queue.before > 1e9), (None, true));
    }

    /// RFC 9332 section 2.1: at a base probability of 0.1 a fifth of the L4S packets is marked, and a hundredth of the
    /// classic ones is dropped, or marked if they can be.
    #[test]
    fn the_coupling_is_k_and_the_square() {
        for (field, marked, dropped) in
            [(Ecn::Ect1, 200, 0), (Ecn::Ce, 200, 0), (Ecn::NotEct, 0, 10), (Ecn::Ect0, 10, 0)]
        {
            let mut queue = dualpi2(&[]);
            queue.base = 0.1;
            let mut report = Report::default();
            for n in 0..1001 {
                queue.signal(ecn(n, field), Duration::ZERO, &mut report);
            }
            assert_eq!((report.marked, report.dropped.len()), (marked, dropped), "{field:?}");
        }
    }

    /// RFC 9332 appendix A.2: from p' = 0.5 on the coupled probability is 1 and the classic one 25 %: L4S packets are
    /// dropped as often as classic ones, the others marked, and classic packets are no longer marked.
    #[test]
    fn overload_drops_in_both_queues() {
        for (field, marked) in [(Ecn::Ect1, 750), (Ecn::Ect0, 0), (Ecn::NotEct, 0)] {
            let mut queue = dualpi2(&[]);
            queue.base = 0.5;
            let mut report = Report::default();
            for n in 0..1001 {
                queue.signal(ecn(n, field), Duration::ZERO, &mut report);
            }
            assert_eq!(report.dropped.len(), 250, "{field:?}");
            assert!(report.marked.abs_diff(marked) <= 1, "{field:?} {}", report.marked);
        }
    }

    /// RFC 9332 appendix A.1: nothing below 800 us, half at 1 ms, all from 1.2 ms on, and nothing if one packet waits.
    #[test]
    fn the_ramp_and_the_step_of_the_l4s_queue() {
        let mut queue = dualpi2(&[]);
        assert_eq!(queue.own_probability(Duration::from_millis(9)), 0.0, "it was alone");
        put(&mut queue, at(0), 0, Ecn::Ect1);
        let us = Duration::from_micros;
        assert_eq!(
            [700, 800, 1000, 1200, 5000].map(|n| queue.own_probability(us(n))),
            [0.0, 0.0, 0.5, 1.0, 1.0]
        );
        queue.law.range = Duration::ZERO;
        assert_eq!([799, 800].map(|n| queue.own_probability(us(n))), [0.0, 1.0]);
    }

    /// RFC 9332 section 4.2.2: while both wait, one of 16 packets is classic, the first after 15.
    #[test]
    fn l4s_goes_first_and_the_classic_queue_has_its_weight() {
        let mut queue = dualpi2(&[]);
        for n in 0..20 {
            put(&mut queue, at(0), 0, Ecn::NotEct);
            put(&mut queue, at(0), 1 + n, Ecn::Ect1);
        }
        (0..20).for_each(|_| put(&mut queue, at(0), 1, Ecn::Ect1));
        let mut report = Report::default();
        let order: Vec<bool> = (0..34).map(|_| queue.dequeue(at(0), &mut report).unwrap().flow > 0).collect();
        let classic: Vec<usize> = (0..34).filter(|n| !order[*n]).collect();
        assert_eq!(classic, [15, 31]);
    }

    /// What the classic queue is owed counts while both wait, and starts anew when one is empty: then 15 packets again.
    #[test]
    fn weights_start_anew_when_a_queue_is_empty() {
        let (mut queue, mut report) = (dualpi2(&[]), Report::default());
        put(&mut queue, at(0), 0, Ecn::NotEct);
        let mut next = |queue: &mut DualPi2| queue.dequeue(at(0), &mut report).unwrap().flow;
        (0..10).for_each(|_| put(&mut queue, at(0), 1, Ecn::Ect1));
        (0..10).for_each(|_| assert_eq!(next(&mut queue), 1));
        (0..20).for_each(|_| put(&mut queue, at(0), 1, Ecn::Ect1));
        assert_eq!((0..21).position(|_| next(&mut queue) == 0), Some(15));
    }

    /// The same when overload drops all that waits in one call, so that nothing is sent.
    #[test]
    fn weights_start_anew_when_all_is_dropped() {
        let (mut queue, mut report) = (dualpi2(&[("ecn", "false")]), Report::default());
        for flow in [0, 1, 1] {
            put(&mut queue, at(0), flow, if flow == 0 { Ecn::NotEct } else { Ecn::Ect1 });
        }
        assert_eq!(queue.dequeue(at(0), &mut report).map(|sent| sent.flow), Some(1));
        assert!(queue.credit > 0.0, "both wait");
        queue.base = 1.0;
        (queue.l4s.count, queue.classic.count) = (0.5, 0.5);
        assert!(queue.dequeue(at(0), &mut report).is_none());
        assert_eq!((report.dropped.len(), queue.credit), (2, 0.0));
        queue.check();
    }

    #[test]
    fn a_classic_packet_goes_first_if_it_came_so_much_earlier() {
        for (lead, first) in [(30, Ecn::Ect1), (31, Ecn::NotEct)] {
            let mut queue = dualpi2(&[("scheduler", "ts-fifo")]);
            put(&mut queue, at(0), 0, Ecn::NotEct);
            put(&mut queue, at(lead), 1, Ecn::Ect1);
            // The base probability plays no part here.
            queue.base = 0.0;
            assert_eq!(queue.dequeue(at(lead), &mut Report::default()).unwrap().ecn, first);
        }
    }

    #[test]
    fn the_limit_is_for_both_queues() {
        let mut queue = dualpi2(&[("limit", "2 packets")]);
        let mut report = Report::default();
        for field in [Ecn::Ect1, Ecn::NotEct, Ecn::Ect1, Ecn::NotEct] {
            queue.enqueue(at(0), ecn(0, field), &mut report);
        }
        assert_eq!((queue.waiting().packets, report.dropped.len()), (2, 2));
    }
}
