//! FQ-CoDel (RFC 8290): a queue for each flow, served in turn, each under CoDel.

use super::codel::{Law, LawOptions, State};
use super::fifo::Fifo;
use super::{Bound, Full, LinkProperties, Queue, QueueError, Report, Waiting};
use crate::count::Count;
use crate::packet::Packet;
use random::Generator;
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use units::parameter::{Limit, Options, Row};
use units::{Size, Time};

/// The options of FQ-CoDel.
#[derive(Debug, Clone, Options)]
struct FqCoDelOptions {
    #[options]
    law: LawOptions,
    /// bytes that a flow may send in one turn (RFC 8290 section 5.2.4)
    #[option(default = "1514 B")]
    quantum: Size,
    /// number of queues, to which addresses and ports are hashed (RFC 8290 section 5.2.5)
    #[option(default = 1024, within = 1..=65_536)]
    flows: usize,
    /// limit of all queues together (RFC 8290 section 5.2.3)
    #[option(default = "10240 packets")]
    limit: Limit,
    /// maximum number of packets dropped at once from the longest queue when the limit is exceeded (Linux: 64)
    #[option(default = 64, within = 1..=65_536)]
    drop_batch: u64,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "fq-codel",
    about: "FQ-CoDel (RFC 8290): each flow has its own queue with CoDel, and the flows take turns of a few bytes",
    parameters: FqCoDelOptions::PARAMETERS,
    build: &|arguments, setup, stream| {
        Ok(Waiting::Other(Box::new(FqCoDel::new(&FqCoDelOptions::of(arguments), setup, stream)?)))
    },
};

/// The list that the queue of a flow is in (RFC 8290 section 4.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum FlowList {
    /// No list: it is empty and has had its turn.
    #[default]
    Idle,
    New,
    Old,
}

#[derive(Debug, Default)]
struct Flow {
    fifo: Fifo,
    codel: State,
    /// The bytes that it may still send in this turn.
    deficit: i64,
    place: FlowList,
}

struct FqCoDel {
    law: Law,
    quantum: i64,
    bound: Bound,
    drop_batch: u64,
    flows: Vec<Flow>,
    /// Flows that started to wait a short time ago, and the other flows that wait or have had their turn.
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    waiting: Count,
    /// The seed of the hash, which keeps flows from predicting who shares their queue.
    perturbation: u64,
}

impl FqCoDel {
    fn new(
        options: &FqCoDelOptions,
        setup: LinkProperties<'_>,
        mut stream: Generator,
    ) -> Result<FqCoDel, QueueError> {
        let quantum = options.quantum.as_bytes().min(1 << 40) as i64;
        if quantum == 0 {
            return Err(QueueError::Zero("quantum"));
        }
        Ok(FqCoDel {
            law: Law::new(&options.law, setup),
            quantum,
            bound: Bound::new(options.limit, setup),
            drop_batch: options.drop_batch,
            flows: std::iter::repeat_with(Flow::default).take(options.flows).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            waiting: Count::default(),
            perturbation: stream.bits(),
        })
    }

    /// The queue of a packet (RFC 8290 section 4.1): by addresses and ports.
    fn flow_of(&self, packet: &Packet) -> u32 {
        let hash = mix_address(mix_address(self.perturbation, &packet.source), &packet.destination);
        // The high bits of a product are uniform over any number of queues.
        ((u128::from(hash) * self.flows.len() as u128) >> 64) as u32
    }

    /// RFC 8290 section 4.1: drops packets at the head of the queue with the most bytes; like Linux up to half
    /// of them at once.
    fn make_room(&mut self, report: &mut Report) {
        let bytes = |flow: &Flow| flow.fifo.waiting().bytes;
        // The first of equal ones, so that the choice depends on nothing else.
        let longest = (0..self.flows.len()).rev().max_by_key(|at| bytes(&self.flows[*at]));
        let longest = longest.expect("the least number of queues is one");
        let fifo = &mut self.flows[longest].fifo;
        let half = fifo.waiting().bytes / 2;
        for _ in 0..self.drop_batch {
            let packet = fifo.pop().expect("where a limit is exceeded the longest queue has packets");
            self.waiting.remove(packet.size);
            report.drop(packet);
            if fifo.waiting().bytes <= half {
                return;
            }
        }
    }

    /// The next flow to serve (RFC 8290 section 4.2): new ones first.
    fn next_flow(&self) -> Option<(u32, FlowList)> {
        let new = self.new.front().map(|flow| (*flow, FlowList::New));
        new.or_else(|| self.old.front().map(|flow| (*flow, FlowList::Old)))
    }

    /// Removes the flow at the head of its list, and appends it to the old ones or to no list.
    fn turn(&mut self, flow: u32, from: FlowList, to: FlowList) {
        let head = match from {
            FlowList::New => self.new.pop_front(),
            _ => self.old.pop_front(),
        };
        debug_assert_eq!(head, Some(flow), "the flow whose turn it was is first in its list");
        if to == FlowList::Old {
            self.old.push_back(flow);
        }
        self.flows[flow as usize].place = to;
    }
}

