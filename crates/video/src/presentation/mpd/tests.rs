//! What is read of an MPD, and what is refused.

use super::*;
use crate::presentation::testing::{arguments, built};
use crate::presentation::{MAX_SEGMENTS, Track};
use units::Rate;

const FFMPEG: &str = include_str!("../../../tests/mpd/ffmpeg.mpd");
const FFMPEG_SIZES: &str = include_str!("../../../tests/mpd/ffmpeg.csv");
const BROADCAST: &str = include_str!("../../../tests/mpd/broadcast.mpd");
const RANGES: &str = include_str!("../../../tests/mpd/ranges.mpd");

fn read(set: &[(&str, &str)]) -> Presentation {
    built(&ROW, set, 1).unwrap_or_else(|(option, problem)| panic!("{option}: {problem}"))
}

fn millis(track: &Track) -> Vec<u64> {
    track.durations.iter().map(|duration| duration.as_millis()).collect()
}

/// An MPD with this period.
fn period(attributes: &str, period: &str) -> String {
    format!("<MPD xmlns=\"{NAMESPACE}\" {attributes}>\n<Period>\n{period}\n</Period></MPD>")
}

/// An MPD of six seconds with one representation, whose segments are these.
fn segments(segments: &str) -> String {
    let set = format!(
        "<AdaptationSet contentType=\"video\">\n<Representation id=\"a\" bandwidth=\"8000\">\n{segments}\n</Representation></AdaptationSet>"
    );
    period("mediaPresentationDuration=\"PT6S\"", &set)
}

fn timeline(runs: &str) -> String {
    segments(&format!(
        "<SegmentTemplate media=\"$Time$\" timescale=\"1000\"><SegmentTimeline>\n{runs}\n</SegmentTimeline></SegmentTemplate>"
    ))
}

/// An MPD with these adaptation sets, each of segments of two seconds.
fn sets(text: &str) -> String {
    let template = "<SegmentTemplate media=\"$Number$\" duration=\"2\"/>";
    period("mediaPresentationDuration=\"PT6S\"", &format!("{template}\n{text}"))
}

/// What is told about an MPD.
fn notes(text: &str) -> Vec<String> {
    (ROW.build.notes)(&arguments(&ROW, &[("file", text)]))
}

fn fault(text: &str) -> String {
    let (option, problem) = built(&ROW, &[("file", text)], 1).unwrap_err();
    assert_eq!(option, "file");
    assert!(!problem.contains('\n'));
    problem.strip_prefix("the-file, ").expect("the file is named").to_owned()
}

#[track_caller]
fn refused(cases: &[(String, &str)]) {
    for (text, told) in cases {
        let found = fault(text);
        assert!(found.contains(told), "{text}\n{found}\n{told}");
    }
}

/// What ffmpeg 5.1 writes, with the sizes of its files.
#[test]
fn the_mpd_of_ffmpeg_is_read() {
    let presentation = read(&[("file", FFMPEG), ("sizes", FFMPEG_SIZES)]);
    let [video, audio] = &presentation.periods[0].tracks[..] else { panic!("two tracks") };
    assert_eq!(millis(video), [2_000, 2_000, 2_000, 2_000, 1_000]);
    let ids: Vec<_> = video.representations.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["0", "1", "2"]);
    let low = &video.representations[0];
    assert_eq!((low.bitrate, low.resolution), (Rate::from_bits_per_sec(100_000), Some((320, 180))));
    assert_eq!((&low.sizes[..], low.initialization), (&[23_062, 24_749, 25_444, 26_641, 15_598][..], 834));
    // 88064, 89088, 88064, 88064 and 43620 samples at 44.1 kHz; the period is 9 s long.
    assert_eq!(audio.durations[0].as_nanos(), 1_996_916_099);
    assert_eq!((audio.durations.len(), audio.duration()), (5, Duration::from_secs(9)));
    assert_eq!(audio.representations[0].sizes[4], 8_533);
}

#[test]
fn an_mpd_without_sizes_has_its_bandwidths() {
    let presentation = read(&[("file", FFMPEG), ("initialization", "900 B")]);
    let low = &presentation.periods[0].tracks[0].representations[0];
    assert_eq!((&low.sizes[..], low.initialization), (&[25_000, 25_000, 25_000, 25_000, 12_500][..], 900));
}

#[test]
fn an_initialization_segment_has_a_limit() {
    let (option, problem) = built(&ROW, &[("file", FFMPEG), ("initialization", "2 TB")], 1).unwrap_err();
    assert_eq!((option, problem.as_str()), ("initialization", "expected at most 1000000000000 bytes"));
}

