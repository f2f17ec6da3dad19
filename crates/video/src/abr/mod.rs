//! Rate adaptation: which representation is asked for next. One file each.
//!
//! To add an algorithm, write its file and add its line to [`ABRS`]. Algorithms only see a [`View`]: no clock, no network, no
//! random numbers.

mod abandonment;
mod bba;
mod bola;
mod dynamic;
mod estimate;
mod fixed;
mod insufficient_buffer;
mod levels;
mod mpc;
mod search;
#[cfg(test)]
mod testing;
mod throughput;

pub use bba::Bba;
pub use bola::Bola;
pub use dynamic::Dynamic;
pub use fixed::Fixed;
pub use mpc::Mpc;
pub use throughput::Throughput;
pub use units::plugged::PlugError;

use units::parameter::{Arguments, OptionError, Options, Room, Row};
use units::plugged::Plugged;
use units::{Duration, Rate, Time};

/// The constructor of an algorithm.
pub type Build = &'static (dyn Fn(&Arguments) -> Box<dyn Abr> + Send + Sync);

/// The algorithms.
pub static ABRS: &[Row<Build>] = &[fixed::ROW, throughput::ROW, bba::ROW, bola::ROW, dynamic::ROW, mpc::ROW];

/// The algorithms added by the program.
static PLUGGED: Plugged<Build> = Plugged::none();

/// Adds an algorithm from outside of this crate. Scenarios can then use its name like any other. It replaces an earlier
/// one of the same name.
///
/// # Errors
/// See [`PlugError`].
pub fn plug(row: Row<Build>) -> Result<(), PlugError> {
    PLUGGED.add(ABRS, row)
}

/// The table of algorithms for scenarios and `quiclab list`.
pub fn room() -> Room {
    PLUGGED.extend(Room::of("abrs", "rate adaptation of streamed video", ABRS, None)).checked_by(check)
}

/// Builds the algorithm with this name; `None` if there is no such row.
pub fn build(name: &str, arguments: &Arguments) -> Option<Box<dyn Abr>> {
    PLUGGED.find(ABRS, name).map(|row| (row.build)(arguments))
}

/// Refuses two options that say the same thing in different ways. What rows from outside call their options is up to them.
fn check(name: &str, arguments: &Arguments) -> Result<(), OptionError> {
    if name != fixed::ROW.name {
        return Ok(());
    }
    let options = fixed::FixedOptions::of(arguments);
    if options.representation.is_some() && options.bitrate.is_some() {
        let says = "a representation is given as well; expected only one of the two".to_owned();
        return Err(("bitrate", says));
    }
    Ok(())
}

/// The common option of the algorithms that need a download before they can choose.
#[derive(Debug, Clone, Copy, Options)]
struct StartOptions {
    /// while nothing is known of the throughput: the highest representation of at most this bitrate; the lowest if not
    /// set (dash.js: 1 Mbit/s)
    initial_bitrate: Option<Rate>,
}

impl StartOptions {
    fn bitrate(self) -> Rate {
        self.initial_bitrate.unwrap_or(Rate::ZERO)
    }
}

/// The highest representation of at most a rate in bit/s; the lowest if there is none.
fn highest_at_most(bitrates: &[Rate], rate: f64) -> usize {
    bitrates.iter().rposition(|bitrate| bits(*bitrate) <= rate).unwrap_or(0)
}

/// A rate in bit/s.
fn bits(rate: Rate) -> f64 {
    rate.as_bits_per_sec() as f64
}

/// A rate from bit/s.
fn rate_of(bits: f64) -> Rate {
    Rate::from_bits_per_sec(bits.round() as u64)
}

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
    /// The time for which playback has been stalled so far, with the stall that goes on.
    pub stalled: Duration,
    /// The segment to choose for, counted from 0 over the whole presentation.
    pub segment: usize,
    /// The representation of the segment before (after a seek: of the last one that was asked for), if one was asked for.
    pub last: Option<usize>,
    /// The segments of the track.
    pub line: &'a dyn Line,
    /// The complete downloads of the track, the last one at the end: at most [`HISTORY`] of them.
    pub downloads: &'a [Download],
    /// Live: how far playback is behind what is filmed now.
    pub latency: Option<Duration>,
}

impl View<'_> {
    /// The bitrate of the representation of the segment before.
    pub fn last_bitrate(&self) -> Option<Rate> {
        let before = self.line.bitrates(self.segment.saturating_sub(1));
        before.get(self.last?.min(before.len().saturating_sub(1))).copied()
    }

    /// The representation of this segment that continues the last one: the highest of at most its bitrate, or the lowest.
    /// It has another number where a period has another ladder.
    pub fn continued(&self) -> Option<usize> {
        let last = self.last_bitrate()?;
        Some(highest_at_most(self.line.bitrates(self.segment), bits(last)))
    }
}

/// The downloads that are remembered.
pub const HISTORY: usize = 64;

/// The segments of a track over all periods.
pub trait Line: std::fmt::Debug {
    /// The number of segments.
    fn segments(&self) -> usize;
    /// The duration of a segment.
    fn duration(&self, segment: usize) -> Duration;
    /// The bitrates that a segment has, rising; at least one. Segments of different periods may have different ones.
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
    /// The choice for the next segment. Called when the segment has room in the buffer, once for each segment; it may be
    /// called again if the segment was given up.
    fn choose(&mut self, view: &View<'_>) -> Choice;
    /// A download is complete; it is the last one of the view, and its media are in the buffer.
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
