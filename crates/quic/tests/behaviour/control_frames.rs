//! Frames that are sent until they are acknowledged and not afterwards (RFC 9000 section 13.3), over links with loss
//! and delay.

use crate::pair::roads::address;
use crate::pair::{Link, Pair, config, count, ms, null, size};
use quic::{Data, Event, Migration};
use random::Generator;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use trace::PacketKind;
use units::Time;
use wire::Direction;

/// Frames that must not be repeated after an acknowledgement.
const ONCE: [&str; 13] = [
    "NEW_CONNECTION_ID",
    "RETIRE_CONNECTION_ID",
    "HANDSHAKE_DONE",
    "ACK_FREQUENCY",
    "NEW_TOKEN",
    "RESET_STREAM",
    "STOP_SENDING",
    "MAX_DATA",
    "MAX_STREAM_DATA",
    "MAX_STREAMS",
    "DATA_BLOCKED",
    "STREAM_DATA_BLOCKED",
    "STREAMS_BLOCKED",
];

/// The arrival time of each datagram by direction and number; missing ones were lost.
type Arrivals = Rc<RefCell<BTreeMap<(bool, u64), Time>>>;

/// A pair with many control frames, over a link that loses every fourth datagram from 100 ms on and delays each at
/// random.
fn talkative(seed: u64) -> (Pair, Arrivals) {
    let options = |more: &[_]| {
        let mut all = vec![
            ("active_connection_id_limit", count(6)),
            ("initial_max_data", size(20_000)),
            ("initial_max_stream_data_bidi_local", size(4_000)),
            ("initial_max_stream_data_bidi_remote", size(4_000)),
            ("initial_max_stream_data_uni", size(4_000)),
            ("initial_max_streams_uni", count(3)),
            ("min_ack_delay", crate::pair::span(1)),
            ("peer_ack_ratio", count(3)),
        ];
        all.extend_from_slice(more);
        config(&all)
    };
    let arrivals = Arrivals::default();
    let (mut random, noted) = (Generator::new(seed, "link"), arrivals.clone());
    let link: Link = Box::new(move |to_server, number, _| {
        let delay = ms(5 + random.below(60));
        match random.chance(0.25) && number > 4 {
            true => Vec::new(),
            false => {
                noted.borrow_mut().insert((to_server, number), Time::ZERO + delay);
                vec![delay]
            }
        }
    });
    let server = options(&[("new_tokens", count(1))]);
    (Pair::seeded(seed, null(), options(&[]), server, link), arrivals)
}

/// Writes, reads, resets and stops streams in both directions.
fn talk(pair: &mut Pair, random: &mut Generator) {
    for round in 0..30 {
        let now = pair.now;
        for server in [false, true] {
            let connection = if server { pair.server() } else { pair.client() };
            while let Ok(stream) = connection.open(Direction::Unidirectional) {
                connection.write(now, stream, Data::Virtual(500 + random.below(9_000))).unwrap();
                match random.below(4) {
                    0 => connection.reset(stream, 3).unwrap(),
                    _ => connection.finish(now, stream).unwrap(),
                }
            }
            let events = if server { &mut pair.server_events } else { &mut pair.client_events };
            for event in std::mem::take(events) {
                let connection = if server { pair.server() } else { pair.client() };
                if let Event::Readable(stream) = event {
                    let _ = if random.chance(0.2) {
                        connection.stop(stream, 4).map(|()| 0)
                    } else {
                        connection.discard(stream).map(|read| read.bytes)
                    };
                }
            }
        }
        if round % 10 == 5 {
            let _ = pair.client().migrate(
                now,
                address(&format!("10.0.0.1:{}", 50_001 + round)),
                Migration::Probe,
            );
        }
        pair.drain();
        pair.run_for(ms(100));
    }
    pair.run_for(ms(5_000));
}

/// Whether a datagram with a short header holds frames.
fn is_packet(bytes: &[u8]) -> bool {
    let header = wire::Header::parse(bytes, 8).unwrap();
    let number = header.number(bytes).unwrap();
    let payload = bytes.get(header.number_offset + number.length()..header.end - 16);
    payload.is_some_and(|payload| wire::Frames::new(payload, 0).all(|frame| frame.is_ok()))
}

/// RFC 9000-13.3-2 and section 13.3: "sending ceases when a packet containing that information is acknowledged"; no
/// packet contains a frame twice.
#[test]
fn acknowledged_frames_are_not_sent_again() {
    let mut seen = BTreeSet::new();
    let mut repeated = 0;
    for seed in 0..20 {
        let (mut pair, arrivals) = talkative(seed);
        let done = pair.run_until(ms(20_000), |pair| {
            pair.client().is_established() && pair.accepted.len() == 1 && pair.server().is_established()
        });
        assert!(done, "{seed}");
        talk(&mut pair, &mut Generator::new(seed, "talk"));
        assert!(
            !pair.client().is_over() && !pair.server().is_over(),
            "{seed}: {:?}",
            pair.client().close_reason()
        );
        // A packet for an id that has just been retired is answered by a stateless reset, which has no frames.
        pair.wire.retain(|seen| seen.bytes[0] & 0x80 != 0 || is_packet(&seen.bytes));
        let packets: Vec<_> =
            pair.packets().into_iter().filter(|packet| packet.kind == PacketKind::OneRtt).collect();
        for to_server in [false, true] {
            // The time at which each packet in this direction was first acknowledged.
            let mut known = BTreeMap::<u64, Time>::new();
            for answer in packets.iter().filter(|packet| packet.to_server != to_server) {
                let arrived = arrivals.borrow().get(&(answer.to_server, answer.datagram)).copied();
                let Some(delay) = arrived else { continue };
                let at = answer.at + delay.since(Time::ZERO);
                for (first, last) in answer.acks().unwrap_or_default() {
                    for number in first..=last {
                        let time = known.entry(number).or_insert(at);
                        *time = at.min(*time);
                    }
                }
            }
            let mut copies = BTreeMap::<String, Vec<u64>>::new();
            for packet in packets.iter().filter(|packet| packet.to_server == to_server) {
                for frame in packet.frames.iter().filter(|frame| ONCE.contains(&frame.name())) {
                    let earlier = copies.entry(format!("{frame:?}")).or_default();
                    assert_ne!(
                        earlier.last(),
                        Some(&packet.number),
                        "{seed}: twice in one packet: {packet:?}"
                    );
                    for number in &*earlier {
                        let heard = known.get(number).is_some_and(|at| *at < packet.at);
                        assert!(!heard, "{seed}: {frame:?} of packet {number} came again in {packet:?}");
                    }
                    repeated += usize::from(!earlier.is_empty());
                    earlier.push(packet.number);
                    seen.insert(frame.name());
                }
            }
        }
    }
    assert_eq!(seen, BTreeSet::from(ONCE), "each kind of frame was sent");
    assert!(repeated > 100, "{repeated}");
}
