//! Where packets leave a node or a carrier, and the memory that they are made of.

use crate::address::Port;
use crate::packet::Packet;
use std::collections::VecDeque;
use std::net::SocketAddr;
use wire::Hole;

/// Buffers, and boxes of packets, that are kept for the next ones; more are given back to the system.
const MAX_POOLED: usize = 1 << 14;
/// The capacity of a new buffer: what is not virtual of a payload fits in most runs. A buffer that needs more grows once,
/// and is reused at its new size.
const CAPACITY: usize = 128;

/// Where packets leave a node or a carrier, and the memory that they are made of. Memory that is given back is reused, so
/// that no packet allocates once as many have been in the network as ever are at one time.
#[derive(Debug, Default)]
pub struct Exits {
    leaving: VecDeque<Box<Packet>>,
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    places: Vec<Box<Packet>>,
    buffers: Vec<Vec<u8>>,
    stop: bool,
}

impl Exits {
    /// Sends a packet along the route of its destination. It is handed to the carrier at this instant, behind the packets
    /// sent before it.
    #[inline]
    pub fn send(&mut self, packet: Packet) {
        let packet = self.place(packet);
        self.leaving.push_back(packet);
    }
    /// The same, by this port of the node, wherever the route leads.
    pub fn send_by(&mut self, port: Port, mut packet: Packet) {
        packet.leave_by(port);
        self.send(packet);
    }
    /// Sends a packet as [`Packet::new`] makes it, and returns it to be completed. It is made in the box in which it stays
    /// while it is in the network, which costs less than moving it there.
    #[inline(always)]
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
    /// Takes the packet that was sent first and has not been taken yet: for callers that drive a node or a link without a
    /// world.
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
    /// Takes back the buffer of a packet that has ended.
    #[inline]
    pub fn recycle(&mut self, mut buffer: Vec<u8>) {
        if self.buffers.len() < MAX_POOLED && buffer.capacity() > 0 {
            buffer.clear();
            self.buffers.push(buffer);
        }
    }

    /// Sends a packet that is in its box already.
    #[inline]
    pub(crate) fn pass_on(&mut self, packet: Box<Packet>) {
        self.leaving.push_back(packet);
    }
    /// Takes the packet that was sent first, in its box.
    #[inline]
    pub(crate) fn take_placed(&mut self) -> Option<Box<Packet>> {
        self.leaving.pop_front()
    }
    /// Puts a packet into the box in which it stays while it is in the network.
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
    /// Takes a packet out of its box, which is reused.
    #[inline]
    pub(crate) fn unplace(&mut self, mut place: Box<Packet>) -> Packet {
        let bytes = std::mem::take(&mut place.bytes);
        let packet = place.with_bytes(bytes);
        if self.places.len() < MAX_POOLED {
            self.places.push(place);
        }
        packet
    }
    /// Ends a packet: takes back its box and its buffer.
    #[inline]
    pub(crate) fn discard(&mut self, mut place: Box<Packet>) {
        self.recycle(std::mem::take(&mut place.bytes));
        if self.places.len() < MAX_POOLED {
            self.places.push(place);
        }
    }
    /// A copy of a packet, in a box of its own.
    pub(crate) fn copy(&mut self, packet: &Packet) -> Box<Packet> {
        let mut bytes = self.buffer();
        bytes.extend_from_slice(&packet.bytes);
        self.place(packet.with_bytes(bytes))
    }
    /// Ends the run: something has happened that it cannot continue from. The world finds out what.
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
