//! Middleboxes, media and ports in a world: laws that hold for every row of both tables, and the behaviour of
//! single ports.

mod support;

use network::medium::{self, MediumOptions};
use network::middlebox::{self, MiddleboxOptions};
use network::{
    CarrierStats, Carriers, Count, Exits, Hop, Node, NodeId, Occupant, Packet, PacketBooks, Port, Step,
    Topology, World, node_address, port_address,
};
use random::Generator;
use std::net::SocketAddr;
use support::{arguments, link, ms};
use trace::Interest;
use units::parameter::{Default, Kind, Parameter, Value};
use units::{Duration, Time};

/// A host that sends packets of varying sizes to others in turn, and keeps what it receives.
struct Talker {
    from: SocketAddr,
    to: Vec<SocketAddr>,
    interval: Duration,
    left: u32,
    sent: (u64, u64),
    next: Time,
    got: Vec<(Time, Port, Packet)>,
    /// Whether it answers every packet.
    answers: bool,
    exit: Option<Port>,
}

impl Talker {
    fn new(node: u32, to: &[u32], count: u32) -> Talker {
        Talker {
            from: own(node),
            to: to.iter().map(|node| own(*node)).collect(),
            interval: Duration::from_micros(700 + 50 * u64::from(node)),
            left: count,
            sent: (0, 0),
            next: Time::ZERO,
            got: Vec::new(),
            answers: false,
            exit: None,
        }
    }
    fn send(&mut self, to: SocketAddr, number: u32, exits: &mut Exits) {
        let mut packet = Packet::new(self.from, to, vec![0; 100 + (number * 37 % 900) as usize], None);
        packet.flow = number;
        self.sent = (self.sent.0 + 1, self.sent.1 + u64::from(packet.size));
        match self.exit {
            Some(port) => exits.send_by(port, packet),
            None => exits.send(packet),
        }
    }
}

impl Node for Talker {
    fn accept(&mut self, now: Time, port: Port, packet: Box<Packet>, exits: &mut Exits) {
        if self.answers {
            self.send(packet.source, packet.flow, exits);
        }
        self.got.push((now, port, *packet));
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        let Some(left) = self.left.checked_sub(1) else { return };
        let to = self.to[self.left as usize % self.to.len()];
        self.left = left;
        self.send(to, self.left, exits);
        self.next = now + self.interval;
    }
    fn wake_at(&self) -> Option<Time> {
        (self.left > 0).then_some(self.next)
    }
}

fn own(node: u32) -> SocketAddr {
    SocketAddr::new(node_address(NodeId(node), false), 443)
}

fn nodes(names: &[&str]) -> Topology {
    let mut topology = Topology::default();
    for name in names {
        topology.add_node(name).unwrap();
    }
    topology
}

fn sample(parameter: &Parameter) -> &'static str {
    match parameter.kind {
        Kind::Integer(..) => "3",
        Kind::Duration => "7 ms",
        kind => panic!("no sample of {kind:?}"),
    }
}

fn required(parameters: &'static [Parameter]) -> Vec<(&'static str, &'static str)> {
    let required = parameters.iter().filter(|parameter| parameter.default == Default::Required);
    required.map(|parameter| (parameter.name, sample(parameter))).collect()
}

/// A medium with the nodes 0 to 3, which all send to each other.
fn on_medium(name: &str, seed: u64, given: &[(&str, &str)], star: bool) -> World<Talker> {
    let row = medium::MEDIA.iter().find(|row| row.name == name).unwrap();
    let mut options = required(row.parameters);
    options.extend(given);
    let arguments = arguments(row.parameters, &options);
    let attachments: Vec<_> = (0..4).map(|n| (format!("medium air {n}"), arguments.clone())).collect();
    let mut topology = nodes(&["0", "1", "2", "3"]);
    topology.add_medium("air", &["0", "1", "2", "3"], star).unwrap();
    let built = medium::build(
        name,
        &MediumOptions {
            arguments: &arguments,
            attachments: &attachments,
            station: star,
            name: "medium air",
            stream: &|name| Generator::new(seed, name),
            flows: &[],
            delays: true,
            interest: Interest::ALL,
        },
    );
    let carriers = Carriers { media: vec![built.unwrap()], ..Carriers::default() };
    let hosts = (0..4).map(|node| {
        let others: Vec<u32> = (0..4).filter(|other| *other != node).collect();
        Occupant::Host(Talker::new(node, &others, 200))
    });
    World::new(&topology, carriers, hosts.collect())
}

