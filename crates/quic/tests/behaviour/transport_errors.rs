//! Every transport error of RFC 9000 section 20.1 that a peer can cause, by every kind of violation, at both roles.
//! (Errors of streams are in `hostile`, errors of connection ids in `ids`, CONNECTION_REFUSED and INVALID_TOKEN in
//! `address_tokens`, NO_VIABLE_PATH in `path_validation`, KEY_UPDATE_ERROR and AEAD_LIMIT_REACHED in `key_update`.)

use crate::pair::Frame as Seen;
use crate::pair::{DatagramInFlight, Pair, config, delay, ms, null};
use quic::CloseReason;
use trace::PacketKind;
use wire::{Code, ConnectionId, Data, Direction, Frame, Frames, Header, StreamId};

const TAG: usize = 16;
/// The frame type of CRYPTO.
const CRYPTO: Option<u64> = Some(0x06);

/// The error with which the victim closed. Its CONNECTION_CLOSE has the same contents in each packet.
fn error(pair: &mut Pair, server: bool, mark: usize) -> Option<(Code, Option<u64>)> {
    let connection = if server { pair.server() } else { pair.client() };
    let (code, frame_type) = match connection.close_reason()? {
        CloseReason::Transport(error) => (error.code, error.frame_type),
        other => panic!("{other:?}"),
    };
    let mut told = 0;
    for frame in pair.frames_from(mark, !server) {
        if let Seen::ConnectionClose { application, code: sent, frame_type: named, .. } = frame {
            // RFC 9000-11.1-1, and section 19.19: "a value of 0 ... when the frame type is unknown".
            assert_eq!((application, sent, named), (false, code.0, Some(frame_type.unwrap_or(0))));
            told += 1;
        }
    }
    assert!(told > 0, "{code} is told");
    // RFC 9000-10.3-1: not by a stateless reset.
    let endpoint = if server { &pair.server } else { &pair.client };
    assert_eq!(endpoint.stats().resets_sent, 0);
    Some((code, frame_type))
}

/// A pair in which the victim has the keys for packets of a type; from now on only forged packets arrive.
fn ready(to_server: bool, kind: PacketKind) -> Pair {
    let mut pair = Pair::plain();
    pair.run_for(match (kind, to_server) {
        // RFC 9001 section 4.9.1: a client discards its Initial keys when it sends a Handshake packet.
        (PacketKind::Initial, _) => ms(15),
        (PacketKind::Handshake, true) => ms(15),
        // Complete, but not confirmed.
        (PacketKind::Handshake, false) => ms(25),
        _ => ms(500),
    });
    pair.cut();
    pair
}

/// The effect of a payload in a packet of a type. Initial packets are padded.
fn answer(to_server: bool, kind: PacketKind, payload: &[u8]) -> Option<(Code, Option<u64>)> {
    let mut pair = ready(to_server, kind);
    let mark = pair.mark();
    let mut payload = payload.to_vec();
    if kind == PacketKind::Initial && !payload.is_empty() {
        payload.resize(payload.len().max(1200), 0);
    }
    pair.inject_raw(to_server, kind, &payload);
    error(&mut pair, to_server, mark)
}

fn encoded(frame: &Frame<'_>) -> Vec<u8> {
    let mut payload = Vec::new();
    frame.encode(&mut payload);
    payload
}

