//! ECN on paths that support it, and on paths that do not (RFC 9000 section 13.4; RFC 9002 section 7.1).

use crate::pair::roads::address;
use crate::pair::{DatagramInFlight, Link, Pair, config, controller, ms, null};
use quic::{Config, Event, Migration};
use std::cell::Cell;
use std::rc::Rc;
use trace::PacketKind;
use trace::event::EcnState;
use units::parameter::Value;
use wire::{Ecn, EcnCounts, Header};

const BYTES: u64 = 600_000;

fn marking() -> Config {
    config(&[("ecn", Value::Flag(true))])
}

/// A link with a delay of 10 ms that applies this to datagrams; `false` loses them.
fn doing(mut act: impl FnMut(bool, &mut DatagramInFlight) -> bool + 'static) -> Link {
    Box::new(move |to_server, _, flying| match act(to_server, flying) {
        true => vec![ms(10)],
        false => Vec::new(),
    })
}

/// A link that applies this to the ECN field in both directions.
fn remarking(mut field: impl FnMut(&DatagramInFlight) -> Ecn + 'static) -> Link {
    doing(move |_, flying| {
        flying.ecn = field(flying);
        true
    })
}

fn pair_over(link: Link) -> Pair {
    let mut pair = Pair::new(null(), marking(), marking(), link);
    pair.keeps_bytes = false;
    pair
}

/// Sends data from the client, all of which arrives.
fn transfer(pair: &mut Pair) {
    assert!(pair.run_until(ms(20_000), |pair| !pair.accepted.is_empty() && pair.client().is_established()));
    let before = pair.server().stats().streams.received_bytes;
    pair.upload(BYTES);
    let all = before + BYTES;
    assert!(pair.run_until(ms(60_000), |pair| pair.server().stats().streams.received_bytes >= all));
    pair.run_for(ms(100));
}

fn states(pair: &mut Pair) -> [Option<EcnState>; 2] {
    [pair.client().ecn_state(), pair.server().ecn_state()]
}

fn is_long(flying: &DatagramInFlight) -> bool {
    Header::parse(&flying.bytes, 8).is_ok_and(|header| header.kind != PacketKind::OneRtt)
}

#[test]
fn a_path_that_carries_marks_is_capable_and_everything_is_marked() {
    let unmarked = Rc::new(Cell::new(0u32));
    let seen = unmarked.clone();
    let mut pair = pair_over(doing(move |to_server, flying| {
        seen.set(seen.get() + u32::from(to_server && flying.ecn != Ecn::Ect0));
        true
    }));
    transfer(&mut pair);
    assert_eq!(states(&mut pair), [Some(EcnState::Capable); 2]);
    let before = unmarked.get();
    transfer(&mut pair);
    assert_eq!(unmarked.get(), before);
    let stats = pair.client().stats();
    assert!(before < 20 && stats.ect_packets_sent > 800, "{stats:?}");
    assert_eq!((stats.ce_packets_reported, stats.ecn_failures), (0, 0));
}

