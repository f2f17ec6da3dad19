//! Documents that are refused, and why.

use super::*;

#[test]
fn documents_that_attack_their_reader_are_refused() {
    let bomb =
        "<!DOCTYPE MPD [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">]>\n<MPD>&b;</MPD>";
    let external = "<?xml version=\"1.0\"?>\n<!DOCTYPE MPD SYSTEM \"file:///etc/passwd\">\n<MPD/>";
    let told = "a document type definition (<!DOCTYPE>), which an MPD does not need: remove it";
    assert_eq!(fault(bomb), format!("line 1: {told}"));
    assert_eq!(fault(external), format!("line 2: {told}"));
    let deep = "<a>".repeat(MAX_NODES as usize + 1);
    assert_eq!(fault(&deep), "more than 1000000 elements and texts");
    let namespaces: String = (0..=MAX_NAMESPACES).map(|at| format!("<a xmlns:b{at}=\"b\">")).collect();
    assert_eq!(fault(&namespaces), "more than 100 namespaces (xmlns)");
    let attributes: String = (0..=MAX_ATTRIBUTES).map(|at| format!(" a{at}=\"\"")).collect();
    assert_eq!(fault(&format!("<MPD{attributes}/>")), "an element with more than 100 attributes");
    let banner = format!("<!-- {} --></MPD>", "=".repeat(2 * MAX_ATTRIBUTES));
    read(&[("file", &SHORTEST.replace("</MPD>", &banner))]);
    let remote = "<AdaptationSet contentType=\"video\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" xlink:href=\"https://a.example/\"/>";
    assert!(fault(&sets(remote)).starts_with("line 4: AdaptationSet: xlink:href: nothing is fetched"));
    assert_eq!(fault("\u{feff}<MPD>\n&b;</MPD>"), "line 2: not XML: unknown entity reference 'b' at 2:1");
    assert!(fault(&" ".repeat(file::MAX_FILE_BYTES + 1)).starts_with("more than 64 MiB"));
    assert_eq!(fault(""), "the document is empty; expected an MPD");
    assert!(fault("<MPD>\n<Period>\n</MPD>").starts_with("line 3: not XML: "));
}

/// The place was line 1, wherever the file ended.
#[test]
fn a_document_that_was_cut_names_the_line_where_it_ends() {
    let text = sets(
        "<!-- a\nb -->\n<AdaptationSet contentType=\"video\"\n lang='de'>\n<BaseURL>a</BaseURL>\n</AdaptationSet>",
    );
    let end = text.rfind("</MPD>").unwrap();
    for at in (1..end).filter(|at| text.is_char_boundary(*at)) {
        let cut = &text[..at];
        let found = fault(cut);
        // That of the last sign, or behind a line end the next one.
        let line = |text: &str| format!("line {}: not XML: ", 1 + text.matches('\n').count());
        let is_place = found.starts_with(&line(cut.trim_end())) || found.starts_with(&line(cut));
        assert!(is_place, "{at}, {cut:?}: {found}");
    }
}

#[test]
fn documents_that_are_no_mpd_are_refused() {
    refused(&[
        (
            "\n<html/>".to_owned(),
            "line 2: the document is \"html\" of namespace \"\"; expected MPD of namespace \"urn:",
        ),
        ("<MPD xmlns=\"a\"/>".to_owned(), "line 1: the document is \"MPD\" of namespace \"a\""),
        ("<MPD/>".to_owned(), "line 1: MPD: no Period; expected at least one"),
        (format!("<MPD xmlns=\"{NAMESPACE}\"/>"), "line 1: MPD: no Period; expected at least one"),
        (period("type=\"live\"", ""), "line 1: MPD: type is \"live\"; expected static or dynamic"),
        (
            period("", ""),
            "line 2: Period: no adaptation set of video or audio with a Representation; expected at least one",
        ),
        (
            period("mediaPresentationDuration=\"6 s\"", ""),
            "line 1: MPD: mediaPresentationDuration is \"6 s\"; expected a duration of",
        ),
        (period("mediaPresentationDuration=\"-PT6S\"", ""), "mediaPresentationDuration is \"-PT6S\""),
        (period("mediaPresentationDuration=\"PTNaNS\"", ""), "mediaPresentationDuration is \"PTNaNS\""),
        (
            period("mediaPresentationDuration=\"PT0S\"", ""),
            "line 2: Period: it begins at 0 s, and ends at 0 s",
        ),
        (
            period("mediaPresentationDuration=\"PT99999999999S\"", ""),
            "mediaPresentationDuration is \"PT99999999999S\"; expected a duration",
        ),
    ]);
    let early = read(&[("file", &SHORTEST.replace("urn:mpeg:dash:schema:mpd", "urn:mpeg:DASH:schema:MPD"))]);
    assert_eq!(early, read(&[("file", SHORTEST)]));
}

