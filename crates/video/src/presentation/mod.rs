//! What a presentation consists of: periods, tracks, representations, segments.

use units::{Duration, Rate};

/// What is seen or heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Pictures.
    Video,
    /// Sound.
    Audio,
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
