//! The clock: which element is woken next.

use units::Time;

/// One timer per element, as a tournament: each node of a binary tree holds the earlier of its two children. At one
/// instant the element with the lower index comes first.
///
/// Setting a timer walks up the tree and stops where nothing changes; there is nothing to search and nothing to remove.
#[derive(Debug)]
pub(crate) struct Clock {
    /// `tree[1]` is the root; the elements' own timers start at `leaves`.
    tree: Vec<Time>,
    leaves: usize,
}

impl Clock {
    pub(crate) fn new(elements: usize) -> Clock {
        let leaves = elements.next_power_of_two().max(2);
        Clock { tree: vec![Time::NEVER; 2 * leaves], leaves }
    }

    /// Sets an element's timer; `None`: it sleeps.
    #[inline]
    pub(crate) fn set(&mut self, element: usize, at: Option<Time>) {
        let mut i = self.leaves + element;
        let mut at = at.unwrap_or(Time::NEVER);
        while self.tree[i] != at {
            self.tree[i] = at;
            if i == 1 {
                return;
            }
            at = at.min(self.tree[i ^ 1]);
            i /= 2;
        }
    }

    /// The next timer, if any is set.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, usize)> {
        let at = self.tree[1];
        if at == Time::NEVER {
            return None;
        }
        let mut i = 1;
        while i < self.leaves {
            // To the left if the time comes from there, also if it comes from both.
            i = 2 * i + usize::from(self.tree[2 * i] != at);
        }
        Some((at, i - self.leaves))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_at_one_instant_the_lowest_index() {
        let at = Time::from_nanos;
        let mut clock = Clock::new(5);
        assert_eq!(clock.next(), None);
        clock.set(4, Some(at(10)));
        clock.set(2, Some(at(10)));
        clock.set(0, Some(at(20)));
        assert_eq!(clock.next(), Some((at(10), 2)));
        clock.set(2, Some(at(30)));
        assert_eq!(clock.next(), Some((at(10), 4)));
        clock.set(4, None);
        assert_eq!(clock.next(), Some((at(20), 0)));
        clock.set(0, None);
        clock.set(2, None);
        assert_eq!(clock.next(), None);
    }

    proptest::proptest! {
        #[test]
        fn it_is_the_minimum_of_time_and_index(sets: Vec<(usize, Option<u8>)>, elements in 1usize..20) {
            let mut clock = Clock::new(elements);
            let mut timers = vec![None; elements];
            for (element, at) in sets {
                let at = at.map(|ns| Time::from_nanos(u64::from(ns)));
                clock.set(element % elements, at);
                timers[element % elements] = at;
                let next = timers.iter().enumerate().filter_map(|(i, at)| Some(((*at)?, i))).min();
                proptest::prop_assert_eq!(clock.next(), next);
            }
        }
    }
}
