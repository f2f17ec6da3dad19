//! A policer: drops or marks packets that exceed a token bucket, in front of a plain queue.

use super::fifo::Fifo;
use super::{Bound, Queue, QueueError, Report, Setup, Waiting};
use crate::bucket::Bucket;
use crate::count::Count;
use crate::packet::Packet;
use units::parameter::{Arguments, Component, Default, Kind, Parameter, Row};
use units::{Rate, Time};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "policer",
    about: "a token bucket that drops or marks packets above a rate with a burst; the others wait, first in, first out",
    parameters: &[
        Parameter {
            name: "rate",
            kind: Kind::Rate,
            default: Default::Required,
            about: "bits per second at which tokens accumulate, IP header included; above zero",
        },
        Parameter {
            name: "burst",
            kind: Kind::Size,
            default: Default::Required,
            about: "size of the bucket: bytes that may arrive at once after a pause",
        },
        Parameter {
            name: "exceed",
            kind: Kind::Choice(&["drop", "mark"]),
            default: Default::Is("\"drop\""),
            about: "what happens to a packet without tokens; one that cannot be marked with CE is dropped",
        },
        Parameter {
            name: "limit",
            kind: Kind::Limit,
            default: Default::Is("\"1 BDP\""),
            about: "limit of the queue, without the packet in transmission",
        },
    ],
    build: |arguments, setup, _| Ok(Waiting::Other(Box::new(Policer::new(arguments, setup)?))),
};

/// The rate that passes in the long run, in bits per second, if this queue is a policer that drops what exceeds it.
pub fn policed_rate(queue: &Component) -> Option<Rate> {
    let drops = queue.name == ROW.name && queue.arguments.text("exceed") == "drop";
    drops.then(|| queue.arguments.rate("rate"))
}

struct Policer {
    bucket: Bucket,
    marks: bool,
    fifo: Fifo,
    bound: Bound,
}

impl Policer {
    fn new(arguments: &Arguments, setup: Setup<'_>) -> Result<Policer, QueueError> {
        if arguments.rate("rate") == Rate::ZERO {
            return Err(QueueError::Zero("rate"));
        }
        Ok(Policer {
            bucket: Bucket::new(arguments.rate("rate"), arguments.size("burst")),
            marks: arguments.text("exceed") == "mark",
            fifo: Fifo::default(),
            bound: Bound::new(arguments.limit("limit"), setup),
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, at, ecn};
    use units::Size;
    use units::parameter::Value;
    use wire::Ecn;

    fn policer(exceed: &str, rate: &str) -> Result<Policer, QueueError> {
        let arguments = Arguments(vec![
            ("rate", Value::Rate(rate.parse().unwrap())),
            ("burst", Value::Size(Size::from_bytes(4500))),
            ("exceed", Value::Text(exceed.to_owned())),
            ("limit", Value::Limit("100 packets".parse().unwrap())),
        ]);
        Policer::new(&arguments, SETUP)
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
