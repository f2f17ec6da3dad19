//! A player: what it asks for, what it has in its buffer, and what it plays.
//!
//! A [`Player`] is told the time and how its downloads go, and says what it asks for and when it wants to be woken. Time
//! and position are exact, in integer nanoseconds.

mod books;
mod clock;
mod jumps;
mod lane;
mod live;
mod record;
#[cfg(test)]
mod tests;

pub use live::{Chunks, Live};
pub use record::{Media, Outcome, PlaybackRecord, SegmentRecord, Spans, What};

use crate::Presentation;
use crate::abr::{Abr, Line};
use crate::presentation::{Kind, TrackLine};
use crate::quality::{Behind, Playback as Viewed, Played, Stall};
use clock::{Clock, UNIT};
use lane::{Gap, Lane, Plan, Scene};
use std::collections::VecDeque;
use std::sync::Arc;
use units::{Duration, Time};

/// How often a segment is asked for again after a failure.
const MAX_FAILURES: u8 = 3;
/// How often the rate of playback of a live presentation is set.
const CATCH_UP_EVERY: Duration = Duration::from_millis(250);

/// The options of a player.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The media in the buffer at which playback begins.
    pub start_up: Duration,
    /// The media in the buffer at which playback goes on after a stall.
    pub resume: Duration,
    /// The limit of the buffer of each track: a segment is asked for when it has room.
    pub max_buffer: Duration,
    /// The position at which playback begins. Live presentations begin at their target latency.
    pub from: Duration,
    /// The position at which playback ends; that of the presentation if it is earlier.
    pub until: Option<Duration>,
    /// Jumps: a time after the start of the player, and a position. By rising times.
    pub seeks: Vec<(Duration, Duration)>,
    /// The presentation is filmed while it is played.
    pub live: Option<Live>,
    /// The urgencies of video and audio (RFC 9218 section 4.1).
    pub urgency: [u8; 2],
}

/// What a player wants of its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A segment is asked for.
    Ask(Ask),
    /// A download is cancelled; nothing more is to be told of it.
    Cancel(usize),
}

/// A segment that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Identifies the download: they are counted from 0.
    pub id: usize,
    /// What it is a part of.
    pub kind: Kind,
    /// The bytes of the segment.
    pub size: u64,
    /// The duration of its media; zero for an initialization segment.
    pub duration: Duration,
    /// The urgency (RFC 9218 section 4.1).
    pub urgency: u8,
    /// The chunks of a segment that is still filmed.
    pub chunks: Option<Chunks>,
}

/// What a player is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It has not begun.
    Idle,
    /// It waits for media to begin with.
    StartUp,
    /// It plays.
    Playing,
    /// Time goes on without the media of a track, which never come.
    Missing,
    /// The buffer ran empty.
    Stalled,
    /// It waits for the media at the position of a seek.
    Seeking,
    /// It is over.
    Over,
}

/// What changes without a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Another representation is played.
    Switch,
    /// The end of what can be played.
    Limit(Duration),
    /// Media that never come begin or end.
    Gap(Duration),
    /// A seek.
    Seek,
}

/// A player of one presentation.
#[derive(Debug)]
pub struct Player {
    settings: Settings,
    /// Video, then audio: those that there are.
    lanes: Vec<Lane>,
    /// Where playback ends.
    end: Duration,
    clock: Clock,
    phase: Phase,
    /// Since when it has been in that phase.
    phase_since: Time,
    seeks: VecDeque<(Time, Duration)>,
    /// The next time to set the rate of playback of a live presentation.
    catch_up_at: Time,
    /// The representation that is played.
    shown: Option<(usize, units::Rate)>,
    cancelled: VecDeque<usize>,
    /// The media ahead that never come, of any track.
    gaps: Vec<Gap>,
    /// Up to when what was played is counted, and the position then.
    counted: (Time, Duration),
    /// What was played, with the starts of the segments.
    played: Vec<(Duration, Played)>,
    behind: Vec<Behind>,
    /// When the viewer asked for it.
    asked_at: Option<Time>,
    segments: Vec<SegmentRecord>,
    events: Vec<PlaybackRecord>,
    spans: Spans,
    /// The media that were played, by the clock.
    media: Duration,
}

