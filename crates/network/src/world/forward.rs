//! The path of a packet through a world: its treatment at a node, and its next hop.

use super::{Occupant, Watch, World};
use crate::address::{NodeId, Port, node_of, owner_of, port_of};
use crate::node::Node;
use crate::packet::Packet;
use crate::topology::{Hop, NO_ROUTE};
use std::collections::{BTreeMap, BTreeSet};

/// The routes of packets that do not simply follow the route to their node.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// The next hops by node, for the address of a port.
    to_ports: BTreeMap<(NodeId, Port), Vec<u32>>,
    /// The next hop of packets that leave a node by a port, by their destination: a node, and a port for the
    /// address of a port. Cached, since the search walks through the network.
    by_ports: BTreeMap<(NodeId, Port, NodeId, Option<Port>), u32>,
    /// The ports that are down.
    down: BTreeSet<(NodeId, Port)>,
    /// Whether each hop leaves by one of them; empty if none is down.
    down_hops: Vec<bool>,
}

impl<H: Node> World<H> {
    /// Tells the middleboxes by which of their ports the routes to all nodes leave.
    pub(super) fn teach_all_routes(&mut self) {
        let boxes: Vec<NodeId> = self.middleboxes().map(|(node, _)| node).collect();
        for to in (0..self.nodes.len() as u32).map(NodeId) {
            for node in &boxes {
                self.teach_route(*node, to, None, self.routes.next(*node, to));
            }
        }
    }

    /// Tells a middlebox by which of its ports the route to an address leaves.
    fn teach_route(&mut self, node: NodeId, to: NodeId, address_of: Option<Port>, hop: u32) {
        if hop == NO_ROUTE {
            return;
        }
        let exit = match self.routes.topology().hop(hop as usize) {
            // The other direction of the link arrives at that port.
            Hop::Link { .. } => self.ends[hop as usize ^ 1].1,
            Hop::Medium { medium, from, .. } => self.attached[medium][from].1,
        };
        let middlebox = self.nodes[node.0 as usize].middlebox_mut();
        middlebox.expect("only middleboxes learn routes").learn_route(to, address_of, exit);
    }

