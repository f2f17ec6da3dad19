//! Choices, pauses and placeholders of BOLA, by hand.

use super::super::testing::{LADDER, Strip, download, rates, view};
use super::*;
use units::parameter::Choice as _;

fn bola(options: &[(&str, &str)]) -> Bola {
    Bola::new(BolaOptions::written(options).unwrap())
}

/// The choice, and its wait in ms.
fn choose(abr: &mut Bola, view: &View<'_>) -> (usize, u64) {
    let choice = abr.choose(view);
    (choice.representation, choice.wait.as_millis())
}

/// Segments of 3 s at 1, 2 and 4 Mbit/s.
fn three(segments: usize) -> Strip {
    Strip::new(&[1000, 2000, 4000], segments, 3)
}

/// The levels of `levels.rs`: 14.84 s and 17.22 s, and 22 s at which the highest representation has the score 0.
#[test]
fn basic_follows_the_buffer_and_waits_above_the_highest_level() {
    let line = three(9);
    let mut abr = bola(&[("variant", "bola-basic")]);
    let mut at = |buffer| choose(&mut abr, &view(&line, 1, Some(0), buffer, 60_000));
    assert_eq!(at(0), (0, 0));
    assert_eq!(at(14_836), (0, 0));
    assert_eq!(at(14_837), (1, 0));
    assert_eq!(at(17_225), (2, 0));
    assert_eq!(at(22_000), (2, 0));
    assert_eq!(at(23_500), (2, 1500));
    // A player that holds less than bmax: (10 - 3) / 6.38629 x (5 - ln 2) = 4.721 s.
    assert_eq!(choose(&mut abr, &view(&line, 1, Some(0), 4720, 10_000)), (0, 0));
    assert_eq!(choose(&mut abr, &view(&line, 1, Some(0), 4722, 10_000)), (1, 0));
}

/// The ladder of the paper, with gp 5 and 25 s: where 8 and 9 have equal scores, Vp (gp + (b9 u8 - b8 u9) / (b9 - b8)), with
/// Vp = 2.66296: (6000 x 3.08453 - 5027 x 3.26146) / 973 = 2.17044, so 19.0946 s.
#[test]
fn basic_with_the_ladder_of_the_paper() {
    let line = Strip::new(&LADDER, 9, 3);
    let mut abr = bola(&[("variant", "bola-basic")]);
    let mut at = |buffer| choose(&mut abr, &view(&line, 1, Some(0), buffer, 25_000)).0;
    assert_eq!((at(19_090), at(19_100)), (8, 9));
    // Between the lowest two: (331 x 0 - 230 x 0.36403) / 101 = -0.82899, 11.107 s.
    assert_eq!((at(11_100), at(11_115)), (0, 1));
}

/// Half of the segments since the beginning or to the end count as the buffer, at least three: 9 s at both ends of 20, so
/// that Vp = 6 / 6.38629 and the levels are 4.046 and 4.698 s. In the middle it is 5 x 3 = 15 s: Vp = 12 / 6.38629.
#[test]
fn finite_has_a_small_buffer_at_both_ends() {
    let line = three(20);
    let mut abr = bola(&[("variant", "bola-finite")]);
    let mut at = |segment, buffer| choose(&mut abr, &view(&line, segment, Some(0), buffer, 60_000));
    assert_eq!(at(0, 0), (0, 0));
    assert_eq!((at(1, 4040), at(1, 4050), at(1, 4700)), ((0, 0), (1, 0), (2, 0)));
    assert_eq!((at(19, 4040), at(19, 4050)), ((0, 0), (1, 0)));
    assert_eq!((at(10, 8090), at(10, 8100)), ((0, 0), (1, 0)));
    assert_eq!(at(10, 13_000), (2, 1000), "the highest level is 12 s");
    abr.on_seek();
    assert_eq!(choose(&mut abr, &view(&line, 10, Some(0), 4050, 60_000)), (1, 0), "the beginning is here");
}

/// The throughput of 2.5 Mbit/s is between 2 and 4, the buffer of 13.5 s is for 4.
#[test]
fn finite_with_and_without_oscillations() {
    let line = three(100);
    let at = |oscillation: &str, last| {
        let mut abr = bola(&[("variant", "bola-finite"), ("oscillation", oscillation)]);
        choose(&mut abr, &view(&line, 0, None, 0, 60_000));
        let downloads = [download(20, 312_500, [0, 0, 1000])];
        abr.on_download(&View { downloads: &downloads, ..view(&line, 21, Some(last), 21_000, 60_000) });
        choose(&mut abr, &view(&line, 50, Some(last), 20_500, 60_000))
    };
    assert_eq!(at("none", 0), (2, 0));
    assert_eq!(at("bola-u", 0), (2, 0), "one above the throughput");
    // Vp (ln 2 + 5) = 3.444879 x 5.693147 = 19.612 s are the most for 2 Mbit/s.
    assert_eq!(at("bola-o", 0), (1, 887));
    assert_eq!(at("bola-o", 1), (1, 887));
    assert_eq!(at("bola-o", 2), (2, 0), "not higher than the last one");
}