/// RFC 9000-13.4.1-1, and the option's default.
#[test]
fn an_endpoint_without_marks_reports_received_ones() {
    let mut pair = Pair::new(null(), marking(), config(&[]), doing(|_, _| true));
    transfer(&mut pair);
    assert_eq!(states(&mut pair), [Some(EcnState::Capable), None]);
    let told = pair.packets().into_iter().filter(|packet| !packet.to_server).flat_map(|packet| packet.frames);
    let told = told.filter_map(|frame| match frame {
        crate::pair::Frame::Ack { ecn, .. } => ecn,
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert!(told.len() > 100 && told.iter().all(|[ect0, ect1, ce]| *ect0 > 0 && ect1 + ce == 0));
    assert_eq!(pair.server().stats().ect_packets_sent, 0);
}

/// RFC 9000-13.4.2.2-1.
#[test]
fn no_more_marks_are_sent_if_they_are_cleared_or_altered() {
    type Field = fn(&DatagramInFlight) -> Ecn;
    let altered: [(&str, Field); 5] = [
        ("bleached", |_| Ecn::NotEct),
        ("ECT(1)", |flying| if flying.ecn == Ecn::Ect0 { Ecn::Ect1 } else { flying.ecn }),
        ("all CE", |flying| if flying.ecn == Ecn::Ect0 { Ecn::Ce } else { flying.ecn }),
        ("bleached in long headers", |flying| if is_long(flying) { Ecn::NotEct } else { flying.ecn }),
        ("bleached in short headers", |flying| if is_long(flying) { flying.ecn } else { Ecn::NotEct }),
    ];
    for (what, field) in altered {
        let mut pair = pair_over(remarking(field));
        transfer(&mut pair);
        let [client, server] = states(&mut pair);
        assert_eq!(client, Some(EcnState::Failed), "{what}");
        // It only sends acknowledgements, and the client has acknowledged few of them.
        assert!(matches!(server, Some(EcnState::Failed | EcnState::Unknown)), "{what}: {server:?}");
        let sent = pair.client().stats().ect_packets_sent;
        transfer(&mut pair);
        let stats = pair.client().stats();
        assert_eq!((stats.ect_packets_sent, stats.ecn_failures), (sent, 1), "{what}");
        assert!(sent <= 40, "{what}: {sent}");
    }
}

/// RFC 9000-13.4.2.2-2: after validation had succeeded.
#[test]
fn marks_cleared_later_fail_validation_too() {
    let bleach = Rc::new(Cell::new(false));
    let on = bleach.clone();
    let mut pair = pair_over(remarking(move |flying| if on.get() { Ecn::NotEct } else { flying.ecn }));
    transfer(&mut pair);
    assert_eq!(pair.client().ecn_state(), Some(EcnState::Capable));
    bleach.set(true);
    transfer(&mut pair);
    assert_eq!(pair.client().ecn_state(), Some(EcnState::Failed));
}

/// RFC 9000 section 13.4.2: the handshake must succeed, and later data must arrive.
#[test]
fn a_connection_works_without_marks_if_marked_packets_are_lost() {
    let mut pair = pair_over(doing(|_, flying| flying.ecn == Ecn::NotEct));
    transfer(&mut pair);
    assert!(pair.now < crate::pair::at(12_000), "{}", pair.now);
    for state in states(&mut pair) {
        assert!(matches!(state, Some(EcnState::Failed | EcnState::Unknown)), "{state:?}");
    }
    assert!(pair.client().stats().ect_packets_sent <= 12);
}

/// The client's largest 1-RTT packet number.
fn largest(pair: &Pair) -> u64 {
    let packets = pair.packets().into_iter().filter(|packet| packet.to_server);
    packets.filter(|packet| packet.kind == PacketKind::OneRtt).map(|packet| packet.number).max().unwrap()
}

fn ack(pair: &mut Pair, up_to: u64, counts: EcnCounts) {
    let mut payload = Vec::new();
    wire::frame::ack(&mut payload, [0..=up_to], 0, Some(counts), 1000);
    pair.inject_raw(false, PacketKind::OneRtt, &payload);
}

/// A pair with validated ECN; the client has seven more packets in flight and receives nothing. Returns its largest
/// number, and the counts that the server would report.
fn with_more_underway() -> (Pair, u64, EcnCounts) {
    let mut pair = pair_over(doing(|_, _| true));
    pair.keeps_bytes = true;
    transfer(&mut pair);
    pair.link = doing(|_, _| false);
    pair.upload(10_000);
    let largest = largest(&pair);
    let told = pair.packets().into_iter().filter(|packet| !packet.to_server).flat_map(|packet| packet.frames);
    let counts = told.filter_map(|frame| match frame {
        crate::pair::Frame::Ack { ecn, .. } => ecn,
        _ => None,
    });
    let [ect0, ect1, ce] = counts.max().unwrap();
    (pair, largest, EcnCounts { ect0, ect1, ce })
}

#[test]
fn counts_that_shrink_fail_it() {
    let (mut pair, largest, counts) = with_more_underway();
    ack(&mut pair, largest - 2, EcnCounts { ect0: counts.ect0 + 5, ..counts });
    assert_eq!(pair.client().ecn_state(), Some(EcnState::Capable));
    ack(&mut pair, largest, EcnCounts { ect0: counts.ect0 + 4, ce: 3, ..counts });
    assert_eq!(pair.client().ecn_state(), Some(EcnState::Failed), "the sum has grown, ECT(0) has shrunk");
}

/// RFC 9000-13.4.2.1-1.
#[test]
fn a_reordered_ack_does_not_fail_validation() {
    let (mut pair, largest, counts) = with_more_underway();
    ack(&mut pair, largest, EcnCounts { ect0: counts.ect0 + 4, ce: 3, ..counts });
    let window = pair.client().flight().0;
    ack(&mut pair, largest - 2, counts);
    ack(&mut pair, largest, EcnCounts { ce: 9, ..counts });
    let stats = pair.client().stats();
    assert_eq!((pair.client().ecn_state(), stats.ce_packets_reported), (Some(EcnState::Capable), 3));
    assert_eq!(pair.client().flight().0, window);
}

/// RFC 9002 section 7.1: like a loss, and once per round trip.
#[test]
fn the_window_halves_once_per_round_trip_for_packets_with_ce() {
    let (congested, marked) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(0u64)));
    let (on, count) = (congested.clone(), marked.clone());
    let mut pair = pair_over(doing(move |to_server, flying| {
        if to_server && on.get() && flying.ecn == Ecn::Ect0 {
            flying.ecn = Ecn::Ce;
            count.set(count.get() + 1);
        }
        true
    }));
    transfer(&mut pair);
    pair.upload(10_000_000);
    pair.run_for(ms(25));
    congested.set(true);
    let mut before = 0;
    pair.run_until(ms(100), |pair| {
        let reported = pair.client().stats().ce_packets_reported > 0;
        before = if reported { before } else { pair.client().flight().0 };
        reported
    });
    let halved = pair.client().flight().0;
    assert_eq!(halved, before / 2, "kLossReductionFactor");
    let at = pair.now;
    congested.set(false);
    pair.run_to(at + ms(18));
    assert!(marked.get() > 10, "many marks in one round trip");
    assert_eq!(pair.client().flight().0, halved, "and one answer");
    pair.run_for(ms(30));
    let stats = pair.client().stats();
    assert_eq!(stats.ce_packets_reported, marked.get());
    assert_eq!((stats.packets_declared_lost, pair.client().ecn_state()), (0, Some(EcnState::Capable)));
}

