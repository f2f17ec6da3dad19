//! Path MTU discovery on paths that carry less than the maximum, or that change (RFC 9000 section 14; RFC 8899).

use crate::pair::roads::{Roads, address};
use crate::pair::{Pair, config, count, ms, null, span};
use quic::{Config, Data, Migration};
use std::cell::RefCell;
use std::rc::Rc;
use units::parameter::Value;
use wire::{Direction, StreamId};

const BASE: usize = 1200;
/// The default.
const WANTED: usize = 1472;

fn searching() -> Config {
    searching_to(WANTED as u64)
}
fn searching_to(maximum: u64) -> Config {
    let windows = Value::Size(units::Size::from_bytes(1 << 30));
    config(&[
        ("mtu_discovery", Value::Flag(true)),
        ("max_udp_payload", count(maximum)),
        ("max_idle_timeout", span(0)),
        ("initial_max_data", windows.clone()),
        ("initial_max_stream_data_uni", windows),
    ])
}

/// A pair before its handshake, on a path that carries this size.
fn pair_over(seed: u64, mtu: usize, config: &Config) -> (Pair, Rc<RefCell<Roads>>) {
    let (roads, link) = Roads::new(seed);
    roads.borrow_mut().mtu = mtu;
    let mut pair = Pair::seeded(seed, null(), config.clone(), config.clone(), link);
    pair.keeps_bytes = false;
    (pair, roads)
}

fn sizes(pair: &Pair, from: usize) -> Vec<usize> {
    pair.wire[from..].iter().filter(|seen| seen.to_server).map(|seen| seen.length).collect()
}

/// Writes data at the client, all of which arrives.
fn transfer(pair: &mut Pair, bytes: u64) {
    let before = pair.server().stats().streams.received_bytes;
    pair.upload(bytes);
    let all = before + bytes;
    assert!(
        pair.run_until(ms(60_000), |pair| pair.server().stats().streams.received_bytes == all),
        "{:?}",
        pair.client().stats()
    );
    // Without other data to send, the loss of a probe is detected by a probe timeout.
    pair.run_for(ms(4_000));
}

#[test]
fn the_maximum_is_found_if_the_path_carries_it() {
    let (mut pair, _) = pair_over(1, 65_535, &searching());
    pair.run_for(ms(35));
    assert!(sizes(&pair, 0).iter().all(|size| *size <= BASE), "{:?}", sizes(&pair, 0));
    pair.run_for(ms(500));
    assert_eq!((pair.client().max_udp_payload(), pair.server().max_udp_payload()), (WANTED, WANTED));
    assert_eq!(pair.client().stats().mtu_probes_sent, 1);
    let from = pair.mark();
    transfer(&mut pair, 1_000_000);
    let sizes = sizes(&pair, from);
    assert!(sizes.iter().filter(|size| **size == WANTED).count() > 600, "{sizes:?}");
    // The other option, and the default: no search.
    let mut plain = Pair::established();
    let from = plain.mark();
    plain.upload(100_000);
    assert_eq!(plain.wire[from].length, WANTED);
    assert_eq!(plain.client().stats().mtu_probes_sent, 0);
}

/// RFC 9000 section 14.4, RFC 8899 section 3: the loss of a probe is not a congestion signal.
#[test]
fn the_mtu_is_found_and_lost_probes_do_not_count_as_congestion() {
    for carries in [1200, 1207, 1208, 1252, 1300, 1400, 1465, 1471] {
        let (mut pair, _) = pair_over(2, carries, &searching());
        pair.run_for(ms(100));
        let window = pair.client().flight().0;
        transfer(&mut pair, 2_000_000);
        let found = pair.client().max_udp_payload();
        assert!(found <= carries && carries - found < 8, "{carries}: {found}");
        let stats = pair.client().stats();
        assert!(stats.mtu_probes_lost >= 3, "{stats:?}");
        assert_eq!(stats.packets_declared_lost, stats.mtu_probes_lost, "{carries}");
        assert_eq!(stats.mtu_black_holes, 0);
        assert!(pair.client().flight().0 >= 10 * window, "the window was never reduced");
        assert_eq!(pair.client().flight().1, 0, "what was lost is not in flight");
    }
}

#[test]
fn jumbo_frames_are_found() {
    let (mut pair, _) = pair_over(3, 8972, &searching_to(65_527));
    pair.run_for(ms(100));
    transfer(&mut pair, 10_000_000);
    let found = pair.client().max_udp_payload();
    assert!(found <= 8972 && 8972 - found < 8, "{found}");
}

