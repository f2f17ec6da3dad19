//! What peers have presented once, so that nothing is accepted twice.

use std::collections::BTreeSet;

/// The used ones among the things that a sender has issued for one use each: tokens of NEW_TOKEN frames, capacities in
/// BDP_FRAMEs.
///
/// The memory is bounded: once it drops the oldest one, it refuses all that are as old or older.
#[derive(Debug, Default)]
pub struct Spent {
    /// (date of issue, hash).
    used: BTreeSet<(u64, u64)>,
    /// What was issued at or before this date is refused.
    floor: Option<u64>,
}

impl Spent {
    /// The maximum number that is remembered.
    pub const LIMIT: usize = 4096;

    /// The number that is remembered.
    pub fn len(&self) -> usize {
        self.used.len()
    }
    /// Whether none is remembered.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// Forgets what was used, and accepts nothing that was issued up to this date in milliseconds since 1970.
    pub fn clear(&mut self, date_ms: u64) {
        self.used.clear();
        self.floor = self.floor.max(Some(date_ms));
    }

    /// Whether the one with this date of issue in milliseconds since 1970 and this hash was used, or is too old for that to
    /// be known.
    pub fn is_spent(&self, date_ms: u64, hash: u64) -> bool {
        self.floor.is_some_and(|floor| date_ms <= floor) || self.used.contains(&(date_ms, hash))
    }

    /// Marks one as used. Returns whether it was unused.
    pub fn spend(&mut self, date_ms: u64, hash: u64) -> bool {
        if self.is_spent(date_ms, hash) {
            return false;
        }
        self.used.insert((date_ms, hash));
        if self.used.len() > Spent::LIMIT
            && let Some((oldest, _)) = self.used.pop_first()
        {
            self.floor = Some(oldest);
        }
        true
    }
}
