//! The capacity of a path on its way to the client and back (draft-kuhn-quic-0rtt-bdp-09).

use crate::pair::{Frame, Pair, config, context, delay, ms, opening, resume, size};
use quic::{CloseReason, Data};
use std::collections::BTreeSet;
use tls::{Context, EarlyData, Options, Protection};
use trace::PacketKind;
use units::Duration;
use units::parameter::Value;
use wire::{Code, Direction};

const SERVER: &str = "server.example:443";

fn tls(protection: Protection) -> Context {
    context(&Options { protection, tickets: 2, early_data: true, ..Options::default() })
}
/// Packets can be read with null protection.
fn null() -> Context {
    tls(Protection::Null)
}
fn with_bdp() -> Vec<(&'static str, Value)> {
    vec![
        (
            "resume",
            resume("careful", &[("bdp_frame", Value::Flag(true)), ("store", Value::Text("off".to_owned()))]),
        ),
        ("initial_max_data", size(8_000_000)),
        ("initial_max_stream_data_uni", size(8_000_000)),
    ]
}
/// A pair whose client has received a megabyte, and the packets of that connection.
fn acquainted(tls: Context, client: &[(&str, Value)], server: &[(&str, Value)]) -> Pair {
    let mut pair = Pair::new(tls, config(client), config(server), delay(10));
    pair.establish();
    let now = pair.now;
    let stream = pair.server().open(Direction::Unidirectional).unwrap();
    pair.server().write(now, stream, Data::Virtual(1_000_000)).unwrap();
    pair.server().finish(now, stream).unwrap();
    pair.drain();
    pair.run_for(ms(1_000));
    pair.hang_up();
    pair
}
/// The kinds of packets with BDP_FRAME from the client or from the server.
fn carried(pair: &Pair, mark: usize, to_server: bool) -> BTreeSet<PacketKind> {
    let packets = pair.sent_from(mark, to_server);
    packets.iter().filter(|packet| packet.has("BDP_FRAME")).map(|packet| packet.kind).collect()
}
fn error(reason: Option<&CloseReason>) -> Code {
    match reason {
        Some(CloseReason::Transport(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

/// Section 3.3: from the server in 1-RTT packets, from the client in 0-RTT packets.
#[test]
fn a_capacity_comes_back_in_the_first_flight() {
    for protection in [Protection::Null, Protection::Tls] {
        let mut pair = acquainted(tls(protection), &with_bdp(), &with_bdp());
        let readable = protection == Protection::Null;
        if readable {
            assert_eq!(carried(&pair, 0, false), [PacketKind::OneRtt].into());
            assert_eq!(carried(&pair, 0, true), [].into());
        }
        let (bytes, rtt) = pair.client.memory().capacity(SERVER).unwrap();
        assert!(bytes > 58_880 && (ms(20)..ms(21)).contains(&rtt), "{bytes} {rtt}");
        let mark = pair.open(opening(config(&with_bdp())).with_early_data());
        assert_eq!(pair.client.memory().capacity(SERVER), None, "it is used once");
        pair.run_for(ms(200));
        assert_eq!(pair.client().early_data(), EarlyData::Accepted);
        if readable {
            assert_eq!(carried(&pair, mark, true), [PacketKind::ZeroRtt].into());
        }
        let again = pair.client.memory().capacity(SERVER).unwrap();
        assert_eq!(again, (bytes, rtt), "what came back is passed on again");
        assert!(pair.server().is_established());
    }
}

/// Section 3.2: a client reads what it gets, and need not send it back; nor does it send it without 0-RTT.
#[test]
fn a_client_may_refuse_to_send_it_back() {
    let tls = null();
    let mut pair = acquainted(tls, &with_bdp(), &with_bdp());
    let mark = pair.open(opening(config(&with_bdp())));
    pair.run_for(ms(200));
    assert_eq!(carried(&pair, mark, true), [].into());
    pair.hang_up();
    assert!(pair.client.memory().capacity(SERVER).is_some());
    pair.client.memory().refuse_capacity(SERVER);
    let mark = pair.open(opening(config(&with_bdp())).with_early_data());
    pair.run_for(ms(200));
    assert_eq!(pair.client().early_data(), EarlyData::Accepted);
    assert_eq!(carried(&pair, mark, true), [].into());
}

#[test]
fn a_refused_first_flight_takes_it_along() {
    let tls = null();
    let mut pair = acquainted(tls.clone(), &with_bdp(), &with_bdp());
    pair.restart(tls, config(&with_bdp()));
    let mark = pair.open(opening(config(&with_bdp())).with_early_data());
    pair.run_for(ms(300));
    assert_eq!(pair.client().early_data(), EarlyData::Rejected);
    assert_eq!(carried(&pair, mark, true), [PacketKind::ZeroRtt].into());
    assert!(pair.client().is_established() && pair.server().is_established());
}

/// A server that has stopped to understand it refuses the 0-RTT packets in which it would come.
#[test]
fn a_server_without_it_does_not_get_it() {
    let tls = null();
    let mut pair = acquainted(tls.clone(), &with_bdp(), &with_bdp());
    pair.restart_with_tickets(tls.clone(), config(&[]));
    pair.open(opening(config(&with_bdp())).with_early_data());
    pair.run_for(ms(300));
    assert_eq!(pair.client().early_data(), EarlyData::Rejected);
    assert!(pair.client().is_established() && pair.server().is_established());
    for (client, server) in [(with_bdp(), vec![]), (vec![], with_bdp())] {
        let pair = acquainted(tls.clone(), &client, &server);
        assert_eq!(carried(&pair, 0, false), [].into(), "both have to announce it");
    }
}

/// Sections 3.2 and 3.3: the errors are PROTOCOL_VIOLATION.
#[test]
fn the_wrong_direction_and_a_frame_without_its_parameter_are_errors() {
    let frame =
        wire::Frame::Bdp { lifetime_us: 1_000_000, capacity: 100_000, min_rtt_us: 20_000, address: &[7; 16] };
    for (options, to_server, ends) in
        [(vec![], true, true), (vec![], false, true), (with_bdp(), true, true), (with_bdp(), false, false)]
    {
        let mut pair = Pair::new(null(), config(&options), config(&options), delay(10));
        pair.establish();
        pair.inject_data(to_server, &[frame]);
        let end = if to_server { pair.server() } else { pair.client() };
        match ends {
            true => assert_eq!(error(end.close_reason()), Code::PROTOCOL_VIOLATION),
            false => assert!(end.close_reason().is_none()),
        }
    }
}

/// A frame that somebody made or altered changes nothing.
#[test]
fn a_forged_capacity_is_ignored() {
    for at in [0, 5, 12] {
        let mut pair = acquainted(null(), &with_bdp(), &with_bdp());
        // With null protection a byte of the frame can be altered in transit.
        let mut altered = 0;
        pair.link = Box::new(move |to_server, _, flying| {
            // The type, and a lifetime in eight bytes.
            let begins = |bytes: &[u8]| bytes[..4] == [0x80, 0, 0xeb, 0xd9] && bytes[4] >= 0xc0;
            if to_server && let Some(found) = flying.bytes.windows(5).position(begins) {
                // Type, lifetime, capacity, RTT, length of the address.
                let length = found + 4 + 8 + 4 + 4;
                assert_eq!(flying.bytes[length], 16);
                flying.bytes[length + 1 + at] ^= 1;
                altered += 1;
                assert_eq!(altered, 1);
            }
            vec![ms(10)]
        });
        let mark = pair.open(opening(config(&with_bdp())).with_early_data());
        pair.run_for(Duration::from_secs(1));
        assert!(pair.client().is_established() && pair.server().is_established());
        assert_eq!(pair.client.memory().capacity(SERVER), None, "nothing is passed on again");
        let frames = pair.frames_from(mark, true);
        assert!(frames.iter().any(|frame| matches!(frame, Frame::Bdp { .. })));
        let early = pair.sent_from(mark, true);
        assert!(early.iter().any(|packet| packet.kind == PacketKind::ZeroRtt));
    }
}
