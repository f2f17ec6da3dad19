//! Small presentations after the kinds that public test vectors have: what is read of each, and what is told.

use super::*;
use crate::presentation::Track;
use crate::presentation::testing::{arguments, built};

/// An MPD with these attributes and contents.
fn mpd(attributes: &str, contents: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<MPD xmlns=\"{NAMESPACE}\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" {attributes}>\n{contents}\n</MPD>"
    )
}

const STATIC: &str = r#"type="static" mediaPresentationDuration="PT12S" minBufferTime="PT2S""#;
const LIVE: &str =
    r#"type="dynamic" availabilityStartTime="1970-01-01T00:00:00Z" minimumUpdatePeriod="PT2S""#;
const TEMPLATE: &str = r#"<SegmentTemplate media="$RepresentationID$/$Number%05d$.m4s" initialization="$RepresentationID$/i.mp4" duration="4" startNumber="0"/>"#;

fn video(inside: &str) -> String {
    format!(
        r#"<AdaptationSet mimeType="video/mp4">{inside}<Representation id="v1" bandwidth="700000"/><Representation id="v2" bandwidth="2000000"/></AdaptationSet>"#
    )
}

fn audio(inside: &str) -> String {
    format!(
        r#"<AdaptationSet mimeType="audio/mp4" lang="en">{inside}<Representation id="a1" bandwidth="64000"/></AdaptationSet>"#
    )
}

fn period(contents: &str) -> String {
    format!("<Period id=\"p\">\n{contents}\n</Period>")
}

fn timeline(runs: &str) -> String {
    format!(
        r#"<SegmentTemplate timescale="90000" presentationTimeOffset="900000" eptDelta="-1" media="$Time$.m4s"><SegmentTimeline>{runs}</SegmentTimeline></SegmentTemplate>"#
    )
}

/// A period in words: of each track its kind, the kbit/s of its representations, and the milliseconds of its segments.
fn words(tracks: &[Track]) -> String {
    let of = |track: &Track| {
        let rates: Vec<String> = track
            .representations
            .iter()
            .map(|one| (one.bitrate.as_bits_per_sec() / 1000).to_string())
            .collect();
        let times: Vec<String> = track.durations.iter().map(|one| one.as_millis().to_string()).collect();
        format!("{} {}: {}", track.kind.name(), rates.join("/"), times.join(" "))
    };
    tracks.iter().map(of).collect::<Vec<_>>().join(", ")
}

