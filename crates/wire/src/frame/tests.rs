//! Tests of the frames: round trips, every malformed case with its code, and the tables.

use super::*;
use crate::PacketKind;
use proptest::prelude::*;

fn stream(value: u64) -> StreamId {
    StreamId::from_value(value)
}

/// One of every frame type, in the order of the types.
fn one_of_each() -> Vec<Vec<u8>> {
    let mut ack_frame = Vec::new();
    assert_eq!(ack(&mut ack_frame, [90..=100, 50..=50, 3..=40], 25, None, 100), 3);
    let mut ecn_frame = Vec::new();
    let counts = EcnCounts { ect0: 7, ect1: 0, ce: 70_000 };
    assert_eq!(ack(&mut ecn_frame, [0..=5], 1_000_000, Some(counts), 100), 1);
    let id = ConnectionId::new(&[5; 20]).unwrap();
    let frames = [
        Frame::Padding { length: 1 },
        Frame::Ping,
        decode(&ack_frame),
        decode(&ecn_frame),
        Frame::ResetStream { id: stream(4), code: 1 << 40, final_size: 70 },
        Frame::StopSending { id: stream(70), code: 0 },
        Frame::Crypto { offset: 17_000, data: b"hello" },
        Frame::NewToken { token: b"t" },
        Frame::Stream { id: stream(0), offset: 0, data: Data::Bytes(b"abc"), fin: false },
        Frame::Stream { id: stream(1 << 61), offset: 9, data: Data::Bytes(b""), fin: true },
        Frame::MaxData { maximum: varint_max() },
        Frame::MaxStreamData { id: stream(3), maximum: 64 },
        Frame::MaxStreams { direction: Direction::Bidirectional, maximum: StreamId::MAX_COUNT },
        Frame::MaxStreams { direction: Direction::Unidirectional, maximum: 0 },
        Frame::DataBlocked { limit: 5 },
        Frame::StreamDataBlocked { id: stream(8), limit: 6 },
        Frame::StreamsBlocked { direction: Direction::Bidirectional, limit: 100 },
        Frame::StreamsBlocked { direction: Direction::Unidirectional, limit: StreamId::MAX_COUNT },
        Frame::NewConnectionId { sequence: 9, retire_prior_to: 9, id, token: [4; 16] },
        Frame::RetireConnectionId { sequence: 3 },
        Frame::PathChallenge { data: *b"12345678" },
        Frame::PathResponse { data: *b"87654321" },
        Frame::ConnectionClose { code: Code::FLOW_CONTROL_ERROR, frame_type: 8, reason: b"too much" },
        Frame::ApplicationClose { code: 77, reason: b"" },
        Frame::HandshakeDone,
        Frame::Datagram { data: Data::Bytes(b"soon"), to_end: false },
        Frame::ImmediateAck,
    ];
    let encoded = |frame: &Frame<'_>| {
        let mut out = Vec::new();
        frame.encode(&mut out);
        out
    };
    frames.iter().map(encoded).collect()
}

fn varint_max() -> u64 {
    crate::varint::MAX
}

/// The only frame of a payload.
fn decode(payload: &[u8]) -> Frame<'_> {
    let mut frames = Frames::new(payload, 0);
    let frame = frames.next().unwrap().unwrap();
    assert_eq!(frames.next(), None);
    frame
}

/// The error of a payload, after the valid frames before it.
fn error(payload: &[u8], virtual_tail: usize) -> FrameError {
    let mut frames = Frames::new(payload, virtual_tail);
    let error = loop {
        if let Err(error) = frames.next().expect("an error before the end") {
            break error;
        }
    };
    assert_eq!(frames.next(), None, "nothing follows an error");
    error
}

/// RFC 9000-19.3-1.
#[test]
fn every_frame_round_trips_and_has_the_announced_size() {
    for bytes in one_of_each() {
        let frame = decode(&bytes);
        let mut again = Vec::new();
        frame.encode(&mut again);
        assert_eq!(again, bytes, "{frame:?}");
        assert_eq!(frame.encoded_size(), bytes.len(), "{frame:?}");
        assert_eq!(frame.frame_type(), u64::from(bytes[0]), "{frame:?}");
        // Truncated anywhere it is a FRAME_ENCODING_ERROR. An empty payload is a packet without frames.
        for cut in 1..bytes.len() {
            let error = error(&bytes[..cut], 0);
            assert_eq!(
                error,
                FrameError { frame_type: frame.frame_type(), problem: FrameProblem::Truncated }
            );
            assert_eq!(error.code(), Code::FRAME_ENCODING_ERROR);
        }
    }
}

