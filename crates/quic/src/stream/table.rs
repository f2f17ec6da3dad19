//! From a stream id to its slot without hashing and without growing with what is over.

use std::collections::VecDeque;

const PAGE: usize = 64;
const NONE: u32 = u32::MAX;

/// The slots of the open streams of one type, by index. A page of 64 streams that are all over takes a pointer.
#[derive(Debug, Default)]
pub(crate) struct Table {
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
    /// Reads a word of its first page.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        self.pages.front().and_then(Option::as_ref).map_or(0, |page| u64::from(page.slots[0]))
    }

    #[inline]
    pub(crate) fn get(&self, index: u64) -> Option<u32> {
        let page = (index / PAGE as u64).checked_sub(self.base)?;
        let slot = self.pages.get(page as usize)?.as_ref()?.slots[index as usize % PAGE];
        (slot != NONE).then_some(slot)
    }

    /// Puts a stream in. Streams are opened in the order of their index, so `index` is at most little past the end.
    pub(crate) fn insert(&mut self, index: u64, slot: u32) {
        let number = index / PAGE as u64;
        if self.pages.is_empty() {
            self.base = number;
        }
        let at = (number - self.base) as usize;
        while self.pages.len() <= at {
            self.pages.push_back(None);
        }
        let page = self.pages[at].get_or_insert_with(|| Box::new(Page { slots: [NONE; PAGE], used: 0 }));
        page.used += u32::from(page.slots[index as usize % PAGE] == NONE);
        page.slots[index as usize % PAGE] = slot;
    }

    pub(crate) fn remove(&mut self, index: u64) {
        let Some(at) = (index / PAGE as u64).checked_sub(self.base) else { return };
        let Some(entry) = self.pages.get_mut(at as usize) else { return };
        if let Some(page) = entry {
            page.used -= u32::from(page.slots[index as usize % PAGE] != NONE);
            page.slots[index as usize % PAGE] = NONE;
            if page.used == 0 {
                *entry = None;
            }
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
