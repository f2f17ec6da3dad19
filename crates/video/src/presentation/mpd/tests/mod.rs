//! What is read of an MPD.

mod listed;
mod odd;
mod refused;
mod sets;
mod timelines;

use super::*;
use crate::presentation::testing::{arguments, built};
use crate::presentation::{MAX_SEGMENTS, Track};
use units::Rate;

const FFMPEG: &str = include_str!("../../../../tests/mpd/ffmpeg.mpd");
const FFMPEG_SIZES: &str = include_str!("../../../../tests/mpd/ffmpeg.csv");
const BROADCAST: &str = include_str!("../../../../tests/mpd/broadcast.mpd");
const RANGES: &str = include_str!("../../../../tests/mpd/ranges.mpd");

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
fn ranges_of_bytes_are_sizes() {
    let presentation = read(&[("file", RANGES)]);
    let track = &presentation.periods[0].tracks[0];
    assert_eq!(millis(track), [2_000, 2_000, 1_200]);
    let [low, high] = &track.representations[..] else { panic!("two") };
    assert_eq!((&low.sizes[..], low.initialization), (&[60_000, 75_000, 45_000][..], 823));
    assert_eq!((&high.sizes[..], high.initialization), (&[200_000, 250_000, 110_000][..], 1_000));
}

const TEMPLATE: &str = "<SegmentTemplate media=\"$Number$\" duration=\"2\"/>";