impl Queue for FqCoDel {
    fn enqueue(&mut self, _now: Time, packet: Box<Packet>, report: &mut Report) {
        let number = self.flow_of(&packet);
        let size = packet.size;
        let flow = &mut self.flows[number as usize];
        flow.fifo.push(packet);
        if flow.place == FlowList::Idle {
            (flow.place, flow.deficit) = (FlowList::New, self.quantum);
            self.new.push_back(number);
        }
        let admitted = self.bound.admits(self.waiting, size);
        self.waiting.add(size);
        if let Err(full) = admitted {
            report.overflow |= full == Full::Memory;
            self.make_room(report);
            while self.waiting.packets > self.bound.packets || self.waiting.bytes > self.bound.bytes {
                self.make_room(report);
            }
        }
    }

    fn dequeue(&mut self, now: Time, report: &mut Report) -> Option<Box<Packet>> {
        loop {
            let (number, from) = self.next_flow()?;
            let flow = &mut self.flows[number as usize];
            // "It has already dequeued at least a quantum of bytes" (RFC 8290 section 4.2): nothing left is enough.
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                self.turn(number, from, FlowList::Old);
                continue;
            }
            let beside = self.waiting.bytes - flow.fifo.waiting().bytes;
            let dropped_before = report.dropped.len();
            let packet = flow.codel.dequeue(&self.law, now, &mut flow.fifo, beside, report);
            report.dropped[dropped_before..].iter().for_each(|packet| self.waiting.remove(packet.size));
            if let Some(packet) = packet {
                flow.deficit -= i64::from(packet.size);
                self.waiting.remove(packet.size);
                return Some(packet);
            }
            // A new flow that is empty first joins the old ones; otherwise it would be new again with its next
            // packet and starve them (RFC 8290 section 4.2).
            self.turn(number, from, if from == FlowList::New { FlowList::Old } else { FlowList::Idle });
        }
    }

    fn pass(&mut self, now: Time, packet: Box<Packet>, report: &mut Report) -> Option<Box<Packet>> {
        // It takes its flow's turn like any other, but no limit applies to it.
        let bound = std::mem::replace(&mut self.bound, Bound { packets: u64::MAX, bytes: u64::MAX });
        self.enqueue(now, packet, report);
        self.bound = bound;
        self.dequeue(now, report)
    }

    fn waiting(&self) -> Count {
        self.waiting
    }
    fn each(&self, show: &mut dyn FnMut(&Packet)) {
        self.flows.iter().for_each(|flow| flow.fifo.each(show));
    }
    fn check(&self) {
        let mut waiting = Count::default();
        let lists = [(&self.new, FlowList::New), (&self.old, FlowList::Old)];
        for (list, place) in lists {
            for flow in list.iter().map(|flow| &self.flows[*flow as usize]) {
                flow.fifo.check();
                flow.codel.check();
                assert_eq!(flow.place, place, "a flow knows the list that it is in");
                assert!(flow.deficit <= self.quantum, "no flow may send more than a quantum in a turn");
                waiting = waiting + flow.fifo.waiting();
            }
        }
        assert_eq!(waiting, self.waiting, "all waiting packets are those of flows that wait for a turn");
        self.bound.check(self.waiting);
    }
}

/// Mixes an address and its port into a hash.
fn mix_address(hash: u64, address: &SocketAddr) -> u64 {
    let hash = match address.ip() {
        IpAddr::V4(ip) => mix(hash, u64::from(ip.to_bits())),
        IpAddr::V6(ip) => mix(mix(hash, (ip.to_bits() >> 64) as u64), ip.to_bits() as u64),
    };
    mix(hash, u64::from(address.port()))
}

