//! Version negotiation between endpoints that support versions 1 and 2 (RFC 9368, RFC 9369).

use crate::pair::{
    DatagramInFlight, Link, Pair, config, context, contexts, count, delay, losing, ms, null, opening,
};
use quic::{CloseReason, Config, Connection, Data, Event};
use tls::{Context, EarlyData, KeyShare, Options, Protection};
use trace::PacketKind;
use units::parameter::Value;
use wire::header::version_negotiation;
use wire::{Code, Direction, Header, StreamId, Version};

const V1: Version = Version::V1;
const V2: Version = Version::V2;

/// Options of an endpoint that supports these versions, with other options changed.
fn speaking(versions: &str, changes: &[(&str, Value)]) -> Config {
    let mut changes = changes.to_vec();
    let versions = versions.split(' ').map(|version| Value::Text(version.to_owned()));
    changes.push(("versions", Value::List(versions.collect())));
    config(&changes)
}
/// The same for a client whose first packet has its preferred version.
fn beginning(versions: &str) -> Config {
    speaking(versions, &[("first_version", Value::Text("preferred".to_owned()))])
}

/// The types and versions of the packets with long headers in this direction, each once, in order of appearance.
fn spoken(pair: &Pair, from: usize, to_server: bool) -> Vec<(PacketKind, Version)> {
    let mut spoken = Vec::new();
    for seen in pair.wire[from..].iter().filter(|seen| seen.to_server == to_server) {
        let mut rest = &seen.bytes[..];
        while let Ok(header) = Header::parse(rest, 8) {
            let known = (header.kind, header.version);
            if header.kind != PacketKind::OneRtt && !spoken.contains(&known) {
                spoken.push(known);
            }
            rest = &rest[header.end..];
        }
    }
    spoken
}

/// Data of both ends arrives.
fn talk(pair: &mut Pair) {
    let text: Vec<u8> = (0..50_000u32).map(|i| (i * 7) as u8).collect();
    let now = pair.now;
    let [up, down] = [true, false].map(|client| {
        let end = if client { pair.client() } else { pair.server() };
        let stream = end.open(Direction::Unidirectional).unwrap();
        assert_eq!(end.write(now, stream, Data::Bytes(&text)), Ok(text.len() as u64));
        end.finish(now, stream).unwrap();
        stream
    });
    pair.run_for(ms(3000));
    assert!(read(pair.server(), up) == text && read(pair.client(), down) == text);
}
fn read(connection: &mut Connection, stream: StreamId) -> Vec<u8> {
    let mut bytes = vec![0; 60_000];
    let read = connection.read(stream, &mut bytes).unwrap();
    assert!(read.finished);
    bytes.truncate(read.bytes as usize);
    bytes
}
/// The local error that ended a connection.
fn error(connection: &mut Connection) -> Option<Code> {
    match connection.close_reason() {
        Some(CloseReason::Transport(error)) => Some(error.code),
        _ => None,
    }
}

/// RFC 9368 section 2.3, RFC 9369 section 4.
#[test]
fn endpoints_agree_on_the_servers_preferred_version() {
    let table = [
        // The versions of the client, those of the server, and the negotiated one.
        ("1", "1", V1),
        ("1", "2 1", V1),
        ("2 1", "1", V1),
        ("2 1", "1 2", V1),
        ("2 1", "2 1", V2),
        ("1 2", "2 1", V2),
        ("2", "2 1", V2),
        ("2", "1 2", V2),
        ("2", "2", V2),
        ("2 1", "2", V2),
    ];
    for (client, server, agreed) in table {
        for tls in contexts() {
            let mut pair = Pair::new(tls, speaking(client, &[]), speaking(server, &[]), delay(10));
            pair.establish();
            let versions = [pair.client().version(), pair.server().version()];
            assert_eq!(versions, [agreed; 2], "{client}, {server}");
            talk(&mut pair);
        }
    }
}

