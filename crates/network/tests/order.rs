//! The order of simultaneous events, routing, and the end of a run.

mod support;

use network::{Carriers, Exits, Node, NodeId, Packet, Port, Prefetch, RunError, Step, Topology, World};
use std::cell::RefCell;
use std::rc::Rc;
use support::{Source, address, chain, link, ms, packet, us};
use units::{Duration, Time};

type Diary = Rc<RefCell<Vec<String>>>;

/// Records its events, and answers packets if told to.
struct Witness {
    name: &'static str,
    diary: Diary,
    alarms: Vec<Time>,
    /// Packets to send at the first alarm: (number, to).
    sends: Vec<(u32, u32)>,
    /// Answers packets to this node with their number plus 100.
    answers: Option<u32>,
    transit: bool,
}

impl Witness {
    fn new(name: &'static str, diary: &Diary, alarms: &[Time]) -> Witness {
        let (alarms, diary) = (alarms.to_vec(), Rc::clone(diary));
        Witness { name, diary, alarms, sends: Vec::new(), answers: None, transit: false }
    }
    fn note(&self, now: Time, what: &str) {
        self.diary.borrow_mut().push(format!("{now} {} {what}", self.name));
    }
}

impl Node for Witness {
    fn accept(&mut self, now: Time, _: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.note(now, &format!("got {}", packet.flow));
        if self.transit {
            return exits.send(packet);
        }
        if let Some(to) = self.answers {
            let mut answer = support::packet(packet.flow + 100, 100);
            answer.destination = address(to);
            exits.send(answer);
        }
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        self.note(now, "woke");
        self.alarms.remove(0);
        for (number, to) in self.sends.drain(..) {
            let mut sent = packet(number, 100);
            sent.destination = address(to);
            exits.send(sent);
        }
    }
    fn wake_at(&self) -> Option<Time> {
        self.alarms.first().copied()
    }
    fn takes_transit(&self) -> bool {
        self.transit
    }
}

fn lines(diary: &Diary) -> Vec<String> {
    diary.borrow_mut().drain(..).collect()
}

/// A world with this number of nodes, links given as (from, to), the same options for all links, and these
/// hosts.
fn world<H: Node>(
    nodes: usize,
    links: &[(usize, usize)],
    options: &[(&str, &str)],
    hosts: Vec<Option<H>>,
) -> World<H> {
    let mut topology = Topology::default();
    for node in 0..nodes {
        topology.add_node(&node.to_string()).unwrap();
    }
    let mut directions = Vec::new();
    for (n, (from, to)) in links.iter().enumerate() {
        topology.add_link(&n.to_string(), &from.to_string(), &to.to_string()).unwrap();
        directions.push(link(&format!("{n} forward"), options));
        directions.push(link(&format!("{n} backward"), options));
    }
    World::new(
        &topology,
        Carriers { links: directions, ..Carriers::default() },
        hosts.into_iter().map(Into::into).collect(),
    )
}

#[test]
fn at_one_instant_nodes_wake_in_order_and_before_links() {
    let diary = Diary::default();
    let at = ms(10);
    let mut a = Witness::new("a", &diary, &[ms(0), at]);
    a.sends = vec![(1, 2), (2, 2)];
    let b = Witness::new("b", &diary, &[at]);
    let c = Witness::new("c", &diary, &[at]);
    // Packets from a reach c over two links of 5 ms, at 10 ms.
    let mut world = world(3, &[(0, 1), (1, 2)], &[("delay", "5 ms")], vec![Some(a), Some(b), Some(c)]);
    assert_eq!(world.run(Time::from_nanos(u64::MAX - 1), 1000), Ok(Step::Idle));
    let expected =
        ["0 s a woke", "10 ms a woke", "10 ms b woke", "10 ms c woke", "10 ms c got 1", "10 ms c got 2"];
    assert_eq!(lines(&diary), expected);
}

