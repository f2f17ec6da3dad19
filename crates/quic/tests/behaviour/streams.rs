//! Streams: four kinds, ends, resets and stops in each state (RFC 9000 sections 2 and 3).

use crate::pair::Frame;
use crate::pair::{Link, Pair, config, contexts, count, delay, losing, ms, null};
use quic::{Connection, Data, Event, StreamError};
use random::Generator;
use wire::{Direction, StreamId};

/// Reads all available data.
fn read_all(connection: &mut Connection, stream: StreamId) -> (Vec<u8>, bool) {
    let (mut all, mut buffer) = (Vec::new(), [0; 1000]);
    loop {
        let read = connection.read(stream, &mut buffer).unwrap();
        all.extend_from_slice(&buffer[..read.bytes as usize]);
        if read.finished || read.bytes == 0 {
            return (all, read.finished);
        }
    }
}

fn ended(events: &[Event], stream: StreamId) -> bool {
    events.iter().any(|event| matches!(event, Event::Closed { stream: id, .. } if *id == stream))
}

#[test]
fn all_four_kinds_carry_data() {
    for context in contexts() {
        let mut pair = Pair::new(context, config(&[]), config(&[]), delay(10));
        pair.establish();
        let now = pair.now;
        let mut ids = Vec::new();
        for direction in [Direction::Bidirectional, Direction::Unidirectional] {
            for client in [true, false] {
                let connection = if client { pair.client() } else { pair.server() };
                let stream = connection.open(direction).unwrap();
                connection.write(now, stream, Data::Bytes(b"hello")).unwrap();
                connection.finish(now, stream).unwrap();
                ids.push(stream.value());
            }
        }
        assert_eq!(ids, [0, 1, 2, 3]);
        pair.run_for(ms(100));
        for id in ids.into_iter().map(StreamId::from_value) {
            let from_client = id.value() & 1 == 0;
            let connection = if from_client { pair.server() } else { pair.client() };
            assert_eq!(read_all(connection, id), (b"hello".to_vec(), true));
            if id.direction() == Direction::Bidirectional {
                let now = pair.now;
                let connection = if from_client { pair.server() } else { pair.client() };
                connection.write(now, id, Data::Bytes(b"and back")).unwrap();
                connection.finish(now, id).unwrap();
                pair.run_for(ms(100));
                let connection = if from_client { pair.client() } else { pair.server() };
                assert_eq!(read_all(connection, id), (b"and back".to_vec(), true));
            }
        }
        pair.run_for(ms(200));
        assert_eq!((pair.client().open_streams(), pair.server().open_streams()), (0, 0));
        for id in (0..4).map(StreamId::from_value) {
            assert!(ended(&pair.client_events, id) && ended(&pair.server_events, id), "{id:?}");
        }
    }
}

#[test]
fn halves_that_do_not_exist_are_refused() {
    let mut pair = Pair::established();
    let stream = pair.upload(10);
    pair.run_for(ms(100));
    let now = pair.now;
    assert_eq!(pair.client().read(stream, &mut [0; 10]), Err(StreamError::WrongDirection));
    assert_eq!(pair.client().stop(stream, 0), Err(StreamError::WrongDirection));
    assert_eq!(pair.server().write(now, stream, Data::Virtual(1)), Err(StreamError::WrongDirection));
    assert_eq!(pair.server().reset(stream, 0), Err(StreamError::WrongDirection));
    let unknown = StreamId::from_value(400);
    assert_eq!(pair.client().write(now, unknown, Data::Virtual(1)), Err(StreamError::Unknown));
    assert_eq!(pair.client().read(unknown, &mut [0; 10]), Err(StreamError::Unknown));
}

