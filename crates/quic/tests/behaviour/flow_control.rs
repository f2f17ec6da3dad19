//! Credit for streams, for the connection, and for the number of streams (RFC 9000 section 4).

use crate::pair::Frame;
use crate::pair::{Link, Pair, config, count, delay, ms, null, size};
use quic::{Data, Event, StreamError};
use random::Generator;
use units::parameter::Value;
use wire::{Direction, StreamId};

/// An established pair whose server has these options.
fn pair(server: &[(&str, Value)]) -> Pair {
    let mut pair = Pair::new(null(), config(&[]), config(server), delay(10));
    pair.establish();
    pair
}

fn received(pair: &mut Pair) -> u64 {
    pair.server().stats().streams.received_bytes
}

/// Reads this many bytes at the server.
fn read(pair: &mut Pair, stream: StreamId, bytes: usize) {
    let mut buffer = vec![0; bytes];
    assert_eq!(pair.server().read(stream, &mut buffer).unwrap().bytes, bytes as u64);
}

/// RFC 9000-2.2-3, 9000-4.1-1, 9000-4.2-1, 9000-19.9-1.
#[test]
fn connection_credit_is_spent_to_the_byte_and_renewed_at_half() {
    let mut pair = pair(&[("initial_max_data", size(10_000))]);
    let mark = pair.mark();
    let stream = pair.upload(50_000);
    pair.run_for(ms(500));
    assert_eq!(received(&mut pair), 10_000);
    let blocked: Vec<Frame> =
        pair.frames_from(mark, true).into_iter().filter(|frame| frame.name().ends_with("BLOCKED")).collect();
    assert_eq!(blocked, [Frame::DataBlocked { limit: 10_000 }]);

    let mark = pair.mark();
    read(&mut pair, stream, 4999);
    pair.run_for(ms(500));
    assert_eq!(pair.mark(), mark, "less than half is used");
    read(&mut pair, stream, 1);
    pair.run_for(ms(500));
    assert!(pair.frames_from(mark, false).contains(&Frame::MaxData { maximum: 15_000 }));
    assert_eq!(received(&mut pair), 15_000);
}

/// RFC 9000-4.1-1, 9000-4.2-1, 9000-19.10-3.
#[test]
fn a_streams_credit_is_spent_to_the_byte_and_renewed_at_half() {
    let mut pair = pair(&[("initial_max_stream_data_uni", size(10_000))]);
    let mark = pair.mark();
    let stream = pair.upload(50_000);
    let other = pair.upload(3_000);
    pair.run_for(ms(500));
    assert_eq!(received(&mut pair), 13_000, "another stream goes on");
    let blocked: Vec<Frame> =
        pair.frames_from(mark, true).into_iter().filter(|frame| frame.name().ends_with("BLOCKED")).collect();
    assert_eq!(blocked, [Frame::StreamDataBlocked { stream: stream.value(), limit: 10_000 }]);

    let mark = pair.mark();
    read(&mut pair, other, 3000);
    read(&mut pair, stream, 4999);
    pair.run_for(ms(500));
    assert_eq!(pair.mark(), mark);
    read(&mut pair, stream, 1);
    pair.run_for(ms(500));
    let update = Frame::MaxStreamData { stream: stream.value(), maximum: 15_000 };
    assert!(pair.frames_from(mark, false).contains(&update));
    assert_eq!(received(&mut pair), 18_000);
}

/// RFC 9000-4.6-2, 9000-19.11-3.
#[test]
fn the_number_of_streams_is_limited_and_renewed_as_they_close() {
    let mut pair = pair(&[("initial_max_streams_uni", count(4))]);
    let mark = pair.mark();
    let now = pair.now;
    let streams: Vec<StreamId> = (0..4).map(|_| pair.upload(100)).collect();
    assert_eq!(pair.client().open(Direction::Unidirectional), Err(StreamError::LimitReached));
    assert_eq!(pair.client().open(Direction::Unidirectional), Err(StreamError::LimitReached));
    streams.iter().for_each(|stream| pair.client().finish(now, *stream).unwrap());
    pair.run_for(ms(500));
    let blocked = Frame::StreamsBlocked { bidirectional: false, limit: 4 };
    assert_eq!(pair.frames_from(mark, true).iter().filter(|frame| **frame == blocked).count(), 1);

    pair.server().discard(streams[0]).unwrap();
    pair.run_for(ms(500));
    assert!(pair.client().open(Direction::Unidirectional).is_err(), "three of four are still open");
    let mark = pair.mark();
    pair.client_events.clear();
    pair.server().discard(streams[1]).unwrap();
    pair.run_for(ms(500));
    assert!(pair.frames_from(mark, false).contains(&Frame::MaxStreams { bidirectional: false, maximum: 6 }));
    assert!(pair.client_events.contains(&Event::StreamsAvailable(Direction::Unidirectional)));
    for _ in 0..2 {
        pair.client().open(Direction::Unidirectional).unwrap();
    }
    assert!(pair.client().open(Direction::Unidirectional).is_err());
    assert!(pair.client().open(Direction::Bidirectional).is_ok(), "the other direction has its own limit");
}

#[test]
fn everything_arrives_through_narrow_windows_and_losses() {
    for seed in 0..20 {
        let windows = [
            ("initial_max_data", size(5_000 + 700 * seed)),
            ("initial_max_stream_data_uni", size(3_000)),
            ("initial_max_streams_uni", count(2)),
        ];
        let mut pair = pair(&windows);
        let mut random = Generator::new(seed, "loss");
        let link: Link = Box::new(move |_, _, _| if random.chance(0.1) { Vec::new() } else { vec![ms(10)] });
        pair.link = link;
        let (mut opened, mut done) = (0, 0);
        let finished = pair.run_until(ms(600_000), |pair| {
            let now = pair.now;
            while opened < 12 {
                let Ok(stream) = pair.client().open(Direction::Unidirectional) else { break };
                pair.client().write(now, stream, Data::Virtual(20_000)).unwrap();
                pair.client().finish(now, stream).unwrap();
                opened += 1;
            }
            for event in std::mem::take(&mut pair.server_events) {
                if let Event::Readable(stream) = event {
                    done += u32::from(pair.server().discard(stream).unwrap().finished);
                }
            }
            done == 12
        });
        assert!(finished, "seed {seed}: {opened} opened, {done} done, {:?}", pair.server().stats());
        assert_eq!(received(&mut pair), 240_000);
    }
}

/// RFC 9000-4.5-1.
#[test]
fn reset_data_gives_its_credit_back() {
    let mut pair = pair(&[("initial_max_data", size(10_000))]);
    let stream = pair.upload(10_000);
    pair.run_for(ms(500));
    pair.client().reset(stream, 1).unwrap();
    pair.run_for(ms(500));
    assert_eq!(pair.server().read(stream, &mut [0; 10]), Err(StreamError::Reset(1)));
    pair.run_for(ms(500));
    pair.upload(10_000);
    pair.run_for(ms(500));
    assert_eq!(received(&mut pair), 20_000);
}

#[test]
fn stopped_data_gives_its_credit_back() {
    let mut pair = pair(&[("initial_max_data", size(10_000))]);
    let stream = pair.upload(50_000);
    pair.run_for(ms(500));
    pair.server().stop(stream, 9).unwrap();
    pair.run_for(ms(500));
    assert!(pair.client_events.contains(&Event::Stopped { stream, code: 9 }));
    pair.upload(10_000);
    pair.run_for(ms(500));
    assert_eq!(received(&mut pair), 20_000);
}