/// A kind: its name, the MPD, its periods in words, and the beginning of what is told (without the file).
type Case = (&'static str, String, Vec<&'static str>, Vec<&'static str>);

const BOTH: &str = "video 700/2000: 4000 4000 4000, audio 64: 4000 4000 4000";

#[allow(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<Case> {
    let both = period(&format!("{}{}", video(TEMPLATE), audio(TEMPLATE)));
    let base =
        r#"<BaseURL>https://a.example/</BaseURL><ProgramInformation><Title>t</Title></ProgramInformation>"#;
    let pssh = r#"<ContentProtection schemeIdUri="urn:mpeg:dash:mp4protection:2011" value="cenc"/><ContentProtection schemeIdUri="urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"><pssh xmlns="urn:mpeg:cenc:2013">AAAA</pssh></ContentProtection>"#;
    let trick = r#"<AdaptationSet mimeType="video/mp4"><EssentialProperty schemeIdUri="http://dashif.org/guidelines/trickmode" value="1"/><SegmentTemplate media="$Number$" duration="4"/><Representation id="t" bandwidth="1000" maxPlayoutRate="8"/></AdaptationSet>"#;
    let subtitles = r#"<AdaptationSet mimeType="application/mp4" codecs="stpp" lang="en"><SegmentTemplate media="$Number$" duration="4"/><Representation id="s" bandwidth="100"/></AdaptationSet><AdaptationSet mimeType="text/vtt"><Representation id="w" bandwidth="10"><BaseURL>w.vtt</BaseURL></Representation></AdaptationSet>"#;
    let thumbnails = r#"<AdaptationSet contentType="image" mimeType="image/jpeg"><SegmentTemplate media="$Number$.jpg" duration="12"/><Representation id="tiles" bandwidth="9000"/></AdaptationSet>"#;
    let languages = ["en", "es", "fr"].map(|lang| {
        format!(
            r#"<AdaptationSet mimeType="audio/mp4" lang="{lang}"><SegmentTemplate media="$RepresentationID$/{lang}/$Number$" duration="4"/><Representation id="63000" bandwidth="64000"/></AdaptationSet>"#
        )
    });
    let plain = |contents: String| mpd(STATIC, &period(&contents));
    vec![
        ("live profile, static", mpd(STATIC, &both), vec![BOTH], vec![]),
        ("base URLs and titles", mpd(STATIC, &format!("{base}{both}")), vec![BOTH], vec![]),
        (
            "prefixes of namespaces",
            mpd(STATIC, &both)
                .replace("xmlns=", "xmlns:dash=")
                .replace("</", "</dash:")
                .replace('<', "<dash:")
                .replace("<dash:/dash:", "</dash:")
                .replace("<dash:?xml", "<?xml"),
            vec![BOTH],
            vec![],
        ),
        (
            "content protection",
            plain(format!("{}{}", video(&[pssh, TEMPLATE].concat()), audio(&[pssh, TEMPLATE].concat()))),
            vec![BOTH],
            vec![],
        ),
        (
            "trick modes, subtitles, thumbnails",
            plain(format!("{trick}{subtitles}{thumbnails}{}{}", video(TEMPLATE), audio(TEMPLATE))),
            vec![BOTH],
            vec![],
        ),
        (
            "an id repeated in languages that are not played",
            plain(format!("{}{}", video(TEMPLATE), languages.concat())),
            vec![BOTH],
            vec![],
        ),
        (
            "an id of both video and audio",
            plain(format!("{}{}", video(TEMPLATE), audio(TEMPLATE).replace("a1", "v1"))),
            vec![BOTH],
            vec![],
        ),
        (
            "representations without an id in a set that is not played",
            plain(format!("{}{}<AdaptationSet mimeType=\"audio/mp4\"><Representation/></AdaptationSet>", video(TEMPLATE), audio(TEMPLATE))),
            vec![BOTH],
            vec![],
        ),
        (
            "two codecs at one bandwidth",
            plain(video(TEMPLATE).replace(
                "</AdaptationSet>",
                r#"<Representation id="h2" codecs="hvc1" bandwidth="2000000"/></AdaptationSet>"#,
            )),
            vec!["video 700/2000: 4000 4000 4000"],
            vec!["line 4: Representation: bandwidth is 2000000, as of representation \"v2\"; left out"],
        ),
        (
            "a timeline that starts late, with an open end",
            plain(video(&timeline(r#"<S t="900000" d="360000" r="-1"/>"#))),
            vec!["video 700/2000: 4000 4000 4000"],
            vec![],
        ),
        (
            "a timeline with a gap",
            plain(video(&timeline(r#"<S t="900000" d="360000"/><S t="1620000" d="360000"/>"#))),
            vec!["video 700/2000: 8000 4000"],
            vec!["line 4: S: a gap of 4 s: t is 1620000, and the segments before it end at 1260000"],
        ),
        (
            "a timeline whose times are rounded",
            plain(video(&timeline(r#"<S t="900000" d="360001"/><S t="1260000" d="360000" r="1"/>"#))),
            vec!["video 700/2000: 4000 4000 4000"],
            vec![],
        ),
        (
            "a timeline inside of a duration",
            plain(video(TEMPLATE).replace(
                r#"bandwidth="700000"/>"#,
                r#"bandwidth="700000"><SegmentTemplate><SegmentTimeline><S d="4" r="2"/></SegmentTimeline></SegmentTemplate></Representation>"#,
            )),
            vec!["video 700/2000: 4000 4000 4000"],
            vec![],
        ),
        (
            "fractions of time scales",
            plain(video(r#"<SegmentTemplate media="$Number$" timescale="30000" duration="120120"/>"#)),
            vec!["video 700/2000: 4004 4004 3992"],
            vec![],
        ),
        (
            "durations in days, hours and minutes",
            mpd(r#"mediaPresentationDuration="P0Y0M0DT0H0M12.000S""#, &both),
            vec![BOTH],
            vec![],
        ),
        (
            "several periods, one of them empty, one of them remote and nothing",
            mpd(
                r#"mediaPresentationDuration="PT24S""#,
                &format!(
                    "{}<Period start=\"PT12S\"/>\n<Period xlink:href=\"urn:mpeg:dash:resolve-to-zero:2013\" xlink:actuate=\"onLoad\"/>{}",
                    both.replace("<Period", "<Period duration=\"PT12S\""),
                    both.replace("<Period", "<Period start=\"PT12S\"")
                ),
            ),
            vec![BOTH, BOTH],
            vec!["line 5: Period: no AdaptationSet; left out", "line 6: Period: no AdaptationSet; left out"],
        ),
        (
            "a period with a link and contents until it is resolved",
            mpd(STATIC, &both.replace("<Period", "<Period xlink:href=\"https://a.example/ad\" xlink:actuate=\"onRequest\"")),
            vec![BOTH],
            vec![],
        ),
        (
            "a gap between periods",
            mpd(
                r#"mediaPresentationDuration="PT34S""#,
                &[both.replace("<Period", "<Period duration=\"PT12S\""), both.replace("<Period", "<Period start=\"PT22S\"")].concat(),
            ),
            vec![BOTH, BOTH],
            vec!["line 5: Period: a gap: start is 22 s, and the period before it ends at 12 s"],
        ),
        (
            "no duration, with a timeline",
            mpd("", &period(&video(&timeline(r#"<S t="900000" d="360000" r="2"/>"#)))),
            vec!["video 700/2000: 4000 4000 4000"],
            vec![],
        ),
        (
            "live with numbers and a time shift buffer",
            mpd(&format!("{LIVE} timeShiftBufferDepth=\"PT12S\""), &period(&video(TEMPLATE))),
            vec!["video 700/2000: 4000 4000 4000"],
            vec!["line 2: MPD: a live presentation without an end: what its timelines list is played, otherwise 12 s (timeShiftBufferDepth)"],
        ),
        (
            "live with numbers and nothing else",
            mpd(LIVE, &period(&video(r#"<SegmentTemplate media="$Number$" duration="20"/>"#))),
            vec!["video 700/2000: 20000 20000 20000"],
            vec!["line 2: MPD: a live presentation without an end: what its timelines list is played, otherwise 60 s (the option window)"],
        ),
        (
            "live with a timeline",
            mpd(LIVE, &period(&video(&timeline(r#"<S t="153000000000000" d="360000" r="2"/>"#)))),
            vec!["video 700/2000: 4000 4000 4000"],
            vec!["line 2: MPD: a live presentation without an end"],
        ),
        (
            "live with a timeline that repeats until now",
            mpd(&format!("{LIVE} timeShiftBufferDepth=\"PT8S\""), &period(&video(&timeline(r#"<S t="900" d="360000" r="-1"/>"#)))),
            vec!["video 700/2000: 4000 4000"],
            vec!["line 2: MPD: a live presentation without an end"],
        ),
        (
            "a list of ranges",
            plain(
                r#"<AdaptationSet contentType="video"><Representation id="v" bandwidth="700000"><BaseURL>v.mp4</BaseURL><SegmentList timescale="1000" duration="6000"><Initialization range="0-99"/><SegmentURL mediaRange="100-199"/><SegmentURL mediaRange="200-299"/></SegmentList></Representation></AdaptationSet>"#.to_owned(),
            ),
            vec!["video 700: 6000 6000"],
            vec!["line 4: Representation: its mediaRange have 200 bytes together, and its bandwidth makes 1050000"],
        ),
        (
            "a SegmentBase around a list",
            plain(
                r#"<AdaptationSet contentType="video"><SegmentBase timescale="1000"/><Representation id="v" bandwidth="700000"><SegmentList duration="6"><SegmentURL media="1"/><SegmentURL media="2"/></SegmentList></Representation></AdaptationSet>"#.to_owned(),
            ),
            vec!["video 700: 6000 6000"],
            vec![],
        ),
        (
            "kinds by codecs, and sound and pictures in one file",
            plain(
                video(TEMPLATE).replace(r#" mimeType="video/mp4""#, r#" codecs="avc1.64001f""#)
                    + &audio(TEMPLATE).replace(r#" mimeType="audio/mp4""#, r#" codecs="ec-3""#),
            ),
            vec![BOTH],
            vec![],
        ),
        (
            "components, sound first",
            plain(video(TEMPLATE).replace(
                r#" mimeType="video/mp4">"#,
                r#"><ContentComponent contentType="audio" id="1"/><ContentComponent contentType="video" id="2"/>"#,
            )),
            vec!["video 700/2000: 4000 4000 4000"],
            vec![],
        ),
        (
            "contents that nobody plays",
            plain(format!("<AdaptationSet contentType=\"smell\"/>\n<AdaptationSet/>{}", video(TEMPLATE))),
            vec!["video 700/2000: 4000 4000 4000"],
            vec![
                "line 4: AdaptationSet: neither contentType, mimeType and codecs nor its attributes say video or audio; left out",
                "line 5: AdaptationSet: neither contentType, mimeType and codecs",
            ],
        ),
        (
            "an empty set before the others",
            plain(format!("<AdaptationSet mimeType=\"video/mp4\"/>\n<AdaptationSet mimeType=\"audio/mp4\"><Role/></AdaptationSet>{}", both_sets())),
            vec![BOTH],
            vec![
                "line 4: AdaptationSet: no Representation; left out",
                "line 5: AdaptationSet: no Representation; left out",
            ],
        ),
        (
            "kinds by sizes of pictures and by the sampling rate",
            plain(
                video(TEMPLATE).replace(r#" mimeType="video/mp4""#, "").replace(r#"id="v2""#, r#"id="v2" width="640" height="360""#)
                    + &audio(TEMPLATE).replace(r#" mimeType="audio/mp4""#, r#" audioSamplingRate="48000""#),
            ),
            vec![BOTH],
            vec![],
        ),
        (
            "kinds by the frame rate and by channels, pictures of no size",
            plain(
                video(TEMPLATE).replace(r#" mimeType="video/mp4""#, r#" frameRate="30000/1001" width="0""#)
                    + &audio(&format!(r#"<AudioChannelConfiguration schemeIdUri="x" value="2"/>{TEMPLATE}"#)).replace(r#" mimeType="audio/mp4""#, ""),
            ),
            vec![BOTH],
            vec![],
        ),
        (
            "kinds by the largest picture, and of codecs that are not known",
            plain(
                video(TEMPLATE).replace(r#" mimeType="video/mp4""#, r#" maxWidth="640" codecs="evc1""#)
                    + &audio(TEMPLATE).replace(r#" mimeType="audio/mp4""#, r#" codecs="mhm1""#).replace(r#"id="a1""#, r#"id="a1" audioSamplingRate="48000""#)
                    + "<AdaptationSet codecs=\"stpp\" width=\"640\"><Representation id=\"s\" bandwidth=\"1\"/></AdaptationSet>",
            ),
            vec![BOTH],
            vec!["line 4: AdaptationSet: neither contentType, mimeType and codecs nor its attributes"],
        ),
        (
            "kinds that only a later representation says",
            plain(
                video(TEMPLATE).replace(r#" mimeType="video/mp4""#, "").replace(r#"id="v2""#, r#"id="v2" mimeType="video/mp4""#)
                    + &audio(TEMPLATE),
            ),
            vec![BOTH],
            vec![],
        ),
        ("no namespace", mpd(STATIC, &both).replace(&format!("xmlns=\"{NAMESPACE}\""), ""), vec![BOTH], vec![]),
        (
            "a remote set that is not played",
            plain(format!("{}<AdaptationSet contentType=\"audio\" xlink:href=\"https://a.example/\"/>", both_sets())),
            vec![BOTH],
            vec![],
        ),
        (
            "layers",
            plain(video(TEMPLATE).replace(r#"id="v2""#, r#"id="v2" dependencyId="v1""#)),
            vec!["video 700: 4000 4000 4000"],
            vec!["line 4: Representation: dependencyId: layers are not read; left out"],
        ),
        (
            "sound that ends early",
            plain(format!("{}{}", video(TEMPLATE), audio(&TEMPLATE.replace("startNumber=\"0\"", "startNumber=\"0\" endNumber=\"1\"")))),
            vec!["video 700/2000: 4000 4000 4000, audio 64: 4000 4000"],
            vec!["line 4: SegmentTemplate: its segments end after 8 s, and its period after 12 s"],
        ),
        (
            "an edition of another year",
            mpd(STATIC, &both).replace("mpd:2011", "mpd:2020"),
            vec![BOTH],
            vec![],
        ),
    ]
}

fn both_sets() -> String {
    format!("{}{}", video(TEMPLATE), audio(TEMPLATE))
}

#[test]
fn every_kind_is_read() {
    for (name, text, periods, told) in cases() {
        let presentation = built(&ROW, &[("file", &text)], 1)
            .unwrap_or_else(|(option, problem)| panic!("{name}: {option}: {problem}\n{text}"));
        let found: Vec<String> = presentation.periods.iter().map(|period| words(&period.tracks)).collect();
        assert_eq!(found, periods, "{name}");
        let notes = (ROW.build.notes)(&arguments(&ROW, &[("file", &text)]));
        assert_eq!(notes.len(), told.len(), "{name}: {notes:?}");
        for (note, told) in notes.iter().zip(told) {
            assert!(note.starts_with(&format!("the-file, {told}")), "{name}: {note}");
        }
    }
    assert!(cases().len() >= 30);
}

/// The on-demand profile: the segments are listed in the media file, by a list of sizes, or by an option.
#[test]
fn segments_inside_of_a_file_are_listed_by_their_sizes() {
    let text = include_str!("../../../tests/mpd/segment-base.mpd");
    let told = built(&ROW, &[("file", text)], 1).unwrap_err().1;
    assert!(told.contains("listed in bytes 708-1183 of the media file; expected a list of sizes"), "{told}");
    let sizes = "representation,segment,bytes,seconds\n1,init,708,\n1,1,2000000,25\n1,2,2500000,25.5\n1,3,900000,9.6\n";
    let presentation = built(&ROW, &[("file", text), ("sizes", sizes)], 1).unwrap();
    let track = &presentation.periods[0].tracks[0];
    assert_eq!(words(&presentation.periods[0].tracks), "video 800: 25000 25500 9500");
    assert_eq!(track.representations[0].sizes, [2_000_000, 2_500_000, 900_000]);
    assert_eq!(track.representations[0].initialization, 708);
    // Without the seconds of each, the option says them; without a list the bandwidth gives the sizes.
    let bare = sizes
        .replace(",seconds", "")
        .replace("708,", "708")
        .replace(",25.5", "")
        .replace(",25\n", "\n")
        .replace(",9.6", "");
    let problem = built(&ROW, &[("file", text), ("sizes", &bare)], 1).unwrap_err().1;
    assert!(problem.contains("expected a column seconds, or the option segment"), "{problem}");
    let equal = built(&ROW, &[("file", text), ("sizes", &bare), ("segment", "\"25 s\"")], 1).unwrap();
    assert_eq!(words(&equal.periods[0].tracks), "video 800: 25000 25000 10000");
    let estimated = built(&ROW, &[("file", text), ("segment", "\"25 s\"")], 1).unwrap();
    let track = &estimated.periods[0].tracks[0];
    assert_eq!(track.representations[0].sizes, [2_500_000, 2_500_000, 1_000_000]);
    assert_eq!(track.representations[0].initialization, 708, "the range of Initialization");
}

/// What cannot be read, with the true reason.
#[test]
fn what_is_refused_says_why() {
    for (name, text, told) in [
        (
            "a remote period",
            mpd(STATIC, "<Period xlink:href=\"https://a.example/\"/>"),
            "line 3: Period: xlink:href: nothing is fetched; expected the contents in the file itself",
        ),
        (
            "subtitles alone",
            mpd(STATIC, &period("<AdaptationSet mimeType=\"text/vtt\"/>")),
            "no adaptation set of video",
        ),
        (
            "no end",
            mpd("", &period(&video(TEMPLATE))),
            "the duration of its period is not known; expected it in Period, or mediaPresentationDuration in MPD",
        ),
        (
            "a set that says nothing",
            mpd(STATIC, &period(&video(TEMPLATE).replace(r#" mimeType="video/mp4""#, ""))),
            "line 4: AdaptationSet: neither contentType, mimeType and codecs nor its attributes say video or audio; expected contentType or mimeType",
        ),
        (
            "HLS",
            "#EXTM3U\n#EXT-X-VERSION:3\n".to_owned(),
            "line 1: a playlist of HLS (#EXTM3U); expected an MPD",
        ),
    ] {
        let (_, problem) = built(&ROW, &[("file", &text)], 1).unwrap_err();
        assert!(problem.contains(told), "{name}: {problem}");
    }
}
