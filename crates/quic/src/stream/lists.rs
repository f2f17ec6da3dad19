//! Lists of streams that wait for something. A stream stands in each of them at most once.

use super::Streams;
use std::collections::VecDeque;
use wire::StreamId;

/// A list of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum List {
    /// Of those whose new data waited for credit of their own.
    Blocked = 1,
    /// Of those that wait for credit of the connection.
    Starved = 2,
    /// Of those that wait for room because of what all streams keep.
    Short = 4,
}

/// The lists that a stream stands in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lists(u8);

impl Lists {
    /// Whether this list is among them.
    pub(super) fn has(self, list: List) -> bool {
        self.0 & list as u8 != 0
    }
    /// Adds a list; `false` if it was among them.
    pub(super) fn enter(&mut self, list: List) -> bool {
        let new = !self.has(list);
        self.0 |= list as u8;
        new
    }
    /// Takes a list away.
    pub(super) fn leave(&mut self, list: List) {
        self.0 &= !(list as u8);
    }
}

impl Streams {
    fn list(&mut self, list: List) -> &mut VecDeque<StreamId> {
        match list {
            List::Blocked => &mut self.blocked,
            List::Starved => &mut self.starved,
            List::Short => &mut self.short,
        }
    }

    /// Puts a stream at the end of a list; `false` if it stands in it already. Streams that are over leave a list when they
    /// come to its front, or when most of it are such streams: however many are opened and given up, it has a bound.
    pub(super) fn enlist(&mut self, id: StreamId, list: List) -> bool {
        let new = self.send_half(id).is_some_and(|half| half.lists.enter(list));
        if new {
            self.list(list).push_back(id);
            let open = self.open_count();
            if self.list(list).len() > 2 * open + 16 {
                let mut ids = std::mem::take(self.list(list));
                ids.retain(|id| self.send_half(*id).is_some_and(|half| half.lists.has(list)));
                *self.list(list) = ids;
            }
        }
        new
    }
}
