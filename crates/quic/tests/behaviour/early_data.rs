//! 0-RTT: data in the first flight, accepted and rejected (RFC 9001 sections 4.6, 4.9.3 and 9.2; RFC 9000 section
//! 7.4.1).

use crate::pair::{Link, Pair, config, context, count, delay, losing, ms, opening, size};
use quic::{Config, Connection, Data, Event, StreamError};
use random::Generator;
use tls::{Context, EarlyData, KeyShare, Options, Protection};
use trace::PacketKind;
use units::Duration;
use units::parameter::Value;
use wire::{Code, Direction, Frame, StreamId};

fn options(protection: Protection) -> Options {
    Options { protection, tickets: 2, early_data: true, ..Options::default() }
}
fn contexts() -> [Context; 2] {
    [Protection::Null, Protection::Tls].map(|protection| context(&options(protection)))
}
/// A pair whose client has a session with the server.
fn acquainted(tls: Context, server: &[(&str, Value)]) -> Pair {
    Pair::new(tls, config(&[]), config(server), delay(10)).acquainted()
}
/// Opens a connection with 0-RTT and sends these bytes at once, on a new stream.
fn say_at_once(pair: &mut Pair, bytes: &[u8]) -> (usize, StreamId) {
    let mark = pair.open(opening(config(&[])).with_early_data());
    let stream = say(pair, bytes);
    (mark, stream)
}
fn say(pair: &mut Pair, bytes: &[u8]) -> StreamId {
    let now = pair.now;
    let stream = pair.client().open(Direction::Unidirectional).unwrap();
    assert_eq!(pair.client().write(now, stream, Data::Bytes(bytes)), Ok(bytes.len() as u64));
    pair.client().finish(now, stream).unwrap();
    pair.drain();
    stream
}
/// Reads all available data of a stream.
fn read(connection: &mut Connection, stream: StreamId) -> Vec<u8> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(read) = connection.read(stream, &mut buffer) {
        bytes.extend_from_slice(&buffer[..read.bytes as usize]);
        if read.bytes == 0 || read.finished {
            break;
        }
    }
    bytes
}
fn text(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + i / 251) as u8).collect()
}
fn happened(events: &[Event], event: &Event) -> usize {
    events.iter().position(|known| known == event).unwrap_or_else(|| panic!("no {event:?} in {events:?}"))
}

#[test]
fn data_arrives_with_the_first_flight() {
    for tls in contexts() {
        let mut pair = acquainted(tls, &[]);
        assert_eq!(pair.client.memory().sessions("server.example:443"), 2);
        let start = pair.now;
        let (_, stream) = say_at_once(&mut pair, b"hello");
        assert_eq!(pair.client().early_data(), EarlyData::Offered);
        assert_eq!(pair.client().alpn(), Some(&b"test"[..]));
        pair.run_to(start + ms(10));
        assert!(!pair.server().is_established());
        assert_eq!(pair.server().early_data(), EarlyData::Accepted);
        assert_eq!(read(pair.server(), stream), b"hello");
        // The server's response takes only one round trip.
        let now = pair.now;
        let answer = pair.server().open(Direction::Unidirectional).unwrap();
        pair.server().write(now, answer, Data::Bytes(b"and hello to you")).unwrap();
        pair.drain();
        pair.run_to(start + ms(20));
        assert_eq!(read(pair.client(), answer), b"and hello to you");
        pair.run_for(ms(200));
        assert!(pair.client().is_resumed() && pair.server().is_resumed());
        assert_eq!(pair.client().early_data(), EarlyData::Accepted);
        assert_eq!(pair.client().stats().packets_declared_lost, 0);
        assert_eq!(pair.server().stats().packets_dropped, 0);
        let at = |event| happened(&pair.client_events, &event);
        assert!(at(Event::EarlyDataReady) < at(Event::EarlyDataAccepted));
        assert!(at(Event::EarlyDataAccepted) < at(Event::Connected));
        let at = |event| happened(&pair.server_events, &event);
        assert!(at(Event::EarlyDataAccepted) < at(Event::Connected));
        assert!(at(Event::Opened(stream)) < at(Event::Connected));
    }
}

