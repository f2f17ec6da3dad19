//! Violations by a peer with streams, floods and handshakes (RFC 9000 sections 4, 7, 11, 19). Invalid single frames
//! and parameters are in `transport_errors`.

use crate::pair::Frame as Seen;
use crate::pair::{DatagramInFlight, Link, Pair, at, config, delay, ms, null, size};
use quic::CloseReason;
use trace::PacketKind;
use wire::{Code, Direction, Ecn, Frame, Side, StreamId};

/// The error with which the victim closes, and the frame type in it.
fn error(pair: &mut Pair, server: bool) -> Option<(Code, Option<u64>)> {
    let connection = if server { pair.server() } else { pair.client() };
    match connection.close_reason() {
        Some(CloseReason::Transport(error)) => Some((error.code, error.frame_type)),
        None => None,
        other => panic!("{other:?}"),
    }
}

/// The same for a payload that arrives in a 1-RTT packet at the server or the client.
fn answer_to(to_server: bool, payload: &[u8]) -> Option<(Code, Option<u64>)> {
    let credit = [("initial_max_data", size(20_000_000))];
    let mut pair = Pair::new(null(), config(&credit), config(&credit), delay(10));
    pair.establish();
    pair.cut();
    pair.inject_raw(to_server, PacketKind::OneRtt, payload);
    error(&mut pair, to_server)
}

fn encoded(frames: &[Frame<'_>]) -> Vec<u8> {
    let mut payload = Vec::new();
    frames.iter().for_each(|frame| frame.encode(&mut payload));
    payload
}

fn id(initiator: Side, direction: Direction, index: u64) -> StreamId {
    StreamId::new(initiator, direction, index)
}

fn stream(id: StreamId, offset: u64, data: &[u8], fin: bool) -> Frame<'_> {
    Frame::Stream { id, offset, data: wire::Data::Bytes(data), fin }
}

const BIDI: Direction = Direction::Bidirectional;
const UNI: Direction = Direction::Unidirectional;

/// RFC 9000-4.1-2, 9000-4.6-3, 9000-19.4-1, 9000-19.5-1, 9000-19.5-2, 9000-19.8-1, 9000-19.9-2,
/// 9000-19.10-1, 9000-19.10-2, 9000-19.10-4, 9000-19.11-4, 9000-19.13-1, 9000-11.1-1.
#[test]
fn invalid_stream_frames() {
    for to_server in [true, false] {
        let (them, us) = if to_server { (Side::Client, Side::Server) } else { (Side::Server, Side::Client) };
        for (name, frames, code) in forbidden(them, us) {
            let (found, frame_type) =
                answer_to(to_server, &encoded(&frames)).unwrap_or_else(|| panic!("{name}: nothing"));
            assert_eq!(found, code, "{name}, to the server: {to_server}");
            assert_eq!(frame_type, frames.last().map(Frame::frame_type), "{name}");
        }
    }
}