/// RFC 9369 section 4.1.
#[test]
fn the_servers_first_packet_shows_the_version() {
    use PacketKind::{Handshake, Initial};
    for tls in contexts() {
        let mut pair = Pair::new(tls, speaking("1 2", &[]), speaking("2 1", &[]), delay(10));
        pair.establish();
        assert_eq!(spoken(&pair, 0, true), [(Initial, V1), (Initial, V2), (Handshake, V2)]);
        assert_eq!(spoken(&pair, 0, false), [(Initial, V2), (Handshake, V2)]);
        // One round trip, as without negotiation.
        assert!(pair.client().stats().packets_dropped == 0 && pair.server().stats().packets_dropped == 0);
    }
}

/// An endpoint that supports only version 1 sends no version_information, as the size of its packets shows.
#[test]
fn version_information_is_sent_if_there_is_a_choice() {
    let first = |versions| {
        let pair = {
            let mut pair = Pair::new(null(), speaking(versions, &[]), speaking("2 1", &[]), delay(10));
            pair.run_to(crate::pair::at(5));
            pair
        };
        let information = [0x11, 12, 0, 0, 0, 1];
        pair.wire[0].bytes.windows(information.len()).any(|seen| seen == information)
    };
    assert_eq!(["1", "1 2"].map(first), [false, true]);
}

/// For any losses in the first flights, and any split of the ClientHello.
#[test]
fn lost_packets_do_not_change_the_choice() {
    let large = Options { key_share: KeyShare::X25519MlKem768, ..Options::default() };
    let real = Options { protection: Protection::Tls, ..large.clone() };
    for options in [large, real] {
        let tls = context(&options);
        for lost in 0..64u64 {
            let link = losing(10, move |to_server, number| {
                number < 3 && lost >> (number + 3 * u64::from(to_server)) & 1 == 1
            });
            let mut pair = Pair::new(tls.clone(), speaking("1 2", &[]), speaking("2 1", &[]), link);
            pair.run_for(ms(20_000));
            assert!(pair.client().is_established() && pair.server().is_established(), "{lost:06b}");
            assert_eq!([pair.client().version(), pair.server().version()], [V2, V2], "{lost:06b}");
            talk(&mut pair);
        }
    }
}

/// RFC 9369 section 4.1: a Retry has the version of the packet that it answers.
#[test]
fn a_retry_comes_before_the_choice() {
    for tls in contexts() {
        let server = speaking("2 1", &[("retry", Value::Text("always".to_owned()))]);
        let mut pair = Pair::new(tls, speaking("1 2", &[]), server, delay(10));
        pair.establish();
        assert_eq!(spoken(&pair, 0, false)[0], (PacketKind::Retry, V1));
        assert_eq!(pair.client().version(), V2);
        talk(&mut pair);
    }
}

/// RFC 9368 section 2.1 and 8: a Version Negotiation packet restarts the handshake.
#[test]
fn a_client_restarts_in_a_version_that_the_server_lists() {
    for (server, agreed) in [("1", V1), ("2 1", V2), ("1 2", V1)] {
        let first = |client: &Config, tls: Context| {
            let mut pair = Pair::new(tls, client.clone(), speaking(server, &[]), delay(10));
            pair.run_for(ms(500));
            pair
        };
        for tls in contexts() {
            let mut pair = first(&beginning("2 1"), tls.clone());
            assert!(pair.client().is_established() && pair.server().is_established());
            assert_eq!([pair.client().version(), pair.server().version()], [agreed; 2]);
            let reacted = spoken(&pair, 0, false)[0].0 == PacketKind::VersionNegotiation;
            assert_eq!(reacted, server == "1");
            talk(&mut pair);
            // Without a common version the connection ends immediately.
            if server == "1" {
                let pair = first(&speaking("2", &[]), tls);
                assert!(pair.client_events.contains(&Event::Ended) && pair.client_is_gone());
            }
        }
    }
}

/// A Version Negotiation packet in response to the client's first packet, as anybody on the path can forge it.
fn forged(pair: &Pair, versions: &[Version]) -> Vec<u8> {
    let header = Header::parse(&pair.wire[0].bytes, 8).unwrap();
    let mut bytes = Vec::new();
    version_negotiation(&mut bytes, 0, header.source.as_bytes(), header.destination.as_bytes(), versions);
    bytes
}

