//! Laws for every sent packet: numbers, ids, and the frames that each endpoint may send in each space (RFC 9000
//! sections 12, 13.2.6 and 17.2).

use crate::pair::Frame as Seen;
use crate::pair::{Packet, Pair, config, context, count, delay, losing, ms, null, opening};
use quic::Data;
use std::collections::{BTreeMap, BTreeSet};
use trace::PacketKind;
use units::Time;
use wire::header::LongHeader;
use wire::{ConnectionId, Direction, Frame, Truncated, Version};

/// The packet number space of a packet type (RFC 9000 section 12.3).
fn space(kind: PacketKind) -> u8 {
    match kind {
        PacketKind::Initial => 0,
        PacketKind::Handshake => 1,
        _ => 2,
    }
}

/// The packets of connections of all kinds, used in both directions.
fn runs() -> Vec<Vec<Packet>> {
    let mut all = Vec::new();
    let both = |pair: &mut Pair| {
        pair.run_for(ms(1_000));
        pair.upload(40_000);
        let now = pair.now;
        let stream = pair.server().open(Direction::Unidirectional).unwrap();
        pair.server().write(now, stream, Data::Virtual(40_000)).unwrap();
        pair.run_for(ms(3_000));
        let _ = (pair.server().discard(stream), pair.client().discard(stream));
        pair.run_for(ms(1_000));
    };
    for lost in [0, 3, 5] {
        let link = losing(10, move |_, number| lost > 0 && number % lost == lost - 1);
        let given = config(&[("new_tokens", count(1))]);
        let mut pair = Pair::seeded(lost, null(), config(&[]), given, link);
        both(&mut pair);
        all.push(pair.packets());
    }
    let options = tls::Options { tickets: 2, early_data: true, ..tls::Options::default() };
    let mut pair = Pair::new(context(&options), config(&[]), config(&[]), delay(10)).acquainted();
    let mark = pair.open(opening(config(&[])).with_early_data());
    pair.upload(3_000);
    both(&mut pair);
    all.push(pair.packets_from(mark));
    all
}

/// RFC 9000-12.3-1, 9000-12.3-2, 9000-12.2-2, 9000-17.2-2, 9000-17.2-4, 9000-7.2-1.
#[test]
fn numbers_rise_and_ids_are_correct() {
    for packets in runs() {
        let mut largest = BTreeMap::new();
        let mut datagrams = BTreeMap::new();
        for packet in &packets {
            let last = largest.insert((packet.to_server, space(packet.kind)), packet.number);
            assert!(last.is_none_or(|last| last < packet.number), "{:?} {}", packet.kind, packet.number);
            let destination = packet.header.destination;
            let first = *datagrams.entry((packet.to_server, packet.datagram)).or_insert(destination);
            assert_eq!(first, destination, "one destination in a datagram");
            assert!(destination.len() <= 20 && packet.header.source.len() <= 20);
        }
        assert!(packets[0].header.destination.len() >= 8);
    }
}

/// RFC 9000-13.1-1, 9000-13.2.6-1, 9000-13.2.6-2, 9000-13.2.6-3: an acknowledged packet was sent in the same space,
/// at least one link delay earlier.
#[test]
fn acknowledgements_stay_in_their_space() {
    let mut early = 0;
    for packets in runs() {
        let sent: BTreeMap<(bool, u8, u64), (Time, PacketKind)> = packets
            .iter()
            .map(|packet| ((packet.to_server, space(packet.kind), packet.number), (packet.at, packet.kind)))
            .collect();
        for packet in &packets {
            for (start, end) in packet.acks().into_iter().flatten() {
                for number in start..=end {
                    let key = (!packet.to_server, space(packet.kind), number);
                    let (at, kind) = sent[&key];
                    assert!(packet.at >= at + ms(10));
                    assert_eq!(
                        kind == PacketKind::OneRtt || kind == PacketKind::ZeroRtt,
                        packet.kind == PacketKind::OneRtt
                    );
                    early += u64::from(kind == PacketKind::ZeroRtt);
                }
            }
            assert!(packet.kind != PacketKind::ZeroRtt || packet.acks().is_none());
        }
    }
    assert!(early > 0);
}

/// RFC 9000-19.20-1, 9000-19.7-3: a client sends neither of the two.
#[test]
fn only_a_server_that_has_completed_sends_handshake_done() {
    for packets in runs() {
        // The client's Finished has arrived, which completes the handshake for the server.
        let complete =
            packets.iter().find(|p| p.to_server && p.kind == PacketKind::Handshake && p.has("CRYPTO"));
        let complete = complete.unwrap().at + ms(10);
        for packet in packets.iter().filter(|packet| packet.has("HANDSHAKE_DONE") || packet.has("NEW_TOKEN"))
        {
            assert!(!packet.to_server && packet.at >= complete && packet.kind == PacketKind::OneRtt);
        }
        assert!(packets.iter().any(|packet| packet.has("HANDSHAKE_DONE")));
    }
}

