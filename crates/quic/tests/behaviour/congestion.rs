//! The window over a scripted loss, and the spacing of packets (RFC 9002 section 7).

use crate::pair::{Pair, config, controller, count, delay, losing, ms, null};
use units::parameter::Value;

const PACKET: u64 = 1472;

/// RFC 9000-13.3-4.
#[test]
fn slow_start_doubles_each_round_trip_and_a_loss_halves_once() {
    let mut pair = Pair::established();
    assert_eq!(pair.client().flight().0, 10 * PACKET, "what the handshake sent did not fill the window");
    let start = pair.now;
    pair.upload(3_000_000);
    let (mut windows, mut last) = (Vec::new(), 0);
    for round in 1..=3 {
        pair.run_to(start + ms(20 * round + 15));
        windows.push(pair.client().flight().0);
    }
    for window in &windows {
        assert!(*window >= last * 19 / 10, "{windows:?}");
        last = *window;
    }
    // Three packets of one flight are lost.
    let next = pair.wire.iter().filter(|seen| seen.to_server).count() as u64;
    pair.link =
        losing(10, move |to_server, number| to_server && [next, next + 5, next + 9].contains(&number));
    let mut before = 0;
    pair.run_until(ms(200), |pair| {
        let client = pair.client();
        let lost = client.stats().packets_declared_lost > 0;
        before = if lost { before } else { client.flight().0 };
        lost
    });
    assert_eq!(pair.client().flight().0, before / 2, "kLossReductionFactor");
    let lost_at = pair.now;
    pair.run_until(ms(200), |pair| pair.client().stats().packets_declared_lost == 3);
    assert_eq!(pair.client().flight().0, before / 2, "one round trip, one reduction");
    assert!(pair.now < lost_at + ms(20));
    // In congestion avoidance: one more packet per window.
    pair.run_to(lost_at + ms(45));
    let base = pair.client().flight().0;
    pair.run_for(ms(60));
    let grown = (pair.client().flight().0 - base) / PACKET;
    assert!((2..=4).contains(&grown), "{grown} packets in three round trips");
    assert!(pair.client().flight().1 <= pair.client().flight().0);
}

#[test]
fn the_window_is_never_exceeded() {
    let mut pair = Pair::established();
    pair.link = losing(10, |_, number| number % 37 == 5);
    pair.upload(1_000_000);
    let done = pair.run_until(ms(60_000), |pair| {
        let probes = 2 * PACKET * pair.client().stats().probe_timeouts;
        let (window, in_flight) = pair.client().flight();
        // After a loss the window may be below the bytes in flight; then only probes are sent.
        assert!(window >= 2 * PACKET && in_flight <= window.max(100 * PACKET) + probes);
        pair.server().stats().streams.received_bytes == 1_000_000
    });
    assert!(done);
}

#[test]
fn a_sender_without_data_does_not_increase_its_window() {
    let mut pair = Pair::established();
    let stream = pair.upload(1000);
    for _ in 0..100 {
        pair.run_for(ms(50));
        pair.upload_more(stream, 1000);
    }
    assert_eq!(pair.client().flight().0, 10 * PACKET);
}

#[test]
fn paced_packets_leave_evenly() {
    let client = config(&[("initial_window", count(40)), ("pacing_burst", count(1))]);
    let mut pair = Pair::new(null(), client, config(&[]), delay(10));
    pair.establish();
    let rtt = pair.client().rtt().smoothed();
    let mark = pair.mark();
    pair.upload(1_000_000);
    pair.run_for(ms(9));
    let times = pair.times_from(mark, true);
    assert!(times.len() > 20, "{}", times.len());
    // Twice the window in a round trip (slow start): 80 packets.
    let gap = rtt.as_nanos() / 80;
    for pair in times.windows(2).skip(1) {
        let found = pair[1].since(pair[0]).as_nanos();
        assert!(found.abs_diff(gap) <= gap / 100, "{found} ns where {gap} ns are right");
    }
}

