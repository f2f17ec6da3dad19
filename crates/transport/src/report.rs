//! The progress of an application, and its report at the end of a run.

use crate::Tally;
use units::{Duration, Time};

/// The progress of one end of an application: what it has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Whether the application is complete when this end has read everything. False for an end that only sends, or
    /// that reads nothing but requests.
    pub receives: bool,
    /// Application bytes that this end has read.
    pub bytes: u64,
    /// The total number of bytes for it to read, if known.
    pub total: Option<u64>,
    /// When it read the first byte.
    pub first_at: Option<Time>,
    /// When it read the last byte so far.
    pub last_at: Option<Time>,
    /// For an end that [receives](Self::receives): when it had read the last byte. For one that sends: when all was
    /// acknowledged, by the peer or by a proxy before it.
    pub finished_at: Option<Time>,
}

impl Progress {
    /// Adds to the number of bytes that were read.
    pub fn note(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.bytes += bytes;
            self.first_at.get_or_insert(now);
            self.last_at = Some(now);
        }
    }

    /// The progress of both ends together. It is complete when each end that receives has the last byte.
    #[must_use]
    pub fn joined(self, other: Progress) -> Progress {
        match (self.receives, other.receives) {
            (false, true) => other,
            (true, true) => Progress {
                receives: true,
                bytes: self.bytes + other.bytes,
                total: self.total.zip(other.total).map(|(one, other)| one + other),
                first_at: self.first_at.into_iter().chain(other.first_at).min(),
                last_at: self.last_at.max(other.last_at),
                finished_at: self.finished_at.zip(other.finished_at).map(|(one, other)| one.max(other)),
            },
            _ => self,
        }
    }
}

/// The report of one end of an application.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The final progress.
    pub progress: Progress,
    /// The count of messages or requests, if it has any. The two ends know different halves of it.
    pub tally: Option<Tally>,
    /// The loaded objects and pages, if it loads any.
    pub load: Option<Load>,
    /// The playback of a video, if it plays one.
    pub playback: Option<Box<Playback>>,
    /// The applications that share the connection, if there are several, or what the application has measured, by name.
    pub parts: Vec<Part>,
}

/// The playback of a video as its player observed it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Playback {
    /// The downloads, in the order in which they were asked for.
    pub segments: Vec<trace::VideoSegment>,
    /// What changed, in the order of time.
    pub changes: Vec<trace::PlaybackChange>,
    /// Numbers about the whole, by names with the unit at the end.
    pub numbers: Vec<(&'static str, Number)>,
    /// Its books.
    pub books: PlaybackBooks,
}

/// What came of the time and of the media of a playback that is over. A track is that of the picture, or of the sound if there
/// is no picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlaybackBooks {
    /// From when the viewer asked for it to its end.
    pub whole: Duration,
    /// Of that, the time before playback began.
    pub start_up: Duration,
    /// The time while media were played.
    pub playing: Duration,
    /// The time without media in the buffer.
    pub stalled: Duration,
    /// The time without media that never come.
    pub missing: Duration,
    /// The time from seeks to the media there.
    pub seeking: Duration,
    /// The length of all stalls by the events of the playback, which do not tell missing media apart.
    pub stalls: Duration,
    /// The media of the track that were played, by the clock.
    pub played_by_clock: Duration,
    /// The media of the track that were played, by segment.
    pub played_by_segment: Duration,
    /// Whether each moment of the presentation is in a segment of the track.
    pub is_whole: bool,
    /// The media of complete downloads of the track; `None` where a seek, a gap, or a live presentation leaves out some of them.
    pub handed_over: Option<Duration>,
    /// Of these, the media before the position at which playback began.
    pub skipped: Duration,
    /// Of these, the media that were still in the buffer.
    pub buffered: Duration,
}

/// A number of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A count.
    Count(u64),
    /// A measure; `None` if it is undefined.
    Measure(Option<f64>),
}

/// The report of one of the applications that share a connection, or of what an application has measured by a name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    /// The name: `"messages"`, `"bulk"`, `"bulk-2"`.
    pub name: String,
    /// The final progress.
    pub progress: Progress,
    /// The count of messages or requests, if it has any.
    pub tally: Option<Tally>,
}

/// An object as its client observed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectLoad {
    /// The index of the page.
    pub page: usize,
    /// The index within the page.
    pub object: usize,
    /// The connection that carried it, as its program numbers them: 0 for an application with one connection.
    pub connection: usize,
    /// The stream of the request, or of the last one if it was repeated: of HTTP/3 or hq-interop, of HTTP/2, or for HTTP/1.1
    /// the one that stands for the connection.
    pub stream: Option<u64>,
    /// Received bytes of the content.
    pub bytes: u64,
    /// The urgency (RFC 9218 section 4.1).
    pub urgency: u8,
    /// When it could have been requested, apart from limits of the protocol and of the client.
    pub requestable_at: Option<Time>,
    /// When it was requested.
    pub requested_at: Option<Time>,
    /// When the first byte of the response arrived.
    pub first_at: Option<Time>,
    /// When the response was complete.
    pub complete_at: Option<Time>,
}

/// A page as its client observed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLoad {
    /// The number of objects, and how many of them are complete.
    pub objects: (usize, usize),
    /// When the client started to load it.
    pub started_at: Option<Time>,
    /// When the last object was complete, if all are.
    pub complete_at: Option<Time>,
    /// The mean arrival time of its bytes, if all have arrived. Minus the start it is the byte index: the integral over time
    /// of the share of bytes still missing.
    pub mean_byte_at: Option<Time>,
}

/// All objects and pages of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// The objects, page by page.
    pub objects: Vec<ObjectLoad>,
    /// The pages.
    pub pages: Vec<PageLoad>,
}
