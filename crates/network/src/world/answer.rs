//! What nodes answer to packets from outside: echoes, and the errors of ICMP, so that `ping`, `traceroute` and the discovery of
//! the path's MTU find the network that they expect (RFC 792, RFC 1812, RFC 4443).
//!
//! Only packets that entered by a gate have a hop limit, and only they are counted and answered here: simulated hosts know no
//! ICMP.

use super::{Occupant, World};
use crate::address::{NodeId, node_address, node_of};
use crate::gate;
use crate::node::Node;
use crate::packet::{Packet, Protocol};
use wire::ip::icmp::{self, Icmp, IcmpError};

/// What nodes have answered to packets from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerCounts {
    /// Echo requests that were answered.
    pub echoes: u64,
    /// Packets dropped because their hop limit was used up.
    pub expired: u64,
    /// Packets dropped because nothing listens at the port of a simulated node.
    pub unreachable: u64,
    /// Packets that a link drops because they are larger than its MTU, and that had an answer.
    pub too_big: u64,
}

impl<H: Node> World<H> {
    /// What nodes have answered to packets from outside.
    pub fn answers(&self) -> AnswerCounts {
        self.answers
    }

    /// A packet from outside reaches a node. Returns it if it is for what is at the node, or passes it, with one hop less;
    /// otherwise the node has dropped it, and its answer, if it gives one, is to be forwarded.
    #[cold]
    pub(super) fn count_hop(&mut self, node: NodeId, mut packet: Box<Packet>) -> Option<Box<Packet>> {
        let place = &self.nodes[node.0 as usize];
        if node_of(packet.destination.ip()) != Some(node) {
            if packet.hop_limit == 1 {
                self.answers.expired += 1;
                return self.refuse(node, packet, IcmpError::TimeExceeded);
            }
            packet.hop_limit -= 1;
            return Some(packet);
        }
        match place {
            Occupant::Gate(_) => return Some(packet),
            // A translator may send it on; that hop is the last one that it can lose.
            Occupant::Middlebox(_) => packet.hop_limit = (packet.hop_limit - 1).max(1),
            Occupant::Host(_) | Occupant::Fronted(_) | Occupant::Router => {}
        }
        if let Some(bytes) = echo_reply(&packet) {
            self.answers.echoes += 1;
            self.answer(node, &packet, &bytes);
            self.between.entry(node).or_default().taken.add(packet.flow, packet.size);
            self.exits.discard(packet);
            return None;
        }
        let listens = match place {
            Occupant::Host(host) => host.listens(&packet),
            Occupant::Fronted(front) => front.listens(&packet),
            Occupant::Router => false,
            Occupant::Middlebox(_) | Occupant::Gate(_) => true,
        };
        if listens {
            return Some(packet);
        }
        self.answers.unreachable += 1;
        self.refuse(node, packet, IcmpError::PortUnreachable)
    }

    /// Drops a packet and reports why to its source.
    fn refuse(&mut self, node: NodeId, packet: Box<Packet>, why: IcmpError) -> Option<Box<Packet>> {
        self.report(node, &packet, why);
        self.drop_at(node, packet);
        None
    }

    /// A packet from outside is about to leave a node by this hop. Reports to its source if the link will drop it as too
    /// large. The gate by which it came need not: its device has the MTU of its links.
    #[cold]
    pub(super) fn report_size(&mut self, node: NodeId, hop: u32, packet: &Packet) {
        let is_gate = matches!(self.nodes[node.0 as usize], Occupant::Gate(_));
        if let Some(link) = self.links.get(hop as usize)
            && packet.size > link.mtu()
            && !is_gate
        {
            let why = IcmpError::TooBig(link.mtu());
            self.answers.too_big += 1;
            if !matches!(self.nodes[node.0 as usize], Occupant::Middlebox(_)) {
                return self.report(node, packet, why);
            }
            // A translator has changed the packet: it knows whose it was if it sends it, and to which of its addresses it came
            // if it does not. To it the link speaks, from the side of that link.
            let from = node_address(node, packet.source.is_ipv6());
            let error = written(packet).and_then(|about| icmp::error(&about, from, why));
            let error = error.map(|bytes| self.packet_of(node, &bytes, packet.flow));
            let exit = self.ends[hop as usize ^ 1].1;
            if let (Some(error), Occupant::Middlebox(middlebox)) = (error, &mut self.nodes[node.0 as usize]) {
                middlebox.accept(self.now, exit, error, &mut self.exits);
            }
        }
    }

    fn report(&mut self, node: NodeId, packet: &Packet, why: IcmpError) {
        let from = node_address(node, packet.source.is_ipv6());
        if let Some(error) = written(packet).and_then(|about| icmp::error(&about, from, why)) {
            self.answer(node, packet, &error);
        }
    }

    /// Sends the bytes of an answer to a packet.
    fn answer(&mut self, node: NodeId, to: &Packet, bytes: &[u8]) {
        let answer = self.packet_of(node, bytes, to.flow);
        self.exits.send(answer);
    }

    /// A packet with these bytes, which the node makes.
    fn packet_of(&mut self, node: NodeId, bytes: &[u8], flow: u32) -> Box<Packet> {
        let packet = gate::packet_of(bytes, self.exits.buffer());
        let mut packet = packet.expect("an answer is a whole IP packet");
        packet.flow = flow;
        self.between.entry(node).or_default().sent.add(flow, packet.size);
        self.exits.place(packet)
    }
}

/// The reply to an echo request.
fn echo_reply(packet: &Packet) -> Option<Vec<u8>> {
    if packet.protocol() != Protocol::Ip || !matches!(Icmp::of(&packet.bytes), Some(Icmp::Query(_))) {
        return None;
    }
    icmp::echo_reply(&written(packet)?)
}

/// A packet as it is on the wire.
fn written(packet: &Packet) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    gate::write(&mut packet.clone(), &mut bytes).ok()?;
    Some(bytes)
}