#[test]
fn attributes_and_segments_are_inherited() {
    let presentation = read(&[("file", BROADCAST)]);
    let [news, weather] = &presentation.periods[..] else { panic!("two periods") };
    let [video, audio] = &news.tracks[..] else { panic!("two tracks") };
    // 4 s each from the period, in 14 s.
    assert_eq!(millis(video), [4_000, 4_000, 4_000, 2_000]);
    let of = |track: &Track| -> Vec<_> {
        track.representations.iter().map(|one| (one.id.clone(), one.resolution, one.initialization)).collect()
    };
    // By rising bitrate.
    let expected = [("v1".to_owned(), Some((640, 360)), 1_000), ("v2".to_owned(), Some((1280, 720)), 1_000)];
    assert_eq!(of(video), expected);
    // The adaptation set has its own duration and time scale.
    assert_eq!((millis(audio), of(audio)), (vec![2_000; 7], vec![("a-de".to_owned(), None, 1_000)]));
    // 11.5 s: 4 s, then twice 3.5 s and a gap of 10 ms, then the rest.
    let [video, audio] = &weather.tracks[..] else { panic!("two tracks") };
    assert_eq!(millis(video), [4_000, 3_500, 3_510, 490]);
    assert_eq!(millis(audio), [4_000, 4_000, 3_500]);
    assert_eq!(presentation.duration(), Duration::from_millis(25_500));
}

#[test]
fn another_adaptation_set_can_be_chosen() {
    let tracks = |set: &[(&str, &str)]| {
        let presentation = read(&[&[("file", BROADCAST)], set].concat());
        let ids = |track: &Track| track.representations.iter().map(|one| one.id.clone()).collect::<Vec<_>>();
        presentation.periods[0].tracks.iter().map(ids).collect::<Vec<_>>()
    };
    assert_eq!(tracks(&[("audio_set", "2")]), [["v1", "v2"], ["a-en-1", "a-en-2"]]);
    assert_eq!(tracks(&[("audio_set", "0")]), [["v1", "v2"]]);
    let (_, problem) = built(&ROW, &[("file", BROADCAST), ("video_set", "2")], 1).unwrap_err();
    assert!(
        problem.contains("line 6: Period: 1 adaptation sets of video; expected video_set of 1 to 1"),
        "{problem}"
    );
}

#[test]
fn ranges_of_bytes_are_sizes() {
    let presentation = read(&[("file", RANGES)]);
    let track = &presentation.periods[0].tracks[0];
    assert_eq!(millis(track), [2_000, 2_000, 1_200]);
    let [low, high] = &track.representations[..] else { panic!("two") };
    assert_eq!((&low.sizes[..], low.initialization), (&[60_000, 75_000, 45_000][..], 823));
    assert_eq!((&high.sizes[..], high.initialization), (&[200_000, 250_000, 110_000][..], 1_000));
}

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

const TEMPLATE: &str = "<SegmentTemplate media=\"$Number$\" duration=\"2\"/>";

/// The names of the representations that are played, by track.
fn played(text: &str) -> Vec<Vec<String>> {
    let names = |track: &Track| track.representations.iter().map(|one| one.id.clone()).collect();
    read(&[("file", text)]).periods[0].tracks.iter().map(names).collect()
}

fn set(attributes: &str, inside: &str) -> String {
    format!("<AdaptationSet {attributes}>\n{inside}\n</AdaptationSet>")
}

fn one(id: &str, bandwidth: u64, attributes: &str) -> String {
    format!("<Representation id=\"{id}\" bandwidth=\"{bandwidth}\" {attributes}/>")
}

#[test]
fn the_main_set_comes_before_those_that_replace_it() {
    let role = |value: &str| format!("<Role schemeIdUri=\"urn:mpeg:dash:role:2011\" value=\"{value}\"/>");
    for kind in ["video", "audio"] {
        let attributes = format!("contentType=\"{kind}\"");
        for other in ["alternate", "supplementary", "sign", "commentary", "description"] {
            for main in [role("main"), String::new(), role("main") + &role("alternate")] {
                let second = set(&attributes, &(role(other) + &one("other", 9_000, "")));
                let first = set(&attributes, &(main + &one("main", 8_000, "")));
                for text in [sets(&[second.clone(), first.clone()].concat()), sets(&[first, second].concat())]
                {
                    assert_eq!(played(&text), [["main"]], "{other}");
                }
            }
        }
        // Other schemes say something else.
        let foreign = role("alternate").replace("dash:role", "x");
        let text = sets(
            &[set(&attributes, &(foreign + &one("a", 8_000, ""))), set(&attributes, &one("b", 9_000, ""))]
                .concat(),
        );
        assert_eq!(played(&text), [["a"]]);
    }
}

#[test]
fn several_sets_of_video_are_told() {
    let attributes = "contentType=\"video\"";
    let text =
        sets(&[set(attributes, &one("low", 8_000, "")), set(attributes, &one("high", 9_000, ""))].concat());
    assert_eq!(played(&text), [["low"]]);
    let told = "the-file, line 4: AdaptationSet: one of 2 adaptation sets of video, whose representations alone are played; video_set chooses";
    assert_eq!(notes(&text), [told]);
    // Languages are usual.
    assert!(notes(&text.replace("contentType=\"video\"", "contentType=\"audio\"")).is_empty());
}