#[test]
fn the_end_may_come_alone_and_alone_again() {
    let mut pair = Pair::established();
    let stream = pair.upload(100);
    pair.run_for(ms(100));
    assert_eq!(
        read_all(pair.server(), stream),
        (vec![0; 100].into_iter().zip(0..).map(|(_, i)| wire::pattern::byte(i)).collect(), false)
    );
    let next = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
    pair.link = losing(10, move |to_server, number| to_server && number == next);
    let mark = pair.mark();
    let now = pair.now;
    pair.client().finish(now, stream).unwrap();
    assert_eq!(pair.client().write(now, stream, Data::Virtual(1)), Err(StreamError::Finished));
    pair.run_for(ms(1000));
    let end = Frame::Stream { stream: stream.value(), offset: 100, length: 0, fin: true };
    assert_eq!(
        pair.frames_from(mark, true).iter().filter(|frame| **frame == end).count(),
        3,
        "and two probes"
    );
    assert_eq!(read_all(pair.server(), stream), (Vec::new(), true));
    assert!(pair.client_events.contains(&Event::Delivered(stream)));
}

#[test]
fn an_empty_stream_is_a_stream() {
    let mut pair = Pair::established();
    let now = pair.now;
    let stream = pair.client().open(Direction::Bidirectional).unwrap();
    pair.client().finish(now, stream).unwrap();
    pair.run_for(ms(100));
    assert!(
        pair.server_events.contains(&Event::Opened(stream))
            && pair.server_events.contains(&Event::Readable(stream))
    );
    assert_eq!(read_all(pair.server(), stream), (Vec::new(), true));
}

/// The client's actions on a stream before its reset.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Before {
    Nothing,
    Written,
    Acknowledged,
    FinishedUnsent,
    FinishedUnderway,
    Delivered,
}

fn prepare(pair: &mut Pair, before: Before) -> StreamId {
    let now = pair.now;
    let stream = pair.client().open(Direction::Unidirectional).unwrap();
    if before != Before::Nothing {
        pair.client().write(now, stream, Data::Virtual(1000)).unwrap();
    }
    if matches!(before, Before::FinishedUnsent | Before::FinishedUnderway | Before::Delivered) {
        pair.client().finish(now, stream).unwrap();
    }
    match before {
        Before::FinishedUnderway => pair.run_for(ms(5)),
        Before::Acknowledged | Before::Delivered => pair.run_for(ms(200)),
        _ => {}
    }
    stream
}

const ALL: [Before; 6] = [
    Before::Nothing,
    Before::Written,
    Before::Acknowledged,
    Before::FinishedUnsent,
    Before::FinishedUnderway,
    Before::Delivered,
];

/// RFC 9000-3.3-1, 9000-13.3-1.
#[test]
fn a_reset_in_each_state_of_the_sender() {
    for before in ALL {
        for lose in [false, true] {
            let mut pair = Pair::established();
            let stream = prepare(&mut pair, before);
            let mark = pair.mark();
            let _ = pair.client().reset(stream, 77);
            let next = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
            pair.link = losing(10, move |to_server, number| lose && to_server && number == next);
            pair.run_for(ms(1000));
            let resets =
                pair.frames_from(mark, true).into_iter().filter(|f| f.name() == "RESET_STREAM").count();
            let expected = match before {
                Before::Delivered => 0,
                // All data is acknowledged before the loss of the reset is known.
                Before::FinishedUnderway => 1,
                _ => 1 + 2 * usize::from(lose),
            };
            assert_eq!(resets, expected, "{before:?} {lose}");
            let now = pair.now;
            assert!(pair.client().write(now, stream, Data::Virtual(1)).is_err());
            let read = pair.server().read(stream, &mut [0; 2000]);
            match before {
                // All data has arrived: the reset has no effect (RFC 9000 section 3.2).
                Before::FinishedUnderway | Before::Delivered => assert!(read.unwrap().finished),
                _ => {
                    assert!(pair.server_events.contains(&Event::Reset { stream, code: 77 }), "{before:?}");
                    assert_eq!(read, Err(StreamError::Reset(77)), "{before:?}");
                }
            }
            pair.run_for(ms(1000));
            assert_eq!((pair.client().open_streams(), pair.server().open_streams()), (0, 0), "{before:?}");
            assert!(!pair.client().is_over() && !pair.server().is_over());
        }
    }
}