/// RFC 9000 section 13.4.2: each path is validated separately.
#[test]
fn a_migration_tests_the_new_path_and_ignores_packets_of_the_old_one() {
    let there = address("192.168.7.7:40000");
    let mut pair = pair_over(doing(move |_, flying| {
        if flying.from != there && flying.to != there {
            flying.ecn = Ecn::NotEct;
        }
        true
    }));
    transfer(&mut pair);
    assert_eq!(states(&mut pair), [Some(EcnState::Failed); 2]);
    // In the middle of a transfer, so that packets of both paths are acknowledged together.
    pair.upload(300_000);
    pair.run_for(ms(15));
    let now = pair.now;
    pair.client().migrate(now, there, Migration::AtOnce).unwrap();
    pair.drain();
    transfer(&mut pair);
    transfer(&mut pair);
    assert!(pair.client_events.iter().any(|event| matches!(event, Event::Migrated { .. })));
    assert_eq!(states(&mut pair), [Some(EcnState::Capable); 2]);
}

/// A pair whose client uses this controller and whose server sends no marks.
fn controlled(name: &str, link: Link) -> Pair {
    let client = config(&[("ecn", Value::Flag(name != "prague")), ("controller", controller(name, &[]))]);
    let mut pair = Pair::new(null(), client, config(&[]), link);
    pair.keeps_bytes = false;
    pair
}

/// RFC 9331 section 4.1: ECT(1) and never ECT(0); RFC 9000 section 13.4.2 applies to it, too. The option `ecn` is
/// off.
#[test]
fn a_controller_for_l4s_marks_packets_with_ect1() {
    let fields = Rc::new(Cell::new([0u32; 4]));
    let seen = fields.clone();
    let mut pair = controlled(
        "prague",
        doing(move |to_server, flying| {
            let mut fields = seen.get();
            fields[flying.ecn as usize] += u32::from(to_server);
            seen.set(fields);
            true
        }),
    );
    pair.keeps_bytes = true;
    transfer(&mut pair);
    assert_eq!(states(&mut pair), [Some(EcnState::Capable), None]);
    let fields = fields.get();
    assert!(fields[Ecn::Ect1 as usize] > 400 && fields[Ecn::NotEct as usize] < 20, "{fields:?}");
    assert_eq!((fields[Ecn::Ect0 as usize], fields[Ecn::Ce as usize]), (0, 0));
    let told = pair.packets().into_iter().filter(|packet| !packet.to_server).flat_map(|packet| packet.frames);
    let told = told.filter_map(|frame| match frame {
        crate::pair::Frame::Ack { ecn, .. } => ecn,
        _ => None,
    });
    let told: Vec<_> = told.collect();
    assert!(told.len() > 100 && told.iter().all(|[ect0, ect1, ce]| *ect1 > 0 && ect0 + ce == 0));
}

/// RFC 9000-13.4.2.2-1, for ECT(1): if the path clears or alters it, marking stops, and everything arrives.
#[test]
fn ect1_is_not_sent_any_more_if_it_does_not_arrive() {
    for altered in [Ecn::NotEct, Ecn::Ect0, Ecn::Ce] {
        let field =
            move |flying: &DatagramInFlight| if flying.ecn == Ecn::Ect1 { altered } else { flying.ecn };
        let mut pair = controlled("prague", remarking(field));
        transfer(&mut pair);
        assert_eq!(pair.client().ecn_state(), Some(EcnState::Failed), "{altered:?}");
        let sent = pair.client().stats().ect_packets_sent;
        transfer(&mut pair);
        assert_eq!(pair.client().stats().ect_packets_sent, sent, "{altered:?}");
    }
}

/// RFC 9331 section 4.3: if one packet in fifty is marked with CE, an L4S sender reduces its window a little each
/// time, a classic one by half.
#[test]
fn an_l4s_sender_reacts_to_the_fraction_of_marks() {
    let goodput = |name| {
        let mut count = 0u32;
        let mut pair = controlled(
            name,
            doing(move |to_server, flying| {
                let marked = matches!(flying.ecn, Ecn::Ect0 | Ecn::Ect1);
                count += u32::from(to_server && marked);
                if to_server && marked && count.is_multiple_of(50) {
                    flying.ecn = Ecn::Ce;
                }
                true
            }),
        );
        transfer(&mut pair);
        pair.upload(1_000_000_000);
        pair.run_for(ms(4000));
        let stats = pair.client().stats();
        assert!(stats.ce_packets_reported > 30, "{stats:?}");
        pair.server().stats().streams.received_bytes
    };
    let (prague, reno) = (goodput("prague"), goodput("newreno"));
    // 2 / p = 100 packets in flight beside 1.22 / sqrt(p) = 8.7.
    assert!(prague > 4 * reno, "{prague} bytes, and {reno} of NewReno");
}
