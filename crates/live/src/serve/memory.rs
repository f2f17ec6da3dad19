//! The memory that connections share: the bytes read from files and not acknowledged.
//!
//! Half of it is divided evenly among the possible connections: each of them may always keep its part. Of the
//! other half a connection may have as much as its own limit allows, but never more than half of the rest.
//! Clients that acknowledge nothing can therefore not stall the others, and all together never exceed the
//! memory.

use super::Limits;
use std::collections::BTreeSet;

/// `K` identifies a connection.
#[derive(Debug)]
pub(super) struct Memory<K> {
    /// The part that each connection may always keep.
    own: u64,
    /// The maximum of one connection beyond its part.
    most_of_shared: u64,
    /// The total beyond the parts.
    shared: u64,
    shared_used: u64,
    /// Connections that exceed their parts.
    sharing: BTreeSet<K>,
    kept: u64,
    /// The maximum so far.
    peak: u64,
}

impl<K: Copy + Ord> Memory<K> {
    pub(super) fn new(limits: &Limits) -> Memory<K> {
        let all = limits.memory.as_bytes();
        let own = all / 2 / limits.places.clients.max(1) as u64;
        let most = limits.memory_of_connection.as_bytes().min(all);
        Memory {
            own: own.min(most),
            most_of_shared: most.saturating_sub(own),
            shared: all / 2,
            shared_used: 0,
            sharing: BTreeSet::new(),
            kept: 0,
            peak: 0,
        }
    }

    fn beyond(&self, kept: u64) -> u64 {
        kept.saturating_sub(self.own)
    }

    /// The number of bytes that a connection may keep if it keeps `kept` bytes now.
    pub(super) fn allowance(&self, kept: u64) -> u64 {
        let used_by_others = self.shared_used - self.beyond(kept);
        self.own + (self.shared.saturating_sub(used_by_others) / 2).min(self.most_of_shared)
    }
    /// Whether other connections reduce the allowance of a connection below its own limit.
    pub(super) fn is_scarce(&self, allowance: u64) -> bool {
        allowance < self.own + self.most_of_shared.min(self.shared / 2)
    }
    /// Notes a change of the bytes kept by a connection.
    pub(super) fn note(&mut self, connection: K, before: u64, after: u64) {
        let (beyond_before, beyond) = (self.beyond(before), self.beyond(after));
        self.shared_used = self.shared_used - beyond_before + beyond;
        if (beyond_before == 0) != (beyond == 0) {
            if beyond == 0 {
                self.sharing.remove(&connection);
            } else {
                self.sharing.insert(connection);
            }
        }
        self.kept = self.kept - before + after;
        self.peak = self.peak.max(self.kept);
    }
    /// The connections that use the shared half, as far as is known.
    pub(super) fn sharing(&self) -> &BTreeSet<K> {
        &self.sharing
    }
    /// The bytes kept now, and their maximum so far.
    pub(super) fn kept(&self) -> (u64, u64) {
        (self.kept, self.peak)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Size;

    fn memory(connections: usize, all: u64, each: u64) -> Memory<usize> {
        let (memory, memory_of_connection) = (Size::from_bytes(all), Size::from_bytes(each));
        Memory::new(&Limits { memory, memory_of_connection, ..Limits::of(connections) })
    }

    #[test]
    fn however_greedy_they_are_all_keep_no_more_than_there_is_and_each_gets_its_own() {
        for (connections, all, each) in [(1000, 1_000_000, 100_000), (3, 100, 100), (1, 1000, 10), (10, 7, 7)]
        {
            let mut memory = memory(connections, all, each);
            let own = all / 2 / connections as u64;
            for number in 0..connections {
                let allowance = memory.allowance(0);
                assert!(allowance >= own.min(each) && allowance <= each, "{number}: {allowance}");
                memory.note(number, 0, allowance);
                assert!(memory.kept().0 <= all);
            }
        }
    }

    #[test]
    fn one_alone_has_what_its_own_limit_admits_and_what_is_given_back_is_there_again() {
        let mut memory = memory(100, 1_000_000, 50_000);
        assert_eq!(memory.allowance(0), 50_000);
        assert!(!memory.is_scarce(50_000));
        let mut held = Vec::new();
        while !memory.is_scarce(memory.allowance(0)) {
            memory.note(held.len(), 0, 50_000);
            held.push(50_000);
        }
        assert!(held.len() >= 5, "{}", held.len());
        assert!(memory.sharing().iter().copied().eq(0..held.len()));
        held.iter().enumerate().for_each(|(number, kept)| memory.note(number, *kept, 0));
        assert!(memory.sharing().is_empty());
        assert_eq!((memory.allowance(0), memory.kept().0), (50_000, 0));
        assert!(memory.kept().1 >= 250_000);
    }
}