/// The error caused by these frames of a peer.
fn forbidden(them: Side, us: Side) -> Vec<(&'static str, Vec<Frame<'static>>, Code)> {
    let theirs = id(them, BIDI, 0);
    let ours = id(us, BIDI, 0);
    let our_uni = id(us, UNI, 0);
    let their_uni = id(them, UNI, 0);
    vec![
        ("stream limit", vec![stream(id(them, BIDI, 100), 0, b"x", false)], Code::STREAM_LIMIT_ERROR),
        ("stream limit, uni", vec![stream(id(them, UNI, 100), 0, b"x", false)], Code::STREAM_LIMIT_ERROR),
        (
            "the last stream of all",
            vec![stream(id(them, UNI, (1 << 60) - 1), 0, b"x", false)],
            Code::STREAM_LIMIT_ERROR,
        ),
        (
            "reset beyond the limit",
            vec![Frame::ResetStream { id: id(them, UNI, 100), code: 0, final_size: 0 }],
            Code::STREAM_LIMIT_ERROR,
        ),
        (
            "stop beyond the limit",
            vec![Frame::StopSending { id: id(them, BIDI, 100), code: 0 }],
            Code::STREAM_LIMIT_ERROR,
        ),
        (
            "credit beyond the limit",
            vec![Frame::MaxStreamData { id: id(them, BIDI, 100), maximum: 0 }],
            Code::STREAM_LIMIT_ERROR,
        ),
        (
            "blocked beyond the limit",
            vec![Frame::StreamDataBlocked { id: id(them, BIDI, 100), limit: 0 }],
            Code::STREAM_LIMIT_ERROR,
        ),
        ("a stream of ours that is not open", vec![stream(ours, 0, b"x", false)], Code::STREAM_STATE_ERROR),
        (
            "data on a stream that only we send on",
            vec![stream(our_uni, 0, b"x", false)],
            Code::STREAM_STATE_ERROR,
        ),
        (
            "reset of a stream that only we send on",
            vec![Frame::ResetStream { id: our_uni, code: 0, final_size: 0 }],
            Code::STREAM_STATE_ERROR,
        ),
        (
            "blocked on a stream that only we send on",
            vec![Frame::StreamDataBlocked { id: our_uni, limit: 0 }],
            Code::STREAM_STATE_ERROR,
        ),
        (
            "stop of a stream that only we receive on",
            vec![Frame::StopSending { id: their_uni, code: 0 }],
            Code::STREAM_STATE_ERROR,
        ),
        (
            "credit for a stream that only we receive on",
            vec![Frame::MaxStreamData { id: their_uni, maximum: 1 }],
            Code::STREAM_STATE_ERROR,
        ),
        (
            "stop of a stream that is not open",
            vec![Frame::StopSending { id: ours, code: 0 }],
            Code::STREAM_STATE_ERROR,
        ),
        (
            "credit for a stream that is not open",
            vec![Frame::MaxStreamData { id: our_uni, maximum: 1 }],
            Code::STREAM_STATE_ERROR,
        ),
        ("stream credit", vec![stream(theirs, 16_000_000, b"x", false)], Code::FLOW_CONTROL_ERROR),
        (
            "stream credit by a reset",
            vec![Frame::ResetStream { id: theirs, code: 0, final_size: 16_000_001 }],
            Code::FLOW_CONTROL_ERROR,
        ),
        (
            "the connection's credit",
            vec![stream(theirs, 15_999_999, b"x", false), stream(their_uni, 4_000_000, b"x", false)],
            Code::FLOW_CONTROL_ERROR,
        ),
        (
            "the connection's credit by a reset",
            vec![
                stream(theirs, 15_999_999, b"x", false),
                Frame::ResetStream { id: their_uni, code: 0, final_size: 4_000_001 },
            ],
            Code::FLOW_CONTROL_ERROR,
        ),
        (
            "data behind the end",
            vec![stream(theirs, 0, b"abc", true), stream(theirs, 3, b"d", false)],
            Code::FINAL_SIZE_ERROR,
        ),
        (
            "two ends",
            vec![stream(theirs, 0, b"abc", true), stream(theirs, 0, b"ab", true)],
            Code::FINAL_SIZE_ERROR,
        ),
        (
            "an end before data",
            vec![stream(theirs, 0, b"abc", false), stream(theirs, 0, b"ab", true)],
            Code::FINAL_SIZE_ERROR,
        ),
        (
            "a reset before data",
            vec![stream(theirs, 0, b"abc", false), Frame::ResetStream { id: theirs, code: 0, final_size: 2 }],
            Code::FINAL_SIZE_ERROR,
        ),
        (
            "two resets",
            vec![
                Frame::ResetStream { id: theirs, code: 0, final_size: 2 },
                Frame::ResetStream { id: theirs, code: 0, final_size: 3 },
            ],
            Code::FINAL_SIZE_ERROR,
        ),
    ]
}