/// A line of three representations for BOLA-E: levels of 10 and 30 s as in `levels.rs`, 14.43 s, 24.43 s, 44.43 s.
fn enhanced(more: &[(&str, &str)]) -> Bola {
    let usual = [
        ("stable_buffer", "30 s"),
        ("insufficient_buffer", "false"),
        ("placeholder_decay", "1.0"),
        ("oscillation", "none"),
    ];
    bola(&[more, &usual].concat())
}

/// A download at this many kbit/s ends; the view after it.
fn complete(
    abr: &mut Bola,
    line: &Strip,
    segment: usize,
    [from, to]: [u64; 2],
    kbit: u64,
    representation: usize,
) {
    let mut done = download(segment, kbit * (to - from) / 8, [from, from, to]);
    done.representation = representation;
    abr.on_download(&View {
        now: done.last_at,
        downloads: &[done],
        ..view(line, segment + 1, Some(representation), 3000, 60_000)
    });
}

fn now(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

#[test]
fn enhanced_starts_by_throughput_with_a_placeholder() {
    let line = three(100);
    let mut abr = enhanced(&[]);
    assert_eq!(choose(&mut abr, &View { is_playing: false, ..view(&line, 0, None, 0, 60_000) }), (0, 0));
    complete(&mut abr, &line, 0, [0, 1000], 3000, 0);
    // 2.7 Mbit/s: the second. It is preferred from 14.427 s on, of which 3 s are there.
    let second = View { now: now(1000), ..view(&line, 1, Some(0), 3000, 60_000) };
    assert_eq!(choose(&mut abr, &second), (1, 0));
    assert!((abr.placeholder - 11.42695).abs() < 1e-4 && !abr.is_starting, "{abr:?}");
    complete(&mut abr, &line, 1, [1000, 3000], 3000, 1);
    assert!((abr.placeholder - 11.42695).abs() < 1e-4);
    // By the buffer from now on: 4 s and the placeholder are enough for the second, 13.1 s for the third.
    let third = View { now: now(3000), ..view(&line, 2, Some(1), 4000, 60_000) };
    assert_eq!(choose(&mut abr, &third), (1, 0));
    let much = View { now: now(3000), ..view(&line, 2, Some(1), 13_100, 60_000) };
    assert_eq!(choose(&mut abr, &much), (2, 0));
}

/// BOLA-E in its steady state, with nothing in the placeholder.
fn steady(line: &Strip, more: &[(&str, &str)]) -> Bola {
    let mut abr = enhanced(more);
    choose(&mut abr, &view(line, 0, None, 0, 60_000));
    complete(&mut abr, line, 0, [0, 1000], 1000, 0);
    choose(&mut abr, &View { now: now(1000), ..view(line, 1, Some(0), 3000, 60_000) });
    abr.placeholder = 0.0;
    abr
}

/// The lowest representation has the score 0 at 24.427 s, the second at 14.427 (ln 2 + 1.693147) = 34.427 s.
#[test]
fn enhanced_waits_after_it_has_used_up_the_placeholder() {
    let line = three(100);
    let mut abr = steady(&line, &[("oscillation", "bola-o")]);
    // The throughput is for the lowest: BOLA-O does not rise, and waits until its level.
    let at = |buffer| View { now: now(1000), ..view(&line, 2, Some(0), buffer, 60_000) };
    assert_eq!(choose(&mut abr, &at(24_000)), (0, 0));
    assert_eq!(choose(&mut abr, &at(26_000)), (0, 1573));
    abr.placeholder = 2.0;
    assert_eq!(
        choose(&mut abr, &at(24_000)),
        (0, 0),
        "26 s, of which 2 s are not real: 1.573 s less of those"
    );
    assert!((abr.placeholder - 0.42695).abs() < 1e-4);
    abr.placeholder = 1.0;
    assert_eq!(choose(&mut abr, &at(25_000)), (0, 573));
    assert_eq!(abr.placeholder, 0.0);
    // The highest never waits.
    let mut follows = steady(&line, &[]);
    assert_eq!(choose(&mut follows, &at(59_000)), (2, 0));
}

#[test]
fn enhanced_counts_time_in_which_the_buffer_could_not_grow() {
    let line = three(100);
    let mut abr = steady(&line, &[]);
    complete(&mut abr, &line, 1, [1000, 2000], 1000, 0);
    let downloads = [download(1, 125_000, [1000, 1000, 2000])];
    let late = View { now: now(7000), downloads: &downloads, ..view(&line, 2, Some(0), 10_000, 13_000) };
    assert_eq!(choose(&mut abr, &late), (1, 0), "10 s and 5 s without room");
    assert!((abr.placeholder - 5.0).abs() < 1e-9);
    assert_eq!(choose(&mut abr, &late), (1, 0));
    assert!((abr.placeholder - 5.0).abs() < 1e-9, "not twice");
}

#[test]
fn enhanced_forgets_the_placeholder_after_a_stall_and_a_seek() {
    let line = three(100);
    let mut abr = steady(&line, &[]);
    choose(&mut abr, &View { now: now(2000), ..view(&line, 2, Some(0), 2000, 60_000) });
    abr.placeholder = 8.0;
    complete(&mut abr, &line, 2, [2000, 4000], 1000, 1);
    assert!((abr.placeholder - 12.42695).abs() < 1e-4, "the buffer lasted: as much as the second needs");
    choose(&mut abr, &View { now: now(5000), ..view(&line, 3, Some(0), 2000, 60_000) });
    complete(&mut abr, &line, 3, [5000, 7001], 1000, 1);
    assert_eq!(abr.placeholder, 0.0, "it did not");
    abr.placeholder = 8.0;
    abr.on_seek();
    assert!(abr.is_starting && abr.placeholder == 0.0);
}

/// 1 Mbit/s, of which half is counted on, and 3 s of buffer: 500 kbit/s.
#[test]
fn enhanced_is_limited_by_a_low_buffer() {
    let line = three(100);
    let mut abr = steady(&line, &[("insufficient_buffer", "true"), ("insufficient_buffer_ignore", "1")]);
    abr.placeholder = 22.0;
    assert_eq!(choose(&mut abr, &View { now: now(1000), ..view(&line, 2, Some(2), 3000, 60_000) }), (0, 0));
    assert_eq!(abr.placeholder, 0.0, "the lowest needs none");
}

/// A segment of 12 Mbit at 4 Mbit/s, of which 1 Mbit came in 1 s. The buffer of 5 s has a level for the lowest.
#[test]
fn a_download_is_given_up_for_a_better_score() {
    let line = three(100);
    let asked_at = now(1000);
    let underway = Underway {
        segment: 2,
        representation: 2,
        bytes: 125_000,
        total: 1_500_000,
        asked_at,
        first_at: asked_at,
    };
    let at = |buffer| View { now: now(2000), ..view(&line, 2, Some(2), buffer, 60_000) };
    let mut abr = steady(&line, &[]);
    // (44.427 - 5) / 11 = 3.58; the lowest: (24.427 - 5) / 3 = 6.48; the second: (34.427 - 5) / 6 = 4.90.
    assert_eq!(abr.abandon(&at(5000), &underway), Some(0));
    assert_eq!(abr.choose(&at(5000)).representation, 0);
    // (44.427 - 21) / 11 = 2.13; the lowest: 1.14; the second: 2.24.
    assert_eq!(abr.abandon(&at(21_000), &underway), Some(1));
    assert_eq!(abr.abandon(&at(24_000), &underway), None, "1.86, 0.14 and 1.74");
    // Less is missing than the lowest has.
    let late = Underway { bytes: 1_200_000, ..underway };
    assert_eq!(abr.abandon(&at(0), &late), None);
    assert_eq!(steady(&line, &[("abandon", "false")]).abandon(&at(5000), &underway), None);
    assert_eq!(bola(&[("variant", "bola-basic")]).abandon(&at(5000), &underway), None);
    let mut finite = bola(&[("variant", "bola-finite")]);
    choose(&mut finite, &View { now: asked_at, ..view(&line, 2, Some(2), 5000, 60_000) });
    assert_eq!(finite.abandon(&at(4000), &underway), Some(0), "(6 - 4) / 11, and (4.7 - 4) / 3");
}

#[test]
fn other_ladders_and_one_representation() {
    let mut line = three(9);
    line.ladders[2] = rates(&[1500]);
    line.ladders[3] = rates(&[100, 9000]);
    for variant in Variant::WORDS {
        let mut abr = bola(&[("variant", variant)]);
        let mut last = None;
        for segment in 0..9 {
            let (chosen, _) = choose(&mut abr, &view(&line, segment, last, 12_000, 60_000));
            assert!(chosen < line.ladders[segment].len(), "{variant} {segment}");
            complete(&mut abr, &line, segment, [0, 0], 1000, chosen);
            last = Some(chosen);
        }
    }
}
