//! When segments begin, and how many there are.

use super::*;

#[test]
fn times_do_not_drift() {
    // Thirds of a second in milliseconds, and as a rational time scale.
    let text = segments("<SegmentTemplate media=\"$Number$\" timescale=\"3\" duration=\"1\"/>");
    let presentation = read(&[("file", &text)]);
    let track = &presentation.periods[0].tracks[0];
    assert_eq!((track.durations.len(), track.duration()), (18, Duration::from_secs(6)));
    assert_eq!(
        track.durations[..3].iter().map(|one| one.as_nanos()).collect::<Vec<_>>(),
        [333_333_333, 333_333_333, 333_333_334]
    );
}

#[test]
fn segments_after_the_end_of_their_period_are_not_played() {
    let presentation = read(&[("file", &timeline("<S t=\"5000\" d=\"2500\" r=\"3\"/>"))]);
    assert_eq!(millis(&presentation.periods[0].tracks[0]), [2_500, 2_500, 1_000]);
    // Their sizes may be listed.
    let text = timeline("<S d=\"2500\" r=\"3\"/>");
    let sizes = "representation,segment,bytes\na,1,10\na,2,20\na,3,30\na,4,40\n";
    let presentation = read(&[("file", &text), ("sizes", sizes)]);
    assert_eq!(presentation.periods[0].tracks[0].representations[0].sizes, [10, 20, 30]);
}

#[test]
fn the_number_of_segments_can_be_stated() {
    let text =
        segments("<SegmentTemplate media=\"$Number$\" startNumber=\"5\" endNumber=\"6\" duration=\"2\"/>");
    let short = text.replace("PT6S", "PT5.5S");
    assert_eq!(millis(&read(&[("file", &short)]).periods[0].tracks[0]), [2_000, 2_000]);
    let text = text.replace("mediaPresentationDuration=\"PT6S\"", "type=\"dynamic\"");
    assert_eq!(millis(&read(&[("file", &text)]).periods[0].tracks[0]), [2_000, 2_000]);
}

/// Durations are often rounded to milliseconds, which must not add a segment.
#[test]
fn a_rounded_duration_adds_no_segment() {
    let template = segments("<SegmentTemplate media=\"$Number$\" timescale=\"3000\" duration=\"6000\"/>");
    for text in [template, timeline("<S d=\"2000\" r=\"-1\"/>")] {
        for (whole, last) in [("PT6S", 2_000), ("PT6.001S", 2_000), ("PT6.002S", 2), ("PT5.9S", 1_900)] {
            let presentation = read(&[("file", &text.replace("PT6S", whole))]);
            assert_eq!(millis(&presentation.periods[0].tracks[0]).last(), Some(&last), "{whole}");
        }
    }
}

#[test]
fn a_dynamic_mpd_is_its_timeline() {
    let dynamic = |text: String| text.replace("mediaPresentationDuration=\"PT6S\"", "type=\"dynamic\"");
    let text = dynamic(timeline("<S t=\"1700000000000\" d=\"2000\" r=\"1\"/>\n<S d=\"1000\"/>"));
    assert_eq!(millis(&read(&[("file", &text)]).periods[0].tracks[0]), [2_000, 2_000, 1_000]);
}

/// What is played of a live presentation without an end: what its time shift buffer holds, otherwise the option.
#[test]
fn a_live_mpd_of_numbers_has_a_window() {
    let text = segments("<SegmentTemplate media=\"$Number$\" duration=\"2\"/>");
    let live =
        text.replace("mediaPresentationDuration=\"PT6S\"", "type=\"dynamic\" timeShiftBufferDepth=\"PT5S\"");
    assert_eq!(millis(&read(&[("file", &live)]).periods[0].tracks[0]), [2_000, 2_000, 2_000]);
    let endless = live.replace("timeShiftBufferDepth=\"PT5S\"", "");
    let of =
        |window: &str| read(&[("file", &endless), ("window", window)]).periods[0].tracks[0].durations.len();
    assert_eq!((of("\"60 s\""), of("\"8 s\"")), (30, 4));
    let repeated = timeline("<S t=\"70\" d=\"2000\" r=\"-1\"/>")
        .replace("mediaPresentationDuration=\"PT6S\"", "type=\"dynamic\" timeShiftBufferDepth=\"PT8S\"");
    assert_eq!(millis(&read(&[("file", &repeated)]).periods[0].tracks[0]), [2_000; 4]);
    let (option, problem) = built(&ROW, &[("file", &endless), ("window", "\"0 s\"")], 1).unwrap_err();
    assert_eq!((option, problem.as_str()), ("window", "expected a duration above zero, at most 2592000 s"));
    refused(&[(
        timeline("<S d=\"2\" r=\"-1\"/>").replace("mediaPresentationDuration=\"PT6S\"", ""),
        "line 6: S: r is negative, and neither the next S",
    )]);
}

