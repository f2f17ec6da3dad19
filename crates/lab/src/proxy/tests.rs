//! Proxies between a client and a server of TCP, without a network: what one sends reaches the next at once.

use super::pep::ROW;
use super::{ProxyOptions, RunInputs};
use network::middlebox::{Middlebox, MiddleboxOptions};
use network::{Exits, Node, NodeId, Packet, Port};
use std::net::SocketAddr;
use std::sync::Arc;
use tcp::{Arrival, Config, Connection, ConnectionInputs, Data, Event, State, TlsSizes};
use trace::Interest;
use units::parameter::{Arguments, Value};
use units::{Duration, Size, Time};
use wire::Ecn;
use wire::tcp::{Flags, Header};

const CLIENT: usize = 0;
const SERVER: usize = 1;

fn address(end: usize) -> SocketAddr {
    ([10, 0, 0, 1 + end as u8], [34_433, 4433][end]).into()
}

/// A client and a server with a proxy between them.
struct Bed {
    now: Time,
    pep: Box<dyn Middlebox>,
    exits: Exits,
    ends: [Connection; 2],
    /// Whether packets reach each end.
    reachable: [bool; 2],
    /// The packets that the proxy has sent.
    sent: Vec<Packet>,
}

fn pep(given: &[(&str, Value)]) -> Box<dyn Middlebox> {
    let arguments = Arguments::filled(ROW.parameters, given, crate::rooms()).unwrap();
    let middlebox = MiddleboxOptions {
        arguments: &arguments,
        node: NodeId(2),
        carriers: &["near".to_owned(), "far".to_owned()],
        links: 2,
        name: "node pep",
        stream: &|name| random::Generator::new(1, name),
        interest: Interest::NONE,
    };
    let run = RunInputs::default();
    let mut pep = (ROW.build.build)(&ProxyOptions { middlebox, mtus: &[1500, 1000], run: &run }).unwrap();
    pep.learn_route(NodeId(CLIENT as u32), None, Port(0));
    pep.learn_route(NodeId(SERVER as u32), None, Port(1));
    pep
}

fn setup(end: usize) -> ConnectionInputs {
    ConnectionInputs {
        local: address(end),
        config: Arc::new(Config { delayed_ack: Duration::ZERO, ..Config::default() }),
        random: random::Generator::new(end as u64, "end"),
        interest: Interest::NONE,
        tls: TlsSizes::default(),
        cookie_key: 0,
        known_paths: tcp::DatedPaths::default(),
        initial_sequence: None,
    }
}

impl Bed {
    fn new(given: &[(&str, Value)]) -> Bed {
        let client = Connection::connect(Time::ZERO, setup(CLIENT), address(SERVER)).unwrap();
        let ends = [client, Connection::listen(setup(SERVER)).unwrap()];
        let (exits, sent) = (Exits::default(), Vec::new());
        Bed { now: Time::ZERO, pep: pep(given), exits, ends, reachable: [true; 2], sent }
    }

    /// The segments that an end has to send, as packets of flow 3.
    fn packets(&mut self, end: usize) -> Vec<Packet> {
        let mut packets = Vec::new();
        let mut bytes = Vec::new();
        while let Some(transmit) = self.ends[end].transmit(self.now, &mut bytes) {
            let bytes = std::mem::take(&mut bytes);
            let mut packet = Packet::new(address(end), transmit.remote, bytes, transmit.hole);
            packet.carry_tcp();
            packet.flow = 6 + end as u32;
            packets.push(packet);
        }
        packets
    }

    /// Lets packets pass until nobody has any, and returns the number of those that reached an end.
    fn settle(&mut self) -> usize {
        let mut arrived = 0;
        loop {
            let from_ends: Vec<Packet> = (0..2).flat_map(|end| self.packets(end)).collect();
            for packet in from_ends {
                self.pep.accept(self.now, Port(0), Box::new(packet), &mut self.exits);
            }
            let mut any = false;
            while let Some(packet) = self.exits.take() {
                any = true;
                self.sent.push(Packet::clone(&packet));
                let end = usize::from(packet.destination == address(SERVER));
                if self.reachable[end] {
                    arrived += 1;
                    let arrival = Arrival {
                        remote: packet.source,
                        ecn: Ecn::NotEct,
                        bytes: &packet.bytes,
                        hole: packet.hole(),
                        damage: None,
                    };
                    self.ends[end].receive(self.now, arrival);
                }
            }
            if !any {
                return arrived;
            }
        }
    }