/// RFC 9000-17.2.3-2, 9000-17.2.3-3, and sections 12.2, 12.3 and 14.1.
#[test]
fn early_packets_follow_the_initial_packet_and_numbers_continue() {
    let mut pair = acquainted(contexts()[0].clone(), &[]);
    let (mark, _) = say_at_once(&mut pair, &text(5000));
    pair.run_for(ms(500));
    let sent = pair.sent_from(mark, true);
    assert_eq!((sent[0].kind, sent[1].kind), (PacketKind::Initial, PacketKind::ZeroRtt));
    assert_eq!((sent[0].datagram, sent[1].datagram), (0, 0));
    assert!(sent[0].datagram_length >= 1200);
    let of = |kind| sent.iter().filter(move |packet| packet.kind == kind);
    assert!(of(PacketKind::ZeroRtt).count() >= 4);
    let last = of(PacketKind::ZeroRtt).map(|packet| packet.number).max().unwrap();
    let position = |kind| move |packet: &crate::pair::Packet| packet.kind == kind;
    let last_early = sent.iter().rposition(position(PacketKind::ZeroRtt));
    assert!(last_early < sent.iter().position(position(PacketKind::OneRtt)));
    let first = of(PacketKind::OneRtt).map(|packet| packet.number).min().unwrap();
    assert_eq!(last + 1, first, "one space of numbers");
    let early: Vec<&str> = of(PacketKind::ZeroRtt).flat_map(|packet| packet.names()).collect();
    assert!(early.iter().all(|name| ["STREAM", "PADDING"].contains(name)), "{early:?}");
    // RFC 9001 section 4.6: they are acknowledged in 1-RTT packets.
    let acked = pair
        .sent_from(mark, false)
        .into_iter()
        .filter_map(|packet| (packet.kind == PacketKind::OneRtt).then(|| packet.acks()).flatten());
    assert!(acked.flatten().any(|(start, end)| (start..=end).contains(&0)));
}

#[test]
fn no_early_data_without_a_request() {
    for tls in contexts() {
        let mut pair = acquainted(tls, &[]);
        pair.open(opening(config(&[])));
        assert_eq!(pair.client().open(Direction::Bidirectional), Err(StreamError::LimitReached));
        pair.run_for(ms(200));
        assert!(pair.client().is_established() && pair.client().is_resumed());
        assert_eq!(pair.client().early_data(), EarlyData::NotOffered);
        pair.hang_up();
        // Nor without a remembered session.
        pair.client.set_memory(quic::Memory::default());
        pair.open(opening(config(&[])).with_early_data());
        assert_eq!(pair.client().early_data(), EarlyData::NotOffered);
        pair.run_for(ms(200));
        assert!(pair.client().is_established() && !pair.client().is_resumed());
        assert!(!pair.client_events.contains(&Event::EarlyDataReady));
    }
}

/// RFC 9001 section 4.6.2.
#[test]
fn rejected_data_is_sent_again_on_the_same_streams() {
    for tls in contexts() {
        let mut pair = acquainted(tls.clone(), &[]);
        pair.restart(tls, config(&[]));
        let data = text(20_000);
        let (_, first) = say_at_once(&mut pair, &data);
        let second = say(&mut pair, b"short");
        let now = pair.now;
        let given_up = pair.client().open(Direction::Bidirectional).unwrap();
        pair.client().write(now, given_up, Data::Bytes(b"no")).unwrap();
        pair.client().reset(given_up, 7).unwrap();
        pair.client().stop(given_up, 8).unwrap();
        pair.run_for(ms(1000));
        assert!(pair.client().is_established() && !pair.client().is_resumed());
        assert_eq!(pair.client().early_data(), EarlyData::Rejected);
        assert_eq!(pair.server().early_data(), EarlyData::NotOffered);
        assert_eq!(read(pair.server(), first), data);
        assert_eq!(read(pair.server(), second), b"short");
        let at = |event| happened(&pair.client_events, &event);
        assert!(at(Event::EarlyDataRejected { resent: true }) < at(Event::Connected));
        at(Event::Delivered(first));
        at(Event::Delivered(second));
        happened(&pair.server_events, &Event::Reset { stream: given_up, code: 7 });
        let sent = pair.client().stats().streams.sent_bytes;
        assert!((20_005..=20_007).contains(&sent), "each byte counts once: {sent}");
        assert_eq!(pair.client().flight().1, 0);
        assert_eq!(pair.client().stats().packets_declared_lost, 0, "refused is not lost");
    }
}