/// A minimal frame of each type, and the packets in which RFC 9000 table 3 permits it (I: Initial, H: Handshake, 1:
/// 1-RTT).
fn one_of_each() -> Vec<(Vec<u8>, &'static str)> {
    let id = StreamId::from_value(0);
    let new = ConnectionId::new(&[7; 8]).unwrap();
    let bidi = Direction::Bidirectional;
    // ACK: largest 0, delay 0, no further range, first range 0.
    let mut all = vec![(vec![0x02, 0, 0, 0, 0], "IH1"), (vec![0x03, 0, 0, 0, 0, 0, 0, 0], "IH1")];
    let frames = [
        (Frame::Padding { length: 3 }, "IH1"),
        (Frame::Ping, "IH1"),
        (Frame::ResetStream { id, code: 1, final_size: 2 }, "1"),
        (Frame::StopSending { id, code: 1 }, "1"),
        (Frame::Crypto { offset: 0, data: b"x" }, "IH1"),
        (Frame::NewToken { token: b"token" }, "1"),
        (Frame::Stream { id, offset: 1, data: Data::Bytes(b"x"), fin: false }, "1"),
        (Frame::MaxData { maximum: 1 }, "1"),
        (Frame::MaxStreamData { id, maximum: 1 }, "1"),
        (Frame::MaxStreams { direction: bidi, maximum: 1 }, "1"),
        (Frame::DataBlocked { limit: 1 }, "1"),
        (Frame::StreamDataBlocked { id, limit: 1 }, "1"),
        (Frame::StreamsBlocked { direction: bidi, limit: 1 }, "1"),
        (Frame::NewConnectionId { sequence: 1, retire_prior_to: 0, id: new, token: [9; 16] }, "1"),
        (Frame::RetireConnectionId { sequence: 1 }, "1"),
        (Frame::PathChallenge { data: [1; 8] }, "1"),
        (Frame::PathResponse { data: [1; 8] }, "1"),
        (Frame::ConnectionClose { code: Code::NO_ERROR, frame_type: 0, reason: b"bye" }, "IH1"),
        (Frame::ApplicationClose { code: 0, reason: b"bye" }, "1"),
        (Frame::HandshakeDone, "1"),
        (Frame::Datagram { data: Data::Bytes(b"x"), to_end: false }, "1"),
    ];
    all.extend(frames.iter().map(|(frame, packets)| (encoded(frame), *packets)));
    all
}

/// RFC 9000-12.4-3, 9000-17.2.4-1, 9000-5.2-1 (because anybody can send an Initial packet): table 3. (For 0-RTT
/// packets see `early_data`.)
#[test]
fn each_frame_in_each_type_of_packet() {
    for (payload, packets) in one_of_each() {
        for (kind, letter) in [(PacketKind::Initial, 'I'), (PacketKind::Handshake, 'H')] {
            for to_server in [true, false] {
                // A permitted frame does not close the connection, unless that is its meaning.
                if packets.contains(letter) {
                    let mut pair = ready(to_server, kind);
                    let mut payload = payload.clone();
                    payload.resize(1200, 0);
                    pair.inject_raw(to_server, kind, &payload);
                    let connection = if to_server { pair.server() } else { pair.client() };
                    let reason = connection.close_reason().cloned();
                    let closes = matches!(reason, Some(CloseReason::PeerTransport { .. }));
                    assert!(
                        reason.is_none() && payload[0] != 0x1c || closes,
                        "{payload:02x?} {kind:?} {reason:?}"
                    );
                    continue;
                }
                let expected = Some((Code::PROTOCOL_VIOLATION, Some(u64::from(payload[0]))));
                assert_eq!(
                    answer(to_server, kind, &payload),
                    expected,
                    "{payload:02x?} {kind:?} {to_server}"
                );
            }
        }
    }
}

/// RFC 9000-12.4-4, 9000-19.3-1: a truncated frame is badly formatted, wherever it is cut.
#[test]
fn truncated_frames() {
    for (payload, _) in one_of_each() {
        // PADDING may have any length.
        if payload[0] == 0 {
            continue;
        }
        for cut in 1..payload.len() {
            for to_server in [true, false] {
                let expected = Some((Code::FRAME_ENCODING_ERROR, Some(u64::from(payload[0]))));
                let found = answer(to_server, PacketKind::OneRtt, &payload[..cut]);
                assert_eq!(found, expected, "{payload:02x?} {cut}");
            }
        }
    }
}

