//! Slots: a clock that counts the idle ones, and backoffs that end at a number of them.
//!
//! The end of a frame is known when it begins, so that no backoff needs a timer: a clock counts from a time that moves on
//! with each frame.

use super::standard::Standard;

/// Counts the slots in which the medium was idle; times in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// Idle slots before `count_from`.
    slots: u64,
    /// From when slots count, if nothing else is heard.
    pub count_from: u64,
    /// When slots were last found to count.
    idle_at: u64,
}

impl Clock {
    /// That of a medium that has been idle.
    pub(super) const IDLE: Clock = Clock { slots: 0, count_from: 0, idle_at: 1 };

    /// Counts the slots up to `now`.
    #[inline]
    pub(super) fn count(&mut self, now: u64, standard: &Standard) {
        if now > self.count_from {
            let gone = (now - self.count_from) / standard.slot;
            self.slots += gone;
            self.count_from += gone * standard.slot;
            self.idle_at = now;
        }
    }
    /// When this number of slots has been idle, if nothing else is heard.
    #[inline]
    pub(super) fn slot(&self, until: u64, standard: &Standard) -> u64 {
        self.count_from + until.saturating_sub(self.slots) * standard.slot
    }
}

/// A backoff, whose slots a clock counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Backoff {
    /// The number of slots at which it ends.
    pub until: u64,
    /// When it was drawn. It is not over before slots have counted since, even if it has none.
    drawn: u64,
}

impl Backoff {
    /// A backoff of this number of slots, from now on.
    pub(super) fn new(slots: u64, now: u64, clock: &Clock) -> Backoff {
        Backoff { until: clock.slots + slots, drawn: now }
    }
    /// Whether a frame that comes at `now` may be sent at once; `None` if that needs a new backoff, since the last one is
    /// over and the medium is not idle.
    pub(super) fn may_send(&self, now: u64, clock: &mut Clock, standard: &Standard) -> Option<bool> {
        clock.count(now, standard);
        match self.until <= clock.slots && self.drawn < clock.idle_at {
            true if now >= clock.count_from => Some(true),
            true => None,
            false => Some(false),
        }
    }
    /// When it ends, if nothing else is heard.
    pub(super) fn end(&self, clock: &Clock, standard: &Standard) -> u64 {
        clock.slot(self.until, standard)
    }
    /// The same backoff counted by another clock, at the time up to which both have counted.
    pub(super) fn counted_by(&self, other: &Clock, clock: &Clock, now: u64) -> Backoff {
        let drawn = if self.drawn < clock.idle_at { 0 } else { now };
        Backoff { until: (other.slots + self.until).saturating_sub(clock.slots), drawn }
    }
}