/// The counters of all packets that an attachment of the medium has sent.
fn sent_by(world: &World<Talker>, attachment: usize) -> CarrierStats {
    let medium = &world.media()[0];
    let lanes = medium.lanes().iter().enumerate().filter(|(_, lane)| usize::from(lane.from) == attachment);
    lanes.fold(CarrierStats::default(), |mut sum, (number, _)| {
        let stats = medium.lane(number).stats;
        sum.accepted = sum.accepted + stats.accepted;
        sum.delivered = sum.delivered + stats.delivered;
        sum.duplicated = sum.duplicated + stats.duplicated;
        sum.dropped_mtu = sum.dropped_mtu + stats.dropped_mtu;
        sum.dropped_queue = sum.dropped_queue + stats.dropped_queue;
        sum.lost = sum.lost + stats.lost;
        sum.inside = sum.inside + stats.inside;
        sum
    })
}

type Seen = Vec<(Time, Port, Packet)>;

fn seen(world: &World<Talker>) -> Vec<Seen> {
    world.hosts().map(|host| host.got.clone()).collect()
}

#[test]
fn every_medium_conserves_bytes_and_is_the_same_for_equal_seeds_and_in_pieces() {
    for row in medium::MEDIA {
        for star in [false, true].into_iter().filter(|star| *star || !row.build.needs_station) {
            let run = |seed, pieces: u64| {
                let mut world = on_medium(row.name, seed, row.build.samples.lossy, star);
                for n in 1..=pieces {
                    world.run(ms(1000 * n / pieces), u64::MAX).unwrap();
                }
                world
            };
            let world = run(1, 1);
            for (node, host) in world.hosts().enumerate() {
                let stats = sent_by(&world, node);
                // In a star the station repeats what terminals send to each other.
                if !star || node > 0 {
                    assert_eq!((stats.accepted.packets, stats.accepted.bytes), host.sent, "{}", row.name);
                }
                let out = stats.delivered + stats.dropped() + stats.inside;
                assert_eq!(stats.accepted + stats.duplicated, out, "{} {node}", row.name);
                assert!(stats.lost.packets > 20, "{} {node}: {stats:?}", row.name);
            }
            let dropped: u64 = (0..4).map(|n| sent_by(&world, n).dropped().packets).sum();
            let mut books = PacketBooks::default();
            world.media()[0].account(&mut books);
            assert_eq!(books.dropped.total().packets, dropped);
            let inside = (0..4).map(|n| sent_by(&world, n).inside).fold(Count::default(), |sum, n| sum + n);
            assert_eq!(books.held.total(), inside, "{}: what is there was shown", row.name);
            let delivered: u64 = (0..4).map(|n| sent_by(&world, n).delivered.packets).sum();
            let received: u64 = (0..4).map(|n| world.media()[0].received(n).packets).sum();
            assert_eq!(delivered, received);
            assert_eq!(seen(&world), seen(&run(1, 1)), "{}: equal seeds", row.name);
            assert_eq!(seen(&world), seen(&run(1, 7)), "{}: in pieces", row.name);
            assert_ne!(seen(&world), seen(&run(2, 1)), "{}: other seeds", row.name);
        }
    }
}