impl Player {
    /// Creates a player. Each kind of track has a rate adaptation of its own.
    pub fn new(
        presentation: &Arc<Presentation>,
        mut abr: impl FnMut(Kind) -> Box<dyn Abr>,
        settings: Settings,
    ) -> Player {
        let kinds = [Kind::Video, Kind::Audio].into_iter();
        let lines = kinds.filter_map(|kind| TrackLine::new(Arc::clone(presentation), kind));
        let lanes: Vec<Lane> = lines.map(|line| Lane::new(line.clone(), abr(line.kind()))).collect();
        let longest = lanes.iter().map(|lane| lane.line.end()).max().unwrap_or(Duration::ZERO);
        Player {
            end: settings.until.map_or(longest, |until| until.min(longest)),
            settings,
            lanes,
            clock: Clock::standing(Time::ZERO, Duration::ZERO),
            phase: Phase::Idle,
            phase_since: Time::ZERO,
            seeks: VecDeque::new(),
            catch_up_at: Time::ZERO,
            shown: None,
            cancelled: VecDeque::new(),
            gaps: Vec::new(),
            counted: (Time::ZERO, Duration::ZERO),
            played: Vec::new(),
            behind: Vec::new(),
            asked_at: None,
            segments: Vec::new(),
            events: Vec::new(),
            spans: Spans::default(),
            media: Duration::ZERO,
        }
    }

    /// The downloads so far, in the order in which they were asked for.
    pub fn segments(&self) -> &[SegmentRecord] {
        &self.segments
    }
    /// The events so far.
    pub fn events(&self) -> &[PlaybackRecord] {
        &self.events
    }
    /// When the end was played, if it was.
    pub fn played_out_at(&self) -> Option<Time> {
        let last = self.events.last().filter(|event| event.what == What::End)?;
        (last.position >= self.end).then_some(last.at)
    }
    /// How long after the viewer asked for it the end was played, if it was.
    pub fn played_out_after(&self) -> Option<Duration> {
        Some(self.played_out_at()?.since(self.asked_at?))
    }
    /// Whether it has all that it plays: the end was played, or all media up to the end are there and no seek will make it ask
    /// for more.
    pub fn has_all(&self) -> bool {
        let is_whole = |lane: &Lane| {
            lane.underway.is_none() && (lane.next == lane.line.segments() || lane.playable() >= self.end)
        };
        let asks_no_more = self.seeks.is_empty() && self.lanes.iter().all(is_whole);
        self.phase != Phase::Idle && asks_no_more || self.played_out_at().is_some()
    }
    /// How long it was in each state, up to the last change.
    pub fn spans(&self) -> Spans {
        self.spans
    }
    /// Whether playback is over.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
    /// The position in the media.
    pub fn position(&self, now: Time) -> Duration {
        self.clock.position(now)
    }
    /// The media in the buffer: of the track that has least.
    pub fn buffer(&self, now: Time) -> Duration {
        let position = self.position(now);
        self.lanes
            .iter()
            .map(|lane| {
                // Of a track that is complete, nothing more is to come.
                let until = lane.limit().map_or(self.end, |limit| limit.min(self.end));
                lane::ahead(until, position)
            })
            .min()
            .unwrap_or(Duration::ZERO)
    }

    /// The viewer asks for it: start-up begins, and the times of seeks count from here.
    pub fn open(&mut self, now: Time) {
        if self.asked_at.is_none() {
            self.asked_at = Some(now);
            self.phase_since = now;
            self.counted = (now, Duration::ZERO);
        }
    }

