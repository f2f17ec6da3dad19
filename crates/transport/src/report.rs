//! How far an application is, and what became of it.

use crate::Tally;
use units::Time;

/// How far an application is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Application bytes that came to their reader, at this end; for an upload, those that were acknowledged.
    pub bytes: u64,
    /// How many there will be, where that is known.
    pub total: Option<u64>,
    /// When the first of them came.
    pub first_at: Option<Time>,
    /// When the last of them came.
    pub last_at: Option<Time>,
    /// When the application had all that it wanted.
    pub finished_at: Option<Time>,
}

/// What became of one end of an application, at the end of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// How far it came.
    pub progress: Progress,
    /// What it has counted of what it begins and waits for, if it counts anything. The two ends know different halves of it.
    pub tally: Option<Tally>,
    /// What became of the objects that it loads, if it loads any.
    pub load: Option<Load>,
    /// The applications that share its connection, if it is made of several.
    pub parts: Vec<Part>,
}

/// What became of one of the applications that share a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name among them: `"messages"`, `"bulk"`, `"bulk-2"`.
    pub name: String,
    /// How far it came.
    pub progress: Progress,
    /// What it has counted.
    pub tally: Option<Tally>,
}

/// An object as its client saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectLoad {
    /// The page that it is of, from 0 on.
    pub page: usize,
    /// Its place in the page, from 0 on.
    pub object: usize,
    /// The stream of the protocol that it was asked for on, the last one if it was asked for again: that of HTTP/3 or
    /// hq-interop, that of HTTP/2, under HTTP/1.1 that of the connection.
    pub stream: Option<u64>,
    /// Bytes of its content that came.
    pub bytes: u64,
    /// Its urgency (RFC 9218 section 4.1).
    pub urgency: u8,
    /// When it could have been asked for, but for limits of the protocol or of the client.
    pub wanted_at: Option<Time>,
    /// When it was asked for.
    pub asked_at: Option<Time>,
    /// When the response began to come.
    pub first_at: Option<Time>,
    /// When all of it had come.
    pub complete_at: Option<Time>,
}

/// A page as its client saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLoad {
    /// Its objects, and how many of them are complete.
    pub objects: (usize, usize),
    /// When it began.
    pub begun_at: Option<Time>,
    /// When its last object was complete, if all are.
    pub complete_at: Option<Time>,
    /// The mean over its bytes of the time at which they came, if all did: less the beginning it is the byte index, the
    /// integral over time of the share of the bytes that are still to come.
    pub mean_byte_at: Option<Time>,
}

/// What became of all objects and pages of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Load {
    /// The objects, page by page.
    pub objects: Vec<ObjectLoad>,
    /// The pages.
    pub pages: Vec<PageLoad>,
}