#[test]
fn exactly_the_types_of_the_rfc_are_known() {
    let types: std::collections::BTreeSet<u8> = one_of_each().iter().map(|bytes| bytes[0]).collect();
    // STREAM has eight types, of which the encoder writes four; see the test of all eight.
    let expected = (0..=0x1f).filter(|t| ![0x08, 0x09, 0x0b, 0x0c, 0x0d, 0x0e].contains(t)).chain([0x31]);
    assert!(types.iter().copied().eq(expected), "{types:?}");
    for unknown in [0x21, 0x2e, 0x2f, 0x32, 0x3f] {
        let error = error(&[unknown, 0, 0, 0, 0], 0);
        assert_eq!(error, FrameError { frame_type: u64::from(unknown), problem: FrameProblem::UnknownType });
        assert_eq!(error.code(), Code::FRAME_ENCODING_ERROR);
    }
    assert_eq!(error(&[0x40, 0xae], 0), FrameError { frame_type: 0xae, problem: FrameProblem::UnknownType });
}

#[test]
fn many_frames_in_one_packet_come_in_order() {
    let each = one_of_each();
    let payload = each.concat();
    let mut frames = Frames::new(&payload, 0);
    let mut position = 0;
    for bytes in &each {
        assert_eq!(frames.next(), Some(Ok(decode(bytes))));
        position += bytes.len();
        assert_eq!(frames.position(), position);
    }
    assert_eq!(frames.next(), None);
    let padded = [&[0; 9][..], &[1], &[0; 1000]].concat();
    let frames: Vec<_> = Frames::new(&padded, 0).map(Result::unwrap).collect();
    assert_eq!(frames, [Frame::Padding { length: 9 }, Frame::Ping, Frame::Padding { length: 1000 }]);
}

#[test]
fn all_eight_forms_of_stream() {
    for form in 0x08..=0x0fu8 {
        let mut bytes = vec![form, 0x04];
        let offset = if form & 4 != 0 { 300 } else { 0 };
        if form & 4 != 0 {
            bytes.extend([0x41, 0x2c]);
        }
        if form & 2 != 0 {
            bytes.push(2);
        }
        let header = bytes.len();
        bytes.extend([9, 8]);
        let frame = Frame::Stream { id: stream(4), offset, data: Data::Bytes(&[9, 8]), fin: form & 1 != 0 };
        assert_eq!(decode(&bytes), frame);
        let length = (form & 2 != 0).then_some(2);
        let mut written = Vec::new();
        stream_header(&mut written, stream(4), offset, length, form & 1 != 0);
        assert_eq!(written, bytes[..header]);
        assert_eq!(stream_header_size(stream(4), offset, length), header);
        // With a length, others may follow; without one, the rest of the packet is data.
        bytes.push(1);
        let frames: Vec<_> = Frames::new(&bytes, 0).map(Result::unwrap).collect();
        if form & 2 != 0 {
            assert_eq!(frames, [frame, Frame::Ping]);
        } else {
            assert!(matches!(frames[..], [Frame::Stream { data: Data::Bytes(&[9, 8, 1]), .. }]));
        }
    }
    // An empty one without a length, and an explicit offset of 0.
    assert_eq!(
        decode(&[0x09, 4]),
        Frame::Stream { id: stream(4), offset: 0, data: Data::Bytes(&[]), fin: true }
    );
    assert_eq!(
        decode(&[0x0c, 4, 0, 7]),
        Frame::Stream { id: stream(4), offset: 0, data: Data::Bytes(&[7]), fin: false }
    );
}

