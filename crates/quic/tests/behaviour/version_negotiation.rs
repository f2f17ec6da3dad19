//! Unsupported versions: a server's response, and the responses that a client accepts (RFC 9000 sections 5.2, 6 and
//! 17.2.1).

use crate::pair::{Pair, at, ms};
use quic::Event;
use trace::PacketKind;
use wire::header::{Invariants, version_negotiation};
use wire::{ConnectionId, Frame, Header, Version};

/// A version that no endpoint supports (RFC 9000 section 15).
const NONE: Version = Version(0x1a2a_3a4a);

/// A datagram of this length with a long header.
fn long_header(version: Version, destination: &[u8], source: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = vec![0xc3];
    bytes.extend_from_slice(&version.0.to_be_bytes());
    for id in [destination, source] {
        bytes.push(id.len() as u8);
        bytes.extend_from_slice(id);
    }
    bytes.resize(length, 0x55);
    bytes
}

/// The response of a server without connections to this datagram.
fn answers(bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let mut pair = Pair::plain();
    pair.cut();
    pair.drain();
    let mark = pair.mark();
    pair.arrive(true, bytes);
    pair.run_for(ms(100));
    pair.wire[mark..].iter().filter(|seen| !seen.to_server).map(|seen| seen.bytes.clone()).collect()
}

/// RFC 9000-17.2.1-2, 9000-17.2.1-3, 9000-17.2.1-4, 9000-17.2.1-5, 9000-17.2.1-6.
#[test]
fn a_server_lists_its_versions() {
    for (to, from) in [(0, 0), (3, 8), (8, 8), (20, 20), (21, 20), (255, 255)] {
        let (to, from) = (vec![0xaa; to], vec![0xbb; from]);
        let sent = answers(long_header(NONE, &to, &from, 1200));
        assert_eq!(sent.len(), 1);
        let answer = Invariants::parse(&sent[0]).unwrap();
        assert_eq!(
            (answer.version, answer.destination, answer.source),
            (Version::NEGOTIATION, &from[..], &to[..])
        );
        assert_eq!(sent[0][answer.rest..], Version::V1.0.to_be_bytes());
    }
}

/// RFC 9000-5.2.2-1, 9000-6.1-1.
#[test]
fn small_datagrams_and_version_negotiation_get_no_answer() {
    let (to, from) = ([0xaa; 8], [0xbb; 8]);
    assert_eq!(answers(long_header(NONE, &to, &from, 1199)), [[0; 0]; 0]);
    assert_eq!(answers(long_header(Version::NEGOTIATION, &to, &from, 1200)), [[0; 0]; 0]);
    assert_eq!(answers(long_header(NONE, &to, &from, 1200)).len(), 1);
}

/// The ids of the client's first packet: destination and source.
fn first_ids(pair: &Pair) -> (ConnectionId, ConnectionId) {
    let header = Header::parse(&pair.wire[0].bytes, 8).unwrap();
    (header.destination, header.source)
}

/// Whether a client gives up when Version Negotiation arrives at this time, with these unused bits.
fn negotiated(after: u64, unused: u8, versions: &[Version], right_ids: bool) -> bool {
    let mut pair = Pair::plain();
    pair.run_to(at(after));
    let (ours, theirs) = first_ids(&pair);
    let source = if right_ids { ours } else { ConnectionId::new(&[9; 8]).unwrap() };
    let mut bytes = Vec::new();
    version_negotiation(&mut bytes, unused, theirs.as_bytes(), source.as_bytes(), versions);
    // Including the fixed bit.
    bytes[0] = 0x80 | unused;
    pair.arrive(false, bytes);
    // Silently, without a closing period.
    let gone = pair.client_is_gone();
    assert_eq!(gone, pair.client_events.contains(&Event::Ended));
    let mark = pair.mark();
    pair.run_for(ms(1000));
    assert_eq!(gone, pair.wire[mark..].iter().all(|seen| !seen.to_server));
    gone
}

/// RFC 9000-6.2-1, 9000-6.2-2, 9000-6.2-3, 9000-17.2.1-1.
#[test]
fn a_client_gives_up_only_if_no_version_is_left() {
    for unused in [0, 0x7f, 0x40] {
        assert!(negotiated(5, unused, &[NONE], true));
        assert!(negotiated(5, unused, &[NONE, Version(7)], true));
        assert!(!negotiated(5, unused, &[NONE, Version::V1], true), "the version that it speaks");
        assert!(!negotiated(5, unused, &[NONE], false), "of somebody who did not see its packet");
        assert!(!negotiated(25, unused, &[NONE], true), "after the server's first packets");
    }
}

/// RFC 9000-5.2.1-1: packets of another version do not belong to this connection, even if the endpoint supports it.
#[test]
fn packets_of_another_version_are_discarded() {
    for (to_server, time) in [(false, 15), (true, 15)] {
        for version in [Version::V2, NONE] {
            let mut pair = Pair::plain();
            pair.run_to(at(time));
            let payload = [Frame::Ping, Frame::Padding { length: 1200 }];
            let mut encoded = Vec::new();
            payload.iter().for_each(|frame| frame.encode(&mut encoded));
            let mut bytes = pair.forge(to_server, PacketKind::Initial, &encoded);
            bytes[1..5].copy_from_slice(&version.0.to_be_bytes());
            bytes[0] = bytes[0] & 0xcf | u8::from(version == Version::V2) << 4;
            let received = |pair: &mut Pair| match to_server {
                true => pair.server().stats().packets_received,
                false => pair.client().stats().packets_received,
            };
            let before = received(&mut pair);
            pair.arrive(to_server, bytes);
            assert_eq!(received(&mut pair), before, "{version:?} {to_server}");
            pair.run_for(ms(500));
            assert!(pair.client().is_established() && pair.server().is_established());
        }
    }
}
