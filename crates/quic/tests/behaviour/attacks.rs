//! The attacks named in RFC 9000 section 21: their cost for the victim, and their end.
//!
//! The attacker is a peer with the keys, whose single packets are all valid. Attacks without keys are in the storm.

use crate::allocator::{held, start_anew};
use crate::pair::{Pair, config, count, delay, ms, null, size};
use quic::{CloseReason, Data};
use trace::PacketKind;
use wire::{Code, ConnectionId, Direction, Frame, Side, StreamId};

/// Room for frames in a packet of the attacker.
const ROOM: usize = 1400;

/// An established pair whose server has these options; the server's memory is measured from here on.
fn victim(options: &[(&str, units::parameter::Value)]) -> Pair {
    start_anew();
    let mut pair = Pair::new(null(), config(&[]), config(options), delay(10));
    pair.establish();
    pair.cut();
    pair.keeps_bytes = false;
    pair
}

fn id(direction: Direction, index: u64) -> StreamId {
    StreamId::new(Side::Client, direction, index)
}

fn data(id: StreamId, offset: u64, bytes: &[u8]) -> Frame<'_> {
    Frame::Stream { id, offset, data: wire::Data::Bytes(bytes), fin: false }
}

/// Sends frames in as many packets as necessary, until the victim closes. Returns the number of frames sent.
fn flood<'a>(pair: &mut Pair, frames: impl Iterator<Item = Frame<'a>>) -> usize {
    let mut payload = Vec::new();
    let mut sent = 0;
    for frame in frames {
        frame.encode(&mut payload);
        sent += 1;
        if payload.len() > ROOM {
            pair.inject_raw(true, PacketKind::OneRtt, &payload);
            payload.clear();
            if pair.server().is_over() {
                return sent;
            }
        }
    }
    if !payload.is_empty() {
        pair.inject_raw(true, PacketKind::OneRtt, &payload);
    }
    sent
}

fn code(pair: &mut Pair) -> Option<Code> {
    match pair.server().close_reason() {
        Some(CloseReason::Transport(error)) => Some(error.code),
        None => None,
        other => panic!("{other:?}"),
    }
}

/// RFC 9000 section 21.7: single bytes with gaps, which cannot be joined.
#[test]
fn fragments_cost_no_more_than_the_credit() {
    let mut pair = victim(&[("initial_max_data", size(1_000_000))]);
    let before = held();
    // Every second byte of many streams, up to the connection credit.
    let frames = (0..10_000)
        .flat_map(|at| (0..100).map(move |stream| data(id(Direction::Unidirectional, stream), 2 * at, b"x")));
    let sent = flood(&mut pair, frames);
    assert!(held() - before < 5_000_000, "{} bytes for {sent} fragments", held() - before);
    assert_eq!(code(&mut pair), Some(Code::PROTOCOL_VIOLATION), "the peer's doing, and nothing wrong here");
    assert!(sent >= 25_600, "losses alone must not look like this: {sent}");
}

/// RFC 9000 sections 7.5 and 21.7: gaps in the handshake messages cost bounded memory.
#[test]
fn fragments_of_the_handshake_exceed_its_buffer() {
    let mut pair = victim(&[]);
    let before = held();
    // Every second byte, after all data sent so far.
    let data = [b'x'];
    flood(&mut pair, (0..10_000).map(|at| Frame::Crypto { offset: 10_000 + 2 * at, data: &data }));
    assert!(held() - before < 100_000, "{} bytes", held() - before);
    assert_eq!(code(&mut pair), Some(Code::CRYPTO_BUFFER_EXCEEDED));
}