/// RFC 9000-12.4-4, 9000-19.3.1-1, 9000-19.6-1, 9000-19.7-2, 9000-19.8-2, 9000-19.11-1, 9000-19.14-1,
/// 9000-19.15-1, 9000-19.15-6, 9000-4.6-1.
#[test]
fn malformed_frames_and_their_codes() {
    let max = [0xff; 8];
    let with = |head: &[u8], tail: &[u8]| [head, &max[..], tail].concat();
    let above_2_60 = [0xd0, 0, 0, 0, 0, 0, 0, 1];
    let id = |length: u8, prior: u8| [&[0x18, 5, prior, length][..], &[0; 40]].concat();
    for (payload, frame_type, problem, code) in [
        (vec![], 0, FrameProblem::NoFrames, Code::PROTOCOL_VIOLATION),
        // Types in longer encodings than necessary: PING in 2, 4 and 8 bytes, an unknown type in 4.
        (vec![0x40, 0x01], 1, FrameProblem::LongType, Code::PROTOCOL_VIOLATION),
        (vec![0x80, 0, 0, 0x01], 1, FrameProblem::LongType, Code::PROTOCOL_VIOLATION),
        (vec![0xc0, 0, 0, 0, 0, 0, 0, 0x01], 1, FrameProblem::LongType, Code::PROTOCOL_VIOLATION),
        (vec![0x80, 0, 0, 0xaf], 0xaf, FrameProblem::LongType, Code::PROTOCOL_VIOLATION),
        (vec![0x40], 0, FrameProblem::Truncated, Code::FRAME_ENCODING_ERROR),
        // ACK: first range, gap, second range below 0; a count without ranges; the maximum gap and length.
        (vec![0x02, 5, 0, 0, 6], 2, FrameProblem::AckRange, Code::FRAME_ENCODING_ERROR),
        (vec![0x02, 5, 0, 1, 0, 4, 0], 2, FrameProblem::AckRange, Code::FRAME_ENCODING_ERROR),
        (vec![0x02, 5, 0, 1, 0, 2, 2], 2, FrameProblem::AckRange, Code::FRAME_ENCODING_ERROR),
        (vec![0x03, 5, 0, 3, 0, 0, 0], 3, FrameProblem::Truncated, Code::FRAME_ENCODING_ERROR),
        (with(&[0x02, 5, 0], &[0, 0, 0]), 2, FrameProblem::Truncated, Code::FRAME_ENCODING_ERROR),
        (with(&[0x02, 5, 0, 1, 0], &[0]), 2, FrameProblem::AckRange, Code::FRAME_ENCODING_ERROR),
        // CRYPTO and STREAM past 2^62 - 1.
        (with(&[0x06], &[1, 7]), 6, FrameProblem::BeyondLastOffset, Code::FRAME_ENCODING_ERROR),
        (with(&[0x0e, 0], &[1, 7]), 0x0e, FrameProblem::BeyondLastOffset, Code::FRAME_ENCODING_ERROR),
        (with(&[0x0c, 0], &[7]), 0x0c, FrameProblem::BeyondLastOffset, Code::FRAME_ENCODING_ERROR),
        (with(&[0x0a, 0], &[7]), 0x0a, FrameProblem::Truncated, Code::FRAME_ENCODING_ERROR),
        (vec![0x07, 0], 7, FrameProblem::EmptyToken, Code::FRAME_ENCODING_ERROR),
        // More than 2^60 streams.
        ([&[0x12][..], &above_2_60].concat(), 0x12, FrameProblem::TooManyStreams, Code::FRAME_ENCODING_ERROR),
        ([&[0x13][..], &above_2_60].concat(), 0x13, FrameProblem::TooManyStreams, Code::FRAME_ENCODING_ERROR),
        ([&[0x16][..], &above_2_60].concat(), 0x16, FrameProblem::TooManyStreams, Code::FRAME_ENCODING_ERROR),
        (with(&[0x17], &[]), 0x17, FrameProblem::TooManyStreams, Code::FRAME_ENCODING_ERROR),
        // NEW_CONNECTION_ID: length 0, 21, and a Retire Prior To that is too high.
        (id(0, 0), 0x18, FrameProblem::ConnectionIdLength, Code::FRAME_ENCODING_ERROR),
        (id(21, 0), 0x18, FrameProblem::ConnectionIdLength, Code::FRAME_ENCODING_ERROR),
        (id(8, 6), 0x18, FrameProblem::RetirePriorTo, Code::FRAME_ENCODING_ERROR),
        (with(&[0x1c, 0, 0], &[]), 0x1c, FrameProblem::Truncated, Code::FRAME_ENCODING_ERROR),
        (vec![0x1d, 0, 5, 1], 0x1d, FrameProblem::Truncated, Code::FRAME_ENCODING_ERROR),
    ] {
        let error = error(&payload, 0);
        assert_eq!((error, error.code()), (FrameError { frame_type, problem }, code), "{payload:02x?}");
        assert!(error.to_string().starts_with(error.reason()));
    }
    // The last possible byte.
    assert!(matches!(decode(&with(&[0x0d, 0], &[])), Frame::Stream { data: Data::Bytes(&[]), .. }));
}

