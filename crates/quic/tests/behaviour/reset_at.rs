//! Resets with partial delivery: RESET_STREAM_AT (draft-ietf-quic-reliable-stream-reset-09).

use crate::pair::Frame as Seen;
use crate::pair::{Link, Pair, config, delay, losing, ms, null, size};
use proptest::prelude::*;
use quic::{CloseReason, Config, Data, Event, StreamError};
use units::parameter::Value;
use wire::{Code, Direction, Frame, StreamId};

fn takes(options: &[(&str, Value)]) -> Config {
    let flag = [("reset_stream_at", Value::Flag(true))];
    config(&[&flag[..], options].concat())
}

/// An established pair in which the server takes RESET_STREAM_AT.
fn pair_with(server: &[(&str, Value)], link: Link) -> Pair {
    let mut pair = Pair::new(null(), config(&[]), takes(server), link);
    pair.establish();
    pair
}

/// All that the server can read of a stream of which it has read `before` bytes: the number of bytes read by then, and
/// how it ends. Each byte is that of its offset.
fn read(pair: &mut Pair, stream: StreamId, before: u64) -> (u64, Result<bool, StreamError>) {
    let (mut all, mut out) = (before, [0; 700]);
    loop {
        match pair.server().read(stream, &mut out) {
            Ok(read) => {
                assert!(wire::pattern::matches(all, &out[..read.bytes as usize]));
                all += read.bytes;
                if read.bytes == 0 || read.finished {
                    return (all, Ok(read.finished));
                }
            }
            Err(error) => return (all, Err(error)),
        }
    }
}

fn resets(pair: &Pair, mark: usize) -> Vec<Seen> {
    let frames = pair.frames_from(mark, true).into_iter();
    frames.filter(|frame| frame.name().starts_with("RESET_STREAM")).collect()
}

fn at(stream: StreamId, final_size: u64, reliable_size: u64) -> Seen {
    Seen::ResetStreamAt { stream: stream.value(), code: 7, final_size, reliable_size }
}

/// Section 5: lost data below the reliable size is sent again, data beyond it is not.
#[test]
fn the_beginning_is_delivered_and_the_rest_is_not_sent_again() {
    let mut pair = pair_with(&[], delay(10));
    let next = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
    // Of the packets of data the first, the third and the last are lost.
    pair.link = losing(10, move |to_server, number| {
        to_server && number.checked_sub(next).is_some_and(|number| [0, 2, 7].contains(&number))
    });
    let parts = |pair: &Pair, mark| -> Vec<(u64, u64)> {
        let frames = pair.frames_from(mark, true).into_iter();
        let part = |frame| match frame {
            Seen::Stream { offset, length, .. } => Some((offset, offset + length)),
            _ => None,
        };
        frames.filter_map(part).collect()
    };
    let mark = pair.mark();
    let stream = pair.upload(11_000);
    let first = parts(&pair, mark);
    let count = first.len();
    assert_eq!(first[count - 1].1, 11_000);
    let later = pair.mark();
    pair.client().reset_at(stream, 7, 5000).unwrap();
    pair.run_for(ms(1000));
    assert_eq!((count, parts(&pair, later)), (8, vec![first[0], first[2]]));
    assert_eq!(resets(&pair, mark), [at(stream, 11_000, 5000)]);
    let (bytes, end) = read(&mut pair, stream, 0);
    assert!((5000..11_000).contains(&bytes), "{bytes}");
    assert_eq!(end, Err(StreamError::Reset(7)));
    pair.run_for(ms(100));
    assert!(pair.server_events.contains(&Event::Reset { stream, code: 7 }));
    assert!(pair.client_events.iter().any(|event| matches!(event, Event::Closed { sent: 11_000, .. })));
    assert!(!pair.client_events.contains(&Event::Delivered(stream)));
}

/// Section 4: data beyond the reliable size that was not sent is not a part of the final size, and RESET_STREAM_AT waits
/// for credit for the data below.
#[test]
fn what_was_not_sent_is_not_counted_and_the_reset_waits_for_credit() {
    let window = size(4000);
    let mut pair = pair_with(&[("initial_max_stream_data_uni", window)], delay(10));
    let mark = pair.mark();
    let stream = pair.upload(50_000);
    pair.client().reset_at(stream, 7, 9000).unwrap();
    pair.run_for(ms(1000));
    assert_eq!(resets(&pair, mark), [], "the peer has read nothing");
    assert!(!pair.server_events.iter().any(|event| matches!(event, Event::Reset { .. })));
    let mut all = 0;
    for _ in 0..20 {
        let (bytes, end) = read(&mut pair, stream, all);
        all = bytes;
        if end != Ok(false) {
            assert_eq!(end, Err(StreamError::Reset(7)));
            break;
        }
        pair.run_for(ms(100));
    }
    assert_eq!(all, 9000);
    assert_eq!(resets(&pair, mark), [at(stream, 9000, 9000)]);
    // The credit of the connection is that of a stream that ended regularly.
    assert_eq!(pair.server().stats().streams.received_bytes, 9000);
}

