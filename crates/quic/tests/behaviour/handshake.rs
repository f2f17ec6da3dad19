//! The handshake: lost, late and repeated flights, large messages, padding, amplification (RFC 9000 sections 7, 8,
//! 14).

use crate::pair::forge::FIRST_FORGED;
use crate::pair::{Link, Pair, at, config, context, contexts, count, delay, losing, ms, null, span};
use quic::Event;
use random::Generator;
use tls::{KeyShare, Options, Protection};
use trace::PacketKind;
use units::{Duration, Size, Time};
use wire::Frame;

/// Runs a complete handshake and checks what must hold on every link.
fn complete(mut pair: Pair) -> Pair {
    let done = pair.run_until(ms(60_000), |pair| {
        pair.client().is_established() && !pair.accepted.is_empty() && pair.server().is_established()
    });
    let client = pair.client();
    assert!(done, "not complete: {:?}, {:?}", client.close_reason(), client.stats());
    pair.run_for(ms(5000));
    assert!(!pair.client().is_over() && !pair.server().is_over());
    assert_eq!(pair.client_events.iter().filter(|event| **event == Event::Connected).count(), 1);
    pair
}

/// RFC 9000 section 14.1.
fn check_padding(pair: &Pair) {
    for packet in pair.packets().iter().filter(|packet| packet.kind == PacketKind::Initial) {
        let eliciting =
            packet.names().iter().any(|name| !["ACK", "PADDING", "CONNECTION_CLOSE"].contains(name));
        if packet.to_server || eliciting {
            assert!(packet.datagram_length >= 1200, "{packet:?}");
        }
    }
}

/// RFC 9000 section 8.1, over a link of 10 ms without loss towards the server: until a Handshake packet of the client
/// has arrived, the server sends at most three times the bytes received. Returns the largest fraction of that limit
/// in use.
fn check_amplification(pair: &Pair) -> f64 {
    let proof =
        pair.packets().into_iter().find(|packet| packet.to_server && packet.kind == PacketKind::Handshake);
    let proven = proof.map_or(Time::NEVER, |packet| packet.at + ms(10));
    let mut highest: f64 = 0.0;
    for (index, seen) in pair.wire.iter().enumerate().filter(|(_, seen)| !seen.to_server && seen.at < proven)
    {
        let sent: usize =
            pair.wire[..=index].iter().filter(|other| !other.to_server).map(|other| other.length).sum();
        let received = pair.wire.iter().filter(|other| other.to_server && other.at + ms(10) <= seen.at);
        let credit = 3 * received.map(|other| other.length).sum::<usize>();
        assert!(sent <= credit, "{sent} bytes sent on a credit of {credit} at {}", seen.at);
        highest = highest.max(sent as f64 / credit as f64);
    }
    highest
}

fn large(protection: Protection) -> tls::Context {
    context(&Options {
        protection,
        key_share: KeyShare::X25519MlKem768,
        certificate_chain: Size::from_bytes(20_000),
        ..Options::default()
    })
}

#[test]
fn one_round_trip_for_the_client_and_a_half_more_for_the_server() {
    let mut pair = Pair::plain();
    pair.run_to(at(19));
    assert!(!pair.client().is_established());
    pair.run_to(at(20));
    assert!(pair.client().is_established() && !pair.server().is_established());
    pair.run_to(at(30));
    assert!(pair.server().is_established());
    pair.run_to(at(1000));
    check_padding(&pair);
    check_amplification(&pair);
    let packets = pair.packets();
    let of_first = |to_server: bool| -> Vec<PacketKind> {
        packets.iter().filter(|p| p.to_server == to_server && p.datagram == 0).map(|p| p.kind).collect()
    };
    assert_eq!(of_first(true), [PacketKind::Initial]);
    assert_eq!(of_first(false), [PacketKind::Initial, PacketKind::Handshake], "coalesced");
    assert_eq!(pair.client().stats().packets_dropped + pair.server().stats().packets_dropped, 0);
    assert_eq!(pair.client().stats().probe_timeouts + pair.server().stats().probe_timeouts, 0);
}

/// RFC 9000-8.1-3, 9000-14.1-1, 9000-14.1-2.
#[test]
fn any_two_datagrams_may_be_lost() {
    for first in 0..8 {
        for second in 0..8 {
            for directions in 0..4 {
                let lost = [(directions & 1 == 1, first), (directions & 2 == 2, second)];
                let link = losing(10, move |to_server, number| lost.contains(&(to_server, number)));
                let pair = complete(Pair::new(null(), config(&[]), config(&[]), link));
                check_padding(&pair);
            }
        }
    }
}

