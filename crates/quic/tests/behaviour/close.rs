//! How connections end (RFC 9000 section 10.2).

use crate::pair::Frame;
use crate::pair::{DatagramInFlight, Pair, at, config, contexts, delay, losing, ms, null};
use quic::{CloseReason, Event, StreamError};
use trace::PacketKind;
use units::Duration;
use wire::{Code, Direction};

/// Three times the probe timeout of an endpoint (RFC 9000 section 10.2).
fn lingering(connection: &quic::Connection) -> Duration {
    let rtt = connection.rtt();
    (rtt.smoothed() + (rtt.variance() * 4).max(ms(1)) + ms(25)) * 3
}

#[test]
fn the_applications_code_and_reason_arrive() {
    for context in contexts() {
        let mut pair = Pair::new(context, config(&[]), config(&[]), delay(10));
        pair.establish();
        let now = pair.now;
        pair.client().close(now, 1234, "enough");
        pair.run_for(ms(15));
        let reason = CloseReason::PeerApplication { code: 1234, reason: "enough".to_owned() };
        assert_eq!(pair.server().close_reason(), Some(&reason));
        assert_eq!(
            pair.client().close_reason(),
            Some(&CloseReason::Local { code: 1234, reason: "enough".to_owned() })
        );
        assert_eq!(pair.server_events, [Event::Ended]);
        assert_eq!(pair.client_events, [Event::Ended]);
        assert_eq!(pair.client().open(Direction::Bidirectional), Err(StreamError::Closed));
        assert_eq!(pair.server().open(Direction::Bidirectional), Err(StreamError::Closed));
    }
}

#[test]
fn both_ends_are_removed_after_three_probe_timeouts() {
    let mut pair = Pair::established();
    let start = pair.now;
    let (closing, draining) = (lingering(pair.client()), lingering(pair.server()));
    pair.client().close(start, 0, "");
    pair.run_to(start + closing - ms(1));
    assert!(!pair.client_is_gone());
    pair.run_to(start + closing);
    assert!(pair.client_is_gone());
    let end = start + ms(10) + draining;
    if pair.now < end - ms(1) {
        pair.run_to(end - ms(1));
        assert!(!pair.server_is_gone());
    }
    pair.run_to(end.max(pair.now));
    assert!(pair.server_is_gone());
    assert!(pair.client.is_empty() && pair.server.is_empty());
}

#[test]
fn closing_answers_the_first_the_second_the_fourth_and_so_on() {
    let mut pair = Pair::established();
    // The peer never receives the close and continues.
    pair.link = losing(10, |to_server, _| to_server);
    let now = pair.now;
    pair.client().close(now, 7, "over");
    pair.drain();
    let mark = pair.mark();
    let mut answers = Vec::new();
    for n in 1..=40 {
        let before = pair.mark();
        pair.inject_data(false, &[wire::Frame::Ping]);
        if pair.mark() > before {
            answers.push(n);
        }
    }
    assert_eq!(answers, [1, 2, 4, 8, 16, 32]);
    let close =
        Frame::ConnectionClose { application: true, code: 7, frame_type: None, reason: "over".to_owned() };
    assert!(pair.frames_from(mark, true).iter().all(|frame| *frame == close));
}

/// RFC 9000-10.2.2-1, 9000-10.2.2-2.
#[test]
fn draining_is_silent() {
    let mut pair = Pair::established();
    let now = pair.now;
    pair.client().close(now, 0, "");
    pair.run_for(ms(11));
    let mark = pair.mark();
    for _ in 0..20 {
        pair.inject_data(true, &[wire::Frame::Ping]);
    }
    assert_eq!(pair.mark(), mark);
}

#[test]
fn a_lost_close_is_repeated_when_the_peer_continues() {
    let mut pair = Pair::established();
    let next = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
    pair.link = losing(10, move |to_server, number| to_server && number == next);
    let now = pair.now;
    pair.client().close(now, 3, "");
    let stream = pair.server().open(Direction::Unidirectional).unwrap();
    pair.server().write(now, stream, quic::Data::Virtual(100)).unwrap();
    pair.run_for(ms(25));
    assert!(matches!(pair.server().close_reason(), Some(CloseReason::PeerApplication { code: 3, .. })));
}

/// RFC 9000-10.2.3-2, 9000-10.2.3-3, 9000-12.5-1.
#[test]
fn before_confirmation_the_applications_reason_is_hidden() {
    let mut pair = Pair::plain();
    pair.run_to(at(5));
    let now = pair.now;
    pair.client().close(now, 42, "secret");
    let mark = pair.mark();
    pair.run_for(ms(100));
    let sent = pair.sent_from(mark, true);
    assert!(!sent.is_empty() && sent.iter().all(|packet| packet.kind == PacketKind::Initial));
    assert_eq!(sent[0].datagram_length, 1200);
    let hidden = |frame: &Frame| matches!(frame, Frame::ConnectionClose { application: false, code: 12, reason, .. } if reason.is_empty());
    assert!(hidden(&sent[0].frames[0]), "{:?}", sent[0].frames);
    let reason = pair.server.get(pair.accepted[0]).map(|server| server.close_reason().cloned());
    let expected = CloseReason::PeerTransport { code: Code::APPLICATION_ERROR, reason: String::new() };
    assert!(reason.is_none_or(|reason| reason == Some(expected)));
}

