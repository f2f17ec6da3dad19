//! What is remembered of a playback: its segments and its events.

use crate::presentation::Kind;
use units::{Duration, Rate, Time};

/// How the download of a segment ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It still goes on.
    Underway,
    /// All of it came.
    Complete,
    /// The rate adaptation gave it up for a lower representation.
    Abandoned,
    /// It was cancelled: playback went on elsewhere, or without the rest of it.
    Cancelled,
    /// The server gave up sending its rest, which came too late.
    Cut,
    /// The connection or the server failed.
    Failed,
}

impl Outcome {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Underway => "underway",
            Outcome::Complete => "complete",
            Outcome::Abandoned => "abandoned",
            Outcome::Cancelled => "cancelled",
            Outcome::Cut => "cut",
            Outcome::Failed => "failed",
        }
    }
}

/// A download of a segment, or of an initialization segment.
#[derive(Debug, Clone, PartialEq)]
pub struct SegmentRecord {
    /// What it is a part of.
    pub kind: Kind,
    /// The segment, counted from 0 over the presentation; `None` for an initialization segment.
    pub segment: Option<usize>,
    /// The representation, counted from 0 by rising bitrate.
    pub representation: usize,
    /// The declared bitrate of the representation.
    pub bitrate: Rate,
    /// The duration of the media in it; zero for an initialization segment.
    pub duration: Duration,
    /// All its bytes.
    pub size: u64,
    /// The bytes that came.
    pub bytes: u64,
    /// The bytes of the player's other downloads that came while it was underway.
    pub beside: u64,
    /// The urgency asked for (RFC 9218 section 4.1).
    pub urgency: u8,
    /// The time at which it was asked for.
    pub asked_at: Time,
    /// The time of its first byte.
    pub first_at: Option<Time>,
    /// The time of its last byte, or of its end without one.
    pub ended_at: Option<Time>,
    /// The media in the buffer of its track when it was asked for.
    pub buffer_before: Duration,
    /// The media in the buffer of its track when it ended.
    pub buffer_after: Option<Duration>,
    /// What the rate adaptation took the throughput for when it was asked for.
    pub estimate: Option<Rate>,
    /// How it ended.
    pub outcome: Outcome,
}

/// What a player did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Playback began.
    Start,
    /// The buffer ran empty.
    Stall,
    /// Playback went on after a stall, a gap or a seek.
    Resume,
    /// Playback jumped: as the scenario asked for, or to catch up with a live presentation.
    Seek,
    /// Playback has come to media that never come: time goes on, and the picture stands.
    Gap,
    /// The picture changed to another representation.
    Switch,
    /// The rate of playback changed.
    Rate,
    /// Playback is over.
    End,
}

impl What {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            What::Start => "start",
            What::Stall => "stall",
            What::Resume => "resume",
            What::Seek => "seek",
            What::Gap => "gap",
            What::Switch => "switch",
            What::Rate => "rate",
            What::End => "end",
        }
    }
}

/// An event of a playback, and the state after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaybackRecord {
    /// The time.
    pub at: Time,
    /// What happened.
    pub what: What,
    /// The position in the media.
    pub position: Duration,
    /// The media in the buffer.
    pub buffer: Duration,
    /// The representation of the picture (of the sound if there is none) that is played, if one is.
    pub representation: Option<usize>,
    /// Its declared bitrate.
    pub bitrate: Option<Rate>,
    /// The rate of playback in millionths; 0 while it stands.
    pub rate: u64,
    /// Live: how far the position is behind what is filmed.
    pub latency: Option<Duration>,
}

/// How long a player was in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spans {
    /// Before playback began.
    pub start_up: Duration,
    /// While media were played.
    pub played: Duration,
    /// While playback stood because the buffer was empty.
    pub stalled: Duration,
    /// While playback went on without a picture or sound, since the media of a track never came.
    pub missing: Duration,
    /// From a seek to the media there.
    pub seeking: Duration,
}

/// The media of a playback's first track: that of the picture, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Media {
    /// What was played, by the clock.
    pub by_clock: Duration,
    /// What was played, by segment.
    pub by_segment: Duration,
    /// Whether each moment of the presentation is in a segment of the track, so that the two are equal.
    pub is_whole: bool,
    /// The media of all complete downloads; `None` where a seek, a gap, or a live presentation leaves out some of them.
    pub handed_over: Option<Duration>,
    /// The media before the position at which playback began, of the segment that it is in.
    pub skipped: Duration,
    /// The media in the buffer.
    pub buffered: Duration,
}
