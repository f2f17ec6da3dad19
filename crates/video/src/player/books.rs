//! The books of a playback: what came of its media.

use super::record::{Media, Outcome, What};
use super::{Player, lane};
use crate::abr::Line as _;
use units::{Duration, Time};

impl Player {
    /// What came of the media of the first track, when playback is over.
    pub fn media(&self) -> Media {
        let Some(lane) = self.lanes.first() else { return Media::default() };
        let segments = || (0..lane.line.segments()).map(|number| lane.line.segment(number));
        let mut reached = Duration::ZERO;
        let mut is_whole = true;
        for segment in segments() {
            is_whole &= segment.start == reached;
            reached = segment.end();
        }
        is_whole &= reached >= self.end;
        let complete = self.segments.iter().filter(|record| {
            record.kind == lane.kind() && record.segment.is_some() && record.outcome == Outcome::Complete
        });
        let handed_over = complete.fold(Duration::ZERO, |sum, record| sum + record.duration);
        let jumps = self.settings.live.is_some()
            || self.events.iter().any(|event| matches!(event.what, What::Seek | What::Gap))
            || self.segments.iter().any(|record| record.outcome == Outcome::Cut);
        let from = self.settings.from.min(self.end);
        let first = segments().find(|segment| segment.end() > from);
        let over_at = self.events.last().map_or(Time::ZERO, |event| event.at);
        Media {
            by_clock: self.media,
            by_segment: self.played.iter().fold(Duration::ZERO, |sum, (_, played)| sum + played.duration),
            is_whole,
            handed_over: (is_whole && !jumps).then_some(handed_over),
            skipped: first.map_or(Duration::ZERO, |segment| lane::ahead(from, segment.start)),
            buffered: lane.level(self.clock.position(over_at)),
        }
    }
}
