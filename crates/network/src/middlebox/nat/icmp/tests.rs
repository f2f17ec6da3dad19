//! ICMP through a NAT by hand. Each checksum is computed again by the sum of RFC 1071 in its simplest form.

use super::super::tests::{INSIDE, OUTSIDE, at, nat};
use super::*;
use crate::address::Port;
use crate::exits::Exits;
use crate::gate;
use crate::middlebox::Middlebox;
use crate::node::Node;
use units::parameter::Value;
use wire::Ecn;
use wire::ip::icmp::IcmpError;

/// The folded sum of words, which is 0xffff over data with a correct checksum.
fn plain_sum(parts: &[&[u8]]) -> u16 {
    let bytes = parts.concat();
    let sum: u32 = bytes.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    (folded + (folded >> 16)) as u16
}

/// Asserts that the checksums of a whole packet are right: those of its header, of its payload, and of what an error is about.
#[track_caller]
fn assert_sums(bytes: &[u8]) {
    let ipv6 = bytes[0] >> 4 == 6;
    let (size, protocol) = if ipv6 { (40, bytes[6]) } else { (20, bytes[9]) };
    let (header, payload) = bytes.split_at(size);
    if !ipv6 {
        assert_eq!(plain_sum(&[header]), 0xffff, "IP header {bytes:?}");
    }
    let pseudo = [
        if ipv6 { &header[8..40] } else { &header[12..20] },
        &[0, protocol],
        &(payload.len() as u16).to_be_bytes(),
    ]
    .concat();
    let pseudo = if protocol == 1 { &[][..] } else { &pseudo };
    assert_eq!(plain_sum(&[pseudo, payload]), 0xffff, "protocol {protocol} {bytes:?}");
    if matches!((ipv6, protocol, payload[0]), (false, 1, 3 | 11) | (true, 58, 1..=3)) {
        assert_sums(&payload[8..]);
    }
}

fn whole(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    gate::write(&mut packet.clone(), &mut bytes).unwrap();
    bytes
}

fn datagram(from: &str, to: &str) -> Packet {
    let (source, destination) = (from.parse().unwrap(), to.parse().unwrap());
    let mut bytes = Vec::new();
    let (ecn, dscp, hop_limit, payload) = (Ecn::NotEct, 0, 9, &b"odd"[..]);
    wire::ip::Packet { source, destination, ecn, dscp, hop_limit, payload }.encode(&mut bytes).unwrap();
    gate::packet_of(&bytes, Vec::new()).unwrap()
}

fn segment(from: &str, to: &str) -> Packet {
    let (source, destination): (SocketAddr, SocketAddr) = (from.parse().unwrap(), to.parse().unwrap());
    let mut segment = [7; 21];
    segment[..2].copy_from_slice(&source.port().to_be_bytes());
    segment[2..4].copy_from_slice(&destination.port().to_be_bytes());
    segment[12] = 5 << 4;
    let mut bytes = Vec::new();
    let (ecn, dscp, hop_limit, segment) = (Ecn::NotEct, 0, 9, &segment[..]);
    wire::ip::TcpPacket { source, destination, ecn, dscp, hop_limit, segment }.encode(&mut bytes).unwrap();
    gate::packet_of(&bytes, Vec::new()).unwrap()
}

