//! The places of an endpoint's connections, and the queue of those that are to be looked at.
//!
//! In a simulation an endpoint mostly has one connection, and there are a thousand endpoints. So the first place lies in
//! the endpoint itself, and the queue leads through the places: who has the endpoint at hand has both.

use crate::connection::Connection;
use std::ops::{Index, IndexMut};
use units::Time;

/// The end of the queue.
const NONE: u32 = u32::MAX;

/// The place of a connection.
pub(super) struct Slot {
    pub(super) connection: Option<Box<Connection>>,
    pub(super) generation: u32,
    /// The next in the queue.
    next: u32,
    /// Whether it stands in the queue of those that may have something to send or to tell.
    queued: bool,
    /// Whether it counts as a client's handshake that is not complete.
    pub(super) half_open: bool,
    /// Whether a client opened it, and it counts for the source of that client.
    pub(super) admitted: bool,
    pub(super) wake_at: Option<Time>,
    /// What stands in the index for the reset tokens of its peer, as of the change of this number.
    pub(super) reset_tokens: Vec<u64>,
    pub(super) token_changes: u32,
}

impl Slot {
    fn new(connection: Option<Box<Connection>>) -> Slot {
        Slot {
            connection,
            generation: 0,
            next: NONE,
            queued: false,
            half_open: false,
            admitted: false,
            wake_at: None,
            reset_tokens: Vec::new(),
            token_changes: 0,
        }
    }
}

/// The places by number.
pub(super) struct Slots {
    first: Slot,
    others: Vec<Slot>,
    count: usize,
    /// The first and the last of the queue; the last counts only if there is a first.
    head: u32,
    tail: u32,
}

impl Slots {
    /// None.
    pub(super) fn new() -> Slots {
        Slots { first: Slot::new(None), others: Vec::new(), count: 0, head: NONE, tail: NONE }
    }
    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count
    }
    /// The place of this number, if there is one.
    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&Slot> {
        (number < self.count).then(|| &self[number])
    }
    /// A new place for this connection.
    pub(super) fn push(&mut self, connection: Box<Connection>) {
        match self.count {
            0 => self.first = Slot::new(Some(connection)),
            _ => self.others.push(Slot::new(Some(connection))),
        }
        self.count += 1;
    }

    /// Puts a place at the end of the queue, unless it stands there already.
    #[inline]
    pub(super) fn enqueue(&mut self, number: u32) {
        if std::mem::replace(&mut self[number as usize].queued, true) {
            return;
        }
        self[number as usize].next = NONE;
        match self.head {
            NONE => self.head = number,
            _ => {
                let tail = self.tail as usize;
                self[tail].next = number;
            }
        }
        self.tail = number;
    }
    /// The first in the queue.
    #[inline]
    pub(super) fn front(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }
    /// Takes the first out of the queue.
    #[inline]
    pub(super) fn dequeue(&mut self) -> Option<u32> {
        let number = self.front()?;
        let slot = &mut self[number as usize];
        slot.queued = false;
        self.head = slot.next;
        Some(number)
    }
}

impl Index<usize> for Slots {
    type Output = Slot;
    #[inline]
    fn index(&self, number: usize) -> &Slot {
        if number == 0 { &self.first } else { &self.others[number - 1] }
    }
}
impl IndexMut<usize> for Slots {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut Slot {
        if number == 0 { &mut self.first } else { &mut self.others[number - 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_first_in_first_out_with_each_once() {
        let mut slots = Slots::new();
        slots.others.extend((0..4).map(|_| Slot::new(None)));
        slots.count = 5;
        assert_eq!((slots.front(), slots.dequeue(), slots.get(5).is_none()), (None, None, true));
        for number in [3, 0, 3, 4, 0] {
            slots.enqueue(number);
        }
        assert_eq!((slots.front(), slots.dequeue()), (Some(3), Some(3)));
        slots.enqueue(3);
        slots.enqueue(1);
        let order: Vec<u32> = std::iter::from_fn(|| slots.dequeue()).collect();
        assert_eq!(order, [0, 4, 3, 1]);
        slots.enqueue(0);
        assert_eq!((slots.dequeue(), slots.dequeue()), (Some(0), None));
    }
}
