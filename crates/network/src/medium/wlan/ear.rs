//! What a station senses of the medium, and when its backoff ends.
//!
//! The end of a frame is known when it begins, so that no backoff needs a timer: an ear counts the slots in which the
//! medium was idle, from a time that moves on with each frame that is heard, and a backoff ends at a number of slots.

use super::NEVER;
use super::standard::Standard;

/// Carrier sense, physical and virtual; times in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ear {
    /// Idle slots before `count_from`.
    slots: u64,
    /// From when slots count, if nothing else is heard.
    count_from: u64,
    /// When slots were last found to count.
    idle_at: u64,
    /// Own frames.
    sending_until: u64,
    /// Frames that are heard, and own ones.
    busy_until: u64,
    /// What frames announced that were received, and the one that is being received.
    announced: u64,
    announcing: u64,
    /// The frame that is being received or was received last: its sender and its start, which is `NEVER` without one.
    frame: (u16, u64),
    /// Whether the last reception failed.
    corrupt: bool,
}

/// A frame as others hear it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard {
    pub from: u16,
    pub start: u64,
    pub end: u64,
    /// Until when it announces the medium as busy, for others than its receiver.
    pub announces: u64,
}

/// No frame.
const NONE: (u16, u64) = (0, NEVER);

impl Ear {
    /// A station on a medium that has been idle.
    pub(super) const IDLE: Ear = Ear {
        slots: 0,
        count_from: 0,
        idle_at: 1,
        sending_until: 0,
        busy_until: 0,
        announced: 0,
        announcing: 0,
        frame: NONE,
        corrupt: false,
    };

    /// Counts the slots up to `now`.
    fn count(&mut self, now: u64, standard: &Standard) {
        if now > self.count_from {
            let gone = (now - self.count_from) / standard.slot;
            self.slots += gone;
            self.count_from += gone * standard.slot;
            self.idle_at = now;
        }
    }

    fn resume(&mut self, standard: &Standard) {
        self.count_from = if self.corrupt {
            (self.busy_until + standard.eifs).max(self.announced + standard.ifs)
        } else {
            self.busy_until.max(self.announced).max(self.announcing) + standard.ifs
        };
    }

    /// Another station begins to send.
    pub(super) fn hear(&mut self, heard: Heard, mine: bool, standard: &Standard) {
        self.count(heard.start, standard);
        if heard.start < self.sending_until {
            self.frame = NONE;
        } else if heard.start < self.busy_until {
            (self.frame, self.corrupt) = (NONE, true);
        } else {
            if !self.corrupt {
                self.announced = self.announced.max(self.announcing);
            }
            self.frame = (heard.from, heard.start);
            self.announcing = if mine { 0 } else { heard.announces };
            self.corrupt = false;
        }
        self.busy_until = self.busy_until.max(heard.end);
        self.resume(standard);
    }

    /// When so many slots have been idle, if nothing else is heard.
    pub(super) fn slot(&self, until: u64, standard: &Standard) -> u64 {
        self.count_from + until.saturating_sub(self.slots) * standard.slot
    }

    /// It sends itself.
    pub(super) fn send(&mut self, now: u64, end: u64, standard: &Standard) {
        self.count(now, standard);
        // It does not hear what begins together with its own frame.
        if !self.corrupt && self.frame.1 != now {
            self.announced = self.announced.max(self.announcing);
        }
        (self.frame, self.announcing, self.corrupt) = (NONE, 0, false);
        self.sending_until = end;
        self.busy_until = self.busy_until.max(end);
        self.resume(standard);
    }

    /// Whether it has received a frame, at its end.
    pub(super) fn has_received(&self, from: u16, start: u64) -> bool {
        self.frame == (from, start) && !self.corrupt
    }
    /// Whether others have announced that they use the medium at `now`.
    pub(super) fn is_announced(&self, now: u64) -> bool {
        self.announced > now
    }
    /// What it was receiving had an error.
    pub(super) fn spoil(&mut self, standard: &Standard) {
        self.corrupt = true;
        self.resume(standard);
    }
    /// It waits for a response that does not come.
    pub(super) fn wait(&mut self, until: u64, standard: &Standard) {
        self.announced = self.announced.max(until);
        self.resume(standard);
    }

    /// Whether it senses the same as another from `now` on, when a frame begins that both hear. What was announced or sent
    /// until now makes no difference any more.
    pub(super) fn agrees(&self, other: &Ear, now: u64) -> bool {
        self.frame == other.frame
            && self.corrupt == other.corrupt
            && self.busy_until == other.busy_until
            && self.announcing == other.announcing
            && self.announced.max(now) == other.announced.max(now)
            && self.sending_until.max(other.sending_until) <= now
    }
}

/// A backoff, whose slots an ear counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Backoff {
    /// The number of slots at which it ends.
    pub until: u64,
    /// When it was drawn. It is not over before slots have counted since, even if it has none.
    drawn: u64,
}

impl Backoff {
    /// A backoff of so many slots, from now on.
    pub(super) fn new(slots: u64, now: u64, ear: &Ear) -> Backoff {
        Backoff { until: ear.slots + slots, drawn: now }
    }
    /// Whether a frame that comes at `now` may be sent at once; `None` if that needs a new backoff, since the last one is
    /// over and the medium is not idle.
    pub(super) fn may_send(&self, now: u64, ear: &mut Ear, standard: &Standard) -> Option<bool> {
        ear.count(now, standard);
        match self.until <= ear.slots && self.drawn < ear.idle_at {
            true if now >= ear.count_from => Some(true),
            true => None,
            false => Some(false),
        }
    }
    /// When it ends, if nothing else is heard.
    pub(super) fn end(&self, ear: &Ear, standard: &Standard) -> u64 {
        ear.slot(self.until, standard)
    }
    /// The same backoff at `now`, counted by another ear that senses the same.
    pub(super) fn counted_by(&self, other: &Ear, ear: &Ear, now: u64) -> Backoff {
        let drawn = if self.drawn < ear.idle_at { 0 } else { now };
        Backoff { until: (other.slots + self.until).saturating_sub(ear.slots), drawn }
    }
}
