//! Updates of the 1-RTT keys and the limits of the AEADs (RFC 9001 section 6).

use crate::pair::{DatagramInFlight, Link, Pair, config, contexts, count, delay, ms, null};
use quic::{AeadLimits, CloseReason, Config};
use trace::PacketKind;
use units::Duration;
use units::parameter::Value;
use wire::{Code, Direction, Header};

const UPDATES: (&str, Value) = ("key_update_after", Value::Integer(50));

/// Sends 2 MB from the client, a tenth every 300 ms, and checks that all arrive.
fn transfers(pair: &mut Pair) {
    let stream = pair.upload(200_000);
    for _ in 1..10 {
        pair.run_for(ms(300));
        pair.upload_more(stream, 200_000);
    }
    let now = pair.now;
    pair.client().finish(now, stream).unwrap();
    let mut received = 0;
    let done = pair.run_until(Duration::from_secs(100), |pair| {
        let read = pair.server().discard(stream);
        received += read.map_or(0, |read| read.bytes);
        received == 2_000_000
    });
    assert!(done, "{received} bytes, {:?}", pair.client().close_reason());
}

fn dropped(pair: &mut Pair) -> u64 {
    pair.client().stats().packets_dropped + pair.server().stats().packets_dropped
}

fn updates(pair: &mut Pair) -> (u64, u64) {
    (pair.client().stats().key_updates, pair.server().stats().key_updates)
}

#[test]
fn keys_are_updated_repeatedly_and_data_continues() {
    for context in contexts() {
        let mut pair = Pair::new(context, config(&[UPDATES]), config(&[]), delay(5));
        pair.establish();
        transfers(&mut pair);
        let (client, server) = updates(&mut pair);
        assert!(client >= 3 && client - server <= 1, "{client}, {server}");
        assert_eq!(dropped(&mut pair), 0);
    }
}

/// RFC 9001 section 6.1: the bit changes on the wire, and not before the handshake is confirmed.
#[test]
fn the_key_phase_bit_changes_with_each_update() {
    let mut pair = Pair::new(null(), config(&[("key_update_after", count(1))]), config(&[]), delay(5));
    pair.establish();
    transfers(&mut pair);
    let phases: Vec<bool> = pair
        .wire
        .iter()
        .filter(|seen| seen.to_server && seen.bytes[0] & 0x80 == 0)
        .map(|seen| wire::FirstByte(seen.bytes[0]).key_phase())
        .collect();
    // The first packets were sent together with the end of the handshake: their phase is 0.
    let mut phase = false;
    let changes = phases.iter().filter(|next| std::mem::replace(&mut phase, **next) != **next).count() as u64;
    assert_eq!(changes, updates(&mut pair).0);
    assert!(changes >= 3);
}

#[test]
fn both_sides_may_update_at_once() {
    for context in contexts() {
        let mut pair = Pair::new(context, config(&[]), config(&[]), delay(5));
        pair.establish();
        for round in 1..5 {
            pair.client().update_keys();
            pair.server().update_keys();
            let up = pair.upload(1_000);
            let now = pair.now;
            let down = pair.server().open(Direction::Unidirectional).unwrap();
            pair.server().write(now, down, quic::Data::Virtual(1_000)).unwrap();
            pair.run_for(ms(2_000));
            assert_eq!(pair.server().discard(up).unwrap().bytes, 1_000);
            assert_eq!(pair.client().discard(down).unwrap().bytes, 1_000);
            let (client, server) = updates(&mut pair);
            assert_eq!(client, server);
            assert!(client >= round);
        }
    }
}

/// RFC 9001 sections 6.3 and 6.5: packets overtaken by an update are opened with the previous keys.
#[test]
fn packets_overtaken_by_an_update_are_not_lost() {
    for context in contexts() {
        let link: Link = Box::new(|_, number, _: &mut DatagramInFlight| vec![ms(5 + (number * 7) % 12)]);
        let mut pair =
            Pair::new(context, config(&[UPDATES]), config(&[("key_update_after", count(70))]), link);
        pair.run_for(ms(2_000));
        let before = dropped(&mut pair);
        transfers(&mut pair);
        assert!(updates(&mut pair).0 >= 3);
        assert_eq!(dropped(&mut pair), before, "every packet opens once");
    }
}

/// The bit is protected: a packet whose bit is inverted in transit cannot be opened and causes no update.
#[test]
fn an_inverted_bit_is_not_an_update() {
    for context in contexts() {
        let link: Link = Box::new(|to_server, number, flying: &mut DatagramInFlight| {
            if to_server && number > 20 && number.is_multiple_of(5) && flying.bytes[0] & 0x80 == 0 {
                flying.bytes[0] ^= 0x04;
                flying.damage = Some(wire::Damage { first: 0, last: 0 });
            }
            vec![ms(5)]
        });
        let mut pair = Pair::new(context, config(&[]), config(&[]), link);
        pair.run_for(ms(500));
        transfers(&mut pair);
        assert_eq!(updates(&mut pair), (0, 0));
    }
}