/// RFC 9000-7.4.1-5, 9000-7.4.1-6, 9000-7.4.1-7.
#[test]
fn a_server_with_lower_limits_rejects_and_the_new_limits_apply() {
    for tls in contexts() {
        for (name, value) in [
            ("initial_max_data", size(3_000)),
            ("initial_max_stream_data_uni", size(2_000)),
            ("initial_max_streams_uni", count(1)),
            ("active_connection_id_limit", count(2)),
        ] {
            let before = [("active_connection_id_limit", count(4))];
            let mut pair = acquainted(tls.clone(), &before);
            pair.restart_with_tickets(tls.clone(), config(&[(name, value)]));
            let data = text(10_000);
            let (_, stream) = say_at_once(&mut pair, &data);
            let mut received = Vec::new();
            pair.run_until(ms(3_000), |pair| {
                if let Some(handle) = pair.accepted.first().copied()
                    && let Some(server) = pair.server.get_mut(handle)
                {
                    received.extend(read(server, stream));
                }
                received.len() == data.len()
            });
            assert!(received == data, "{name}: {}", received.len());
            assert!(pair.client().is_resumed(), "the session is taken up, its data is not");
            assert_eq!(pair.client().early_data(), EarlyData::Rejected);
            assert_eq!(pair.server().early_data(), EarlyData::NotOffered);
        }
    }
}

/// RFC 9001 section 4.6.2, RFC 8446 section 4.2.10.
#[test]
fn more_streams_than_permitted_or_another_protocol_end_all_streams() {
    for protection in [Protection::Null, Protection::Tls] {
        for fewer in [true, false] {
            let of = |alpn: &[&[u8]]| Context::new(&options(protection), alpn, 7).unwrap();
            let (then, now) = (of(&[b"a", b"b"]), of(&[b"b", b"a"]));
            let mut pair = acquainted(then.clone(), &[]);
            match fewer {
                true => pair.restart(then, config(&[("initial_max_streams_uni", count(1))])),
                false => pair.restart(now, config(&[])),
            }
            say_at_once(&mut pair, &text(3_000));
            let old = say(&mut pair, b"second");
            assert_eq!(pair.client().alpn(), Some(&b"a"[..]));
            pair.run_for(ms(500));
            assert_eq!(pair.client().alpn(), Some(if fewer { &b"a"[..] } else { &b"b"[..] }));
            happened(&pair.client_events, &Event::EarlyDataRejected { resent: false });
            assert_eq!(pair.client().open_streams(), 0);
            let now = pair.now;
            assert_eq!(pair.client().write(now, old, Data::Bytes(b"x")), Err(StreamError::Unknown));
            assert_eq!(pair.server().stats().streams.received_bytes, 0);
            // The application starts again.
            let stream = say(&mut pair, b"anew");
            assert_eq!(stream.index(), 0);
            pair.run_for(ms(500));
            assert_eq!(read(pair.server(), stream), b"anew");
            assert_eq!(pair.client().stats().streams.sent_bytes, 4);
        }
    }
}

/// RFC 9000-7.4.1-4, 9000-7.4.1-8.
#[test]
fn early_data_respects_the_remembered_limits_and_later_data_the_new_ones() {
    for tls in contexts() {
        let before = [("initial_max_data", size(4_000))];
        let mut pair = acquainted(tls.clone(), &before);
        pair.restart_with_tickets(tls, config(&[]));
        let start = pair.now;
        let data = text(9_000);
        let (_, stream) = say_at_once(&mut pair, &data);
        pair.run_to(start + ms(15));
        assert_eq!(pair.client().stats().streams.sent_bytes, 4_000);
        assert_eq!(read(pair.server(), stream), data[..4_000]);
        pair.run_for(ms(500));
        assert_eq!(pair.client().early_data(), EarlyData::Accepted);
        assert_eq!(read(pair.server(), stream), data[4_000..]);
    }
}

