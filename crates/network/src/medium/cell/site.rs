//! A site of a cell's network: resource blocks of its own, and the terminals that it serves.

use super::scheduler::{Candidate, Scheduler};
use super::terminal::Terminal;

/// A terminal that has something to send in one direction.
#[derive(Debug, Clone, Copy)]
struct Ready {
    terminal: u16,
    /// The first slot in which it can be served.
    from: u64,
    /// Its rate, as bits of all resource blocks, which holds before slot `until`; 0 if it is out of reach.
    bits: f64,
    until: u64,
}

pub(super) struct Site {
    /// Of the downlink and the uplink.
    pub schedulers: [Box<dyn Scheduler>; 2],
    /// In the order of their numbers.
    ready: [Vec<Ready>; 2],
    /// The terminals that can be served in the slot and direction at hand.
    pub candidates: Vec<Candidate>,
    /// The resource blocks that are left there.
    pub left: u16,
}

impl Site {
    pub(super) fn new(schedulers: [Box<dyn Scheduler>; 2]) -> Site {
        Site { schedulers, ready: [Vec::new(), Vec::new()], candidates: Vec::new(), left: 0 }
    }

    /// Sets from which slot on a terminal can be served in a direction; `None` if it cannot.
    #[inline]
    pub(super) fn set_ready(&mut self, way: usize, terminal: u16, from: Option<u64>) {
        let ready = &mut self.ready[way];
        match (ready.binary_search_by_key(&terminal, |ready| ready.terminal), from) {
            (Ok(at), Some(from)) => ready[at].from = from,
            (Ok(at), None) => {
                ready.remove(at);
            }
            (Err(at), Some(from)) => ready.insert(at, Ready { terminal, from, bits: 0.0, until: 0 }),
            (Err(_), None) => {}
        }
    }

    /// The first slot from `soon` on in which a terminal can be served.
    pub(super) fn next_slot(&self, soon: u64) -> Option<u64> {
        let mut next = None;
        for ready in self.ready.iter().flatten() {
            if ready.from <= soon {
                return Some(soon);
            }
            next = Some(next.map_or(ready.from, |next: u64| next.min(ready.from)));
        }
        next
    }

    /// Finds the terminals that can be served in a slot, and gives them their priorities.
    pub(super) fn rank(&mut self, way: usize, slot: u64, prbs: u16, terminals: &mut [Terminal]) {
        self.candidates.clear();
        for ready in self.ready[way].iter_mut().filter(|ready| ready.from <= slot) {
            if ready.until <= slot {
                let link = &mut terminals[usize::from(ready.terminal)].link;
                let scheme = link.scheme(slot);
                ready.until = link.holds_until();
                let bytes = |mcs| link.standard.block_bytes(mcs, prbs, way == super::UP);
                ready.bits = scheme.map_or(0.0, |mcs| f64::from(8 * bytes(mcs)));
            }
            if ready.bits == 0.0 {
                // Out of reach until the next measurement.
                ready.from = ready.until;
                continue;
            }
            let Ready { terminal, bits, .. } = *ready;
            self.candidates.push(Candidate { terminal, bits, priority: 0.0 });
        }
        self.schedulers[way].rank(slot, &mut self.candidates);
    }

    /// The next terminal to be served in a direction and the resource blocks that it may have; `at` counts those before.
    pub(super) fn select(&mut self, way: usize, at: usize) -> Option<(u16, u16)> {
        let left = self.candidates.len().checked_sub(at).filter(|left| *left > 0)?;
        let share = self.schedulers[way].share(self.left, left).min(self.left);
        if share == 0 {
            return None;
        }
        self.schedulers[way].select(&mut self.candidates, at);
        Some((self.candidates[at].terminal, share))
    }
}
