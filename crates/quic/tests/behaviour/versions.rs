//! Versions that are spoken: how ends that speak 1 and 2 agree on one (RFC 9368, RFC 9369).

use crate::pair::{Flying, Link, Pair, config, context, contexts, count, delay, losing, ms, null, opening};
use quic::{CloseReason, Config, Connection, Data, Event};
use tls::{Context, EarlyData, KeyShare, Options, Protection};
use trace::PacketKind;
use units::parameter::Value;
use wire::header::version_negotiation;
use wire::{Code, Direction, Header, StreamId, Version};

const V1: Version = Version::V1;
const V2: Version = Version::V2;

/// Options of an end that speaks these versions, others of them changed.
fn speaking(versions: &str, changes: &[(&str, Value)]) -> Config {
    let mut changes = changes.to_vec();
    changes.push(("versions", Value::Text(versions.to_owned())));
    config(&changes)
}
/// The same of a client whose first packet is in the one that it prefers.
fn beginning(versions: &str) -> Config {
    speaking(versions, &[("first_version", Value::Text("preferred".to_owned()))])
}

/// The types and versions of the packets with long headers that went this way, each once, in the order of their first.
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
/// The error that ended a connection here.
fn error(connection: &mut Connection) -> Option<Code> {
    match connection.close_reason() {
        Some(CloseReason::Transport(error)) => Some(error.code),
        _ => None,
    }
}

/// RFC 9368 section 2.3, RFC 9369 section 4.
#[test]
fn ends_agree_on_what_the_server_likes_best() {
    let table = [
        // What the client speaks, the server, and what both end up with.
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
        // One round trip, as without.
        assert!(pair.client().stats().packets_dropped == 0 && pair.server().stats().packets_dropped == 0);
    }
}

/// An end that speaks version 1 alone says nothing of versions, and the size of its packets shows it.
#[test]
fn version_information_is_sent_where_there_is_a_choice() {
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

/// Whatever of the first flights is lost, and however the ClientHello is cut.
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

/// RFC 9369 section 4.1: Retry comes in the version of the packet that it answers.
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

/// RFC 9368 section 2.1 and 8: after a Version Negotiation packet the handshake begins anew.
#[test]
fn a_client_begins_anew_in_a_version_that_the_server_lists() {
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
            // With no version in common the end comes at once.
            if server == "1" {
                let pair = first(&speaking("2", &[]), tls);
                assert!(pair.client_events.contains(&Event::Ended) && pair.client_is_gone());
            }
        }
    }
}

/// A Version Negotiation packet to the client's first packet, as anybody on the way can make it.
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
        // The server would have taken 2, as the client likes best, and now keeps 1.
        let mut pair = Pair::new(tls.clone(), beginning("2 1"), speaking("1 2", &[]), delay(10));
        pair.run_to(crate::pair::at(5));
        let bytes = forged(&pair, &[V1]);
        pair.arrive(false, bytes.clone());
        // The second of them is not heard.
        pair.arrive(false, bytes);
        pair.run_for(ms(100));
        assert_eq!(error(pair.client()), Some(Code::VERSION_NEGOTIATION_ERROR));
        // A server that likes 2 best comes back to it, and nothing is lost.
        let mut pair = Pair::new(tls.clone(), beginning("2 1"), speaking("2 1", &[]), delay(10));
        pair.run_to(crate::pair::at(5));
        let bytes = forged(&pair, &[V1]);
        pair.arrive(false, bytes);
        pair.run_for(ms(500));
        assert_eq!(pair.client().version(), V2);
        // One that lists what was tried says nothing.
        let mut pair = Pair::new(tls, beginning("2 1"), speaking("2 1", &[]), delay(10));
        pair.run_to(crate::pair::at(5));
        let bytes = forged(&pair, &[V1, V2]);
        pair.arrive(false, bytes);
        pair.establish();
        assert_eq!(pair.client().stats().packets_dropped, 1);
    }
}

/// A link on which the version information towards one end is altered: what it begins with, and what comes in the place
/// of that.
fn altering(to_server: bool, old: &'static [u8], new: &'static [u8]) -> Link {
    Box::new(move |server, _, flying: &mut Flying| {
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
    // A client that says that it has started with 2, when it has not.
    let mut pair =
        Pair::new(null(), speaking("1 2", &[]), speaking("1 2", &[]), altering(true, SAYS_ONE, SAYS_TWO));
    pair.run_for(ms(15));
    assert_eq!(error(pair.server()), Some(Code::VERSION_NEGOTIATION_ERROR));
    // A server that says that it has chosen 2, when it speaks 1.
    let mut pair =
        Pair::new(null(), speaking("1 2", &[]), speaking("1 2", &[]), altering(false, SAYS_ONE, SAYS_TWO));
    pair.run_for(ms(25));
    assert_eq!(error(pair.client()), Some(Code::VERSION_NEGOTIATION_ERROR));
    // One that goes over to 2 and says nothing of it: the parameter gets an id that nobody knows.
    let mut pair =
        Pair::new(null(), speaking("1 2", &[]), speaking("2 1", &[]), altering(false, SAYS_TWO, &[27]));
    pair.run_for(ms(25));
    assert_eq!(error(pair.client()), Some(Code::VERSION_NEGOTIATION_ERROR));
}

/// RFC 9369 section 4.1: both go by the version that was agreed on, and drop what is not of it.
#[test]
fn former_packets_are_not_heard_once_both_have_changed() {
    let mut pair = Pair::new(null(), speaking("1 2", &[]), speaking("2 1", &[]), delay(10));
    pair.run_to(crate::pair::at(25));
    assert_eq!(pair.server().version(), V2);
    let received = pair.server().stats().packets_received;
    // The forger writes version 1.
    pair.inject(true, PacketKind::Initial, &[wire::Frame::Ping, wire::Frame::Padding { length: 1200 }]);
    assert_eq!(pair.server().stats().packets_received, received + 1, "the client may not have seen it yet");
    pair.run_to(crate::pair::at(35));
    let received = pair.server().stats().packets_received;
    pair.inject(true, PacketKind::Initial, &[wire::Frame::Ping, wire::Frame::Padding { length: 1200 }]);
    assert_eq!(pair.server().stats().packets_received, received);
}

/// What a client knows of a server is of one version (RFC 9369 section 5), and the next connection begins in it.
#[test]
fn tickets_and_tokens_are_of_the_version_that_was_agreed_on() {
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
        // A client that speaks 1 alone has nothing to take up.
        pair.hang_up();
        pair.open(opening(speaking("1", &[])).with_early_data());
        pair.run_for(ms(500));
        assert_eq!(pair.client().early_data(), EarlyData::NotOffered);
        assert_eq!(pair.client().version(), V1);
        // Nor has one whose server does not speak 2 any more: what it has said early is said again.
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

/// A ticket of version 1 keeps its connection in that, though the server likes 2 best.
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

/// RFC 9369 section 3.3.2: the labels of key updates are of the version, too.
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