/// RFC 9000-4.6-1, 9000-12.4-2, 9000-12.4-4, 9000-12.4-5, 9000-19.3.1-1, 9000-19.6-1, 9000-19.7-2, 9000-19.8-2,
/// 9000-19.11-1, 9000-19.14-1, 9000-19.15-1, 9000-19.15-6.
#[test]
fn frames_with_impossible_values() {
    let new_id = |sequence: u8, retire: u8, length: u8| {
        let mut payload = vec![0x18, sequence, retire, length];
        payload.resize(payload.len() + usize::from(length) + 16, 7);
        payload
    };
    // 2^62 - 1, and 2^60 + 1.
    let last = [0xff; 8];
    let many = [0xd0, 0, 0, 0, 0, 0, 0, 1];
    let table: Vec<(&str, Vec<u8>, Code, u64)> = vec![
        ("an unknown type", vec![0x1f], Code::FRAME_ENCODING_ERROR, 0x1f),
        ("an unknown type behind a frame", vec![0x01, 0x20], Code::FRAME_ENCODING_ERROR, 0x20),
        ("an unknown type of 8 bytes", [0xc0; 8].into(), Code::FRAME_ENCODING_ERROR, 0x00c0_c0c0_c0c0_c0c0),
        ("PING in two bytes", vec![0x40, 0x01], Code::PROTOCOL_VIOLATION, 0x01),
        ("a range below 0", vec![0x02, 0, 0, 0, 1], Code::FRAME_ENCODING_ERROR, 0x02),
        ("a second range below 0", vec![0x02, 3, 0, 1, 1, 1, 0], Code::FRAME_ENCODING_ERROR, 0x02),
        (
            "stream data behind 2^62 - 1",
            [&[0x0e, 0][..], &last, &[1, b'x']].concat(),
            Code::FRAME_ENCODING_ERROR,
            0x0e,
        ),
        (
            "handshake data behind 2^62 - 1",
            [&[0x06][..], &last, &[1, b'x']].concat(),
            Code::FRAME_ENCODING_ERROR,
            0x06,
        ),
        ("an empty token", vec![0x07, 0], Code::FRAME_ENCODING_ERROR, 0x07),
        ("2^60 + 1 streams", [&[0x12][..], &many].concat(), Code::FRAME_ENCODING_ERROR, 0x12),
        ("2^60 + 1 streams, one way", [&[0x13][..], &many].concat(), Code::FRAME_ENCODING_ERROR, 0x13),
        ("blocked at 2^60 + 1 streams", [&[0x16][..], &many].concat(), Code::FRAME_ENCODING_ERROR, 0x16),
        ("the same, one way", [&[0x17][..], &many].concat(), Code::FRAME_ENCODING_ERROR, 0x17),
        ("an id of no byte", new_id(2, 0, 0), Code::FRAME_ENCODING_ERROR, 0x18),
        ("an id of 21 bytes", new_id(2, 0, 21), Code::FRAME_ENCODING_ERROR, 0x18),
        ("retirement beyond its own number", new_id(2, 3, 8), Code::FRAME_ENCODING_ERROR, 0x18),
        // Datagrams were not negotiated (RFC 9221 section 3).
        ("a datagram", vec![0x30, b'x'], Code::PROTOCOL_VIOLATION, 0x30),
        ("an answer to no challenge", [&[0x1b][..], &[1; 8]].concat(), Code::PROTOCOL_VIOLATION, 0x1b),
        ("retires an id that was not issued", vec![0x19, 60], Code::PROTOCOL_VIOLATION, 0x19),
        ("retires the id that it is sent to", vec![0x19, 0], Code::PROTOCOL_VIOLATION, 0x19),
    ];
    for (name, payload, code, frame_type) in table {
        for to_server in [true, false] {
            let found = answer(to_server, PacketKind::OneRtt, &payload);
            assert_eq!(found, Some((code, Some(frame_type))), "{name} {to_server}");
        }
    }
    // 9000-19.7-4, 9000-19.20-2: two frames that only servers send.
    for (payload, frame_type) in [(vec![0x07, 1, 1], 0x07), (vec![0x1e], 0x1e)] {
        let expected = Some((Code::PROTOCOL_VIOLATION, Some(frame_type)));
        assert_eq!(answer(true, PacketKind::OneRtt, &payload), expected);
        assert_eq!(answer(false, PacketKind::OneRtt, &payload), None);
    }
}

const LEVELS: [PacketKind; 3] = [PacketKind::Initial, PacketKind::Handshake, PacketKind::OneRtt];

