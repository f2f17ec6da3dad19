//! Translation by hand: what each packet looks like on the other side.

use super::*;
use crate::address::NodeId;
use units::parameter::{Arguments, Value};

pub(super) const INSIDE: Port = Port(0);
pub(super) const OUTSIDE: Port = Port(1);

pub(super) fn at(s: u64) -> Time {
    Time::ZERO + Duration::from_secs(s)
}

/// The NAT at node 4, 10.0.0.5, between the links `home` and `access`.
pub(super) fn nat(given: &[(&str, Value)]) -> Result<Nat, BuildError> {
    let mut arguments = Arguments(vec![
        ("rebind", Value::List(Vec::new())),
        ("timeout", Value::Duration(Duration::from_secs(300))),
        ("tcp_timeout", Value::Duration(Duration::from_secs(7440))),
        ("icmp_timeout", Value::Duration(Duration::from_secs(60))),
        ("mappings", Value::Integer(2)),
    ]);
    for (name, value) in given {
        let row = ROW.parameters.iter().find(|row| row.name == *name).unwrap();
        arguments.0.retain(|(known, _)| *known != row.name);
        arguments.0.push((row.name, value.clone()));
    }
    let carriers = ["home", "access"].map(str::to_owned);
    Nat::new(&MiddleboxOptions {
        arguments: &arguments,
        node: NodeId(4),
        carriers: &carriers,
        links: carriers.len(),
        name: "node nat",
        stream: &|name| random::Generator::new(1, name),
        interest: trace::Interest::ALL,
    })
}

fn packet(from: &str, to: &str) -> Packet {
    Packet::new(from.parse().unwrap(), to.parse().unwrap(), vec![0; 20], None)
}

/// Source and destination of what comes out, if anything does.
fn pass(nat: &mut Nat, now: Time, port: Port, from: &str, to: &str) -> Option<(String, String)> {
    let mut exits = Exits::default();
    nat.accept(now, port, Box::new(packet(from, to)), &mut exits);
    exits.take().map(|packet| (packet.source.to_string(), packet.destination.to_string()))
}

fn ends(from: &str, to: &str) -> Option<(String, String)> {
    Some((from.to_owned(), to.to_owned()))
}

#[test]
fn a_packet_goes_out_with_another_source_and_the_answer_comes_back() {
    let mut nat = nat(&[]).unwrap();
    let out = |nat: &mut Nat, from, to| pass(nat, at(0), INSIDE, from, to);
    assert_eq!(out(&mut nat, "10.0.0.1:7", "10.0.0.9:443"), ends("10.0.0.5:1024", "10.0.0.9:443"));
    // The same port wherever it goes, another one for another source.
    assert_eq!(out(&mut nat, "10.0.0.1:7", "10.0.0.8:80"), ends("10.0.0.5:1024", "10.0.0.8:80"));
    assert_eq!(out(&mut nat, "10.0.0.2:7", "10.0.0.9:443"), ends("10.0.0.5:1025", "10.0.0.9:443"));
    let back = pass(&mut nat, at(1), OUTSIDE, "10.0.0.9:443", "10.0.0.5:1025");
    assert_eq!(back, ends("10.0.0.9:443", "10.0.0.2:7"));
    // IPv6 has ports of its own.
    let out = pass(&mut nat, at(1), INSIDE, "[fd00::1]:7", "[fd00::9]:443");
    assert_eq!(out, ends("[fd00::5]:1024", "[fd00::9]:443"));
}

#[test]
fn what_nobody_asked_for_and_what_has_no_port_is_dropped() {
    let mut nat = nat(&[]).unwrap();
    assert_eq!(pass(&mut nat, at(0), OUTSIDE, "10.0.0.9:443", "10.0.0.5:1024"), None);
    assert_eq!(pass(&mut nat, at(0), OUTSIDE, "10.0.0.9:443", "10.0.0.1:7"), None);
    for (port, comes_through) in [(1, true), (2, true), (3, false), (1, true)] {
        let out = pass(&mut nat, at(0), INSIDE, &format!("10.0.0.1:{port}"), "10.0.0.9:443");
        assert_eq!(out.is_some(), comes_through, "port {port}");
    }
    assert_eq!(
        nat.counters(),
        [
            ("outward_packets", 3),
            ("inward_packets", 0),
            ("unsolicited_packets", 2),
            ("refused_packets", 1),
            ("untranslatable_packets", 0),
            ("mappings_made", 2),
            ("mappings_forgotten", 0),
        ]
    );
    assert_eq!(nat.drops.of(0).packets, 3);
    let reasons = nat.log.drain().filter_map(|record| match record.event {
        Event::NetworkDrop { reason, .. } => Some(reason),
        _ => None,
    });
    assert_eq!(reasons.collect::<Vec<_>>(), ["no_mapping", "no_mapping", "mappings"]);
}