/// RFC 9368 section 4.
#[test]
fn a_forged_version_negotiation_does_not_lead_to_a_worse_version() {
    for tls in contexts() {
        // The server would have chosen 2, which the client prefers, and now keeps 1.
        let mut pair = Pair::new(tls.clone(), beginning("2 1"), speaking("1 2", &[]), delay(10));
        pair.run_to(crate::pair::at(5));
        let bytes = forged(&pair, &[V1]);
        pair.arrive(false, bytes.clone());
        // The second of them is ignored.
        pair.arrive(false, bytes);
        pair.run_for(ms(100));
        assert_eq!(error(pair.client()), Some(Code::VERSION_NEGOTIATION_ERROR));
        // A server that prefers 2 returns to it, so the attack has no effect.
        let mut pair = Pair::new(tls.clone(), beginning("2 1"), speaking("2 1", &[]), delay(10));
        pair.run_to(crate::pair::at(5));
        let bytes = forged(&pair, &[V1]);
        pair.arrive(false, bytes);
        pair.run_for(ms(500));
        assert_eq!(pair.client().version(), V2);
        // A packet that lists the attempted version is ignored.
        let mut pair = Pair::new(tls, beginning("2 1"), speaking("2 1", &[]), delay(10));
        pair.run_to(crate::pair::at(5));
        let bytes = forged(&pair, &[V1, V2]);
        pair.arrive(false, bytes);
        pair.establish();
        assert_eq!(pair.client().stats().packets_dropped, 1);
    }
}

/// A link that alters the version_information sent to one endpoint: the original start, and its replacement.
fn altering(to_server: bool, old: &'static [u8], new: &'static [u8]) -> Link {
    Box::new(move |server, _, flying: &mut DatagramInFlight| {
        let found = flying.bytes.windows(old.len()).position(|seen| seen == old);
        if let Some(at) = found.filter(|_| server == to_server) {
            flying.bytes[at..at + new.len()].copy_from_slice(new);
        }
        vec![ms(10)]
    })
}

/// RFC 9368 sections 4 and 10.2.
#[test]
fn version_information_that_does_not_fit_ends_the_connection() {
    const SAYS_ONE: &[u8] = &[0x11, 12, 0, 0, 0, 1];
    const SAYS_TWO: &[u8] = &[0x11, 12, 0x6b, 0x33, 0x43, 0xcf];
    // A client that falsely claims to have started with 2.
    let mut pair =
        Pair::new(null(), speaking("1 2", &[]), speaking("1 2", &[]), altering(true, SAYS_ONE, SAYS_TWO));
    pair.run_for(ms(15));
    assert_eq!(error(pair.server()), Some(Code::VERSION_NEGOTIATION_ERROR));
    // A server that claims to have chosen 2, but uses 1.
    let mut pair =
        Pair::new(null(), speaking("1 2", &[]), speaking("1 2", &[]), altering(false, SAYS_ONE, SAYS_TWO));
    pair.run_for(ms(25));
    assert_eq!(error(pair.client()), Some(Code::VERSION_NEGOTIATION_ERROR));
    // A server that changes to 2 without version_information: the parameter gets an unknown id.
    let mut pair =
        Pair::new(null(), speaking("1 2", &[]), speaking("2 1", &[]), altering(false, SAYS_TWO, &[27]));
    pair.run_for(ms(25));
    assert_eq!(error(pair.client()), Some(Code::VERSION_NEGOTIATION_ERROR));
}

/// RFC 9369 section 4.1: both endpoints use the negotiated version and drop packets of others.
#[test]
fn packets_of_the_former_version_are_dropped_once_both_have_changed() {
    let mut pair = Pair::new(null(), speaking("1 2", &[]), speaking("2 1", &[]), delay(10));
    pair.run_to(crate::pair::at(25));
    assert_eq!(pair.server().version(), V2);
    let received = pair.server().stats().packets_received;
    // The forged packet has version 1.
    pair.inject(true, PacketKind::Initial, &[wire::Frame::Ping, wire::Frame::Padding { length: 1200 }]);
    assert_eq!(pair.server().stats().packets_received, received + 1, "the client may not have seen it yet");
    pair.run_to(crate::pair::at(35));
    let received = pair.server().stats().packets_received;
    pair.inject(true, PacketKind::Initial, &[wire::Frame::Ping, wire::Frame::Padding { length: 1200 }]);
    assert_eq!(pair.server().stats().packets_received, received);
}