#[test]
fn any_two_datagrams_of_a_long_handshake_may_be_lost() {
    let context = large(Protection::Null);
    for first in 0..6 {
        for second in 0..20 {
            let lost = [(true, first), (false, second)];
            let link = losing(10, move |to_server, number| lost.contains(&(to_server, number)));
            let payload = [("max_udp_payload", count(1200 + first * 50))];
            let pair = complete(Pair::new(context.clone(), config(&payload), config(&payload), link));
            check_padding(&pair);
        }
    }
}

/// RFC 9000-12.2-3.
#[test]
fn datagrams_may_arrive_in_any_order_and_twice() {
    for seed in 0..100 {
        let mut random = Generator::new(seed, "order");
        let link: Link = Box::new(move |_, _, _| {
            let mut late = || Duration::from_millis(5 + random.below(200));
            let first = late();
            if seed % 2 == 0 { vec![first] } else { vec![first, late(), late()] }
        });
        check_padding(&complete(Pair::new(null(), config(&[]), config(&[]), link)));
    }
}

#[test]
fn null_and_tls_handshakes_agree_for_all_sizes_and_losses() {
    for (seed, kilobytes) in [(1u64, 2u64), (2, 5), (3, 20), (4, 60)] {
        for key_share in [KeyShare::X25519, KeyShare::X25519MlKem768] {
            let [null, tls] = [Protection::Null, Protection::Tls].map(|protection| {
                let certificate_chain = Size::from_bytes(kilobytes * 1000);
                let context =
                    context(&Options { protection, key_share, certificate_chain, ..Options::default() });
                let mut random = Generator::new(seed, "loss");
                let link = losing(10, move |_, _| random.chance(0.2));
                let mut pair = Pair::new(context, config(&[]), config(&[]), link);
                pair.keeps_bytes = false;
                complete(pair).wire
            });
            assert_eq!(null, tls);
        }
    }
}

#[test]
fn a_client_hello_over_two_datagrams() {
    for protection in [Protection::Null, Protection::Tls] {
        for lost in 0..3 {
            let link = losing(10, move |to_server, number| to_server && number == lost);
            let mut pair = Pair::new(large(protection), config(&[]), config(&[]), link);
            pair.run_to(Time::ZERO);
            assert!(
                pair.wire.len() == 2 && pair.wire.iter().all(|seen| seen.length >= 1200),
                "{:?}",
                pair.wire.len()
            );
            complete(pair);
        }
    }
}

/// RFC 9000-8.1-1, 9000-8.1-2.
#[test]
fn a_long_certificate_chain_waits_for_address_validation() {
    let pair = complete(Pair::new(large(Protection::Null), config(&[]), config(&[]), delay(10)));
    assert!(check_amplification(&pair) > 0.95, "the credit is used up");
    let small = context(&Options { certificate_chain: Size::from_bytes(20_000), ..Options::default() });
    let pair = complete(Pair::new(small, config(&[]), config(&[]), delay(10)));
    assert!(check_amplification(&pair) > 0.95);
    assert_eq!(pair.server.get(pair.accepted[0]).unwrap().stats().packets_declared_lost, 0);
}

#[test]
fn a_server_whose_flight_is_lost_stays_within_its_credit() {
    // No packet of the server arrives for two seconds.
    let link = Box::new(|to_server, number, _: &mut _| match to_server || number > 12 {
        true => vec![ms(10)],
        false => Vec::new(),
    });
    let pair = complete(Pair::new(large(Protection::Null), config(&[]), config(&[]), link));
    check_amplification(&pair);
    check_padding(&pair);
}

/// RFC 9000-8.1-4, 9000-8.1-5.
#[test]
fn a_client_with_nothing_in_flight_sends_probes_for_the_server() {
    // The first datagram of the server acknowledges the ClientHello and contains half of a ServerHello; no other
    // datagram arrives.
    let payload = [("max_udp_payload", count(1200))];
    let link = losing(10, |to_server, number| !to_server && number > 0);
    let mut pair = Pair::new(large(Protection::Null), config(&payload), config(&payload), link);
    pair.run_to(at(500));
    assert_eq!(pair.sent_from(0, false)[0].names()[0], "ACK");
    // RFC 9002 section A.8: one probe timeout after the acknowledgement, smoothed 20 ms and variance 10 ms; then twice.
    let pings: Vec<Time> =
        pair.sent_from(0, true).iter().filter(|packet| packet.has("PING")).map(|packet| packet.at).collect();
    assert_eq!(pings[..4], [at(80), at(80), at(200), at(200)]);
    check_padding(&pair);
}

