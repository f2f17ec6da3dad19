//! Drop-head: first in, first out; the oldest packets make room for an arriving one.

use super::fifo::Fifo;
use super::{Bound, Full, LinkProperties, Queue, Report, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use units::Time;
use units::parameter::{Limit, Options, Row};

/// The options of drop-head queues.
#[derive(Debug, Clone, Options)]
struct DropHeadOptions {
    /// limit of the queue, without the packet in transmission; a time, or a BDP of this link alone, is converted
    /// at its mean rate
    #[option(default = "1 BDP")]
    limit: Limit,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "drop-head",
    about: "first in, first out, up to a limit; the oldest packets are dropped to make room for a new one",
    parameters: DropHeadOptions::PARAMETERS,
    build: &|arguments, setup, _| {
        Ok(Waiting::Other(Box::new(DropHead::new(DropHeadOptions::of(arguments).limit, setup))))
    },
};

struct DropHead {
    fifo: Fifo,
    bound: Bound,
}

impl DropHead {
    fn new(limit: Limit, setup: LinkProperties<'_>) -> DropHead {
        DropHead { fifo: Fifo::default(), bound: Bound::new(limit, setup) }
    }
}

impl Queue for DropHead {
    fn enqueue(&mut self, _now: Time, packet: Box<Packet>, report: &mut Report) {
        // A packet that would not even fit alone displaces no other.
        if self.bound.admits(Count::default(), packet.size).is_err() {
            return report.drop(packet);
        }
        while let Err(full) = self.bound.admits(self.fifo.waiting(), packet.size) {
            report.overflow |= full == Full::Memory;
            let oldest = self.fifo.pop();
            report.drop(oldest.expect("a packet that fits alone does not fit beside a waiting one"));
        }
        self.fifo.push(packet);
    }
    fn dequeue(&mut self, _now: Time, _report: &mut Report) -> Option<Box<Packet>> {
        self.fifo.pop()
    }
    fn pass(&mut self, _now: Time, packet: Box<Packet>, _report: &mut Report) -> Option<Box<Packet>> {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, drain, packet};

    #[test]
    fn the_oldest_make_room_and_what_never_fits_drops_nobody() {
        let mut queue = DropHead::new("3000 B".parse().unwrap(), SETUP);
        let mut report = Report::default();
        for (flow, size) in [(1, 1000), (2, 1000), (3, 1000), (4, 1500), (5, 3001)] {
            queue.enqueue(Time::ZERO, packet(flow, size), &mut report);
        }
        // The fourth needs 1500 of 3000 bytes: the first two go. The fifth is larger than the queue.
        assert_eq!(report.dropped.iter().map(|packet| packet.flow).collect::<Vec<_>>(), [1, 2, 5]);
        assert_eq!(queue.waiting(), Count { packets: 2, bytes: 2500 });
        assert_eq!(drain(&mut queue, Time::ZERO), [3, 4]);
    }

    #[test]
    fn a_queue_of_nothing_lets_through_what_does_not_wait() {
        let mut queue = DropHead::new(Limit::Packets(0), SETUP);
        let mut report = Report::default();
        assert!(queue.pass(Time::ZERO, packet(1, 1500), &mut report).is_some());
        queue.enqueue(Time::ZERO, packet(2, 1500), &mut report);
        assert_eq!((report.dropped.len(), report.overflow), (1, false));
    }
}