#[test]
fn representations_that_do_not_fit_are_refused() {
    let video =
        |text: &str| sets(&format!("<AdaptationSet contentType=\"video\">\n{text}\n</AdaptationSet>"));
    let (a, b) =
        ("<Representation id=\"a\" bandwidth=\"8000\"/>\n", "<Representation id=\"b\" bandwidth=\"9000\"");
    refused(&[
        (video(""), "line 2: Period: no adaptation set of video or audio with a Representation; expected"),
        (video("<Representation bandwidth=\"1\"/>"), "line 5: Representation: no id; expected a name"),
        (video("<Representation id=\"\" bandwidth=\"1\"/>"), "id is \"\"; expected 1 to 200 printable bytes"),
        (video("<Representation id=\"a\"/>"), "line 5: Representation: no bandwidth; expected it in bit/s"),
        (
            video("<Representation id=\"a\" bandwidth=\"0\"/>"),
            "bandwidth is \"0\"; expected a whole number from 1 to 1000000000000",
        ),
        (video("<Representation id=\"a\" bandwidth=\"-5\"/>"), "bandwidth is \"-5\""),
        (video("<Representation id=\"a\" bandwidth=\"1.5\"/>"), "bandwidth is \"1.5\""),
        (video("<Representation id=\"a\" bandwidth=\"NaN\"/>"), "bandwidth is \"NaN\""),
        (video("<Representation id=\"a\" bandwidth=\"99999999999999999999\"/>"), "bandwidth is"),
        (
            video("<Representation id=\"a\" bandwidth=\"1\" dependencyId=\"b\"/>"),
            "line 4: AdaptationSet: no Representation that is read; expected at least one",
        ),
        (
            video(&[a, &a.replace("8000", "9000")].concat()),
            "line 6: Representation: id is \"a\"; expected a name of its own in the adaptation set",
        ),
        (sets("<AdaptationSet/>"), "line 2: Period: no adaptation set of video or audio"),
        (
            sets("<AdaptationSet contentType=\"smell\"/>"),
            "line 2: Period: no adaptation set of video or audio",
        ),
        (
            sets("<AdaptationSet mimeType=\"text/vtt\"/>"),
            "line 2: Period: no adaptation set of video or audio",
        ),
    ]);
    let many: String =
        (1..=101).map(|at| format!("<Representation id=\"{at}\" bandwidth=\"{at}\"/>")).collect();
    assert!(fault(&video(&many)).contains("more than 100 in an adaptation set"));
    // What does not fit to the first representation is left out.
    for (other, told) in [
        (a.replace("\"a\"", "\"b\""), "bandwidth is 8000, as of representation \"a\"; left out"),
        (
            [b, "><SegmentTemplate duration=\"3\"/></Representation>"].concat(),
            "2 segments; the first representation of the adaptation set has 3; left out",
        ),
        (
            [b, "><SegmentTemplate timescale=\"10\" duration=\"21\"/></Representation>"].concat(),
            "segment 1 ends after 2.1 s, and after 2 s in the first representation of the adaptation set; left out",
        ),
        ([b, " dependencyId=\"a\"/>"].concat(), "dependencyId: layers are not read; left out"),
    ] {
        let text = video(&[a, &other].concat());
        assert_eq!(read(&[("file", &text)]).periods[0].tracks[0].representations.len(), 1);
        assert_eq!(notes(&text), [format!("the-file, line 6: Representation: {told}")]);
    }
    // Rounded time scales are no difference.
    let near = video(
        &[a, b, "><SegmentTemplate timescale=\"30000\" duration=\"60001\"/></Representation>"].concat(),
    );
    read(&[("file", &near)]);
}

#[test]
fn segments_that_cannot_be_known_are_refused() {
    let template = |attributes: &str| segments(&format!("<SegmentTemplate {attributes}/>"));
    let media = |media: &str| template(&format!("duration=\"2\" media=\"{media}\""));
    refused(&[
        (
            segments(""),
            "line 4: Representation: the segments of representation \"a\" are listed nowhere in the MPD: it has no SegmentTemplate",
        ),
        (
            segments("<SegmentBase indexRange=\"0-99\"/>"),
            "line 5: SegmentBase: the segments of representation \"a\" are listed in bytes 0-99 of the media file; expected a list of sizes with the column seconds",
        ),
        (segments("<SegmentBase/>"), "listed inside of the media file; expected"),
        (template("media=\"$Number$\""), "line 5: SegmentTemplate: no duration of its segments"),
        (
            template("media=\"$Number$\" duration=\"0\""),
            "duration is \"0\"; expected a whole number from 1 to 4294967295",
        ),
        (template("media=\"$Number$\" duration=\"-2\""), "duration is \"-2\""),
        (template("media=\"$Number$\" duration=\"2\" timescale=\"0\""), "timescale is \"0\""),
        (template("media=\"$Number$\" duration=\"2\" startNumber=\"x\""), "startNumber is \"x\""),
        (
            template("media=\"$Number$\" duration=\"2\" startNumber=\"3\" endNumber=\"2\""),
            "endNumber is 2, and the first number is 3",
        ),
        // 6 * 10^9 segments.
        (
            template("media=\"$Number$\" timescale=\"1000000000\" duration=\"1\""),
            "6000000000 segments; expected at most 100000",
        ),
        (template("duration=\"2\""), "no media; expected the names of its segments, with $Number$ or $Time$"),
        (media("a.m4s"), "media is \"a.m4s\"; expected $Number$ or $Time$, so that each segment has a name"),
        (media("$Number$-$Time$"), "expected $Number$ or $Time$, not both"),
        (media("$Number"), "expected $ in pairs"),
        (media("$Numer$"), "expected $RepresentationID$, $Bandwidth$, $Number$, $Number%05d$ or $Time$"),
        (media("$Number%5s$"), "expected $RepresentationID$"),
        (
            segments("<SegmentTemplate media=\"$Number$\" duration=\"2\"/>\n<SegmentTemplate/>"),
            "line 6: SegmentTemplate: a second one in the same element; expected one",
        ),
        (
            segments("<SegmentTemplate media=\"$Number$\" duration=\"2\"/>\n<SegmentList/>"),
            "line 6: SegmentList: there is SegmentTemplate in line 5, too; expected one form",
        ),
    ]);
    for good in ["$$$RepresentationID$-$Number%05d$", "$Bandwidth$/$Time$.m4s", "$Number%d$", "$Number%06x$"]
    {
        read(&[("file", &media(good))]);
    }
}