/// Forges a 1-RTT packet of this key phase that opens with any key.
fn forged(pair: &mut Pair, number: u64, key_phase: bool, payload: &[u8]) -> Vec<u8> {
    let mut bytes = pair.forge(true, PacketKind::OneRtt, payload);
    let header = Header::parse(&bytes, 8).unwrap();
    bytes[header.number_offset..header.number_offset + 4].copy_from_slice(&(number as u32).to_be_bytes());
    bytes[0] = bytes[0] & !0x04 | u8::from(key_phase) << 2;
    bytes
}

fn code(pair: &mut Pair) -> Option<Code> {
    match pair.server().close_reason() {
        Some(CloseReason::Transport(error)) => Some(error.code),
        None => None,
        other => panic!("{other:?}"),
    }
}

/// RFC 9001 section 6.2: an endpoint that updates must wait for an acknowledgement before it does so again.
#[test]
fn a_peer_that_updates_twice_without_waiting_is_refused() {
    let mut pair = Pair::established();
    pair.cut();
    let ping = [1, 0, 0, 0, 0];
    let first = forged(&mut pair, 100, true, &ping);
    // Delivered without sending: no acknowledgement leaves in between.
    let second = forged(&mut pair, 101, false, &ping);
    let both = [first, second];
    for bytes in both {
        let (from, to) = (crate::pair::CLIENT.parse().unwrap(), crate::pair::SERVER.parse().unwrap());
        let flying = DatagramInFlight { bytes, hole: None, damage: None, ecn: wire::Ecn::NotEct, from, to };
        pair.deliver(true, flying);
    }
    assert_eq!(code(&mut pair), Some(Code::KEY_UPDATE_ERROR));
}

fn limited(confidentiality: u64, integrity: u64) -> Config {
    Config { aead_limits: Some(AeadLimits { confidentiality, integrity }), ..config(&[]) }
}

/// RFC 9001 section 6.6: keys are updated before they are used too often.
#[test]
fn keys_are_updated_before_their_limit() {
    for context in contexts() {
        let mut pair = Pair::new(context, limited(200, 1 << 36), config(&[]), delay(5));
        pair.establish();
        transfers(&mut pair);
        assert!(updates(&mut pair).0 >= 6, "2 MB are 1400 packets");
    }
}

/// RFC 9001 section 6.6: if that is impossible, the connection ends silently.
#[test]
fn an_exhausted_key_ends_the_connection_silently() {
    for context in contexts() {
        let mut pair = Pair::new(context, limited(100, 1 << 36), config(&[]), delay(5));
        pair.establish();
        let stream = pair.upload(4_000);
        pair.run_for(ms(100));
        // From now on nothing is acknowledged: no update may begin.
        pair.cut();
        let mark = pair.mark();
        pair.client().update_keys();
        for _ in 0..200 {
            if pair.client().is_over() {
                break;
            }
            pair.upload_more(stream, 10);
            pair.run_for(ms(1));
        }
        let reason = pair.client().close_reason().cloned();
        assert!(
            matches!(&reason, Some(CloseReason::Transport(error)) if error.code == Code::AEAD_LIMIT_REACHED),
            "{reason:?}"
        );
        assert!(pair.times_from(mark, true).len() <= 100);
        let mark = pair.mark();
        pair.run_for(ms(1_000));
        assert_eq!(pair.times_from(mark, true).len(), 0);
    }
}

/// RFC 9001 section 6.6: the number of forgery attempts is limited.
#[test]
fn too_many_packets_that_fail_authentication_end_the_connection() {
    for context in contexts() {
        let mut pair = Pair::new(context, config(&[]), limited(1 << 23, 10), delay(5));
        pair.establish();
        pair.cut();
        let mut tries = 0;
        while !pair.server().is_over() {
            tries += 1;
            let bit = tries % 2 == 0;
            let mut bytes = forged(&mut pair, 1_000 + tries, bit, &[1; 40]);
            let end = bytes.len() - 1;
            bytes[end] = 1;
            pair.arrive(true, bytes);
            assert!(tries <= 10);
        }
        assert_eq!(code(&mut pair), Some(Code::AEAD_LIMIT_REACHED));
        assert!(tries >= 5, "{tries}");
    }
}

/// RFC 9001 section 6.1: before the handshake is confirmed a request waits.
#[test]
fn a_request_during_the_handshake_waits_for_confirmation() {
    for context in contexts() {
        let mut pair = Pair::new(context, config(&[]), config(&[]), delay(20));
        pair.client().update_keys();
        pair.run_for(ms(70));
        assert_eq!(pair.client().stats().key_updates, 0);
        pair.run_for(ms(1_000));
        pair.upload(100);
        pair.run_for(ms(100));
        assert_eq!(updates(&mut pair), (1, 1));
    }
}