/// The finalizer of SplitMix64: each bit of the input moves half of those of the output.
fn mix(hash: u64, value: u64) -> u64 {
    let mut z = (hash ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{SETUP, at, drain, packet};

    fn fq(flows: usize, limit: &str, batch: u64) -> FqCoDel {
        let (flows, batch) = (flows.to_string(), batch.to_string());
        let given = [("quantum", "1500 B"), ("flows", &flows), ("limit", limit), ("drop_batch", &batch)];
        let options = FqCoDelOptions::written(&given).unwrap();
        FqCoDel::new(&options, SETUP, Generator::new(1, "test")).unwrap()
    }
    /// A packet of the flow from this port.
    fn from(port: u16, size: u32) -> Box<Packet> {
        let mut packet = packet(u32::from(port), size);
        packet.source.set_port(port);
        packet
    }

    /// RFC 8290 section 4.2: a flow of small packets gets as many bytes in a turn as one of large ones.
    #[test]
    fn flows_take_turns_of_a_quantum() {
        let (mut queue, mut report) = (fq(1024, "10240 packets", 64), Report::default());
        for _ in 0..4 {
            queue.enqueue(at(0), from(1, 1500), &mut report);
        }
        for _ in 0..6 {
            queue.enqueue(at(0), from(2, 500), &mut report);
        }
        assert_ne!(queue.flow_of(&from(1, 1)), queue.flow_of(&from(2, 1)), "of 1024 queues each has its own");
        assert_eq!(drain(&mut queue, at(1)), [1, 2, 2, 2, 1, 2, 2, 2, 1, 1]);
        assert_eq!(queue.waiting(), Count::default());
    }

    /// RFC 8290 section 4.2: who comes new goes before those that have had a turn.
    #[test]
    fn a_new_flow_goes_first_and_not_twice() {
        let (mut queue, mut report) = (fq(1024, "10240 packets", 64), Report::default());
        for _ in 0..12 {
            queue.enqueue(at(0), from(1, 500), &mut report);
        }
        let mut next = |queue: &mut FqCoDel| queue.dequeue(at(1), &mut report).unwrap().flow;
        // In its second turn it has 1000 bytes left.
        assert_eq!([0; 4].map(|_| next(&mut queue)), [1; 4]);
        queue.enqueue(at(1), from(2, 100), &mut Report::default());
        assert_eq!((next(&mut queue), next(&mut queue)), (2, 1));
        // Its queue was empty when it was passed over, and it stands behind the old ones: it is not new again.
        queue.enqueue(at(1), from(2, 100), &mut Report::default());
        assert_eq!([0; 4].map(|_| next(&mut queue)), [1, 2, 1, 1]);
    }

    /// RFC 8289 section 4.4: "when testing for queue occupancy before dropping, the total occupancy of all queues sharing the
    /// same output link SHOULD be used". The second flow has no more than an MTU itself, and waits behind the first one.
    #[test]
    fn what_waits_in_other_queues_is_a_standing_queue_too() {
        let (mut queue, mut report) = (fq(1024, "10240 packets", 64), Report::default());
        (0..3).for_each(|_| queue.enqueue(at(0), from(1, 1500), &mut report));
        (0..50).for_each(|_| queue.enqueue(at(0), from(2, 28), &mut report));
        // From 10 ms on one packet each 10 ms. The delay of the second flow is above 5 ms from 20 ms on, and has been for
        // 100 ms at 120 ms, while two packets of the first one wait.
        let mut dropped = |ms: u64| {
            assert!(queue.dequeue(at(ms), &mut report).is_some());
            std::mem::take(&mut report.dropped).iter().map(|packet| packet.flow).collect::<Vec<_>>()
        };
        (1..12).for_each(|n| assert_eq!(dropped(10 * n), [], "{n}0 ms"));
        assert_eq!(dropped(120), [2]);
    }

    /// RFC 8290 section 4.1.
    #[test]
    fn the_longest_queue_makes_room_at_its_head() {
        let (mut queue, mut report) = (fq(1024, "10 packets", 64), Report::default());
        for n in 0..8 {
            queue.enqueue(at(0), from(1, 1000 + n), &mut report);
        }
        queue.enqueue(at(0), from(2, 100), &mut report);
        queue.enqueue(at(0), from(2, 100), &mut report);
        assert!(report.is_empty());
        queue.enqueue(at(0), from(2, 100), &mut report);
        // Half of 8028 bytes.
        assert_eq!(
            report.dropped.iter().map(|packet| packet.size).collect::<Vec<_>>(),
            [1000, 1001, 1002, 1003, 1004]
        );
        assert_eq!(queue.waiting(), Count { packets: 6, bytes: 3 * 1006 + 300 });
        let (mut one, mut report) = (fq(1024, "10 packets", 1), Report::default());
        (0..13).for_each(|_| one.enqueue(at(0), from(1, 1000), &mut report));
        assert_eq!((report.dropped.len(), one.waiting().packets), (3, 10));
    }

    #[test]
    fn flows_are_told_apart_evenly_and_the_seed_decides_where() {
        let (one, mut other) = (fq(1024, "10 packets", 64), fq(1024, "10 packets", 64));
        let places =
            |queue: &FqCoDel| -> Vec<u32> { (0..4096).map(|port| queue.flow_of(&from(port, 1))).collect() };
        let mut counts = vec![0; 1024];
        places(&one).iter().for_each(|place| counts[*place as usize] += 1);
        // 4 in each on average, as balls in bins: e^-4 of the bins stay empty, which are 19.
        let empty = counts.iter().filter(|count| **count == 0).count();
        assert!((8..30).contains(&empty) && counts.iter().all(|count| *count < 16), "{empty}");
        assert_eq!(places(&one), places(&other));
        other.perturbation ^= 1;
        let moved = places(&one).iter().zip(places(&other)).filter(|(a, b)| **a != *b).count();
        assert!(moved > 4000, "{moved}");
    }

    #[test]
    fn a_quantum_of_nothing_is_refused() {
        let options = FqCoDelOptions::written(&[("quantum", "0 B"), ("flows", "1")]).unwrap();
        assert_eq!(
            FqCoDel::new(&options, SETUP, Generator::new(1, "test")).err(),
            Some(QueueError::Zero("quantum"))
        );
    }
}
