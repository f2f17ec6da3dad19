//! The clock: which element is woken next.

use units::Time;

/// One timer per element, in a tree of which each node holds the earlier of its two children. At one instant the
/// element with the lower index comes first.
#[derive(Debug)]
pub(crate) struct Clock {
    /// `tree[1]` is the root; leaves start at `leaves`. Each entry is (time, element).
    tree: Vec<(Time, u32)>,
    leaves: usize,
}

impl Clock {
    pub(crate) fn new(elements: usize) -> Clock {
        let leaves = elements.next_power_of_two().max(2);
        let mut tree = vec![(Time::NEVER, u32::MAX); 2 * leaves];
        for i in 0..leaves {
            tree[leaves + i] = (Time::NEVER, i as u32);
        }
        for i in (1..leaves).rev() {
            tree[i] = tree[2 * i].min(tree[2 * i + 1]);
        }
        Clock { tree, leaves }
    }

    /// Sets an element's timer; `None`: it sleeps.
    #[inline]
    pub(crate) fn set(&mut self, element: usize, at: Option<Time>) {
        let mut i = self.leaves + element;
        let at = at.unwrap_or(Time::NEVER);
        if self.tree[i].0 == at {
            return;
        }
        self.tree[i].0 = at;
        while i > 1 {
            i /= 2;
            let earlier = self.tree[2 * i].min(self.tree[2 * i + 1]);
            if self.tree[i] == earlier {
                break;
            }
            self.tree[i] = earlier;
        }
    }

    /// The next timer, if any is set.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, usize)> {
        let (at, element) = self.tree[1];
        (at != Time::NEVER).then_some((at, element as usize))
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
}
