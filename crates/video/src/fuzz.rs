//! The entry points for fuzzing: any text is either a valid file of a presentation or is rejected with a one-line
//! error. The property tests of this crate and the fuzz target call the same functions.

use crate::abr::Line;
use crate::presentation::{self, TrackLine};
use random::Generator;
use std::sync::Arc;
use units::parameter::{Arguments, File, Value};
use units::{Duration, Size};

/// Reads a text as an MPD, with these sizes of its segments. Returns whether both are valid.
///
/// # Panics
/// If an error has more than one line, or the presentation is invalid.
pub fn mpd(text: &str, sizes: Option<&str>) -> bool {
    let mut options = vec![
        ("file", file(text)),
        ("video_set", Value::Integer(1 + u64::from(text.len().is_multiple_of(16)))),
        ("audio_set", Value::Integer(u64::from(!text.len().is_multiple_of(8)))),
        ("initialization", Value::Size(Size::from_bytes(1_000))),
        ("window", Value::Duration(Duration::from_secs(60))),
    ];
    options.extend(sizes.map(|sizes| ("sizes", file(sizes))));
    reads("mpd", options)
}

/// Reads a text as sizes of segments by representation. Returns whether it is valid.
///
/// # Panics
/// See [`mpd`].
pub fn sizes(text: &str) -> bool {
    let options = vec![
        ("file", file(text)),
        ("segment", Value::Duration(Duration::from_secs(3))),
        ("initialization", Value::Size(Size::ZERO)),
    ];
    reads("sizes", options)
}

fn file(text: &str) -> Value {
    Value::File(File { path: "the-file".to_owned(), text: text.into() })
}

fn reads(row: &str, options: Vec<(&'static str, Value)>) -> bool {
    let stream = &mut Generator::new(1, "presentations");
    match presentation::build(row, &Arguments(options), stream).expect("there is such a row") {
        Ok(presentation) => {
            assert_eq!(presentation.check(), Ok(()));
            check_lines(&Arc::new(presentation));
            true
        }
        Err((option, problem)) => {
            assert!(["file", "sizes", "segment"].contains(&option), "{option}");
            assert!(!problem.chars().any(char::is_control), "{problem:?}");
            assert!(problem.len() < 4_000, "{problem}");
            false
        }
    }
}

/// The segments of each kind follow one another, and each has its path and its bytes.
fn check_lines(presentation: &Arc<presentation::Presentation>) {
    for kind in presentation.kinds() {
        let line = TrackLine::new(presentation.clone(), kind).expect("there is such a track");
        let mut end = Duration::ZERO;
        for at in 0..line.segments() {
            let segment = line.segment(at);
            assert!(segment.start >= end && line.at(segment.start) == at, "{segment:?}");
            end = segment.start + segment.duration;
            let part = line.part(at, line.bitrates(at).len() - 1);
            assert_eq!(part.to_string().parse(), Ok(part));
            assert_eq!(presentation.bytes_of(&part), Some(line.size(at, part.representation)));
        }
        assert!(end <= presentation.duration());
    }
}