/// RFC 9000-3.5-1.
#[test]
fn a_stop_in_each_state_of_the_sender() {
    for before in ALL.into_iter().skip(1) {
        let mut pair = Pair::established();
        let stream = prepare(&mut pair, before);
        pair.run_for(ms(11));
        let mark = pair.mark();
        let _ = pair.server().stop(stream, 88);
        pair.run_for(ms(1000));
        let answered = pair.frames_from(mark, true).iter().any(|frame| frame.name() == "RESET_STREAM");
        let now = pair.now;
        let write = pair.client().write(now, stream, Data::Virtual(1));
        match before {
            Before::Written | Before::Acknowledged => {
                assert!(
                    answered && pair.client_events.contains(&Event::Stopped { stream, code: 88 }),
                    "{before:?}"
                );
                assert!(matches!(write, Err(StreamError::Stopped(88) | StreamError::Unknown)), "{write:?}");
            }
            // All data had arrived.
            _ => assert!(!answered, "{before:?}"),
        }
        assert_eq!((pair.client().open_streams(), pair.server().open_streams()), (0, 0), "{before:?}");
    }
}

#[test]
fn a_stream_stopped_during_transfer_ends_at_both_endpoints() {
    let mut pair = Pair::established();
    let stream = pair.upload(10_000_000);
    pair.run_for(ms(40));
    pair.server().stop(stream, 5).unwrap();
    pair.run_for(ms(2000));
    assert_eq!((pair.client().open_streams(), pair.server().open_streams()), (0, 0));
    assert!(pair.server().stats().streams.received_bytes < 5_000_000);
}

/// RFC 9000-2.1-1.
#[test]
fn a_thousand_streams_at_once() {
    let windows = [("initial_max_streams_bidi", count(1000))];
    let mut pair = Pair::new(null(), config(&[]), config(&windows), delay(10));
    pair.establish();
    let mut random = Generator::new(3, "loss");
    let link: Link = Box::new(move |_, _, _| if random.chance(0.03) { Vec::new() } else { vec![ms(10)] });
    pair.link = link;
    let now = pair.now;
    for i in 0..1000u64 {
        let stream = pair.client().open(Direction::Bidirectional).unwrap();
        pair.client().write(now, stream, Data::Bytes(&i.to_be_bytes())).unwrap();
        pair.client().finish(now, stream).unwrap();
    }
    let mut answers = 0;
    let done = pair.run_until(ms(60_000), |pair| {
        let now = pair.now;
        for event in std::mem::take(&mut pair.server_events) {
            if let Event::Readable(stream) = event {
                let (bytes, finished) = read_all(pair.server(), stream);
                if finished {
                    assert_eq!(bytes, stream.index().to_be_bytes());
                    pair.server().write(now, stream, Data::Virtual(1 + stream.index())).unwrap();
                    pair.server().finish(now, stream).unwrap();
                }
            }
        }
        for event in std::mem::take(&mut pair.client_events) {
            if let Event::Closed { stream, sent, received } = event {
                assert_eq!((sent, received), (8, 1 + stream.index()));
                answers += 1;
            } else if let Event::Readable(stream) = event {
                pair.client().discard(stream).unwrap();
            }
        }
        answers == 1000
    });
    assert!(done, "{answers}");
    pair.run_for(ms(1000));
    assert_eq!((pair.client().open_streams(), pair.server().open_streams()), (0, 0));
}

