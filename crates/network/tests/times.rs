//! The exact times of events in one direction of a link, each computed by hand.

mod support;

use network::{CarrierStats, Count, Exits};
use support::{deliveries, link, ms, packet, play, traced, us};
use trace::{Event, Interest};
use units::{Duration, Rate, Time};

/// 1500 B take 1 ms.
const RATE: (&str, &str) = ("rate", "fixed rate=12 Mbit/s");
const DELAY: (&str, &str) = ("delay", "10 ms");

/// Packets of 1500 B, all at once.
fn burst(at: Time, count: u32) -> Vec<(Time, u32, u32)> {
    (1..=count).map(|number| (at, number, 1500)).collect()
}
fn numbers(seen: &[(Time, u32)]) -> Vec<u32> {
    seen.iter().map(|(_, number)| *number).collect()
}
fn count(packets: u64, bytes: u64) -> Count {
    Count { packets, bytes }
}

#[test]
fn transmission_and_propagation() {
    let mut fixed = link("a", &[RATE, DELAY]);
    let offered = [(ms(0), 1, 1500), (ms(0), 2, 750), (us(100), 3, 750), (ms(5), 4, 1500)];
    assert_eq!(play(&mut fixed, &offered), [(ms(11), 1), (us(11_500), 2), (ms(12), 3), (ms(16), 4)]);
}

#[test]
fn without_a_rate_packets_only_take_the_delay() {
    let mut unlimited = link("a", &[DELAY]);
    assert_eq!(play(&mut unlimited, &burst(ms(3), 3)), [(ms(13), 1), (ms(13), 2), (ms(13), 3)]);
    assert_eq!(unlimited.stats().queue_max, Count::default());
    let mut wire = link("a", &[]);
    assert_eq!(play(&mut wire, &burst(ms(3), 2)), [(ms(3), 1), (ms(3), 2)]);
}

#[test]
fn a_fast_link_keeps_its_rate_to_the_nanosecond() {
    let mut fast = link("a", &[("rate", "fixed rate=100 Gbit/s"), ("queue", "drop-tail limit=unlimited")]);
    let offered: Vec<(Time, u32, u32)> = (0..100_000).map(|number| (Time::ZERO, number, 1252)).collect();
    let seen = play(&mut fast, &offered);
    // 1252 B take 100.16 ns.
    assert_eq!(seen[0].0, Time::from_nanos(101));
    assert_eq!(seen[24].0, Time::from_nanos(2504));
    assert_eq!(seen[99_999].0, Time::from_nanos(10_016_000));
}

#[test]
fn an_outage_stops_a_packet_in_the_middle_and_keeps_the_next_in_the_queue() {
    let steps = "changes steps=[[0 s, 12 Mbit/s], [2 ms, 0 bit/s], [10 ms, 24 Mbit/s]]";
    let mut changing = link("a", &[("rate", steps), ("queue", "drop-tail limit=2 packets")]);
    let mut offered = vec![(us(500), 1, 1500), (us(1000), 2, 1500), (us(1000), 3, 1500)];
    // At 5 ms half of packet 2 is transmitted and 3 waits; there is room for 4, but not for 5.
    offered.extend([(ms(5), 4, 1500), (ms(5), 5, 1500)]);
    let seen = play(&mut changing, &offered);
    assert_eq!(seen, [(us(1500), 1), (us(10_250), 2), (us(10_750), 3), (us(11_250), 4)]);
    assert_eq!(changing.stats().dropped_queue, count(1, 1500));
}

#[test]
fn packets_that_arrive_in_an_outage_wait_in_the_queue_for_its_end() {
    let steps = "changes steps=[[0 s, 12 Mbit/s], [2 ms, 0 bit/s], [10 ms, 12 Mbit/s]]";
    let mut changing = link("a", &[("rate", steps), ("queue", "drop-tail limit=2 packets")]);
    let seen = play(&mut changing, &burst(ms(5), 3));
    assert_eq!(seen, [(ms(11), 1), (ms(12), 2)], "the third finds the queue full: none is in transmission");
    changing.catch_up(ms(20), &mut Exits::default());
    let stats = changing.stats();
    assert_eq!(stats.queue_max, count(2, 3000));
    assert_eq!(stats.queue_packet_time, 5_000_000 * 2 + 1_000_000);
    assert_eq!(stats.busy, Duration::from_millis(7));
}