#[test]
fn every_medium_keeps_the_order_of_each_pair() {
    for row in medium::MEDIA {
        let star = row.build.needs_station;
        let mut world = on_medium(row.name, 1, row.build.samples.lossless, star);
        world.run(ms(5000), u64::MAX).unwrap();
        for host in world.hosts() {
            for from in 0..4 {
                let numbers: Vec<u32> =
                    host.got.iter().filter(|(.., p)| p.source == own(from)).map(|(.., p)| p.flow).collect();
                assert!(numbers.is_sorted_by(|a, b| a > b), "{}: {numbers:?}", row.name);
            }
        }
        let total: usize = world.hosts().map(|host| host.got.len()).sum();
        assert_eq!(total, 800, "{}: nothing is lost without losses", row.name);
    }
}

#[test]
fn a_shared_medium_serves_in_the_order_of_arrival_at_one_rate() {
    // 1250 bytes at 10 Mbit/s take 1 ms. Nodes 0, 1 and 2 send packets at the same time, in this order.
    let mut world = on_medium("shared", 1, &[("rate", "fixed rate=10 Mbit/s"), ("delay", "5 ms")], false);
    for host in world.hosts_mut() {
        host.left = 0;
    }
    for node in 0..3 {
        world.act(NodeId(node), |_, _, exits| {
            exits.send(Packet::new(own(node), own(3), vec![0; 1222], None));
            if node == 1 {
                exits.send(Packet::new(own(1), own(0), vec![0; 1222], None));
            }
        });
    }
    world.act(NodeId(0), |_, _, exits| exits.send(Packet::new(own(0), own(3), vec![0; 1222], None)));
    assert_eq!(world.run(ms(100), 1000), Ok(Step::Idle));
    let arrivals: Vec<_> =
        world.host(NodeId(3)).unwrap().got.iter().map(|(at, _, packet)| (*at, packet.source)).collect();
    // The second packet of node 1, which is for node 0, has the third turn.
    assert_eq!(arrivals, [(ms(6), own(0)), (ms(7), own(1)), (ms(9), own(2)), (ms(10), own(0))]);
    assert_eq!(world.host(NodeId(0)).unwrap().got[0].0, ms(8));
    let busy: Vec<u64> = (0..4).map(|n| world.media()[0].lane(n).stats.busy.as_nanos() / 1_000_000).collect();
    assert_eq!(busy, [2, 2, 1, 0]);
}

#[test]
fn losses_of_an_attachment_affect_both_directions() {
    let row = medium::MEDIA.iter().find(|row| row.name == "shared").unwrap();
    let fine = arguments(row.parameters, &[]);
    let lossy = arguments(row.parameters, &[("loss", "random probability=1.0")]);
    let attachments: Vec<_> = (0..3)
        .map(|n| (format!("medium air {n}"), if n == 2 { lossy.clone() } else { fine.clone() }))
        .collect();
    let mut topology = nodes(&["0", "1", "2"]);
    topology.add_medium("air", &["0", "1", "2"], false).unwrap();
    let options = MediumOptions {
        arguments: &fine,
        attachments: &attachments,
        station: false,
        name: "medium air",
        stream: &|name| Generator::new(1, name),
        flows: &[],
        delays: false,
        interest: Interest::NONE,
    };
    let carriers =
        Carriers { media: vec![medium::build("shared", &options).unwrap()], ..Carriers::default() };
    let hosts = (0..3).map(|node| {
        let others: Vec<u32> = (0..3).filter(|other| *other != node).collect();
        Occupant::Host(Talker::new(node, &others, 20))
    });
    let mut world = World::new(&topology, carriers, hosts.collect());
    world.run(ms(100), u64::MAX).unwrap();
    let got: Vec<usize> = world.hosts().map(|host| host.got.len()).collect();
    assert_eq!(got, [10, 10, 0], "only what 0 and 1 said to each other");
}