/// The reset is reported when what comes before it was read, and not earlier.
#[test]
fn the_reset_comes_after_the_data() {
    let mut pair = pair_with(&[], delay(10));
    let stream = pair.upload(3000);
    pair.client().reset_at(stream, 7, 2000).unwrap();
    pair.run_for(ms(100));
    assert_eq!(pair.server_events, [Event::Opened(stream), Event::Readable(stream)]);
    pair.server_events.clear();
    assert_eq!(pair.server().skip(stream, 1999).unwrap().bytes, 1999);
    pair.drain();
    assert_eq!(pair.server_events, []);
    assert_eq!(pair.server().skip(stream, 1).unwrap().bytes, 1);
    pair.drain();
    assert_eq!(pair.server_events, [Event::Reset { stream, code: 7 }]);
    assert_eq!(pair.server().skip(stream, 1), Err(StreamError::Reset(7)));
}

/// Section 5.2: the reliable size may shrink, the code and the final size stay.
#[test]
fn a_second_reset_delivers_less_and_never_more() {
    for (second, expected) in [(Some(1000), 1000), (Some(6000), 4000), (None, 0)] {
        let mut pair = pair_with(&[], delay(10));
        let stream = pair.upload(8000);
        pair.client().reset_at(stream, 7, 4000).unwrap();
        pair.drain();
        // Before anything has arrived.
        match second {
            Some(reliable) => pair.client().reset_at(stream, 8, reliable).unwrap(),
            None => pair.client().reset(stream, 8).unwrap(),
        }
        let mark = pair.mark();
        pair.run_for(ms(100));
        let stopped = Seen::ResetStream { stream: stream.value(), code: 7, final_size: 8000 };
        let newest = match expected {
            4000 => vec![],
            0 => vec![stopped],
            less => vec![at(stream, 8000, less)],
        };
        assert_eq!(resets(&pair, mark), newest);
        let (bytes, end) = read(&mut pair, stream, 0);
        assert!(bytes >= expected && end == Err(StreamError::Reset(7)), "{bytes} {end:?}");
    }
}

/// Section 5.4.
#[test]
fn stop_sending_ends_the_delivery() {
    let mut pair = pair_with(&[], delay(10));
    pair.cut();
    let stream = pair.upload(8000);
    pair.client().reset_at(stream, 7, 4000).unwrap();
    pair.drain();
    let mark = pair.mark();
    pair.inject_data(false, &[Frame::StopSending { id: stream, code: 9 }]);
    pair.drain();
    let reset = Seen::ResetStream { stream: stream.value(), code: 7, final_size: 8000 };
    assert_eq!(resets(&pair, mark), [reset]);
    assert!(pair.client_events.is_empty(), "a stream that was reset is not reported as stopped");
}

/// Section 3: without the parameter the stream is reset as a whole.
#[test]
fn a_peer_that_does_not_take_it_gets_reset_stream() {
    let mut pair = Pair::established();
    let mark = pair.mark();
    let stream = pair.upload(3000);
    pair.client().reset_at(stream, 7, 2000).unwrap();
    pair.run_for(ms(100));
    let reset = Seen::ResetStream { stream: stream.value(), code: 7, final_size: 3000 };
    assert_eq!(resets(&pair, mark), [reset]);
}

