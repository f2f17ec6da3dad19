//! Lists of streams that wait for something. Each list contains a stream at most once.

use super::Streams;
use std::collections::VecDeque;
use wire::StreamId;

/// A list of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum List {
    /// Streams whose new data waits for stream credit.
    Blocked = 1,
    /// Streams that wait for connection credit.
    Starved = 2,
    /// Streams that wait for the send allowance of the connection.
    AwaitingAllowance = 4,
}

/// The lists that contain a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lists(u8);

impl Lists {
    /// Whether this list is in the set.
    pub(super) fn has(self, list: List) -> bool {
        self.0 & list as u8 != 0
    }
    /// Adds a list; returns `false` if it was in the set.
    pub(super) fn enter(&mut self, list: List) -> bool {
        let new = !self.has(list);
        self.0 |= list as u8;
        new
    }
    /// Removes a list.
    pub(super) fn leave(&mut self, list: List) {
        self.0 &= !(list as u8);
    }
}

impl Streams {
    fn list(&mut self, list: List) -> &mut VecDeque<StreamId> {
        match list {
            List::Blocked => &mut self.blocked,
            List::Starved => &mut self.starved,
            List::AwaitingAllowance => &mut self.awaiting_allowance,
        }
    }

    /// Appends a stream to a list; returns `false` if it is in there already. Closed streams are removed when they
    /// reach the front, or when they are most of the list, so that its length is bounded however many streams are
    /// opened and aborted.
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
