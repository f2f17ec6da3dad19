//! The way of a packet through a world: what happens to it where it arrives, and by which hop it goes on.

use super::{Place, World};
use crate::address::{NodeId, Port, node_of, owner_of, port_of};
use crate::node::Node;
use crate::packet::Packet;
use crate::topology::{Hop, NO_ROUTE, Topology};

/// A packet would have left by a port that is down.
struct PortDown;

/// Routes to the address of a port.
pub(super) struct PortRoutes {
    node: NodeId,
    port: Port,
    hops: Vec<u32>,
}

/// Tells the middleboxes by which of their ports the routes to an address leave.
pub(super) fn teach_routes<H>(
    places: &mut [Place<H>],
    topology: &Topology,
    (to, address_of): (NodeId, Option<Port>),
    hops: &[u32],
) {
    for (node, (place, hop)) in places.iter_mut().zip(hops).enumerate() {
        let (Place::Middlebox(middlebox), true) = (place, *hop != NO_ROUTE) else { continue };
        if let Some(exit) = topology.port_by(NodeId(node as u32), *hop as usize) {
            middlebox.learn_route(to, address_of, exit);
        }
    }
}

impl<H: Node> World<H> {
    /// Makes the address of a port known, so that there are routes to it.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn use_port_address(&mut self, node: NodeId, port: Port) {
        if self.port_route(node, port).is_none() {
            let hops = self.topology.routes_to(node, Some(port));
            teach_routes(&mut self.nodes, &self.topology, (node, Some(port)), &hops);
            self.port_routes.push(PortRoutes { node, port, hops });
        }
    }
    fn port_route(&self, node: NodeId, port: Port) -> Option<&PortRoutes> {
        self.port_routes.iter().find(|routes| routes.node == node && routes.port == port)
    }

    /// Takes a port down, or up again. What would leave by a port that is down, and what arrives there, is dropped.
    pub fn set_port(&mut self, node: NodeId, port: Port, up: bool) {
        if up {
            self.down.remove(&(node, port));
        } else {
            self.down.insert((node, port));
        }
    }

    /// A packet is at a node: it is for what is there, or goes on.
    #[inline(always)]
    pub(super) fn arrive(&mut self, (node, port): (NodeId, Port), packet: Box<Packet>) {
        let index = node.0 as usize;
        if !self.down.is_empty() && self.down.contains(&(node, port)) {
            return self.drop_at_port(packet);
        }
        if node_of(packet.destination.ip()) != Some(node) && !self.transit[index] {
            return self.forward(node, packet);
        }
        match &mut self.nodes[index] {
            Place::Host(host) => {
                let packet = self.exits.unplace(packet);
                host.accept(self.now, port, packet, &mut self.exits);
                self.timers.set(index, host.wake_at());
            }
            Place::Middlebox(middlebox) => {
                let packet = self.exits.unplace(packet);
                middlebox.accept(self.now, port, packet, &mut self.exits);
                self.timers.set(index, middlebox.wake_at());
            }
            Place::Router => return self.drop_unroutable(packet),
        }
        self.forward_all(node);
    }

    /// Sends on what a node has left behind.
    #[inline]
    pub(super) fn forward_all(&mut self, node: NodeId) {
        while let Some(packet) = self.exits.take_placed() {
            self.forward(node, packet);
        }
    }

    #[inline]
    fn forward(&mut self, node: NodeId, mut packet: Box<Packet>) {
        let plain = packet.leaves_by_route() && self.down.is_empty();
        let owner = if plain { owner_of(packet.destination.ip()) } else { None };
        let hop = match owner {
            Some(to) => self.routes.get(to.0 as usize).and_then(|row| row.get(node.0 as usize)).copied(),
            None => match self.special_hop(node, &mut packet) {
                Ok(hop) => hop,
                Err(PortDown) => return self.drop_at_port(packet),
            },
        };
        let hop = hop.unwrap_or(NO_ROUTE);
        let Some(link) = self.links.get_mut(hop as usize) else {
            return self.forward_to_medium(hop, packet);
        };
        link.offer(self.now, packet, &mut self.exits);
        self.timers.set(self.nodes.len() + hop as usize, link.wake_at());
    }

    /// The next hop of a packet that is to leave by a port, is for the address of a port, or may meet a port that is down.
    /// `None`: there is no way.
    #[cold]
    fn special_hop(&self, node: NodeId, packet: &mut Packet) -> Result<Option<u32>, PortDown> {
        let (destination, exit) = (packet.destination.ip(), packet.take_exit());
        let Some(target) = node_of(destination) else { return Ok(None) };
        let routes = match port_of(destination) {
            None => self.routes.get(target.0 as usize),
            Some(port) => self.port_route(target, port).map(|routes| &routes.hops),
        };
        let at = |node: NodeId| routes.and_then(|row| row.get(node.0 as usize)).copied().unwrap_or(NO_ROUTE);
        let hop = match exit {
            None => at(node),
            Some(exit) => {
                // On a medium there may be many ways: the one from which the fewest hops are left.
                let ways = self.topology.hops_by(node, exit);
                let left = |hop: &u32| self.hops_left(self.topology.end_of(*hop as usize), target, &at);
                ways.into_iter().min_by_key(left).unwrap_or(NO_ROUTE)
            }
        };
        if hop == NO_ROUTE || self.down.is_empty() {
            return Ok(Some(hop));
        }
        match exit.or_else(|| self.topology.port_by(node, hop as usize)) {
            Some(port) if self.down.contains(&(node, port)) => Err(PortDown),
            _ => Ok(Some(hop)),
        }
    }

    /// How many hops there are from a node to another one by these routes.
    fn hops_left(&self, from: NodeId, to: NodeId, next: &impl Fn(NodeId) -> u32) -> usize {
        let (mut at, mut count) = (from, 0);
        while at != to {
            match next(at) {
                NO_ROUTE => return usize::MAX,
                hop => at = self.topology.end_of(hop as usize),
            }
            count += 1;
        }
        count
    }

    #[cold]
    fn forward_to_medium(&mut self, hop: u32, packet: Box<Packet>) {
        if hop == NO_ROUTE {
            return self.drop_unroutable(packet);
        }
        let Hop::Medium { medium, from, to } = self.topology.hop(hop as usize) else {
            return self.drop_unroutable(packet);
        };
        self.media[medium].offer(self.now, (from as u16, to as u16), packet, &mut self.exits);
        self.set_medium_timer(medium);
    }

    fn drop_unroutable(&mut self, packet: Box<Packet>) {
        self.unroutable += 1;
        self.drops.note(packet.flow);
        self.exits.discard(packet);
    }
    fn drop_at_port(&mut self, packet: Box<Packet>) {
        self.dropped_at_ports += 1;
        self.drops.note(packet.flow);
        self.exits.discard(packet);
    }
}