/// RFC 9000-10.3-1, 9000-11-1, 9000-12.4-1, 9000-12.4-2, 9000-17.2-7, 9000-17.3.1-3, and section 13.1, in each space.
#[test]
fn errors_at_each_level() {
    for kind in LEVELS {
        for to_server in [true, false] {
            let empty = answer(to_server, kind, &[]);
            let small = kind == PacketKind::Initial && to_server;
            // RFC 9000-14.1-3: such a datagram of a client is too small.
            let expected = (!small).then_some((Code::PROTOCOL_VIOLATION, Some(0)));
            assert_eq!(empty, expected, "no frames, {kind:?}");
            // Largest 10000.
            let unsent = answer(to_server, kind, &[0x02, 0x67, 0x10, 0, 0, 0]);
            assert_eq!(unsent, Some((Code::PROTOCOL_VIOLATION, Some(2))), "{kind:?}");
            // The reserved bits of both forms.
            let bits: [u8; 2] = if kind == PacketKind::OneRtt { [0x08, 0x10] } else { [0x04, 0x08] };
            for bit in bits {
                let mut pair = ready(to_server, kind);
                let mark = pair.mark();
                let mut bytes = pair.forge(to_server, kind, &[0; 1200]);
                bytes[0] |= bit;
                pair.arrive(to_server, bytes);
                assert_eq!(
                    error(&mut pair, to_server, mark),
                    Some((Code::PROTOCOL_VIOLATION, None)),
                    "{kind:?}"
                );
            }
        }
    }
}

/// RFC 9000-7.5-2, in each space; and RFC 9001 section 4.1.3: no new data at a level that TLS has left.
#[test]
fn more_handshake_data_than_permitted() {
    for kind in LEVELS {
        for to_server in [true, false] {
            // The server has received the ClientHello, the client the Finished.
            let left = (kind, to_server) == (PacketKind::Initial, true)
                || (kind, to_server) == (PacketKind::Handshake, false);
            let found = |offset| answer(to_server, kind, &encoded(&Frame::Crypto { offset, data: b"x" }));
            let code = if left { Code::PROTOCOL_VIOLATION } else { Code::CRYPTO_BUFFER_EXCEEDED };
            assert_eq!(found(1 << 20), Some((code, CRYPTO)), "{kind:?} {to_server}");
            let expected = left.then_some((Code::PROTOCOL_VIOLATION, CRYPTO));
            assert_eq!(found(60_000), expected, "{kind:?} {to_server}");
            assert_eq!(found(0), None, "what came already, or the first byte of something");
        }
    }
}

/// RFC 9001 section 4.8: a TLS alert closes with 0x100 and its code. Here: a message at the wrong time, 10.
#[test]
fn handshake_messages_at_the_wrong_time() {
    let finished = [20, 0, 0, 0];
    for (kind, to_server) in [(PacketKind::OneRtt, true), (PacketKind::OneRtt, false)] {
        let payload = encoded(&Frame::Crypto { offset: 0, data: &finished });
        assert_eq!(answer(to_server, kind, &payload), Some((Code::crypto(10), CRYPTO)), "{to_server}");
    }
    for to_server in [true, false] {
        let change = |message: &mut [u8]| message[0] = 20;
        assert_eq!(with_altered_hello(to_server, change), Some((Code::crypto(10), CRYPTO)), "{to_server}");
    }
}

/// RFC 9000-7-2, and RFC 9001 sections 4.8 and 8.1: the endpoint that detects the error closes with the alert, which
/// the other one receives.
#[test]
fn handshakes_that_tls_refuses() {
    use tls::Protection;
    for protection in [Protection::Null, Protection::Tls] {
        let options = tls::Options { protection, ..tls::Options::default() };
        let context = |alpn: &[u8], seed| tls::Context::new(&options, &[alpn], seed).unwrap();
        // The server supports another application protocol: no_application_protocol.
        let mut pair = Pair::new(context(b"one", 7), config(&[]), config(&[]), delay(10));
        pair.restart(context(b"two", 7), config(&[]));
        pair.run_for(ms(25));
        let found = pair.server().close_reason().cloned();
        let Some(CloseReason::Transport(error)) = found else { panic!("{found:?}") };
        assert_eq!((error.code, error.frame_type), (Code::crypto(120), CRYPTO), "{protection:?}");
        let heard = pair.client().close_reason().cloned();
        assert!(matches!(heard, Some(CloseReason::PeerTransport { code, .. }) if code == Code::crypto(120)));
        if protection == Protection::Null {
            assert_eq!(closes(&pair, 0, false), [(PacketKind::Initial, 0x100 + 120, false)]);
        }
        // The client asks for a server of another name: bad_certificate.
        let mut pair = Pair::new(context(b"one", 7), config(&[]), config(&[]), delay(10));
        let elsewhere = crate::pair::opening(config(&[])).to_host("other.example");
        pair.run_for(ms(500));
        pair.hang_up();
        let mark = pair.open(elsewhere);
        pair.run_for(ms(25));
        let found = pair.client().close_reason().cloned();
        let Some(CloseReason::Transport(error)) = found else { panic!("{found:?}") };
        assert_eq!((error.code, error.frame_type), (Code::crypto(42), CRYPTO), "{protection:?}");
        if protection == Protection::Null {
            assert_eq!(closes(&pair, mark, true)[0].1, 0x100 + 42);
        }
    }
}