#[test]
fn a_host_inside_is_reached_from_inside_by_its_mapped_port() {
    let mut nat = nat(&[]).unwrap();
    pass(&mut nat, at(0), INSIDE, "10.0.0.2:7", "10.0.0.9:443");
    let hairpin = pass(&mut nat, at(0), INSIDE, "10.0.0.1:8", "10.0.0.5:1024");
    assert_eq!(hairpin, ends("10.0.0.5:1025", "10.0.0.2:7"));
}

#[test]
fn a_packet_from_inside_to_an_inside_address_passes_unchanged() {
    let mut nat = nat(&[]).unwrap();
    nat.learn_route(NodeId(1), None, INSIDE);
    nat.learn_route(NodeId(1), Some(Port(0)), INSIDE);
    nat.learn_route(NodeId(1), Some(Port(1)), OUTSIDE);
    nat.learn_route(NodeId(8), None, OUTSIDE);
    let pass = |nat: &mut Nat, port: Port, to: &str| pass(nat, at(0), port, "10.0.0.1:7", to);
    assert_eq!(pass(&mut nat, INSIDE, "10.0.0.2:443"), ends("10.0.0.1:7", "10.0.0.2:443"));
    let address =
        |port| SocketAddr::new(crate::port_address(NodeId(1), port, false).unwrap(), 443).to_string();
    assert_eq!(pass(&mut nat, INSIDE, &address(Port(0))), ends("10.0.0.1:7", &address(Port(0))));
    assert_eq!(nat.counters.made, 0);
    // From outside it does not, and what leads outside is translated.
    assert_eq!(pass(&mut nat, OUTSIDE, "10.0.0.2:443"), None);
    assert_eq!(pass(&mut nat, INSIDE, "10.0.0.9:443"), ends("10.0.0.5:1024", "10.0.0.9:443"));
    assert_eq!(pass(&mut nat, INSIDE, &address(Port(1))), ends("10.0.0.5:1024", &address(Port(1))));
}

#[test]
fn a_mapping_ends_after_silence_from_inside() {
    let mut nat = nat(&[("timeout", Value::Duration(Duration::from_secs(30)))]).unwrap();
    let out = |nat: &mut Nat, now| pass(nat, now, INSIDE, "10.0.0.1:7", "10.0.0.9:443").unwrap().0;
    let back = |nat: &mut Nat, now| pass(nat, now, OUTSIDE, "10.0.0.9:443", "10.0.0.5:1024").is_some();
    assert_eq!(out(&mut nat, at(0)), "10.0.0.5:1024");
    assert_eq!((out(&mut nat, at(29)).as_str(), nat.wake_at()), ("10.0.0.5:1024", Some(at(30))));
    // Packets from outside do not keep it.
    assert!(back(&mut nat, at(58)));
    nat.wake(at(58), &mut Exits::default());
    assert_eq!(nat.wake_at(), Some(at(59)));
    assert!(!back(&mut nat, at(59)));
    assert_eq!((out(&mut nat, at(60)).as_str(), nat.counters.forgotten), ("10.0.0.5:1025", 1));
}