#[test]
fn losses_do_not_hide_the_mtu() {
    for seed in 0..20 {
        let (mut pair, roads) = pair_over(seed, 1400, &searching());
        roads.borrow_mut().loss = 0.03;
        assert!(
            pair.run_until(ms(20_000), |pair| !pair.accepted.is_empty() && pair.client().is_established())
        );
        transfer(&mut pair, 500_000);
        let found = pair.client().max_udp_payload();
        let stats = pair.client().stats();
        assert!(found <= 1400 && found > 1390 || stats.mtu_black_holes > 0, "{seed}: {found} {stats:?}");
        assert!(stats.mtu_black_holes <= 1, "{seed}: {stats:?}");
    }
}

/// RFC 8899 section 4.3.
#[test]
fn a_sudden_decrease_of_the_mtu_is_detected() {
    let (mut pair, roads) = pair_over(4, 1500, &searching());
    pair.run_for(ms(500));
    pair.upload(3_000_000);
    pair.run_for(ms(45));
    assert_eq!(pair.client().max_udp_payload(), WANTED);
    roads.borrow_mut().mtu = 1300;
    let all = 3_000_000;
    let before = pair.now;
    assert!(pair.run_until(ms(60_000), |pair| pair.server().stats().streams.received_bytes == all));
    assert!(pair.now < before + ms(5_000), "{}", pair.now);
    transfer(&mut pair, 1_000_000);
    let found = pair.client().max_udp_payload();
    let stats = pair.client().stats();
    assert!(found <= 1300 && 1300 - found < 8, "{found}, {stats:?}");
    assert_eq!(stats.mtu_black_holes, 1);
}

/// Writes little data every 20 ms at the client, and occasionally much.
fn trickle(pair: &mut Pair, stream: StreamId, times: u64) {
    for n in 0..times {
        let now = pair.now;
        let bytes = if n % 4 == 0 { 1450 } else { 100 };
        pair.client().write(now, stream, Data::Virtual(bytes)).unwrap();
        pair.drain();
        pair.run_for(ms(50));
    }
}

/// RFC 8899 section 4.3: also while small packets are acknowledged, so that probe timeouts are not successive.
#[test]
fn a_black_hole_is_noticed_while_small_packets_pass() {
    let (mut pair, roads) = pair_over(5, 1500, &searching());
    pair.run_for(ms(500));
    let stream = pair.client().open(Direction::Unidirectional).unwrap();
    trickle(&mut pair, stream, 8);
    assert_eq!(pair.client().max_udp_payload(), WANTED);
    roads.borrow_mut().mtu = 1300;
    trickle(&mut pair, stream, 60);
    pair.run_for(ms(5_000));
    let found = pair.client().max_udp_payload();
    let stats = pair.client().stats();
    assert!(found <= 1300, "{found}, {stats:?}");
    assert_eq!(stats.mtu_black_holes, 1);
    let written = (8u64 + 60) / 4 * (1450 + 300);
    assert_eq!(pair.server().stats().streams.received_bytes, written);
}

/// RFC 8899 section 5.1.1: PMTU_RAISE_TIMER, which does not keep a connection alive.
#[test]
fn a_path_that_carries_more_later_is_tried_again_after_ten_minutes() {
    let (mut pair, roads) = pair_over(6, 1300, &searching());
    pair.run_for(ms(100));
    transfer(&mut pair, 500_000);
    assert!(pair.client().max_udp_payload() <= 1300);
    roads.borrow_mut().mtu = 1500;
    transfer(&mut pair, 500_000);
    assert!(pair.client().max_udp_payload() <= 1300, "not yet");
    let from = pair.mark();
    pair.run_for(ms(601_000));
    assert_eq!(pair.mark(), from, "an idle connection is not probed");
    transfer(&mut pair, 500_000);
    assert_eq!(pair.client().max_udp_payload(), WANTED);
}

/// RFC 9000 section 14.3: each path has its own search.
#[test]
fn another_path_has_another_size() {
    let there = address("192.168.7.7:40000");
    let (mut pair, roads) = pair_over(7, 1500, &searching());
    pair.run_for(ms(500));
    assert_eq!(pair.client().max_udp_payload(), WANTED);
    roads.borrow_mut().mtu = 1350;
    let now = pair.now;
    pair.client().migrate(now, there, Migration::AtOnce).unwrap();
    assert_eq!(pair.client().max_udp_payload(), BASE);
    pair.drain();
    transfer(&mut pair, 1_000_000);
    for found in [pair.client().max_udp_payload(), pair.server().max_udp_payload()] {
        assert!(found <= 1350 && 1350 - found < 8, "{found}");
    }
    let stats = pair.client().stats();
    assert_eq!((stats.mtu_black_holes, stats.packets_declared_lost), (0, stats.mtu_probes_lost));
}
