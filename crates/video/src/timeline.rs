//! The segments of one kind of track over all periods of a presentation.

use crate::Presentation;
use crate::abr::Line;
use crate::presentation::{Kind, Representation};
use std::sync::Arc;
use units::{Duration, Rate};

/// The place of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where it begins.
    pub start: Duration,
    /// How long it plays.
    pub duration: Duration,
    /// Its period.
    pub period: usize,
    /// Its number within the period, counted from 0.
    pub number: usize,
}

impl Segment {
    /// Where it ends.
    pub fn end(&self) -> Duration {
        self.start + self.duration
    }
}

/// The segments of the tracks of one kind, one after the other.
#[derive(Debug, Clone)]
pub struct Timeline {
    presentation: Arc<Presentation>,
    kind: Kind,
    segments: Vec<Segment>,
    /// The bitrates in each period.
    bitrates: Vec<Vec<Rate>>,
}

impl Timeline {
    /// The timeline of a kind; `None` if the presentation has no tracks of it.
    pub fn of(presentation: &Arc<Presentation>, kind: Kind) -> Option<Timeline> {
        let (mut segments, mut bitrates, mut begin) = (Vec::new(), Vec::new(), Duration::ZERO);
        for (period, content) in presentation.periods.iter().enumerate() {
            let track = content.tracks.iter().find(|track| track.kind == kind)?;
            let mut start = begin;
            for (number, duration) in track.durations.iter().copied().enumerate() {
                segments.push(Segment { start, duration, period, number });
                start += duration;
            }
            bitrates.push(track.representations.iter().map(|one| one.bitrate).collect());
            let lengths = content
                .tracks
                .iter()
                .map(|track| track.durations.iter().fold(Duration::ZERO, |sum, one| sum + *one));
            begin += lengths.max().unwrap_or(Duration::ZERO);
        }
        Some(Timeline { presentation: Arc::clone(presentation), kind, segments, bitrates })
    }

    /// What the tracks are.
    pub fn kind(&self) -> Kind {
        self.kind
    }
    /// The place of a segment.
    pub fn segment(&self, segment: usize) -> Segment {
        self.segments[segment]
    }
    /// The end of the last segment.
    pub fn end(&self) -> Duration {
        self.segments.last().map_or(Duration::ZERO, Segment::end)
    }
    /// The duration of the longest segment.
    pub fn longest(&self) -> Duration {
        self.segments.iter().map(|segment| segment.duration).max().unwrap_or(Duration::ZERO)
    }
    /// The segment that is played at a position; the number of segments after the end.
    pub fn at(&self, position: Duration) -> usize {
        self.segments.partition_point(|segment| segment.end() <= position)
    }
    /// A representation of a segment's period.
    pub fn representation(&self, segment: usize, representation: usize) -> &Representation {
        let period = &self.presentation.periods[self.segments[segment].period];
        // `of` found a track of this kind in every period.
        let track = period.tracks.iter().find(|track| track.kind == self.kind).unwrap_or(&period.tracks[0]);
        &track.representations[representation]
    }
}

impl Line for Timeline {
    fn segments(&self) -> usize {
        self.segments.len()
    }
    fn duration(&self, segment: usize) -> Duration {
        self.segments[segment].duration
    }
    fn bitrates(&self, segment: usize) -> &[Rate] {
        &self.bitrates[self.segments[segment].period]
    }
    fn size(&self, segment: usize, representation: usize) -> u64 {
        self.representation(segment, representation).sizes[self.segments[segment].number]
    }
}