    /// Lets time pass.
    fn run(&mut self, ms: u64) {
        let until = self.now + Duration::from_millis(ms);
        loop {
            self.settle();
            let timers = self.ends.iter().filter_map(Connection::wake_at).chain(self.pep.wake_at());
            let Some(next) = timers.min().filter(|at| *at <= until) else { break };
            self.now = self.now.max(next);
            for end in &mut self.ends {
                if end.wake_at().is_some_and(|at| at <= self.now) {
                    end.wake(self.now);
                }
            }
            self.pep.wake(self.now, &mut self.exits);
        }
        self.now = until;
    }

    fn counter(&self, name: &str) -> u64 {
        self.pep.counters().iter().find(|(known, _)| *known == name).unwrap().1
    }
    /// Reads all that has arrived at an end; returns the bytes, and whether they have ended.
    fn read(&mut self, end: usize) -> (Vec<u8>, bool) {
        let mut all = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let read = self.ends[end].read(self.now, &mut buffer).unwrap();
            all.extend_from_slice(&buffer[..read.bytes as usize]);
            if read.bytes == 0 {
                return (all, read.finished);
            }
        }
    }
}

fn header(packet: &Packet) -> Header {
    Header::decode(&packet.bytes).unwrap().0
}

fn buffers(bytes: u64) -> Vec<(&'static str, Value)> {
    ["receive_buffer", "max_receive_buffer", "send_buffer"]
        .map(|name| (name, Value::Size(Size::from_bytes(bytes))))
        .into()
}

/// The client has its answer, and the server its SYN, before the server has answered.
#[test]
fn a_syn_is_answered_at_once_and_passed_on_in_parallel() {
    let mut bed = Bed::new(&[]);
    bed.reachable = [false; 2];
    bed.settle();
    let sent: Vec<_> = bed.sent.iter().map(|p| (p.source, p.destination, p.flow, header(p).flags)).collect();
    let (syn, syn_ack) = (Flags::SYN, Flags::SYN.with(Flags::ACK));
    let (client, server) = (address(CLIENT), address(SERVER));
    assert_eq!(sent, [(server, client, 7, syn_ack), (client, server, 6, syn)]);
    // The MTUs of the carriers are 1500 and 1000.
    let sizes: Vec<_> = bed.sent.iter().map(|packet| header(packet).options.mss).collect();
    assert_eq!(sizes, [Some(1460), Some(960)]);
}

#[test]
fn real_and_virtual_bytes_arrive_as_they_were_written() {
    let mut bed = Bed::new(&[]);
    bed.ends[CLIENT].write(Data::Bytes(&[200; 5000])).unwrap();
    bed.ends[CLIENT].write(Data::Virtual(20_000)).unwrap();
    bed.ends[CLIENT].write(Data::Bytes(&[201; 3])).unwrap();
    bed.ends[CLIENT].finish_writing().unwrap();
    bed.run(1000);
    let mut expected = vec![200; 5000];
    expected.extend((5000..25_000).map(wire::pattern::byte));
    expected.extend([201; 3]);
    assert!(bed.read(SERVER) == (expected, true));
    assert_eq!((bed.counter("upward_bytes"), bed.counter("downward_bytes")), (25_003, 0));
    // Most segments to the server still have a hole instead of bytes.
    assert!(bed.sent.iter().filter(|packet| packet.hole().is_some()).count() >= 20);
}

/// The end of the client's data reaches the server, whose data still reaches the client.
#[test]
fn each_direction_ends_for_itself() {
    let mut bed = Bed::new(&[]);
    bed.ends[CLIENT].write(Data::Virtual(10)).unwrap();
    bed.ends[CLIENT].finish_writing().unwrap();
    bed.run(1000);
    assert!(bed.read(SERVER).1);
    assert_eq!(bed.ends.each_ref().map(Connection::state), [State::FinWait2, State::CloseWait]);
    bed.ends[SERVER].write(Data::Virtual(100_000)).unwrap();
    bed.ends[SERVER].finish_writing().unwrap();
    let (mut bytes, mut ended) = (Vec::new(), false);
    for _ in 0..10 {
        bed.run(100);
        let (more, end) = bed.read(CLIENT);
        bytes.extend(more);
        ended = end;
    }
    assert!(ended && wire::pattern::matches(0, &bytes) && bytes.len() == 100_000);
    assert_eq!(bed.ends.each_ref().map(Connection::state), [State::TimeWait, State::Closed]);
    // The proxy has closed the connection with the server first, and waits for 2 MSL.
    assert_eq!((bed.counter("remaining_connections"), bed.counter("reset_connections")), (1, 0));
    bed.run(60_000);
    assert_eq!(bed.counter("remaining_connections"), 0);
    assert_eq!(bed.pep.wake_at(), None);
}

