//! CoDel (RFC 8289): signals when packets have waited longer than a target for an interval, ever more often.

use super::fifo::Fifo;
use super::{Bound, LinkProperties, Queue, Report, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use units::parameter::{Limit, Options, Row};
use units::{Duration, Time};

/// The options of CoDel's law, which FQ-CoDel shares.
#[derive(Debug, Clone, Options)]
pub(super) struct LawOptions {
    /// standing delay that is tolerated (RFC 8289 section 4.3)
    #[option(default = "5 ms")]
    target: Duration,
    /// how long the delay must stay above the target before the first signal: the longest usual RTT (RFC 8289
    /// section 4.2)
    #[option(default = "100 ms")]
    interval: Duration,
    /// whether ECN-capable packets are marked with CE instead of dropped (RFC 8290 section 5.2.6)
    #[option(default = true)]
    ecn: bool,
    /// delay above which every ECN-capable packet is marked (RFC 8290 section 5.2.7)
    ce_threshold: Option<Duration>,
}

/// The options of CoDel.
#[derive(Debug, Clone, Options)]
struct CoDelOptions {
    #[options]
    law: LawOptions,
    /// limit of the queue, without the packet in transmission
    #[option(default = "1000 packets")]
    limit: Limit,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "codel",
    about: "CoDel (RFC 8289): signals when the delay stays above a target for an interval, and then more and more often",
    parameters: CoDelOptions::PARAMETERS,
    build: &|arguments, setup, _| {
        let options = CoDelOptions::of(arguments);
        let law = Law::new(&options.law, setup);
        Ok(Waiting::Other(Box::new(CoDel::new(law, options.limit, setup))))
    },
};

/// The constants of CoDel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    target: Duration,
    interval: Duration,
    ecn: bool,
    ce_threshold: Duration,
    /// The MTU of the link: a queue with at most this behind the packet is good.
    mtu: u64,
}

impl Law {
    pub(super) fn new(options: &LawOptions, setup: LinkProperties<'_>) -> Law {
        Law {
            target: options.target,
            interval: options.interval,
            ecn: options.ecn,
            ce_threshold: options.ce_threshold.unwrap_or(Duration::MAX),
            mtu: u64::from(setup.mtu),
        }
    }
    /// RFC 8289 section 5.6: the next signal comes an interval over the square root of the count after the last.
    fn next(&self, after: Time, count: u32) -> Time {
        let span = self.interval.as_nanos() as f64 / f64::from(count).sqrt();
        after + Duration::from_nanos(span.round() as u64)
    }
}

/// The state of CoDel for one queue (RFC 8289 section 5.2).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    /// When the delay will have been above the target for an interval; `None` if it is below.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// The number of signals since dropping began, and its initial value.
    count: u32,
    last_count: u32,
}