/// The same bytes in reverse order: each fragment is adjacent to the previous one.
#[test]
fn a_stream_in_reverse_byte_order_is_joined() {
    let mut pair = victim(&[]);
    let before = held();
    let stream = id(Direction::Unidirectional, 0);
    flood(&mut pair, (1..100_000u64).rev().map(|at| data(stream, at, b"x")));
    assert_eq!(code(&mut pair), None);
    assert!(held() - before < 1_000_000, "{} bytes", held() - before);
    flood(&mut pair, std::iter::once(data(stream, 0, b"x")));
    let mut out = vec![0; 200_000];
    assert_eq!(pair.server().read(stream, &mut out).map(|read| read.bytes), Ok(100_000));
    assert!(out[..100_000].iter().all(|byte| *byte == b'x'));
}

/// RFC 9000 section 21.6: streams are opened, used a little, and never finished. The victim sets their limit.
#[test]
fn unfinished_streams_stay_within_the_limit() {
    let limit = 50;
    let mut pair = victim(&[("initial_max_streams_uni", count(limit))]);
    let before = held();
    flood(&mut pair, (0..limit).map(|index| data(id(Direction::Unidirectional, index), 1, b"x")));
    assert_eq!(code(&mut pair), None);
    assert!(held() - before < limit as i64 * 1_500, "{} bytes", held() - before);
    flood(&mut pair, std::iter::once(data(id(Direction::Unidirectional, limit), 0, b"x")));
    assert_eq!(code(&mut pair), Some(Code::STREAM_LIMIT_ERROR));
}

/// Rapid reset: streams are opened and reset immediately, over and over. They count until the application has closed
/// them, so that work cannot pile up beyond the limit.
#[test]
fn streams_that_are_reset_at_once_still_count() {
    let limit = 20;
    let mut pair = victim(&[("initial_max_streams_bidi", count(limit))]);
    let before = held();
    let mut opened = 0;
    for index in 0..100_000 {
        let stream = id(Direction::Bidirectional, index);
        let reset = Frame::ResetStream { id: stream, code: 1, final_size: 3 };
        let stop = Frame::StopSending { id: stream, code: 1 };
        pair.inject_data(true, &[data(stream, 0, b"GET"), reset, stop]);
        if pair.server().is_over() {
            break;
        }
        opened += 1;
    }
    assert_eq!(opened, limit, "no credit comes back while nobody has read the resets");
    assert_eq!(code(&mut pair), Some(Code::STREAM_LIMIT_ERROR));
    assert!(held() - before < 60_000, "{} bytes", held() - before);
}

/// The same against an application that closes each stream: it can continue, and no memory is left in use.
#[test]
fn rapid_reset_leaves_no_memory_in_use() {
    let mut pair = victim(&[("initial_max_streams_bidi", count(100)), ("initial_max_data", size(5_000))]);
    let mut after_warming = 0;
    for index in 0..5_000 {
        let stream = id(Direction::Bidirectional, index);
        let reset = Frame::ResetStream { id: stream, code: 1, final_size: 3 };
        let stop = Frame::StopSending { id: stream, code: 1 };
        pair.inject_data(true, &[data(stream, 0, b"GET"), reset, stop]);
        let _ = pair.server().stop(stream, 0);
        pair.run_for(ms(5));
        pair.server_events.clear();
        // The attacker acknowledges everything, so that nothing is retransmitted.
        let largest = pair.server().stats().packets_sent.saturating_sub(10);
        let mut payload = vec![0x02];
        wire::varint::encode(&mut payload, largest);
        payload.extend_from_slice(&[0, 0]);
        wire::varint::encode(&mut payload, largest);
        pair.inject_raw(true, PacketKind::OneRtt, &payload);
        pair.run_for(ms(5));
        assert_eq!(code(&mut pair), None, "{index}");
        if index == 1_000 {
            after_warming = held();
        }
    }
    assert!(held() - after_warming < 40_000, "{} bytes more", held() - after_warming);
    assert!(pair.server().open_streams() <= 100);
}