/// The server acknowledges nothing more: the proxy takes 10,000 bytes to send and 10,000 to relay.
#[test]
fn a_full_buffer_holds_the_sender_back() {
    let mut bed = Bed::new(&buffers(10_000));
    bed.run(100);
    bed.reachable[SERVER] = false;
    bed.ends[CLIENT].write(Data::Virtual(100_000)).unwrap();
    bed.run(5000);
    assert_eq!(bed.counter("upward_bytes"), 10_000);
    let most = bed.counter("buffered_max_bytes");
    assert!((18_000..=20_000).contains(&most), "{most}");
    bed.reachable[SERVER] = true;
    for _ in 0..60 {
        bed.run(1000);
        bed.read(SERVER);
    }
    assert_eq!(bed.counter("upward_bytes"), 100_000);
    assert!(bed.counter("buffered_max_bytes") <= 20_000, "nothing grows");
}

#[test]
fn a_reset_is_passed_on_in_both_directions() {
    for end in [CLIENT, SERVER] {
        let mut bed = Bed::new(&[]);
        bed.run(100);
        bed.ends[end].reset(bed.now);
        bed.run(100);
        let other = &mut bed.ends[1 - end];
        let events: Vec<Event> = std::iter::from_fn(|| other.poll_event()).collect();
        assert_eq!((other.state(), events.last()), (State::Closed, Some(&Event::Ended)));
        assert_eq!((bed.counter("reset_connections"), bed.counter("remaining_connections")), (1, 0));
    }
}

/// The client was accepted before the server refused.
#[test]
fn a_refused_connection_is_reset_at_the_client() {
    let mut bed = Bed::new(&[]);
    // An end that was reset is closed, and refuses.
    bed.ends[SERVER].reset(Time::ZERO);
    bed.run(100);
    assert_eq!(bed.ends[CLIENT].state(), State::Closed);
    assert_eq!(bed.counter("remaining_connections"), 0);
}

/// Nobody answers at the server: seven SYNs, the last of them a minute before the end (RFC 9293 section 3.8.3).
#[test]
fn a_silent_server_is_given_up() {
    let mut bed = Bed::new(&[]);
    bed.reachable[SERVER] = false;
    bed.run(122_000);
    assert_eq!((bed.ends[CLIENT].state(), bed.counter("remaining_connections")), (State::Established, 1));
    bed.run(1000);
    assert_eq!((bed.ends[CLIENT].state(), bed.counter("remaining_connections")), (State::Closed, 0));
}

#[test]
fn what_is_no_new_connection_passes_unchanged() {
    let mut bed = Bed::new(&[("connections", Value::Integer(1))]);
    let mut other = |flags: Flags, port: u16, damaged: bool, tcp: bool| {
        let source = SocketAddr::new(address(CLIENT).ip(), port);
        let mut bytes = Vec::new();
        Header { source: port, destination: 4433, flags, ..Header::default() }.encode(&mut bytes);
        let mut packet = Packet::new(source, address(SERVER), bytes, None);
        if tcp {
            packet.carry_tcp();
        }
        if damaged {
            packet.note_damage(wire::Damage { first: 0, last: 0 });
        }
        bed.pep.accept(Time::ZERO, Port(0), Box::new(packet.clone()), &mut bed.exits);
        let passed = bed.exits.take().is_some_and(|passed| *passed == packet);
        while bed.exits.take().is_some() {}
        passed
    };
    let syn = Flags::SYN;
    assert!(other(syn, 1, false, false), "UDP");
    assert!(other(Flags::ACK, 1, false, true), "a segment of an unknown connection");
    assert!(other(syn.with(Flags::ACK), 1, false, true));
    assert!(other(syn, 1, true, true), "altered on the way");
    assert!(!other(syn, 1, false, true), "this one is split");
    assert!(other(syn, 2, false, true), "there is room for one");
    assert_eq!((bed.counter("split_connections"), bed.counter("unsplit_connections")), (1, 1));
    assert_eq!(bed.counter("passed_packets"), 5);
}
