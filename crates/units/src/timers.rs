//! A set of numbered timers that finds the next one due.

use crate::Time;

/// Numbered timers in a tournament tree: each node of a binary tree holds the earlier of its two children. Of timers
/// due at the same instant, the lowest number comes first.
///
/// Setting a timer walks up the tree and stops where nothing changes. There is no search and no removal, and only a
/// number higher than all before allocates. A thousand timers take 16 kB, which stay in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timers {
    /// The root. If there is only one timer, this is all of it, so that its owner touches no other memory.
    first: Time,
    /// The other nodes: the children of `i` are at `2 i` and `2 i + 1`, and the timers themselves start at `leaves`.
    tree: Vec<Time>,
    leaves: usize,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers { first: Time::NEVER, tree: Vec::new(), leaves: 1 }
    }
}

impl Timers {
    /// Creates `count` timers, none of them set.
    pub fn new(count: usize) -> Timers {
        let mut timers = Timers::default();
        if count > 1 {
            timers.grow(count);
        }
        timers
    }

    /// Sets a timer, or clears it with `None` or [`Time::NEVER`].
    #[inline]
    pub fn set(&mut self, number: usize, at: Option<Time>) {
        if number >= self.leaves {
            self.grow(number + 1);
        }
        let mut i = self.leaves + number;
        let mut at = at.unwrap_or(Time::NEVER);
        while i > 1 {
            if self.tree[i] == at {
                return;
            }
            self.tree[i] = at;
            at = at.min(self.tree[i ^ 1]);
            i /= 2;
        }
        self.first = at;
    }

    /// When a timer is due; `None` if it is not set.
    pub fn of(&self, number: usize) -> Option<Time> {
        let leaf =
            if self.leaves == 1 { Some(self.first) } else { self.tree.get(self.leaves + number).copied() };
        leaf.filter(|at| *at != Time::NEVER)
    }

    /// When the next timer is due; `None` if none is set.
    #[inline]
    pub fn at(&self) -> Option<Time> {
        (self.first != Time::NEVER).then_some(self.first)
    }

    /// When the next timer is due, and its number.
    #[inline]
    pub fn next(&self) -> Option<(Time, usize)> {
        let at = self.at()?;
        let mut i = 1;
        while i < self.leaves {
            // To the left if the time comes from there, including when both children have it.
            i = 2 * i + usize::from(self.tree[2 * i] != at);
        }
        Some((at, i - self.leaves))
    }

    /// The numbers of the next timer and of the one after it. If several share the second one's instant, any of them
    /// is returned.
    pub fn next_two(&self) -> (Option<usize>, Option<usize>) {
        let Some((_, first)) = self.next() else { return (None, None) };
        // The runner-up lost to the winner somewhere on the winner's way to the root.
        let mut at = self.leaves + first;
        let mut best = (Time::NEVER, 1);
        while at > 1 {
            best = best.min((self.tree[at ^ 1], at ^ 1));
            at /= 2;
        }
        let (time, mut at) = best;
        while at < self.leaves {
            at = 2 * at + usize::from(self.tree[2 * at] != time);
        }
        (Some(first), (time != Time::NEVER).then(|| at - self.leaves))
    }

    /// Makes room for `count` timers.
    #[cold]
    fn grow(&mut self, count: usize) {
        let known: Vec<Time> = match self.leaves {
            1 => vec![self.first],
            leaves => self.tree[leaves..].to_vec(),
        };
        self.leaves = count.next_power_of_two();
        self.tree = vec![Time::NEVER; 2 * self.leaves];
        for (number, at) in known.into_iter().enumerate() {
            self.set(number, Some(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_then_the_lowest_number() {
        let at = Time::from_nanos;
        let mut timers = Timers::new(5);
        assert_eq!(timers.next(), None);
        timers.set(4, Some(at(10)));
        timers.set(2, Some(at(10)));
        timers.set(0, Some(at(20)));
        assert_eq!(timers.next(), Some((at(10), 2)));
        timers.set(2, Some(at(30)));
        assert_eq!((timers.next(), timers.at()), (Some((at(10), 4)), Some(at(10))));
        timers.set(4, None);
        assert_eq!(timers.next(), Some((at(20), 0)));
        timers.set(0, None);
        timers.set(2, Some(Time::NEVER));
        assert_eq!((timers.next(), timers.at()), (None, None));
    }

    #[test]
    fn a_single_timer_allocates_nothing() {
        let mut timers = Timers::new(1);
        timers.set(0, Some(Time::from_nanos(7)));
        assert_eq!((timers.next(), timers.tree.capacity()), (Some((Time::from_nanos(7), 0)), 0));
        timers.set(0, None);
        assert_eq!(timers.next(), None);
    }

    proptest::proptest! {
        /// Holds whether or not there was room for the timers from the start.
        #[test]
        fn next_is_the_minimum_of_time_and_number(sets: Vec<(usize, Option<u8>)>, count in 1usize..20, room in 0usize..20) {
            let mut timers = Timers::new(room);
            let mut plain = vec![None; count];
            for (number, at) in sets {
                let at = at.map(|ns| Time::from_nanos(u64::from(ns)));
                timers.set(number % count, at);
                plain[number % count] = at;
                let next = plain.iter().enumerate().filter_map(|(i, at)| Some(((*at)?, i))).min();
                proptest::prop_assert_eq!(timers.next(), next);
                proptest::prop_assert_eq!(timers.at(), next.map(|(at, _)| at));
                let others = plain.iter().enumerate().filter(|(i, _)| next.is_some_and(|(_, first)| first != *i));
                let second = others.filter_map(|(_, at)| *at).min();
                let two = timers.next_two();
                proptest::prop_assert_eq!(two.0, next.map(|(_, first)| first));
                proptest::prop_assert_eq!(two.1.map(|number| plain[number]), second.map(Some));
                proptest::prop_assert!(two.0.is_none() || two.0 != two.1);
            }
        }
    }
}
