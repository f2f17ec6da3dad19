//! One track of a player: its buffer, and the downloads that fill it.

use super::record::{Outcome, SegmentRecord};
use crate::abr::{Abr, Download, HISTORY, Line, Underway, View};
use crate::presentation::{Kind, Segment, TrackLine};
use crate::quality::Played;
use std::collections::{BTreeSet, VecDeque};
use units::{Duration, Rate, Time};

/// What is in the buffer, up to a position, from one representation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub(super) until: Duration,
    pub(super) representation: usize,
    pub(super) bitrate: Rate,
}

/// A segment that was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loaded {
    pub(super) place: Segment,
    pub(super) bitrate: Rate,
    pub(super) lowest: Rate,
}

/// Media of a track that never come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) start: Duration,
    pub(super) end: Duration,
}

/// A download that goes on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fetch {
    /// Its index among the records, by which it is known outside.
    pub(super) id: usize,
    /// The segment; `None` for an initialization segment.
    pub(super) segment: Option<usize>,
    pub(super) representation: usize,
    pub(super) total: u64,
    pub(super) bytes: u64,
    pub(super) asked_at: Time,
    pub(super) first_at: Option<Time>,
}

/// The choice for the next segment, and when it is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) at: Time,
    pub(super) representation: usize,
}

/// What a lane needs to know of its player.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene {
    pub(super) now: Time,
    pub(super) position: Duration,
    pub(super) is_playing: bool,
    pub(super) stalled: Duration,
    pub(super) max_buffer: Duration,
    pub(super) latency: Option<Duration>,
}

/// A track as it is played.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) line: TrackLine,
    pub(super) abr: Box<dyn Abr>,
    /// The segment to ask for next.
    pub(super) next: usize,
    /// The media up to here are in the buffer.
    pub(super) until: Duration,
    pub(super) held: VecDeque<Held>,
    /// The segments that were asked for and are not played to their end.
    loaded: VecDeque<Loaded>,
    pub(super) underway: Option<Fetch>,
    pub(super) plan: Option<Plan>,
    /// The representation of the last segment that was asked for.
    last: Option<usize>,
    /// The periods and representations whose initialization segments are there.
    initialized: BTreeSet<(usize, usize)>,
    downloads: Vec<Download>,
    /// How often the next segment has failed.
    pub(super) failures: u8,
}

/// The time from one position to another; zero if it is past.
pub(super) fn ahead(until: Duration, position: Duration) -> Duration {
    Duration::from_nanos(until.as_nanos().saturating_sub(position.as_nanos()))
}

