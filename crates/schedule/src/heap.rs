//! A heap of ready streams with access to each stream by its slot.

use super::{StreamKey, entry, make_room};

/// The children of a node: four fit in one or two cache lines, and halve the depth of a binary heap.
const CHILDREN: usize = 4;

/// A rank by the first number and then by the second, as a single number for fast comparison.
#[inline]
pub(super) fn rank(first: u64, second: u64) -> u128 {
    u128::from(first) << 64 | u128::from(second)
}

/// A heap of streams that can change a rank and remove any stream, in O(log n) each.
#[derive(Debug)]
pub(super) struct Heap<K> {
    entries: Vec<(K, StreamKey)>,
    /// By slot: the position of the stream in `entries` plus 1, or 0 if it is not in the heap.
    places: Vec<u32>,
}

impl<K> Default for Heap<K> {
    fn default() -> Heap<K> {
        Heap { entries: Vec::new(), places: Vec::new() }
    }
}

impl<K: Ord + Copy> Heap<K> {
    /// The stream with the lowest rank.
    #[inline]
    pub(super) fn first(&self) -> Option<StreamKey> {
        self.entries.first().map(|(_, stream)| *stream)
    }

    /// Whether the heap is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    fn place(&self, stream: StreamKey) -> Option<usize> {
        (*self.places.get(stream.slot as usize)? as usize).checked_sub(1)
    }

    /// The rank of a stream; `None` if it is not in the heap.
    #[inline]
    pub(super) fn rank(&self, stream: StreamKey) -> Option<K> {
        self.place(stream).map(|at| self.entries[at].0)
    }

    /// Inserts a stream unless it is in the heap.
    pub(super) fn join(&mut self, stream: StreamKey, rank: K) {
        let place = entry(&mut self.places, stream.slot);
        if *place != 0 {
            return;
        }
        let at = self.entries.len();
        make_room(&mut self.entries, at);
        self.entries.push((rank, stream));
        *place = self.entries.len() as u32;
        self.rise(self.entries.len() - 1);
    }

    /// Changes the rank of a stream if it is in the heap.
    #[inline]
    pub(super) fn change(&mut self, stream: StreamKey, rank: K) {
        let Some(at) = self.place(stream) else { return };
        let before = std::mem::replace(&mut self.entries[at].0, rank);
        if rank < before {
            self.rise(at);
        } else {
            self.sink(at);
        }
    }

    /// Removes a stream if it is in the heap.
    pub(super) fn leave(&mut self, stream: StreamKey) {
        let Some(at) = self.place(stream) else { return };
        self.places[stream.slot as usize] = 0;
        let (removed, _) = self.entries.swap_remove(at);
        let Some((rank, moved)) = self.entries.get(at).copied() else { return };
        self.places[moved.slot as usize] = at as u32 + 1;
        if rank < removed {
            self.rise(at);
        } else {
            self.sink(at);
        }
    }

    fn rise(&mut self, mut at: usize) {
        let (rank, moving) = self.entries[at];
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if self.entries[parent].0 <= rank {
                break;
            }
            let (above, stream) = self.entries[parent];
            self.put(at, above, stream);
            at = parent;
        }
        self.put(at, rank, moving);
    }

    #[inline]
    fn sink(&mut self, mut at: usize) {
        let (rank, moving) = self.entries[at];
        loop {
            let first = at * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.entries.len());
            let Some(least) = children.min_by_key(|child| self.entries[*child].0) else { break };
            if self.entries[least].0 >= rank {
                break;
            }
            let (below, stream) = self.entries[least];
            self.put(at, below, stream);
            at = least;
        }
        self.put(at, rank, moving);
    }

    #[inline]
    fn put(&mut self, at: usize, rank: K, stream: StreamKey) {
        self.entries[at] = (rank, stream);
        self.places[stream.slot as usize] = at as u32 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use wire::StreamId;

    fn key(slot: u32) -> StreamKey {
        StreamKey { id: StreamId::from_value(u64::from(slot) * 4), slot }
    }

    proptest! {
        /// Compares with a map that is searched.
        #[test]
        fn the_least_rank_is_first(steps in proptest::collection::vec((0u8..3, 0u32..20, 0u64..50), 0..300)) {
            let (mut heap, mut model) = (Heap::default(), BTreeMap::new());
            for (turn, (what, slot, rank)) in steps.into_iter().enumerate() {
                // No two ranks are equal.
                let rank = (rank, turn);
                match what {
                    0 => {
                        heap.join(key(slot), rank);
                        model.entry(slot).or_insert(rank);
                    }
                    1 => {
                        heap.change(key(slot), rank);
                        model.entry(slot).and_modify(|known| *known = rank);
                    }
                    _ => {
                        heap.leave(key(slot));
                        model.remove(&slot);
                    }
                }
                let least = model.iter().min_by_key(|(_, rank)| **rank).map(|(slot, _)| key(*slot));
                prop_assert_eq!(heap.first(), least);
                prop_assert_eq!(heap.rank(key(slot)), model.get(&slot).copied());
                prop_assert_eq!(heap.is_empty(), model.is_empty());
            }
        }
    }
}