/// A handshake in which the first message with transport parameters to a victim is altered: ClientHello or
/// EncryptedExtensions. Both start with 4 bytes of type and length; in the model, the parameters follow with their
/// length.
fn with_altered_hello(
    to_server: bool,
    mut change: impl FnMut(&mut [u8]) + 'static,
) -> Option<(Code, Option<u64>)> {
    let mut done = false;
    let link = move |server: bool, _: u64, flying: &mut DatagramInFlight| {
        if server == to_server && !done {
            done = alter(flying, if to_server { 1 } else { 8 }, &mut change);
        }
        vec![ms(10)]
    };
    // Long values, to make room.
    let window = || crate::pair::size(1 << 40);
    let long = [
        ("initial_max_data", window()),
        ("initial_max_stream_data_bidi_local", window()),
        ("initial_max_stream_data_bidi_remote", window()),
        ("initial_max_stream_data_uni", window()),
        ("initial_max_streams_bidi", crate::pair::count(1 << 40)),
        ("initial_max_streams_uni", crate::pair::count(1 << 40)),
        ("max_idle_timeout", crate::pair::span(1 << 31)),
    ];
    let mut pair = Pair::new(null(), config(&long), config(&long), Box::new(link));
    pair.run_until(ms(100), |pair| match to_server {
        true => !pair.accepted.is_empty() && pair.server().is_over(),
        false => pair.client().is_over(),
    });
    pair.drain();
    error(&mut pair, to_server, 0)
}

/// Alters a handshake message of this type at the start of its CRYPTO stream.
fn alter(flying: &mut DatagramInFlight, message: u8, change: &mut impl FnMut(&mut [u8])) -> bool {
    let mut start = 0;
    while start < flying.bytes.len() {
        let rest = &flying.bytes[start..];
        let header = Header::parse_with_any_quic_bit(rest, 8, flying.hole).unwrap();
        let (kind, end) = (header.kind, start + header.end);
        if matches!(kind, PacketKind::Initial | PacketKind::Handshake) {
            let payload = start + header.number_offset + header.number(rest).unwrap().length();
            let mut frames = Frames::new(&flying.bytes[payload..end - TAG], 0);
            while let Some(Ok(frame)) = frames.next() {
                if let Frame::Crypto { offset: 0, data } = frame
                    && data[0] == message
                {
                    let (to, length) = (payload + frames.position(), data.len());
                    change(&mut flying.bytes[to - length..to]);
                    flying.bytes[end - TAG..end].fill(0);
                    return true;
                }
            }
        }
        start = end;
    }
    false
}

/// The encoding of a parameter.
fn parameter(id: u64, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    wire::varint::encode(&mut out, id);
    wire::varint::encode(&mut out, value.len() as u64);
    out.extend_from_slice(value);
    out
}

/// Replaces the named parameters, and keeps the length with an unknown one.
fn replace(message: &mut [u8], without: &[u64], with: &[Vec<u8>]) {
    let length = usize::from(u16::from_be_bytes([message[4], message[5]]));
    let old = message[6..6 + length].to_vec();
    let mut reader = wire::Reader::new(&old);
    let mut new = with.concat();
    // Only the ids: omitted parameters have defaults.
    while !reader.is_empty() {
        let id = reader.varint().unwrap();
        let value = reader.prefixed().unwrap();
        if [0x00, 0x0f].contains(&id) && !without.contains(&id) {
            new.extend(parameter(id, value));
        }
    }
    let left = length.checked_sub(new.len() + 3).expect("room");
    // RFC 9000-7.4.2-1: one of the reserved parameters that must be ignored.
    new.push(27);
    new.extend_from_slice(&(0x4000 | left as u16).to_be_bytes());
    new.resize(length, 0);
    message[6..6 + length].copy_from_slice(&new);
}

