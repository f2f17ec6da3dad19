//! An attacker with the keys, or a malicious peer: valid packets with frames of all kinds and values.

use crate::applications::Applications;
use crate::world::{DatagramInFlight, ObservedIds, World, client_address, server_address};
use random::Generator;
use trace::PacketKind;
use units::Duration;
use wire::header::{LongHeader, ShortHeader};
use wire::{Code, ConnectionId, Direction, Ecn, Frame, StreamId, Truncated, Version};

const TAG: usize = 16;
/// The length of a packet number.
const NUMBER_LENGTH: usize = 4;

/// The codes that such frames may cause (RFC 9000 section 20.1). INTERNAL_ERROR is not among them, because the peer
/// is always at fault.
pub(crate) const CODES: [Code; 11] = [
    Code::NO_ERROR,
    Code::FLOW_CONTROL_ERROR,
    Code::STREAM_LIMIT_ERROR,
    Code::STREAM_STATE_ERROR,
    Code::FINAL_SIZE_ERROR,
    Code::FRAME_ENCODING_ERROR,
    Code::CONNECTION_ID_LIMIT_ERROR,
    Code::PROTOCOL_VIOLATION,
    Code::CRYPTO_BUFFER_EXCEEDED,
    Code::KEY_UPDATE_ERROR,
    Code::TRANSPORT_PARAMETER_ERROR,
];

fn number(random: &mut Generator) -> u64 {
    match random.below(6) {
        0 => random.below(4),
        1 => random.below(64),
        2 => random.below(100_000),
        3 => wire::varint::MAX - random.below(3),
        4 => 1 << random.below(62),
        _ => random.bits() & wire::varint::MAX,
    }
}

/// A valid frame with values of all kinds.
fn frame<'a>(random: &mut Generator, bytes: &'a [u8]) -> Frame<'a> {
    let data = &bytes[..random.below(bytes.len() as u64) as usize];
    let id = StreamId::from_value(if random.chance(0.7) { random.below(24) } else { number(random) });
    let offset = match random.below(3) {
        0 => number(random).min(wire::varint::MAX - data.len() as u64),
        _ => random.below(20_000),
    };
    let direction = if random.chance(0.5) { Direction::Bidirectional } else { Direction::Unidirectional };
    match random.below(21) {
        0 => Frame::Padding { length: 1 + random.below(20) as usize },
        1 => Frame::Ping,
        2 => Frame::ResetStream { id, code: number(random), final_size: number(random) },
        3 => Frame::StopSending { id, code: number(random) },
        4 => Frame::Crypto { offset, data },
        5 => Frame::NewToken { token: b"token" },
        6..=9 => Frame::Stream { id, offset, data: wire::Data::Bytes(data), fin: random.chance(0.2) },
        10 => Frame::MaxData { maximum: number(random) },
        11 => Frame::MaxStreamData { id, maximum: number(random) },
        12 => Frame::MaxStreams { direction, maximum: number(random).min(StreamId::MAX_COUNT) },
        13 => Frame::DataBlocked { limit: number(random) },
        14 => Frame::StreamDataBlocked { id, limit: number(random) },
        15 => Frame::StreamsBlocked { direction, limit: number(random).min(StreamId::MAX_COUNT) },
        16 => {
            let sequence = number(random);
            let mut id = [0; 8];
            random.fill(&mut id);
            let id = ConnectionId::new(&id[..1 + random.below(8) as usize]).unwrap();
            let retire_prior_to = sequence.min(random.below(4));
            Frame::NewConnectionId { sequence, retire_prior_to, id, token: [0; 16] }
        }
        17 => Frame::RetireConnectionId { sequence: number(random) },
        18 => Frame::PathChallenge { data: random.bits().to_be_bytes() },
        19 if random.chance(0.1) => Frame::ApplicationClose { code: number(random), reason: data },
        19 => Frame::Bdp {
            lifetime_us: number(random),
            capacity: number(random),
            min_rtt_us: number(random),
            address: bytes.get(..[0, 4, 16][random.below(3) as usize]).unwrap_or_default(),
        },
        20 if random.chance(0.1) => Frame::HandshakeDone,
        20 if random.chance(0.1) => Frame::PathResponse { data: random.bits().to_be_bytes() },
        _ => Frame::Ping,
    }
}

