//! The limits of a presentation, and whether its parts fit together.

use super::{Kind, Presentation, Representation, Track};
use std::fmt;
use units::{Duration, Rate};

/// The maximum number of periods.
pub const MAX_PERIODS: usize = 1_000;
/// The maximum number of representations of a track.
pub const MAX_REPRESENTATIONS: usize = 100;
/// The maximum number of segments of a track kind, over all periods.
pub const MAX_SEGMENTS: usize = 100_000;
/// The maximum number of segments of all representations together.
pub const MAX_SIZES: usize = 1_000_000;
/// The maximum size of a segment in bytes: 1 TB.
pub const MAX_SEGMENT_BYTES: u64 = 1_000_000_000_000;
/// The maximum duration of a presentation: 30 days.
pub const MAX_DURATION: Duration = Duration::from_secs(30 * 86_400);
/// The maximum bitrate of a representation.
pub const MAX_BITRATE: Rate = Rate::from_bits_per_sec(1_000_000_000_000);
/// The maximum length of the name of a representation in bytes.
pub const MAX_ID: usize = 200;

/// An error in a presentation. Periods are counted from 0 here, and from 1 in texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PresentationError {
    /// The number of periods: none, or more than [`MAX_PERIODS`].
    Periods(usize),
    /// This period has no tracks, tracks out of order, or not the kinds of the first period.
    Kinds(usize),
    /// The track of this kind has more than [`MAX_SEGMENTS`].
    Segments(Kind),
    /// The representations have more than [`MAX_SIZES`] segments together.
    Sizes,
    /// The duration exceeds [`MAX_DURATION`].
    Duration,
    /// An error in the track of this kind in this period.
    Track(usize, Kind, TrackError),
}

/// An error in a track. Representations and segments are counted from 0 here, and from 1 in texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackError {
    /// The track has no segments.
    Empty,
    /// The duration of this segment is zero.
    Duration(usize),
    /// The number of representations: none, or more than [`MAX_REPRESENTATIONS`].
    Representations(usize),
    /// The name of this representation is empty, longer than [`MAX_ID`], not printable, or that of another one.
    Id(usize),
    /// The bitrate of this representation is zero, or above [`MAX_BITRATE`].
    Bitrate(usize),
    /// The bitrate of this representation is not above that of the one before.
    Order(usize),
    /// The width or the height of this representation is zero.
    Resolution(usize),
    /// This representation does not have as many segments as the track.
    Count(usize),
    /// The size of this segment of this representation is zero, or above [`MAX_SEGMENT_BYTES`].
    Size(usize, usize),
    /// The initialization segment of this representation exceeds [`MAX_SEGMENT_BYTES`].
    Initialization(usize),
}

impl fmt::Display for PresentationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PresentationError::Periods(0) => f.write_str("no period; expected at least one"),
            PresentationError::Periods(count) => {
                write!(f, "{count} periods; expected at most {MAX_PERIODS}")
            }
            PresentationError::Kinds(period) => write!(
                f,
                "period {}: expected a track of video, of audio, or of both, and the same ones as in period 1",
                period + 1
            ),
            PresentationError::Segments(kind) => {
                write!(f, "more than {MAX_SEGMENTS} segments of {}", kind.name())
            }
            PresentationError::Sizes => {
                write!(f, "more than {MAX_SIZES} segments of all representations together")
            }
            PresentationError::Duration => write!(f, "longer than {MAX_DURATION}"),
            PresentationError::Track(period, kind, error) => {
                write!(f, "{} of period {}: {error}", kind.name(), period + 1)
            }
        }
    }
}

impl fmt::Display for TrackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrackError::Empty => f.write_str("no segment; expected at least one"),
            TrackError::Duration(segment) => write!(f, "segment {} has no duration", segment + 1),
            TrackError::Representations(count) => {
                write!(f, "{count} representations; expected 1 to {MAX_REPRESENTATIONS}")
            }
            TrackError::Id(at) => write!(
                f,
                "representation {}: expected a name of its own of 1 to {MAX_ID} printable bytes",
                at + 1
            ),
            TrackError::Bitrate(at) => {
                write!(f, "representation {}: expected a bitrate of 1 bit/s to {MAX_BITRATE}", at + 1)
            }
            TrackError::Order(at) => {
                write!(f, "representation {}: expected a bitrate above that of representation {at}", at + 1)
            }
            TrackError::Resolution(at) => {
                write!(f, "representation {}: expected a width and a height of at least 1", at + 1)
            }
            TrackError::Count(at) => {
                write!(f, "representation {}: expected as many segments as the track has", at + 1)
            }
            TrackError::Size(at, segment) => write!(
                f,
                "representation {}, segment {}: expected 1 to {MAX_SEGMENT_BYTES} bytes",
                at + 1,
                segment + 1
            ),
            TrackError::Initialization(at) => write!(
                f,
                "representation {}: expected at most {MAX_SEGMENT_BYTES} bytes of its initialization segment",
                at + 1
            ),
        }
    }
}

