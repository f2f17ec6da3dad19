//! An attacker on the path: no panic, no livelock, and what was damaged on its way is never delivered.
//!
//! Each case is a seed; a failure prints it. `QUIC_FUZZ_CASES` sets how many there are.

use crate::pair::{Flying, Link, Pair, config, contexts, count, ms, null, size};
use quic::{Data, Event};
use random::Stream;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use trace::PacketKind;
use units::Duration;
use wire::{ConnectionId, Damage, Direction, Ecn, Frame, StreamId};

/// What each side sends on each of its streams.
const LENGTH: u64 = 20_000;
const STREAMS: u64 = 4;
/// No case takes so many steps unless it has come to stand still.
const MOST_STEPS: u32 = 200_000;

fn cases(default: u64) -> u64 {
    std::env::var("QUIC_FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Runs a case for each seed and says which one failed.
fn for_seeds(name: &str, count: u64, case: impl Fn(u64)) {
    for seed in 0..count {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| case(seed))) {
            eprintln!("{name}: seed {seed}");
            resume_unwind(panic);
        }
    }
}

/// A link that loses, repeats, delays, alters and cuts datagrams.
fn attack(seed: u64) -> Link {
    let mut random = Stream::new(seed, "attack");
    let chance: [f64; 5] = std::array::from_fn(|_| random.unit() * random.unit() * 0.3);
    Box::new(move |_, _, flying: &mut Flying| {
        let mut delays = Vec::new();
        if random.chance(chance[0]) {
            return delays;
        }
        let length = flying.length() as u64;
        if random.chance(chance[1]) && !flying.bytes.is_empty() {
            let at = random.below(flying.bytes.len() as u64) as usize;
            flying.bytes[at] ^= 1 << random.below(8);
            let behind = flying.hole.filter(|hole| at >= hole.at as usize).map_or(0, |hole| hole.length);
            let at = at as u32 + behind;
            flying.damage = Some(Damage { first: at, last: at });
        }
        if random.chance(chance[2]) && flying.hole.is_none() && length > 1 {
            flying.bytes.truncate(1 + random.below(length - 1) as usize);
            flying.damage = Some(Damage { first: flying.bytes.len() as u32 - 1, last: u32::MAX });
        }
        let mut delay = || Duration::from_micros(5_000 + random.below(30_000) * random.below(4));
        delays.push(delay());
        if random.chance(chance[3]) {
            delays.push(Duration::from_micros(5_000 + random.below(200_000)));
        }
        delays
    })
}

/// What both ends have still to do.
struct Exchange {
    opened: [bool; 2],
    received: [u64; 2],
    finished: [u64; 2],
    /// How far each stream was read.
    offsets: BTreeMap<(usize, StreamId), u64>,
}

impl Exchange {
    fn new() -> Exchange {
        Exchange { opened: [false; 2], received: [0; 2], finished: [0; 2], offsets: BTreeMap::new() }
    }
    fn is_done(&self) -> bool {
        self.finished == [STREAMS; 2]
    }

