//! The laws of every queue under arbitrary sequences of calls, and of rates out of altered files, on a stable toolchain: the
//! fuzzing entry points.

use network::queue::QUEUES;
use proptest::collection::vec;
use proptest::prelude::*;
use units::fuzz::{altered, draws};

/// Files of rates: a kind, and one that is right.
const RATES: [(&str, &str); 3] = [
    ("trace", "1\n1\n2\n5\n5\n5\n6\n11\n"),
    ("trace", include_str!("../../../examples/traces/lte-like.down")),
    ("series", include_str!("../../../examples/traces/leo.csv")),
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Equal bytes are equal seeds: the queue does the same again.
    #[test]
    fn every_queue_keeps_the_laws(
        row in 0..QUEUES.len() as u8,
        options: [u8; 2],
        calls in vec(any::<u8>(), 0..1200),
    ) {
        let data = [&[row], &options[..], &calls].concat();
        prop_assert_eq!(network::fuzz::queues(&data), network::fuzz::queues(&data));
    }

    #[test]
    fn a_rate_out_of_an_altered_file_carries_what_it_says(which in 0..RATES.len(), seed: u64) {
        let (kind, text) = RATES[which];
        let text = altered(text, &mut draws(seed));
        prop_assert_eq!(network::fuzz::rates(kind, &text), network::fuzz::rates(kind, &text));
    }
}

/// Otherwise the property above would be vacuous.
#[test]
fn altered_files_of_rates_are_taken_and_refused() {
    for (kind, text) in RATES {
        assert!(network::fuzz::rates(kind, text).is_some_and(|times| times.len() > 100));
        let taken =
            (0..200).filter(|seed| network::fuzz::rates(kind, &altered(text, &mut draws(*seed))).is_some());
        let taken = taken.count();
        assert!((10..190).contains(&taken), "{kind}: {taken} of 200 are taken");
    }
}

/// Each row under enough calls that it drops, marks or lets through; otherwise the properties above would be vacuous.
#[test]
fn every_queue_is_driven_to_its_limits() {
    let mut stream = random::Stream::new(1, "calls");
    for row in 0..QUEUES.len() as u8 {
        let (mut sent, mut dropped, mut marked) = (0, 0, 0);
        for limit in 0..7 {
            let mut calls = vec![0; 4000];
            stream.fill(&mut calls);
            // No pause longer than 100 ms, so that queues stand.
            calls.iter_mut().step_by(2).for_each(|call| *call = *call % 32 + (*call >> 5) % 5 * 32);
            let data = [&[row, limit, 2][..], &calls].concat();
            for (_, ecn, left) in network::fuzz::queues(&data) {
                sent += u32::from(left);
                dropped += u32::from(!left);
                marked += u32::from(left && ecn == wire::Ecn::Ce);
            }
        }
        let name = QUEUES[usize::from(row)].name;
        assert!(sent > 1000 && dropped > 100, "{name}: {sent} {dropped} {marked}");
    }
}