impl State {
    /// The next packet to send out of `fifo`, after dropped ones (RFC 8289 section 5.5). `beside` is the number
    /// of bytes that wait in other queues of the same link.
    pub(super) fn dequeue(
        &mut self,
        law: &Law,
        now: Time,
        fifo: &mut Fifo,
        beside: u64,
        report: &mut Report,
    ) -> Option<Box<Packet>> {
        let (mut packet, mut bad) = self.take(law, now, fifo, beside)?;
        if self.dropping {
            self.dropping = bad;
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if law.ecn && report.mark(&mut packet) {
                    self.drop_next = law.next(self.drop_next, self.count);
                    return Some(packet);
                }
                report.drop(packet);
                (packet, bad) = self.take(law, now, fifo, beside)?;
                self.dropping = bad;
                if bad {
                    self.drop_next = law.next(self.drop_next, self.count);
                }
            }
        } else if bad {
            self.begin(law, now);
            if law.ecn && report.mark(&mut packet) {
                return Some(packet);
            }
            report.drop(packet);
            (packet, _) = self.take(law, now, fifo, beside)?;
        }
        if now.since(packet.entered) > law.ce_threshold {
            report.mark(&mut packet);
        }
        Some(packet)
    }

    /// Stops unless the signals are counted since dropping began.
    pub(super) fn check(&self) {
        assert!(self.last_count <= self.count, "signals are counted up from where dropping began");
        assert!(!self.dropping || self.count > 0, "dropping begins with a signal");
    }
    /// A packet has passed without waiting: the delay is below the target.
    pub(super) fn rest(&mut self) {
        self.first_above = None;
        self.dropping = false;
    }

    /// Starts dropping. If it ended a short time ago, it starts at the rate that controlled the queue then (RFC
    /// 8289 section 5.5).
    fn begin(&mut self, law: &Law, now: Time) {
        self.dropping = true;
        let delta = self.count - self.last_count;
        let lately = now < self.drop_next + law.interval.scale(16, 1);
        self.count = if delta > 1 && lately { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = law.next(now, self.count);
    }

    /// Takes the first packet; also returns whether the delay has been bad for an interval (RFC 8289 section
    /// 5.6).
    fn take(&mut self, law: &Law, now: Time, fifo: &mut Fifo, beside: u64) -> Option<(Box<Packet>, bool)> {
        let Some(packet) = fifo.pop() else {
            self.rest();
            return None;
        };
        // One packet of the largest size behind it is no standing queue, whatever the rate. RFC 8289 section 4.4: "the total
        // occupancy of all queues sharing the same output link SHOULD be used".
        if now.since(packet.entered) < law.target || fifo.waiting().bytes + beside <= law.mtu {
            self.first_above = None;
            return Some((packet, false));
        }
        let bad = match self.first_above {
            None => {
                self.first_above = Some(now + law.interval);
                false
            }
            Some(at) => now >= at,
        };
        Some((packet, bad))
    }
}

struct CoDel {
    law: Law,
    state: State,
    fifo: Fifo,
    bound: Bound,
}

impl CoDel {
    fn new(law: Law, limit: Limit, setup: LinkProperties<'_>) -> CoDel {
        CoDel { law, state: State::default(), fifo: Fifo::default(), bound: Bound::new(limit, setup) }
    }
}

impl Queue for CoDel {
    fn enqueue(&mut self, _now: Time, packet: Box<Packet>, report: &mut Report) {
        self.fifo.offer(self.bound, packet, report);
    }
    fn dequeue(&mut self, now: Time, report: &mut Report) -> Option<Box<Packet>> {
        self.state.dequeue(&self.law, now, &mut self.fifo, 0, report)
    }
    fn pass(&mut self, _now: Time, packet: Box<Packet>, _report: &mut Report) -> Option<Box<Packet>> {
        self.state.rest();
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
        self.state.check();
        self.bound.check(self.fifo.waiting());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, at, ecn, packet};

    const LAW: Law = Law {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        ecn: true,
        ce_threshold: Duration::MAX,
        mtu: 1500,
    };

    fn codel(law: Law) -> CoDel {
        CoDel::new(law, Limit::Packets(1000), SETUP)
    }

    /// One packet comes and one goes in every millisecond from the first to the last, with 20 of them waiting; gives
    /// the times, in milliseconds, of drops and of marks.
    fn standing(queue: &mut CoDel, (first, last): (u64, u64), capable: bool) -> (Vec<u64>, Vec<u64>) {
        let (mut report, mut dropped, mut marked) = (Report::default(), Vec::new(), Vec::new());
        for ms in first..last {
            while queue.waiting().packets < 20 {
                let mut packet = packet(0, 1500);
                packet.entered = at(ms.saturating_sub(20));
                packet.ecn = if capable { wire::Ecn::Ect0 } else { wire::Ecn::NotEct };
                queue.enqueue(at(ms), packet, &mut report);
            }
            assert!(queue.dequeue(at(ms), &mut report).is_some());
            dropped.extend(std::mem::take(&mut report.dropped).iter().map(|_| ms));
            marked.extend((0..std::mem::take(&mut report.marked)).map(|_| ms));
        }
        (dropped, marked)
    }

