//! What is held, until when, and why it is sent, by hand.

use super::*;
use crate::middlebox::quic_flows::testing::{Bed, between, ms, packet, refusal, texts};
use random::Generator;
use std::net::IpAddr;
use units::parameter::Value;

const UP: bool = true;
const DOWN: bool = false;

/// A wired part of 40 ms, a range of 10 ms above the usual RTT, one acknowledgement for each packet.
fn bed(given: &[(&'static str, Value)]) -> Bed {
    let mut all = vec![
        ("fixed_rtt", Value::Duration(ms(40))),
        ("samples", Value::Integer(2)),
        ("tolerance", Value::Number(0.0)),
        ("ack_every", Value::Integer(1)),
    ];
    all.retain(|(name, _)| given.iter().all(|(other, _)| other != name));
    all.extend_from_slice(given);
    Bed::new(&ROW, &all)
}

/// Two acknowledgements with a current RTT of 20 + 40 ms: the usual RTT is 60 ms, its mean deviation 22.5 ms, and the probe
/// timeout 60 + 90 + 25 = 175 ms.
const USUAL: [(u64, bool, usize); 4] = [(0, DOWN, 1000), (20, UP, 30), (100, DOWN, 1000), (120, UP, 31)];

/// What leaves after [`USUAL`].
fn leaves(bed: &mut Bed, arrivals: &[(u64, bool, usize)]) -> Vec<(u64, usize)> {
    bed.play(&USUAL);
    bed.play(arrivals);
    let all = bed.uplink();
    assert_eq!(all[..2], [(20, 30), (120, 31)]);
    all[2..].to_vec()
}

#[test]
fn an_acknowledgement_within_the_range_passes_and_a_later_one_is_held() {
    let mut inside = bed(&[]);
    assert_eq!(leaves(&mut inside, &[(200, DOWN, 1000), (230, UP, 32)]), [(230, 32)]);
    assert_eq!((inside.count("held_packets"), inside.count("mapped_packets")), (0, 3));
    // 70 ms is the end of the range: 71 ms is late. Lasting congestion is judged after the usual RTT, at 231 + 60.
    let mut outside = bed(&[]);
    assert_eq!(leaves(&mut outside, &[(200, DOWN, 1000), (231, UP, 32)]), [(291, 32)]);
    assert_eq!((outside.count("held_packets"), outside.count("congestion_packets")), (1, 1));
    assert_eq!((outside.count("congestion_judgments"), outside.count("held_ms")), (1, 60));
    assert_eq!(outside.gauge("rtt_ms"), [60.0, 60.0, 71.0]);
}

#[test]
fn a_usual_acknowledgement_supersedes_the_held_one() {
    let mut bed = bed(&[]);
    let out = leaves(
        &mut bed,
        &[
            (200, DOWN, 1000),
            (205, DOWN, 1000),
            (230, DOWN, 1000),
            (251, UP, 32),
            (260, UP, 33),
            (262, UP, 34),
        ],
    );
    // 51 + 40 and 55 + 40 ms are late, 32 + 40 ms is late too, as the range ends at 70.
    assert_eq!(out, [(311, 34)]);
    assert_eq!((bed.count("held_packets"), bed.count("superseded_packets")), (3, 2));
    assert_eq!(bed.gauge("held_ms"), [9.0, 2.0, 49.0]);
    let mut books = PacketBooks::default();
    bed.node.account(&mut books);
    assert_eq!(books.dropped.of(0).packets, 2);

    let mut bed = self::bed(&[]);
    let out = leaves(
        &mut bed,
        &[(200, DOWN, 1000), (235, DOWN, 1000), (251, UP, 32), (255, UP, 33), (300, UP, 34)],
    );
    // The second is for the packet at 235: 20 + 40 ms. The third acknowledges nothing that is known, and passes.
    assert_eq!(out, [(255, 33), (300, 34)]);
    assert_eq!((bed.count("superseded_packets"), bed.count("held_ms")), (1, 4));
    assert_eq!(bed.count("congestion_judgments"), 0);
}

#[test]
fn what_is_kept_is_sent_before_the_sender_times_out() {
    let patient = ("congestion_after", Value::Duration(ms(1000)));
    // The last packet passed at 200 and left the server at 180, whose probe timeout is at 355. What leaves at 325 is there at
    // 345, 10 ms before.
    let mut one = bed(std::slice::from_ref(&patient));
    assert_eq!(leaves(&mut one, &[(200, DOWN, 1000), (251, UP, 32)]), [(325, 32)]);
    assert_eq!((one.count("timeout_packets"), one.count("congestion_judgments")), (1, 0));
    // A later packet restarts the sender's timer.
    let mut two = bed(std::slice::from_ref(&patient));
    assert_eq!(leaves(&mut two, &[(200, DOWN, 1000), (251, UP, 32), (260, DOWN, 1000)]), [(385, 32)]);
    // An acknowledgement that comes after that time is not held at all.
    let mut three = bed(&[patient]);
    assert_eq!(leaves(&mut three, &[(200, DOWN, 1000), (326, UP, 32)]), [(326, 32)]);
    assert_eq!((three.count("held_packets"), three.count("late_passed_packets")), (0, 1));
}

#[test]
fn a_packet_with_data_is_not_delayed_and_does_not_overtake() {
    let mut bed = bed(&[]);
    let out = leaves(&mut bed, &[(200, DOWN, 1000), (251, UP, 32), (260, UP, 500)]);
    assert_eq!(out, [(260, 32), (260, 500)]);
    assert_eq!(bed.count("ahead_of_data_packets"), 1);
}

#[test]
fn in_lasting_congestion_nothing_is_held() {
    let mut bed = bed(&[]);
    bed.play(&USUAL);
    // From 200 on each acknowledgement takes 50 ms longer: 70 + 40 ms instead of 20 + 40 ms.
    for n in 0..50 {
        bed.play(&[(200 + 100 * n, DOWN, 1000), (270 + 100 * n, UP, 32)]);
    }
    let out = bed.uplink();
    // The first is held from 270 to 330, for the usual 60 ms: no usual one has come. The range is learned anew.
    assert_eq!(out[2..5], [(330, 32), (370, 32), (470, 32)]);
    assert_eq!(out.len(), 52);
    assert_eq!((bed.count("held_packets"), bed.count("congestion_judgments")), (1, 1));
    assert_eq!(bed.gauge("usual_rtt_ms").last(), Some(&110.0));
}

#[test]
fn contents_and_flow_numbers_make_no_difference() {
    let run = |disguise: fn(&mut Packet, u32)| {
        let mut bed = bed(&[]);
        let mut random = Generator::new(1, "arrivals");
        for n in 0..400u64 {
            for up in [DOWN, UP] {
                let late = if random.chance(0.1) { 40 } else { 0 };
                let at = Time::ZERO + ms(50 * n + if up { 20 + random.below(3) + late } else { 0 });
                let size = if up { 30 } else { 1000 };
                let mut packet = packet(up, if up && random.chance(0.1) { 200 } else { size });
                disguise(&mut packet, n as u32);
                bed.accept(at.max(bed.out.last().map_or(Time::ZERO, |last| last.0)), up, packet);
            }
        }
        (bed.uplink(), bed.node.counters())
    };
    let plain = run(|_, _| {});
    assert!(plain.1.iter().any(|(name, count)| *name == "held_packets" && *count > 10), "{plain:?}");
    let other = run(|packet, n| {
        packet.bytes.iter_mut().for_each(|byte| *byte = n as u8 ^ 0x5a);
        (packet.data, packet.flow, packet.ecn) = (n % 3 == 0, n, wire::Ecn::Ect0);
    });
    assert_eq!(plain, other);
}

#[test]
fn an_estimation_error_makes_the_current_rtt_longer() {
    let always = [("error_probability", Value::Number(1.0)), ("error_size", Value::Number(0.2))];
    let mut bed = bed(&always);
    bed.play(&USUAL);
    // 60 ms and a fifth of it.
    assert_eq!(bed.gauge("rtt_ms"), [72.0, 72.0]);
}

#[test]
fn one_in_five_estimates_is_wrong_and_other_flows_do_not_change_which() {
    let run = |others: bool| {
        let mut bed = bed(&[("error_probability", Value::Number(0.2))]);
        for n in 0..1000u64 {
            let at = |ms: u64| Time::ZERO + self::ms(200 * n + ms);
            bed.accept(at(0), DOWN, packet(DOWN, 1000));
            if others {
                bed.accept(at(1), DOWN, between("10.0.0.2:7", "10.0.0.9:443", DOWN, 1000));
                bed.accept(at(11), UP, between("10.0.0.2:7", "10.0.0.9:443", UP, 30));
            }
            bed.accept(at(20), UP, packet(UP, 30));
        }
        // The other flow has 50 or 60 ms: 60 is that of the first as well.
        bed.gauge("rtt_ms")
    };
    let alone = run(false);
    let wrong = alone.iter().filter(|rtt| **rtt == 72.0).count();
    assert!((160..=240).contains(&wrong) && alone.len() == 1000, "{wrong} of {}", alone.len());
    let both = run(true);
    assert_eq!(both.iter().skip(1).step_by(2).copied().collect::<Vec<_>>(), alone);
}

#[test]
fn whatever_comes_nothing_is_lost_but_what_is_superseded_and_order_is_kept() {
    let mut outcomes = [0; 2];
    for seed in 0..20 {
        let few = [("flows", 4), ("table", 5), ("samples", 1)].map(|(name, n)| (name, Value::Integer(n)));
        let mut bed = bed(&few);
        let mut random = Generator::new(seed, "packets");
        let (mut now, mut came) = (Time::ZERO, 0);
        for n in 0..3000u32 {
            now += Duration::from_micros(random.below(8000));
            let terminal = format!("10.0.0.{}:7", 1 + random.below(5));
            let up = random.chance(0.4);
            let payload = [1, 21, 30, 33, 100, 400][random.below(6) as usize];
            let mut packet = between(&terminal, "10.0.0.9:443", up, payload);
            packet.flow = n;
            came += 1;
            bed.accept(now, up, packet);
        }
        bed.wait(now + ms(2000));
        assert_eq!(bed.node.wake_at(), None);
        let superseded = bed.count("superseded_packets");
        assert_eq!(bed.out.len() as u64 + superseded, came);
        let ways = ["timeout", "congestion", "ahead_of_data", "forgotten"];
        let sent: u64 = ways.iter().map(|way| bed.count(&format!("{way}_packets"))).sum();
        assert_eq!(bed.count("held_packets"), sent + superseded);
        outcomes = [outcomes[0] + sent, outcomes[1] + superseded];
        for terminal in 1..=5u8 {
            for up in [DOWN, UP] {
                let end = |packet: &Packet| if up { packet.source.ip() } else { packet.destination.ip() };
                let of =
                    bed.out.iter().filter(|(_, packet)| end(packet) == IpAddr::from([10, 0, 0, terminal]));
                assert!(of.map(|(_, packet)| packet.flow).is_sorted(), "terminal {terminal}");
            }
        }
    }
    assert!(outcomes.iter().all(|outcome| *outcome > 20), "{outcomes:?} sent and superseded");
}

#[test]
fn floods_other_protocols_and_other_ports_pass_at_once() {
    let mut bed = bed(&[("flows", Value::Integer(16))]);
    for n in 0..20_000u64 {
        let terminal = format!("10.0.{}.1:{}", n % 200, 1 + n % 60_000);
        let server = if n % 3 == 0 { "10.0.0.9:80" } else { "10.0.0.9:443" };
        let mut packet = between(&terminal, server, UP, (n % 40) as usize);
        if n % 5 == 0 {
            packet.carry_tcp();
        }
        bed.accept(Time::from_nanos(n), UP, packet);
    }
    assert!(bed.out.iter().zip(0..).all(|((at, _), n)| at.as_nanos() == n));
    assert_eq!((bed.out.len(), bed.node.wake_at()), (20_000, None));
}

#[test]
fn flows_over_ipv6_are_held_as_well() {
    let mut bed = bed(&[]);
    for (at, up, payload) in [&USUAL[..], &[(200, DOWN, 1000), (251, UP, 32)]].concat() {
        bed.accept(Time::ZERO + ms(at), up, between("[fd00::1]:7", "[fd00::9]:4433", up, payload));
    }
    assert_eq!(bed.uplink(), [(20, 30), (120, 31), (311, 32)]);
}

#[test]
fn options_that_cannot_be_used_are_told() {
    for (option, value, part) in [
        ("wireless", texts(&["air"]), "found \"air\"; expected one of radio, backhaul"),
        ("wireless", texts(&["radio", "backhaul"]), "expected some of radio, backhaul"),
        ("ports", texts(&["https"]), "found \"https\"; expected a number up to 65535 or a range"),
        ("ports", texts(&["20-10"]), "found \"20-10\""),
        ("ports", texts(&[]), "expected at least one port"),
        ("lifetime", Value::Duration(Duration::ZERO), "expected a duration above zero"),
    ] {
        let problem = refusal(&ROW, option, value);
        assert!(problem.contains(part), "{option}: {problem}");
    }
}
