//! The scheduling of responses by the stream schedulers of [`schedule`], with DATA frames as turns.

use http::Priority;
use schedule::{Head, Scheduler, StreamKey};
use transport::PathView;
use units::Time;
use wire::{Direction, Side, StreamId};

/// An HTTP/2 stream as a QUIC stream id, for schedulers and delayed responses.
pub(super) fn id(stream: u32) -> StreamId {
    StreamId::new(Side::Client, Direction::Bidirectional, stream.into())
}

/// The scheduling state of a stream.
#[derive(Debug)]
pub(super) struct Turn {
    key: StreamKey,
    is_ready: bool,
}

/// A scheduler, and the slots by which it identifies streams.
pub(super) struct Turns {
    scheduler: Box<dyn Scheduler>,
    wants_heads: bool,
    /// Unused slots.
    free: Vec<u32>,
    /// The number of slots: the maximum number of streams that were open at a time.
    slots: u32,
    /// The number of started responses.
    started: u64,
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turns").field("slots", &self.slots).finish()
    }
}

impl Turns {
    pub(super) fn new(scheduler: Box<dyn Scheduler>) -> Turns {
        let wants_heads = scheduler.wants_heads();
        Turns { scheduler, wants_heads, free: Vec::new(), slots: 0, started: 0 }
    }

    /// Registers a new stream.
    pub(super) fn open(&mut self, stream: u32, priority: Priority) -> Turn {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        let turn = Turn { key: StreamKey { id: id(stream), slot }, is_ready: false };
        self.set_priority(&turn, priority);
        turn
    }

    /// Removes a closed stream.
    pub(super) fn close(&mut self, turn: &Turn) {
        if turn.is_ready {
            self.scheduler.on_idle(turn.key);
        }
        self.scheduler.on_closed(turn.key);
        self.free.push(turn.key.slot);
    }

    pub(super) fn set_priority(&mut self, turn: &Turn, Priority { urgency, incremental }: Priority) {
        let priority = transport::Priority { urgency, incremental, ..transport::Priority::default() };
        self.scheduler.on_priority(turn.key, priority);
    }

    /// The application has written a whole response, which now waits to be sent.
    pub(super) fn start(&mut self, now: Time, turn: &Turn) {
        self.started += 1;
        if self.wants_heads {
            self.scheduler.on_head(turn.key, Head { written: now, order: self.started });
        }
    }

    /// Sets whether a stream has data that may be sent.
    pub(super) fn set_ready(&mut self, now: Time, turn: &mut Turn, is_ready: bool) {
        if std::mem::replace(&mut turn.is_ready, is_ready) == is_ready {
            return;
        }
        if is_ready {
            self.scheduler.on_ready(turn.key, now);
        } else {
            self.scheduler.on_idle(turn.key);
        }
    }

    /// The stream whose turn it is has sent a frame with `bytes` bytes.
    pub(super) fn note_sent(&mut self, turn: &Turn, bytes: u64) {
        self.scheduler.on_sent(turn.key, bytes);
    }

    /// The stream whose turn it is.
    pub(super) fn next(&mut self, view: &PathView) -> Option<u32> {
        self.scheduler.next(view).map(|key| key.id.index() as u32)
    }
}
