//! Streams of real and virtual bytes: STREAM frames across the border of both, in every situation.

use crate::pair::Frame;
use crate::pair::{Link, Pair, config, contexts, count, delay, losing, ms, null, size};
use quic::{Data, Event};
use random::Generator;
use tls::Context;
use wire::{Direction, StreamId};

/// The parts of a stream: a number of bytes, real or virtual.
type Parts<'a> = &'a [(bool, u64)];

/// The bytes of a stream of these parts. Real bytes differ from virtual ones at every offset.
fn bytes(parts: Parts<'_>) -> Vec<u8> {
    let kinds = parts.iter().flat_map(|(real, length)| (0..*length).map(|_| *real));
    (0..).zip(kinds).map(|(at, real)| wire::pattern::byte(at) ^ if real { 0xff } else { 0 }).collect()
}

/// Writes a stream of these parts at the client and finishes it.
fn write(pair: &mut Pair, parts: Parts<'_>) -> StreamId {
    let (now, all) = (pair.now, bytes(parts));
    let stream = pair.client().open(Direction::Unidirectional).unwrap();
    let mut at = 0;
    for (real, length) in parts {
        let end = at + *length as usize;
        let data = if *real { Data::Bytes(&all[at..end]) } else { Data::Virtual(*length) };
        assert_eq!(pair.client().write(now, stream, data), Ok(*length));
        at = end;
    }
    pair.client().finish(now, stream).unwrap();
    stream
}

/// The data that the server reads from a stream, and whether it is complete.
fn read(pair: &mut Pair, stream: StreamId) -> (Vec<u8>, bool) {
    let (mut all, mut buffer) = (Vec::new(), [0; 333]);
    loop {
        let read = pair.server().read(stream, &mut buffer).unwrap();
        all.extend_from_slice(&buffer[..read.bytes as usize]);
        if read.finished || read.bytes == 0 {
            return (all, read.finished);
        }
    }
}

/// The STREAM frames that the client sent since `mark`: (stream, offset, length, FIN).
fn frames(pair: &Pair, mark: usize) -> Vec<(u64, u64, u64, bool)> {
    let shape = |frame| match frame {
        Frame::Stream { stream, offset, length, fin } => Some((stream, offset, length, fin)),
        _ => None,
    };
    pair.frames_from(mark, true).into_iter().filter_map(shape).collect()
}

fn established(context: Context) -> Pair {
    let mut pair = Pair::new(context, config(&[]), config(&[]), delay(10));
    pair.establish();
    pair
}

const MESSAGE: Parts<'static> = &[(true, 16), (false, 500), (true, 10), (false, 1)];

#[test]
fn one_frame_carries_both_kinds_and_the_end() {
    let mut pair = established(null());
    let mark = pair.mark();
    let stream = write(&mut pair, MESSAGE);
    pair.run_for(ms(100));
    assert_eq!(frames(&pair, mark), [(stream.value(), 0, 527, true)]);
    assert_eq!(read(&mut pair, stream), (bytes(MESSAGE), true));
    assert!(pair.client_events.contains(&Event::Delivered(stream)));
}

/// The same datagrams with the same sizes and times, and the same bytes in the end.
#[test]
fn both_protections_send_the_same() {
    let sent = contexts().map(|context| {
        let mut pair = established(context);
        let mark = pair.mark();
        let parts = [(true, 16), (false, 3_000), (true, 1_000), (false, 20), (true, 1), (false, 5_000)];
        let streams = [write(&mut pair, &parts), write(&mut pair, MESSAGE)];
        pair.run_for(ms(500));
        assert_eq!(read(&mut pair, streams[0]), (bytes(&parts), true));
        assert_eq!(read(&mut pair, streams[1]), (bytes(MESSAGE), true));
        pair.wire[mark..].iter().map(|seen| (seen.at, seen.to_server, seen.length)).collect::<Vec<_>>()
    });
    assert!(sent[0].len() >= 7);
    assert_eq!(sent[0], sent[1]);
}

