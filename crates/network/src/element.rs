//! What a network is made of: things that take packets, and wake.

use crate::packet::Packet;
use std::collections::VecDeque;
use std::net::SocketAddr;
use units::Time;
use wire::Hole;

/// Buffers, and places of packets, that are kept for the next ones; more are given back to the system.
const MAX_POOLED: usize = 1 << 14;
/// The capacity of a new buffer: what is not virtual of a payload fits in most runs. One that needs more grows once, and is
/// used again as it is then.
const CAPACITY: usize = 128;

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
    /// How many packets ahead it wants to be told what will arrive: 0, unless it says otherwise. Asked once, when the
    /// world is made.
    fn foresight(&self) -> usize {
        0
    }
    /// This packet will arrive behind `ahead` others of its link. Not all packets are told of. Nothing may follow from it:
    /// it is for an element that has something to ask the processor's cache for ([`units::cache`]).
    fn foresee(&self, packet: &Packet, ahead: usize) {
        let _ = (packet, ahead);
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
    fn foresight(&self) -> usize {
        (**self).foresight()
    }
    fn foresee(&self, packet: &Packet, ahead: usize) {
        (**self).foresee(packet, ahead);
    }
}

/// Where packets leave an element, and the memory that they are made of. What is given back is used again, so that
/// nothing is allocated for a packet once as many were underway as ever are at one time.
#[derive(Debug, Default)]
pub struct Exits {
    leaving: VecDeque<Box<Packet>>,
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    places: Vec<Box<Packet>>,
    buffers: Vec<Vec<u8>>,
    stop: bool,
}

impl Exits {
    /// Sends a packet on its way: it is handed to the next element at this instant, behind those sent before it.
    #[inline]
    pub fn send(&mut self, packet: Packet) {
        let packet = self.place(packet);
        self.leaving.push_back(packet);
    }
    /// Sends a packet as [`Packet::new`] makes it, and gives it to be completed. It is made where it stays while it is
    /// underway, which costs less than to move it there.
    #[inline]
    pub fn send_new(
        &mut self,
        source: SocketAddr,
        destination: SocketAddr,
        bytes: Vec<u8>,
        hole: Option<Hole>,
    ) -> &mut Packet {
        let place = match self.places.pop() {
            Some(mut place) => {
                place.renew(source, destination, bytes, hole);
                place
            }
            None => Box::new(Packet::new(source, destination, bytes, hole)),
        };
        // Nothing is between the two: the packet that was put in is the last.
        let at = self.leaving.len();
        self.leaving.push_back(place);
        &mut self.leaving[at]
    }
    /// Takes the packet that was sent first and has not been taken yet: for who drives an element without a world.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        let packet = self.leaving.pop_front()?;
        Some(self.unplace(packet))
    }
    /// An empty buffer for a payload, one that was used before if there is any.
    #[inline]
    pub fn buffer(&mut self) -> Vec<u8> {
        self.buffers.pop().unwrap_or_else(|| Vec::with_capacity(CAPACITY))
    }
    /// Takes back the buffer of a packet that is no more.
    #[inline]
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.buffers.len() < MAX_POOLED && buffer.capacity() > 0 {
            buffer.clear();
            self.buffers.push(buffer);
        }
    }

    /// Sends a packet that is in its place already.
    #[inline]
    pub(crate) fn pass_on(&mut self, packet: Box<Packet>) {
        self.leaving.push_back(packet);
    }
    /// Takes the packet that was sent first, where it is.
    #[inline]
    pub(crate) fn take_placed(&mut self) -> Option<Box<Packet>> {
        self.leaving.pop_front()
    }
    /// Puts a packet where it stays while it is underway.
    #[inline]
    pub(crate) fn place(&mut self, packet: Packet) -> Box<Packet> {
        match self.places.pop() {
            Some(mut place) => {
                *place = packet;
                place
            }
            None => Box::new(packet),
        }
    }
    /// Takes a packet out of its place, which is used again.
    #[inline]
    pub(crate) fn unplace(&mut self, mut place: Box<Packet>) -> Packet {
        let bytes = std::mem::take(&mut place.bytes);
        let packet = place.with_bytes(bytes);
        if self.places.len() < MAX_POOLED {
            self.places.push(place);
        }
        packet
    }
    /// Ends a packet: takes back its place and its buffer.
    #[inline]
    pub(crate) fn discard(&mut self, mut place: Box<Packet>) {
        self.recycle(std::mem::take(&mut place.bytes));
        if self.places.len() < MAX_POOLED {
            self.places.push(place);
        }
    }
    /// A packet like another, in a place of its own.
    pub(crate) fn copy(&mut self, packet: &Packet) -> Box<Packet> {
        let mut bytes = self.buffer();
        bytes.extend_from_slice(&packet.bytes);
        self.place(packet.with_bytes(bytes))
    }
    /// Something is wrong that the run cannot go on with; the world finds out what.
    pub(crate) fn stop(&mut self) {
        self.stop = true;
    }
    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_empty_and_is_used_again() {
        let mut exits = Exits::default();
        let mut bytes = exits.buffer();
        bytes.extend_from_slice(&[1; 3000]);
        let (at, capacity) = (([10, 0, 0, 1], 1).into(), bytes.capacity());
        let packet = exits.place(Packet::new(at, at, bytes, None));
        let place: *const Packet = &raw const *packet;
        let copy = exits.copy(&packet);
        assert_eq!(copy, packet);
        exits.discard(packet);
        let again = exits.buffer();
        assert_eq!((again.len(), again.capacity()), (0, capacity));
        let packet = exits.place(Packet::new(at, at, again, None));
        assert!(std::ptr::eq(place, &raw const *packet) && packet.bytes.is_empty());
        exits.pass_on(copy.clone());
        assert_eq!(exits.take(), Some(*copy));
    }

    #[test]
    fn a_packet_made_in_a_used_place_is_like_a_new_one() {
        let mut exits = Exits::default();
        let (at, other) = (([10, 0, 0, 1], 1).into(), ([10, 0, 0, 2], 2).into());
        let hole = Some(wire::Hole { at: 0, length: 9, offset: 3 });
        let mut used = Packet::new(other, other, vec![7; 90], hole);
        used.note_damage(wire::Damage { first: 1, last: 1 });
        (used.flow, used.ecn, used.data, used.size) = (5, wire::Ecn::Ce, true, 9000);
        for hole in [None, hole] {
            let place = exits.place(used.clone());
            exits.discard(place);
            let made = exits.send_new(at, other, vec![1, 2], hole);
            made.flow = 1;
            let mut expected = Packet::new(at, other, vec![1, 2], hole);
            expected.flow = 1;
            assert_eq!(exits.take(), Some(expected));
        }
    }

    #[test]
    fn the_pools_have_a_bound() {
        let mut exits = Exits::default();
        let at = ([10, 0, 0, 1], 1).into();
        (0..MAX_POOLED + 10).for_each(|_| exits.discard(Box::new(Packet::new(at, at, vec![0], None))));
        assert_eq!((exits.places.len(), exits.buffers.len()), (MAX_POOLED, MAX_POOLED));
    }
}