    /// The connection can be used. The first call is also the viewer's, unless [`Player::open`] came before.
    pub fn start(&mut self, now: Time) {
        if self.phase != Phase::Idle {
            return;
        }
        self.open(now);
        let asked_at = self.asked_at.unwrap_or(now);
        let from = match &self.settings.live {
            Some(live) => lane::ahead(live.edge(now), live.target),
            None => self.settings.from,
        };
        self.seeks = self.settings.seeks.iter().map(|(after, to)| (asked_at + *after, *to)).collect();
        self.phase = Phase::StartUp;
        self.go_to(now, from.min(self.end));
        if from >= self.end {
            // A live presentation that is over.
            return self.finish(now);
        }
        self.advance(now);
    }

    /// Everything up to now happens.
    pub fn advance(&mut self, now: Time) {
        while let Some((at, change)) = self.next_change().filter(|(at, _)| *at <= now) {
            match change {
                Change::Switch => self.note_switch(at),
                Change::Limit(position) => {
                    self.clock.arrive(at, position);
                    if position >= self.end {
                        self.finish(at);
                    } else {
                        self.enter(at, Phase::Stalled);
                        self.note(at, What::Stall);
                    }
                }
                Change::Gap(position) => {
                    self.clock.arrive(at, position);
                    self.pass_gaps(at);
                }
                Change::Seek => {
                    let Some((_, to)) = self.seeks.pop_front() else { return };
                    self.seek(at, to);
                }
            }
        }
        self.catch_up(now);
    }

    /// The time of the next change that needs no download, if there is one.
    fn next_change(&self) -> Option<(Time, Change)> {
        if matches!(self.phase, Phase::Idle | Phase::Over) {
            return None;
        }
        let seek = self.seeks.front().map(|(at, _)| (*at, Change::Seek));
        let limits = self.lanes.iter().filter_map(Lane::limit);
        let limit = limits.min().map_or(self.end, |limit| limit.min(self.end));
        let reaches = |position| self.clock.reaches(position).filter(|_| self.is_running());
        let held = &self.lanes[0].held;
        let switch = held.front().filter(|_| held.len() > 1).and_then(|front| reaches(front.until));
        let gap = match self.phase {
            Phase::Missing => self.gaps.iter().map(|gap| gap.end).min(),
            _ => self.gaps.iter().map(|gap| gap.start).min(),
        };
        let changes = [
            seek,
            reaches(limit).map(|at| (at, Change::Limit(limit))),
            switch.map(|at| (at, Change::Switch)),
            gap.and_then(|gap| Some((reaches(gap)?, Change::Gap(gap)))),
        ];
        changes.into_iter().flatten().min()
    }

    /// What it wants now. To be asked until it wants nothing more.
    pub fn poll(&mut self, now: Time) -> Option<Action> {
        if let Some(id) = self.cancelled.pop_front() {
            return Some(Action::Cancel(id));
        }
        if matches!(self.phase, Phase::Idle | Phase::Over) {
            return None;
        }
        (0..self.lanes.len()).find_map(|lane| self.ask(now, lane)).map(Action::Ask)
    }

    /// The time at which it wants to be woken.
    pub fn wake_at(&self) -> Option<Time> {
        if matches!(self.phase, Phase::Idle | Phase::Over) {
            return None;
        }
        let change = self.next_change().map(|(at, _)| at);
        let catch_up = (self.settings.live.is_some() && self.is_running()).then_some(self.catch_up_at);
        let asks = self.lanes.iter().filter_map(|lane| self.ask_at(lane));
        change.into_iter().chain(catch_up).chain(asks).min()
    }

    /// The first byte of a download came.
    pub fn on_first_byte(&mut self, now: Time, id: usize) {
        self.segments[id].first_at = Some(now);
        if let Some(fetch) = self.lane_of(id).and_then(|lane| self.lanes[lane].underway.as_mut()) {
            fetch.first_at = Some(now);
        }
    }

