//! The fuzzing entry points on a stable toolchain, for a bounded time: on arbitrary bytes, and on altered valid inputs,
//! which reach deeper.

use proptest::collection::vec;
use proptest::prelude::*;
use std::net::SocketAddr;
use wire::header::{LongHeader, ShortHeader, retry, version_negotiation};
use wire::ip::Packet;
use wire::tcp::{Cookie, Flags, Header, Options, SackBlocks, Timestamps};
use wire::{
    ConnectionId, Ecn, Frame, Frames, PacketKind, PreferredAddress, StreamId, TransportParameters, Truncated,
    Version,
};

/// One change to an input. Positions are taken modulo its length.
#[derive(Debug, Clone)]
enum Change {
    Set(usize, u8),
    Flip(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Cut(usize),
    Repeat(usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0usize..4096;
    // Significant bytes: the limits of the varint lengths, and zero.
    let byte = prop_oneof![
        any::<u8>(),
        proptest::sample::select(vec![0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff])
    ];
    prop_oneof![
        (at.clone(), byte.clone()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at.clone(), 0u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        (at.clone(), vec(byte, 1..9)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at.clone(), 1usize..40).prop_map(|(at, length)| Change::Remove(at, length)),
        at.clone().prop_map(Change::Cut),
        (at, 1usize..40).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

fn altered(mut bytes: Vec<u8>, changes: Vec<Change>) -> Vec<u8> {
    for change in changes {
        let length = bytes.len();
        if length == 0 {
            break;
        }
        match change {
            Change::Set(at, byte) => bytes[at % length] = byte,
            Change::Flip(at, bit) => bytes[at % length] ^= 1 << bit,
            Change::Insert(at, inserted) => drop(bytes.splice(at % length..at % length, inserted)),
            Change::Remove(at, count) => drop(bytes.drain(at % length..(at % length + count).min(length))),
            Change::Cut(at) => bytes.truncate(at % length),
            Change::Repeat(at, count) => {
                let piece = bytes[at % length..(at % length + count).min(length)].to_vec();
                bytes.extend(piece);
            }
        }
    }
    bytes
}

/// A datagram of one to three packets, after the five bytes expected by the entry point.
fn datagram() -> impl Strategy<Value = Vec<u8>> {
    let id = || vec(any::<u8>(), 0..=20).prop_map(|bytes| ConnectionId::new(&bytes).unwrap());
    let number = (any::<u64>(), 1usize..=4).prop_map(|(full, length)| Truncated::with_length(full, length));
    let packet = (0u8..6, id(), id(), vec(any::<u8>(), 0..80), number, vec(any::<u8>(), 0..200));
    let hole = prop_oneof![
        Just([0; 4]),
        (0u8..2, any::<u8>(), 0u8..6, any::<u8>()).prop_map(|(a, b, c, d)| [a, b, c, d])
    ];
    // A packet that fills its datagram is the last one.
    (0u8..21, hole, vec(packet, 1..4)).prop_map(|(id_length, hole, packets)| {
        let mut out = vec![id_length];
        out.extend(hole);
        for (form, destination, source, token, number, payload) in packets {
            let kind = match form {
                0 => PacketKind::Initial,
                1 => PacketKind::ZeroRtt,
                2 => PacketKind::Handshake,
                3 => {
                    let token = [&token[..], b"t"].concat();
                    retry(&mut out, Version::V1, destination, source, &token);
                    out.extend([7; 16]);
                    break;
                }
                4 => {
                    let versions = [Version::V1, Version::V2];
                    version_negotiation(&mut out, 5, destination.as_bytes(), source.as_bytes(), &versions);
                    break;
                }
                _ => {
                    let spin = payload.len() % 2 == 0;
                    let destination = ConnectionId::new(&[9; 20][..usize::from(id_length)]).unwrap();
                    ShortHeader { destination, spin, key_phase: !spin, number }.write(&mut out);
                    out.extend(payload);
                    break;
                }
            };
            let header =
                LongHeader { kind, version: Version::V1, destination, source, token: &token, number };
            let written = header.write(&mut out);
            out.extend(&payload);
            written.set_length(&mut out, payload.len());
        }
        out
    })
}

/// The bytes of a valid frame of any type, with fields of any length.
fn frame() -> impl Strategy<Value = Vec<u8>> {
    let integer = || (any::<u64>(), 2u32..64).prop_map(|(bits, shift)| bits >> shift);
    let kind = prop_oneof![32 => 0u8..=0x1f, 2 => 0x30u8..=0x31, 1 => Just(0xaf)];
    (kind, vec(integer(), 12), vec(any::<u8>(), 1..60)).prop_map(|(kind, values, bytes)| {
        let mut out = vec![kind];
        let put = |out: &mut Vec<u8>, count: usize| {
            values[..count].iter().for_each(|value| wire::varint::encode(out, *value));
        };
        let put_bytes = |out: &mut Vec<u8>| {
            out.push(bytes.len() as u8);
            out.extend(&bytes);
        };
        match kind {
            0x02 | 0x03 => {
                let ranges =
                    (0..1 + values[0] % 99).rev().map(|i| i * 1000 + values[1] % 500..=i * 1000 + 500);
                let ecn = (kind == 3).then_some(wire::EcnCounts {
                    ect0: values[2],
                    ect1: values[3],
                    ce: values[4],
                });
                out.clear();
                wire::frame::ack(&mut out, ranges, values[5], ecn, 1000);
            }
            0x04 => put(&mut out, 3),
            0x05 | 0x11 | 0x15 => put(&mut out, 2),
            0x10 | 0x14 | 0x19 => put(&mut out, 1),
            0x06 => {
                put(&mut out, 1);
                put_bytes(&mut out);
            }
            0x07 => put_bytes(&mut out),
            0x08..=0x0f => {
                put(&mut out, 1 + usize::from(kind & 4 != 0));
                if kind & 2 != 0 {
                    put_bytes(&mut out);
                }
            }
            0x12 | 0x13 | 0x16 | 0x17 => {
                wire::varint::encode(&mut out, values[0] % (StreamId::MAX_COUNT + 1))
            }
            0x18 => {
                wire::varint::encode(&mut out, values[0]);
                wire::varint::encode(&mut out, values[1] % (values[0] + 1));
                let length = 1 + bytes.len() % 20;
                out.push(length as u8);
                out.extend(&[3; 36][..length + 16]);
            }
            0x1a | 0x1b => out.extend([kind; 8]),
            // ACK_FREQUENCY (draft-ietf-quic-ack-frequency), the only type of two bytes.
            0xaf => {
                out.clear();
                wire::varint::encode(&mut out, 0xaf);
                put(&mut out, 4);
            }
            0x30 => out.extend(&bytes),
            0x31 => put_bytes(&mut out),
            0x1c | 0x1d => {
                put(&mut out, if kind == 0x1c { 2 } else { 1 });
                put_bytes(&mut out);
            }
            _ => {}
        }
        out
    })
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    let tail = prop_oneof![3 => Just(0), 1 => 1u16..2000];
    (tail, vec(frame(), 1..8), any::<bool>()).prop_map(|(tail, frames, with_length)| {
        let mut out = tail.to_be_bytes().to_vec();
        out.extend(frames.concat());
        if tail > 0 {
            let length = with_length.then_some(usize::from(tail));
            if tail.is_multiple_of(3) {
                wire::frame::datagram_header(&mut out, length);
            } else {
                let id = StreamId::from_value(8);
                wire::frame::stream_header(&mut out, id, u64::from(tail) * 77, length, true);
            }
        }
        out
    })
}

fn parameters() -> impl Strategy<Value = Vec<u8>> {
    (any::<bool>(), vec((any::<u64>(), 2u32..64), 11), vec(any::<u8>(), 20)).prop_map(
        |(server, bits, bytes)| {
            let values: Vec<u64> = bits.into_iter().map(|(bits, shift)| bits >> shift).collect();
            let id = ConnectionId::new(&bytes[..1 + values[0] as usize % 20]);
            let mut parameters = TransportParameters {
                max_idle_timeout_ms: values[0],
                max_udp_payload_size: values[1].max(1200),
                initial_max_data: values[2],
                initial_max_stream_data_bidi_local: values[3],
                initial_max_stream_data_bidi_remote: values[4],
                initial_max_stream_data_uni: values[5],
                initial_max_streams_bidi: values[6] % (StreamId::MAX_COUNT + 1),
                initial_max_streams_uni: values[7] % (StreamId::MAX_COUNT + 1),
                ack_delay_exponent: values[8] % 21,
                max_ack_delay_ms: values[9] % (1 << 14),
                disable_active_migration: values[0].is_multiple_of(2),
                active_connection_id_limit: values[10].max(2),
                initial_source_connection_id: id,
                ..TransportParameters::default()
            };
            if server {
                let token = [bytes[0]; 16];
                parameters.original_destination_connection_id = id;
                parameters.retry_source_connection_id = id;
                parameters.stateless_reset_token = Some(token);
                parameters.preferred_address = id.map(|id| PreferredAddress {
                    ipv4: (!values[0].is_multiple_of(3)).then(|| "192.0.2.1:443".parse().unwrap()),
                    ipv6: (values[0] % 3 < 2).then(|| "[2001:db8::1]:443".parse().unwrap()),
                    id,
                    token,
                });
            }
            let mut out = vec![u8::from(server)];
            parameters.encode(&mut out, Some((31 * (values[0] >> 6) + 27 + 310_000_000, &bytes)));
            out
        },
    )
}

fn ip() -> impl Strategy<Value = Vec<u8>> {
    let port = any::<u16>();
    (any::<bool>(), port, any::<u8>(), vec(any::<u8>(), 0..100)).prop_map(|(v6, port, bits, payload)| {
        let [source, destination]: [SocketAddr; 2] = match v6 {
            true => {
                [([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1], port).into(), ([0, 0, 0, 0, 0, 0, 0, 1], 443).into()]
            }
            false => [([192, 0, 2, 1], port).into(), ([198, 51, 100, 7], 443).into()],
        };
        let ecn = Ecn::from_bits(bits);
        let packet = Packet { source, destination, ecn, dscp: bits >> 2, hop_limit: 64, payload: &payload };
        let mut out = Vec::new();
        packet.encode(&mut out).unwrap();
        out
    })
}

fn segment() -> impl Strategy<Value = Vec<u8>> {
    let timestamps = (any::<u32>(), any::<u32>()).prop_map(|(value, echo)| Timestamps { value, echo });
    let options = (
        proptest::option::of(any::<u16>()),
        proptest::option::of(0u8..15),
        any::<bool>(),
        proptest::option::of(timestamps),
        vec((any::<u32>(), any::<u32>()), 0..4),
        proptest::option::of(vec(any::<u8>(), 2..4)),
    );
    (any::<[u32; 4]>(), options, vec(any::<u8>(), 0..40)).prop_map(|(words, options, payload)| {
        let (mss, window_scale, sack_permitted, timestamps, blocks, cookie) = options;
        let mut sack = SackBlocks::default();
        blocks.iter().for_each(|(left, right)| sack.push(*left, *right));
        let fast_open = cookie.and_then(|half| Cookie::new(&[half.clone(), half].concat()));
        let header = Header {
            source: words[0] as u16,
            destination: (words[0] >> 16) as u16,
            sequence: words[1],
            acknowledgement: words[2],
            flags: Flags(words[3] as u16 & 0x1ff),
            window: (words[3] >> 16) as u16,
            urgent: 0,
            options: Options { mss, window_scale, sack_permitted, timestamps, sack, fast_open },
        };
        let mut out = Vec::new();
        header.encode(&mut out);
        out.extend_from_slice(&payload);
        out
    })
}

/// Prints a failing input, smallest first; writes no files beside the sources.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn arbitrary_bytes(data in vec(any::<u8>(), 0..300)) {
        wire::fuzz::header(&data);
        wire::fuzz::frames(&data);
        wire::fuzz::parameters(&data);
        wire::fuzz::ip(&data);
        wire::fuzz::tcp(&data);
    }

    #[test]
    fn small_bytes(data in vec(0u8..32, 0..60)) {
        // Small values are more often valid types and lengths.
        wire::fuzz::frames(&[&[0, 0], &data[..]].concat());
        wire::fuzz::frames(&data);
        wire::fuzz::parameters(&data);
    }

    #[test]
    fn altered_datagrams(bytes in datagram(), changes in vec(change(), 0..4)) {
        wire::fuzz::header(&altered(bytes, changes));
    }

    #[test]
    fn altered_payloads(bytes in payload(), changes in vec(change(), 0..4)) {
        wire::fuzz::frames(&altered(bytes, changes));
    }

    #[test]
    fn altered_parameters(bytes in parameters(), changes in vec(change(), 0..4)) {
        wire::fuzz::parameters(&altered(bytes, changes));
    }

    #[test]
    fn altered_ip_packets(bytes in ip(), changes in vec(change(), 0..3)) {
        wire::fuzz::ip(&altered(bytes, changes));
    }

    #[test]
    fn altered_segments(bytes in segment(), changes in vec(change(), 0..4)) {
        wire::fuzz::tcp(&altered(bytes, changes));
    }

    #[test]
    fn the_inputs_are_valid_before_they_are_altered(
        payload in payload(), datagram in datagram(), parameters in parameters(), ip in ip()
    ) {
        let tail = usize::from(u16::from_be_bytes([payload[0], payload[1]]));
        // A STREAM frame without a length contains what follows, and is then not the last one with a tail.
        let frames: Result<Vec<Frame<'_>>, _> = Frames::new(&payload[2..], tail).collect();
        if let Err(error) = frames {
            prop_assert!(tail > 0 || matches!(error.problem, wire::FrameProblem::BeyondLastOffset), "{error}");
        }
        // Not every hole fits; the packets do.
        let mut rest = &datagram[5..];
        while !rest.is_empty() {
            rest = &rest[wire::Header::parse(rest, usize::from(datagram[0])).unwrap().end..];
        }
        let side = if parameters[0] == 0 { wire::Side::Client } else { wire::Side::Server };
        prop_assert!(TransportParameters::decode(&parameters[1..], side).is_ok());
        prop_assert!(Packet::decode(&ip).is_ok());
    }
}