/// RFC 9000-12.2-1.
#[test]
fn a_server_closes_in_every_space_that_the_client_may_be_able_to_open() {
    let short = tls::Options { certificate_chain: units::Size::from_bytes(1500), ..tls::Options::default() };
    let mut pair = Pair::new(crate::pair::context(&short), config(&[]), config(&[]), delay(10));
    pair.run_to(at(10));
    let now = pair.now;
    let mark = pair.mark();
    pair.server().close(now, 42, "shutting down");
    pair.run_for(ms(5));
    let kinds: Vec<PacketKind> = pair.sent_from(mark, false).iter().map(|packet| packet.kind).collect();
    assert_eq!(kinds, [PacketKind::Initial, PacketKind::Handshake, PacketKind::OneRtt]);
    pair.run_for(ms(100));
    let reason = pair.client().close_reason().cloned();
    assert_eq!(
        reason,
        Some(CloseReason::PeerTransport { code: Code::APPLICATION_ERROR, reason: String::new() })
    );
}

/// RFC 9000-8.1-1, 9000-14.1-4.
#[test]
fn a_server_closes_within_its_credit() {
    // A long certificate chain has used up the credit of three times 1200 bytes when the server closes.
    let options =
        tls::Options { certificate_chain: units::Size::from_bytes(20_000), ..tls::Options::default() };
    let payload = [("max_udp_payload", crate::pair::count(1200))];
    let link = losing(10, |to_server, _| !to_server);
    let mut pair = Pair::new(crate::pair::context(&options), config(&payload), config(&payload), link);
    pair.run_to(at(10));
    let now = pair.now;
    pair.server().close(now, 1, &"long ".repeat(200));
    pair.run_for(ms(200));
    let sent: usize = pair.wire.iter().filter(|seen| !seen.to_server).map(|seen| seen.length).sum();
    assert!(sent <= 3600, "{sent}");
}

#[test]
fn reasons_of_any_length_fit() {
    for length in [0, 10, 255, 256, 257, 5000] {
        let mut pair = Pair::new(null(), config(&[]), config(&[]), delay(10));
        pair.establish();
        let now = pair.now;
        pair.client().close(now, u64::MAX, &"é".repeat(length));
        pair.run_for(ms(12));
        let Some(CloseReason::PeerApplication { code, reason }) = pair.server().close_reason() else {
            panic!()
        };
        assert_eq!(*code, wire::varint::MAX);
        assert_eq!(*reason, "é".repeat(length.min(128)));
    }
}

/// A datagram like a stateless reset with this token.
fn stateless_reset(token: [u8; 16]) -> Vec<u8> {
    let mut bytes = Vec::new();
    wire::header::stateless_reset(&mut bytes, &[0x15; 30], token);
    bytes
}

/// RFC 9000-10.3.1-2, 9000-10.3.1-4.
#[test]
fn a_stateless_reset_ends_a_connection_silently() {
    for at_server in [true, false] {
        let mut pair = Pair::established();
        pair.cut();
        // The token of the peer's second id, before and after that id is used.
        let token = pair.frames_from(0, at_server).into_iter().find_map(|frame| match frame {
            Frame::NewConnectionId { token, .. } => Some(token),
            _ => None,
        });
        let token = token.unwrap();
        for wrong in [[0; 16], [0xff; 16]] {
            pair.arrive(at_server, stateless_reset(wrong));
        }
        pair.arrive(!at_server, stateless_reset(token));
        assert!(!pair.client().is_over() && !pair.server().is_over(), "that was its own token");
        pair.arrive(at_server, stateless_reset(token));
        assert!(!pair.client().is_over() && !pair.server().is_over(), "nothing was sent to that id yet");
        let id = wire::ConnectionId::new(&[7; 8]).unwrap();
        let frame = wire::Frame::NewConnectionId { sequence: 2, retire_prior_to: 1, id, token: [9; 16] };
        pair.inject_data(at_server, &[frame]);
        pair.arrive(at_server, stateless_reset([9; 16]));
        assert!(!pair.client().is_over() && !pair.server().is_over(), "nor to this one");
        // Before that, the datagram is answered as a packet of an unknown connection.
        pair.run_for(ms(1));
        let mark = pair.mark();
        pair.arrive(at_server, stateless_reset(token));
        let victim = if at_server { pair.server() } else { pair.client() };
        assert_eq!(victim.close_reason(), Some(&CloseReason::StatelessReset));
        pair.run_for(ms(1000));
        assert_eq!(pair.mark(), mark, "nothing is sent");
    }
}