#[test]
fn data_that_arrives_before_the_finished_waits_for_it() {
    for context in contexts() {
        // The datagram with the client's Finished arrives late.
        let link: Link =
            Box::new(|to_server, number, _| vec![ms(if to_server && number == 1 { 50 } else { 10 })]);
        let mut pair = Pair::new(context, config(&[]), config(&[]), link);
        pair.run_to(at(20));
        let sent = pair.wire.iter().filter(|seen| seen.to_server).count();
        assert!(sent >= 2, "{sent}");
        pair.upload(5000);
        pair.run_to(at(69));
        assert!(!pair.server().is_established());
        pair.run_to(at(71));
        assert!(pair.server().is_established());
        assert_eq!(pair.server().stats().streams.received_bytes, 5000);
        pair.run_for(ms(1000));
        assert_eq!(pair.server().stats().packets_dropped, 0);
    }
}

/// Delivers a Handshake packet that acknowledges all Handshake packets of the server.
fn acknowledge_handshake(pair: &mut Pair) {
    let sent = pair.sent_from(0, false).into_iter().filter(|packet| packet.kind == PacketKind::Handshake);
    let last = sent.map(|packet| packet.number).max().unwrap();
    pair.inject_raw(true, PacketKind::Handshake, &[2, last as u8, 0, 0, last as u8]);
}
/// How many packets of the server since the mark carry a PING.
fn asked(pair: &Pair, mark: usize) -> usize {
    pair.sent_from(mark, false).into_iter().filter(|packet| packet.has("PING")).count()
}

/// RFC 9002 section 6.2.3: a client whose Finished was lost acknowledges the server's flight, and sends nothing else of
/// the handshake. The server makes it answer and acknowledges the answers, which shows the client what was lost.
#[test]
fn a_server_that_misses_the_finished_asks_for_it() {
    let link = losing(10, |to_server, number| to_server && number > 0);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.run_to(at(30));
    acknowledge_handshake(&mut pair);
    let mark = pair.mark();
    pair.run_to(at(40));
    assert_eq!(asked(&pair, mark), 0, "it waits for the client");
    // The first 1-RTT packet.
    pair.inject_data(true, &[Frame::Ping]);
    assert_eq!(asked(&pair, mark), 1);
    // The next PING acknowledges the answer to this one, which no acknowledgement alone would have done.
    acknowledge_handshake(&mut pair);
    let sent = pair.sent_from(mark, false).into_iter();
    let acknowledged: Vec<_> = sent.map(|packet| packet.acks().map(|ranges| ranges[0].1)).collect();
    assert_eq!(acknowledged, [Some(FIRST_FORGED), Some(FIRST_FORGED + 2)]);
}

/// The client's window is full of 1-RTT packets that the server cannot decrypt when it learns that its Finished was
/// lost, and nothing of the handshake is in flight.
#[test]
fn a_lost_finished_does_not_wait_for_the_packets_behind_it() {
    let link = losing(10, |to_server, number| to_server && (1..100).contains(&number));
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.run_to(at(20));
    pair.upload(1_000_000);
    pair.run_to(at(22));
    for _ in 0..3 {
        pair.inject(false, PacketKind::Handshake, &[Frame::Ping]);
    }
    let sent = pair.sent_from(0, true).into_iter().filter(|packet| packet.kind == PacketKind::Handshake);
    let sent: Vec<_> = sent.map(|packet| (packet.number, packet.has("CRYPTO"))).collect();
    let last = sent.last().unwrap().0;
    assert!(sent.len() as u64 == last + 1 && last >= 3, "{sent:?}");
    assert_eq!(sent.iter().filter(|(_, finished)| *finished).count(), 1, "{sent:?}");
    let mark = pair.mark();
    pair.inject_raw(false, PacketKind::Handshake, &[2, last as u8, 0, 0, last as u8 - 1]);
    pair.run_for(ms(200));
    let again = pair.sent_from(mark, true).into_iter();
    assert!(again.into_iter().any(|packet| packet.kind == PacketKind::Handshake && packet.has("CRYPTO")));
}

