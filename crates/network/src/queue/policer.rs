//! A policer: drops or marks packets that exceed a token bucket, in front of a plain queue.

use super::fifo::Fifo;
use super::{Bound, LinkProperties, Queue, QueueError, Report, Waiting};
use crate::bucket::Bucket;
use crate::count::Count;
use crate::packet::Packet;
use units::parameter::{Choice, Component, Limit, Options, Row};
use units::{Rate, Size, Time};

/// The options of policers.
#[derive(Debug, Clone, Options)]
struct PolicerOptions {
    /// bits per second at which tokens accumulate, IP header included; above zero
    rate: Rate,
    /// size of the bucket: bytes that may arrive at once after a pause
    burst: Size,
    /// what happens to a packet without tokens; one that cannot be marked with CE is dropped
    #[option(default = "drop")]
    exceed: Exceed,
    /// limit of the queue, without the packet in transmission
    #[option(default = "1 BDP")]
    limit: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum Exceed {
    Drop,
    Mark,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "policer",
    about: "a token bucket that drops or marks packets above a rate with a burst; the others wait, first in, first out",
    parameters: PolicerOptions::PARAMETERS,
    build: &|arguments, setup, _| {
        Ok(Waiting::Other(Box::new(Policer::new(&PolicerOptions::of(arguments), setup)?)))
    },
};

/// The rate that passes in the long run, in bits per second, if this queue is a policer that drops what exceeds it.
pub fn policed_rate(queue: &Component) -> Option<Rate> {
    if queue.name != ROW.name {
        return None;
    }
    let options = PolicerOptions::of(&queue.arguments);
    (options.exceed == Exceed::Drop).then_some(options.rate)
}

struct Policer {
    bucket: Bucket,
    marks: bool,
    fifo: Fifo,
    bound: Bound,
}

impl Policer {
    fn new(options: &PolicerOptions, setup: LinkProperties<'_>) -> Result<Policer, QueueError> {
        if options.rate == Rate::ZERO {
            return Err(QueueError::Zero("rate"));
        }
        Ok(Policer {
            bucket: Bucket::new(options.rate, options.burst),
            marks: options.exceed == Exceed::Mark,
            fifo: Fifo::default(),
            bound: Bound::new(options.limit, setup),
        })
    }
    /// Returns the packet if it conforms, or if it was marked instead of dropped.
    fn police(&mut self, now: Time, mut packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        if self.bucket.take(now, packet.size) || (self.marks && report.mark(&mut packet)) {
            return Some(packet);
        }
        report.drop(packet);
        None
    }
}

impl Queue for Policer {
    fn enqueue(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) {
        if let Some(packet) = self.police(now, packet, report) {
            self.fifo.offer(self.bound, packet, report);
        }
    }
    fn dequeue(&mut self, _now: Time, _report: &mut Report) -> Option<Box<Packet>> {
        self.fifo.pop()
    }
    fn pass(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        self.police(now, packet, report)
    }
    fn waiting(&self) -> Count {
        self.fifo.waiting()
    }
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.fifo.each(show);
    }
    fn check(&self) {
        self.bucket.check();
        self.fifo.check();
        self.bound.check(self.fifo.waiting());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, at, ecn};
    use wire::Ecn;

    fn policer(exceed: &str, rate: &str) -> Result<Policer, QueueError> {
        let given = [("rate", rate), ("burst", "4500 B"), ("exceed", exceed), ("limit", "100 packets")];
        Policer::new(&PolicerOptions::written(&given).unwrap(), SETUP)
    }

    /// 12 Mbit/s are 1500 bytes in each millisecond; the bucket holds three packets.
    #[test]
    fn a_burst_goes_through_and_then_the_rate() {
        let mut policer = policer("drop", "12 Mbit/s").unwrap();
        let mut report = Report::default();
        (0..5).for_each(|n| policer.enqueue(at(0), ecn(n, Ecn::Ect0), &mut report));
        assert_eq!((policer.waiting().packets, report.dropped.len(), report.marked), (3, 2, 0));
        (0..3).for_each(|n| policer.enqueue(at(2), ecn(n, Ecn::Ect0), &mut report));
        assert_eq!((policer.waiting().packets, report.dropped.len()), (5, 3));
        assert!(policer.pass(at(2), ecn(0, Ecn::Ect0), &mut report).is_none(), "whoever waits or not");
    }

    #[test]
    fn what_exceeds_is_marked_if_it_can_be() {
        let mut policer = policer("mark", "12 Mbit/s").unwrap();
        let mut report = Report::default();
        (0..4).for_each(|n| policer.enqueue(at(0), ecn(n, Ecn::Ect0), &mut report));
        policer.enqueue(at(0), ecn(4, Ecn::NotEct), &mut report);
        assert_eq!((policer.waiting().packets, report.dropped.len(), report.marked), (4, 1, 1));
    }

    #[test]
    fn a_rate_of_zero_is_refused() {
        assert_eq!(policer("drop", "0 bit/s").err(), Some(QueueError::Zero("rate")));
    }
}