/// RFC 9000-7.4.1-6: a server that accepts 0-RTT although it lowers a limit.
#[test]
fn a_lowered_limit_with_accepted_early_data_ends_the_connection() {
    // With null protection the server's parameters can be altered in transit: one byte of initial_max_data.
    for (name, id, value) in [("initial_max_data", 4u8, 0x80u8), ("initial_max_streams_uni", 9, 0x40)] {
        let server = [(name, if id == 4 { size(0x1000_0000) } else { count(0x1000) })];
        let mut pair = acquainted(contexts()[0].clone(), &server);
        let mut done = false;
        pair.link = Box::new(move |to_server, _, flying| {
            // Identifier, length, and the first byte of the value, replaced by a smaller one.
            let wanted: &[u8] = if id == 4 { &[4, 4, 0x90] } else { &[9, 2, 0x50] };
            if !to_server
                && !done
                && let Some(at) = flying.bytes.windows(3).position(|bytes| bytes == wanted)
            {
                flying.bytes[at + 2] = value;
                done = true;
            }
            vec![ms(10)]
        });
        say_at_once(&mut pair, b"data");
        pair.run_for(ms(100));
        let reason = pair.client().close_reason().unwrap().clone();
        let quic::CloseReason::Transport(error) = reason else { panic!("{reason}") };
        assert_eq!(error.code, Code::PROTOCOL_VIOLATION);
        assert!(error.reason.contains(name), "{error}");
    }
}

/// RFC 9001 section 9.2, RFC 8446 section 8.
#[test]
fn a_replay_is_rejected_with_protection_and_accepted_without() {
    for replay_protection in [true, false] {
        for protection in [Protection::Null, Protection::Tls] {
            let tls = context(&Options { replay_protection, ..options(protection) });
            let mut pair = acquainted(tls, &[]);
            let (mark, stream) = say_at_once(&mut pair, b"pay 100");
            pair.run_for(ms(100));
            assert_eq!(read(pair.server(), stream), b"pay 100");
            let known = pair.server.len();
            // An attacker repeats the first flight from another port.
            pair.replay(mark, 1, 666);
            assert_eq!(pair.server.len(), known + 1);
            let replayed = *pair.accepted.last().unwrap();
            let connection = pair.server.get_mut(replayed).unwrap();
            let taken = read(connection, stream);
            if replay_protection {
                assert_eq!((taken, connection.early_data()), (Vec::new(), EarlyData::NotOffered));
            } else {
                assert_eq!((taken, connection.early_data()), (b"pay 100".to_vec(), EarlyData::Accepted));
            }
            assert!(!connection.is_established());
        }
    }
}

/// RFC 9000-8.1-3: 0-RTT does not validate an address.
#[test]
fn early_data_does_not_lift_the_anti_amplification_limit() {
    for tls in contexts() {
        let mut pair = acquainted(tls, &[]);
        let (mark, _) = say_at_once(&mut pair, b"give me all");
        // No more packets of the client arrive.
        pair.link = Box::new(|to_server, _, _| if to_server { Vec::new() } else { vec![ms(10)] });
        pair.run_for(ms(10));
        let now = pair.now;
        let answer = pair.server().open(Direction::Unidirectional).unwrap();
        pair.server().write(now, answer, Data::Virtual(1_000_000)).unwrap();
        pair.run_for(ms(2_000));
        let bytes = |to_server| {
            let sent = pair.wire[mark..].iter().filter(|seen| seen.to_server == to_server);
            sent.map(|seen| seen.length).collect::<Vec<_>>()
        };
        let (arrived, answered): (usize, usize) = (bytes(true)[0], bytes(false).iter().sum());
        assert!(answered <= 3 * arrived && answered > 2 * arrived, "{answered} of {arrived}");
    }
}