#[test]
fn both_may_close_at_once() {
    let mut pair = Pair::established();
    let now = pair.now;
    pair.client().close(now, 1, "");
    pair.server().close(now, 2, "");
    pair.run_for(ms(5000));
    assert!(pair.client.is_empty() && pair.server.is_empty());
    assert!(pair.client_events == [Event::Ended] && pair.server_events == [Event::Ended]);
}

/// RFC 9000-10.2.1-1: packets received while closing are not decrypted, so anybody may have sent them.
#[test]
fn closing_answers_with_at_most_three_times_the_bytes_received() {
    for (reason, least) in [("a short one".to_owned(), 6), ("r".repeat(250), 3)] {
        let mut pair = Pair::established();
        pair.link = losing(10, |to_server, _| to_server);
        let now = pair.now;
        pair.client().close(now, 7, &reason);
        pair.drain();
        let mark = pair.mark();
        let mut came = 0;
        for _ in 0..40 {
            let bytes = pair.forge(false, PacketKind::OneRtt, &[1, 0, 0, 0]);
            came += bytes.len();
            pair.arrive(false, bytes);
            let sent: usize = pair.wire[mark..].iter().map(|seen| seen.length).sum();
            assert!(sent <= 3 * came, "{sent} for {came}");
        }
        assert!(pair.mark() - mark >= least, "{} answers", pair.mark() - mark);
    }
}

/// A victim whose peer uses an id with a known token, and that token.
fn with_known_token(at_server: bool) -> (Pair, [u8; 16]) {
    let mut pair = Pair::established();
    pair.cut();
    let token = pair.frames_from(0, at_server).into_iter().find_map(|frame| match frame {
        Frame::NewConnectionId { token, .. } => Some(token),
        _ => None,
    });
    let id = wire::ConnectionId::new(&[7; 8]).unwrap();
    let frame = wire::Frame::NewConnectionId { sequence: 2, retire_prior_to: 1, id, token: [9; 16] };
    pair.inject_data(at_server, &[frame]);
    (pair, token.unwrap())
}

/// RFC 9000 section 10.3.1: tokens are compared "with all stateless reset tokens associated with the remote address
/// on which the datagram was received": the right token from another address is ignored, and so is that of another
/// connection.
#[test]
fn a_stateless_reset_is_valid_only_from_the_address_in_use() {
    for at_server in [true, false] {
        for with_id in [false, true] {
            let (mut pair, token) = with_known_token(at_server);
            let mut bytes = stateless_reset(token);
            if with_id {
                // With an id of the victim: it reaches the connection, but cannot be decrypted.
                bytes = pair.forge(at_server, PacketKind::OneRtt, &[1, 0, 0, 0]);
                let tail = bytes.len() - 16;
                bytes[tail..].copy_from_slice(&token);
            }
            let (from, to) = crate::pair::ends(at_server);
            for elsewhere in ["10.0.0.7:443", "10.0.0.1:50001", "10.0.0.2:444"] {
                let from = elsewhere.parse().unwrap();
                let (bytes, ecn) = (bytes.clone(), wire::Ecn::NotEct);
                pair.deliver(at_server, DatagramInFlight { bytes, hole: None, damage: None, ecn, from, to });
                let victim = if at_server { pair.server() } else { pair.client() };
                assert!(!victim.is_over(), "{elsewhere} {at_server} {with_id}");
            }
            let ecn = wire::Ecn::NotEct;
            pair.deliver(at_server, DatagramInFlight { bytes, hole: None, damage: None, ecn, from, to });
            let victim = if at_server { pair.server() } else { pair.client() };
            assert_eq!(victim.close_reason(), Some(&CloseReason::StatelessReset), "{at_server} {with_id}");
        }
    }
}

/// RFC 9000-10.3-5, 9000-10.3.1-1, 9000-12.3-5: a reset may look like any packet, for this connection or for none.
#[test]
fn a_stateless_reset_in_any_form() {
    for at_server in [true, false] {
        for form in 0..5 {
            let (mut pair, token) = with_known_token(at_server);
            let mut bytes = pair.forge(at_server, PacketKind::OneRtt, &[1, 0, 0, 0]);
            match form {
                // With an id of the victim, and a new or a received packet number: decryption is checked first.
                0 => {}
                1 => pair.arrive(at_server, bytes.clone()),
                // With a long header: of a known version, of none, of a type without a number.
                2 => bytes = pair.forge(at_server, PacketKind::Handshake, &[1, 0, 0, 0]),
                3 => {
                    bytes = pair.forge(at_server, PacketKind::Handshake, &[1, 0, 0, 0]);
                    bytes[6..14].fill(3);
                }
                _ => bytes[1..9].fill(3),
            }
            let tail = bytes.len() - 16;
            bytes[tail..].copy_from_slice(&token);
            pair.arrive(at_server, bytes);
            let victim = if at_server { pair.server() } else { pair.client() };
            assert_eq!(victim.close_reason(), Some(&CloseReason::StatelessReset), "{form} {at_server}");
        }
    }
}