#[test]
fn virtual_data_belongs_only_to_the_last_frame() {
    let owned = |fin| Frame::Stream { id: stream(4), offset: 9, data: Data::Virtual { length: 1200 }, fin };
    let mut with_length = vec![0x01];
    stream_header(&mut with_length, stream(4), 9, Some(1200), true);
    let mut to_the_end = vec![0x01];
    stream_header(&mut to_the_end, stream(4), 9, None, false);
    for (payload, fin) in [(&with_length, true), (&to_the_end, false)] {
        let frames: Vec<_> = Frames::new(payload, 1200).map(Result::unwrap).collect();
        assert_eq!(frames, [Frame::Ping, owned(fin)]);
    }
    let mut again = Vec::new();
    owned(true).encode(&mut again);
    assert_eq!(again, with_length[1..]);
    assert_eq!(owned(true).encoded_size(), again.len());

    let virtual_data = |frame_type| FrameError { frame_type, problem: FrameProblem::VirtualData };
    // A length other than that of the tail, and real bytes before the tail.
    assert_eq!(error(&with_length, 1199), virtual_data(0x0f));
    assert_eq!(error(&with_length, 1201), virtual_data(0x0f));
    assert_eq!(error(&[&to_the_end[..], &[5]].concat(), 1200), virtual_data(0x0c));
    // Complete frames, none of which owns the tail.
    assert_eq!(error(&[0x01], 7), virtual_data(0));
    assert_eq!(error(&[], 7), virtual_data(0));
    assert_eq!(error(&[0x0a, 4, 0], 7), virtual_data(0));
    // CRYPTO never owns it.
    assert_eq!(error(&[0x06, 0, 7], 7).problem, FrameProblem::Truncated);
    // The last offset applies to it too.
    let last = [&[0x0c, 0][..], &[0xff; 8]].concat();
    assert_eq!(error(&last, 1).problem, FrameProblem::BeyondLastOffset);
}

/// draft-ietf-quic-ack-frequency section 4.
#[test]
fn ack_frequency_has_a_type_of_two_bytes() {
    let frame =
        Frame::AckFrequency { sequence: 3, threshold: 10, max_ack_delay_us: 25_000, reordering_threshold: 0 };
    let bytes = [0x40, 0xaf, 3, 10, 0x80, 0, 0x61, 0xa8, 0];
    assert_eq!(decode(&bytes), frame);
    let mut out = Vec::new();
    frame.encode(&mut out);
    assert_eq!((&out[..], frame.encoded_size(), frame.frame_type()), (&bytes[..], bytes.len(), 0xaf));
    for cut in 1..bytes.len() {
        assert_eq!(error(&bytes[..cut], 0).problem, FrameProblem::Truncated, "{cut}");
    }
    let long = [&[0x80, 0, 0, 0xaf][..], &bytes[2..]].concat();
    assert_eq!(error(&long, 0).problem, FrameProblem::LongType);
    assert!(frame.is_ack_eliciting() && !frame.is_probing() && frame.name() == "ACK_FREQUENCY");
    assert!(frame.allowed_in(PacketKind::OneRtt) && !frame.allowed_in(PacketKind::ZeroRtt));
}