/// The bytes of an ACK frame with valid ranges.
fn ack(random: &mut Generator, out: &mut Vec<u8>) {
    let mut largest = random.below(300);
    out.push(if random.chance(0.8) { 2 } else { 3 });
    wire::varint::encode(out, largest);
    wire::varint::encode(out, number(random));
    let at = out.len();
    out.push(0);
    let first = random.below(largest + 1);
    wire::varint::encode(out, first);
    largest -= first;
    for _ in 0..random.below(30) {
        let (gap, length) = (random.below(3), random.below(4));
        let Some(rest) = largest.checked_sub(gap + 2 + length) else { break };
        wire::varint::encode(out, gap);
        wire::varint::encode(out, length);
        out[at] += 1;
        largest = rest;
    }
    if out.len() > at && out[at - 1] != 2 {
        for _ in 0..3 {
            wire::varint::encode(out, random.below(400));
        }
    }
}

/// A packet that can be opened: with null protection by a tag of zeros, with TLS by the secrets of the wiretap.
/// Without a secret for this number of key updates, the tag is wrong.
fn packet<A>(
    random: &mut Generator,
    world: &World<A>,
    known: &ObservedIds,
    kind: PacketKind,
    payload: &[u8],
) -> Vec<u8> {
    let number = match random.below(3) {
        0 => random.below(200),
        1 => random.below(100_000),
        _ => 1_000_000 + random.below(1_000_000),
    };
    let (full, number) = (number, Truncated::with_length(number, NUMBER_LENGTH));
    let (destination, source) = (known.destination, known.source);
    // Most connections update their keys rarely or never.
    let updates = match &world.wiretap {
        Some(_) if random.chance(0.3) => random.below(4) as u32,
        _ => 0,
    };
    let mut bytes = Vec::new();
    let payload_offset;
    if kind == PacketKind::OneRtt {
        let key_phase = random.chance(0.05) != (updates % 2 == 1);
        ShortHeader { destination, spin: random.chance(0.5), key_phase, number }.write(&mut bytes);
        payload_offset = bytes.len();
        bytes.extend_from_slice(payload);
        bytes.resize(bytes.len() + TAG, 0);
    } else {
        let version = if random.chance(0.9) { known.version } else { Version::V2 };
        let header = LongHeader { kind, version, destination, source, token: &[], number };
        let written = header.write(&mut bytes);
        payload_offset = bytes.len();
        bytes.extend_from_slice(payload);
        bytes.resize(bytes.len() + TAG, 0);
        let behind = bytes.len() - payload_offset;
        written.set_length(&mut bytes, behind);
    }
    if let Some(sealer) = world.wiretap.as_ref().and_then(|tap| tap.sealer(known, kind, updates)) {
        sealer.seal(full, &mut bytes, payload_offset - NUMBER_LENGTH, payload_offset);
    }
    bytes
}

/// Sends one such packet to one of the ends.
pub(crate) fn act<A: Applications>(random: &mut Generator, world: &mut World<A>, filler: &[u8]) {
    let count = world.overheard.len() as u64;
    if count == 0 {
        return;
    }
    let known = world.overheard[random.below(count) as usize];
    let mut payload = Vec::new();
    for _ in 0..1 + random.below(3) {
        if random.chance(0.15) {
            ack(random, &mut payload);
        } else {
            frame(random, filler).encode(&mut payload);
        }
    }
    let kind = match random.below(10) {
        0 => PacketKind::Initial,
        1 => PacketKind::Handshake,
        2 => PacketKind::ZeroRtt,
        _ => PacketKind::OneRtt,
    };
    if random.chance(0.1) && !payload.is_empty() {
        let at = random.below(payload.len() as u64) as usize;
        payload[at] ^= random.bits() as u8;
    }
    if kind != PacketKind::OneRtt && random.chance(0.5) {
        payload.resize(payload.len().max(1200), 0);
    }
    send(random, world, &known, kind, &payload);
}

/// Sends a packet with this payload on behalf of one of the ends.
pub(crate) fn send<A: Applications>(
    random: &mut Generator,
    world: &mut World<A>,
    known: &ObservedIds,
    kind: PacketKind,
    payload: &[u8],
) {
    let bytes = packet(random, world, known, kind, payload);
    let (from, to) = match known.to_server {
        true => (world.clients[known.client].outside, server_address()),
        false => (server_address(), client_address(known.client)),
    };
    let delay = Duration::from_micros(random.below(20_000));
    let client = known.to_server.then_some((known.client, true));
    world.launch(
        delay,
        DatagramInFlight { from, to, bytes, hole: None, damage: None, ecn: Ecn::NotEct, client },
    );
}
