//! What a presentation consists of: periods, tracks, representations, segments; and where presentations come from.
//!
//! A presentation is a plain value. To add a source: write its file, add its line to [`PRESENTATIONS`].

mod check;
mod file;
mod ladder;
mod line;
mod mpd;
mod part;
mod sized;
mod sizes;
#[cfg(test)]
mod testing;

pub use check::{
    MAX_BITRATE, MAX_DURATION, MAX_ID, MAX_PERIODS, MAX_REPRESENTATIONS, MAX_SEGMENT_BYTES, MAX_SEGMENTS,
    MAX_SIZES, PresentationError, TrackError,
};
pub use file::MAX_FILE_BYTES;
pub use line::{Segment, TrackLine};
pub use part::{NoPart, Part};

use random::Generator;
use units::parameter::{Arguments, Component, Room, Row};
use units::{Duration, Rate};

/// What is seen or heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Pictures.
    Video,
    /// Sound.
    Audio,
}

impl Kind {
    /// All kinds, in their order.
    pub const ALL: [Kind; 2] = [Kind::Video, Kind::Audio];

    /// Its name in MPDs and paths.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Video => "video",
            Kind::Audio => "audio",
        }
    }
}

/// One quality of a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Representation {
    /// Its name: the attribute `id` of an MPD.
    pub id: String,
    /// The declared rate: the attribute `bandwidth` of an MPD. Not zero.
    pub bitrate: Rate,
    /// Width and height in pixels, if known.
    pub resolution: Option<(u32, u32)>,
    /// The bytes of the initialization segment, which is asked for before the first segment; 0 for none.
    pub initialization: u64,
    /// The bytes of each segment.
    pub sizes: Vec<u64>,
}

/// A track of a period. All its representations have the same segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    /// What it is.
    pub kind: Kind,
    /// The duration of each segment; none is zero.
    pub durations: Vec<Duration>,
    /// At least one, by rising bitrate.
    pub representations: Vec<Representation>,
}

/// A period: its tracks begin together. Those that follow begin after the longest of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// At least one, at most one of each kind, in the order of [`Kind`].
    pub tracks: Vec<Track>,
}

/// A presentation: periods one after the other, at least one. All periods have tracks of the same kinds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presentation {
    /// The periods.
    pub periods: Vec<Period>,
}

impl Track {
    /// The duration of its segments together.
    pub fn duration(&self) -> Duration {
        self.durations.iter().fold(Duration::ZERO, |sum, duration| sum + *duration)
    }
}

impl Period {
    /// The track of this kind.
    pub fn track(&self, kind: Kind) -> Option<&Track> {
        self.tracks.iter().find(|track| track.kind == kind)
    }
    /// The duration of its longest track.
    pub fn duration(&self) -> Duration {
        self.tracks.iter().map(Track::duration).max().unwrap_or(Duration::ZERO)
    }
}

impl Presentation {
    /// A presentation of these periods, which satisfies [`Presentation::check`].
    ///
    /// # Errors
    /// See [`Presentation::check`].
    pub fn new(periods: Vec<Period>) -> Result<Presentation, PresentationError> {
        let presentation = Presentation { periods };
        presentation.check()?;
        Ok(presentation)
    }

    /// The kinds of its tracks, in their order.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.periods.iter().take(1).flat_map(|period| period.tracks.iter().map(|track| track.kind))
    }
    /// The duration of all periods.
    pub fn duration(&self) -> Duration {
        self.periods.iter().fold(Duration::ZERO, |sum, period| sum + period.duration())
    }
}

/// The bytes of a segment of constant bitrate, rounded to the nearest number, at least 1.
fn constant_bytes(bitrate: Rate, duration: Duration) -> u64 {
    const BIT_NANOS_PER_BYTE: u128 = 8_000_000_000;
    let product = u128::from(bitrate.as_bits_per_sec()) * u128::from(duration.as_nanos());
    u64::try_from((product + BIT_NANOS_PER_BYTE / 2) / BIT_NANOS_PER_BYTE).unwrap_or(u64::MAX).max(1)
}