/// A client whose probes do not repeat the lost half of its ClientHello: a lost ACK is sent again.
#[test]
fn a_server_that_misses_half_a_client_hello_asks_for_it() {
    let mut sent_by_server = 0;
    let link: Link = Box::new(move |to_server, number, _| {
        sent_by_server += u64::from(!to_server);
        let arrives = if to_server { number == 1 } else { sent_by_server > 2 };
        if arrives { vec![ms(10)] } else { Vec::new() }
    });
    let client = config(&[("initial_rtt", span(10_000))]);
    let mut pair = Pair::new(large(Protection::Null), client, config(&[]), link);
    pair.run_to(at(20));
    let mark = pair.mark();
    pair.inject(true, PacketKind::Initial, &[Frame::Ping, Frame::Padding { length: 1200 }]);
    pair.run_for(ms(10_000));
    let pings = pair.sent_from(mark, false).into_iter().filter(|packet| packet.has("PING"));
    assert!(pings.clone().count() > 1, "its own probe timeout repeats it");
    assert!(pings.into_iter().all(|packet| packet.kind == PacketKind::Initial && packet.acks().is_some()));
    check_padding(&pair);
    check_amplification(&pair);
}

/// The same at a client, of a server whose probes do not repeat its flight.
#[test]
fn a_client_that_misses_the_flight_asks_for_it() {
    // Of the server, only the first datagram arrives, with the ServerHello.
    let link = losing(10, |to_server, number| !to_server && number > 0);
    let mut pair = Pair::new(large(Protection::Null), config(&[]), config(&[]), link);
    pair.run_to(at(40));
    assert!(!pair.client().is_established());
    pair.inject_raw(false, PacketKind::Handshake, &[1]);
    let mark = pair.mark();
    pair.run_for(ms(2_000));
    let pings = pair.sent_from(mark, true).into_iter();
    let pings: Vec<_> =
        pings.filter(|packet| packet.kind == PacketKind::Handshake && packet.has("PING")).collect();
    assert!(pings.len() > 1 && pings.iter().all(|packet| packet.acks().is_some()), "{pings:?}");
}

/// The packets of a client since the mark that ask the server for more, by their kind.
fn asked_by_client(pair: &Pair, mark: usize) -> Vec<PacketKind> {
    let pings =
        pair.sent_from(mark, true).into_iter().filter(|packet| packet.has("PING") && packet.acks().is_some());
    pings.map(|packet| packet.kind).collect()
}

/// RFC 9002 section 6.2.3: Handshake packets before the ServerHello show that Initial packets were lost. The client's
/// ClientHello is acknowledged, so that nothing else makes the server send its own again before it times out.
#[test]
fn a_client_that_misses_the_server_hello_asks_for_it() {
    let link = losing(10, |to_server, _| !to_server);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.run_to(at(15));
    pair.inject_raw(false, PacketKind::Initial, &[2, 0, 0, 0, 0]);
    let mark = pair.mark();
    pair.inject(false, PacketKind::Handshake, &[Frame::Ping]);
    assert_eq!(asked_by_client(&pair, mark), [PacketKind::Initial]);
    // What was sent just now may still be answered.
    pair.inject(false, PacketKind::Handshake, &[Frame::Ping]);
    assert_eq!(asked_by_client(&pair, mark).len(), 1);
    check_padding(&pair);
}

/// A probe that was lost holds nothing back until the timeout, which doubles with each, declares it lost.
#[test]
fn a_lost_probe_does_not_keep_a_client_from_asking() {
    let link = losing(10, |to_server, number| !to_server || number > 0);
    let client = config(&[("initial_rtt", span(100))]);
    let mut pair = Pair::new(null(), client, config(&[]), link);
    pair.run_to(at(15));
    pair.inject_raw(false, PacketKind::Initial, &[2, 0, 0, 0, 0]);
    // Several probes, each after twice the time.
    pair.run_to(at(3_000));
    let mark = pair.mark();
    pair.inject(false, PacketKind::Initial, &[Frame::Ping]);
    assert_eq!(asked_by_client(&pair, mark), [PacketKind::Initial]);
    pair.inject(false, PacketKind::Initial, &[Frame::Ping]);
    assert_eq!(asked_by_client(&pair, mark).len(), 1, "the first may still be answered");
}