/// RFC 9000-18.2-1, 9000-18.2-8 (a client's valid parameters are accepted), 9000-4.6-1, 9000-7.3-1, 9000-7.3-2,
/// 9000-7.3-3, 9000-7.3-4, 9000-7.4-1, 9000-18.2-5, 9000-18.2-7, 9000-18.2-9.
#[test]
fn invalid_transport_parameters() {
    const SOURCE: u64 = 0x0f;
    const ORIGINAL: u64 = 0x00;
    let preferred = |length: u8| {
        let mut value = vec![1; 24];
        value.push(length);
        value.resize(value.len() + usize::from(length) + 16, 7);
        parameter(0x0d, &value)
    };
    let large = 0xc000_0000_0000_0000_u64;
    let integer = |id, n: u64| parameter(id, &(large | n).to_be_bytes());
    type Row = (&'static str, Vec<u64>, Vec<Vec<u8>>, [bool; 2]);
    let both = [true, true];
    // The removed and added parameters, and whether they are an error from clients and from servers.
    let mut table: Vec<Row> = vec![
        ("nothing wrong", vec![], vec![], [false, false]),
        ("one that nobody knows", vec![], vec![parameter(0x3e8, b"what?")], [false, false]),
        ("no initial_source_connection_id", vec![SOURCE], vec![], both),
        ("another initial_source_connection_id", vec![SOURCE], vec![parameter(SOURCE, &[1; 8])], both),
        ("an empty one", vec![SOURCE], vec![parameter(SOURCE, &[])], both),
        ("one of 21 bytes", vec![SOURCE], vec![parameter(SOURCE, &[1; 21])], both),
        ("no original_destination_connection_id", vec![ORIGINAL], vec![], [false, true]),
        ("another, and from a client any", vec![ORIGINAL], vec![parameter(ORIGINAL, &[1; 8])], both),
        ("retry_source_connection_id without a Retry", vec![], vec![parameter(0x10, &[1; 8])], both),
        ("stateless_reset_token of a client", vec![], vec![parameter(0x02, &[1; 16])], [true, false]),
        ("stateless_reset_token of 15 bytes", vec![], vec![parameter(0x02, &[1; 15])], both),
        ("preferred_address of a client", vec![], vec![preferred(8)], [true, false]),
        ("preferred_address without an id", vec![], vec![preferred(0)], both),
        ("preferred_address with an id of 21 bytes", vec![], vec![preferred(21)], both),
        ("preferred_address that is cut off", vec![], vec![parameter(0x0d, &[1; 30])], both),
        ("max_udp_payload_size of 1199", vec![], vec![integer(0x03, 1199)], both),
        ("max_udp_payload_size of 1200", vec![], vec![integer(0x03, 1200)], [false, false]),
        ("ack_delay_exponent of 21", vec![], vec![integer(0x0a, 21)], both),
        ("ack_delay_exponent of 20", vec![], vec![integer(0x0a, 20)], [false, false]),
        ("max_ack_delay of 2^14", vec![], vec![integer(0x0b, 1 << 14)], both),
        ("max_ack_delay of 2^14 - 1", vec![], vec![integer(0x0b, (1 << 14) - 1)], [false, false]),
        ("active_connection_id_limit of 1", vec![], vec![integer(0x0e, 1)], both),
        ("active_connection_id_limit of 2", vec![], vec![integer(0x0e, 2)], [false, false]),
        ("2^60 + 1 streams", vec![], vec![integer(0x08, (1 << 60) + 1)], both),
        ("2^60 + 1 streams, one way", vec![], vec![integer(0x09, (1 << 60) + 1)], both),
        ("2^60 streams", vec![], vec![integer(0x08, 1 << 60), integer(0x09, 1 << 60)], [false, false]),
        ("disable_active_migration with a value", vec![], vec![parameter(0x0c, &[1])], both),
        ("an integer behind which there is more", vec![], vec![parameter(0x04, &[1, 1])], both),
        ("an integer of no byte", vec![], vec![parameter(0x04, &[])], both),
        ("the same twice", vec![], vec![integer(0x04, 7), integer(0x04, 7)], both),
        ("one that nobody knows twice", vec![], vec![parameter(58, &[]), parameter(58, &[])], both),
    ];
    table.push(("a length beyond the end", vec![], vec![vec![0x04, 0x7f, 0xff]], both));
    for (name, without, with, of) in table {
        for (to_server, wrong) in [(true, of[0]), (false, of[1])] {
            let (without, with) = (without.clone(), with.clone());
            let found = with_altered_hello(to_server, move |message| replace(message, &without, &with));
            let expected = match name {
                // RFC 9000-19.15-4: it uses sequence number 1, which the unaware server also gives to another id.
                "preferred_address of a client" if !to_server => Some((Code::PROTOCOL_VIOLATION, Some(0x18))),
                _ => wrong.then_some((Code::TRANSPORT_PARAMETER_ERROR, CRYPTO)),
            };
            assert_eq!(found, expected, "{name}, to the server: {to_server}");
        }
    }
}

/// A CONNECTION_CLOSE on the wire: the type of its packet, the code, and whether it is the application's.
fn closes(pair: &Pair, mark: usize, to_server: bool) -> Vec<(PacketKind, u64, bool)> {
    let mut found = Vec::new();
    for packet in pair.sent_from(mark, to_server) {
        for frame in &packet.frames {
            if let Seen::ConnectionClose { application, code, .. } = frame {
                found.push((packet.kind, *code, *application));
            }
        }
    }
    found
}

/// RFC 9000-10.2.3-1, 9000-10.2.3-2, 9000-10.2.3-3, 9000-12.5-1, 9000-12.5-2: the packets in which a close is sent,
/// from the first packet to the confirmed handshake, and those that reveal the application's code.
#[test]
fn a_close_at_each_stage_of_the_handshake() {
    use PacketKind::{Handshake, Initial, OneRtt};
    let table: [(bool, u64, &[PacketKind]); 6] = [
        // The client has sent its ClientHello.
        (false, 5, &[Initial]),
        // The server has responded; as far as it knows, the client can open any of these packets.
        (true, 15, &[Initial, Handshake, OneRtt]),
        // The client has completed the handshake, but does not know whether the server has 1-RTT keys.
        (false, 25, &[Handshake, OneRtt]),
        // Confirmed: first at the server, then, by HANDSHAKE_DONE, at the client.
        (true, 35, &[OneRtt]),
        (false, 45, &[OneRtt]),
        (true, 500, &[OneRtt]),
    ];
    // The server's flight does not use up the anti-amplification credit.
    let options =
        tls::Options { certificate_chain: units::Size::from_bytes(1500), ..tls::Options::default() };
    let context = crate::pair::context(&options);
    let short = || Pair::new(context.clone(), config(&[]), config(&[]), delay(10));
    for (server, at, kinds) in table {
        let hidden = Code::APPLICATION_ERROR.0;
        let mut pair = short();
        pair.run_for(ms(at));
        pair.cut();
        let (now, mark) = (pair.now, pair.mark());
        let connection = if server { pair.server() } else { pair.client() };
        connection.close(now, 42, "secret");
        pair.drain();
        let told = |kind| if kind == OneRtt { (kind, 42, true) } else { (kind, hidden, false) };
        let expected: Vec<_> = kinds.iter().map(|kind| told(*kind)).collect();
        assert_eq!(closes(&pair, mark, !server), expected, "the application's, server: {server}, {at} ms");

        // A transport error, caused by a packet without frames at the highest level that the victim can open.
        let open = match (server, at) {
            (_, ..20) => Initial,
            (false, ..40) => Handshake,
            _ => OneRtt,
        };
        let mut pair = short();
        pair.run_for(ms(at));
        pair.cut();
        if pair.accepted.is_empty() {
            // Nothing can arrive yet.
            continue;
        }
        let mark = pair.mark();
        // An unknown frame.
        pair.inject_raw(server, open, &[[0x21; 1].as_slice(), &[0; 1199]].concat());
        let code = Code::FRAME_ENCODING_ERROR.0;
        let expected: Vec<_> = kinds.iter().map(|kind| (*kind, code, false)).collect();
        assert_eq!(closes(&pair, mark, !server), expected, "the transport's, server: {server}, {at} ms");
    }
}