#[test]
fn a_header_and_its_body_take_one_turn() {
    let mut pair = established(null());
    let mark = pair.mark();
    let streams: Vec<StreamId> = (0..3).map(|_| write(&mut pair, &[(true, 16), (false, 200)])).collect();
    pair.run_for(ms(100));
    let whole: Vec<_> = streams.iter().map(|stream| (stream.value(), 0, 216, true)).collect();
    assert_eq!(frames(&pair, mark), whole);
    assert_eq!(pair.sent_from(mark, true).iter().filter(|packet| packet.has("STREAM")).count(), 1);
}

/// RFC 9000-2.2-2: the same bytes at the same offsets, whatever happened to the first packet.
#[test]
fn a_lost_frame_across_the_border_is_sent_again_as_it_was() {
    for (null, context) in [true, false].into_iter().zip(contexts()) {
        let mut pair = established(context);
        let next = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
        pair.link = losing(10, move |to_server, number| to_server && number == next);
        let mark = pair.mark();
        let stream = write(&mut pair, MESSAGE);
        pair.run_for(ms(1000));
        assert_eq!(read(&mut pair, stream), (bytes(MESSAGE), true));
        assert!(pair.client_events.contains(&Event::Delivered(stream)));
        if null {
            let again = frames(&pair, mark);
            assert!(again.len() > 1 && again.iter().all(|frame| *frame == (stream.value(), 0, 527, true)));
        }
    }
}

/// RFC 9000-4.1-1: credit that ends before the border, on it and after it.
#[test]
fn credit_cuts_frames_anywhere_around_the_border() {
    for limit in ["initial_max_data", "initial_max_stream_data_uni"] {
        for credit in [15, 16, 17, 515, 516, 517] {
            let mut pair = Pair::new(null(), config(&[]), config(&[(limit, size(credit))]), delay(10));
            pair.establish();
            let mark = pair.mark();
            let stream = write(&mut pair, MESSAGE);
            pair.run_for(ms(300));
            assert_eq!(frames(&pair, mark)[0], (stream.value(), 0, credit, false), "{limit} {credit}");
            let (mut all, mut end) = (Vec::new(), false);
            for _ in 0..100 {
                let (more, finished) = read(&mut pair, stream);
                all.extend(more);
                end |= finished;
                if end {
                    break;
                }
                pair.run_for(ms(300));
            }
            assert!(end && all == bytes(MESSAGE), "{limit} {credit}");
        }
    }
}

/// Random parts through narrow windows and losses: the bytes read are those written.
#[test]
fn all_written_data_arrives() {
    for seed in 0..12 {
        let mut random = Generator::new(seed, "parts");
        let windows = [("initial_max_data", size(4_000)), ("initial_max_stream_data_uni", size(2_500))];
        let mut pair = Pair::new(
            contexts()[usize::from(seed % 4 == 0)].clone(),
            config(&[("send_buffer", size(1 << 20))]),
            config(&[&windows[..], &[("initial_max_streams_uni", count(3))]].concat()),
            delay(10),
        );
        pair.establish();
        let mut loss = Generator::new(seed, "loss");
        let link: Link = Box::new(move |_, _, _| match (loss.chance(0.1), loss.chance(0.1)) {
            (true, _) => Vec::new(),
            (false, late) => vec![ms(if late { 18 } else { 10 })],
        });
        pair.link = link;
        let mut streams = Vec::new();
        for _ in 0..3 {
            let length = |real| if real { 40 } else { 4_000 };
            let part = |_| {
                let real = random.chance(0.5);
                (real, 1 + random.below(length(real)))
            };
            let parts: Vec<(bool, u64)> = (0..12).map(part).collect();
            streams.push((write(&mut pair, &parts), bytes(&parts), Vec::new(), false));
        }
        let finished = pair.run_until(ms(600_000), |pair| {
            for event in std::mem::take(&mut pair.server_events) {
                let Event::Readable(stream) = event else { continue };
                let known = streams.iter_mut().find(|(id, ..)| *id == stream).unwrap();
                let (more, end) = read(pair, stream);
                known.2.extend(more);
                known.3 = end;
            }
            streams.iter().all(|(.., end)| *end)
        });
        assert!(finished, "seed {seed}");
        assert!(streams.iter().all(|(_, written, read, _)| written == read), "seed {seed}");
    }
}
