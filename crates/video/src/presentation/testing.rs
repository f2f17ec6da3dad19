//! Presentations and options for tests.

use super::{Fault, Kind, Period, Presentation, Representation, Source, Track};
use random::Generator;
use units::parameter::{Arguments, Default, File, Kind as OptionKind, Row, Value};
use units::{Duration, Rate};

/// A representation with this many segments of 1000 bytes.
pub(super) fn representation(id: &str, kbit_per_sec: u64, segments: usize) -> Representation {
    Representation {
        id: id.to_owned(),
        bitrate: Rate::from_bits_per_sec(1_000 * kbit_per_sec),
        resolution: None,
        initialization: 0,
        sizes: vec![1_000; segments],
    }
}

/// A track of segments of two seconds.
pub(super) fn track(kind: Kind, segments: usize, representations: &[Representation]) -> Track {
    let durations = vec![Duration::from_secs(2); segments];
    Track { kind, durations, representations: representations.to_vec() }
}

/// Two periods. The first has three segments of video and two of audio, the second two and three.
pub(super) fn presentation() -> Presentation {
    let video = |count| [representation("a", 100, count), representation("b", 200, count)];
    let period = |videos, audios| Period {
        tracks: vec![
            track(Kind::Video, videos, &video(videos)),
            track(Kind::Audio, audios, &[representation("c", 64, audios)]),
        ],
    };
    Presentation { periods: vec![period(3, 2), period(2, 3)] }
}

/// The options of a row: those in `set`, and the defaults of the others. A file option contains the text.
pub(super) fn arguments(row: &Row<Source>, set: &[(&str, &str)]) -> Arguments {
    let mut values = Vec::new();
    for parameter in row.parameters {
        let given = set.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| *text);
        let text = match (given, parameter.default) {
            (Some(text), _) | (None, Default::Is(text)) => text,
            (None, Default::Required | Default::Absent) => continue,
        };
        let value = match parameter.kind {
            OptionKind::File(_) => {
                Value::File(File { path: format!("the-{}", parameter.name), text: text.into() })
            }
            kind => kind.read(text, &[]).unwrap_or_else(|| panic!("{}: {text}", parameter.name)),
        };
        values.push((parameter.name, value));
    }
    assert!(set.iter().all(|(name, _)| values.iter().any(|(known, _)| known == name)), "{set:?}");
    Arguments(values)
}

/// The presentation of a row with these options, which was checked.
pub(super) fn built(row: &Row<Source>, set: &[(&str, &str)], seed: u64) -> Result<Presentation, Fault> {
    let presentation = (row.build.build)(&arguments(row, set), &mut Generator::new(seed, "presentation"))?;
    assert_eq!(presentation.check(), Ok(()));
    Ok(presentation)
}
