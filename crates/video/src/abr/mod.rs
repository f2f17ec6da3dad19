//! Rate adaptation: which representation is asked for next.

use units::{Duration, Rate, Time};

/// What is known when a choice is made. Representations are counted from 0, the one of the lowest bitrate.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The time.
    pub now: Time,
    /// The media in the buffer that are not played yet.
    pub buffer: Duration,
    /// The limit of the buffer: a segment is asked for when it has room.
    pub max_buffer: Duration,
    /// Whether playback has begun and is not interrupted.
    pub is_playing: bool,
    /// The segment to choose for, counted from 0 over the whole presentation.
    pub segment: usize,
    /// The representation of the segment before, if one was asked for.
    pub last: Option<usize>,
    /// The segments of the track.
    pub line: &'a dyn Line,
    /// The complete downloads of the track, the last one at the end: at most [`HISTORY`] of them.
    pub downloads: &'a [Download],
    /// Live: how far playback is behind what is filmed now.
    pub latency: Option<Duration>,
}

/// The downloads that are remembered.
pub const HISTORY: usize = 64;

/// The segments of a track over all periods.
pub trait Line: std::fmt::Debug {
    /// The number of segments.
    fn segments(&self) -> usize;
    /// The duration of a segment.
    fn duration(&self, segment: usize) -> Duration;
    /// The bitrates that a segment has, rising.
    fn bitrates(&self, segment: usize) -> &[Rate];
    /// The bytes of a segment in a representation.
    fn size(&self, segment: usize, representation: usize) -> u64;
}

/// A download of a segment, complete or given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Download {
    /// The segment.
    pub segment: usize,
    /// The representation.
    pub representation: usize,
    /// The bytes that came.
    pub bytes: u64,
    /// When it was asked for.
    pub asked_at: Time,
    /// When the first byte came.
    pub first_at: Time,
    /// When the last byte came.
    pub last_at: Time,
}

/// A download that goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Underway {
    /// The segment.
    pub segment: usize,
    /// The representation.
    pub representation: usize,
    /// The bytes that came so far.
    pub bytes: u64,
    /// All its bytes.
    pub total: u64,
    /// When it was asked for.
    pub asked_at: Time,
    /// When the first byte came.
    pub first_at: Time,
}

/// What to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The representation.
    pub representation: usize,
    /// How long to wait before it is asked for.
    pub wait: Duration,
}

/// Chooses the representation of each segment of a track.
pub trait Abr: std::fmt::Debug {
    /// The choice for the next segment. Called once for each segment, and again if it was given up.
    fn choose(&mut self, view: &View<'_>) -> Choice;
    /// A download is complete; it is the last one of the view.
    fn on_download(&mut self, view: &View<'_>) {
        let _ = view;
    }
    /// More of a download came, which is not complete. Returns the representation, lower than its own, for which it is given up.
    fn abandon(&mut self, view: &View<'_>, underway: &Underway) -> Option<usize> {
        let _ = (view, underway);
        None
    }
    /// Playback goes on elsewhere: the buffer is empty.
    fn on_seek(&mut self) {}
    /// What it takes the throughput for, if it estimates it.
    fn estimate(&self) -> Option<Rate> {
        None
    }
}