impl std::error::Error for PresentationError {}
impl std::error::Error for TrackError {}

impl Presentation {
    /// Checks the limits, and that the parts fit together: at least one period, the same kinds of tracks in each, in
    /// every track at least one segment and one representation, rising bitrates, as many sizes as durations.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), PresentationError> {
        if !(1..=MAX_PERIODS).contains(&self.periods.len()) {
            return Err(PresentationError::Periods(self.periods.len()));
        }
        for (at, period) in self.periods.iter().enumerate() {
            let kinds = || period.tracks.iter().map(|track| track.kind);
            let rise = kinds().zip(kinds().skip(1)).all(|(one, next)| one < next);
            if period.tracks.is_empty() || !rise || !kinds().eq(self.kinds()) {
                return Err(PresentationError::Kinds(at));
            }
        }
        self.check_counts()?;
        for (at, period) in self.periods.iter().enumerate() {
            for track in &period.tracks {
                track.check().map_err(|error| PresentationError::Track(at, track.kind, error))?;
            }
        }
        // A sum of durations is at most Duration::MAX, which is longer.
        if self.duration() > MAX_DURATION { Err(PresentationError::Duration) } else { Ok(()) }
    }

    fn check_counts(&self) -> Result<(), PresentationError> {
        let mut sizes = 0;
        for kind in self.kinds() {
            let tracks = || self.periods.iter().filter_map(|period| period.track(kind));
            if tracks().map(|track| track.durations.len()).sum::<usize>() > MAX_SEGMENTS {
                return Err(PresentationError::Segments(kind));
            }
            sizes +=
                tracks().flat_map(|track| &track.representations).map(|one| one.sizes.len()).sum::<usize>();
        }
        if sizes > MAX_SIZES { Err(PresentationError::Sizes) } else { Ok(()) }
    }
}

impl Track {
    fn check(&self) -> Result<(), TrackError> {
        if self.durations.is_empty() {
            return Err(TrackError::Empty);
        }
        if let Some(at) = self.durations.iter().position(|duration| duration.is_zero()) {
            return Err(TrackError::Duration(at));
        }
        if !(1..=MAX_REPRESENTATIONS).contains(&self.representations.len()) {
            return Err(TrackError::Representations(self.representations.len()));
        }
        for (at, representation) in self.representations.iter().enumerate() {
            let before = &self.representations[..at];
            if before.iter().any(|other| other.id == representation.id) {
                return Err(TrackError::Id(at));
            }
            if before.last().is_some_and(|other| other.bitrate >= representation.bitrate) {
                return Err(TrackError::Order(at));
            }
            representation.check(at, self.durations.len())?;
        }
        Ok(())
    }
}