    /// RFC 8289 section 5.6. The delay is above 5 ms from 1000 ms on, so the first drop is at 1100 ms, and the others
    /// follow after 100, 70.7, 57.7, 50, 44.7 ms: at 1200, 1270.7, 1328.4, 1378.4, 1423.2; each is made by the first
    /// packet of the next millisecond.
    #[test]
    fn drops_follow_the_control_law() {
        let mut queue = codel(LAW);
        let (dropped, marked) = standing(&mut queue, (1000, 1425), false);
        assert_eq!(dropped, [1100, 1200, 1271, 1329, 1379, 1424]);
        assert!(marked.is_empty());
        assert_eq!(queue.state.count, 6);
    }

    /// RFC 8290 section 5.2.6: a mark is a signal like a drop, at the same times.
    #[test]
    fn marks_stand_for_drops() {
        let (dropped, marked) = standing(&mut codel(LAW), (1000, 1425), true);
        assert_eq!(marked, [1100, 1200, 1271, 1329, 1379, 1424]);
        assert!(dropped.is_empty());
        let (dropped, marked) = standing(&mut codel(Law { ecn: false, ..LAW }), (1000, 1425), true);
        assert_eq!((dropped.len(), marked.len()), (6, 0));
    }

    /// RFC 8289 section 5.5: 6 drops, then rest, then back within 16 intervals: the count goes on from 6 - 1.
    #[test]
    fn the_count_is_used_again_soon_after_and_not_later() {
        for (pause, expected) in [(300, 5), (1700, 1)] {
            let mut queue = codel(LAW);
            standing(&mut queue, (1000, 1425), false);
            assert!(queue.pass(at(1430), packet(0, 1500), &mut Report::default()).is_some());
            assert!(!queue.state.dropping);
            let back = 1425 + pause;
            let (dropped, _) = standing(&mut queue, (back, back + 101), false);
            assert_eq!((dropped, queue.state.count), (vec![back + 100], expected));
        }
    }

    /// RFC 8289 section 5.6.
    #[test]
    fn no_more_than_one_large_packet_behind_is_good_whatever_its_delay() {
        let mut queue = codel(LAW);
        let mut report = Report::default();
        for ms in (0..5000).step_by(500) {
            queue.enqueue(at(ms), ecn(1, wire::Ecn::NotEct), &mut report);
            queue.enqueue(at(ms), ecn(2, wire::Ecn::NotEct), &mut report);
            assert!(queue.dequeue(at(ms + 300), &mut report).is_some());
            assert!(queue.dequeue(at(ms + 450), &mut report).is_some());
        }
        assert!(report.is_empty());
    }

    /// RFC 8290 section 5.2.7.
    #[test]
    fn above_the_ce_threshold_every_capable_packet_is_marked() {
        let mut queue = codel(Law { ce_threshold: Duration::from_millis(1), ..LAW });
        let mut report = Report::default();
        queue.enqueue(at(0), ecn(1, wire::Ecn::Ect1), &mut report);
        queue.enqueue(at(0), ecn(2, wire::Ecn::Ect1), &mut report);
        queue.enqueue(at(0), ecn(3, wire::Ecn::NotEct), &mut report);
        assert_eq!(queue.dequeue(at(1), &mut report).unwrap().ecn, wire::Ecn::Ect1);
        assert_eq!(queue.dequeue(at(2), &mut report).unwrap().ecn, wire::Ecn::Ce);
        assert_eq!(queue.dequeue(at(2), &mut report).unwrap().ecn, wire::Ecn::NotEct);
    }

    /// RFC 8289 section 5.6, `bytes() <= maxpacket`: exactly an MTU behind a packet is no standing queue, one byte more is.
    #[test]
    fn an_mtu_behind_is_good_and_a_byte_more_is_not() {
        for (behind, bad) in [(1500, false), (1501, true)] {
            let (mut fifo, mut state) = (Fifo::default(), State::default());
            (0..3).for_each(|n| fifo.push(packet(n, 100)));
            let beside = behind - 200;
            let mut take = |ms, beside| state.take(&LAW, at(ms), &mut fifo, beside).unwrap().1;
            assert!(!take(10, beside));
            assert_eq!(take(110, beside + 100), bad);
        }
    }
}