#[test]
fn timelines_that_do_not_fit_are_refused() {
    refused(&[
        (timeline(""), "SegmentTimeline: no segment; expected at least one S"),
        (timeline("<S/>"), "line 6: S: no duration; expected the attribute d, in ticks"),
        (timeline("<S d=\"0\"/>"), "line 6: S: d is \"0\"; expected a whole number from 1 to 2^64 - 1"),
        (timeline("<S d=\"-1\"/>"), "d is \"-1\""),
        (timeline("<S d=\"1\" r=\"x\"/>"), "r is \"x\"; expected a number of repetitions"),
        (timeline("<S d=\"1\" r=\"999999999\"/>"), "line 6: S: more than 100000 segments"),
        (timeline("<S d=\"1\" r=\"9223372036854775807\"/>"), "more than 100000 segments"),
        (timeline(&"<S d=\"1\" r=\"99998\"/>\n".repeat(2)), "line 7: S: more than 100000 segments"),
        (timeline("<S d=\"18446744073709551615\" r=\"1\"/>"), "line 6: S: a time beyond 2^64 ticks"),
        (timeline("<S d=\"18446744073709551615\"/>"), "its segments last longer than 2592000 s"),
        (
            timeline("<S d=\"2000\"/>\n<S t=\"1899\" d=\"4000\"/>"),
            "line 7: S: t is 1899, and the segments before it end at 2000",
        ),
        (
            timeline("<S t=\"9\" d=\"2000\"/>\n<S t=\"1\" d=\"4000\"/>"),
            "line 7: S: t is 1, and the segments before it end at 2009",
        ),
        (
            timeline("<S d=\"2000\" r=\"-1\"/>\n<S t=\"1000\" d=\"1\"/>"),
            "line 6: S: r is negative, and no time is left",
        ),
        (timeline("<S d=\"2000\" k=\"4\"/>"), "sequences of segments (k) are not read"),
        (
            timeline("<S d=\"6000\"/>")
                .replace("timescale=\"1000\"", "timescale=\"4294967295\"")
                .replace("d=\"6000\"", "d=\"1\""),
            "segment 1 is shorter than a nanosecond",
        ),
    ]);
    // Rounded times overlap, and gaps are filled by the segment before.
    for (runs, durations, told) in [
        ("<S d=\"2000\"/>\n<S t=\"1950\" d=\"4050\"/>", &[1_950, 4_050][..], ""),
        (
            "<S d=\"2000\"/>\n<S t=\"4000\" d=\"2000\"/>",
            &[4_000, 2_000],
            "line 7: S: a gap of 2 s: t is 4000, and the segments before it end at 2000; the one before lasts longer",
        ),
        (
            "<S d=\"2000\"/>",
            &[2_000],
            "line 5: SegmentTemplate: its segments end after 2 s, and its period after 6 s",
        ),
    ] {
        let text = timeline(runs);
        assert_eq!(millis(&read(&[("file", &text)]).periods[0].tracks[0]), durations, "{runs}");
        let expected: Vec<String> = if told.is_empty() { vec![] } else { vec![format!("the-file, {told}")] };
        assert_eq!(notes(&text), expected);
    }
    // All representations together.
    let names =
        (1..=11).map(|at| format!("<Representation id=\"{at}\" bandwidth=\"{at}\"/>")).collect::<String>();
    let template = "<SegmentTemplate media=\"$Number$\" timescale=\"50000\" duration=\"3\"/>";
    let text = period(
        "mediaPresentationDuration=\"PT6S\"",
        &format!("<AdaptationSet contentType=\"video\">{template}{names}</AdaptationSet>"),
    );
    assert!(fault(&text).contains("more than 1000000 segments of all representations together"));
    assert_eq!(MAX_SEGMENTS, 100_000);
}