#[test]
fn periods_follow_one_another() {
    let set = "<AdaptationSet contentType=\"video\"><SegmentTemplate media=\"$Number$\" duration=\"2\"/><Representation id=\"a\" bandwidth=\"8000\"/></AdaptationSet>";
    let mpd = |whole: &str, one: &str, two: &str| {
        format!(
            "<MPD xmlns=\"{NAMESPACE}\" {whole}>\n<Period {one}>{set}</Period>\n<Period {two}>{set}</Period></MPD>"
        )
    };
    let whole = "mediaPresentationDuration=\"PT9S\"";
    for (one, two) in [
        ("duration=\"PT4S\"", ""),
        ("start=\"PT0S\"", "start=\"PT4S\""),
        ("duration=\"PT4S\"", "start=\"PT4.02S\""),
        ("duration=\"PT4S\"", "duration=\"PT5S\""),
    ] {
        let presentation = read(&[("file", &mpd(whole, one, two))]);
        let counts: Vec<_> =
            presentation.periods.iter().map(|period| period.tracks[0].durations.len()).collect();
        assert_eq!(counts, [2, 3], "{one} {two}");
    }
    // A gap is not played; a period that is cut ends where the next one starts.
    for (one, two, counts) in
        [("duration=\"PT4S\"", "start=\"PT5S\"", [2, 2]), ("duration=\"PT4S\"", "start=\"PT1S\"", [1, 4])]
    {
        let presentation = read(&[("file", &mpd(whole, one, two))]);
        let found = presentation.periods.iter().map(|period| period.tracks[0].durations.len());
        assert_eq!(found.collect::<Vec<_>>(), counts, "{one} {two}");
    }
    let told = notes(&mpd(whole, "duration=\"PT4S\"", "start=\"PT5S\""));
    assert_eq!(
        told,
        [
            "the-file, line 3: Period: a gap: start is 5 s, and the period before it ends at 4 s; it follows at once"
        ]
    );
    assert_eq!(read(&[("file", &mpd(whole, "duration=\"PT0S\"", ""))]).periods.len(), 1);
    refused(&[
        (mpd(whole, "start=\"PT8S\"", "start=\"PT4S\""), "line 2: Period: it begins at 8 s, and ends at 4 s"),
        (mpd("", "duration=\"PT0S\"", "duration=\"PT0S\""), "line 1: MPD: no Period with a duration"),
        (mpd(whole, "", ""), "line 2: SegmentTemplate: the duration of its period is not known"),
        (
            mpd("", "duration=\"PT4S\"", ""),
            "line 3: SegmentTemplate: the duration of its period is not known",
        ),
        (mpd(whole, "duration=\"PT4S\"", "start=\"soon\""), "line 3: Period: start is \"soon\""),
    ]);
    let silent = BROADCAST
        .replace("id=\"weather\"", "id=\"x\"")
        .replace("contentType=\"audio\" mimeType", "contentType=\"text\" mimeType");
    assert_eq!(
        fault(&silent),
        "period 2: expected a track of video, of audio, or of both, and the same ones as in period 1"
    );
    let many = format!("<MPD xmlns=\"{NAMESPACE}\">{}</MPD>", "<Period/>".repeat(1_001));
    assert_eq!(fault(&many), "line 1: MPD: more than 1000 periods");
}

/// A timeline of six seconds whose period begins at this time.
fn offset(runs: &str, offset: &str) -> String {
    timeline(runs).replace("timescale", &format!("presentationTimeOffset=\"{offset}\" timescale"))
}