impl Lane {
    pub(super) fn new(line: TrackLine, abr: Box<dyn Abr>) -> Lane {
        Lane {
            line,
            abr,
            next: 0,
            until: Duration::ZERO,
            held: VecDeque::new(),
            loaded: VecDeque::new(),
            underway: None,
            plan: None,
            last: None,
            initialized: BTreeSet::new(),
            downloads: Vec::new(),
            failures: 0,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.line.kind()
    }
    /// The media in the buffer after a position.
    pub(super) fn level(&self, position: Duration) -> Duration {
        ahead(self.until, position)
    }
    /// Whether all media are in the buffer or were played.
    pub(super) fn is_complete(&self) -> bool {
        self.next == self.line.segments() && self.underway.is_none()
    }
    /// The position up to which it can be played: the media in the buffer, and the gap behind them of a track that is shorter
    /// than its period.
    pub(super) fn playable(&self) -> Duration {
        let missing = self.underway.and_then(|fetch| fetch.segment).unwrap_or(self.next);
        let gap_end = (missing < self.line.segments()).then(|| self.line.segment(missing).start);
        gap_end.map_or(self.until, |start| start.max(self.until))
    }
    /// The position at which playback cannot go on; `None` if all media have come.
    pub(super) fn limit(&self) -> Option<Duration> {
        (!self.is_complete()).then(|| self.playable())
    }
    /// The position from which on the next segment has room in the buffer.
    pub(super) fn room_from(&self, max_buffer: Duration) -> Option<Duration> {
        let next = (self.next < self.line.segments()).then(|| self.line.segment(self.next))?;
        Some(ahead(next.end(), max_buffer))
    }

    /// Begins anew at a position, with nothing in the buffer.
    pub(super) fn restart(&mut self, position: Duration) {
        self.next = self.line.first_after(position);
        self.until = position;
        self.held.clear();
        self.loaded.clear();
        self.underway = None;
        self.plan = None;
        self.failures = 0;
    }

    /// Chooses the representation of the next segment.
    pub(super) fn choose(&mut self, scene: &Scene) -> Plan {
        let (view, abr) = self.view(scene, self.next);
        let choice = abr.choose(&view);
        let most = self.line.bitrates(self.next).len() - 1;
        Plan { at: scene.now + choice.wait, representation: choice.representation.min(most) }
    }

    /// What the rate adaptation sees, and the rate adaptation.
    fn view(&mut self, scene: &Scene, segment: usize) -> (View<'_>, &mut dyn Abr) {
        let view = View {
            now: scene.now,
            buffer: ahead(self.until, scene.position),
            max_buffer: scene.max_buffer,
            is_playing: scene.is_playing,
            stalled: scene.stalled,
            segment,
            last: self.last,
            line: &self.line,
            downloads: &self.downloads,
            latency: scene.latency,
        };
        (view, self.abr.as_mut())
    }

    /// The initialization segment that has to come before the next segment, if any: its bytes.
    pub(super) fn missing_initialization(&self, representation: usize) -> Option<u64> {
        let period = self.line.segment(self.next).period;
        let bytes = self.line.representations(self.next)[representation].initialization;
        (bytes > 0 && !self.initialized.contains(&(period, representation))).then_some(bytes)
    }

    /// A download begins. `record` is what is remembered of it.
    pub(super) fn begin(&mut self, id: usize, record: &SegmentRecord) {
        self.underway = Some(Fetch {
            id,
            segment: record.segment,
            representation: record.representation,
            total: record.size,
            bytes: 0,
            asked_at: record.asked_at,
            first_at: None,
        });
        if let Some(segment) = record.segment {
            self.last = Some(record.representation);
            self.next += 1;
            let place = self.line.segment(segment);
            // It may be asked for again, in another representation.
            while self.loaded.back().is_some_and(|loaded| loaded.place.start >= place.start) {
                self.loaded.pop_back();
            }
            let lowest = self.line.bitrates(segment)[0];
            self.loaded.push_back(Loaded { place, bitrate: record.bitrate, lowest });
        }
    }

    /// The media from one position to another were played: adds them to a list of what was, by segment.
    pub(super) fn play(&mut self, [from, to]: [Duration; 2], played: &mut Vec<(Duration, Played)>) {
        while let Some(loaded) = self.loaded.front() {
            let place = loaded.place;
            let span = ahead(to.min(place.end()), from.max(place.start));
            if !span.is_zero() {
                match played.last_mut() {
                    Some((start, last)) if *start == place.start => last.duration += span,
                    _ => {
                        let Loaded { bitrate, lowest, .. } = *loaded;
                        played.push((place.start, Played { bitrate, lowest, duration: span }));
                    }
                }
            }
            if to < place.end() {
                return;
            }
            self.loaded.pop_front();
        }
    }

    /// More of the download came: with chunks, the media in it can be played.
    pub(super) fn extend(&mut self, bytes: u64, chunk: Option<Duration>) {
        let Some(fetch) = &mut self.underway else { return };
        fetch.bytes = bytes;
        let (Some(segment), Some(chunk)) = (fetch.segment, chunk) else { return };
        let (segment, fetch) = (self.line.segment(segment), *fetch);
        // Whole chunks. They have equal parts of the segment's bytes, and each ends at a byte rounded down.
        let chunks = segment.duration.as_nanos().div_ceil(chunk.as_nanos()).max(1);
        let whole = ((u128::from(bytes) + 1) * u128::from(chunks) - 1) / u128::from(fetch.total.max(1));
        let played = segment.duration.scale(chunks.min(whole as u64), chunks);
        self.hold(&fetch, segment.start + played);
    }

    /// The media of a download up to a position are in the buffer.
    fn hold(&mut self, fetch: &Fetch, until: Duration) {
        let Some(segment) = fetch.segment.filter(|_| until > self.until) else { return };
        self.until = until;
        let representation = fetch.representation;
        match self.held.back_mut() {
            Some(last) if last.representation == representation => last.until = until,
            _ => {
                let bitrate = self.line.bitrates(segment)[representation];
                self.held.push_back(Held { until, representation, bitrate });
            }
        }
    }

    /// The download is complete.
    pub(super) fn complete(&mut self, scene: &Scene) {
        let Some(fetch) = self.underway.take() else { return };
        self.failures = 0;
        let Some(number) = fetch.segment else {
            let period = self.line.segment(self.next).period;
            self.initialized.insert((period, fetch.representation));
            return;
        };
        self.hold(&fetch, self.line.segment(number).end());
        let download = Download {
            segment: number,
            representation: fetch.representation,
            bytes: fetch.total,
            asked_at: fetch.asked_at,
            first_at: fetch.first_at.unwrap_or(scene.now),
            last_at: scene.now,
        };
        if self.downloads.len() == HISTORY {
            self.downloads.remove(0);
        }
        self.downloads.push(download);
        let (view, abr) = self.view(scene, number);
        abr.on_download(&view);
    }

    /// The representation for which the rate adaptation gives the download up, if it does.
    pub(super) fn abandon(&mut self, scene: &Scene) -> Option<usize> {
        let fetch = self.underway?;
        let (segment, first_at) = (fetch.segment?, fetch.first_at?);
        let underway = Underway {
            segment,
            representation: fetch.representation,
            bytes: fetch.bytes,
            total: fetch.total,
            asked_at: fetch.asked_at,
            first_at,
        };
        let (view, abr) = self.view(scene, segment);
        abr.abandon(&view, &underway).filter(|lower| *lower < fetch.representation)
    }

    /// The rest of the download never comes. Returns the media that are missing.
    pub(super) fn cut(&mut self) -> Option<Gap> {
        let fetch = self.underway.take()?;
        self.failures = 0;
        let place = self.line.segment(fetch.segment?);
        let gap = Gap { start: self.until.max(place.start), end: place.end() };
        // What is shown next begins behind the gap.
        if let Some(last) = self.held.back_mut() {
            last.until = last.until.max(gap.end);
        }
        (gap.start < gap.end).then_some(gap)
    }

    /// The download is over without all of it, and is asked for again. Media that came in chunks stay in the buffer only until
    /// the segment comes again.
    pub(super) fn give_up(&mut self) {
        let Some(fetch) = self.underway.take() else { return };
        self.plan = None;
        if let Some(segment) = fetch.segment {
            self.next = segment;
        }
    }
}

/// Ends the record of a download.
pub(super) fn end(record: &mut SegmentRecord, now: Time, outcome: Outcome, level: Duration) {
    record.ended_at = Some(now);
    record.outcome = outcome;
    record.buffer_after = Some(level);
}