/// An echo request; the port of the source is its identifier.
fn echo(from: &str, to: &str) -> Packet {
    let (source, to): (SocketAddr, IpAddr) = (from.parse().unwrap(), to.parse().unwrap());
    let id = source.port().to_be_bytes();
    let (kind, protocol) = if to.is_ipv6() { (128, 58) } else { (8, 1) };
    let mut message = vec![kind, 0, 0, 0, id[0], id[1], 0, 1, b'o', b'd', b'd'];
    let octets = |ip: IpAddr| match ip {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    let ends = [octets(source.ip()), octets(to)].concat();
    let pseudo = [&ends[..], &[0, protocol], &[0, 11]].concat();
    let sum = !plain_sum(&[if to.is_ipv6() { &pseudo } else { &[] }, &message]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header = match to {
        IpAddr::V4(_) => vec![0x45, 0, 0, 31, 0, 1, 0, 0, 9, 1, 0, 0],
        IpAddr::V6(_) => vec![0x60, 0, 0, 0, 0, 11, 58, 9],
    };
    gate::packet_of(&[header, ends, message].concat(), Vec::new()).unwrap()
}

/// What the node at an address reports about a packet.
fn error(about: &Packet, from: &str) -> Packet {
    let bytes = icmp::error(&whole(about), from.parse().unwrap(), IcmpError::TimeExceeded).unwrap();
    gate::packet_of(&bytes, Vec::new()).unwrap()
}

/// The answer to an echo request, as it arrived.
fn reply(to: &Packet) -> Packet {
    gate::packet_of(&icmp::echo_reply(&whole(to)).unwrap(), Vec::new()).unwrap()
}

/// What comes out, with right checksums.
fn pass(nat: &mut Nat, s: u64, port: Port, packet: &Packet) -> Option<Packet> {
    let mut exits = Exits::default();
    nat.accept(at(s), port, Box::new(packet.clone()), &mut exits);
    let out = exits.take()?;
    assert_sums(&whole(&out));
    Some(*out)
}

fn ends(packet: &Packet) -> [String; 2] {
    [packet.source, packet.destination].map(|end| end.ip().to_string())
}

#[test]
fn echoes_have_an_identifier_of_the_nat() {
    for (inside, other, to, own) in [
        ("10.0.0.1:7", "10.0.0.2:7", "10.0.0.9", "10.0.0.5"),
        ("[fd00::1]:7", "[fd00::2]:7", "fd00::9", "fd00::5"),
    ] {
        let mut nat = nat(&[]).unwrap();
        let asked = echo(inside, to);
        assert_sums(&whole(&asked));
        let out = pass(&mut nat, 0, INSIDE, &asked).unwrap();
        assert_eq!(
            (Icmp::of(&out.bytes), ends(&out)),
            (Some(Icmp::Query(1024)), [own, to].map(str::to_owned))
        );
        let second = pass(&mut nat, 0, INSIDE, &echo(other, to)).unwrap();
        assert_eq!(Icmp::of(&second.bytes), Some(Icmp::Query(1025)), "the same identifier of two hosts");
        let back = pass(&mut nat, 1, OUTSIDE, &reply(&out)).unwrap();
        assert_eq!(Icmp::of(&back.bytes), Some(Icmp::Answer(7)));
        assert_eq!(back.destination.ip(), asked.source.ip());
        assert_eq!(back.bytes.len(), asked.bytes.len());
    }
}

#[test]
fn an_error_comes_back_to_the_sender_of_what_it_is_about() {
    for (sent, router) in [
        (datagram("10.0.0.1:7", "10.0.0.9:443"), "10.0.0.8"),
        (segment("10.0.0.1:7", "10.0.0.9:443"), "10.0.0.8"),
        (echo("10.0.0.1:7", "10.0.0.9"), "10.0.0.8"),
        (datagram("[fd00::1]:7", "[fd00::9]:443"), "fd00::8"),
        (segment("[fd00::1]:7", "[fd00::9]:443"), "fd00::8"),
        (echo("[fd00::1]:7", "fd00::9"), "fd00::8"),
    ] {
        let mut nat = nat(&[]).unwrap();
        let out = pass(&mut nat, 0, INSIDE, &sent).unwrap();
        let back = pass(&mut nat, 0, OUTSIDE, &error(&out, router)).unwrap();
        assert_eq!(ends(&back), [router.to_owned(), sent.source.ip().to_string()]);
        let inner = back.bytes.len() - whole(&sent).len();
        assert_eq!(back.bytes[inner..], whole(&sent), "as its sender sent it");
    }
}

#[test]
fn an_error_from_inside_goes_out_as_the_nats() {
    for (sent, server, from) in [
        (datagram("10.0.0.1:7", "10.0.0.9:443"), "10.0.0.9:443", "10.0.0.1"),
        (datagram("[fd00::1]:7", "[fd00::9]:443"), "[fd00::9]:443", "fd00::1"),
    ] {
        let mut nat = nat(&[]).unwrap();
        let out = pass(&mut nat, 0, INSIDE, &sent).unwrap();
        let answer = datagram(server, &out.source.to_string());
        let inside = pass(&mut nat, 0, OUTSIDE, &answer).unwrap();
        let told = pass(&mut nat, 0, INSIDE, &error(&inside, from)).unwrap();
        assert_eq!(ends(&told), [out.source.ip(), answer.source.ip()].map(|ip| ip.to_string()));
        let inner = told.bytes.len() - whole(&answer).len();
        assert_eq!(told.bytes[inner..], whole(&answer));
    }
}

#[test]
fn an_error_finds_its_way_between_two_inside() {
    let mut nat = nat(&[]).unwrap();
    pass(&mut nat, 0, INSIDE, &datagram("10.0.0.2:8", "10.0.0.9:443")).unwrap();
    let sent = datagram("10.0.0.1:7", "10.0.0.5:1024");
    let hairpin = pass(&mut nat, 0, INSIDE, &sent).unwrap();
    assert_eq!(hairpin.destination, "10.0.0.2:8".parse().unwrap());
    let back = pass(&mut nat, 0, INSIDE, &error(&hairpin, "10.0.0.2")).unwrap();
    assert_eq!(ends(&back), ["10.0.0.5", "10.0.0.1"].map(str::to_owned));
    assert_eq!(back.bytes[28..], whole(&sent));
}

#[test]
fn what_nobody_asked_for_is_dropped_and_counted() {
    let mut nat = nat(&[]).unwrap();
    let sent = datagram("10.0.0.1:7", "10.0.0.9:443");
    let foreign = datagram("10.0.0.5:1024", "10.0.0.9:443");
    let refused = [
        (OUTSIDE, reply(&echo("10.0.0.5:1024", "10.0.0.9"))),
        (OUTSIDE, echo("10.0.0.9:1", "10.0.0.1")),
        (OUTSIDE, error(&foreign, "10.0.0.8")),
        (OUTSIDE, error(&sent, "10.0.0.8")),
        (INSIDE, error(&datagram("10.0.0.9:443", "10.0.0.1:7"), "10.0.0.1")),
    ];
    for (port, packet) in &refused {
        assert_eq!(pass(&mut nat, 0, *port, packet), None);
    }
    // A later fragment, another protocol, an error about one, and an error that is cut off.
    let (mut fragment, mut other) =
        (whole(&echo("10.0.0.1:7", "10.0.0.9")), whole(&echo("10.0.0.1:7", "10.0.0.9")));
    fragment[7] = 5;
    other[9] = 47;
    let as_packet = |bytes: &[u8]| gate::packet_of(bytes, Vec::new()).unwrap();
    let mut short = whole(&error(&foreign, "10.0.0.8"));
    short.truncate(40);
    short[3] = 40;
    let mut about_other = whole(&error(&foreign, "10.0.0.8"));
    about_other[28 + 9] = 47;
    let untranslatable = [(INSIDE, fragment), (INSIDE, other), (OUTSIDE, short), (OUTSIDE, about_other)];
    for (port, bytes) in &untranslatable {
        assert_eq!(pass(&mut nat, 0, *port, &as_packet(bytes)), None);
    }
    let counts = nat.counters();
    assert_eq!(counts[2], ("unsolicited_packets", refused.len() as u64));
    assert_eq!(counts[4], ("untranslatable_packets", untranslatable.len() as u64));
    assert_eq!(counts[5], ("mappings_made", 0));
}

#[test]
fn queries_are_remembered_for_their_own_time_and_errors_refresh_nothing() {
    let limits =
        [("icmp_timeout", Value::Duration(units::Duration::from_secs(10))), ("mappings", Value::Integer(1))];
    let mut nat = nat(&limits).unwrap();
    let sent = echo("10.0.0.1:7", "10.0.0.9");
    let out = pass(&mut nat, 0, INSIDE, &sent).unwrap();
    assert_eq!(pass(&mut nat, 0, INSIDE, &echo("10.0.0.1:8", "10.0.0.9")), None, "only one mapping");
    assert!(pass(&mut nat, 9, OUTSIDE, &error(&out, "10.0.0.8")).is_some());
    assert!(pass(&mut nat, 9, OUTSIDE, &reply(&out)).is_some());
    assert_eq!(pass(&mut nat, 10, OUTSIDE, &reply(&out)), None);
    // A datagram has a table of its own.
    assert!(pass(&mut nat, 10, INSIDE, &datagram("10.0.0.1:7", "10.0.0.9:443")).is_some());
}