#[test]
fn links_deliver_in_the_order_of_their_definition_regardless_of_the_sender() {
    for (links, expected) in [([(0, 2), (1, 2)], [1, 2]), ([(1, 2), (0, 2)], [2, 1])] {
        let diary = Diary::default();
        let mut a = Witness::new("a", &diary, &[ms(0)]);
        a.sends = vec![(1, 2)];
        let mut b = Witness::new("b", &diary, &[ms(0)]);
        b.sends = vec![(2, 2)];
        let c = Witness::new("c", &diary, &[]);
        let mut world = world(3, &links, &[("delay", "5 ms")], vec![Some(a), Some(b), Some(c)]);
        world.run(ms(100), 1000).unwrap();
        let got: Vec<String> = expected.iter().map(|n| format!("5 ms c got {n}")).collect();
        assert_eq!(lines(&diary)[2..], got);
    }
}

#[test]
fn an_answer_is_on_its_way_before_the_next_packet_is_seen_and_no_time_needs_to_pass() {
    let diary = Diary::default();
    let mut a = Witness::new("a", &diary, &[ms(1), ms(1)]);
    a.sends = vec![(1, 1), (2, 1)];
    let mut b = Witness::new("b", &diary, &[ms(1)]);
    b.answers = Some(0);
    // Links without delay: everything happens at 1 ms, the nodes' timers before deliveries, forward before
    // backward.
    let mut world = world(2, &[(0, 1)], &[], vec![Some(a), Some(b)]);
    world.run(ms(1), 1000).unwrap();
    let expected = [
        "1 ms a woke",
        "1 ms a woke",
        "1 ms b woke",
        "1 ms b got 1",
        "1 ms b got 2",
        "1 ms a got 101",
        "1 ms a got 102",
    ];
    assert_eq!(lines(&diary), expected);
    assert_eq!(world.now(), ms(1));
}

#[test]
fn a_timer_that_is_set_to_the_past_is_due_at_once_and_time_does_not_go_back() {
    let diary = Diary::default();
    let a = Witness::new("a", &diary, &[ms(5), ms(3), ms(6)]);
    let mut world = world(2, &[(0, 1)], &[], vec![Some(a), None]);
    world.run(ms(10), 1000).unwrap();
    assert_eq!(lines(&diary), ["5 ms a woke", "5 ms a woke", "6 ms a woke"]);
}

#[test]
fn the_shortest_path_is_taken_and_routers_forward() {
    let diary = Diary::default();
    let mut a = Witness::new("a", &diary, &[ms(0)]);
    a.sends = vec![(1, 3)];
    let d = Witness::new("d", &diary, &[]);
    // 0 - 1 - 2 - 3, and a shortcut 1 - 3.
    let links = [(0, 1), (1, 2), (2, 3), (3, 1)];
    let mut world = world(4, &links, &[("delay", "1 ms")], vec![Some(a), None, None, Some(d)]);
    world.run(ms(100), 1000).unwrap();
    assert_eq!(lines(&diary), ["0 s a woke", "2 ms d got 1"]);
    let used: Vec<usize> = (0..8).filter(|n| world.links()[*n].stats().delivered.packets > 0).collect();
    assert_eq!(used, [0, 7]);
}

#[test]
fn a_middlebox_sees_what_passes_by_and_a_host_does_not() {
    for transit in [false, true] {
        let diary = Diary::default();
        let mut a = Witness::new("a", &diary, &[ms(0)]);
        a.sends = vec![(1, 2), (2, 1)];
        let mut box_ = Witness::new("box", &diary, &[]);
        box_.transit = transit;
        let c = Witness::new("c", &diary, &[]);
        let mut world = world(3, &[(0, 1), (1, 2)], &[("delay", "1 ms")], vec![Some(a), Some(box_), Some(c)]);
        world.run(ms(1), 1000).unwrap();
        let got: &[&str] = if transit { &["1 ms box got 1", "1 ms box got 2"] } else { &["1 ms box got 2"] };
        assert_eq!(lines(&diary)[1..], *got);
        world.run(ms(2), 1000).unwrap();
        assert_eq!(lines(&diary), ["2 ms c got 1"]);
    }
}