    /// Opens streams once connected, and reads; `intact`: what arrives must be right.
    fn attend(&mut self, pair: &mut Pair, intact: bool) {
        let now = pair.now;
        for side in [0, 1] {
            let events =
                std::mem::take(if side == 0 { &mut pair.client_events } else { &mut pair.server_events });
            for event in events {
                let gone = if side == 0 { pair.client_is_gone() } else { pair.server_is_gone() };
                if gone {
                    continue;
                }
                let connection = if side == 0 { pair.client() } else { pair.server() };
                match event {
                    Event::Connected if !self.opened[side] => {
                        self.opened[side] = true;
                        for i in 0..STREAMS {
                            let direction =
                                [Direction::Bidirectional, Direction::Unidirectional][i as usize % 2];
                            let Ok(stream) = connection.open(direction) else { continue };
                            let real = vec![0x5a; LENGTH as usize / 2];
                            let _ = connection.write(now, stream, Data::Virtual(LENGTH / 2));
                            let _ = connection.write(now, stream, Data::Bytes(&real));
                            let _ = connection.finish(now, stream);
                        }
                    }
                    Event::Readable(stream) => {
                        let mut buffer = vec![0; 2 * LENGTH as usize];
                        let Ok(read) = connection.read(stream, &mut buffer) else { continue };
                        self.received[side] += read.bytes;
                        self.finished[side] += u64::from(read.finished);
                        let offset = self.offsets.entry((side, stream)).or_default();
                        for byte in &buffer[..read.bytes as usize] {
                            let expected =
                                if *offset < LENGTH / 2 { wire::pattern::byte(*offset) } else { 0x5a };
                            assert!(!intact || *byte == expected, "{stream:?} at {offset}");
                            *offset += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

/// A pair with narrow windows, so that flow control takes part.
fn pair(seed: u64, context: tls::Context) -> Pair {
    let mut random = Stream::new(seed, "options");
    let mut options = || {
        config(&[
            ("initial_max_data", size(10_000 + random.below(60_000))),
            ("initial_max_stream_data_bidi_remote", size(3_000 + random.below(20_000))),
            ("initial_max_stream_data_uni", size(3_000 + random.below(20_000))),
            ("max_udp_payload", count(1200 + random.below(300))),
            ("ack_ratio", count(1 + random.below(4))),
            ("active_connection_id_limit", count(2 + random.below(8))),
        ])
    };
    let (client, server) = (options(), options());
    let mut pair = Pair::seeded(seed, context, client, server, attack(seed));
    pair.keeps_bytes = false;
    pair
}

/// Steps until all is done or both ends are gone. Gives whether it was done.
fn run(pair: &mut Pair, intact: bool, mut meddle: impl FnMut(&mut Pair)) -> bool {
    let mut exchange = Exchange::new();
    for _ in 0..MOST_STEPS {
        meddle(pair);
        exchange.attend(pair, intact);
        let connected = !pair.accepted.is_empty();
        if exchange.is_done() || pair.client_is_gone() && (!connected || pair.server_is_gone()) {
            if intact && exchange.is_done() {
                assert_eq!(exchange.received, [STREAMS * LENGTH; 2]);
            }
            return exchange.is_done();
        }
        if !pair.step() {
            return exchange.is_done();
        }
    }
    panic!("stands still at {}", pair.now);
}

#[test]
fn damage_loss_and_disorder_leave_data_intact() {
    for (which, context) in contexts().into_iter().enumerate() {
        let finished = std::cell::Cell::new(0);
        let count = cases(if which == 0 { 150 } else { 25 });
        for_seeds("damage", count, |seed| {
            let mut pair = pair(seed, context.clone());
            finished.set(finished.get() + u64::from(run(&mut pair, true, |_| ())));
            // Nothing but silence may have ended it.
            for connection in
                [pair.client.get(pair.handle), pair.accepted.first().and_then(|h| pair.server.get(*h))]
            {
                let reason = connection.and_then(quic::Connection::close_reason);
                assert!(reason.is_none_or(quic::CloseReason::is_clean), "{reason:?}");
            }
        });
        assert!(finished.get() * 10 >= count * 9, "{} of {count} came to their end", finished.get());
    }
}

fn number(random: &mut Stream) -> u64 {
    match random.below(6) {
        0 => random.below(4),
        1 => random.below(64),
        2 => random.below(100_000),
        3 => wire::varint::MAX - random.below(3),
        4 => 1 << random.below(62),
        _ => random.bits() & wire::varint::MAX,
    }
}

/// A frame that decodes, with values of all kinds.
fn frame<'a>(random: &mut Stream, bytes: &'a [u8]) -> Frame<'a> {
    let data = &bytes[..random.below(bytes.len() as u64) as usize];
    let id = StreamId::from_value(if random.chance(0.7) { random.below(24) } else { number(random) });
    let offset = number(random).min(wire::varint::MAX - data.len() as u64);
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
            Frame::NewConnectionId {
                sequence,
                retire_prior_to: sequence.min(random.below(4)),
                id,
                token: [0; 16],
            }
        }
        17 => Frame::RetireConnectionId { sequence: number(random) },
        18 => Frame::PathChallenge { data: [9; 8] },
        19 if random.chance(0.1) => Frame::ApplicationClose { code: number(random), reason: data },
        20 if random.chance(0.1) => Frame::HandshakeDone,
        _ => Frame::Ping,
    }
}

/// The bytes of an ACK frame with ranges that decode.
fn ack(random: &mut Stream, out: &mut Vec<u8>) {
    let mut largest = random.below(300);
    out.push(2);
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
}

#[test]
fn hostile_packets_do_no_more_than_close_the_connection() {
    let bytes = vec![0x5a; 800];
    for_seeds("hostile", cases(400), |seed| {
        let mut pair = pair(seed, null());
        let mut random = Stream::new(seed, "hostile");
        let rate = random.unit() * random.unit() * 0.5;
        run(&mut pair, false, |pair| {
            if pair.wire.is_empty() || pair.accepted.is_empty() || !random.chance(rate) {
                return;
            }
            let to_server = random.chance(0.5);
            let mut payload = Vec::new();
            for _ in 0..1 + random.below(3) {
                if random.chance(0.15) {
                    ack(&mut random, &mut payload);
                } else {
                    frame(&mut random, &bytes).encode(&mut payload);
                }
            }
            let kind = match random.below(8) {
                0 => PacketKind::Initial,
                1 => PacketKind::Handshake,
                _ => PacketKind::OneRtt,
            };
            if random.chance(0.1) && !payload.is_empty() {
                let at = random.below(payload.len() as u64) as usize;
                payload[at] ^= random.bits() as u8;
            }
            if kind != PacketKind::OneRtt && random.chance(0.5) {
                payload.resize(1200, 0);
            }
            pair.inject_raw(to_server, kind, &payload);
        });
        pair.run_for(ms(100_000));
        assert!(
            pair.client_is_gone() && (pair.accepted.is_empty() || pair.server_is_gone()),
            "they end by silence at last"
        );
    });
}

#[test]
fn noise_is_nobodys() {
    for context in contexts() {
        for_seeds("noise", cases(20), |seed| {
            let mut pair = pair(seed, context.clone());
            let mut random = Stream::new(seed, "noise");
            let mut steps = 0;
            run(&mut pair, true, |pair| {
                steps += 1;
                let mut noise = vec![0; random.below(1400) as usize];
                random.fill(&mut noise);
                if random.chance(0.3) && noise.len() > 6 {
                    let first = 0xc0 | noise[0];
                    noise[..6].copy_from_slice(&[first, 0, 0, 0, 1, 8]);
                }
                let to_server = random.chance(0.5);
                let (from, to) = crate::pair::ends(to_server);
                let damage = Some(Damage { first: 0, last: u32::MAX });
                let flying = Flying { bytes: noise, hole: None, damage, ecn: Ecn::NotEct, from, to };
                pair.deliver(to_server, flying);
            });
            assert!(steps > 0 && pair.server.len() <= 1);
        });
    }
}