/// RFC 9000-4.1-3, 9000-4.6-4, 9000-13.3-3, 9000-19.11-2.
#[test]
fn unusual_but_valid_frames_are_not_errors() {
    let theirs = id(Side::Client, BIDI, 5);
    let table: &[(&str, Vec<Frame<'_>>)] = &[
        ("the last byte of the credit", vec![stream(theirs, 15_999_999, b"x", true)]),
        (
            "data twice, and overlapping",
            vec![
                stream(theirs, 0, b"abc", false),
                stream(theirs, 1, b"bcd", true),
                stream(theirs, 0, b"abcd", true),
            ],
        ),
        ("an end without data", vec![stream(theirs, 0, b"", true), stream(theirs, 0, b"", true)]),
        (
            "data behind a reset",
            vec![Frame::ResetStream { id: theirs, code: 1, final_size: 9 }, stream(theirs, 0, b"abc", false)],
        ),
        (
            "credit that falls",
            vec![Frame::MaxData { maximum: 1 }, Frame::MaxStreams { direction: BIDI, maximum: 1 }],
        ),
        (
            "tells of being blocked",
            vec![Frame::DataBlocked { limit: 3 }, Frame::StreamsBlocked { direction: UNI, limit: 7 }],
        ),
        (
            "stop of its own stream's answer",
            vec![Frame::StopSending { id: theirs, code: 1 }, Frame::StopSending { id: theirs, code: 2 }],
        ),
        (
            "the greatest credit",
            vec![
                Frame::MaxData { maximum: wire::varint::MAX },
                Frame::MaxStreams { direction: BIDI, maximum: 1 << 60 },
            ],
        ),
        ("handshake data that has a gap", vec![Frame::Crypto { offset: 1000, data: b"zzz" }]),
    ];
    for (name, frames) in table {
        assert_eq!(answer_to(true, &encoded(frames)), None, "{name}");
    }
}

/// RFC 9000-7.5-1, 9000-7.5-2.
#[test]
fn endless_handshake_data_is_refused() {
    let mut pair = Pair::plain();
    pair.run_to(at(10));
    pair.cut();
    // A gap that is never filled, and more and more data after it.
    for i in 1..200 {
        let frame = Frame::Crypto { offset: i * 1100, data: &[0; 1100] };
        pair.inject(true, PacketKind::Handshake, &[frame]);
        if let Some((code, _)) = error(&mut pair, true) {
            assert_eq!(code, Code::CRYPTO_BUFFER_EXCEEDED);
            assert!(
                i * 1100 > 65_536,
                "RFC 9000 section 7.5: 4096 bytes at least, and a certificate chain fits"
            );
            return;
        }
    }
    panic!("200 kB are kept");
}

/// RFC 9000-8.2.2-1, 9000-8.2.2-7, 9000-19.17-1.
#[test]
fn challenges_are_answered_and_a_flood_of_them_is_not() {
    let mut pair = Pair::established();
    pair.cut();
    let mark = pair.mark();
    pair.inject_data(true, &[Frame::PathChallenge { data: *b"question" }]);
    assert!(pair.frames_from(mark, false).contains(&Seen::PathResponse { data: *b"question" }));
    let mark = pair.mark();
    let flood: Vec<Frame<'_>> = (0..100).map(|i| Frame::PathChallenge { data: [i; 8] }).collect();
    pair.inject_data(true, &flood);
    let answers =
        pair.frames_from(mark, false).iter().filter(|frame| frame.name() == "PATH_RESPONSE").count();
    assert_eq!(answers, 4);
    assert!(!pair.server().is_over());
}

/// RFC 9000-13.2.3-1.
#[test]
fn a_flood_of_gaps_does_not_grow_acknowledgements_forever() {
    let mut pair = Pair::established();
    pair.cut();
    let mark = pair.mark();
    for i in 0..2000u64 {
        let mut bytes = pair.forge(true, PacketKind::OneRtt, &[1, 0, 0, 0]);
        // Every second number.
        bytes[9..13].copy_from_slice(&(2_000_000 + 2 * i as u32).to_be_bytes());
        pair.arrive(true, bytes);
    }
    let most =
        pair.sent_from(mark, false).iter().filter_map(|p| p.acks()).map(|ranges| ranges.len()).max().unwrap();
    assert!(most <= 256, "{most}");
    assert!(pair.sent_from(mark, false).iter().all(|packet| packet.datagram_length <= 1472));
}

/// RFC 9000-12.3-4.
#[test]
fn repeated_packets_are_processed_once() {
    let mut pair = Pair::established();
    pair.cut();
    let bytes =
        pair.forge(true, PacketKind::OneRtt, &encoded(&[stream(id(Side::Client, UNI, 0), 0, b"abc", false)]));
    let received = pair.server().stats().packets_received;
    for _ in 0..5 {
        pair.arrive(true, bytes.clone());
    }
    assert_eq!(pair.server().stats().packets_received, received + 1);
    assert_eq!(pair.server().stats().packets_dropped, 4);
}

/// RFC 9000-9-5.
#[test]
fn a_client_drops_packets_from_unknown_addresses() {
    let mut pair = Pair::established();
    for from in ["10.9.9.9:9", "10.0.0.2:444"] {
        let bytes = pair.forge(false, PacketKind::OneRtt, &[1, 0, 0, 0]);
        let (mark, dropped) = (pair.mark(), pair.client().stats().packets_dropped);
        let (from, to) = (from.parse().unwrap(), crate::pair::ends(false).1);
        pair.deliver(false, DatagramInFlight { bytes, hole: None, damage: None, ecn: Ecn::NotEct, from, to });
        pair.run_for(ms(100));
        assert_eq!((pair.mark(), pair.client().stats().packets_dropped), (mark, dropped + 1));
    }
}

/// RFC 9000-7.2-3, 9000-7.2-4.
#[test]
fn a_second_server_cannot_take_a_handshake_over() {
    // A forged Initial packet with another source id arrives after the authentic one.
    let mut pair = Pair::plain();
    pair.run_to(at(20));
    let mut bytes =
        pair.forge(false, PacketKind::Initial, &encoded(&[Frame::Ping, Frame::Padding { length: 1200 }]));
    let source = 7 + usize::from(bytes[5]);
    bytes[source] ^= 0xff;
    let dropped = pair.client().stats().packets_dropped;
    pair.arrive(false, bytes);
    assert_eq!(pair.client().stats().packets_dropped, dropped + 1);
}

/// RFC 9000-14.1-3, 9000-14-4.
#[test]
fn a_clients_initial_in_a_small_datagram_is_dropped() {
    let mut pair = Pair::plain();
    pair.run_to(at(10));
    let dropped = pair.server().stats().packets_dropped;
    pair.inject(true, PacketKind::Initial, &[Frame::Ping, Frame::Padding { length: 900 }]);
    assert_eq!(pair.server().stats().packets_dropped, dropped + 1);
    pair.inject(true, PacketKind::Initial, &[Frame::Ping, Frame::Padding { length: 1200 }]);
    assert_eq!(pair.server().stats().packets_dropped, dropped + 1);
}

/// RFC 9000-7.3-2.
#[test]
fn parameters_that_do_not_match_the_ids_end_the_handshake() {
    // The server's first packet is replaced by one with another source id, which the parameters reveal.
    let link: Link = Box::new(|to_server, number, flying| {
        if !to_server && number == 0 {
            let source = 7 + usize::from(flying.bytes[5]);
            flying.bytes[source] ^= 0xff;
            // The Handshake packet after it has the original id; without it the client waits for more.
        }
        vec![ms(10)]
    });
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.run_for(ms(3000));
    assert!(!pair.client().is_established());
}
