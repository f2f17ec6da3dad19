//! Nodes: hosts, middleboxes, and everything else that takes packets and has a timer.

use crate::address::Port;
use crate::books::PacketBooks;
use crate::exits::Exits;
use crate::packet::Packet;
use units::Time;

/// A host or a middlebox at a node of the network. It has one timer.
///
/// A packet arrives at a port. A sent packet leaves by the route to its destination ([`Exits::send`]) or by a
/// port ([`Exits::send_by`]). Time never goes back from one call to the next.
pub trait Node {
    /// Handles a packet that arrives at a port.
    fn accept(&mut self, now: Time, port: Port, packet: Box<Packet>, exits: &mut Exits);
    /// Handles the expiry of the timer ([`Node::wake_at`]).
    fn wake(&mut self, now: Time, exits: &mut Exits);
    /// The time of the timer; `None` if nothing happens before the next packet. Queried after every call of the
    /// other two. A time in the past means now, after all other timers of this instant that precede it in the
    /// order.
    fn wake_at(&self) -> Option<Time>;
    /// Whether the node also takes packets for other nodes, as a middlebox does; it forwards those that it lets
    /// through. Queried once, when the world is built. By default such packets pass the node.
    fn takes_transit(&self) -> bool {
        false
    }
    /// Whether something at this node takes a packet that is addressed to it; by default something does. A sender outside of the
    /// world is told if nothing does.
    fn listens(&self, packet: &Packet) -> bool {
        let _ = packet;
        true
    }
    /// Adds the packets that it has made, taken as their destination, or dropped, and those that it holds, to books. By default
    /// there are none: every packet goes on at once.
    fn account(&self, books: &mut PacketBooks) {
        let _ = books;
    }
}

impl<N: Node + ?Sized> Node for Box<N> {
    fn accept(&mut self, now: Time, port: Port, packet: Box<Packet>, exits: &mut Exits) {
        (**self).accept(now, port, packet, exits);
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
    fn listens(&self, packet: &Packet) -> bool {
        (**self).listens(packet)
    }
    fn account(&self, books: &mut PacketBooks) {
        (**self).account(books);
    }
}