/// All bytes arrive, whatever parts of the first flights are lost.
#[test]
fn lost_first_flights_lose_no_data() {
    for tls in contexts() {
        for refused in [false, true] {
            for first in 0..5 {
                for second in first..5 {
                    let mut pair = acquainted(tls.clone(), &[]);
                    if refused {
                        pair.restart(tls.clone(), config(&[]));
                    }
                    let lost = [(second % 2 == 0, first), (true, second)];
                    pair.link = losing(10, move |to_server, number| lost.contains(&(to_server, number)));
                    let data = text(3_500);
                    let (_, stream) = say_at_once(&mut pair, &data);
                    let mut received = Vec::new();
                    pair.run_until(ms(10_000), |pair| {
                        if let Some(handle) = pair.accepted.last().copied()
                            && let Some(server) = pair.server.get_mut(handle)
                        {
                            received.extend(read(server, stream));
                        }
                        received.len() >= data.len()
                    });
                    assert!(received == data, "{lost:?}, {} bytes", received.len());
                    pair.run_for(ms(2_000));
                    assert_eq!(pair.client().flight().1, 0);
                    happened(&pair.client_events, &Event::Delivered(stream));
                }
            }
        }
    }
}

/// RFC 9000 section 5.2.2.
#[test]
fn early_packets_that_overtake_the_initial_one_wait_for_it() {
    for tls in contexts() {
        let mut pair = acquainted(tls, &[]);
        pair.link = Box::new(|to_server, number, _| vec![ms(if to_server && number == 0 { 30 } else { 10 })]);
        let start = pair.now;
        let data = text(3_000);
        let (_, stream) = say_at_once(&mut pair, &data);
        pair.run_to(start + ms(29));
        assert!(pair.server.is_empty());
        pair.run_to(start + ms(30));
        assert_eq!(read(pair.server(), stream), data);
        pair.run_for(ms(500));
        assert_eq!(pair.client().stats().packets_declared_lost, 0);
    }
}

#[test]
fn early_packets_that_overtake_half_of_a_client_hello_wait_for_the_rest() {
    for protection in [Protection::Null, Protection::Tls] {
        let tls = context(&Options { key_share: KeyShare::X25519MlKem768, ..options(protection) });
        let mut pair = acquainted(tls, &[]);
        // The ClientHello takes two datagrams; the second is late, but the data after it is not.
        pair.link = Box::new(|to_server, number, _| vec![ms(if to_server && number == 1 { 30 } else { 10 })]);
        let start = pair.now;
        let data = text(5_000);
        let (_, stream) = say_at_once(&mut pair, &data);
        pair.run_to(start + ms(29));
        assert_eq!(pair.server().early_data(), EarlyData::NotOffered);
        pair.run_to(start + ms(30));
        assert_eq!(read(pair.server(), stream), data);
        pair.run_for(ms(500));
        assert_eq!(pair.server().stats().packets_dropped, 0);
    }
}

/// RFC 9001 section 4.6.2 with RFC 8446 section 4.1.4.
#[test]
fn a_hello_retry_request_rejects_early_data() {
    let of = |key_share| context(&Options { key_share, ..options(Protection::Tls) });
    let (hybrid, curve) = (of(KeyShare::X25519MlKem768), of(KeyShare::X25519));
    let mut pair = acquainted(hybrid, &[]);
    pair.restart_with_tickets(curve, config(&[]));
    let data = text(30_000);
    let (_, stream) = say_at_once(&mut pair, &data);
    pair.run_for(ms(1_000));
    assert!(pair.client().is_established());
    assert_eq!(pair.client().early_data(), EarlyData::Rejected);
    assert_eq!(read(pair.server(), stream), data);
    happened(&pair.client_events, &Event::EarlyDataRejected { resent: true });
}

/// RFC 9000-12.4-3, section 12.5, RFC 9001 section 8.3.
#[test]
fn frames_not_permitted_in_early_packets_are_violations() {
    let ack = {
        let mut bytes = Vec::new();
        wire::frame::ack(&mut bytes, std::iter::once(0..=0), 0, None, 100);
        bytes
    };
    let encoded = |frame: Frame<'_>| {
        let mut bytes = Vec::new();
        frame.encode(&mut bytes);
        bytes
    };
    for payload in [
        ack,
        encoded(Frame::Crypto { offset: 0, data: b"x" }),
        encoded(Frame::HandshakeDone),
        encoded(Frame::NewToken { token: b"token" }),
        encoded(Frame::PathResponse { data: [1; 8] }),
        encoded(Frame::RetireConnectionId { sequence: 0 }),
    ] {
        let mut pair = acquainted(contexts()[0].clone(), &[]);
        say_at_once(&mut pair, b"data");
        pair.run_for(ms(10));
        pair.inject_raw(true, PacketKind::ZeroRtt, &payload);
        let reason = pair.server().close_reason().unwrap().clone();
        let quic::CloseReason::Transport(error) = reason else { panic!("{reason}") };
        assert_eq!((error.code, error.frame_type), (Code::PROTOCOL_VIOLATION, Some(u64::from(payload[0]))));
    }
}