/// A client's memory of a server is tied to one version (RFC 9369 section 5), with which the next connection starts.
#[test]
fn tickets_and_tokens_belong_to_the_negotiated_version() {
    let tickets = |protection| Options { protection, tickets: 2, early_data: true, ..Options::default() };
    for protection in [Protection::Null, Protection::Tls] {
        let tls = context(&tickets(protection));
        let server = speaking("2 1", &[("new_tokens", count(1))]);
        let pair = Pair::new(tls.clone(), speaking("1 2", &[]), server.clone(), delay(10));
        let mut pair = pair.acquainted();
        assert_eq!(pair.client.memory().version("server.example:443"), Some(V2));
        // Version 2 from the first packet on, with 0-RTT.
        let mark = pair.open(opening(speaking("1 2", &[])).with_early_data());
        assert_eq!(pair.client().early_data(), EarlyData::Offered);
        let now = pair.now;
        let stream = pair.client().open(Direction::Unidirectional).unwrap();
        pair.client().write(now, stream, Data::Bytes(b"early")).unwrap();
        pair.drain();
        pair.run_for(ms(500));
        assert_eq!(pair.client().early_data(), EarlyData::Accepted);
        assert!(spoken(&pair, mark, true).contains(&(PacketKind::ZeroRtt, V2)));
        assert!(spoken(&pair, mark, true).iter().all(|(_, version)| *version == V2));
        assert_eq!(pair.server.stats().new_tokens_accepted, 1);
        talk(&mut pair);
        // A client that supports only 1 has no session to resume.
        pair.hang_up();
        pair.open(opening(speaking("1", &[])).with_early_data());
        pair.run_for(ms(500));
        assert_eq!(pair.client().early_data(), EarlyData::NotOffered);
        assert_eq!(pair.client().version(), V1);
        // Nor has one whose server does not support 2 any more: its early data is sent again.
        pair.hang_up();
        pair.restart(tls, speaking("1", &[]));
        pair.open(opening(beginning("2 1")).with_early_data());
        assert_eq!(pair.client().early_data(), EarlyData::Offered);
        let now = pair.now;
        let stream = pair.client().open(Direction::Unidirectional).unwrap();
        pair.client().write(now, stream, Data::Bytes(b"early, and again")).unwrap();
        pair.client().finish(now, stream).unwrap();
        pair.run_for(ms(500));
        assert_eq!(pair.client().version(), V1);
        assert_eq!(pair.client().early_data(), EarlyData::Rejected);
        assert_eq!(read(pair.server(), stream), b"early, and again");
        talk(&mut pair);
    }
}

/// A ticket of version 1 keeps its connection at version 1, although the server prefers 2.
#[test]
fn a_resumed_session_stays_in_its_version() {
    for protection in [Protection::Null, Protection::Tls] {
        let options = Options { protection, tickets: 2, early_data: true, ..Options::default() };
        let tls = context(&options);
        let mut pair =
            Pair::new(tls.clone(), speaking("1", &[]), speaking("2 1", &[]), delay(10)).acquainted();
        for early in [false, true] {
            let next = opening(speaking("2 1", &[]));
            pair.open(if early { next.with_early_data() } else { next });
            pair.run_for(ms(500));
            assert!(pair.client().is_resumed() && pair.server().is_resumed());
            assert_eq!(pair.client().version(), V1);
            let status = if early { EarlyData::Accepted } else { EarlyData::NotOffered };
            assert_eq!(pair.client().early_data(), status);
            talk(&mut pair);
            pair.hang_up();
        }
    }
}

/// RFC 9369 section 3.3.2: the labels of key updates depend on the version, too.
#[test]
fn keys_are_updated_in_version_2() {
    for tls in contexts() {
        let updating = |versions| speaking(versions, &[("key_update_after", count(10))]);
        let mut pair = Pair::new(tls, updating("1 2"), updating("2 1"), delay(10));
        pair.establish();
        talk(&mut pair);
        assert!(pair.client().stats().key_updates > 0 && pair.server().stats().key_updates > 0);
        assert_eq!(pair.client().stats().packets_dropped, 0);
    }
}