/// A client, a middlebox, and a server that answers.
fn through_middlebox(name: &str, seed: u64) -> World<Talker> {
    let row = middlebox::MIDDLEBOXES.iter().find(|row| row.name == name).unwrap();
    let arguments = arguments(row.parameters, &required(row.parameters));
    let mut topology = nodes(&["client", "box", "server"]);
    topology.add_link("home", "client", "box").unwrap();
    topology.add_link("access", "box", "server").unwrap();
    let carriers = ["home", "access"].map(str::to_owned);
    let options = MiddleboxOptions {
        arguments: &arguments,
        node: NodeId(1),
        carriers: &carriers,
        links: carriers.len(),
        name: "node box",
        stream: &|name| Generator::new(seed, name),
        interest: Interest::ALL,
    };
    let built = middlebox::build(name, &options).unwrap();
    let directions = (0..4).map(|n| link(&n.to_string(), &[("delay", "5 ms")])).collect();
    let mut server = Talker::new(2, &[], 0);
    server.answers = true;
    let places =
        vec![Occupant::Host(Talker::new(0, &[2], 300)), Occupant::Middlebox(built), Occupant::Host(server)];
    World::new(&topology, Carriers { links: directions, ..Carriers::default() }, places)
}

#[test]
fn every_middlebox_passes_or_drops_what_comes_keeps_its_order_and_is_the_same_for_equal_seeds() {
    for row in middlebox::MIDDLEBOXES {
        let run = |seed| {
            let mut world = through_middlebox(row.name, seed);
            world.run(ms(2000), u64::MAX).unwrap();
            world
        };
        let world = run(1);
        let stats = |link: usize| world.links()[link].stats();
        let (_, boxed) = world.middleboxes().next().unwrap();
        let mut books = PacketBooks::default();
        boxed.account(&mut books);
        let dropped = books.dropped.total().packets;
        let came = stats(0).delivered.packets + stats(3).delivered.packets;
        let went = stats(1).accepted.packets + stats(2).accepted.packets;
        assert_eq!(came, went + dropped, "{}: all have passed or were dropped", row.name);
        assert!(stats(0).delivered.packets == 300 && dropped < came, "{}", row.name);
        assert!(boxed.counters().iter().all(|(name, _)| name.contains('_')), "{}: a unit", row.name);
        for host in world.hosts() {
            assert!(host.got.is_sorted_by(|(_, _, a), (_, _, b)| a.flow > b.flow), "{}: in order", row.name);
        }
        assert_eq!(seen(&world), seen(&run(1)), "{}: equal seeds", row.name);
    }
}

#[test]
fn two_nodes_inside_of_one_nat_reach_each_other_by_their_own_addresses() {
    let row = middlebox::MIDDLEBOXES.iter().find(|row| row.name == "nat").unwrap();
    let mut arguments = arguments(row.parameters, &[]);
    let inside = ["left", "right"].map(|name| Value::Text(name.to_owned()));
    arguments.0.retain(|(name, _)| *name != "inside");
    arguments.0.push(("inside", Value::List(inside.to_vec())));
    let mut topology = nodes(&["a", "b", "box", "server"]);
    topology.add_link("left", "a", "box").unwrap();
    topology.add_link("right", "b", "box").unwrap();
    topology.add_link("access", "box", "server").unwrap();
    let carriers = ["left", "right", "access"].map(str::to_owned);
    let options = MiddleboxOptions {
        arguments: &arguments,
        node: NodeId(2),
        carriers: &carriers,
        links: carriers.len(),
        name: "node box",
        stream: &|name| Generator::new(1, name),
        interest: Interest::ALL,
    };
    let nat = middlebox::build("nat", &options).unwrap();
    let directions = (0..6).map(|n| link(&n.to_string(), &[("delay", "5 ms")])).collect();
    let mut answering = Talker::new(1, &[], 0);
    answering.answers = true;
    let places = vec![
        Occupant::Host(Talker::new(0, &[1], 3)),
        Occupant::Host(answering),
        Occupant::Middlebox(nat),
        Occupant::Host(Talker::new(3, &[], 0)),
    ];
    let mut world = World::new(&topology, Carriers { links: directions, ..Carriers::default() }, places);
    world.run(ms(100), u64::MAX).unwrap();
    let got = |node: u32| world.host(NodeId(node)).unwrap().got.iter().map(|(.., packet)| packet.source);
    assert_eq!((got(0).collect(), got(1).collect()), (vec![own(1); 3], vec![own(0); 3]));
}