    /// This many bytes of a download have come, of which there are more.
    pub fn on_bytes(&mut self, now: Time, id: usize, bytes: u64) {
        self.count(id, bytes);
        self.advance(now);
        // A seek may have cancelled it.
        let Some(number) = self.lane_of(id) else { return };
        let chunk = self.settings.live.as_ref().and_then(|live| live.chunk);
        self.lanes[number].extend(bytes, chunk);
        let scene = self.scene(now);
        let lower = self.lanes[number].abandon(&scene);
        if let Some(representation) = lower {
            self.lanes[number].give_up();
            self.lanes[number].plan = Some(Plan { at: now, representation });
            self.end_record(now, id, Outcome::Abandoned);
            self.cancelled.push_back(id);
        }
        self.go_on(now);
    }

    /// All of a download has come.
    pub fn on_complete(&mut self, now: Time, id: usize) {
        self.count(id, self.segments[id].size);
        self.advance(now);
        // A seek may have cancelled it.
        let Some(number) = self.lane_of(id) else { return };
        let scene = self.scene(now);
        self.lanes[number].complete(&scene);
        self.end_record(now, id, Outcome::Complete);
        self.go_on(now);
    }

    /// The server has given up a download, the rest of which comes too late.
    pub fn on_cut(&mut self, now: Time, id: usize) {
        self.advance(now);
        let Some(number) = self.lane_of(id) else { return };
        self.gaps.extend(self.lanes[number].cut());
        self.end_record(now, id, Outcome::Cut);
        self.go_on(now);
    }

    /// A download failed. It is asked for again a few times, unless the connection is over.
    pub fn on_failure(&mut self, now: Time, id: usize, is_connected: bool) {
        self.advance(now);
        let Some(number) = self.lane_of(id) else { return };
        let lane = &mut self.lanes[number];
        lane.failures += 1;
        let is_hopeless = !is_connected || lane.failures > MAX_FAILURES;
        lane.give_up();
        self.end_record(now, id, Outcome::Failed);
        if is_hopeless {
            self.finish(now);
        }
    }

    /// The run or the connection is over.
    pub fn stop(&mut self, now: Time) {
        self.advance(now);
        if self.phase != Phase::Over {
            self.finish(now);
        }
    }

