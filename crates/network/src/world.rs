//! Nodes, links and the clock together: the loop that everything runs in.
//!
//! The order of what happens at one instant is part of the contract. Timers go off in the order of their elements:
//! nodes first, in the order of definition, then the directions of links (forward before backward, in the order of
//! definition). What an element hands over at an instant is taken by the next elements in that order, before any
//! other timer goes off.

use crate::clock::Clock;
use crate::topology::{NodeId, Topology, node_of};
use crate::{Element, Exits, Link, Packet};
use units::Time;

/// Why [`World::run`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Nothing more will happen before the given time.
    Reached,
    /// So many things happened as were asked for.
    Budget,
    /// Nothing more will happen at all.
    Idle,
    /// The caller's condition holds.
    Stopped,
}

/// A network with hosts of the type `H` at some of its nodes; the others are routers.
#[derive(Debug)]
pub struct World<H> {
    now: Time,
    hosts: Vec<Option<H>>,
    links: Vec<Link>,
    ends: Vec<NodeId>,
    routes: Vec<Vec<u32>>,
    clock: Clock,
    exits: Exits,
    unroutable: u64,
}

impl<H: Element> World<H> {
    /// A world at time zero. `links` has two entries for each link of the topology, forward and backward; `hosts` one
    /// for each node.
    pub fn new(topology: &Topology, links: Vec<Link>, hosts: Vec<Option<H>>) -> World<H> {
        debug_assert_eq!((links.len(), hosts.len()), (2 * topology.links().len(), topology.nodes().len()));
        let mut clock = Clock::new(hosts.len() + links.len());
        for (i, host) in hosts.iter().enumerate() {
            clock.set(i, host.as_ref().and_then(Element::wake_at));
        }
        World {
            now: Time::ZERO,
            ends: (0..links.len()).map(|direction| topology.end_of(direction)).collect(),
            routes: topology.routes(),
            hosts,
            links,
            clock,
            exits: Exits::default(),
            unroutable: 0,
        }
    }

    /// Now.
    pub fn now(&self) -> Time {
        self.now
    }
    /// The hosts, by node.
    pub fn hosts(&self) -> impl Iterator<Item = &H> {
        self.hosts.iter().flatten()
    }
    /// The hosts, by node, to act on.
    pub fn hosts_mut(&mut self) -> impl Iterator<Item = &mut H> {
        self.hosts.iter_mut().flatten()
    }
    /// The directions of the links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// The directions of the links, to act on.
    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }
    /// Packets for addresses that no host has.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }

    /// Lets things happen until `end`, until `budget` timers went off, or until `stop` holds, which is asked after each.
    /// At `Reached` and `Idle` the clock stands at `end`.
    pub fn run(&mut self, end: Time, budget: u64, mut stop: impl FnMut() -> bool) -> Step {
        for _ in 0..budget {
            if stop() {
                return Step::Stopped;
            }
            let Some((at, element)) = self.clock.next() else {
                self.now = self.now.max(end);
                return Step::Idle;
            };
            if at > end {
                self.now = self.now.max(end);
                return Step::Reached;
            }
            // A timer that was set to the past is due at once: time never goes back.
            self.now = self.now.max(at);
            self.wake(element);
        }
        Step::Budget
    }

    #[inline]
    fn wake(&mut self, element: usize) {
        let (now, nodes) = (self.now, self.hosts.len());
        if element >= nodes {
            let node = self.ends[element - nodes];
            // One packet after the other: each is where it goes before the next one leaves the link.
            while let Some(packet) = self.links[element - nodes].deliver(now) {
                self.arrive(node, packet);
            }
            let at = self.links[element - nodes].wake_at();
            self.clock.set(element, at);
            return;
        }
        if let Some(host) = &mut self.hosts[element] {
            host.wake(now, &mut self.exits);
            self.clock.set(element, host.wake_at());
        }
        self.forward_all(NodeId(element as u32));
    }

    /// A packet is at a node: it is for its host, or goes on.
    #[inline]
    fn arrive(&mut self, node: NodeId, packet: Packet) {
        let index = node.0 as usize;
        if node_of(packet.destination.ip()) != Some(node) {
            return self.forward(node, packet);
        }
        match &mut self.hosts[index] {
            Some(host) => {
                host.accept(self.now, packet, &mut self.exits);
                self.clock.set(index, host.wake_at());
                self.forward_all(node);
            }
            None => self.drop_unroutable(packet),
        }
    }

    /// Sends on what a host has left behind.
    #[inline]
    fn forward_all(&mut self, node: NodeId) {
        while let Some(packet) = self.exits.leaving.pop_front() {
            self.forward(node, packet);
        }
    }

    #[inline]
    fn forward(&mut self, node: NodeId, packet: Packet) {
        let destination = node_of(packet.destination.ip());
        let direction = destination
            .and_then(|to| self.routes.get(to.0 as usize))
            .map_or(u32::MAX, |row| row[node.0 as usize]);
        let Some(link) = self.links.get_mut(direction as usize) else {
            return self.drop_unroutable(packet);
        };
        link.accept(self.now, packet, &mut self.exits);
        self.clock.set(self.hosts.len() + direction as usize, link.wake_at());
    }

    fn drop_unroutable(&mut self, packet: Packet) {
        self.unroutable += 1;
        self.exits.recycle(packet.bytes);
    }
}
