//! Optional variation of packets: the spin bit, the QUIC bit, skipped packet numbers.

use crate::pair::{Pair, config, contexts, delay, ms, null};
use quic::{CloseReason, Config};
use trace::PacketKind;
use units::parameter::Value;
use wire::{Code, FirstByte};

fn with(option: &'static str) -> Config {
    config(&[(option, Value::Flag(true))])
}

/// A handshake, and a transfer of this many bytes to the server.
fn transfer(pair: &mut Pair, bytes: u64) {
    pair.establish();
    pair.upload(bytes);
    pair.run_for(ms(3000));
}

/// The first bytes of the datagrams that one endpoint sent from `mark` on.
fn first_bytes(pair: &Pair, mark: usize, to_server: bool) -> Vec<FirstByte> {
    let seen = pair.wire[mark..].iter().filter(|seen| seen.to_server == to_server);
    seen.map(|seen| FirstByte(seen.bytes[0])).collect()
}

/// RFC 9000 section 17.4.
#[test]
fn the_spin_bit_flips_once_per_round_trip() {
    let (mut spinning, mut still) = (0, 0);
    for seed in 0..16 {
        let mut pair = Pair::seeded(seed, null(), with("spin_bit"), with("spin_bit"), delay(10));
        pair.establish();
        let mark = pair.mark();
        let stream = pair.upload(1000);
        for _ in 0..200 {
            pair.upload_more(stream, 1000);
            pair.run_for(ms(5));
        }
        let bits: Vec<bool> = first_bytes(&pair, mark, true).iter().map(|first| first.spin()).collect();
        let edges = bits.windows(2).filter(|pair| pair[0] != pair[1]).count();
        match edges {
            0 => still += 1,
            // One second of round trips of 20 ms; packets every 5 ms show an edge up to 5 ms late.
            _ => {
                assert!((35..=51).contains(&edges), "{edges}");
                spinning += 1;
            }
        }
    }
    assert!(spinning >= 10 && still >= 1, "{spinning} {still}");
}

/// RFC 9000-17.4-2.
#[test]
fn nothing_varies_by_default() {
    let mut pair = Pair::plain();
    transfer(&mut pair, 100_000);
    for to_server in [true, false] {
        assert!(
            first_bytes(&pair, 0, to_server)
                .iter()
                .all(|first| first.fixed_bit() && (first.is_long() || !first.spin()))
        );
        for kind in [PacketKind::Initial, PacketKind::Handshake, PacketKind::OneRtt] {
            let sent = pair.sent_from(0, to_server);
            let numbers = sent.iter().filter(|packet| packet.kind == kind).map(|packet| packet.number);
            assert!(numbers.eq(0..sent.iter().filter(|packet| packet.kind == kind).count() as u64));
        }
    }
}

/// RFC 9287-3-2, 9287-3.1-1, 9287-3.1-2, 9287-3.1-3, 9287-3.1-4.
#[test]
fn the_quic_bit_is_greased_if_both_announce_it() {
    for context in contexts() {
        for (client, server) in [(true, true), (true, false), (false, true), (false, false)] {
            let options = |on| if on { with("grease_quic_bit") } else { config(&[]) };
            let mut pair = Pair::new(context.clone(), options(client), options(server), delay(10));
            transfer(&mut pair, 200_000);
            for to_server in [true, false] {
                let firsts = first_bytes(&pair, 0, to_server);
                let cleared = firsts.iter().filter(|first| !first.fixed_bit()).count();
                // Each endpoint decides for itself to clear the bit, and needs the other's permission.
                if client && server {
                    assert!(cleared * 4 > firsts.len() && cleared * 4 < firsts.len() * 3, "{cleared}");
                } else {
                    assert_eq!(cleared, 0);
                }
                assert!(firsts[0].fixed_bit(), "nothing is known yet");
            }
            assert_eq!(pair.server().stats().streams.received_bytes, 200_000);
            assert_eq!(
                (pair.client().stats().packets_dropped, pair.server().stats().packets_dropped),
                (0, 0)
            );
        }
    }
}

/// RFC 9000-17.2-1, 9000-17.3.1-1; RFC 9287-3-2.
#[test]
fn a_cleared_quic_bit_is_accepted_only_if_announced() {
    for (options, taken) in [(config(&[]), 0), (with("grease_quic_bit"), 1)] {
        let mut pair = Pair::new(null(), config(&[]), options.clone(), delay(10));
        pair.establish();
        pair.cut();
        let mut bytes = pair.forge(true, PacketKind::OneRtt, &[1, 0, 0, 0]);
        bytes[0] &= !0x40;
        let received = pair.server().stats().packets_received;
        pair.arrive(true, bytes);
        assert_eq!(pair.server().stats().packets_received, received + taken);
        assert!(!pair.server().is_over());
    }
    // Without a connection nothing is negotiated.
    let mut pair = Pair::new(null(), config(&[]), with("grease_quic_bit"), delay(10));
    pair.drain();
    let mut first = pair.wire[0].bytes.clone();
    first[0] &= !0x40;
    pair.arrive(true, first);
    assert!(pair.server.is_empty() && pair.server.dropped() == 1);
}

#[test]
fn skipped_numbers_do_not_affect_an_honest_peer() {
    for context in contexts() {
        let options = || with("skip_packet_numbers");
        let mut pair = Pair::new(context, options(), options(), delay(10));
        transfer(&mut pair, 3_000_000);
        assert!(!pair.client().is_over() && !pair.server().is_over());
        assert_eq!(pair.client().stats().packets_declared_lost, 0);
        let received = pair.server().stats().streams.received_bytes;
        assert_eq!(received, 3_000_000);
    }
}

/// RFC 9000 sections 13.1 and 21.4: an optimistic acknowledgement of all packets also covers a skipped number.
#[test]
fn an_acknowledgement_of_a_skipped_number_is_detected() {
    for skip in [true, false] {
        let client = config(&[("skip_packet_numbers", Value::Flag(skip))]);
        let mut pair = Pair::new(null(), client, config(&[]), delay(10));
        pair.establish();
        pair.upload(500_000);
        pair.run_for(ms(45));
        let sent = pair.sent_from(0, true);
        let largest = sent.iter().filter(|p| p.kind == PacketKind::OneRtt).map(|p| p.number).max().unwrap();
        pair.cut();
        let mut payload = Vec::new();
        wire::frame::ack(&mut payload, [0..=largest], 0, None, 100);
        pair.inject_raw(false, PacketKind::OneRtt, &payload);
        let error = match pair.client().close_reason() {
            Some(CloseReason::Transport(error)) => Some((error.code, error.frame_type)),
            None => None,
            other => panic!("{other:?}"),
        };
        assert_eq!(error, skip.then_some((Code::PROTOCOL_VIOLATION, Some(2))));
    }
}