/// Only a host with a depth hears of packets, of that many behind the one that arrives, and only of those to itself.
#[test]
fn a_host_that_prefetches_hears_of_the_packets_that_come_next() {
    let diary = Diary::default();
    let mut a = Witness::new("a", &diary, &[ms(0)]);
    a.sends = vec![(1, 1), (2, 1), (3, 1), (4, 1)];
    let mut b = Witness::new("b", &diary, &[]);
    b.answers = Some(0);
    let mut world = world(2, &[(0, 1)], &[("delay", "10 ms")], vec![Some(a), Some(b)]);
    world.prefetch(Prefetch {
        depth: |host| if host.name == "b" { 2 } else { 0 },
        announce: |host, packet, ahead| host.note(Time::ZERO, &format!("hears of {} + {ahead}", packet.flow)),
    });
    world.run(ms(10), 1000).unwrap();
    let expected = [
        "0 s a woke",
        "0 s b hears of 2 + 0",
        "0 s b hears of 3 + 1",
        "10 ms b got 1",
        "0 s b hears of 3 + 0",
        "0 s b hears of 4 + 1",
        "10 ms b got 2",
        "0 s b hears of 4 + 0",
        "10 ms b got 3",
        "10 ms b got 4",
    ];
    assert_eq!(lines(&diary), expected);
}

#[test]
fn unroutable_packets_are_counted() {
    let diary = Diary::default();
    let mut a = Witness::new("a", &diary, &[ms(0)]);
    // There is no host at 2 or 7, a has no route to itself, and 3 is not connected.
    a.sends = vec![(1, 2), (2, 7), (3, 0), (4, 3), (5, 1)];
    let hosts =
        vec![Some(a), Some(Witness::new("b", &diary, &[])), None, Some(Witness::new("d", &diary, &[])), None];
    let mut world = world(5, &[(0, 1), (1, 2), (3, 4)], &[], hosts);
    world.run(ms(1), 1000).unwrap();
    assert_eq!(world.unroutable(), 4);
    assert_eq!(lines(&diary), ["0 s a woke", "0 s b got 5"]);
}

#[test]
fn acting_on_a_host_from_outside_sends_and_sets_its_timer() {
    let diary = Diary::default();
    let hosts = vec![Some(Witness::new("a", &diary, &[])), Some(Witness::new("b", &diary, &[])), None];
    let mut world = world(3, &[(0, 1), (1, 2)], &[("delay", "1 ms")], hosts);
    assert_eq!(world.run(ms(5), 1000), Ok(Step::Idle));
    let acted = world.act(NodeId(0), |host, now, exits| {
        host.alarms.push(now + Duration::from_millis(2));
        exits.send(packet(9, 100));
        now
    });
    assert_eq!(acted, Some(ms(5)));
    assert_eq!(world.act(NodeId(2), |_, _, _| ()), None);
    assert_eq!(world.act(NodeId(77), |_, _, _| ()), None);
    world.run(ms(20), 1000).unwrap();
    assert_eq!(lines(&diary), ["6 ms b got 9", "7 ms a woke"]);
    assert!(world.host(NodeId(0)).is_some() && world.host(NodeId(2)).is_none());
}

#[test]
fn hosts_may_be_of_any_kind() {
    let hosts: Vec<Option<Box<dyn Node>>> = vec![
        Some(Box::new(Source::new(0, 1, Duration::from_millis(1), 3))),
        Some(Box::new(Source::new(1, 0, Duration::ZERO, 0))),
    ];
    let mut world = world(2, &[(0, 1)], &[], hosts);
    assert_eq!(world.run(Time::NEVER, 1000), Ok(Step::Idle));
    assert_eq!((world.now(), world.links()[0].stats().delivered.packets), (ms(2), 3));
}