#[test]
fn a_rate_that_ends_leaves_packets_inside() {
    let mut dying = link("a", &[("rate", "changes steps=[[0 s, 12 Mbit/s], [2 ms, 0 bit/s]]")]);
    let seen = play(&mut dying, &[(ms(1), 1, 1500), (ms(1), 2, 1500), (ms(3), 3, 1500)]);
    assert_eq!(seen, [(ms(2), 1)]);
    let mut exits = Exits::default();
    assert_eq!(dying.wake_at(), None);
    dying.catch_up(ms(1000), &mut exits);
    assert_eq!(dying.stats().inside, count(2, 3000));
    assert_eq!(dying.stats().busy, Duration::from_millis(999));
}

#[test]
fn a_recorded_trace_moves_1500_bytes_at_each_line() {
    // Opportunities at 0, 3, 3, 4, 7 ms, and repeated from 7 ms on: 7, 10, 10, 11, 14, 14, 17 ...
    let mut trace = link(
        "a",
        &[
            ("rate", "trace file=0\n3\n3\n4\n7\n"),
            DELAY,
            ("queue", "drop-tail limit=4500 B"),
            ("mtu", "9000"),
        ],
    );
    let offered = [
        (ms(1), 1, 1500),
        (ms(1), 2, 500),
        (ms(1), 3, 500),
        (ms(1), 4, 1500),
        (ms(2), 5, 500),
        (ms(2), 6, 100),
        (ms(9), 7, 4000),
        (ms(14), 8, 100),
        (ms(15), 9, 100),
    ];
    let seen = play(&mut trace, &offered);
    let expected = [
        (13, 1), // the first at 3 ms
        (13, 2), // the second at 3 ms, with
        (13, 3), // this one, and 500 B of
        (14, 4), // this one, which goes on at 4 ms
        (14, 5), // 500 B were left
        // 6 did not fit: 1500 + 500 + 500 + 1500 + 500 B waited
        (21, 7), // 10, 10, 11 ms: 1500, 1500, 1000 B; the 500 B left are lost
        (24, 8),
        (27, 9),
    ];
    assert_eq!(seen, expected.map(|(at, number)| (ms(at), number)));
    assert_eq!(trace.stats().dropped_queue, count(1, 100));
    assert_eq!(trace.mean_rate(), Some(Rate::from_bits_per_sec(5 * 1500 * 8 * 1000 / 7)));
    assert_eq!(trace.capacity(ms(3), ms(7)).map(|size| size.as_bytes()), Some(3 * 1500));
}

#[test]
fn a_queue_of_one_bdp_holds_one_bdp_beside_the_packet_in_transmission() {
    // 12 Mbit/s x 20 ms = 30,000 B = 20 packets.
    let mut full = link("a", &[RATE, DELAY, ("queue", "drop-tail limit=1 BDP")]);
    let seen = play(&mut full, &burst(ms(0), 30));
    assert_eq!(numbers(&seen), (1..=21).collect::<Vec<_>>());
    assert_eq!(seen[20].0, ms(31));
    let CarrierStats { queue_max, dropped_queue, delivered, .. } = full.stats();
    assert_eq!(
        (queue_max, dropped_queue, delivered),
        (count(20, 30_000), count(9, 13_500), count(21, 31_500))
    );
    for (limit, waiting) in [("7 packets", 7), ("10 kB", 6), ("5 ms", 5), ("0.5 BDP", 10), ("0 packets", 0)] {
        let limit = format!("drop-tail limit={limit}");
        let mut queue = link("a", &[RATE, ("queue", &limit)]);
        assert_eq!(play(&mut queue, &burst(ms(0), 30)).len(), waiting + 1, "{limit}");
    }
}