    /// Puts the address of a port into use, so that there are routes to it.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn use_port_address(&mut self, node: NodeId, port: Port) {
        if !self.ways.to_ports.contains_key(&(node, port)) {
            let hops = self.routes.topology().routes_to(node, Some(port));
            let boxes: Vec<NodeId> = self.middleboxes().map(|(node, _)| node).collect();
            for at in boxes {
                self.teach_route(at, node, Some(port), hops[at.0 as usize]);
            }
            self.ways.to_ports.insert((node, port), hops);
            self.ways.by_ports.clear();
        }
    }

    /// Takes a port down, or up again. Packets that would leave or arrive by a port that is down are dropped.
    pub fn set_port(&mut self, node: NodeId, port: Port, up: bool) {
        let Ways { down, down_hops, .. } = &mut self.ways;
        if up {
            down.remove(&(node, port));
        } else {
            down.insert((node, port));
        }
        down_hops.clear();
        for hop in down.iter().flat_map(|(node, port)| self.routes.topology().hops_by(*node, *port)) {
            let hop = hop as usize;
            down_hops.resize(down_hops.len().max(hop + 1), false);
            down_hops[hop] = true;
        }
    }

    /// Handles a packet that reaches a node: the node processes it first, if that takes time.
    #[inline(always)]
    pub(super) fn arrive<W: Watch>(&mut self, node: NodeId, port: Port, packet: Box<Packet>, watch: W) {
        let index = node.0 as usize;
        watch.reaches(node, self.now, &packet);
        if !self.ways.down.is_empty() && self.ways.down.contains(&(node, port)) {
            return self.drop_at_port(node, packet);
        }
        if let Some(Some(processor)) = self.processor_of.get(index) {
            return self.process(*processor, port, packet);
        }
        self.take(node, port, packet, watch);
    }

    #[cold]
    fn process(&mut self, processor: usize, port: Port, packet: Box<Packet>) {
        self.processors[processor].1.offer(self.now, port, packet, &mut self.exits);
        self.set_processor_timer(processor);
    }

    /// Delivers a packet at a node, or forwards it.
    #[inline(always)]
    pub(super) fn take<W: Watch>(&mut self, node: NodeId, port: Port, mut packet: Box<Packet>, watch: W) {
        let index = node.0 as usize;
        let is_from_outside = packet.hop_limit > 0;
        if is_from_outside {
            let Some(goes_on) = self.count_hop(node, packet) else { return self.forward_all(node) };
            packet = goes_on;
        }
        if node_of(packet.destination.ip()) != Some(node) && !self.transit[index] {
            self.forward(node, packet);
            // Its answer, if it did not fit.
            if is_from_outside {
                self.forward_all(node);
            }
            return;
        }
        watch.acts(index, self.now);
        match &mut self.nodes[index] {
            Occupant::Host(host) => {
                host.accept(self.now, port, packet, &mut self.exits);
                self.timers.set(index, host.wake_at());
            }
            Occupant::Middlebox(middlebox) => {
                middlebox.accept(self.now, port, packet, &mut self.exits);
                if cfg!(debug_assertions) {
                    middlebox.check();
                }
                self.timers.set(index, middlebox.wake_at());
            }
            Occupant::Fronted(front) => {
                front.accept(self.now, port, packet, &mut self.exits);
                self.timers.set(index, front.wake_at());
            }
            Occupant::Gate(_) => return self.arrive_at_gate(node, port, packet),
            Occupant::Router => return self.drop_unroutable(node, packet),
        }
        self.forward_all(node);
    }

    /// Handles a packet at its gate. Simulations have none.
    #[cold]
    fn arrive_at_gate(&mut self, node: NodeId, port: Port, packet: Box<Packet>) {
        let Occupant::Gate(gate) = &mut self.nodes[node.0 as usize] else {
            unreachable!("the caller has found a gate at this node")
        };
        gate.accept(self.now, port, packet, &mut self.exits);
    }

    /// Forwards the packets that a node has sent.
    #[inline]
    pub(super) fn forward_all(&mut self, node: NodeId) {
        while let Some(packet) = self.exits.take() {
            self.forward(node, packet);
        }
    }

    #[inline]
    fn forward(&mut self, node: NodeId, mut packet: Box<Packet>) {
        let owner = if packet.leaves_by_route() { owner_of(packet.destination.ip()) } else { None };
        let hop = match owner {
            Some(to) => self.routes.next(node, to),
            None => self.special_hop(node, &mut packet).unwrap_or(NO_ROUTE),
        };
        if self.ways.down_hops.get(hop as usize).is_some_and(|down| *down) {
            return self.drop_at_port(node, packet);
        }
        if packet.hop_limit > 0 {
            self.report_size(node, hop, &packet);
        }
        let Some(link) = self.links.get_mut(hop as usize) else {
            return self.forward_to_medium(node, hop, packet);
        };
        link.offer(self.now, packet, &mut self.exits);
        self.timers.set(self.nodes.len() + hop as usize, link.wake_at());
    }

    /// The next hop of a packet that leaves by a port, or is addressed to a port. `None` without a route.
    #[cold]
    fn special_hop(&mut self, node: NodeId, packet: &mut Packet) -> Option<u32> {
        let (destination, exit) = (packet.destination.ip(), packet.take_exit());
        let (target, port) = (node_of(destination)?, port_of(destination));
        let Some(exit) = exit else { return Some(self.next_hop(node, target, port)) };
        let known = self.ways.by_ports.get(&(node, exit, target, port)).copied();
        Some(known.unwrap_or_else(|| {
            let hop = self.hop_by(node, exit, target, port);
            self.ways.by_ports.insert((node, exit, target, port), hop);
            hop
        }))
    }

    /// The next hop from a node to another, or to the address of one of its ports.
    fn next_hop(&self, node: NodeId, target: NodeId, port: Option<Port>) -> u32 {
        let Some(port) = port else { return self.routes.next(node, target) };
        // Nothing leads to the address of a port that is not in use.
        self.ways.to_ports.get(&(target, port)).map_or(NO_ROUTE, |hops| hops[node.0 as usize])
    }

    /// The hop from a node by one of its ports: on a medium, the one with the fewest remaining hops.
    fn hop_by(&self, node: NodeId, exit: Port, target: NodeId, port: Option<Port>) -> u32 {
        let at = |node: NodeId| self.next_hop(node, target, port);
        let topology = self.routes.topology();
        let left = |hop: &u32| self.hops_left(topology.end_of(*hop as usize), target, &at);
        topology.hops_by(node, exit).into_iter().min_by_key(left).unwrap_or(NO_ROUTE)
    }

    /// The number of hops from a node to another by these routes.
    fn hops_left(&self, from: NodeId, to: NodeId, next: &impl Fn(NodeId) -> u32) -> usize {
        let (mut at, mut count) = (from, 0);
        while at != to {
            match next(at) {
                NO_ROUTE => return usize::MAX,
                hop => at = self.routes.topology().end_of(hop as usize),
            }
            count += 1;
        }
        count
    }

    #[cold]
    fn forward_to_medium(&mut self, node: NodeId, hop: u32, packet: Box<Packet>) {
        if hop == NO_ROUTE {
            return self.drop_unroutable(node, packet);
        }
        let Hop::Medium { medium, from, to } = self.routes.topology().hop(hop as usize) else {
            unreachable!("a hop behind those of all links is one of a medium")
        };
        self.media[medium].offer(self.now, from as u16, to as u16, packet, &mut self.exits);
        self.set_medium_timer(medium);
    }

    fn drop_unroutable(&mut self, node: NodeId, packet: Box<Packet>) {
        self.unroutable += 1;
        self.drop_at(node, packet);
    }
    fn drop_at_port(&mut self, node: NodeId, packet: Box<Packet>) {
        self.dropped_at_ports += 1;
        self.drop_at(node, packet);
    }
    /// Drops a packet between carrier and node.
    pub(super) fn drop_at(&mut self, node: NodeId, packet: Box<Packet>) {
        self.between.entry(node).or_default().dropped.add(packet.flow, packet.size);
        self.exits.discard(packet);
    }
}
