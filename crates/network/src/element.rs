//! What a network is made of: things that take packets, and wake.

use crate::packet::Packet;
use std::collections::VecDeque;
use units::Time;

/// Buffers that are kept for the next packets; more are given back to the system.
const MAX_POOLED: usize = 1 << 14;
/// The capacity of a new buffer: a payload of any usual MTU fits.
const CAPACITY: usize = 2048;

/// Something in the network: a host, a middlebox, a direction of a link. It has one timer.
///
/// Time never goes back from one call to the next.
pub trait Element {
    /// A packet arrives.
    fn accept(&mut self, now: Time, packet: Packet, exits: &mut Exits);
    /// The time of [`Element::wake_at`] has come, or is past.
    fn wake(&mut self, now: Time, exits: &mut Exits);
    /// When it must be woken; `None`: not before the next packet. It is asked after every call of the other two. A
    /// time that is past means at once, after all other timers of this instant that come first by their order.
    fn wake_at(&self) -> Option<Time>;
    /// Whether it also takes packets to other nodes that pass by its own, as a middlebox does; what it lets through
    /// it sends on. Asked once, when the world is made. Unless it says so, such packets pass without touching it.
    fn takes_transit(&self) -> bool {
        false
    }
}

impl<E: Element + ?Sized> Element for Box<E> {
    fn accept(&mut self, now: Time, packet: Packet, exits: &mut Exits) {
        (**self).accept(now, packet, exits);
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        (**self).wake(now, exits);
    }
    fn wake_at(&self) -> Option<Time> {
        (**self).wake_at()
    }
    fn takes_transit(&self) -> bool {
        (**self).takes_transit()
    }
}

/// Where packets leave an element, and the buffers that they are made of.
#[derive(Debug, Default)]
pub struct Exits {
    leaving: VecDeque<Packet>,
    pool: Vec<Vec<u8>>,
    stop: bool,
}

impl Exits {
    /// Sends a packet on its way: it is handed to the next element at this instant, behind those sent before it.
    #[inline]
    pub fn send(&mut self, packet: Packet) {
        self.leaving.push_back(packet);
    }
    /// The packet that was sent first and has not been taken yet.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        self.leaving.pop_front()
    }
    /// Something is wrong that the run cannot go on with; the world finds out what.
    pub(crate) fn stop(&mut self) {
        self.stop = true;
    }
    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop
    }
    /// An empty buffer for a packet, one that was used before if there is any.
    #[inline]
    pub fn buffer(&mut self) -> Vec<u8> {
        self.pool.pop().unwrap_or_else(|| Vec::with_capacity(CAPACITY))
    }
    /// Takes back the buffer of a packet that is no more.
    #[inline]
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.pool.len() < MAX_POOLED {
            buffer.clear();
            self.pool.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_empty_and_are_used_again() {
        let mut exits = Exits::default();
        let mut buffer = exits.buffer();
        buffer.extend_from_slice(&[1; 3000]);
        let capacity = buffer.capacity();
        exits.recycle(buffer);
        let again = exits.buffer();
        assert_eq!((again.len(), again.capacity()), (0, capacity));
        for _ in 0..MAX_POOLED + 10 {
            exits.recycle(Vec::new());
        }
        assert_eq!(exits.pool.len(), MAX_POOLED, "the pool has a bound");
    }
}
