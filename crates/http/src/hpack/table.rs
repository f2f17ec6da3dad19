//! The dynamic table (RFC 7541 sections 2.3.2 and 4).

use super::static_table::{self, LENGTH};
use crate::qpack::Field;
use std::borrow::Cow;
use std::collections::VecDeque;

/// The result of a search for a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// This entry is the field.
    Field(u64),
    /// This entry has the same name.
    Name(u64),
    /// No entry has its name.
    Nothing,
}

/// The entries, newest first.
#[derive(Debug)]
pub(super) struct Table {
    entries: VecDeque<Field>,
    size: u64,
    capacity: u64,
}

impl Table {
    pub(super) fn new(capacity: u64) -> Table {
        Table { entries: VecDeque::new(), size: 0, capacity }
    }

    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Section 4.3: evicts entries that no longer fit.
    pub(super) fn set_capacity(&mut self, capacity: u64) {
        self.capacity = capacity;
        self.evict(0);
    }

    fn evict(&mut self, room_for: u64) {
        while self.size + room_for > self.capacity
            && let Some(oldest) = self.entries.pop_back()
        {
            self.size -= oldest.size();
        }
    }

    /// RFC 7541 4.4: "an attempt to add an entry larger than the maximum size causes the table to be emptied of all
    /// existing entries".
    pub(super) fn insert(&mut self, field: Field) {
        let size = field.size();
        self.evict(size);
        if size <= self.capacity {
            self.size += size;
            self.entries.push_front(field);
        }
    }

    /// The size of the field at an index, as counted by [`Field::size`].
    pub(super) fn size_at(&self, index: u64) -> Option<u64> {
        match self.dynamic(index) {
            Some(field) => Some(field.size()),
            // Entries of the static table are borrowed.
            None => self.get(index).map(|field| field.size()),
        }
    }

    fn dynamic(&self, index: u64) -> Option<&Field> {
        let at = index.checked_sub(LENGTH + 1)?;
        usize::try_from(at).ok().and_then(|at| self.entries.get(at))
    }

    /// The field at an index of both tables (section 2.3.3).
    pub(super) fn get(&self, index: u64) -> Option<Field> {
        if let Some((name, value)) = static_table::entry(index) {
            return Some(Field {
                name: Cow::Borrowed(name.as_bytes()),
                value: Cow::Borrowed(value.as_bytes()),
            });
        }
        self.dynamic(index).cloned()
    }

    /// The best entry to refer to for a field.
    pub(super) fn find(&self, field: &Field) -> Found {
        let fixed =
            static_table::entries().map(|(index, name, value)| (index, name.as_bytes(), value.as_bytes()));
        let dynamic =
            (LENGTH + 1..).zip(&self.entries).map(|(index, entry)| (index, &*entry.name, &*entry.value));
        let mut found = Found::Nothing;
        for (index, name, value) in fixed.chain(dynamic) {
            if name == &*field.name {
                if value == &*field.value {
                    return Found::Field(index);
                }
                if found == Found::Nothing {
                    found = Found::Name(index);
                }
            }
        }
        found
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> u64 {
        self.size
    }
}
