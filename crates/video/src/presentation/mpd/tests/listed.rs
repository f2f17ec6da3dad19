//! Lists of the sizes of segments beside an MPD.

use super::*;

#[test]
fn lists_that_do_not_fit_are_refused() {
    let list = |urls: &str| segments(&format!("<SegmentList duration=\"3\">\n{urls}\n</SegmentList>"));
    let url = |range: &str| format!("<SegmentURL mediaRange=\"{range}\"/>\n");
    // 8000 bit/s for 3 s.
    for (urls, sizes) in [
        ([url("0-9"), "<SegmentURL/>".to_owned()].concat(), [10, 3_000]),
        (["<SegmentURL/>\n".to_owned(), url("0-9")].concat(), [3_000, 10]),
    ] {
        let text = list(&urls);
        assert_eq!(read(&[("file", &text)]).periods[0].tracks[0].representations[0].sizes, sizes);
        let told = "the-file, line 5: SegmentList: 1 of 2 SegmentURL have no mediaRange, or one without an end: the bandwidth gives their sizes";
        assert_eq!(notes(&text), [told]);
    }
    assert_eq!(
        millis(&read(&[("file", &list("<SegmentURL/><SegmentURL/>"))]).periods[0].tracks[0]),
        [3_000, 3_000]
    );
    refused(&[
        (list(""), "line 5: SegmentList: no SegmentURL; expected one for each segment"),
        (
            list(&url("9-0")),
            "line 6: SegmentURL: mediaRange is \"9-0\"; expected the first and the last byte",
        ),
        (list(&url("-0")), "mediaRange is \"-0\""),
        (list(&url("0-18446744073709551615")), "mediaRange is"),
        (list(&url("0-1000000000000")), "mediaRange is"),
        (list(&"<SegmentURL/>".repeat(100_001)), "SegmentURL: more than 100000 segments"),
        (
            segments(
                "<SegmentList><SegmentTimeline><S d=\"2\" r=\"2\"/></SegmentTimeline>\n<SegmentURL/></SegmentList>",
            ),
            "line 5: SegmentList: 1 SegmentURL for 3 segments of its timeline",
        ),
    ]);
}

#[test]
fn lists_of_sizes_are_complete_and_fit() {
    let error = |sizes: &str| {
        let (option, problem) = built(&ROW, &[("file", SHORTEST), ("sizes", sizes)], 1).unwrap_err();
        assert_eq!(option, "sizes");
        problem
    };
    let header = "representation,segment,bytes\n";
    for (lines, told) in [
        ("", "the-sizes, no line for segment 1 of representation \"low\" in period 1"),
        ("low,1,5\nlow,1,6\n", "the-sizes, line 3: segment 1 of representation \"low\" twice"),
        ("low,init,5\nlow,init,6\n", "line 3: the initialization segment of representation \"low\" twice"),
        ("low,4,5\n", "line 2: segment is 4; representation \"low\" has 3 of them"),
        ("low,0,5\n", "line 2: segment is \"0\"; expected init, or the number"),
        ("low,-1,5\n", "line 2: segment is \"-1\""),
        ("middle,1,5\n", "line 2: representation is \"middle\"; the MPD has no such id in period 1"),
        ("low,1,0\n", "line 2: bytes is \"0\"; expected the bytes of a segment, as 86250"),
        ("low,1,5 kB\n", "line 2: bytes is \"5 kB\""),
        ("low,1,NaN\n", "line 2: bytes is \"NaN\""),
        ("low,1\n", "line 2: 2 values for the 3 columns"),
    ] {
        let found = error(&[header, lines].concat());
        assert!(found.contains(told), "{lines}: {found}");
    }
    for (text, told) in [
        ("", "no line; expected a line with the names of the columns"),
        ("representation,bytes\n", "line 1: no column \"segment\""),
        (
            "representation,segment,size\n",
            "line 1: no column \"bytes\"; expected representation, segment, bytes, period, seconds",
        ),
        (
            "1,2,3\n",
            "line 1: found \"1,2,3\"; expected the names of columns: representation, segment, bytes, period, seconds",
        ),
        ("bytes,bytes\n", "line 1: column \"bytes\" twice"),
        (
            "# bytes in thousands (kB)\nrepresentation,segment,bytes\n",
            "line 2: the comment in line 1 has \"thousands\"; expected bytes",
        ),
        (
            "representation,segment,bytes (kB)\n",
            "line 1: column \"bytes (kB)\" is not read; expected bytes alone, without another unit",
        ),
        (
            "representation,segment,bytes,seconds (ms)\n",
            "line 1: column \"seconds (ms)\" is not read; expected seconds alone, without another unit",
        ),
    ] {
        assert!(error(text).contains(told), "{text}: {}", error(text));
    }
    let presentation = read(&[("file", SHORTEST), ("sizes", &[SHORTEST_SIZES, "low,init,700\n"].concat())]);
    let [low, high] = &presentation.periods[0].tracks[0].representations[..] else { panic!("two") };
    assert_eq!(
        (&low.sizes[..], &high.sizes[..]),
        (&[40_000, 50_000, 30_000][..], &[150_000, 200_000, 160_000][..])
    );
    assert_eq!((low.initialization, high.initialization), (700, 0));
}