#[test]
fn all_is_forgotten_at_the_given_times_and_when_it_is_told_to() {
    let times =
        |times: &[u64]| Value::List(times.iter().map(|s| Value::Duration(Duration::from_secs(*s))).collect());
    let mut nat = nat(&[("rebind", times(&[10, 20]))]).unwrap();
    assert_eq!(nat.wake_at(), Some(at(10)));
    let out = |nat: &mut Nat, now| pass(nat, now, INSIDE, "10.0.0.1:7", "10.0.0.9:443").unwrap().0;
    let ports = [(9, 1024), (10, 1025), (19, 1025), (25, 1026)];
    for (s, port) in ports {
        assert_eq!(out(&mut nat, at(s)), format!("10.0.0.5:{port}"), "at {s} s");
    }
    nat.forget(at(26));
    assert_eq!((out(&mut nat, at(26)).as_str(), nat.counters.forgotten), ("10.0.0.5:1027", 3));
}

#[test]
fn the_ports_of_a_segment_are_translated_in_its_header_too() {
    let mut nat = nat(&[]).unwrap();
    let mut exits = Exits::default();
    let mut segment = packet("10.0.0.1:7", "10.0.0.9:443");
    segment.carry_tcp();
    nat.accept(at(0), INSIDE, Box::new(segment), &mut exits);
    let out = exits.take().unwrap();
    assert_eq!((out.source.port(), &out.bytes[..4]), (1024, &[4, 0, 1, 187][..]));
}

#[test]
fn ports_come_round_and_skip_those_in_use() {
    let mut nat = nat(&[("mappings", Value::Integer(10))]).unwrap();
    nat.tables[0][0].next = u16::MAX;
    let out = |nat: &mut Nat, port: u16| {
        pass(nat, at(0), INSIDE, &format!("10.0.0.1:{port}"), "10.0.0.9:443").unwrap().0
    };
    assert_eq!(out(&mut nat, 1), "10.0.0.5:65535");
    assert_eq!(out(&mut nat, 2), "10.0.0.5:1024");
    nat.tables[0][0].next = u16::MAX;
    assert_eq!(out(&mut nat, 3), "10.0.0.5:1025");
}

#[test]
fn the_default_of_inside_is_the_first_of_two_of_a_kind() {
    let inside = |carriers: &[&str], links| {
        let carriers: Vec<String> = carriers.iter().map(|name| (*name).to_owned()).collect();
        let arguments = Arguments(vec![
            ("rebind", Value::List(Vec::new())),
            ("timeout", Value::Duration(Duration::from_secs(300))),
            ("tcp_timeout", Value::Duration(Duration::from_secs(7440))),
            ("icmp_timeout", Value::Duration(Duration::from_secs(60))),
            ("mappings", Value::Integer(2)),
        ]);
        let options = MiddleboxOptions {
            arguments: &arguments,
            node: NodeId(4),
            carriers: &carriers,
            links,
            name: "node nat",
            stream: &|name| random::Generator::new(1, name),
            interest: trace::Interest::ALL,
        };
        Nat::new(&options).map(|nat| nat.inside).map_err(|error| error.to_string())
    };
    assert_eq!(inside(&["home", "access"], 2), Ok(vec![true, false]));
    assert_eq!(inside(&["air", "backbone"], 0), Ok(vec![true, false]));
    // The uplink comes first because links come before media.
    for (carriers, links) in [(&["access", "air"][..], 1), (&["left", "right", "access"][..], 3)] {
        let error = inside(carriers, links).unwrap_err();
        assert!(error.contains("missing") && error.ends_with(&carriers.join(", ")), "{error}");
    }
}

#[test]
fn options_that_cannot_be_used_are_told() {
    let text = |text: &str| Value::List(vec![Value::Text(text.to_owned())]);
    let times =
        |times: [u64; 2]| Value::List(times.map(|s| Value::Duration(Duration::from_secs(s))).to_vec());
    let both = Value::List(["home", "access"].map(|name| Value::Text(name.to_owned())).to_vec());
    for (option, value, part) in [
        (
            "inside",
            text("cellar"),
            "not a link or medium of this node, found \"cellar\"; expected one of home, access",
        ),
        ("inside", both, "nothing is outside"),
        ("inside", Value::List(Vec::new()), "nothing is inside"),
        ("rebind", times([10, 10]), "times do not rise, found 10 s"),
        ("timeout", Value::Duration(Duration::ZERO), "zero"),
    ] {
        let Err(BuildError::Option { option: found, problem }) = nat(&[(option, value)]) else {
            panic!("{option} was taken")
        };
        assert!(found == option && problem.contains(part), "{found}: {problem}");
    }
}