/// Two nodes with two links between them, of 5 ms and of 20 ms.
fn two_ways() -> World<Talker> {
    let mut topology = nodes(&["a", "b"]);
    topology.add_link("fast", "a", "b").unwrap();
    topology.add_link("slow", "a", "b").unwrap();
    let directions = ["5 ms", "5 ms", "20 ms", "20 ms"];
    let directions = directions.map(|delay| link("x", &[("delay", delay)]));
    let carriers = Carriers { links: directions.into(), ..Carriers::default() };
    let hosts = (0..2).map(|node| Occupant::Host(Talker::new(node, &[1 - node], 0)));
    World::new(&topology, carriers, hosts.collect())
}

#[test]
fn a_packet_leaves_by_the_named_port_and_arrives_at_the_addressed_port() {
    let mut world = two_ways();
    world.use_port_address(NodeId(1), Port(1));
    let slow = SocketAddr::new(port_address(NodeId(1), Port(1), false).unwrap(), 443);
    world.act(NodeId(0), |_, _, exits| {
        exits.send(Packet::new(own(0), own(1), Vec::new(), None));
        exits.send_by(Port(1), Packet::new(own(0), own(1), Vec::new(), None));
        exits.send(Packet::new(own(0), slow, Vec::new(), None));
        // There is no route to the address of an unused port.
        let unused = SocketAddr::new(port_address(NodeId(1), Port(0), false).unwrap(), 443);
        exits.send(Packet::new(own(0), unused, Vec::new(), None));
    });
    world.run(ms(100), 1000).unwrap();
    let got: Vec<_> = world.host(NodeId(1)).unwrap().got.iter().map(|(at, port, _)| (*at, *port)).collect();
    assert_eq!(got, [(ms(5), Port(0)), (ms(20), Port(1)), (ms(20), Port(1))]);
    assert_eq!(world.unroutable(), 1);
}

#[test]
fn a_port_that_is_down_drops_packets_in_both_directions() {
    let mut world = two_ways();
    let send = |world: &mut World<Talker>, from: u32, exit: Option<Port>| {
        world.act(NodeId(from), |_, _, exits| {
            let packet = Packet::new(own(from), own(1 - from), Vec::new(), None);
            match exit {
                Some(port) => exits.send_by(port, packet),
                None => exits.send(packet),
            }
        });
    };
    send(&mut world, 1, None);
    world.set_port(NodeId(0), Port(0), false);
    send(&mut world, 0, None);
    send(&mut world, 0, Some(Port(1)));
    world.run(ms(50), 1000).unwrap();
    // The packet from b was already in flight when the port went down.
    assert_eq!((world.host(NodeId(0)).unwrap().got.len(), world.dropped_at_ports()), (0, 2));
    assert_eq!(world.host(NodeId(1)).unwrap().got.len(), 1);
    world.set_port(NodeId(0), Port(0), true);
    send(&mut world, 0, None);
    send(&mut world, 1, None);
    world.run(ms(100), 1000).unwrap();
    assert_eq!((world.host(NodeId(0)).unwrap().got.len(), world.host(NodeId(1)).unwrap().got.len()), (1, 2));
    assert_eq!(world.dropped_at_ports(), 2);
}

#[test]
fn hops_say_what_they_are() {
    let world = on_medium("shared", 1, &[], false);
    let mut topology = nodes(&["a", "b", "c"]);
    topology.add_link("ab", "a", "b").unwrap();
    topology.add_medium("m", &["b", "c"], false).unwrap();
    let route = topology.route(NodeId(0), NodeId(2)).unwrap();
    let hops: Vec<Hop> = route.into_iter().map(|hop| topology.hop(hop)).collect();
    assert_eq!(hops, [Hop::Link { link: 0, forward: true }, Hop::Medium { medium: 0, from: 0, to: 1 }]);
    assert_eq!(world.media()[0].delay(), Duration::ZERO);
}
