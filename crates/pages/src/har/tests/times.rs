//! Dates and times of entries.

use super::*;

#[test]
fn a_time_without_a_zone_has_that_of_the_others() {
    let first = entry(0, 50, "http://a/", "", TEN, "").replace("00.000Z", "00.000+02:00");
    let second = entry(60, 5, "http://a/x", "", TEN, "").replace("00.060Z", "00.060");
    let archive = parse(&archive(&[first, second]), OPTIONS).unwrap();
    assert_eq!(archive.pages[0].objects[1].parsing, Duration::from_millis(10));
    let told =
        "1 of 2 entries with a time without a zone: the zone of the others is taken; the first is entry 2";
    assert_eq!(archive.notes(), [told]);
}

/// Firefox before version 60, and other exporters.
#[test]
fn an_entry_without_a_time_took_the_sum_of_its_timings() {
    let timings = r#", "timings": {"blocked": 1, "dns": 2, "connect": 8, "ssl": 5, "send": 0, "wait": 36, "receive": 12}"#;
    let next = entry(59, 5, "http://a/x", "", TEN, "");
    let taken = |timings: &str, time: &str| {
        let first = entry(0, 1, "http://a/", "", TEN, timings).replace(r#""time": 1,"#, time);
        read(&archive(&[first, next.clone()])).map(|mut pages| pages.remove(0).objects.remove(1).parsing)
    };
    // The next one is requested at 59 ms, when the first is complete.
    assert_eq!(taken(timings, r#""time": null,"#).unwrap(), Duration::ZERO);
    assert_eq!(taken(timings, "").unwrap(), Duration::ZERO);
    let applied = timings.replace(r#""dns": 2"#, r#""dns": -1"#).replace("12}", "14}");
    assert_eq!(taken(&applied, "").unwrap(), Duration::ZERO);
    assert_eq!(taken("", "").unwrap_err(), "entry 1: no time, and no timings whose sum it is");
    assert_eq!(
        taken(r#", "timings": {}"#, "").unwrap_err(),
        "entry 1: no time, and no timings whose sum it is"
    );
}

/// One of 1970 began the page 56 years early, and all others waited for it.
#[test]
fn dates_of_another_day_are_not_used() {
    let good = [
        entry(0, 10, "https://a.example/", "", TEN, ""),
        entry(50, 10, "https://a.example/b", "", TEN, ""),
        entry(90, 10, "https://a.example/c", "", TEN, ""),
    ];
    let told = "1 of 3 entries with a startedDateTime of another day than those of their page";
    for date in [
        "1970-01-01T00:00:00.000Z",
        "0001-01-01T00:00:00.0000000Z",
        "1969-12-31T23:59:59.000+00:00",
        "1970-01-01T00:00:00.000+01:00",
        "2026-03-03T09:05:00.050Z",
        "2025-03-01T09:05:00.050Z",
        "2199-12-31T23:59:59Z",
    ] {
        for (at, taken) in [(0, 50), (1, 0), (2, 50)] {
            let when = [0, 50, 90][at];
            let stated = format!("2026-03-01T09:05:00.{when:03}Z");
            let mut bad = good.clone();
            bad[at] = bad[at].replace(&stated, date);
            let mut same = good.clone();
            same[at] = same[at].replace(&stated, &format!("2026-03-01T09:05:00.{taken:03}Z"));
            let found = parse(&archive(&bad), OPTIONS).unwrap();
            assert_eq!(found.pages, read(&archive(&same)).unwrap(), "{date} {at}");
            let notes = found.notes();
            assert_eq!(notes.len(), 1, "{notes:?}");
            assert!(
                notes[0].starts_with(told) && notes[0].ends_with(&format!("the first is entry {}", at + 1)),
                "{notes:?}"
            );
        }
    }
    let old = good.map(|entry| entry.replace("2026-03-01T09:05:00", "0001-01-01T00:00:00"));
    let problem = read(&archive(&old)).unwrap_err();
    assert!(problem.starts_with("most entries of a page have a startedDateTime before 1970"), "{problem}");
}

#[test]
fn negative_times_are_unknown() {
    let timings = r#", "timings": {"send": 1, "wait": 20, "receive": 5}"#;
    for (time, more, millis) in
        [("-1", timings, 26), ("-5", timings, 26), ("-5", "", 0), ("-0.5", "", 0), ("\"-1\"", "", 0)]
    {
        let first = entry(0, 7, "https://a.example/", "", TEN, more)
            .replace("\"time\": 7", &format!("\"time\": {time}"));
        let second = entry(100, 5, "https://a.example/b", "", TEN, "");
        let found = objects(&[first, second]);
        assert_eq!(found[1].parsing, Duration::from_millis(100 - millis), "{time} {more}");
    }
}

/// HAR 1.2: the time is the sum of the timings.
#[test]
fn a_time_far_from_the_sum_of_its_timings_is_not_used() {
    let timings = r#", "timings": {"blocked": 40, "send": 0, "wait": 250, "receive": 50}"#;
    for (time, millis, has_note) in [
        ("0", 340, true),
        ("50", 340, true),
        ("0.34", 340, true),
        ("340000", 340, true),
        ("340", 340, false),
        ("345.2", 345, false),
        // Without the time before a connection was there.
        ("300", 300, false),
    ] {
        let first = entry(0, 7, "https://a.example/", "", TEN, timings)
            .replace("\"time\": 7", &format!("\"time\": {time}"));
        let second = entry(900, 5, "https://a.example/b", "", TEN, "");
        let found = parse(&archive(&[first, second]), OPTIONS).unwrap();
        let gap = found.pages[0].objects[1].parsing.as_nanos().div_ceil(1_000_000);
        assert_eq!(gap, 900 - millis, "{time}");
        let told = "1 of 2 entries with a time that is not the sum of the timings: the sum is taken; the first is entry 1";
        assert_eq!(found.notes(), [told][..usize::from(has_note)], "{time}");
    }
}
