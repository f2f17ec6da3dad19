//! Connection ids: issued, used, retired (RFC 9000 section 5.1).

use crate::pair::Frame;
use crate::pair::{Pair, config, count, delay, ms, null};
use wire::{Code, ConnectionId};

/// The ids that one endpoint has issued, with their sequence numbers.
fn announced(pair: &Pair, by_server: bool) -> Vec<(u64, Vec<u8>)> {
    let frames = pair.frames_from(0, !by_server);
    let ids = frames.into_iter().filter_map(|frame| match frame {
        Frame::NewConnectionId { sequence, id, .. } => Some((sequence, id)),
        _ => None,
    });
    ids.collect()
}

fn limit(n: u64) -> quic::Config {
    config(&[("active_connection_id_limit", count(n))])
}

/// RFC 9000-5.1-2, 9000-5.1.1-1, 9000-5.1.1-3, 9000-19.15-5.
#[test]
fn as_many_ids_are_issued_as_the_peer_accepts_up_to_eight() {
    for (client, server) in [(2, 2), (4, 3), (16, 2)] {
        let mut pair = Pair::new(null(), limit(client), limit(server), delay(10));
        pair.establish();
        let numbers = |by_server| announced(&pair, by_server).iter().map(|(n, _)| *n).collect::<Vec<_>>();
        assert_eq!(numbers(true), (1..client.min(8)).collect::<Vec<_>>());
        assert_eq!(numbers(false), (1..server.min(8)).collect::<Vec<_>>());
        let mut all: Vec<Vec<u8>> = announced(&pair, true).into_iter().map(|(_, id)| id).collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len() as u64, client.min(8) - 1, "no two alike");
    }
}

/// RFC 9000-5.1.1-2.
#[test]
fn packets_to_every_issued_id_arrive_until_it_is_retired() {
    let mut pair = Pair::new(null(), limit(2), limit(4), delay(10));
    pair.establish();
    pair.cut();
    let ids = announced(&pair, true);
    let received = |pair: &mut Pair| pair.server().stats().packets_received;
    for (sequence, id) in ids {
        let id = ConnectionId::new(&id).unwrap();
        let send = |pair: &mut Pair| {
            let mut bytes = pair.forge(true, trace::PacketKind::OneRtt, &[1, 0, 0, 0]);
            bytes[1..9].copy_from_slice(id.as_bytes());
            pair.arrive(true, bytes);
        };
        let before = received(&mut pair);
        send(&mut pair);
        assert_eq!(received(&mut pair), before + 1, "{sequence}");
        let mark = pair.mark();
        pair.inject_data(true, &[wire::Frame::RetireConnectionId { sequence }]);
        let renewed = pair.frames_from(mark, false).iter().any(|frame| frame.name() == "NEW_CONNECTION_ID");
        assert!(renewed, "another in its place");
        let (before, resets) = (received(&mut pair), pair.server.stats().resets_sent);
        send(&mut pair);
        let after = pair.server.stats().resets_sent;
        assert_eq!((received(&mut pair), after), (before, resets + 1), "{sequence}: of nobody any more");
    }
}

/// RFC 9000-5.1.2-1, 9000-5.1.2-2, 9000-19.15-8, 9000-19.16-2.
#[test]
fn a_new_id_is_used_when_the_old_ones_are_to_be_retired() {
    let mut pair = Pair::established();
    pair.cut();
    let id = ConnectionId::new(&[7; 8]).unwrap();
    let mark = pair.mark();
    let frame = wire::Frame::NewConnectionId { sequence: 5, retire_prior_to: 5, id, token: [3; 16] };
    pair.inject_data(false, &[frame]);
    pair.upload(100);
    let packets = pair.sent_from(mark, true);
    assert!(packets.iter().all(|packet| packet.header.destination == id));
    let mut retired: Vec<u64> = pair
        .frames_from(mark, true)
        .iter()
        .filter_map(|frame| match frame {
            Frame::RetireConnectionId { sequence } => Some(*sequence),
            _ => None,
        })
        .collect();
    retired.sort_unstable();
    assert_eq!(retired, [0, 1]);
    // Ids with lower numbers are retired on arrival.
    let late = ConnectionId::new(&[8; 8]).unwrap();
    let mark = pair.mark();
    pair.inject_data(
        false,
        &[wire::Frame::NewConnectionId { sequence: 3, retire_prior_to: 0, id: late, token: [4; 16] }],
    );
    pair.run_for(ms(1));
    assert!(pair.frames_from(mark, true).contains(&Frame::RetireConnectionId { sequence: 3 }));
    assert!(!pair.client().is_over());
}

/// The code with which an endpoint closes when these frames arrive, one per packet.
fn code(to_server: bool, frames: &[wire::Frame<'_>]) -> Option<Code> {
    let mut pair = Pair::established();
    pair.cut();
    for frame in frames {
        pair.inject_data(to_server, &[*frame]);
    }
    let connection = if to_server { pair.server() } else { pair.client() };
    match connection.close_reason() {
        Some(quic::CloseReason::Transport(error)) => Some(error.code),
        None => None,
        other => panic!("{other:?}"),
    }
}

fn new_id(sequence: u64, retire_prior_to: u64, byte: u8) -> wire::Frame<'static> {
    let id = ConnectionId::new(&[byte; 8]).unwrap();
    wire::Frame::NewConnectionId { sequence, retire_prior_to, id, token: [byte; 16] }
}

/// RFC 9000-5.1.1-4, 9000-19.16-1.
#[test]
fn violations_close_with_the_right_code() {
    let retire = |sequence| wire::Frame::RetireConnectionId { sequence };
    for to_server in [true, false] {
        // Number 1 is known from the handshake, with another id.
        assert_eq!(code(to_server, &[new_id(1, 0, 9)]), Some(Code::PROTOCOL_VIOLATION));
        assert_eq!(code(to_server, &[new_id(2, 0, 2)]), Some(Code::CONNECTION_ID_LIMIT_ERROR));
        assert_eq!(code(to_server, &[new_id(2, 1, 2)]), None, "one out, one in");
        assert_eq!(
            code(to_server, &[new_id(2, 2, 2), new_id(3, 2, 2)]),
            Some(Code::PROTOCOL_VIOLATION),
            "same bytes"
        );
        assert_eq!(
            code(to_server, &[retire(0)]),
            Some(Code::PROTOCOL_VIOLATION),
            "the id that it was sent to"
        );
        assert_eq!(code(to_server, &[retire(2)]), Some(Code::PROTOCOL_VIOLATION), "never issued");
        assert_eq!(code(to_server, &[retire(1), retire(1)]), None, "again is no harm");
        let many: Vec<_> = (2..200).map(|n| new_id(n, n, n as u8)).collect();
        assert_eq!(code(to_server, &many), Some(Code::CONNECTION_ID_LIMIT_ERROR), "retirements without end");
    }
}

/// RFC 9000-18.2-6: the option permits no other values.
#[test]
fn at_least_two_ids_are_accepted() {
    let row = <quic::Config as units::parameter::Options>::PARAMETERS
        .iter()
        .find(|row| row.name == "active_connection_id_limit")
        .unwrap();
    assert!(matches!(row.kind, units::parameter::Kind::Integer(2, _)), "{:?}", row.kind);
    let mut pair = Pair::new(null(), limit(2), limit(2), delay(10));
    pair.establish();
    assert_eq!(pair.client().peer_parameters().unwrap().active_connection_id_limit, 2);
}