impl Representation {
    /// `at` is its place in the track, which has this many segments.
    fn check(&self, at: usize, segments: usize) -> Result<(), TrackError> {
        if self.id.is_empty() || self.id.len() > MAX_ID || self.id.chars().any(char::is_control) {
            return Err(TrackError::Id(at));
        }
        if self.bitrate == Rate::ZERO || self.bitrate > MAX_BITRATE {
            return Err(TrackError::Bitrate(at));
        }
        if self.resolution.is_some_and(|(width, height)| width == 0 || height == 0) {
            return Err(TrackError::Resolution(at));
        }
        if self.sizes.len() != segments {
            return Err(TrackError::Count(at));
        }
        if let Some(segment) = self.sizes.iter().position(|size| !(1..=MAX_SEGMENT_BYTES).contains(size)) {
            return Err(TrackError::Size(at, segment));
        }
        if self.initialization > MAX_SEGMENT_BYTES { Err(TrackError::Initialization(at)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{presentation, representation, track};
    use super::*;

    fn broken(change: impl FnOnce(&mut Presentation)) -> PresentationError {
        let mut presentation = presentation();
        assert_eq!(presentation.check(), Ok(()));
        change(&mut presentation);
        presentation.check().unwrap_err()
    }

    #[test]
    fn there_is_at_least_one_of_everything() {
        assert_eq!(broken(|it| it.periods.clear()), PresentationError::Periods(0));
        assert_eq!(broken(|it| it.periods[0].tracks.clear()), PresentationError::Kinds(0));
        let video = |error| PresentationError::Track(1, Kind::Video, error);
        let track = |it: &mut Presentation| it.periods[1].tracks[0].clone();
        let with = |change: fn(&mut Track)| {
            broken(|it| {
                let mut track = track(it);
                change(&mut track);
                it.periods[1].tracks[0] = track;
            })
        };
        assert_eq!(with(|track| track.durations.clear()), video(TrackError::Empty));
        assert_eq!(with(|track| track.durations[1] = Duration::ZERO), video(TrackError::Duration(1)));
        assert_eq!(with(|track| track.representations.clear()), video(TrackError::Representations(0)));
        assert_eq!(with(|track| track.representations[1].sizes[1] = 0), video(TrackError::Size(1, 1)));
        assert_eq!(with(|track| track.representations[1].sizes.truncate(1)), video(TrackError::Count(1)));
        assert_eq!(with(|track| track.representations[0].id.clear()), video(TrackError::Id(0)));
        assert_eq!(with(|track| track.representations[1].id = "a".to_owned()), video(TrackError::Id(1)));
        assert_eq!(
            with(|track| track.representations[0].bitrate = Rate::ZERO),
            video(TrackError::Bitrate(0))
        );
        assert_eq!(
            with(|track| track.representations[0].resolution = Some((1, 0))),
            video(TrackError::Resolution(0))
        );
        assert_eq!(
            with(|track| track.representations[1].bitrate = track.representations[0].bitrate),
            video(TrackError::Order(1))
        );
        assert_eq!(
            with(|track| track.representations[1].initialization = MAX_SEGMENT_BYTES + 1),
            video(TrackError::Initialization(1))
        );
    }

    #[test]
    fn periods_have_the_same_kinds_in_order() {
        assert_eq!(broken(|it| it.periods[0].tracks.reverse()), PresentationError::Kinds(0));
        assert_eq!(broken(|it| it.periods[1].tracks.truncate(1)), PresentationError::Kinds(1));
        let twice = |it: &mut Presentation| {
            let track = it.periods[0].tracks[0].clone();
            it.periods[0].tracks.insert(0, track);
        };
        assert_eq!(broken(twice), PresentationError::Kinds(0));
    }

    #[test]
    fn presentations_have_limits() {
        let many = |it: &mut Presentation| it.periods = vec![it.periods[0].clone(); MAX_PERIODS + 1];
        assert_eq!(broken(many), PresentationError::Periods(MAX_PERIODS + 1));
        let long = |it: &mut Presentation| it.periods[0].tracks[0].durations[0] = MAX_DURATION;
        assert_eq!(broken(long), PresentationError::Duration);
        let segments = |it: &mut Presentation| {
            it.periods[0].tracks[0] =
                track(Kind::Video, MAX_SEGMENTS, &[representation("a", 1, MAX_SEGMENTS)]);
        };
        assert_eq!(broken(segments), PresentationError::Segments(Kind::Video));
        let names: Vec<String> = (0..10).map(|name| name.to_string()).collect();
        let sizes = |it: &mut Presentation| {
            it.periods.truncate(1);
            let all: Vec<_> =
                (1..).zip(&names).map(|(rate, name)| representation(name, rate, MAX_SEGMENTS)).collect();
            it.periods[0].tracks[0] = track(Kind::Video, MAX_SEGMENTS, &all);
        };
        assert_eq!(broken(sizes), PresentationError::Sizes);
        let large = |it: &mut Presentation| {
            it.periods[0].tracks[0].representations[0].sizes[0] = MAX_SEGMENT_BYTES + 1;
        };
        let error = broken(large);
        assert_eq!(
            error.to_string(),
            "video of period 1: representation 1, segment 1: expected 1 to 1000000000000 bytes"
        );
    }
}