/// RFC 9000 section 21.8 and 5.1.2: ids are issued and retired endlessly; the retirements are not acknowledged.
#[test]
fn endless_connection_ids_are_refused() {
    let mut pair = victim(&[("active_connection_id_limit", count(4))]);
    let before = held();
    let frames = (10..10_000u64).map(|sequence| Frame::NewConnectionId {
        sequence,
        retire_prior_to: sequence,
        id: ConnectionId::new(&sequence.to_be_bytes()).unwrap(),
        token: [7; 16],
    });
    let sent = flood(&mut pair, frames);
    assert!(sent < 200, "{sent}");
    assert_eq!(code(&mut pair), Some(Code::CONNECTION_ID_LIMIT_ERROR));
    assert!(held() - before < 40_000, "{} bytes", held() - before);
}

/// Frames without effect, one per packet: each is acknowledged, no more bytes are sent than received, and nothing is
/// kept.
#[test]
fn tiny_frames_cost_at_most_an_acknowledgement_each() {
    let limit = |maximum| Frame::MaxStreamData { id: id(Direction::Bidirectional, 0), maximum };
    let kinds: [&dyn Fn(u64) -> Frame<'static>; 6] = [
        &|_| Frame::Ping,
        &|n| Frame::MaxData { maximum: n },
        &|n| Frame::DataBlocked { limit: n },
        &limit,
        &|n| Frame::StreamDataBlocked { id: id(Direction::Bidirectional, 0), limit: n },
        &|_| Frame::Padding { length: 1 },
    ];
    for (which, frame) in kinds.into_iter().enumerate() {
        let mut pair = victim(&[]);
        let (sent, bytes) = (pair.server().stats().packets_sent, pair.server().stats().bytes_sent);
        let mut came = 0;
        let mut after_warming = 0;
        for n in 0..5_000 {
            pair.inject_data(true, &[frame(n), Frame::Padding { length: 4 }]);
            came += 40;
            pair.server_events.clear();
            if n == 1_000 {
                after_warming = held();
            }
        }
        assert_eq!(code(&mut pair), None, "{which}");
        let stats = pair.server().stats();
        assert!(stats.packets_sent - sent <= 5_000, "{which}");
        assert!(stats.bytes_sent - bytes <= 2 * came, "{which}: {} bytes", stats.bytes_sent - bytes);
        assert!(held() - after_warming < 40_000, "{which}: {} bytes more", held() - after_warming);
    }
}

/// RFC 9000 section 21.4: an optimistic acknowledgement that covers a packet that was never sent closes the
/// connection.
#[test]
fn an_optimistic_acknowledgement_beyond_the_sent_packets_ends_the_connection() {
    let mut pair = victim(&[]);
    let now = pair.now;
    let stream = pair.server().open(Direction::Unidirectional).unwrap();
    pair.server().write(now, stream, Data::Virtual(10_000_000)).unwrap();
    pair.drain();
    let next = pair.server().stats().packets_sent;
    let mut payload = vec![0x02];
    wire::varint::encode(&mut payload, next + 1_000);
    payload.extend_from_slice(&[0, 0, 0]);
    pair.inject_raw(true, PacketKind::OneRtt, &payload);
    assert_eq!(code(&mut pair), Some(Code::PROTOCOL_VIOLATION));
}

