//! The limit on what all streams of a connection keep until it is acknowledged: the send queue of the INET paper, section
//! III. When it is full the application is told to stop, and when it has fallen to a low-water mark to go on.

use crate::config::Config;
use std::collections::BTreeSet;
use wire::StreamId;

/// What is queued, and who waits for room.
#[derive(Debug)]
pub(crate) struct SendQueue {
    limit: u64,
    low: u64,
    /// Bytes that were written, to streams that were not reset, and not acknowledged.
    queued: u64,
    /// Streams whose application was told to stop.
    waiting: BTreeSet<StreamId>,
}

impl SendQueue {
    /// The queue that the options ask for, if they do.
    pub(crate) fn new(config: &Config) -> Option<Box<SendQueue>> {
        let limit = config.send_queue?.as_bytes().max(1);
        let low = config.send_queue_low.map_or(limit, |low| low.as_bytes()).min(limit - 1);
        Some(Box::new(SendQueue { limit, low, queued: 0, waiting: BTreeSet::new() }))
    }

    /// How many bytes it takes.
    pub(crate) fn room(&self) -> u64 {
        self.limit.saturating_sub(self.queued)
    }
    /// So much was written; `all` tells whether it was all that there was.
    pub(crate) fn note_written(&mut self, id: StreamId, length: u64, all: bool) {
        self.queued += length;
        if !all {
            self.waiting.insert(id);
        }
    }
    /// So much is kept no more.
    pub(crate) fn note_released(&mut self, length: u64) {
        self.queued = self.queued.saturating_sub(length);
    }
    /// The next stream whose application is to go on.
    pub(crate) fn next_to_go_on(&mut self) -> Option<StreamId> {
        if self.queued <= self.low { self.waiting.pop_first() } else { None }
    }
}