#[test]
fn a_set_of_both_kinds_is_two_tracks() {
    let types = [one("a", 8_000, "mimeType=\"audio/mp4\""), one("v", 90_000, "mimeType=\"video/mp4\"")];
    let codecs = [one("a", 8_000, "codecs=\"mp4a.40.2\""), one("v", 90_000, "codecs=\"avc1.4d401e\"")];
    for [audio, video] in [types, codecs] {
        for inside in [[audio.as_str(), &video].concat(), [video.as_str(), &audio].concat()] {
            assert_eq!(played(&sets(&set("", &inside))), [["v"], ["a"]]);
        }
    }
    let wrong = sets(&set(
        "contentType=\"video\"",
        &(one("v", 90_000, "") + "\n" + &one("a", 8_000, "mimeType=\"audio/mp4\"")),
    ));
    assert_eq!(played(&wrong), [["v"]]);
    assert_eq!(
        notes(&wrong),
        ["the-file, line 6: Representation: audio in an adaptation set of video; left out"]
    );
}

#[test]
fn sets_between_which_a_player_switches_are_one() {
    let property = |name: &str, ids: &str| {
        format!("<{name} schemeIdUri=\"urn:mpeg:dash:adaptation-set-switching:2016\" value=\"{ids}\"/>")
    };
    let video = |id: &str, names: &str, one: &str| {
        set(&format!("contentType=\"video\" id=\"{id}\""), &(names.to_owned() + one))
    };
    let (low, high, other) = (one("low", 8_000, ""), one("high", 9_000, ""), one("other", 7_000, ""));
    for name in ["SupplementalProperty", "EssentialProperty"] {
        let two =
            [video("1", &property(name, "2"), &high), video("2", &property(name, "3, 1"), &low)].concat();
        assert_eq!(played(&sets(&two)), [["low", "high"]]);
        assert_eq!(notes(&sets(&two)), [""; 0]);
        // All of this may stand in one line, and a list of sizes names representations of both.
        let text = sets(&two).replace('\n', " ");
        assert_eq!(played(&text), [["low", "high"]]);
        let lines = |id: &str| (1..4).map(|at| format!("{id},{at},{at}\n")).collect::<String>();
        let sizes = ["representation,segment,bytes\n", &lines("low"), &lines("high")].concat();
        assert_eq!(
            read(&[("file", &text), ("sizes", &sizes)]).periods[0].tracks[0].representations[1].sizes,
            [1, 2, 3]
        );
        // Only one of both names the other.
        let one_way = [video("1", &property(name, "2"), &high), video("2", "", &low)].concat();
        assert_eq!(played(&sets(&one_way)), [["high"]]);
        let three = two + &video("3", "", &other);
        assert_eq!(played(&sets(&three)), [["low", "high"]]);
        assert!(notes(&sets(&three))[0].contains(": 2 of 3 adaptation sets of video, whose"));
    }
}

#[test]
fn sets_that_not_every_player_plays_come_last() {
    let property =
        |scheme: &str| format!("<EssentialProperty schemeIdUri=\"{scheme}\" value=\"0,0,0,1,1,2,2\"/>");
    let plain = set("contentType=\"video\"", &one("plain", 9_000, ""));
    let fast = "codingDependency=\"false\" maxPlayoutRate=\"8\"";
    for other in [
        set("contentType=\"video\"", &(property("urn:mpeg:dash:srd:2014") + &one("a", 8_000, ""))),
        set(
            "contentType=\"video\"",
            &(property("urn:mpeg:mpegB:cicp:TransferCharacteristics") + &one("a", 8_000, "")),
        ),
        set(&format!("contentType=\"video\" {fast}"), &one("a", 8_000, "")),
        set("contentType=\"video\"", &one("a", 8_000, fast)),
    ] {
        assert_eq!(played(&sets(&(other.clone() + &plain))), [["plain"]]);
        assert_eq!(played(&sets(&other)), [["a"]]);
    }
    let ordinary =
        set("contentType=\"video\" maxPlayoutRate=\"1\"", &one("a", 8_000, "codingDependency=\"false\""));
    assert_eq!(played(&sets(&(ordinary + &plain))), [["a"]]);
}

#[test]
fn the_preferred_set_comes_first() {
    let video = |preference: &str, one: &str| set(&format!("contentType=\"video\" {preference}"), one);
    let (a, b) = (one("a", 8_000, ""), one("b", 9_000, ""));
    for (first, second, expected) in [
        ("", "selectionPriority=\"2\"", "b"),
        ("selectionPriority=\"0\"", "", "b"),
        ("selectionPriority=\"1\"", "", "a"),
        ("selectionPriority=\"x\"", "", "a"),
    ] {
        assert_eq!(played(&sets(&[video(first, &a), video(second, &b)].concat())), [[expected]]);
    }
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
        (&base, ["2000", "2000", "2000"], "last 6000 s together, and their period 6 s"),
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