#[test]
fn at_one_instant_a_departure_comes_before_an_arrival() {
    let mut one = link("a", &[RATE, ("queue", "drop-tail limit=1 packet")]);
    // At 1 ms packet 2 leaves the queue, so 3 fits; at 1.5 ms it is still there.
    let offered = [(ms(0), 1, 1500), (ms(0), 2, 1500), (ms(1), 3, 1500), (us(1500), 4, 1500)];
    assert_eq!(play(&mut one, &offered), [(ms(1), 1), (ms(2), 2), (ms(3), 3)]);
}

#[test]
fn counters_of_the_queue_are_weighted_by_time() {
    let mut queue = link("a", &[RATE]);
    let (mut exits, mut seen) = (Exits::default(), Vec::new());
    for (at, number, size) in burst(ms(1), 4) {
        queue.accept(at, packet(number, size), &mut exits);
    }
    seen.extend(deliveries(&mut queue, us(2500), &mut exits));
    queue.catch_up(us(2500), &mut exits);
    // Three waited for 1 ms, then two for half a millisecond.
    let stats = queue.stats();
    assert_eq!(stats.until, us(2500));
    assert_eq!((stats.queue_packet_time, stats.queue_byte_time), (4_000_000, 6_000_000_000));
    assert!(
        (stats.queue_mean_packets() - 1.6).abs() < 1e-12 && (stats.queue_mean_bytes() - 2400.0).abs() < 1e-9
    );
    assert_eq!((stats.busy, stats.inside), (Duration::from_micros(1500), count(3, 4500)));
    assert!((stats.utilization() - 0.6).abs() < 1e-12);
    seen.extend(deliveries(&mut queue, ms(100), &mut exits));
    queue.catch_up(ms(10), &mut exits);
    assert_eq!(numbers(&seen), [1, 2, 3, 4]);
    let stats = queue.stats();
    assert_eq!((stats.busy, stats.queue_packet_time), (Duration::from_millis(4), 6_000_000));
}

#[test]
fn too_large_for_the_mtu() {
    let mut narrow = link("a", &[("mtu", "1280")]);
    assert_eq!(play(&mut narrow, &[(ms(0), 1, 1281), (ms(0), 2, 1280)]), [(ms(0), 2)]);
    assert_eq!((narrow.stats().dropped_mtu, narrow.drops_of(1)), (count(1, 1281), 1));
}

#[test]
fn lost_packets_take_their_transmission_time() {
    let mut lossy = link("a", &[RATE, ("loss", "list packets=[2, 3]")]);
    assert_eq!(play(&mut lossy, &burst(ms(0), 4)), [(ms(1), 1), (ms(4), 4)]);
    let mut periodic = link("a", &[("loss", "periodic every=3;offset=1")]);
    assert_eq!(numbers(&play(&mut periodic, &burst(ms(0), 9))), [1, 2, 3, 5, 6, 8, 9]);
    let mut all = link("a", &[RATE, ("loss", "random probability=1")]);
    assert_eq!(play(&mut all, &burst(ms(0), 9)), []);
    all.catch_up(ms(9), &mut Exits::default());
    assert_eq!((all.stats().lost, all.stats().inside), (count(9, 13_500), Count::default()));
}

#[test]
fn a_packet_is_lost_when_its_last_bit_has_gone() {
    let mut lossy = link("a", &[RATE, ("loss", "list packets=[1]")]);
    let mut exits = Exits::default();
    lossy.accept(ms(0), packet(1, 1500), &mut exits);
    lossy.catch_up(us(999), &mut exits);
    assert_eq!((lossy.stats().lost.packets, lossy.stats().inside.packets), (0, 1));
    lossy.catch_up(ms(1), &mut exits);
    assert_eq!((lossy.stats().lost.packets, lossy.stats().inside.packets), (1, 0));
}