/// Sections 4 and 5.2, and RFC 9000-12.4-4 for a frame that was not admitted.
#[test]
fn faults_of_the_peer_close_the_connection() {
    let stream = StreamId::from_value(2);
    let frame = |code, final_size, reliable_size| Frame::ResetStreamAt {
        id: stream,
        code,
        final_size,
        reliable_size,
    };
    let reset = |code, final_size| Frame::ResetStream { id: stream, code, final_size };
    let cases: [(&[Frame<'_>], Option<Code>); 8] = [
        (&[frame(7, 10, 11)], Some(Code::FRAME_ENCODING_ERROR)),
        (&[frame(7, 10, 10), frame(7, 10, 10)], None),
        (&[frame(7, 10, 5), frame(7, 10, 10)], None),
        (&[frame(7, 10, 5), reset(7, 10)], None),
        (&[frame(7, 10, 5), frame(8, 10, 5)], Some(Code::STREAM_STATE_ERROR)),
        (&[frame(7, 10, 5), reset(8, 10)], Some(Code::STREAM_STATE_ERROR)),
        (&[frame(7, 10, 5), frame(7, 11, 5)], Some(Code::FINAL_SIZE_ERROR)),
        (&[frame(7, 1 << 40, 5)], Some(Code::FLOW_CONTROL_ERROR)),
    ];
    for (frames, expected) in cases {
        let mut pair = pair_with(&[], delay(10));
        pair.inject_data(true, frames);
        let reason = pair.server().close_reason().cloned();
        let code = reason.map(|reason| match reason {
            CloseReason::Transport(error) => error.code,
            other => panic!("{other:?}"),
        });
        assert_eq!(code, expected, "{frames:?}");
    }
    let mut pair = Pair::established();
    pair.inject_data(true, &[frame(7, 10, 5)]);
    assert!(matches!(
        pair.server().close_reason(),
        Some(CloseReason::Transport(error)) if error.code == Code::FRAME_ENCODING_ERROR
    ));
}

/// Section 5.2: "the receiver only needs to provide data up the lower Reliable Size".
#[test]
fn a_lower_size_that_overtakes_counts() {
    let mut pair = pair_with(&[], delay(10));
    let stream = StreamId::from_value(2);
    let frame = |reliable_size| Frame::ResetStreamAt { id: stream, code: 7, final_size: 100, reliable_size };
    let data = Frame::Stream { id: stream, offset: 0, data: wire::Data::Bytes(&[0; 10]), fin: false };
    pair.inject_data(true, &[data, frame(10), frame(60)]);
    assert!(!pair.server_events.iter().any(|event| matches!(event, Event::Reset { .. })));
    assert_eq!(pair.server().skip(stream, 10).unwrap().bytes, 10);
    pair.drain();
    assert!(pair.server_events.contains(&Event::Reset { stream, code: 7 }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever is lost, the beginning arrives unchanged, the reset after it, both ends forget the stream, and the
    /// connection's credit is not lost.
    #[test]
    fn the_beginning_arrives_over_any_loss(
        seed: u64,
        length in 1u64..60_000,
        reliable in 0u64..70_000,
        loss in 0u64..30,
        shrunk in proptest::option::of(0u64..70_000),
        pause in 0u64..60,
        window in 2_000u64..100_000,
    ) {
        // A connection on which nothing arrives for long is not what is tested.
        let endless = ("max_idle_timeout", Value::Duration(units::Duration::ZERO));
        let windows =
            [("initial_max_stream_data_uni", size(window)), ("initial_max_data", size(window)), endless.clone()];
        let mut pair = Pair::new(null(), config(&[endless]), takes(&windows), delay(10));
        pair.establish();
        let mut state = seed;
        pair.link = losing(10, move |_, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 100 < loss
        });
        let now = pair.now;
        let stream = pair.client().open(Direction::Unidirectional).unwrap();
        pair.client().write(now, stream, Data::Virtual(length)).unwrap();
        pair.drain();
        pair.run_for(ms(pause));
        if pair.client().reset_at(stream, 7, reliable).is_ok() {
            pair.drain();
            if let Some(shrunk) = shrunk {
                pair.run_for(ms(pause));
                let _ = pair.client().reset_at(stream, 9, shrunk);
            }
        }
        let least = reliable.min(length).min(shrunk.unwrap_or(u64::MAX));
        let (mut all, mut end) = (0, Ok(false));
        for _ in 0..10_000 {
            // The stream may not be known at the server yet.
            (all, end) = read(&mut pair, stream, all);
            if matches!(end, Ok(true) | Err(StreamError::Reset(_))) {
                break;
            }
            pair.run_for(ms(50));
        }
        prop_assert_eq!(end, Err(StreamError::Reset(7)));
        prop_assert!(all >= least && all <= length, "{} of {} bytes", all, length);
        pair.run_for(ms(60_000));
        let closed = |event: &Event| matches!(event, Event::Closed { stream: gone, .. } if *gone == stream);
        prop_assert!(pair.server_events.iter().any(closed));
        prop_assert!(pair.client_events.iter().any(closed));
        // Another stream has the whole window again.
        let next = pair.upload(3 * window);
        let mut all = 0;
        for _ in 0..10_000 {
            all = read(&mut pair, next, all).0;
            if all == 3 * window {
                break;
            }
            pair.run_for(ms(50));
        }
        prop_assert_eq!(all, 3 * window);
    }
}
