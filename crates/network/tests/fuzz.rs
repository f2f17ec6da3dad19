//! The laws of every queue under arbitrary sequences of calls, and of rates from altered files, on a stable
//! toolchain: the entry points of the fuzzer.

use network::jitter::JITTERS;
use network::loss::LOSSES;
use network::queue::QUEUES;
use proptest::collection::vec;
use proptest::prelude::*;
use units::fuzz::{altered, draws};

/// The kinds of rate files, each with a valid example.
const RATES: [(&str, &str); 3] = [
    ("trace", "1\n1\n2\n5\n5\n5\n6\n11\n"),
    ("trace", include_str!("../../../examples/traces/lte-like.down")),
    ("series", include_str!("../../../examples/traces/driving.csv")),
];

/// The file of a series.
const SERIES: &str = include_str!("../../../examples/traces/leo.csv");

/// Files of jitter and of loss.
const COURSES: [&str; 3] = [
    "0 0.5\n5 1\n9.5 0\n",
    "\u{feff}Time (s);Delay_ms;note\r\n0;1,5;a\r\n0,002;3e0;\"b;c\"\r\n",
    "# made by hand\n\nloss,time_ms\n0.25,7\n1e-3,8\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Equal bytes give equal seeds, so the queue behaves the same again.
    #[test]
    fn every_queue_keeps_the_laws(
        row in 0..QUEUES.len() as u8,
        options: [u8; 2],
        calls in vec(any::<u8>(), 0..1200),
    ) {
        let data = [&[row], &options[..], &calls].concat();
        prop_assert_eq!(network::fuzz::queues(&data), network::fuzz::queues(&data));
    }

    /// Equal bytes give equal seeds, so the same packets are lost again.
    #[test]
    fn every_loss_model_keeps_its_laws(
        row in 0..LOSSES.len() as u8,
        options: u8,
        packets in vec(any::<u8>(), 0..400),
    ) {
        let data = [&[row, options], &packets[..]].concat();
        prop_assert_eq!(network::fuzz::losses(&data), network::fuzz::losses(&data));
    }

    #[test]
    fn every_jitter_keeps_its_laws(
        row in 0..JITTERS.len() as u8,
        options: u8,
        packets in vec(any::<u8>(), 0..400),
    ) {
        let data = [&[row, options], &packets[..]].concat();
        prop_assert_eq!(network::fuzz::jitters(&data), network::fuzz::jitters(&data));
    }

    #[test]
    fn a_rate_from_an_altered_file_carries_its_capacity(which in 0..RATES.len(), seed: u64) {
        let (kind, text) = RATES[which];
        let text = altered(text, &mut draws(seed));
        prop_assert_eq!(network::fuzz::rates(kind, &text), network::fuzz::rates(kind, &text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_series_from_an_altered_file_is_written_as_it_was_read(seed: u64) {
        let text = altered(SERIES, &mut draws(seed));
        prop_assert_eq!(network::fuzz::series(&text), network::fuzz::series(&text));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_course_from_an_altered_file_is_read_or_refused_in_one_line(which in 0..COURSES.len(), seed: u64) {
        let text = altered(COURSES[which], &mut draws(seed));
        prop_assert_eq!(network::fuzz::courses(&text), network::fuzz::courses(&text));
    }
}

/// Checks that the properties above are not vacuous: but for `none`, each row is built with several options, loses or delays
/// packets with some of them, and others with others.
#[test]
fn every_loss_model_and_jitter_is_built_and_has_an_effect() {
    let outcomes = |run: &dyn Fn(&[u8]) -> bool, row: usize| {
        let data = |options: u8| [vec![row as u8, options], (0..=255).collect()].concat();
        (0..=255).filter(|options| run(&data(*options))).count()
    };
    for (row, loss) in LOSSES.iter().enumerate() {
        let lossy = outcomes(&|data| network::fuzz::losses(data).contains(&true), row);
        let lossless = outcomes(&|data| network::fuzz::losses(data).contains(&false), row);
        let expected = loss.name != "none";
        assert_eq!((lossy > 20, lossless > 20), (expected, expected), "{}: {lossy} {lossless}", loss.name);
    }
    for (row, jitter) in JITTERS.iter().enumerate() {
        let shifted = outcomes(&|data| network::fuzz::jitters(data).iter().any(|shift| *shift != 0), row);
        assert_eq!(shifted > 20, jitter.name != "none", "{}: {shifted}", jitter.name);
    }
}

/// Checks that the properties above are not vacuous.
#[test]
fn some_altered_rate_files_are_accepted_and_some_refused() {
    for (text, kinds) in COURSES.into_iter().zip([[true, true], [true, false], [false, true]]) {
        assert_eq!(network::fuzz::courses(text), kinds, "{text}");
        let taken =
            (0..200).filter(|seed| network::fuzz::courses(&altered(text, &mut draws(*seed))) == kinds);
        assert!((10..195).contains(&taken.count()), "{text}");
    }
    let taken = (0..200).filter(|seed| network::fuzz::series(&altered(SERIES, &mut draws(*seed))).is_some());
    assert!((5..195).contains(&taken.count()));
    for (kind, text) in RATES {
        assert!(network::fuzz::rates(kind, text).is_some_and(|times| times.len() > 100));
        let taken =
            (0..200).filter(|seed| network::fuzz::rates(kind, &altered(text, &mut draws(*seed))).is_some());
        let taken = taken.count();
        assert!((10..190).contains(&taken), "{kind}: {taken} of 200 are taken");
    }
}

/// Every queue gets enough calls to forward, drop and mark packets; otherwise the properties above would be
/// vacuous.
#[test]
fn every_queue_is_driven_to_its_limits() {
    let mut stream = random::Generator::new(1, "calls");
    for row in 0..QUEUES.len() as u8 {
        let (mut sent, mut dropped, mut marked) = (0, 0, 0);
        for limit in 0..7 {
            let mut calls = vec![0; 4000];
            stream.fill(&mut calls);
            // No pause is longer than 100 ms, so that queues build up.
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
