//! The exits of a node or a carrier, and the memory of packets.

use crate::address::Port;
use crate::packet::Packet;
use std::net::SocketAddr;
use wire::Hole;

/// The maximum number of buffers, and of boxes of packets, that are kept for reuse.
const MAX_POOLED: usize = 1 << 14;
/// The capacity of a new buffer that bytes are written to: sufficient for the real bytes of a payload in most runs. A larger
/// buffer grows once and keeps its size, as long as payloads are written to it.
const CAPACITY: usize = 128;
/// The capacity above which a buffer is not kept for a payload that stayed typed.
const LARGE: usize = 1024;

/// The exits of a node or a carrier, and the memory of packets. Returned memory is reused, so that no packet
/// allocates once the network has held as many packets as it ever will.
#[derive(Debug, Default)]
pub struct Exits {
    /// The packets that leave, in order, and how many of them are taken: nearly always one after the other.
    leaving: Vec<Option<Box<Packet>>>,
    taken: usize,
    /// Ended packets, whose memory is reused with that of their payload.
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    places: Vec<Box<Packet>>,
    /// Those whose payload was taken away with its memory.
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    bare: Vec<Box<Packet>>,
    /// A buffer for a typed packet that has to be written out, which is rare: most have none of their own.
    spare: Vec<u8>,
    stop: bool,
}

impl Exits {
    /// Sends a packet by the route to its destination. The carrier takes it at this instant, after the packets
    /// sent before it.
    #[inline]
    pub fn send(&mut self, packet: impl Into<Box<Packet>>) {
        self.leaving.push(Some(packet.into()));
    }
    /// Sends a packet by this port of the node, regardless of the route.
    pub fn send_by(&mut self, port: Port, packet: impl Into<Box<Packet>>) {
        let mut packet = packet.into();
        packet.leave_by(port);
        self.send(packet);
    }
    /// Sends a packet that is made of these parts as by [`Packet::new`], and returns it for completion.
    pub fn send_new(
        &mut self,
        source: SocketAddr,
        destination: SocketAddr,
        bytes: Vec<u8>,
        hole: Option<Hole>,
    ) -> &mut Packet {
        let mut packet = self.bare.pop().unwrap_or_else(|| boxed(Vec::new()));
        packet.bytes = bytes;
        packet.address(source, destination, hole);
        self.leaving.push(None);
        let at = self.leaving.len() - 1;
        self.leaving[at].insert(packet)
    }
    /// A packet to be made: its payload is empty, and its addresses are to be set ([`Packet::address`]). It is made in
    /// the memory of an ended one if possible, in which it stays.
    #[inline]
    pub fn packet(&mut self) -> Box<Packet> {
        self.places.pop().unwrap_or_else(|| boxed(Vec::new()))
    }
    /// Takes the first packet that was sent: for callers that drive a node or a link without a world.
    #[inline]
    pub fn take(&mut self) -> Option<Box<Packet>> {
        let Some(place) = self.leaving.get_mut(self.taken) else {
            self.leaving.clear();
            self.taken = 0;
            return None;
        };
        self.taken += 1;
        debug_assert!(place.is_some(), "a packet that was sent is taken once");
        place.take()
    }
    /// Whether all packets that were sent are taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.taken == self.leaving.len()
    }
    /// Ends a packet: its memory is reused.
    #[inline]
    pub fn discard(&mut self, mut packet: Box<Packet>) {
        if self.places.len() < MAX_POOLED {
            if packet.typed().is_some() && packet.bytes.capacity() > 0 {
                self.take_unused(&mut packet.bytes);
            }
            packet.clear();
            self.places.push(packet);
        }
    }
    /// Keeps the buffer of a packet that stayed typed where it may be of use, or ends it if it was that of a large datagram.
    fn take_unused(&mut self, bytes: &mut Vec<u8>) {
        if self.spare.capacity() == 0 {
            std::mem::swap(&mut self.spare, bytes);
        } else if bytes.capacity() > LARGE {
            *bytes = Vec::new();
        }
    }

    /// Writes out a typed packet that will soon be discarded.
    pub fn write_typed(&mut self, packet: &mut Packet) {
        if packet.bytes.capacity() == 0 {
            packet.bytes = std::mem::take(&mut self.spare);
        }
        packet.write_typed();
    }

    /// An empty buffer for a payload, a used one if possible.
    pub fn buffer(&mut self) -> Vec<u8> {
        let Some(mut place) = self.places.pop() else { return Vec::with_capacity(CAPACITY) };
        let buffer = std::mem::take(&mut place.bytes);
        self.keep_bare(place);
        buffer
    }
    /// Takes back the buffer of a packet that has ended.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        if let Some(mut place) = self.bare.pop() {
            place.bytes = buffer;
            self.discard(place);
        }
    }
    /// Moves a packet into the box in which it stays in the network.
    pub fn place(&mut self, packet: Packet) -> Box<Packet> {
        let mut place = self.bare.pop().unwrap_or_else(|| boxed(Vec::new()));
        *place = packet;
        place
    }
    /// Moves a packet out of its box, which is reused.
    pub(crate) fn unplace(&mut self, mut place: Box<Packet>) -> Packet {
        let bytes = std::mem::take(&mut place.bytes);
        let packet = place.with_bytes(bytes);
        self.keep_bare(place);
        packet
    }
    /// Keeps the box of a packet whose payload was taken away.
    fn keep_bare(&mut self, mut place: Box<Packet>) {
        if self.bare.len() < MAX_POOLED {
            place.clear();
            self.bare.push(place);
        }
    }

    /// A copy of a packet.
    pub(crate) fn copy(&mut self, packet: &Packet) -> Box<Packet> {
        let mut copy = self.packet();
        let mut bytes = std::mem::take(&mut copy.bytes);
        bytes.extend_from_slice(&packet.bytes);
        *copy = packet.with_bytes(bytes);
        copy
    }
    /// Ends the run after an unrecoverable event, which the world determines.
    pub(crate) fn stop(&mut self) {
        self.stop = true;
    }
    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop
    }
}

/// A box for a packet, with this memory for its payload.
fn boxed(bytes: Vec<u8>) -> Box<Packet> {
    let nowhere = SocketAddr::from(([0, 0, 0, 0], 0));
    Box::new(Packet::new(nowhere, nowhere, bytes, None))
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
        exits.send(copy.clone());
        assert_eq!(exits.take(), Some(copy));
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
            assert_eq!(exits.take(), Some(Box::new(expected)));
        }
    }

    #[test]
    fn the_pools_have_a_bound() {
        let mut exits = Exits::default();
        let at = ([10, 0, 0, 1], 1).into();
        (0..MAX_POOLED + 10).for_each(|_| exits.discard(Box::new(Packet::new(at, at, vec![0], None))));
        assert_eq!(exits.places.len(), MAX_POOLED);
        (0..MAX_POOLED).for_each(|_| drop(exits.buffer()));
        let boxed = || Box::new(Packet::new(at, at, vec![0], None));
        (0..10).for_each(|_| drop(exits.unplace(boxed())));
        assert_eq!((exits.places.len(), exits.bare.len()), (0, MAX_POOLED));
    }
}