/// RFC 9000-13.3-2.
#[test]
fn handshake_done_is_sent_until_it_is_acknowledged() {
    let mut pair = Pair::plain();
    pair.run_for(ms(25));
    // For a while, no packet of the server arrives.
    pair.link = losing(10, |to_server, _| !to_server);
    let mark = pair.mark();
    pair.run_for(ms(1_000));
    let said = |pair: &Pair| {
        pair.frames_from(mark, false).iter().filter(|frame| frame.name() == "HANDSHAKE_DONE").count()
    };
    assert!(said(&pair) > 1, "{}", said(&pair));
    pair.link = delay(10);
    pair.run_for(ms(3_000));
    let heard = said(&pair);
    let mark = pair.mark();
    pair.upload(1_000);
    pair.run_for(ms(3_000));
    assert_eq!(said(&pair), heard);
    assert!(pair.frames_from(mark, true).iter().any(|frame| matches!(frame, Seen::Stream { .. })));
}

/// RFC 9000-12.2-4, 9000-13.1-1: a packet that cannot be opened is not acknowledged and does not affect the next one.
#[test]
fn a_broken_packet_does_not_affect_those_after_it() {
    let mut pair = Pair::plain();
    pair.run_for(ms(15));
    pair.cut();
    let padded = [Frame::Ping, Frame::Padding { length: 1200 }];
    let mut payload = Vec::new();
    padded.iter().for_each(|frame| frame.encode(&mut payload));
    let mut bytes = pair.forge(true, PacketKind::Initial, &payload);
    // Its tag matches no key.
    *bytes.last_mut().unwrap() ^= 1;
    bytes.extend(pair.forge(true, PacketKind::Handshake, &[1, 0, 0, 0]));
    let before = pair.server().stats();
    let mark = pair.mark();
    pair.arrive(true, bytes);
    let after = pair.server().stats();
    assert_eq!(after.packets_received, before.packets_received + 1);
    assert_eq!(after.packets_dropped, before.packets_dropped + 1);
    let kinds: BTreeSet<u8> = (pair.sent_from(mark, false).iter())
        .filter(|packet| packet.acks().is_some_and(|ranges| ranges[0].1 >= crate::pair::forge::FIRST_FORGED))
        .map(|packet| space(packet.kind))
        .collect();
    assert_eq!(kinds, [1].into());
}

/// RFC 9000-10.3-3: a packet too short for a packet number, a sample and a tag has no effect, wherever it is cut.
#[test]
fn too_small_packets_are_discarded() {
    for to_server in [true, false] {
        let mut pair = Pair::established();
        let whole = pair.forge(to_server, PacketKind::OneRtt, &[1, 0, 0, 0]);
        for length in 1..1 + 8 + 4 + 16 {
            let mark = pair.mark();
            let received = |pair: &mut Pair| {
                (pair.client().stats().packets_received, pair.server().stats().packets_received)
            };
            let before = received(&mut pair);
            pair.arrive(to_server, whole[..length].to_vec());
            assert_eq!((received(&mut pair), pair.mark()), (before, mark), "{length}");
        }
    }
}

/// RFC 9000-17.2.2-2.
#[test]
fn a_servers_initial_with_a_token_is_discarded() {
    for token in [&b""[..], b"token"] {
        let mut pair = Pair::plain();
        pair.run_for(ms(15));
        let first = &pair.packets()[0];
        let header = LongHeader {
            kind: PacketKind::Initial,
            version: Version::V1,
            destination: first.header.source,
            source: ConnectionId::new(&[7; 8]).unwrap(),
            token,
            number: Truncated::with_length(77, 4),
        };
        let mut bytes = Vec::new();
        let written = header.write(&mut bytes);
        let payload = bytes.len();
        Frame::Ping.encode(&mut bytes);
        bytes.resize(payload + 30, 0);
        written.set_length(&mut bytes, 30);
        let before = pair.client().stats().packets_received;
        pair.arrive(false, bytes);
        let taken = pair.client().stats().packets_received - before;
        assert_eq!(taken, u64::from(token.is_empty()));
    }
}

/// RFC 9000-7.2-6: a client's later Initial packets have the source id of its first.
#[test]
fn a_second_client_cannot_take_a_handshake_over() {
    let mut pair = Pair::plain();
    pair.run_for(ms(15));
    let padded = [Frame::Ping, Frame::Padding { length: 1200 }];
    for altered in [false, true] {
        let mut payload = Vec::new();
        padded.iter().for_each(|frame| frame.encode(&mut payload));
        let mut bytes = pair.forge(true, PacketKind::Initial, &payload);
        let source = 7 + usize::from(bytes[5]);
        bytes[source] ^= if altered { 0xff } else { 0 };
        let before = pair.server().stats().packets_received;
        pair.arrive(true, bytes);
        assert_eq!(pair.server().stats().packets_received - before, u64::from(!altered));
    }
}
