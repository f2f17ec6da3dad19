//! Sets of integers as ranges: which bytes of a stream, or which packet numbers, have been seen, and who carried them.

/// A set of integers, kept as sorted half-open ranges that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    starts: Vec<i64>,
    ends: Vec<i64>,
}

impl Ranges {
    /// Adds `start..end` and returns the parts of it that were not in the set, in order.
    pub fn add(&mut self, start: i64, end: i64) -> Vec<(i64, i64)> {
        if start >= end {
            return Vec::new();
        }
        // What arrives in order extends the last range.
        match self.ends.last_mut() {
            Some(last) if start == *last => {
                *last = end;
                return vec![(start, end)];
            }
            Some(last) if start < *last => {}
            _ => {
                self.starts.push(start);
                self.ends.push(end);
                return vec![(start, end)];
            }
        }
        let first = self.ends.partition_point(|&at| at < start);
        let last = first + self.starts[first..].partition_point(|&at| at <= end);
        let (mut new, mut at) = (Vec::new(), start);
        for index in first..last {
            if at < self.starts[index] {
                new.push((at, end.min(self.starts[index])));
            }
            at = at.max(self.ends[index]);
        }
        if at < end {
            new.push((at, end));
        }
        let (mut low, mut high) = (start, end);
        if first < last {
            low = low.min(self.starts[first]);
            high = high.max(self.ends[last - 1]);
        }
        self.starts.splice(first..last, [low]);
        self.ends.splice(first..last, [high]);
        new
    }
}

/// A map from half-open ranges to the last owner that was given.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    starts: Vec<i64>,
    ends: Vec<i64>,
    owners: Vec<u32>,
}

impl Owners {
    /// The owner of one integer.
    #[must_use]
    pub fn at(&self, place: i64) -> Option<u32> {
        let index = self.starts.partition_point(|&start| start <= place).checked_sub(1)?;
        (place < self.ends[index]).then(|| self.owners[index])
    }

    /// The parts of `start..end` that have an owner, in order: start, end, owner.
    pub fn pieces(&self, start: i64, end: i64) -> impl Iterator<Item = (i64, i64, u32)> + '_ {
        let first = self.ends.partition_point(|&at| at <= start);
        (first..self.starts.len())
            .take_while(move |&index| self.starts[index] < end)
            .map(move |index| (start.max(self.starts[index]), end.min(self.ends[index]), self.owners[index]))
    }

    /// Gives `start..end` to an owner; returns who had parts of it before, in their order, each once.
    pub fn set(&mut self, start: i64, end: i64, owner: u32) -> Vec<u32> {
        if start >= end {
            return Vec::new();
        }
        if self.ends.last().is_none_or(|&last| start >= last) {
            self.starts.push(start);
            self.ends.push(end);
            self.owners.push(owner);
            return Vec::new();
        }
        let first = self.ends.partition_point(|&at| at <= start);
        let last = first + self.starts[first..].partition_point(|&at| at < end);
        let mut before: Vec<u32> = Vec::new();
        for &known in &self.owners[first..last] {
            if before.last() != Some(&known) && !before.contains(&known) {
                before.push(known);
            }
        }
        let mut pieces = vec![(start, end, owner)];
        if first < last {
            if self.starts[first] < start {
                pieces.insert(0, (self.starts[first], start, self.owners[first]));
            }
            if self.ends[last - 1] > end {
                pieces.push((end, self.ends[last - 1], self.owners[last - 1]));
            }
        }
        self.starts.splice(first..last, pieces.iter().map(|piece| piece.0));
        self.ends.splice(first..last, pieces.iter().map(|piece| piece.1));
        self.owners.splice(first..last, pieces.iter().map(|piece| piece.2));
        before
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_are_a_set(parts in prop::collection::vec((0i64..60, 0i64..13), 0..40)) {
            let (mut ranges, mut known) = (Ranges::default(), BTreeSet::new());
            for (start, length) in parts {
                let added: Vec<i64> = ranges.add(start, start + length).into_iter().flat_map(|(from, to)| from..to).collect();
                let expected: Vec<i64> = (start..start + length).filter(|at| !known.contains(at)).collect();
                prop_assert_eq!(&added, &expected);
                known.extend(added);
                let held: Vec<i64> = ranges.starts.iter().zip(&ranges.ends).flat_map(|(&from, &to)| from..to).collect();
                prop_assert_eq!(held, known.iter().copied().collect::<Vec<_>>());
                prop_assert!(ranges.ends.iter().zip(&ranges.starts[1.min(ranges.starts.len())..]).all(|(end, next)| end < next));
            }
        }

        #[test]
        fn owners_are_a_map(parts in prop::collection::vec((0i64..60, 0i64..13), 0..40)) {
            let (mut owners, mut known) = (Owners::default(), BTreeMap::new());
            for (owner, (start, length)) in (0u32..).zip(parts) {
                let mut before = owners.set(start, start + length, owner);
                before.sort_unstable();
                let expected: BTreeSet<u32> = (start..start + length).filter_map(|at| known.get(&at).copied()).collect();
                prop_assert_eq!(before, expected.into_iter().collect::<Vec<_>>());
                known.extend((start..start + length).map(|at| (at, owner)));
                for at in 0..80 {
                    prop_assert_eq!(owners.at(at), known.get(&at).copied());
                }
            }
            let pieces: BTreeMap<i64, u32> =
                owners.pieces(10, 40).flat_map(|(from, to, owner)| (from..to).map(move |at| (at, owner))).collect();
            let expected: BTreeMap<i64, u32> = known.into_iter().filter(|&(at, _)| (10..40).contains(&at)).collect();
            prop_assert_eq!(pieces, expected);
        }
    }
}