#[test]
fn after_a_pause_no_more_than_a_burst_leaves_at_once() {
    for burst in [1, 4, 10] {
        let client = config(&[("initial_window", count(40)), ("pacing_burst", count(burst))]);
        let mut pair = Pair::new(null(), client, config(&[]), delay(10));
        pair.establish();
        let (start, mark) = (pair.now, pair.mark());
        pair.upload(1_000_000);
        pair.run_for(ms(5));
        let at_once = pair.times_from(mark, true).iter().filter(|at| **at == start).count() as u64;
        assert!((burst..=burst + 1).contains(&at_once), "{at_once} of {burst}");
    }
}

#[test]
fn acknowledgements_are_neither_paced_nor_held_by_the_window() {
    let client = config(&[("initial_window", count(2))]);
    let mut pair = Pair::new(null(), client, config(&[]), delay(10));
    pair.establish();
    pair.link = losing(10, |to_server, _| to_server);
    let now = pair.now;
    pair.upload(100_000);
    let back = pair.server().open(wire::Direction::Unidirectional).unwrap();
    pair.server().write(now, back, quic::Data::Virtual(10_000)).unwrap();
    let mark = pair.mark();
    pair.run_for(ms(10));
    let acks = pair.sent_from(mark, true).into_iter().filter(|packet| packet.has("ACK")).collect::<Vec<_>>();
    assert!(!acks.is_empty() && acks[0].at == now + ms(10) && acks[0].data() == 0, "{acks:?}");
}

/// RFC 9438 section 4.9: a spurious loss costs CUBIC the round trip of recovery, but not its window.
#[test]
fn cubic_reverts_its_reduction_after_a_spurious_loss() {
    let window = |undo| {
        let options =
            [("spurious_undo", Value::Flag(undo)), ("slow_start", Value::Text("standard".to_owned()))];
        let client = config(&[("controller", controller("cubic", &options))]);
        let late = |to_server, number: u64| to_server && number.is_multiple_of(500);
        let link = Box::new(move |to_server, number, _: &mut _| {
            vec![ms(if late(to_server, number) { 16 } else { 10 })]
        });
        let mut pair = Pair::new(null(), client, config(&[]), link);
        pair.keeps_bytes = false;
        assert!(pair.run_until(ms(1000), |pair| !pair.accepted.is_empty() && pair.client().is_established()));
        pair.upload(1_000_000_000);
        pair.run_for(ms(2000));
        let stats = pair.client().stats();
        assert!(stats.packets_spuriously_lost > 10, "{stats:?}");
        pair.client().flight().0
    };
    let (with, without) = (window(true), window(false));
    assert!(with > 4 * without, "{with} bytes, and {without} without");
}

/// RFC 9002 section 7.2: ten datagrams, "while limiting the window to the larger of 14,720 bytes or twice the maximum
/// datagram size". With the option, exactly as many packets as it says.
#[test]
fn the_initial_window_is_bounded_unless_it_is_configured() {
    for (payload, first, ten) in [
        (1200, 12_000, 12_000),
        (1472, 14_720, 14_720),
        (1500, 14_720, 15_000),
        (8_972, 17_944, 89_720),
        (65_527, 131_054, 655_270),
    ] {
        let payload = ("max_udp_payload", count(payload));
        let mut pair = Pair::new(
            null(),
            config(std::slice::from_ref(&payload)),
            config(std::slice::from_ref(&payload)),
            delay(10),
        );
        assert_eq!(pair.client().flight().0, first);
        pair.establish();
        let mark = pair.mark();
        pair.upload(1_000_000);
        pair.run_for(ms(19));
        let sent: u64 =
            pair.wire[mark..].iter().filter(|seen| seen.to_server).map(|seen| seen.length as u64).sum();
        assert!(sent <= first && sent > first / 2, "{sent} of {first}");
        let chosen = config(&[payload.clone(), ("initial_window", count(10))]);
        let mut pair = Pair::new(null(), chosen, config(std::slice::from_ref(&payload)), delay(10));
        assert_eq!(pair.client().flight().0, ten, "ten of {payload:?}");
    }
}