/// draft-ietf-quic-reliable-stream-reset-09 section 4.
#[test]
fn reset_stream_at_has_a_reliable_size_up_to_the_final_one() {
    let frame =
        Frame::ResetStreamAt { id: StreamId::from_value(4), code: 70, final_size: 16_384, reliable_size: 63 };
    let bytes = [0x24, 4, 0x40, 70, 0x80, 0, 0x40, 0, 63];
    assert_eq!(decode(&bytes), frame);
    let mut out = Vec::new();
    frame.encode(&mut out);
    assert_eq!((&out[..], frame.encoded_size(), frame.frame_type()), (&bytes[..], bytes.len(), 0x24));
    for cut in 1..bytes.len() {
        assert_eq!(error(&bytes[..cut], 0).problem, FrameProblem::Truncated, "{cut}");
    }
    assert_eq!(decode(&[0x24, 4, 7, 9, 9]).name(), "RESET_STREAM_AT");
    assert_eq!(error(&[0x24, 4, 7, 9, 10], 0).problem, FrameProblem::ReliableSize);
    assert!(frame.is_ack_eliciting() && !frame.is_probing() && frame.is_in_flight());
    assert!(frame.allowed_in(PacketKind::OneRtt) && frame.allowed_in(PacketKind::ZeroRtt));
    assert!(!frame.allowed_in(PacketKind::Initial) && !frame.allowed_in(PacketKind::Handshake));
}

/// draft-kuhn-quic-0rtt-bdp-09 section 3.3, in the layout of picoquic: lifetime, capacity, RTT, length and bytes of the address.
#[test]
fn bdp_frame_has_a_type_of_four_bytes() {
    let frame =
        Frame::Bdp { lifetime_us: 9, capacity: 3_750_000, min_rtt_us: 600_000, address: &[10, 0, 0, 1] };
    let bytes = [
        &[0x80, 0, 0xeb, 0xd9, 9][..],
        &[0x80, 0x39, 0x38, 0x70],
        &[0x80, 0x09, 0x27, 0xc0],
        &[4, 10, 0, 0, 1],
    ]
    .concat();
    assert_eq!(decode(&bytes), frame);
    let mut out = Vec::new();
    frame.encode(&mut out);
    assert_eq!((&out, frame.encoded_size(), frame.frame_type()), (&bytes, bytes.len(), 0xebd9));
    for cut in 1..bytes.len() {
        assert_eq!(error(&bytes[..cut], 0).problem, FrameProblem::Truncated, "{cut}");
    }
    let long = [&bytes[..13], &[17], &[7; 17][..]].concat();
    assert_eq!(error(&long, 0).problem, FrameProblem::AddressLength);
    assert!(frame.is_ack_eliciting() && !frame.is_probing() && frame.name() == "BDP_FRAME");
    assert!(frame.allowed_in(PacketKind::OneRtt) && frame.allowed_in(PacketKind::ZeroRtt));
    assert!(!frame.allowed_in(PacketKind::Initial) && !frame.allowed_in(PacketKind::Handshake));
}

#[test]
fn datagrams_with_a_length_and_to_the_end() {
    fn bytes(data: &[u8]) -> Data<'_> {
        Data::Bytes(data)
    }
    assert_eq!(decode(&[0x31, 2, 7, 8]), Frame::Datagram { data: bytes(&[7, 8]), to_end: false });
    assert_eq!(decode(&[0x31, 0]), Frame::Datagram { data: bytes(&[]), to_end: false });
    assert_eq!(decode(&[0x30]), Frame::Datagram { data: bytes(&[]), to_end: true });
    assert_eq!(error(&[0x31, 3, 7, 8], 0).problem, FrameProblem::Truncated);
    for to_end in [false, true] {
        for length in [0, 1, 63, 64, 1200] {
            let content = vec![5; length];
            let frame = Frame::Datagram { data: bytes(&content), to_end };
            let mut out = Vec::new();
            frame.encode(&mut out);
            assert_eq!((decode(&out), frame.encoded_size()), (frame, out.len()));
            assert_eq!(out.len() - length, datagram_header_size((!to_end).then_some(length)));
        }
        let mut out = vec![0x01];
        datagram_header(&mut out, (!to_end).then_some(1200));
        let owned = Frame::Datagram { data: Data::Virtual { length: 1200 }, to_end };
        let frames: Vec<_> = Frames::new(&out, 1200).map(Result::unwrap).collect();
        assert_eq!(frames, [Frame::Ping, owned]);
        assert_eq!(owned.encoded_size(), out.len() - 1);
        out.push(9);
        assert_eq!(error(&out, 1200).problem, FrameProblem::VirtualData);
    }
}