/// RFC 9000-2.2-1, 9000-2.2-2.
#[test]
fn real_and_virtual_bytes_mix_in_one_stream() {
    for context in contexts() {
        let mut random = Generator::new(4, "link");
        let link: Link = Box::new(move |_, _, _| match random.chance(0.05) {
            true => Vec::new(),
            false => vec![ms(10 + random.below(4))],
        });
        let mut pair = Pair::new(context, config(&[]), config(&[]), link);
        pair.run_for(ms(1000));
        let now = pair.now;
        let stream = pair.client().open(Direction::Unidirectional).unwrap();
        let mut expected = Vec::new();
        for piece in 0..60u64 {
            let length = (piece * 997) % 5000;
            if piece % 2 == 0 {
                let bytes = vec![piece as u8; length as usize];
                assert_eq!(pair.client().write(now, stream, Data::Bytes(&bytes)).unwrap(), length);
                expected.extend(bytes);
            } else {
                pair.client().write(now, stream, Data::Virtual(length)).unwrap();
                let at = expected.len();
                expected.resize(at + length as usize, 0);
                wire::pattern::fill(at as u64, &mut expected[at..]);
            }
        }
        pair.client().finish(now, stream).unwrap();
        let mut received = Vec::new();
        let done = pair.run_until(ms(60_000), |pair| {
            if !std::mem::take(&mut pair.server_events).contains(&Event::Readable(stream)) {
                return false;
            }
            let (bytes, finished) = read_all(pair.server(), stream);
            received.extend(bytes);
            finished
        });
        assert!(done && received == expected);
    }
}

#[test]
fn a_full_send_buffer_blocks_and_reports_room() {
    let client = config(&[("send_buffer", crate::pair::size(10_000))]);
    let mut pair = Pair::new(null(), client, config(&[]), delay(10));
    pair.establish();
    let now = pair.now;
    let stream = pair.client().open(Direction::Unidirectional).unwrap();
    assert_eq!(pair.client().write(now, stream, Data::Bytes(&[1; 15_000])).unwrap(), 10_000);
    assert_eq!(pair.client().write(now, stream, Data::Bytes(&[1; 15_000])), Err(StreamError::Blocked));
    assert_eq!(
        pair.client().write(now, stream, Data::Virtual(1_000_000)).unwrap(),
        1_000_000,
        "takes no room"
    );
    pair.run_for(ms(40));
    assert!(pair.client_events.contains(&Event::Writable(stream)));
    assert_eq!(pair.client().write(now, stream, Data::Bytes(&[1; 15_000])).unwrap(), 10_000);
}

/// One limit applies to all streams, including virtual bytes; a blocked application resumes at the low-water mark.
#[test]
fn a_full_send_queue_blocks_all_streams_until_the_low_water_mark() {
    let kb = |n: u64| crate::pair::size(1000 * n);
    let client = config(&[("send_queue", kb(10)), ("send_queue_low", kb(2))]);
    let mut pair = Pair::new(null(), client, config(&[("ack_ratio", count(1))]), delay(10));
    pair.establish();
    let now = pair.now;
    let streams = [(); 3].map(|()| pair.client().open(Direction::Unidirectional).unwrap());
    let write = |pair: &mut Pair, index: usize, length| {
        pair.client().write(now, streams[index], Data::Virtual(length))
    };
    assert_eq!(write(&mut pair, 0, 6000), Ok(6000));
    assert_eq!(write(&mut pair, 1, 6000), Ok(4000));
    assert_eq!(write(&mut pair, 2, 1), Err(StreamError::Blocked));
    assert_eq!(write(&mut pair, 0, 0), Ok(0), "nothing needs no room");
    assert_eq!(pair.client().write(now, streams[0], Data::Bytes(b"x")), Err(StreamError::Blocked));
    // Data of the reset stream is not kept: 6000 bytes of 10 000 are left.
    pair.client().reset(streams[1], 0).unwrap();
    assert_eq!(write(&mut pair, 2, 6000), Ok(4000));
    pair.drain();
    pair.client_events.clear();
    let writable = |pair: &Pair| {
        let told = pair.client_events.iter().filter_map(|event| match event {
            Event::Writable(stream) => Some(*stream),
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    // The acknowledgements arrive one by one, 20 ms later; only those after which at most 2 kB are left resume the
    // application.
    pair.run_for(ms(19));
    assert_eq!(writable(&pair), []);
    pair.run_for(ms(100));
    assert_eq!(writable(&pair), [streams[0], streams[2]], "once each, and none for what was reset");
    assert_eq!(pair.client().write(now, streams[0], Data::Virtual(20_000)), Ok(10_000));
}
