//! Maps stream ids to slots, without hashing and without growing with closed streams.

use std::collections::VecDeque;
use wire::StreamId;

const PAGE: usize = 64;
const NONE: u32 = u32::MAX;

/// The slots of all open streams.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The last result: a packet looks the same stream up several times, and the next packet usually again. This
    /// saves two cache misses if the connection is not in the processor's cache.
    last: Option<(StreamId, u32)>,
    /// The tables by the two low bits of the stream id.
    tables: [Table; 4],
}

impl Index {
    #[inline]
    pub(super) fn get(&mut self, id: StreamId) -> Option<u32> {
        match self.last {
            Some((last, slot)) if last == id => Some(slot),
            _ => self.find(id),
        }
    }

    fn find(&mut self, id: StreamId) -> Option<u32> {
        let slot = self.tables[(id.value() & 3) as usize].get(id.index())?;
        self.last = Some((id, slot));
        Some(slot)
    }

    pub(super) fn contains(&self, id: StreamId) -> bool {
        self.tables[(id.value() & 3) as usize].get(id.index()).is_some()
    }

    /// The number of streams.
    pub(super) fn len(&self) -> usize {
        let pages = self.tables.iter().flat_map(|table| table.pages.iter().flatten());
        pages.map(|page| page.used as usize).sum()
    }

    /// Adds a stream. Streams of one type are added in ascending order.
    pub(super) fn insert(&mut self, id: StreamId, slot: u32) {
        self.tables[(id.value() & 3) as usize].insert(id.index(), slot);
    }

    pub(super) fn remove(&mut self, id: StreamId) {
        self.last = None;
        self.tables[(id.value() & 3) as usize].remove(id.index());
    }
}

/// The slots of the open streams of one type, by index. A page of 64 closed streams takes only a pointer.
#[derive(Debug, Default)]
struct Table {
    /// The index of the first stream of the first page, in pages.
    base: u64,
    pages: VecDeque<Option<Box<Page>>>,
}

#[derive(Debug)]
struct Page {
    slots: [u32; PAGE],
    used: u32,
}

impl Table {
    fn get(&self, index: u64) -> Option<u32> {
        let page = (index / PAGE as u64).checked_sub(self.base)?;
        let slot = self.pages.get(page as usize)?.as_ref()?.slots[index as usize % PAGE];
        (slot != NONE).then_some(slot)
    }

    /// Adds a stream. Streams are opened in the order of their index, so `index` is at most slightly beyond the end.
    fn insert(&mut self, index: u64, slot: u32) {
        let number = index / PAGE as u64;
        if self.pages.is_empty() {
            self.base = number;
        }
        let at = (number - self.base) as usize;
        while self.pages.len() <= at {
            self.pages.push_back(None);
        }
        let page = self.pages[at].get_or_insert_with(|| Box::new(Page { slots: [NONE; PAGE], used: 0 }));
        let before = std::mem::replace(&mut page.slots[index as usize % PAGE], slot);
        assert!(before == NONE, "the ID of a stream is used once");
        page.used += 1;
    }

    fn remove(&mut self, index: u64) {
        let at = (index / PAGE as u64).checked_sub(self.base).expect("only an open stream is removed");
        let entry = &mut self.pages[at as usize];
        let page = entry.as_mut().expect("the page of an open stream is there");
        let before = std::mem::replace(&mut page.slots[index as usize % PAGE], NONE);
        assert!(before != NONE, "an open stream is removed once");
        page.used -= 1;
        if page.used == 0 {
            *entry = None;
        }
        while let Some(None) = self.pages.front() {
            self.pages.pop_front();
            self.base += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_result_is_forgotten_with_its_stream() {
        let (mut index, id) = (Index::default(), StreamId::from_value);
        index.insert(id(0), 3);
        index.insert(id(1), 4);
        assert_eq!((index.get(id(0)), index.get(id(0)), index.get(id(1))), (Some(3), Some(3), Some(4)));
        index.remove(id(1));
        assert_eq!((index.get(id(1)), index.contains(id(1)), index.contains(id(0))), (None, false, true));
        index.insert(id(4), 4);
        assert_eq!((index.get(id(1)), index.get(id(4)), index.get(id(0))), (None, Some(4), Some(3)));
    }

    #[test]
    fn long_lived_and_short_lived_streams() {
        let mut table = Table::default();
        table.insert(0, 7);
        for index in 1..100_000 {
            table.insert(index, 1);
            assert_eq!(table.get(index), Some(1));
            table.remove(index);
            assert_eq!(table.get(index), None);
        }
        assert_eq!(table.get(0), Some(7));
        table.remove(0);
        assert!(table.pages.len() <= 1);
        table.insert(100_000, 3);
        assert_eq!((table.get(100_000), table.get(5)), (Some(3), None));
    }
}