/// Credit that would overflow a counter, and maximum stream offsets (RFC 9000 sections 4.5 and 19.8).
#[test]
fn maximum_numbers_do_not_overflow() {
    let last = wire::varint::MAX;
    let stream = id(Direction::Bidirectional, 0);
    let table: [(Frame<'_>, Option<Code>); 7] = [
        (Frame::MaxData { maximum: last }, None),
        (Frame::MaxStreamData { id: stream, maximum: last }, None),
        (Frame::MaxStreams { direction: Direction::Bidirectional, maximum: StreamId::MAX_COUNT }, None),
        (data(stream, last - 1, b"x"), Some(Code::FLOW_CONTROL_ERROR)),
        (Frame::ResetStream { id: stream, code: last, final_size: last }, Some(Code::FLOW_CONTROL_ERROR)),
        (Frame::Crypto { offset: last - 1, data: b"x" }, Some(Code::CRYPTO_BUFFER_EXCEEDED)),
        (Frame::RetireConnectionId { sequence: last }, Some(Code::PROTOCOL_VIOLATION)),
    ];
    for (frame, expected) in table {
        let mut pair = victim(&[]);
        pair.inject_data(true, &[frame]);
        assert_eq!(code(&mut pair), expected, "{frame:?}");
        if expected.is_none() {
            // The connection still works.
            let now = pair.now;
            let stream = pair.server().open(Direction::Bidirectional).unwrap();
            pair.server().write(now, stream, Data::Virtual(1_000_000)).unwrap();
            pair.run_for(ms(50));
            assert!(!pair.server().is_over());
        }
    }
}

/// Unread data is not granted new credit: a peer that uses all its credit occupies no more memory than that.
#[test]
fn unread_data_costs_no_more_than_the_credit() {
    let window = 300_000;
    let mut pair =
        victim(&[("initial_max_data", size(window)), ("initial_max_stream_data_bidi_remote", size(window))]);
    let before = held();
    let piece = [9; 1_000];
    let stream = id(Direction::Bidirectional, 0);
    flood(&mut pair, (0..window / 1_000).map(|n| data(stream, n * 1_000, &piece)));
    assert_eq!(code(&mut pair), None);
    assert!(held() - before < 2 * window as i64, "{} bytes", held() - before);
    flood(&mut pair, std::iter::once(data(stream, window, b"x")));
    assert_eq!(code(&mut pair), Some(Code::FLOW_CONTROL_ERROR));
}

/// RFC 9000-7.2-1: a server drops a client's first packet to an id of fewer than 8 bytes.
#[test]
fn a_first_packet_to_a_short_id_is_dropped() {
    for (length, accepted) in [(7, 0), (8, 1)] {
        let mut pair = Pair::new(null(), config(&[]), config(&[]), crate::pair::losing(10, |_, _| true));
        pair.drain();
        let id = |byte: u8, length: usize| wire::ConnectionId::new(&vec![byte; length]).unwrap();
        let header = wire::header::LongHeader {
            kind: PacketKind::Initial,
            version: wire::Version::V1,
            destination: id(1, length),
            source: id(2, 8),
            token: &[],
            number: wire::Truncated::with_length(0, 4),
        };
        let mut bytes = Vec::new();
        let written = header.write(&mut bytes);
        let start = bytes.len();
        bytes.push(1);
        bytes.resize(1200, 0);
        let behind = bytes.len() - start;
        written.set_length(&mut bytes, behind);
        pair.arrive(true, bytes);
        assert_eq!(pair.server.stats().accepted, accepted, "{length}");
    }
}

/// RFC 9000 section 21.3: handshakes in progress are limited, and the oldest gives way to a new one.
#[test]
fn handshakes_in_progress_are_limited() {
    let mut pair = Pair::new(null(), config(&[]), config(&[]), crate::pair::losing(10, |_, _| true));
    pair.drain();
    let accept = Some(std::sync::Arc::new(config(&[])));
    let options = quic::EndpointOptions {
        accept,
        max_connections: 100,
        max_half_open: 2,
        ..quic::EndpointOptions::new(crate::pair::SERVER.parse().unwrap(), null())
    };
    pair.server = quic::Endpoint::new(options, random::Generator::new(2, "server"));
    for _ in 0..3 {
        let opening = crate::pair::opening(config(&[]));
        pair.client.connect(pair.now, opening).unwrap();
        pair.drain();
        let hello = pair.wire.iter().rfind(|seen| seen.to_server).unwrap().bytes.clone();
        pair.arrive(true, hello);
    }
    let stats = pair.server.stats();
    assert_eq!((stats.accepted, stats.refused, stats.handshakes_gave_way), (3, 0, 1));
    // What gave way is gone as soon as it was told.
    pair.drain();
    pair.server.wake(pair.now);
    pair.drain();
    assert_eq!(pair.server.len(), 2);
}
