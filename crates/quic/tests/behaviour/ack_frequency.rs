//! Requests for acknowledgements: ACK_FREQUENCY and IMMEDIATE_ACK (draft-ietf-quic-ack-frequency), and the
//! immediate-ack bit of the header.

use crate::pair::{Pair, config, contexts, count, delay, losing, ms, null, span};
use quic::CloseReason;
use trace::PacketKind;
use units::Duration;
use units::parameter::Value;
use wire::{Code, FirstByte, Frame};

fn word(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A pair in which the server accepts requests, and the client requests this ratio, delay and reordering threshold.
fn asking(ratio: u64, max_delay: u64, reordering: u64) -> Pair {
    let client = config(&[
        ("peer_ack_ratio", count(ratio)),
        ("peer_max_ack_delay", span(max_delay)),
        ("peer_reordering_threshold", count(reordering)),
    ]);
    let mut pair = Pair::new(null(), client, config(&[("min_ack_delay", span(1))]), delay(10));
    pair.establish();
    pair
}

/// Sends packets of 100 bytes from the client, a millisecond apart, some of which are lost. Returns the times of the
/// server's acknowledgements, in milliseconds since the first arrival, before any retransmission.
fn answers(pair: &mut Pair, packets: u64, lost: &'static [u64]) -> Vec<Duration> {
    let base = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
    pair.link = losing(10, move |to_server, number| to_server && lost.contains(&(number.wrapping_sub(base))));
    let (start, mark) = (pair.now, pair.mark());
    let stream = pair.upload(100);
    for _ in 1..packets {
        pair.run_for(ms(1));
        pair.upload_more(stream, 100);
    }
    pair.run_to(start + ms(29));
    pair.times_from(mark, false).into_iter().map(|at| at.since(start + ms(10))).collect()
}

/// Section 4.
#[test]
fn the_requested_threshold_is_applied() {
    let mut pair = asking(5, 100, 1);
    assert_eq!(answers(&mut pair, 12, &[]), [ms(4), ms(9)]);
}

/// Section 4: a threshold of 0, every packet.
#[test]
fn an_acknowledgement_of_every_packet_can_be_requested() {
    assert_eq!(answers(&mut asking(1, 100, 1), 3, &[]), [ms(0), ms(1), ms(2)]);
}

/// Section 4: the delay, which the sender adds to its probe timeout (section 7).
#[test]
fn the_requested_delay_is_applied() {
    let mut pair = asking(5, 100, 1);
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(100);
    pair.run_for(ms(400));
    assert_eq!(pair.times_from(mark, false), [start + ms(110)]);
    assert_eq!(pair.client().stats().probe_timeouts, 0, "not before it can come");
    assert_eq!(pair.times_from(mark, true), [start]);
}

/// Section 6.2.1, tables 1 and 2, in which only reordering causes acknowledgements.
#[test]
fn reordering_is_reported_when_the_sender_may_declare_a_loss() {
    // Packets 0, 1, 3, 4, 5, 8, 9, 10.
    assert_eq!(answers(&mut asking(1000, 1000, 3), 11, &[2, 6, 7]), [ms(5), ms(9), ms(10)]);
    // Packets 0, 1, 3, 5, 6, 7, 8, 9.
    assert_eq!(answers(&mut asking(1000, 1000, 5), 10, &[2, 4]), [ms(7), ms(9)]);
    // With 1, each packet from the gap on, because no acknowledgement has reported the gap before; with 0, none.
    assert_eq!(answers(&mut asking(1000, 1000, 1), 6, &[2]), [ms(3)]);
    assert_eq!(answers(&mut asking(1000, 1000, 0), 11, &[2, 6, 7]), []);
}

/// Section 4: the frame is sent again until it arrives.
#[test]
fn a_lost_request_is_sent_again() {
    let client = config(&[("peer_ack_ratio", count(5)), ("peer_max_ack_delay", span(100))]);
    let mut asked = 0;
    for lost in 0..6 {
        let link = losing(10, move |to_server, number| to_server && number == lost);
        let mut pair = Pair::new(null(), client.clone(), config(&[("min_ack_delay", span(1))]), link);
        pair.run_for(ms(3000));
        asked += pair.frames_from(0, true).iter().filter(|frame| is_request(frame)).count();
        assert_eq!(answers(&mut pair, 5, &[]), [ms(4)], "{lost}");
    }
    assert!(asked > 6, "one of the six losses was the request");
}

fn is_request(frame: &crate::pair::Frame) -> bool {
    matches!(frame, crate::pair::Frame::AckFrequency { .. })
}

/// Section 3: without the parameter, the frames are unknown and not sent.
#[test]
fn only_a_peer_that_accepts_requests_gets_them() {
    let client = [("peer_ack_ratio", count(5)), ("immediate_ack", word("frame"))];
    let mut pair = Pair::new(null(), config(&client), config(&[]), delay(10));
    pair.establish();
    pair.upload(1_000_000);
    pair.run_for(ms(500));
    let frames = pair.frames_from(0, true);
    assert!(
        !frames.iter().any(|frame| is_request(frame) || matches!(frame, crate::pair::Frame::ImmediateAck))
    );

    let request =
        Frame::AckFrequency { sequence: 0, threshold: 9, max_ack_delay_us: 25_000, reordering_threshold: 1 };
    for frame in [request, Frame::ImmediateAck] {
        let mut pair = Pair::established();
        pair.inject_data(true, &[frame]);
        let reason = pair.server().close_reason();
        assert!(
            matches!(reason, Some(CloseReason::Transport(error)) if error.code == Code::FRAME_ENCODING_ERROR
                && error.frame_type == Some(frame.frame_type())),
            "{reason:?}"
        );
    }
}

/// Section 4: a delay below min_ack_delay is a PROTOCOL_VIOLATION; so is a value that RFC 9000 section 18.2 calls
/// invalid. An older request is ignored.
#[test]
fn invalid_and_outdated_requests() {
    let request = |sequence, max_ack_delay_us, threshold| Frame::AckFrequency {
        sequence,
        threshold,
        max_ack_delay_us,
        reordering_threshold: 0,
    };
    for (delay_us, valid) in [(0, false), (999, false), (1000, true), (16_383_999, true), (16_384_000, false)]
    {
        let mut pair = asking(2, 25, 1);
        pair.inject_data(true, &[request(1, delay_us, 9)]);
        match pair.server().close_reason() {
            None => assert!(valid, "{delay_us}"),
            Some(CloseReason::Transport(error)) => {
                assert!(!valid && error.code == Code::PROTOCOL_VIOLATION, "{delay_us} {error:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    let mut pair = asking(2, 25, 1);
    pair.cut();
    let mark = pair.mark();
    pair.inject_data(true, &[request(7, 100_000, 3), request(6, 100_000, 0), request(7, 100_000, 1)]);
    for number in 2..9 {
        pair.inject_data(true, &[Frame::Ping]);
        assert_eq!(pair.times_from(mark, false).len(), number / 4, "the fourth and the eighth");
    }
}

/// Section 5.
#[test]
fn an_immediate_acknowledgement() {
    let mut pair = asking(1000, 1000, 0);
    let (start, mark) = (pair.now, pair.mark());
    pair.upload(100);
    pair.run_for(ms(15));
    assert_eq!(pair.times_from(mark, false), []);
    pair.inject_data(true, &[Frame::ImmediateAck]);
    assert_eq!(pair.times_from(mark, false), [start + ms(15)]);
    pair.upload(100);
    pair.run_for(ms(100));
    assert_eq!(pair.times_from(mark, false), [start + ms(15)], "for that packet alone");
}

/// The last packet before the window is full requests an acknowledgement, so that the sender does not wait for the
/// receiver's timer.
#[test]
fn a_full_window_requests_an_acknowledgement() {
    let slow = [("ack_ratio", count(1000)), ("max_ack_delay", span(60))];
    let rows = [
        ("never", "min_ack_delay", span(1), 70),
        ("frame", "min_ack_delay", span(1), 10),
        ("frame", "immediate_ack_bit", Value::Flag(true), 70),
        ("bit", "immediate_ack_bit", Value::Flag(true), 10),
        ("bit", "min_ack_delay", span(1), 70),
    ];
    for tls in contexts() {
        for (how, admits, value, first) in &rows {
            let mut server = slow.to_vec();
            server.push((*admits, value.clone()));
            let client = config(&[("immediate_ack", word(how))]);
            let mut pair = Pair::new(tls.clone(), client, config(&server), delay(10));
            pair.establish();
            let (start, mark) = (pair.now, pair.mark());
            pair.upload(1_000_000);
            pair.run_for(ms(75));
            let acked = pair.times_from(mark, false);
            assert_eq!(acked.first(), Some(&(start + ms(*first))), "{how} to who has {admits}");
            assert!(pair.server().close_reason().is_none());
            if tls.protection() != tls::Protection::Null {
                continue;
            }
            // In the first flight only the last packet requests an acknowledgement.
            let flight = pair.sent_from(mark, true).into_iter().filter(|packet| packet.at == start);
            let asks: Vec<bool> = flight.map(|packet| packet.has("IMMEDIATE_ACK")).collect();
            let expected = if *how == "frame" && *first == 10 { 1 } else { 0 };
            assert_eq!(asks.iter().filter(|asks| **asks).count(), expected);
            assert!(expected == 0 || asks[asks.len() - 1]);
        }
    }
}

/// Only the announced bit may be set; it has no effect in a packet that is not ack-eliciting.
#[test]
fn the_other_reserved_bit_remains_an_error() {
    let admits = || {
        let server = config(&[("immediate_ack_bit", Value::Flag(true)), ("ack_ratio", count(9))]);
        let mut pair = Pair::new(null(), config(&[]), server, delay(10));
        pair.establish();
        pair
    };
    for (bits, frame, valid) in [
        (FirstByte::IMMEDIATE_ACK, Frame::Ping, true),
        (FirstByte::IMMEDIATE_ACK, Frame::Padding { length: 30 }, true),
        (0x08, Frame::Ping, false),
        (0x18, Frame::Ping, false),
    ] {
        let mut pair = admits();
        let mut payload = Vec::new();
        frame.encode(&mut payload);
        payload.resize(30, 0);
        let mut bytes = pair.forge(true, PacketKind::OneRtt, &payload);
        bytes[0] |= bits;
        let mark = pair.mark();
        pair.arrive(true, bytes);
        let elicits = frame == Frame::Ping;
        assert_eq!(pair.server().close_reason().is_none(), valid, "{bits:#x}");
        assert_eq!(pair.times_from(mark, false).is_empty(), !elicits);
        if !elicits {
            let (start, mark) = (pair.now, pair.mark());
            pair.inject_data(true, &[Frame::Ping]);
            pair.run_for(ms(100));
            assert_eq!(pair.times_from(mark, false), [start + ms(25)], "nor in the next");
        }
    }
}
