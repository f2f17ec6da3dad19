//! The lazy player of recorded traces agrees with a plain reading of the format, opportunity by opportunity.

mod support;

use network::rate::Trace;
use proptest::prelude::*;
use std::collections::VecDeque;
use support::{link, ms, play};
use units::Time;

/// The time at which each packet (at, number, size) has passed: each opportunity carries 1500 bytes of the
/// waiting packets, first come first served; unused bytes are lost.
fn reference(trace: &[u64], offered: &[(Time, u32, u32)]) -> Vec<(Time, u32)> {
    let mut waiting: VecDeque<(Time, u32, u32)> = offered.iter().copied().collect();
    let mut done = Vec::new();
    for round in 0.. {
        for opportunity in trace {
            let now = ms(round * trace[trace.len() - 1] + opportunity);
            let mut bytes = 1500;
            while let Some((at, number, missing)) = waiting.front_mut() {
                if *at > now || bytes == 0 {
                    break;
                }
                let used = bytes.min(*missing);
                (bytes, *missing) = (bytes - used, *missing - used);
                if *missing == 0 {
                    done.push((now, *number));
                    waiting.pop_front();
                }
            }
            if waiting.is_empty() {
                return done;
            }
        }
    }
    done
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_player_agrees_with_a_plain_reading(
        gaps in prop::collection::vec(0u64..4, 1..30),
        // Many arrivals are at whole milliseconds, like the opportunities.
        packets in prop::collection::vec((0u64..4, prop::bool::weighted(0.3), 28u32..4000), 1..60),
    ) {
        let mut trace: Vec<u64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        if trace.last() == Some(&0) {
            trace.push(1);
        }
        let (mut at, mut offered) = (0, Vec::new());
        for (number, (gap, early, size)) in packets.iter().enumerate() {
            at += gap * 1_000_000;
            offered.push((Time::from_nanos(at.saturating_sub(u64::from(*early && *gap > 0))), number as u32, *size));
        }
        let text: String = trace.iter().map(|ms| format!("{ms}\n")).collect();
        prop_assert!(Trace::parse(&text).is_ok());
        let rate = format!("trace file={text}");
        let mut played = link("a", &[("rate", &rate), ("queue", "drop-tail limit=unlimited"), ("mtu", "9000")]);
        prop_assert_eq!(play(&mut played, &offered), reference(&trace, &offered));
    }

    #[test]
    fn a_link_that_always_has_something_to_send_uses_its_capacity(
        gaps in prop::collection::vec(0u64..4, 1..30),
        sizes in prop::collection::vec(28u32..4000, 200),
    ) {
        let trace: Vec<u64> = gaps.iter().scan(1, |at, gap| { *at += gap; Some(*at) }).collect();
        let text: String = trace.iter().map(|ms| format!("{ms}\n")).collect();
        let rate = format!("trace file={text}");
        let mut played = link("a", &[("rate", &rate), ("queue", "drop-tail limit=unlimited"), ("mtu", "9000")]);
        let offered: Vec<(Time, u32, u32)> = sizes.iter().map(|size| (Time::ZERO, 0, *size)).collect();
        let end = play(&mut played, &offered).last().unwrap().0;
        let total: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
        let until = |time| played.capacity(Time::ZERO, time).unwrap().as_bytes();
        prop_assert!(until(end) < total && total <= until(Time::from_nanos(end.as_nanos() + 1)));
    }
}