#[test]
fn periodic_loss_of_data_packets_only() {
    let mut lossy = link("a", &[("loss", "periodic every=2;data_only=true")]);
    let mut exits = Exits::default();
    for number in 0..8 {
        let mut packet = packet(number, 1500);
        packet.data = number % 2 == 1;
        lossy.accept(ms(0), packet, &mut exits);
    }
    assert_eq!(numbers(&deliveries(&mut lossy, ms(0), &mut exits)), [0, 1, 2, 4, 5, 6], "3 and 7 carry data");
}

#[test]
fn jitter_keeps_the_order_unless_reordering_is_allowed() {
    let spikes = ("jitter", "spikes probability=0.2;lateness=5 ms");
    let offered: Vec<(Time, u32, u32)> = (0..200).map(|number| (ms(number.into()), number, 1500)).collect();
    let kept = play(&mut link("a", &[DELAY, spikes]), &offered);
    let changed = play(&mut link("a", &[DELAY, spikes, ("reorder", "true")]), &offered);
    assert_eq!(numbers(&kept), (0..200).collect::<Vec<_>>());
    // A late packet is late by exactly 5 ms; packets that keep their order wait for it.
    let late: Vec<u32> = changed
        .iter()
        .filter(|(at, number)| *at == ms(u64::from(*number) + 15))
        .map(|(_, number)| *number)
        .collect();
    assert!(late.len() > 20 && late.len() < 60, "{}", late.len());
    assert!(changed.iter().all(|(at, n)| *at == ms(u64::from(*n) + if late.contains(n) { 15 } else { 10 })));
    for (at, number) in kept {
        let waits =
            (0..=number).rev().take(6).filter(|n| late.contains(n)).map(|n| ms(u64::from(n) + 15)).max();
        assert_eq!(at, waits.unwrap_or(Time::ZERO).max(ms(u64::from(number) + 10)), "{number}");
    }
}

#[test]
fn no_packet_arrives_before_its_last_bit_has_gone() {
    let both = ("jitter", "uniform maximum=50 ms;both_sides=true");
    let seen = play(&mut link("a", &[RATE, DELAY, both, ("reorder", "true")]), &burst(ms(0), 20));
    assert_eq!(seen.len(), 20);
    assert!(seen.iter().all(|(at, n)| (ms(u64::from(*n))..=ms(u64::from(*n) + 60)).contains(at)), "{seen:?}");
    assert!(seen.iter().any(|(at, n)| *at == ms(u64::from(*n))), "many would be earlier");
    assert_ne!(numbers(&seen), (1..=20).collect::<Vec<_>>());
}

#[test]
fn copies_arrive_right_after_the_original() {
    let mut twice = link("a", &[RATE, DELAY, ("duplicate", "1")]);
    assert_eq!(play(&mut twice, &burst(ms(0), 2)), [(ms(11), 1), (ms(11), 1), (ms(12), 2), (ms(12), 2)]);
    assert_eq!((twice.stats().duplicated, twice.stats().delivered), (count(2, 3000), count(4, 6000)));
}

#[test]
fn alteration_changes_one_byte_of_the_whole_payload() {
    let mut bad = link("a", &[("corrupt", "1")]);
    let mut exits = Exits::default();
    let mut places = std::collections::BTreeSet::new();
    for n in 0..2000 {
        // 4 bytes, with 60 virtual ones between the second and the third.
        let hole = wire::Hole { at: 2, length: 60, offset: n };
        let sent =
            network::Packet::new(support::address(0), support::address(1), vec![1, 2, 3, 4], Some(hole));
        let mut whole = sent.clone();
        whole.write_out();
        bad.accept(ms(n), sent, &mut exits);
        bad.wake(ms(n), &mut exits);
        let got = exits.take().unwrap();
        assert_eq!((got.hole(), got.bytes.len(), got.size), (None, 64, 92));
        let differs: Vec<usize> = (0..64).filter(|i| got.bytes[*i] != whole.bytes[*i]).collect();
        let damage = got.damage().unwrap();
        assert_eq!(differs, [damage.first as usize]);
        assert_eq!(damage.first, damage.last);
        places.insert(damage.first);
    }
    assert_eq!((places.len(), bad.stats().corrupted), (64, 2000), "every byte was hit");
    bad.accept(ms(5000), packet(1, 28), &mut exits);
    bad.wake(ms(5000), &mut exits);
    assert!(exits.take().unwrap().damage().is_none(), "there is nothing to alter");
}