#[test]
fn sizes_of_several_periods_name_the_period() {
    let text = |header: &str, weather: usize| {
        let mut text = format!("{header}\n1,subtitles,1,99\n1,a-en-2,77,99\n");
        for (period, name, count) in
            [(1, "v1", 4), (1, "v2", 4), (1, "a-de", 7), (2, "v1", weather), (2, "a-de", 3)]
        {
            (1..=count).for_each(|segment| text += &format!("{period},{name},{segment},{segment}00\n"));
        }
        text
    };
    let header = "period,representation,segment,bytes";
    let presentation = read(&[("file", BROADCAST), ("sizes", &text(header, 4))]);
    assert_eq!(presentation.periods[1].tracks[0].representations[0].sizes, [100, 200, 300, 400]);
    let error = |sizes: &str| built(&ROW, &[("file", BROADCAST), ("sizes", sizes)], 1).unwrap_err().1;
    let short = error(&text(header, 3));
    assert_eq!(short, "the-sizes, no line for segment 4 of representation \"v1\" in period 2");
    let without = error("representation,segment,bytes\n");
    assert_eq!(without, "the-sizes, line 1: no column \"period\"; expected it for 2 periods");
    let beyond = error(&format!("{header}\n3,v1,1,1\n"));
    assert_eq!(beyond, "the-sizes, line 2: period is 3; the MPD has 2 of them");
}

const ON_DEMAND: &str = "<SegmentBase indexRange=\"800-1000\"/>";

#[test]
fn listed_seconds_that_contradict_the_mpd_are_told() {
    let of =
        |text: &str, sizes: &str| (ROW.build.notes)(&arguments(&ROW, &[("file", text), ("sizes", sizes)]));
    let lines = |seconds: [&str; 3]| {
        let line = |(at, seconds): (usize, &&str)| format!("a,{},100,{seconds}\n", at + 1);
        "representation,segment,bytes,seconds\n".to_owned()
            + &seconds.iter().enumerate().map(line).collect::<String>()
    };
    let (base, template) = (segments(ON_DEMAND), segments(TEMPLATE));
    for (text, seconds, told) in [
        (&base, ["2", "2", "2"], ""),
        (&base, ["2", "2", "1.9"], ""),
        (&base, ["2", "2", "1"], "last 5 s together, and their period 6 s"),
        (
            &base,
            ["1", "1", "1"],
            "line 5: SegmentBase: the segments of representation \"a\" last 3 s together, and their period 6 s",
        ),
        (&template, ["2", "2", "2"], ""),
        (&template, ["2", "2", "2.5"], ""),
        (
            &template,
            ["1", "1", "1"],
            "the-sizes, line 2: the seconds of 3 segments, of which this is the first, are not those of the MPD",
        ),
        (
            &template,
            ["2", "3", "2"],
            "the-sizes, line 3: the seconds of 1 segment, of which this is the first, are not those of the MPD",
        ),
    ] {
        let notes = of(text, &lines(seconds));
        assert!(
            if told.is_empty() { notes.is_empty() } else { notes.len() == 1 && notes[0].contains(told) },
            "{seconds:?}: {notes:?}"
        );
    }
}

/// Milliseconds, and the ends of segments, were played with a note, or without one.
#[test]
fn listed_seconds_that_are_none_are_refused() {
    for (seconds, told) in [
        (["2000", "2000", "2000"], "last 6000 s, and their period 6 s; expected seconds"),
        (["20", "20", "20"], "last 60 s, and their period 6 s; expected seconds"),
        (["2", "4", "6"], "lasts longer than the one before, the last as long as the period"),
        (["1.5", "3", "6"], "lasts longer than the one before, the last as long as the period"),
    ] {
        let line = |(at, seconds): (usize, &&str)| format!("a,{},100,{seconds}\n", at + 1);
        let lines: String = seconds.iter().enumerate().map(line).collect();
        let sizes = format!("representation,segment,bytes,seconds\n{lines}");
        let text = segments(ON_DEMAND);
        let (_, problem) = built(&ROW, &[("file", &text), ("sizes", &sizes)], 1).unwrap_err();
        assert!(problem.contains(told), "{seconds:?}: {problem}");
    }
}

/// Where the MPD needs the list, what is wrong with the list was not said.
#[test]
fn a_wrong_list_is_named_before_what_it_does_not_say() {
    for (sizes, told) in [
        ("representation,segment,bytes (kB),seconds\na,1,100,6\n", "the-sizes, line 1: "),
        ("representation,segment,seconds\na,1,6\n", "the-sizes, line 1: no column \"bytes\""),
        ("representation,segment,bytes,seconds\na,1,100,0\n", "the-sizes, line 2: seconds is \"0\""),
        ("representation,segment,bytes,seconds\na,1,x,6\n", "the-sizes, line 2: bytes is \"x\""),
    ] {
        let (option, problem) =
            built(&ROW, &[("file", &segments(ON_DEMAND)), ("sizes", sizes)], 1).unwrap_err();
        assert!(option == "sizes" && problem.starts_with(told), "{sizes}: {option}: {problem}");
    }
}

#[test]
fn a_range_without_an_end_has_no_size() {
    let list = |ranges: [&str; 3]| {
        let url = |range: &&str| format!("<SegmentURL mediaRange=\"{range}\"/>");
        segments(&format!(
            "<SegmentList duration=\"2\">{}</SegmentList>",
            ranges.iter().map(url).collect::<String>()
        ))
    };
    let text = list(["0-499", "500-1499", "1500-"]);
    assert_eq!(read(&[("file", &text)]).periods[0].tracks[0].representations[0].sizes, [500, 1_000, 2_000]);
    assert!(
        notes(&text)[0]
            .contains("1 of 3 SegmentURL have no mediaRange, or one without an end: the bandwidth")
    );
    refused(&[
        (list(["-499", "500-", "0-9"]), "mediaRange is \"-499\"; expected"),
        (list(["-", "1-", "0-9"]), "mediaRange is \"-\""),
    ]);
}
