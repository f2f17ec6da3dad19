//! Which response goes on: the stream schedulers of [`schedule`], whose turns are DATA frames here.

use http::Priority;
use schedule::{Head, Scheduler, StreamKey};
use transport::PathView;
use units::Time;
use wire::{Direction, Side, StreamId};

/// A stream of HTTP/2 in the terms of schedulers and of what else keeps streams in their order.
pub(super) fn id(stream: u32) -> StreamId {
    StreamId::new(Side::Client, Direction::Bidirectional, stream.into())
}

/// What a stream keeps of its scheduler.
#[derive(Debug)]
pub(super) struct Turn {
    key: StreamKey,
    is_ready: bool,
}

/// A scheduler, and the small numbers by which it knows streams.
pub(super) struct Turns {
    scheduler: Box<dyn Scheduler>,
    wants_heads: bool,
    /// Numbers that no stream has.
    free: Vec<u32>,
    /// How many there are. No more than streams that were open at a time.
    slots: u32,
    /// Responses that were begun.
    begun: u64,
}

impl std::fmt::Debug for Turns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turns").field("slots", &self.slots).finish()
    }
}

impl Turns {
    pub(super) fn new(scheduler: Box<dyn Scheduler>) -> Turns {
        let wants_heads = scheduler.wants_heads();
        Turns { scheduler, wants_heads, free: Vec::new(), slots: 0, begun: 0 }
    }

    /// A stream was opened.
    pub(super) fn open(&mut self, stream: u32, priority: Priority) -> Turn {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        let turn = Turn { key: StreamKey { id: id(stream), slot }, is_ready: false };
        self.set_priority(&turn, priority);
        turn
    }

    /// A stream is over.
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

    /// All of a response was written by the application, and waits from now on.
    pub(super) fn begin(&mut self, now: Time, turn: &Turn) {
        self.begun += 1;
        if self.wants_heads {
            self.scheduler.on_head(turn.key, Head { written: now, order: self.begun });
        }
    }

    /// Whether a stream has something that may be sent.
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

    /// The stream whose turn it is has sent a frame of so many bytes.
    pub(super) fn note_sent(&mut self, turn: &Turn, bytes: u64) {
        self.scheduler.on_sent(turn.key, bytes);
    }

    /// The stream whose turn it is.
    pub(super) fn next(&mut self, view: &PathView) -> Option<u32> {
        self.scheduler.next(view).map(|key| key.id.index() as u32)
    }
}
