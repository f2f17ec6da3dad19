//! The segments of a track kind one after the other, over all periods.

use super::{Kind, Part, Presentation, Representation, Track};
use crate::abr::Line;
use std::sync::Arc;
use units::{Duration, Rate};

/// A segment of a track kind, in whatever representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// When it is played, from the beginning of the presentation.
    pub start: Duration,
    /// How long it is played.
    pub duration: Duration,
    /// The period, counted from 0.
    pub period: usize,
    /// The number within the period, counted from 0.
    pub number: usize,
}

impl Segment {
    /// Where it ends.
    pub fn end(&self) -> Duration {
        self.start + self.duration
    }
}

impl Presentation {
    /// The segments of a track kind over all periods; none if there is no such track. A track that is shorter than its
    /// period leaves a gap before the next one.
    pub fn segments(&self, kind: Kind) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut begin = Duration::ZERO;
        for (period, of) in self.periods.iter().enumerate() {
            let mut start = begin;
            for (number, duration) in
                of.track(kind).map_or(&[][..], |track| &track.durations).iter().enumerate()
            {
                segments.push(Segment { start, duration: *duration, period, number });
                start += *duration;
            }
            begin += of.duration();
        }
        segments
    }
}

/// The segments and representations of a track kind over all periods, as a player sees them. Segments are counted from
/// 0 over the whole presentation; the calls panic on numbers that do not exist.
#[derive(Debug, Clone)]
pub struct TrackLine {
    presentation: Arc<Presentation>,
    kind: Kind,
    /// The place of the track in each period.
    track: usize,
    segments: Vec<Segment>,
    /// The bitrates of each period.
    bitrates: Vec<Vec<Rate>>,
}

impl TrackLine {
    /// The line of a track kind; `None` if the presentation has no such track.
    pub fn new(presentation: Arc<Presentation>, kind: Kind) -> Option<TrackLine> {
        let track = presentation.kinds().position(|known| known == kind)?;
        let bitrates = |track: &Track| track.representations.iter().map(|one| one.bitrate).collect();
        let bitrates = presentation.periods.iter().map(|period| bitrates(&period.tracks[track])).collect();
        let segments = presentation.segments(kind);
        Some(TrackLine { presentation, kind, track, segments, bitrates })
    }

    /// The presentation.
    pub fn presentation(&self) -> &Arc<Presentation> {
        &self.presentation
    }
    /// The kind of the track.
    pub fn kind(&self) -> Kind {
        self.kind
    }
    /// A segment.
    pub fn segment(&self, segment: usize) -> Segment {
        self.segments[segment]
    }
    /// The segment that is played at this time; the one before in a gap, the last one after the end.
    pub fn at(&self, time: Duration) -> usize {
        self.segments.partition_point(|segment| segment.start <= time).saturating_sub(1)
    }
    /// The first segment that ends after this time; the number of segments after the end.
    pub fn first_after(&self, time: Duration) -> usize {
        self.segments.partition_point(|segment| segment.end() <= time)
    }
    /// The end of the last segment.
    pub fn end(&self) -> Duration {
        self.segments.last().map_or(Duration::ZERO, Segment::end)
    }
    /// The duration of the longest segment.
    pub fn longest(&self) -> Duration {
        self.segments.iter().map(|segment| segment.duration).max().unwrap_or(Duration::ZERO)
    }
    /// The representations that a segment has.
    pub fn representations(&self, segment: usize) -> &[Representation] {
        &self.presentation.periods[self.segments[segment].period].tracks[self.track].representations
    }
    /// A segment in a representation.
    pub fn part(&self, segment: usize, representation: usize) -> Part {
        let Segment { period, number, .. } = self.segments[segment];
        Part { period, kind: self.kind, representation, segment: Some(number) }
    }
    /// The initialization segment that a player needs before this segment in this representation; `None` if there is
    /// none to ask for.
    pub fn initialization(&self, segment: usize, representation: usize) -> Option<Part> {
        let part = Part { segment: None, ..self.part(segment, representation) };
        self.presentation.bytes_of(&part).map(|_| part)
    }
}

impl Line for TrackLine {
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
        self.representations(segment)[representation].sizes[self.segments[segment].number]
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::presentation;
    use super::*;

    fn line(kind: Kind) -> TrackLine {
        let mut presentation = presentation();
        let second = &mut presentation.periods[1].tracks[0].representations;
        second.pop();
        second[0].sizes[1] = 7;
        second[0].initialization = 800;
        TrackLine::new(Arc::new(presentation), kind).unwrap()
    }

    #[test]
    fn a_period_begins_after_the_longest_track_of_the_one_before() {
        let starts = |kind| {
            let segments = presentation().segments(kind);
            let of = |one: &Segment| (one.start.as_millis() / 1000, one.period, one.number);
            segments.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(starts(Kind::Video), [(0, 0, 0), (2, 0, 1), (4, 0, 2), (6, 1, 0), (8, 1, 1)]);
        assert_eq!(starts(Kind::Audio), [(0, 0, 0), (2, 0, 1), (6, 1, 0), (8, 1, 1), (10, 1, 2)]);
        assert_eq!(presentation().duration(), Duration::from_secs(12));
    }

    #[test]
    fn a_line_has_the_sizes_of_the_period() {
        let line = line(Kind::Video);
        assert_eq!((line.segments(), line.duration(4)), (5, Duration::from_secs(2)));
        assert_eq!((line.bitrates(2).len(), line.bitrates(3).len()), (2, 1));
        assert_eq!((line.size(4, 0), line.size(1, 1)), (7, 1_000));
        assert_eq!(line.part(4, 0).to_string(), "/2/video/1/2.m4s");
        assert_eq!(line.initialization(4, 0).unwrap().to_string(), "/2/video/1/init.mp4");
        assert_eq!(line.initialization(0, 0), None);
    }

    #[test]
    fn a_time_has_its_segment() {
        let line = line(Kind::Audio);
        // The audio of the first period ends at 4 s, its video at 6 s.
        for (second, segment) in [(0, 0), (1, 0), (2, 1), (5, 1), (6, 2), (11, 4), (100, 4)] {
            assert_eq!(line.at(Duration::from_secs(second)), segment, "{second}");
        }
    }

    #[test]
    fn a_kind_without_a_track_has_no_line() {
        let mut silent = presentation();
        silent.periods.iter_mut().for_each(|period| period.tracks.truncate(1));
        assert!(TrackLine::new(Arc::new(silent.clone()), Kind::Audio).is_none());
        assert_eq!(silent.segments(Kind::Audio), []);
    }
}
