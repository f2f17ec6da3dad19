//! What one station senses of the medium, and its backoff.
//!
//! The end of a frame is known when it begins, so that a station's backoff needs no timer of its own: what is left of
//! it counts from a time that moves on with each frame that is heard.

use super::standard::Standard;

/// Carrier sense, physical and virtual, and backoff of a station; times in ns.
#[derive(Debug, Clone, Default)]
pub(super) struct Ear {
    /// Slots that are left of the backoff at `count_from`.
    slots: u32,
    /// Whether the last backoff has ended, so that an idle medium may be used at once.
    over: bool,
    /// From when slots count, if nothing else is heard.
    count_from: u64,
    /// Own frames.
    sending_until: u64,
    /// Frames that are heard, and own ones.
    busy_until: u64,
    /// What frames announced that were received, and the one that is being received.
    announced: u64,
    announcing: u64,
    /// The frame that is being received or was received last: its sender and its start.
    frame: Option<(u16, u64)>,
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

impl Ear {
    /// A station on a medium that has been idle.
    pub(super) fn new() -> Ear {
        Ear { over: true, ..Ear::default() }
    }

    /// Takes the slots that have passed by `now` off the backoff.
    fn count(&mut self, now: u64, standard: &Standard) {
        if now <= self.count_from {
            return;
        }
        let gone = (now - self.count_from) / standard.slot;
        if gone >= u64::from(self.slots) {
            (self.slots, self.over) = (0, true);
        } else {
            self.slots -= gone as u32;
            self.count_from += gone * standard.slot;
        }
    }

    fn resume(&mut self, standard: &Standard) {
        self.count_from = if self.corrupt {
            (self.busy_until + standard.eifs()).max(self.announced + standard.ifs)
        } else {
            self.busy_until.max(self.announced).max(self.announcing) + standard.ifs
        };
    }

    /// Another station begins to send.
    pub(super) fn hear(&mut self, heard: Heard, mine: bool, standard: &Standard) {
        self.count(heard.start, standard);
        if heard.start < self.sending_until {
            self.frame = None;
        } else if heard.start < self.busy_until {
            (self.frame, self.corrupt) = (None, true);
        } else {
            if !self.corrupt {
                self.announced = self.announced.max(self.announcing);
            }
            self.frame = Some((heard.from, heard.start));
            self.announcing = if mine { 0 } else { heard.announces };
            self.corrupt = false;
        }
        self.busy_until = self.busy_until.max(heard.end);
        self.resume(standard);
    }

    /// It sends itself.
    pub(super) fn send(&mut self, now: u64, end: u64, standard: &Standard) {
        self.count(now, standard);
        if !self.corrupt {
            self.announced = self.announced.max(self.announcing);
        }
        (self.frame, self.announcing, self.corrupt) = (None, 0, false);
        self.sending_until = end;
        self.busy_until = self.busy_until.max(end);
        self.resume(standard);
    }

    /// Whether it has received a frame, at its end.
    pub(super) fn has_received(&self, from: u16, start: u64) -> bool {
        self.frame == Some((from, start)) && !self.corrupt
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

    /// Begins a backoff of so many slots.
    pub(super) fn back_off(&mut self, slots: u32) {
        (self.slots, self.over) = (slots, false);
    }
    /// Whether a frame that comes at `now` may be sent at once; `None` if that needs a new backoff.
    pub(super) fn may_send(&mut self, now: u64, standard: &Standard) -> Option<bool> {
        self.count(now, standard);
        match self.over {
            true if now >= self.count_from => Some(true),
            true => None,
            false => Some(false),
        }
    }
    /// When it sends, if nothing else is heard.
    pub(super) fn start(&self, standard: &Standard) -> u64 {
        self.count_from + u64::from(self.slots) * standard.slot
    }
}