#[test]
fn what_a_timeline_has_before_its_period_is_not_played() {
    for (runs, expected, bytes, told) in [
        // One segment before the period, and half of the next.
        (
            "<S t=\"97000\" d=\"2000\" r=\"4\"/>",
            vec![1_000, 2_000, 2_000, 1_000],
            vec![2_000; 4],
            "3 s before its period: what is before it is not played (1 segment)",
        ),
        (
            "<S t=\"98000\" d=\"2000\" r=\"3\"/>",
            vec![2_000; 3],
            vec![2_000; 3],
            "2 s before its period: what is before it is not played (1 segment)",
        ),
        (
            "<S t=\"99000\" d=\"2000\" r=\"-1\"/>",
            vec![1_000, 2_000, 2_000, 1_000],
            vec![2_000; 4],
            "1 s before its period",
        ),
        // The first t is 0 unless it is said.
        (
            "<S d=\"50500\" r=\"2\"/>",
            vec![1_000, 5_000],
            vec![50_500, 50_500],
            "100 s before its period: what is before it is not played (1 segment)",
        ),
        // What is left of the second is rounding.
        ("<S t=\"98001\" d=\"2000\" r=\"3\"/>", vec![2_000, 2_000, 1_999], vec![2_000; 3], "(1 segment)"),
    ] {
        let text = offset(runs, "100000");
        let track = &read(&[("file", &text)]).periods[0].tracks[0];
        assert_eq!((millis(track), track.representations[0].sizes.clone()), (expected, bytes), "{runs}");
        let notes = notes(&text);
        assert!(notes[0].contains(told), "{notes:?}");
    }
    // Sizes are those of the segments in the MPD.
    let text = offset("<S t=\"97000\" d=\"2000\" r=\"4\"/>", "100000");
    let sizes = "representation,segment,bytes,seconds\na,1,10,2\na,2,20,2\na,3,30,2\na,4,40,2\na,5,50,2\n";
    let given = [("file", text.as_str()), ("sizes", sizes)];
    assert_eq!(read(&given).periods[0].tracks[0].representations[0].sizes, [20, 30, 40, 50]);
    assert!(!(ROW.build.notes)(&arguments(&ROW, &given)).iter().any(|note| note.contains("seconds")));
    let missing = sizes.replace("a,3,30,2\n", "");
    let (_, problem) = built(&ROW, &[("file", &text), ("sizes", &missing)], 1).unwrap_err();
    assert!(problem.contains("no line for segment 3 of"), "{problem}");
    let list = segments(
        "<SegmentList timescale=\"1000\" presentationTimeOffset=\"100000\"><SegmentTimeline><S t=\"97000\" d=\"2000\" r=\"1\"/></SegmentTimeline><SegmentURL mediaRange=\"0-99\"/><SegmentURL mediaRange=\"100-299\"/></SegmentList>",
    );
    assert_eq!(read(&[("file", &list)]).periods[0].tracks[0].representations[0].sizes, [200]);
}

#[test]
fn a_timeline_that_begins_after_its_period_ends_earlier() {
    for (runs, expected) in [
        ("<S t=\"102500\" d=\"2000\" r=\"2\"/>", vec![2_000, 1_500]),
        ("<S t=\"102000\" d=\"2000\" r=\"-1\"/>", vec![2_000, 2_000]),
        // Beyond the period: the offset is not that of this timeline.
        ("<S t=\"900000\" d=\"2000\" r=\"-1\"/>", vec![2_000; 3]),
    ] {
        let text = offset(runs, "100000");
        assert_eq!(millis(&read(&[("file", &text)]).periods[0].tracks[0]), expected, "{runs}");
        let notes = notes(&text);
        assert!(
            notes.len() == 1 && notes[0].ends_with("s after its period; it is played at once"),
            "{notes:?}"
        );
    }
}

#[test]
fn a_timeline_that_is_nowhere_in_its_period_is_played_and_told() {
    let text = offset("<S t=\"0\" d=\"2000\" r=\"2\"/>", "100000");
    assert_eq!(millis(&read(&[("file", &text)]).periods[0].tracks[0]), [2_000; 3]);
    assert!(
        notes(&text)[0]
            .contains("all its segments end before its period begins, 100 s after the first begins")
    );
    for (first, at) in [("100050", "100000"), ("100000", "100000"), ("0", "0")] {
        assert_eq!(notes(&offset(&format!("<S t=\"{first}\" d=\"2000\" r=\"2\"/>"), at)), [""; 0]);
    }
    assert_eq!(notes(&timeline("<S t=\"100000\" d=\"2000\" r=\"2\"/>")), [""; 0]);
}
