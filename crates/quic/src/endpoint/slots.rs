//! The slots of an endpoint's connections, and the queue of those that may have something to do.
//!
//! In a simulation most endpoints have one connection, and there may be a thousand endpoints. The first slot is
//! therefore part of the endpoint itself, and the queue is a list through the slots: the cache lines of the endpoint
//! contain both.

use crate::connection::Connection;
use std::ops::{Index, IndexMut};
use units::Time;

/// The end of the queue.
const NONE: u32 = u32::MAX;

/// The slot of a connection.
pub(super) struct Slot {
    pub(super) connection: Option<Box<Connection>>,
    pub(super) generation: u32,
    /// The next slot in the queue.
    next: u32,
    /// Whether it is in the queue of connections that may have datagrams or events.
    queued: bool,
    /// Whether it counts as an accepted connection whose handshake is in progress.
    pub(super) half_open: bool,
    /// Whether it has the place of a client at the door.
    pub(super) admitted: bool,
    pub(super) wake_at: Option<Time>,
    /// The hashes of its peer's reset tokens in the index, as of `token_changes`.
    pub(super) reset_tokens: Vec<u64>,
    pub(super) token_changes: u32,
    /// What its steps since the last [`Connection::check`] have paid for; only counted with debug assertions.
    pub(super) unchecked: usize,
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
            unchecked: 0,
        }
    }
}

/// The slots by number.
pub(super) struct Slots {
    first: Slot,
    others: Vec<Slot>,
    count: usize,
    /// The first and the last slot of the queue; `tail` is only valid if there is a head.
    head: u32,
    tail: u32,
}

impl Slots {
    /// No slots.
    pub(super) fn new() -> Slots {
        Slots { first: Slot::new(None), others: Vec::new(), count: 0, head: NONE, tail: NONE }
    }
    /// The number of slots.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.count
    }
    /// The slot with this number, if there is one.
    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&Slot> {
        (number < self.count).then(|| &self[number])
    }
    /// Adds a slot with this connection.
    pub(super) fn push(&mut self, connection: Box<Connection>) {
        match self.count {
            0 => self.first = Slot::new(Some(connection)),
            _ => self.others.push(Slot::new(Some(connection))),
        }
        self.count += 1;
    }

    /// Appends a slot to the queue, unless it is in there already.
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
    /// All slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> + Clone {
        (0..self.count).map(|number| &self[number])
    }
    /// Stops if the queue has lost a slot, or has one twice.
    pub(super) fn check(&self) {
        let mut length = 0;
        let mut next = self.head;
        while next != NONE {
            let slot = &self[next as usize];
            assert!(slot.queued, "a slot in the queue knows it");
            length += 1;
            assert!(length <= self.count, "a slot is in the queue once");
            next = slot.next;
        }
        assert_eq!(length, self.iter().filter(|slot| slot.queued).count(), "the queue has lost no slot");
    }
    /// The first slot in the queue.
    #[inline]
    pub(super) fn front(&self) -> Option<u32> {
        (self.head != NONE).then_some(self.head)
    }
    /// Removes the first slot from the queue.
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
