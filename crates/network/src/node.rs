//! Nodes: hosts, middleboxes, and whatever else takes packets and has a timer.

use crate::address::Port;
use crate::exits::Exits;
use crate::packet::Packet;
use units::Time;

/// Something at a node of the network: a host or a middlebox. It has one timer.
///
/// A packet comes in at a port. What the node sends leaves by the route of its destination ([`Exits::send`]) or by a port
/// ([`Exits::send_by`]). Time never goes back from one call to the next.
pub trait Node {
    /// A packet arrives at a port.
    fn accept(&mut self, now: Time, port: Port, packet: Packet, exits: &mut Exits);
    /// The time of [`Node::wake_at`] has come, or is past.
    fn wake(&mut self, now: Time, exits: &mut Exits);
    /// When the node must be woken; `None`: not before the next packet. It is asked after every call of the other two. A
    /// time that is past means at once, after all other timers of this instant that come first by their order.
    fn wake_at(&self) -> Option<Time>;
    /// Whether the node also takes packets that are for other nodes, as a middlebox does; it sends on what it lets through.
    /// Asked once, when the world is built. By default such packets pass the node without touching it.
    fn takes_transit(&self) -> bool {
        false
    }
    /// How many packets ahead the node wants to hear what will arrive: 0 by default. Asked once, when the world is built.
    fn foresight(&self) -> usize {
        0
    }
    /// This packet will arrive behind `ahead` others of its link. Not every packet is announced, and nothing may follow from
    /// it but time: where a thousand connections take turns, the processor's cache is asked for what their packets will need
    /// ([`units::cache`]). Without it a packet of one among 1,000 flows takes 1.3 times as long.
    fn foresee(&self, packet: &Packet, ahead: usize) {
        let _ = (packet, ahead);
    }
}

impl<N: Node + ?Sized> Node for Box<N> {
    fn accept(&mut self, now: Time, port: Port, packet: Packet, exits: &mut Exits) {
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
    fn foresight(&self) -> usize {
        (**self).foresight()
    }
    fn foresee(&self, packet: &Packet, ahead: usize) {
        (**self).foresee(packet, ahead);
    }
}