/// RFC 9000 table 3 verbatim, and DATAGRAM of RFC 9221.
const TABLE_3: [(u8, &str, &str, &str); 33] = [
    (0x00, "PADDING", "IH01", "NP"),
    (0x01, "PING", "IH01", ""),
    (0x02, "ACK", "IH_1", "NC"),
    (0x03, "ACK", "IH_1", "NC"),
    (0x04, "RESET_STREAM", "__01", ""),
    (0x05, "STOP_SENDING", "__01", ""),
    (0x06, "CRYPTO", "IH_1", ""),
    (0x07, "NEW_TOKEN", "___1", ""),
    (0x08, "STREAM", "__01", "F"),
    (0x09, "STREAM", "__01", "F"),
    (0x0a, "STREAM", "__01", "F"),
    (0x0b, "STREAM", "__01", "F"),
    (0x0c, "STREAM", "__01", "F"),
    (0x0d, "STREAM", "__01", "F"),
    (0x0e, "STREAM", "__01", "F"),
    (0x0f, "STREAM", "__01", "F"),
    (0x10, "MAX_DATA", "__01", ""),
    (0x11, "MAX_STREAM_DATA", "__01", ""),
    (0x12, "MAX_STREAMS", "__01", ""),
    (0x13, "MAX_STREAMS", "__01", ""),
    (0x14, "DATA_BLOCKED", "__01", ""),
    (0x15, "STREAM_DATA_BLOCKED", "__01", ""),
    (0x16, "STREAMS_BLOCKED", "__01", ""),
    (0x17, "STREAMS_BLOCKED", "__01", ""),
    (0x18, "NEW_CONNECTION_ID", "__01", "P"),
    (0x19, "RETIRE_CONNECTION_ID", "__01", ""),
    (0x1a, "PATH_CHALLENGE", "__01", "P"),
    (0x1b, "PATH_RESPONSE", "___1", "P"),
    (0x1c, "CONNECTION_CLOSE", "IH01", "N"),
    (0x1d, "CONNECTION_CLOSE", "__01", "N"),
    (0x1e, "HANDSHAKE_DONE", "___1", ""),
    (0x31, "DATAGRAM", "__01", ""),
    (0x1f, "IMMEDIATE_ACK", "___1", ""),
];

/// RFC 9000-12.4-3, 9000-12.5-1.
#[test]
fn the_permissions_match_the_table_of_the_rfc() {
    let kinds = [PacketKind::Initial, PacketKind::Handshake, PacketKind::ZeroRtt, PacketKind::OneRtt];
    for bytes in one_of_each() {
        let frame = decode(&bytes);
        let (_, name, packets, special) = *TABLE_3.iter().find(|row| row.0 == bytes[0]).unwrap();
        assert_eq!(frame.name(), name);
        for (kind, letter) in kinds.into_iter().zip(packets.chars()) {
            assert_eq!(frame.allowed_in(kind), letter != '_', "{name} in {kind:?}");
            match frame.check_allowed_in(kind) {
                Ok(same) => assert_eq!(same, frame),
                Err(error) => {
                    assert_eq!(error.problem, FrameProblem::Forbidden);
                    assert_eq!(
                        (error.frame_type, error.code()),
                        (frame.frame_type(), Code::PROTOCOL_VIOLATION)
                    );
                }
            }
        }
        for kind in [PacketKind::Retry, PacketKind::VersionNegotiation, PacketKind::StatelessReset] {
            assert!(!frame.allowed_in(kind));
        }
        assert_eq!(frame.is_ack_eliciting(), !special.contains('N'), "{name}");
        assert_eq!(frame.is_probing(), special.contains('P'), "{name}");
        // RFC 9002 section 2: not those with C, and not CONNECTION_CLOSE, which is not ack-eliciting.
        assert_eq!(frame.is_in_flight(), !special.contains('N') || name == "PADDING", "{name}");
    }
}