/// The option at fault, and a description.
pub type Fault = (&'static str, String);

/// The functions of a source of presentations.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    /// The constructor. It draws, if at all, from streams derived from the given one.
    pub build: fn(&Arguments, &mut Generator) -> Result<Presentation, Fault>,
    /// What a user should know about the files of valid options, such as what was left out of them.
    pub notes: fn(&Arguments) -> Vec<String>,
}

/// The sources of presentations.
pub static PRESENTATIONS: &[Row<Source>] = &[ladder::ROW, mpd::ROW, sizes::ROW];

/// The table of presentations for scenarios and `quiclab list`.
pub fn room() -> Room {
    let about = "presentations: the periods, representations and segment sizes of a video";
    Room::of("presentations", about, PRESENTATIONS, None).checked_by(check)
}

/// Builds the presentation of the row with this name, which satisfies [`Presentation::check`]; `None` if there is no
/// such row.
///
/// # Errors
/// The option at fault, and a description in one line.
pub fn build(
    name: &str,
    arguments: &Arguments,
    stream: &mut Generator,
) -> Option<Result<Presentation, Fault>> {
    let row = PRESENTATIONS.iter().find(|row| row.name == name)?;
    Some((row.build.build)(arguments, stream))
}

/// Builds the presentation of a component of this room.
///
/// # Errors
/// See [`build`]; none for options that [`check`] accepts.
pub fn of(component: &Component, stream: &mut Generator) -> Result<Presentation, Fault> {
    build(component.name, &component.arguments, stream)
        .unwrap_or_else(|| Err(("", format!("no presentation is called {:?}", component.name))))
}

/// What a user should know about the files of a component of this room.
pub fn notes(component: &Component) -> Vec<String> {
    let row = PRESENTATIONS.iter().find(|row| row.name == component.name);
    row.map_or_else(Vec::new, |row| (row.build.notes)(&component.arguments))
}

/// Checks whether these options give a presentation.
///
/// # Errors
/// See [`build`].
pub fn check(name: &str, arguments: &Arguments) -> Result<(), Fault> {
    // Whether there is a presentation does not depend on the random numbers.
    build(name, arguments, &mut Generator::new(0, "presentations")).map_or(Ok(()), |built| built.map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::testing::{arguments, built};
    use super::*;
    use units::parameter::{Default, Kind as OptionKind};

    /// The options of a row with the examples of its files: those that are required, or all.
    fn with_examples(row: &Row<Source>, all: bool) -> Vec<(&'static str, &'static str)> {
        let example = |parameter: &units::parameter::Parameter| match parameter.kind {
            OptionKind::File(example) if all || parameter.default == Default::Required => {
                Some((parameter.name, example))
            }
            _ => None,
        };
        row.parameters.iter().filter_map(example).collect()
    }

    #[test]
    fn every_row_builds_with_its_defaults_and_examples() {
        for row in PRESENTATIONS {
            for all in [false, true] {
                let set = with_examples(row, all);
                built(row, &set, 1)
                    .unwrap_or_else(|(option, problem)| panic!("{}: {option}: {problem}", row.name));
                assert_eq!(check(row.name, &arguments(row, &set)), Ok(()));
            }
        }
    }

    #[test]
    fn a_room_checks_its_options() {
        let room = room();
        assert_eq!(room.rows.iter().map(|row| row.name).collect::<Vec<_>>(), ["ladder", "mpd", "sizes"]);
        let wrong = arguments(&PRESENTATIONS[0], &[("segment", "0 s")]);
        assert_eq!((room.check)("ladder", &wrong).unwrap_err().0, "segment");
        assert!(build("film", &wrong, &mut Generator::new(1, "")).is_none());
        let component = |name| Component { room: "presentations", name, arguments: wrong.clone() };
        assert_eq!(of(&component("ladder"), &mut Generator::new(1, "")).unwrap_err().0, "segment");
        assert!(of(&component("film"), &mut Generator::new(1, "")).unwrap_err().1.contains("film"));
    }
}