#[test]
fn the_log_tells_what_happened_in_the_order_of_time() {
    let options =
        [RATE, DELAY, ("queue", "drop-tail limit=1 packet"), ("loss", "list packets=[2]"), ("mtu", "1500")];
    let metrics = Interest { metrics: true, ..Interest::NONE };
    let mut told = traced("a", &options, 1, metrics);
    play(&mut told, &[(ms(0), 1, 1500), (ms(0), 2, 1500), (ms(0), 3, 1500), (us(500), 4, 1501)]);
    told.catch_up(ms(20), &mut Exits::default());
    let seen: Vec<(Time, Event)> = told.log().drain().map(|record| (record.time, record.event)).collect();
    let queue = |packets, bytes| Event::Queue { packets, bytes };
    let drop = |length, reason| Event::NetworkDrop { length, reason };
    let expected = [
        (ms(0), queue(1, 1500)),
        (ms(0), drop(1500, "queue")),
        (us(500), drop(1501, "mtu")),
        (ms(1), queue(0, 0)),
        (ms(2), drop(1500, "loss")),
        (ms(11), Event::Delivered { length: 1500 }),
    ];
    assert_eq!(seen, expected);
    let mut silent = traced("a", &options, 1, Interest { lifecycle: true, ..Interest::NONE });
    play(&mut silent, &burst(ms(0), 5));
    assert!(silent.log().is_empty());
}

/// Three packets of 1 ms that arrive at once wait 0, 1 and 2 ms; the L4S packet is also counted separately.
#[test]
fn delays_in_the_queue_are_those_of_packets() {
    let options = [("rate", "fixed rate=12 Mbit/s"), ("delay", "5 ms")];
    let mut link = support::traced("a", &options, 1, trace::Interest::ALL);
    let mut exits = Exits::default();
    for number in 0..3 {
        let mut packet = support::packet(number, 1500);
        packet.ecn = if number == 2 { wire::Ecn::Ect1 } else { wire::Ecn::Ect0 };
        link.accept(Time::ZERO, packet, &mut exits);
    }
    link.catch_up(ms(10), &mut exits);
    let delays = link.delays().unwrap();
    let (all, l4s) = (delays.all(), delays.l4s());
    assert_eq!(
        (all.count(), all.mean(), all.quantile(0.3)),
        (3, Some(Duration::from_millis(1)), Some(Duration::ZERO))
    );
    assert_eq!((l4s.count(), l4s.mean()), (1, Some(Duration::from_millis(2))));
}

/// Packets of 1 ms at 0, 4 and 8 ms; from 6 ms on the delay is 1 ms instead of 11. Packets in flight at that
/// time are overtaken only with `reorder`.
#[test]
fn a_shorter_delay_lets_later_packets_overtake_if_reordering_is_allowed() {
    let jitter = ("jitter", "changes steps=[[0 s, 10 ms], [6 ms, 0 ms]]");
    let offered = [(ms(0), 1, 1500), (ms(4), 2, 1500), (ms(8), 3, 1500)];
    let options = [RATE, ("delay", "1 ms"), jitter];
    assert_eq!(play(&mut link("a", &options), &offered), [(ms(12), 1), (ms(16), 2), (ms(16), 3)]);
    let options = [RATE, ("delay", "1 ms"), jitter, ("reorder", "true")];
    assert_eq!(play(&mut link("a", &options), &offered), [(ms(10), 3), (ms(12), 1), (ms(16), 2)]);
}
