//! What an MPD says that is most likely meant otherwise: it is told, left out or refused.

use super::*;

const TRICK: &str = r#"Property schemeIdUri="http://dashif.org/guidelines/trickmode" value="1"/>"#;

#[test]
fn representations_for_fast_forward_are_no_rungs() {
    for property in ["<Essential", "<Supplemental"] {
        let text = sets(&format!(
            "<AdaptationSet contentType=\"video\"><Representation id=\"a\" bandwidth=\"900000\"/>\n\
             <Representation id=\"t\" bandwidth=\"100000\">{property}{TRICK}</Representation></AdaptationSet>"
        ));
        let ladder = &read(&[("file", &text)]).periods[0].tracks[0].representations;
        assert_eq!(ladder.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(
            notes(&text),
            ["the-file, line 5: Representation: for fast forward (trick mode); left out"]
        );
    }
}

#[test]
fn sound_for_the_impaired_is_not_the_main_one() {
    for (value, taken) in [("1", "d"), ("2", "d"), ("3", "e")] {
        let text = sets(&format!(
            "<AdaptationSet contentType=\"audio\"><Accessibility schemeIdUri=\"urn:tva:metadata:cs:AudioPurposeCS:2007\" \
             value=\"{value}\"/><Representation id=\"e\" bandwidth=\"64000\"/></AdaptationSet>\
             <AdaptationSet contentType=\"audio\"><Representation id=\"d\" bandwidth=\"96000\"/></AdaptationSet>"
        ));
        assert_eq!(read(&[("file", &text)]).periods[0].tracks[0].representations[0].id, taken, "{value}");
    }
}

#[test]
fn another_language_in_the_next_period_is_told() {
    let of = |first: &str, second: &str| {
        let period = |language: &str| {
            format!(
                "<Period duration=\"PT4S\"><AdaptationSet contentType=\"audio\" lang=\"{language}\">\
                 <SegmentTemplate media=\"$Number$\" duration=\"2\"/><Representation id=\"a\" bandwidth=\"64000\"/>\
                 </AdaptationSet></Period>\n"
            )
        };
        notes(&format!("<MPD xmlns=\"{NAMESPACE}\">\n{}{}</MPD>", period(first), period(second)))
    };
    assert!(of("en", "en").is_empty() && of("en", "EN").is_empty());
    let told =
        "the-file, line 3: AdaptationSet: lang is \"de\", and \"en\" in the period before; audio_set chooses";
    assert_eq!(of("en", "de"), [told]);
}

#[test]
fn bandwidths_in_kilobits_are_refused() {
    let text = |bandwidths: [u32; 2], kind: &str| {
        let [low, high] = bandwidths.map(|one| format!("<Representation id=\"{one}\" bandwidth=\"{one}\"/>"));
        sets(&format!("<AdaptationSet contentType=\"{kind}\">{low}{high}</AdaptationSet>"))
    };
    let told = "the highest bandwidth is 3200 bit/s; expected bit/s, not kbit/s";
    refused(&[(text([800, 3_200], "video"), told)]);
    read(&[("file", &text([800, 5_000], "video"))]);
    read(&[("file", &text([800, 3_200], "audio"))]);
}

#[test]
fn repetitions_below_minus_one_are_refused() {
    let told = "r is \"-2\"; expected a number of repetitions, or -1 until";
    refused(&[(timeline("<S t=\"0\" d=\"2000\" r=\"-2\"/>"), told)]);
    read(&[("file", &timeline("<S t=\"0\" d=\"2000\" r=\"-1\"/>"))]);
}

#[test]
fn timelines_beyond_their_period_and_very_long_segments_are_told() {
    let long = timeline("<S t=\"0\" d=\"2000\" r=\"5\"/>");
    let told = "its segments end after 12 s, and its period after 6 s; what is behind it is not played";
    assert!(notes(&long)[0].ends_with(told), "{:?}", notes(&long));
    // The last segment may end after its period.
    assert!(notes(&timeline("<S t=\"0\" d=\"2500\" r=\"2\"/>")).is_empty());
    let each =
        |duration: &str| notes(&segments(&format!("<SegmentTemplate media=\"$Number$\" {duration}/>")));
    let told = each("duration=\"4000\"");
    assert!(told[0].contains("its segments last 4000 s each; is their timescale missing?"), "{told:?}");
    assert!(each("duration=\"4000\" timescale=\"1000\"").is_empty());
}

#[test]
fn ranges_that_overlap_or_do_not_fit_the_bandwidth_are_told() {
    let list = |ranges: [&str; 2]| {
        let [first, second] = ranges.map(|range| format!("\n<SegmentURL mediaRange=\"{range}\"/>"));
        notes(&segments(&format!("<SegmentList duration=\"3\">{first}{second}</SegmentList>")))
    };
    assert!(list(["0-2999", "3000-5999"]).is_empty());
    let overlap = list(["0-2999", "2999-5999"]);
    assert!(overlap[0].ends_with("mediaRange \"2999-5999\" has bytes of the range before it"), "{overlap:?}");
    for ranges in [["0-99", "100-199"], ["0-49999", "50000-99999"]] {
        let told = list(ranges);
        assert!(
            told[0].contains("its mediaRange have ") && told[0].contains("bandwidth makes 6000"),
            "{told:?}"
        );
    }
}
