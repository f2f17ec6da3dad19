//! A queue that sends the packet that came last first.

use network::queue::{Build, Queue, Report, Waiting};
use network::{Count, Packet};
use std::collections::VecDeque;
use units::Time;
use units::parameter::{Default, Kind, Parameter, Row};

/// How scenarios name it, and what they can say: `queue = { type = "last-first", most = 50 }`.
pub(crate) const ROW: Row<Build> = Row {
    name: "last-first",
    about: "an example: the packet that came last leaves first",
    parameters: &[Parameter {
        name: "most",
        kind: Kind::Integer(1, 100_000),
        default: Default::Is("100"),
        about: "packets that wait at most; further ones are dropped",
    }],
    build: &|arguments, _, _| {
        let most = arguments.integer("most");
        Ok(Waiting::Other(Box::new(LastFirst { most, packets: VecDeque::new(), waiting: Count::default() })))
    },
};

struct LastFirst {
    most: u64,
    packets: VecDeque<Box<Packet>>,
    waiting: Count,
}

impl Queue for LastFirst {
    fn enqueue(&mut self, _now: Time, packet: Box<Packet>, report: &mut Report) {
        if self.waiting.packets >= self.most {
            return report.drop(packet);
        }
        self.waiting.add(packet.size);
        self.packets.push_back(packet);
    }

    fn dequeue(&mut self, _now: Time, _report: &mut Report) -> Option<Box<Packet>> {
        let packet = self.packets.pop_back()?;
        self.waiting.remove(packet.size);
        Some(packet)
    }

    fn waiting(&self) -> Count {
        self.waiting
    }

    /// The books at the end of a run ask which packets are still here.
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.packets.iter().for_each(|packet| show(packet));
    }
}