/// RFC 9000 section 17.2.3.
#[test]
fn a_client_accepts_no_early_packets() {
    let mut pair = acquainted(contexts()[0].clone(), &[]);
    say_at_once(&mut pair, b"data");
    pair.run_for(ms(25));
    let dropped = pair.client().stats().packets_dropped;
    pair.inject(false, PacketKind::ZeroRtt, &[Frame::Ping]);
    assert_eq!(pair.client().stats().packets_dropped, dropped + 1);
    assert!(!pair.client().is_over());
}

/// RFC 9001 section 4.9.3.
#[test]
fn keys_of_early_data_are_kept_three_probe_timeouts_after_the_first_one_rtt_packet() {
    for (late, taken) in [(ms(50), true), (ms(2_000), false)] {
        let mut pair = acquainted(contexts()[0].clone(), &[]);
        say_at_once(&mut pair, b"data");
        pair.run_for(ms(40));
        assert!(pair.server().is_established());
        pair.run_for(late);
        let (received, dropped) =
            (pair.server().stats().packets_received, pair.server().stats().packets_dropped);
        pair.inject(true, PacketKind::ZeroRtt, &[Frame::Ping]);
        let stats = pair.server().stats();
        let expected = if taken { (received + 1, dropped) } else { (received, dropped + 1) };
        assert_eq!((stats.packets_received, stats.packets_dropped), expected);
    }
}

#[test]
fn early_data_respects_the_initial_window() {
    let mut pair = acquainted(contexts()[0].clone(), &[]);
    let start = pair.now;
    let (mark, _) = say_at_once(&mut pair, &text(200_000));
    pair.run_to(start + ms(19));
    let sent: usize = pair.wire[mark..].iter().filter(|seen| seen.to_server).map(|seen| seen.length).sum();
    assert!(sent <= 10 * 1472 && sent > 8 * 1472, "{sent}");
}

/// The datagrams of three connections: one that provides tickets, one with 0-RTT, one with rejected 0-RTT.
fn course(protection: Protection, seed: u64, client: &Config) -> Vec<crate::pair::Seen> {
    let tls = context(&options(protection));
    let mut random = Generator::new(seed, "loss");
    let link: Link = Box::new(move |_, _, _| match random.chance(0.1) {
        true => Vec::new(),
        false => vec![Duration::from_millis(10 + random.below(3) * random.below(20))],
    });
    let mut pair = Pair::seeded(seed, tls.clone(), client.clone(), config(&[]), link);
    pair.keeps_bytes = false;
    pair.run_for(ms(20_000));
    assert!(pair.client().is_established());
    for restarted in [false, true] {
        pair.hang_up();
        if restarted {
            pair.restart(tls.clone(), config(&[]));
        }
        say_at_once(&mut pair, &text(40_000));
        pair.run_for(ms(20_000));
        assert_eq!(pair.client().early_data() == EarlyData::Accepted, !restarted);
        assert_eq!(pair.server().stats().streams.received_bytes, 40_000);
    }
    pair.wire
}

#[test]
fn null_and_tls_agree_in_sizes_and_times() {
    for seed in 0..20 {
        let client = config(&[("max_udp_payload", count(1200 + seed * 13))]);
        let [null, tls] = [Protection::Null, Protection::Tls].map(|kind| course(kind, seed, &client));
        assert_eq!(null, tls, "seed {seed}");
    }
}

#[test]
fn equal_seeds_give_equal_bytes() {
    for tls in contexts() {
        let course = || {
            let mut pair = acquainted(tls.clone(), &[]);
            say_at_once(&mut pair, &text(10_000));
            pair.run_for(ms(500));
            pair.wire
        };
        assert!(course() == course());
    }
}