    /// Whether time goes on in the media.
    fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Playing | Phase::Missing)
    }

    fn lane_of(&self, id: usize) -> Option<usize> {
        self.lanes.iter().position(|lane| lane.underway.is_some_and(|fetch| fetch.id == id))
    }

    fn scene(&self, now: Time) -> Scene {
        let position = self.clock.position(now);
        let stall = if self.phase == Phase::Stalled { now.since(self.phase_since) } else { Duration::ZERO };
        Scene {
            now,
            position,
            is_playing: self.is_running(),
            stalled: self.spans.stalled + stall,
            max_buffer: self.settings.max_buffer,
            latency: self.settings.live.as_ref().map(|live| live.latency(now, position)),
        }
    }

    /// When a lane could ask for its next segment, if nothing else happens.
    fn ask_at(&self, lane: &Lane) -> Option<Time> {
        if lane.underway.is_some() || lane.next == lane.line.segments() || lane.playable() >= self.end {
            return None;
        }
        let exists = match &self.settings.live {
            Some(live) => live.available_at(&lane.line.segment(lane.next)),
            None => Time::ZERO,
        };
        let room = self.clock.reaches(lane.room_from(self.settings.max_buffer)?)?;
        let planned = lane.plan.map_or(Time::ZERO, |plan| plan.at);
        Some(exists.max(room).max(planned))
    }

    /// Asks for the next segment of a lane, if it is time.
    fn ask(&mut self, now: Time, number: usize) -> Option<Ask> {
        let scene = self.scene(now);
        let lane = &self.lanes[number];
        self.ask_at(lane).filter(|at| *at <= now)?;
        let lane = &mut self.lanes[number];
        let plan = match lane.plan {
            Some(plan) => plan,
            None => lane.choose(&scene),
        };
        lane.plan = Some(plan);
        if plan.at > now {
            return None;
        }
        let (kind, representation, id) = (lane.kind(), plan.representation, self.segments.len());
        let place = lane.line.segment(lane.next);
        let initialization = lane.missing_initialization(representation);
        let size = initialization.unwrap_or_else(|| lane.line.size(lane.next, representation));
        let record = SegmentRecord {
            kind,
            segment: initialization.is_none().then_some(lane.next),
            representation,
            bitrate: lane.line.bitrates(lane.next)[representation],
            duration: if initialization.is_some() { Duration::ZERO } else { place.duration },
            size,
            bytes: 0,
            beside: 0,
            urgency: self.settings.urgency[kind as usize],
            asked_at: now,
            first_at: None,
            ended_at: None,
            buffer_before: lane.level(scene.position),
            buffer_after: None,
            estimate: lane.abr.estimate(),
            outcome: Outcome::Underway,
        };
        lane.begin(id, &record);
        if initialization.is_none() {
            lane.plan = None;
        }
        let live = self.settings.live.as_ref().filter(|_| initialization.is_none());
        let ask = Ask {
            id,
            kind,
            size,
            duration: record.duration,
            urgency: record.urgency,
            chunks: live.and_then(|live| live.chunks(now, &place)),
        };
        self.segments.push(record);
        Some(ask)
    }

    /// Counts bytes of a download, and that they came beside the others.
    fn count(&mut self, id: usize, bytes: u64) {
        let more = bytes.saturating_sub(self.segments[id].bytes);
        self.segments[id].bytes += more;
        for lane in &self.lanes {
            if let Some(other) = lane.underway.filter(|fetch| fetch.id != id) {
                self.segments[other.id].beside += more;
            }
        }
    }

    fn end_record(&mut self, now: Time, id: usize, outcome: Outcome) {
        let kind = self.segments[id].kind;
        let position = self.clock.position(now);
        let level = self.lanes.iter().find(|lane| lane.kind() == kind).map(|lane| lane.level(position));
        lane::end(&mut self.segments[id], now, outcome, level.unwrap_or(Duration::ZERO));
    }

    /// Playback begins or goes on, if there are media enough.
    fn go_on(&mut self, now: Time) {
        let (least, what) = match self.phase {
            Phase::StartUp => (self.settings.start_up, What::Start),
            Phase::Stalled | Phase::Seeking => (self.settings.resume, What::Resume),
            _ => return,
        };
        let buffer = self.buffer(now);
        let left = lane::ahead(self.end, self.clock.position(now));
        // A segment that has no room in the buffer does not come before others are played, and none is wanted after the end.
        let is_full = self.lanes.iter().all(|lane| {
            let room = lane.room_from(self.settings.max_buffer);
            let has_room = room.is_some_and(|from| from <= self.clock.position(now));
            lane.underway.is_none() && (!has_room || lane.playable() >= self.end)
        });
        if buffer < least.min(left) && !is_full || buffer.is_zero() {
            return;
        }
        self.enter(now, Phase::Playing);
        self.show(now);
        self.note(now, what);
    }

    /// Counts what was played since the last time.
    fn count_played(&mut self, now: Time) {
        let (since, from) = self.counted;
        let to = self.clock.position(now);
        self.counted = (now, to);
        let lasted = now.since(since);
        if self.phase == Phase::Playing {
            self.media += to - from;
            self.lanes[0].play([from, to], &mut self.played);
        }
        if let Some(live) = self.settings.live.as_ref().filter(|_| !lasted.is_zero())
            && matches!(self.phase, Phase::Playing | Phase::Missing | Phase::Stalled)
        {
            // The latency changes evenly in between.
            let middle = since + lasted.scale(1, 2);
            let latency = live.latency(middle, self.clock.position(middle));
            self.behind.push(Behind { latency, lasted });
        }
    }

    /// The playback as its viewer saw it.
    pub fn viewed(&self) -> Viewed {
        let asked_at = self.asked_at.unwrap_or(Time::ZERO);
        let start = self.events.iter().find(|event| event.what == What::Start);
        let mut stalls: Vec<Stall> = Vec::new();
        let mut stalled_at = None;
        for event in &self.events {
            if matches!(event.what, What::Switch | What::Rate) {
                continue;
            }
            let stands = matches!(event.what, What::Stall | What::Gap);
            // A viewer sees no difference between a gap and a stall that follows it.
            if let Some(start) = stalled_at.filter(|_| !stands) {
                stalls.push(Stall { start, length: event.at.since(start) });
                stalled_at = None;
            } else if stands {
                stalled_at = stalled_at.or(Some(event.at));
            }
        }
        Viewed {
            asked_at,
            start_up: start.map(|event| event.at.since(asked_at)),
            played: self.played.iter().map(|(_, played)| *played).collect(),
            stalls,
            behind: self.behind.clone(),
            end: self.events.last().map_or(asked_at, |event| event.at),
        }
    }

    /// Changes the phase, and the clock with it.
    fn enter(&mut self, now: Time, phase: Phase) {
        self.count_played(now);
        let span = now.since(self.phase_since);
        match self.phase {
            Phase::Idle | Phase::StartUp => self.spans.start_up += span,
            Phase::Playing => self.spans.played += span,
            Phase::Missing => self.spans.missing += span,
            Phase::Stalled => self.spans.stalled += span,
            Phase::Seeking => self.spans.seeking += span,
            Phase::Over => {}
        }
        let was_running = self.is_running();
        (self.phase, self.phase_since) = (phase, now);
        match (was_running, self.is_running()) {
            // Through a gap playback keeps its rate. What is late is due from now on.
            (true, true) => return self.clock.set_rate(now, self.clock.rate()),
            (_, true) => self.clock.set_rate(now, UNIT),
            (_, false) => self.clock.set_rate(now, 0),
        }
        self.catch_up_at = now + CATCH_UP_EVERY;
    }

    fn note(&mut self, now: Time, what: What) {
        let position = self.clock.position(now);
        let event = PlaybackRecord {
            at: now,
            what,
            position,
            buffer: self.buffer(now),
            representation: self.shown.map(|(representation, _)| representation),
            bitrate: self.shown.map(|(_, bitrate)| bitrate),
            rate: self.clock.rate(),
            latency: self.settings.live.as_ref().map(|live| live.latency(now, position)),
        };
        self.events.push(event);
    }

    /// Shows what is in the buffer at the position.
    fn show(&mut self, now: Time) {
        let (held, position) = (&mut self.lanes[0].held, self.clock.position(now));
        while held.len() > 1 && held.front().is_some_and(|front| front.until <= position) {
            held.pop_front();
        }
        self.shown = held.front().map(|held| (held.representation, held.bitrate));
    }

    /// Playback has come to the next representation in the buffer.
    fn note_switch(&mut self, at: Time) {
        let before = self.shown;
        self.show(at);
        if before != self.shown {
            self.note(at, What::Switch);
        }
    }

    fn finish(&mut self, now: Time) {
        self.open(now);
        self.enter(now, Phase::Over);
        self.note(now, What::End);
        for number in 0..self.lanes.len() {
            if let Some(fetch) = self.lanes[number].underway.take() {
                // What has not come is still missing: see [`Player::has_all`].
                let lane = &mut self.lanes[number];
                lane.next = fetch.segment.unwrap_or(lane.next);
                self.end_record(now, fetch.id, Outcome::Cancelled);
                self.cancelled.push_back(fetch.id);
            }
        }
    }
}