#[test]
fn a_run_returns_at_its_limits() {
    let sources = || (Source::new(0, 1, Duration::from_millis(1), 10), Source::new(1, 0, Duration::ZERO, 0));
    let new = || {
        let (a, b) = sources();
        chain(1, &[("rate", "fixed rate=12 Mbit/s"), ("delay", "5 ms")], a, b)
    };
    let mut world = new();
    assert_eq!(world.run(us(500), 1000), Ok(Step::Reached));
    assert_eq!((world.now(), world.links()[0].stats().until), (us(500), us(500)));
    assert_eq!(world.run(us(500), 1000), Ok(Step::Reached));
    assert_eq!(world.run(ms(500), 2), Ok(Step::Budget));
    assert_eq!(world.now(), ms(2));
    assert_eq!(
        world.run_until(ms(500), 1000, |world| world.links()[0].stats().delivered.packets == 3),
        Ok(Step::Stopped)
    );
    assert_eq!(world.now(), ms(8));
    assert_eq!(world.run(ms(500), 1000), Ok(Step::Idle));
    assert_eq!(world.now(), ms(500));
    let mut world = new();
    assert_eq!(world.run(Time::NEVER, 1000), Ok(Step::Idle));
    assert_eq!(world.now(), ms(15), "the last thing that happened");
}

/// Wakes at an interval, and sends a packet without a buffer if `sends` is set.
struct Restless {
    at: Time,
    interval: Duration,
    sends: bool,
}

impl Node for Restless {
    fn accept(&mut self, _now: Time, _: Port, _packet: Box<Packet>, _exits: &mut Exits) {}
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        if self.sends {
            let mut packet = Packet::new(address(0), address(1), Vec::new(), None);
            packet.size = 1500;
            exits.send(packet);
        }
        self.at = now + self.interval;
    }
    fn wake_at(&self) -> Option<Time> {
        Some(self.at)
    }
}

#[test]
fn a_link_that_holds_more_and_more_ends_the_run() {
    for (options, problem) in [
        ([("rate", "fixed rate=1 kbit/s"), ("queue", "drop-tail limit=unlimited")], "wait in its queue"),
        ([("rate", "unlimited"), ("delay", "1 s")], "are in flight on it"),
    ] {
        let host = Restless { at: ms(1), interval: Duration::from_nanos(1), sends: true };
        let idle = Restless { at: Time::NEVER, interval: Duration::ZERO, sends: false };
        let mut world = chain(1, &options, host, idle);
        let error = world.run(ms(1000), u64::MAX).unwrap_err();
        assert!(matches!(&error, RunError::Overflow { link, .. } if link == "0 forward"), "{error}");
        let text = error.to_string();
        assert!(text.starts_with("0 forward overflows at 2.04857") && text.contains(problem), "{text}");
    }
}

#[test]
fn time_that_stands_still_ends_the_run() {
    let restless = || Restless { at: ms(7), interval: Duration::ZERO, sends: false };
    let mut world = chain(1, &[], restless(), restless());
    assert_eq!(world.run(ms(1000), 1000), Ok(Step::Budget));
    assert_eq!(world.run(ms(1000), u64::MAX), Err(RunError::Stuck { at: ms(7) }));
}

/// Sends a burst once, and returns every packet that arrives.
struct Echo {
    burst: Option<u32>,
}

impl Node for Echo {
    fn accept(&mut self, _now: Time, _: Port, mut packet: Box<Packet>, exits: &mut Exits) {
        std::mem::swap(&mut packet.source, &mut packet.destination);
        exits.send(packet);
    }
    fn wake(&mut self, _now: Time, exits: &mut Exits) {
        for number in 0..self.burst.take().unwrap_or(0) {
            exits.send(packet(number, 1500));
        }
    }
    fn wake_at(&self) -> Option<Time> {
        self.burst.map(|_| ms(7))
    }
}

/// Over a path without delay one timer moves a whole burst, so it counts as much as the packets of the burst.
#[test]
fn packets_count_as_timers_do() {
    let mut world = chain(1, &[], Echo { burst: Some(100) }, Echo { burst: None });
    assert_eq!(world.run(ms(1000), 1000), Ok(Step::Budget));
    let arrived = world.links()[0].stats().delivered.packets;
    assert!((450..550).contains(&arrived), "half of them go this way: {arrived}");
    assert_eq!(world.run(ms(1000), u64::MAX), Err(RunError::Stuck { at: ms(7) }));
}
