//! A host behind a middlebox at the same node, as an algorithm of an access node that was moved to the server.

use crate::address::{NodeId, Port, node_of};
use crate::books::PacketBooks;
use crate::exits::Exits;
use crate::middlebox::Middlebox;
use crate::node::Node;
use crate::packet::Packet;
use units::Time;

/// A host whose packets pass a middlebox at the same node: those that arrive for it, and those that it sends. To the
/// middlebox, the host is behind one more port, after those of the links and media. Nothing takes time between them.
pub struct Front<H> {
    node: NodeId,
    host: H,
    middlebox: Box<dyn Middlebox>,
    /// The port to the host.
    port: Port,
    /// What the host has sent, and what the middlebox has.
    sent: Exits,
    passed: Exits,
}

impl<H: Node> Front<H> {
    /// Puts a middlebox with this port to the host before the host.
    pub fn new(node: NodeId, host: H, middlebox: Box<dyn Middlebox>, port: Port) -> Front<H> {
        Front { node, host, middlebox, port, sent: Exits::default(), passed: Exits::default() }
    }
    /// The host.
    pub(crate) fn host(&self) -> &H {
        &self.host
    }
    /// The host. It must not send or change its timer: see [`Front::act`].
    pub(crate) fn host_mut(&mut self) -> &mut H {
        &mut self.host
    }
    /// The middlebox.
    pub(crate) fn middlebox(&self) -> &dyn Middlebox {
        &*self.middlebox
    }
    /// The middlebox.
    pub(crate) fn middlebox_mut(&mut self) -> &mut dyn Middlebox {
        &mut *self.middlebox
    }
    /// Acts on the host from outside; what it sends passes the middlebox.
    pub(crate) fn act<R>(
        &mut self,
        now: Time,
        action: impl FnOnce(&mut H, Time, &mut Exits) -> R,
        exits: &mut Exits,
    ) -> R {
        let result = action(&mut self.host, now, &mut self.sent);
        self.settle(now, exits);
        result
    }

    /// Moves what was sent until nothing is left: packets of the host to the middlebox, and those that pass it to the host
    /// or out of the node.
    fn settle(&mut self, now: Time, exits: &mut Exits) {
        loop {
            if let Some(packet) = self.passed.take() {
                if node_of(packet.destination.ip()) == Some(self.node) {
                    self.host.accept(now, self.port, packet, &mut self.sent);
                } else {
                    exits.send(packet);
                }
            } else if let Some(packet) = self.sent.take() {
                self.middlebox.accept(now, self.port, packet, &mut self.passed);
            } else {
                if cfg!(debug_assertions) {
                    self.middlebox.check();
                }
                return;
            }
        }
    }
}

impl<H: Node> Node for Front<H> {
    fn accept(&mut self, now: Time, port: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.middlebox.accept(now, port, packet, &mut self.passed);
        self.settle(now, exits);
    }
    fn wake(&mut self, now: Time, exits: &mut Exits) {
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if is_due(self.middlebox.wake_at()) {
            self.middlebox.wake(now, &mut self.passed);
            self.settle(now, exits);
        }
        if is_due(self.host.wake_at()) {
            self.host.wake(now, &mut self.sent);
            self.settle(now, exits);
        }
    }
    fn wake_at(&self) -> Option<Time> {
        [self.middlebox.wake_at(), self.host.wake_at()].into_iter().flatten().min()
    }
    fn takes_transit(&self) -> bool {
        self.middlebox.takes_transit()
    }
    fn account(&self, books: &mut PacketBooks) {
        self.middlebox.account(books);
        self.host.account(books);
    }
    fn listens(&self, packet: &Packet) -> bool {
        self.host.listens(packet)
    }
}