#[test]
fn ack_ranges_are_walked_downwards() {
    // Largest 100, delay 3, two more ranges: 96..=100, then a gap of 2, 90..=93, a gap of 1, 88.
    let Frame::Ack(frame) = decode(&[0x02, 0x40, 100, 3, 2, 4, 1, 3, 0, 0]) else { panic!("an ACK frame") };
    assert_eq!((frame.largest(), frame.delay(), frame.range_count(), frame.ecn()), (100, 3, 3, None));
    assert_eq!(frame.ranges().collect::<Vec<_>>(), [96..=100, 90..=93, 88..=88]);
    // The same in longer encodings is equal; with another delay it is not.
    let mut longer =
        vec![0x02, 0x80, 0, 0, 100, 0x40, 3, 0x40, 2, 0x40, 4, 0x40, 1, 0x40, 3, 0x80, 0, 0, 0, 0];
    assert_eq!(decode(&longer), Frame::Ack(frame));
    longer[6] = 4;
    assert_ne!(decode(&longer), Frame::Ack(frame));
    // Down to 0 exactly.
    let Frame::Ack(frame) = decode(&[0x02, 5, 0, 1, 0, 2, 1]) else { panic!("an ACK frame") };
    assert_eq!(frame.ranges().collect::<Vec<_>>(), [5..=5, 0..=1]);
}

#[test]
fn an_ack_frame_respects_its_limit() {
    let ranges = || (0..200u64).rev().map(|i| 10 * i..=10 * i + 3);
    let mut counts = Vec::new();
    for limit in 0..900 {
        let mut out = vec![0xaa];
        let ecn = Some(EcnCounts { ect0: 1, ect1: 2, ce: 3 });
        let written = ack(&mut out, ranges(), 9, ecn, limit);
        assert!(out.len() - 1 <= limit, "{limit}");
        if written == 0 {
            assert_eq!(out, [0xaa]);
            assert!(limit < 9);
        } else {
            let Frame::Ack(frame) = decode(&out[1..]) else { panic!("an ACK frame") };
            assert!(frame.ranges().eq(ranges().take(written)));
            assert_eq!(frame.ecn(), ecn);
            // The next one would not have fitted: a pair is two bytes, and the 64th additional range costs one more.
            assert!(written == 200 || limit - (out.len() - 1) < 3);
        }
        counts.push(written);
    }
    assert!(counts.is_sorted());
    assert_eq!(counts.last(), Some(&200));
    assert!(counts.contains(&64) && counts.contains(&65));
    assert_eq!(ack(&mut Vec::new(), [], 0, None, 100), 0);
    // Adjacent ranges are not a valid list.
    assert_eq!(ack(&mut Vec::new(), [5..=9, 3..=4, 0..=0], 0, None, 100), 1);
}

#[test]
fn the_crypto_header_has_the_announced_size() {
    for (offset, length) in [(0, 0), (63, 64), (70_000, 1200)] {
        let mut out = Vec::new();
        crypto_header(&mut out, offset, length);
        assert_eq!(out.len(), crypto_header_size(offset, length));
        out.resize(out.len() + length, 1);
        assert_eq!(decode(&out), Frame::Crypto { offset, data: &vec![1; length] });
    }
}

/// RFC 9000 section 19.3: "multiplying the value in the field by 2 to the power of the ack_delay_exponent".
#[test]
fn the_delay_of_an_ack_is_scaled() {
    let frames = one_of_each();
    let Frame::Ack(ack) = decode(&frames[2]) else { panic!("{:?}", frames[2]) };
    assert_eq!(ack.scaled_delay(3), units::Duration::from_micros(200));
    assert_eq!(ack.scaled_delay(64), units::Duration::from_micros(u64::MAX), "beyond what a span holds");
}

proptest! {
    #[test]
    fn ack_ranges_round_trip(steps in proptest::collection::vec((0u64..5000, 0u64..5000), 1..150), delay in 0u64..1 << 62) {
        let mut ranges = Vec::new();
        let mut next = 1 << 40;
        for (gap, length) in steps {
            ranges.push(next - length..=next);
            next -= length + gap + 2;
        }
        let mut out = Vec::new();
        prop_assert_eq!(ack(&mut out, ranges.iter().cloned(), delay, None, usize::MAX), ranges.len());
        let Frame::Ack(frame) = decode(&out) else { panic!("an ACK frame") };
        prop_assert!(frame.ranges().eq(ranges.iter().cloned()));
        prop_assert_eq!((frame.delay(), frame.range_count()), (delay, ranges.len() as u64));
        prop_assert_eq!(Frame::Ack(frame).encoded_size(), out.len());
    }
}
