//! What a station senses of the medium, where not all hear each other.

use super::NEVER;
use super::clock::Clock;
use super::standard::Standard;

/// Carrier sense, physical and virtual; times in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ear {
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
    pub(super) const IDLE: Ear =
        Ear { sending_until: 0, busy_until: 0, announced: 0, announcing: 0, frame: NONE, corrupt: false };

    /// From when the slots of its clock count.
    fn count_from(&self, standard: &Standard) -> u64 {
        if self.corrupt {
            (self.busy_until + standard.eifs).max(self.announced + standard.ifs)
        } else {
            self.busy_until.max(self.announced).max(self.announcing) + standard.ifs
        }
    }

    /// Another station begins to send.
    pub(super) fn hear(&mut self, clock: &mut Clock, heard: Heard, mine: bool, standard: &Standard) {
        clock.count(heard.start, standard);
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
        clock.count_from = self.count_from(standard);
    }

    /// It sends itself.
    pub(super) fn send(&mut self, clock: &mut Clock, start: u64, end: u64, standard: &Standard) {
        clock.count(start, standard);
        // It does not hear what begins together with its own frame, or too shortly before it to be sensed.
        let is_unheard = self.frame.1 <= start && start - self.frame.1 < standard.sense;
        if !self.corrupt && !is_unheard {
            self.announced = self.announced.max(self.announcing);
        }
        (self.frame, self.announcing, self.corrupt) = (NONE, 0, false);
        self.sending_until = end;
        self.busy_until = self.busy_until.max(end);
        clock.count_from = self.count_from(standard);
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
    pub(super) fn spoil(&mut self, clock: &mut Clock, standard: &Standard) {
        self.corrupt = true;
        clock.count_from = self.count_from(standard);
    }
    /// It waits for a response that does not come.
    pub(super) fn wait(&mut self, clock: &mut Clock, until: u64, standard: &Standard) {
        self.announced = self.announced.max(until);
        clock.count_from = self.count_from(standard);
    }
}