/// The client acknowledges each PING, and never sends its Finished.
#[test]
fn a_server_does_not_ask_for_ever() {
    let link = losing(10, |to_server, number| to_server && number > 0);
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.run_to(at(30));
    pair.inject_data(true, &[Frame::Ping]);
    let mark = pair.mark();
    for _ in 0..30 {
        acknowledge_handshake(&mut pair);
        pair.run_for(ms(1));
    }
    assert_eq!(asked(&pair, mark), 8);
}

#[test]
fn keys_of_the_handshake_are_discarded() {
    let mut pair = Pair::established();
    for kind in [PacketKind::Initial, PacketKind::Handshake] {
        for to_server in [true, false] {
            let mark = pair.mark();
            let mut bytes = pair.forge(to_server, kind, &[1, 0, 0, 0]);
            bytes.resize(1300, 0);
            pair.arrive(to_server, bytes);
            pair.run_for(ms(100));
            assert_eq!(pair.mark(), mark, "no answer to {kind:?}");
        }
    }
    assert!(!pair.client().is_over() && !pair.server().is_over());
}

/// RFC 9000-5.2.2-2.
#[test]
fn an_altered_first_packet_leaves_no_connection() {
    let link: Link = Box::new(|to_server, number, flying| {
        if to_server && number == 0 {
            // One byte of the client's id.
            flying.bytes[16] ^= 0x55;
            flying.damage = Some(wire::Damage { first: 16, last: 16 });
        }
        vec![ms(10)]
    });
    let mut pair = Pair::new(null(), config(&[]), config(&[]), link);
    pair.run_to(at(100));
    assert!(pair.server.is_empty() && pair.server.dropped() == 1);
    let pair = complete(pair);
    assert_eq!(pair.server.len(), 1);
}

/// RFC 9002 section 6.2.3: the server's flight is lost. The client's probe timeout is shorter than the server's, and
/// its repeated ClientHello makes the server repeat the flight immediately.
#[test]
fn a_repeated_client_hello_causes_the_flight_to_be_repeated() {
    for context in contexts() {
        let client = config(&[("initial_rtt", span(50))]);
        let link = losing(10, |to_server, number| !to_server && number < 3);
        let mut pair = Pair::new(context, client, config(&[]), link);
        pair.run_to(at(169));
        assert!(!pair.client().is_established());
        pair.run_to(at(171));
        assert!(pair.client().is_established(), "150 ms are the client's probe timeout, and 20 a round trip");
        assert_eq!(pair.server().stats().probe_timeouts, 0);
    }
}

/// RFC 9002 section 6.2.3: "for a limited number of times per connection", and RFC 9000 section 8.1: within three
/// times the bytes received. A repeated ClientHello in several CRYPTO frames of one packet counts once.
#[test]
fn endless_client_hellos_do_not_cause_endless_flights() {
    let whole = [Frame::Crypto { offset: 0, data: &[0; 100] }, Frame::Padding { length: 1100 }];
    let parts = [
        Frame::Crypto { offset: 60, data: &[0; 40] },
        Frame::Crypto { offset: 0, data: &[0; 60] },
        Frame::Padding { length: 1100 },
    ];
    for hello in [&whole[..], &parts] {
        // The server receives no response for long enough.
        let server = config(&[("initial_rtt", span(10_000))]);
        let link = losing(10, |to_server, number| !to_server || number > 0);
        let mut pair = Pair::new(null(), config(&[("initial_rtt", span(10_000))]), server, link);
        pair.run_for(ms(100));
        let flight = |pair: &Pair, mark| {
            let sent = pair.sent_from(mark, false).into_iter();
            sent.filter(|packet| packet.kind == PacketKind::Initial && packet.has("CRYPTO")).count()
        };
        assert_eq!(flight(&pair, 0), 1);
        // The second probe of a pair directly follows the first.
        let mark = pair.mark();
        pair.inject(true, PacketKind::Initial, hello);
        assert_eq!(flight(&pair, mark), 0, "no time to have been lost");
        let flights = [0; 10].map(|_| {
            let mark = pair.mark();
            pair.run_for(ms(2_000));
            pair.inject(true, PacketKind::Initial, hello);
            pair.run_for(ms(1));
            flight(&pair, mark)
        });
        assert_eq!(flights, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0], "{} frames", hello.len() - 1);
        assert_eq!(pair.server().stats().probe_timeouts, 0);
    }
}
