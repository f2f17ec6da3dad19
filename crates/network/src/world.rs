//! Nodes, links and the clock together: the loop that everything runs in.
//!
//! The order of what happens at one instant is part of the contract:
//! * Timers go off in the order of their elements: nodes first, in the order of definition, then the directions of
//!   links, forward before backward, in the order of definition. A timer that is set to this instant, or to the past,
//!   while it lasts goes off within it, in this order among those that are still due.
//! * What an element hands over is taken by the next element before any other timer goes off, first in, first out.
//!   Packets that reach the end of a link at one instant are handed over one by one: what a host sends in reply to the
//!   first is on its way before it sees the second.
//! * Within one direction of a link, deliveries at one instant are in the order of transmission.

use crate::element::{Element, Exits};
use crate::link::{Link, Overflow};
use crate::packet::Packet;
use crate::topology::{NO_ROUTE, NodeId, Topology, node_of};
use std::fmt;
use units::{Time, Timers};

/// The most timers that go off and packets that arrive at one instant: a run in which time no longer passes ends with an
/// error.
pub const MAX_AT_ONE_INSTANT: u64 = 10_000_000;

/// Why [`World::run`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// All has happened up to and at the given time, and the clock stands there.
    Reached,
    /// All has happened that ever will. The clock stands at the given time, or where it was if that is
    /// [`Time::NEVER`].
    Idle,
    /// So many timers went off as were asked for.
    Budget,
    /// The caller's condition holds.
    Stopped,
}

/// Why a run cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// A link holds more packets than memory is set aside for.
    Overflow {
        /// The name of the direction.
        link: String,
        /// What was too much.
        what: Overflow,
        /// When.
        at: Time,
    },
    /// Time does not pass any more: more than [`MAX_AT_ONE_INSTANT`] timers went off and packets arrived at one instant.
    Stuck {
        /// The instant.
        at: Time,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Overflow { link, what, at } => {
                write!(f, "{link} overflows at {at}: {what}; give its queue a limit, or send less")
            }
            RunError::Stuck { at } => {
                write!(
                    f,
                    "time stands still at {at}: more than {MAX_AT_ONE_INSTANT} timers went off and packets "
                )?;
                f.write_str("arrived at this instant; a rate or a delay on the path lets time pass")
            }
        }
    }
}
impl std::error::Error for RunError {}

/// A network with hosts of the type `H` at some of its nodes; the others are routers.
#[derive(Debug)]
pub struct World<H> {
    now: Time,
    /// Timers that went off and packets that arrived, so far.
    events: u64,
    /// How many of them were before `now`.
    earlier_events: u64,
    hosts: Vec<Option<H>>,
    /// Which hosts take what passes by.
    transit: Vec<bool>,
    /// How far ahead hosts want to know what arrives.
    foresight: Vec<usize>,
    links: Vec<Link>,
    ends: Vec<NodeId>,
    /// For each host the next direction by node; empty for routers, which no packet is for.
    routes: Vec<Vec<u32>>,
    timers: Timers,
    exits: Exits,
    unroutable: u64,
}

impl<H: Element> World<H> {
    /// A world at time zero. `links` has two entries for each link of the topology, forward and backward; `hosts` one
    /// for each node.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn new(topology: &Topology, links: Vec<Link>, hosts: Vec<Option<H>>) -> World<H> {
        assert_eq!(links.len(), 2 * topology.links().len(), "two directions for each link");
        assert_eq!(hosts.len(), topology.nodes().len(), "a place for a host at each node");
        let routes = |(node, host): (usize, &Option<H>)| match host {
            Some(_) => topology.routes_to(NodeId(node as u32)),
            None => Vec::new(),
        };
        let mut timers = Timers::new(hosts.len() + links.len());
        for (node, host) in hosts.iter().enumerate() {
            timers.set(node, host.as_ref().and_then(Element::wake_at));
        }
        World {
            now: Time::ZERO,
            events: 0,
            earlier_events: 0,
            transit: hosts.iter().map(|host| host.as_ref().is_some_and(Element::takes_transit)).collect(),
            foresight: hosts.iter().map(|host| host.as_ref().map_or(0, Element::foresight)).collect(),
            ends: (0..links.len()).map(|direction| topology.end_of(direction)).collect(),
            routes: hosts.iter().enumerate().map(routes).collect(),
            hosts,
            links,
            timers,
            exits: Exits::default(),
            unroutable: 0,
        }
    }

    /// Now.
    pub fn now(&self) -> Time {
        self.now
    }
    /// When the next timer goes off; `None`: nothing will happen any more unless somebody acts from outside.
    pub fn next_at(&self) -> Option<Time> {
        self.timers.at()
    }
    /// The host at a node, to look at.
    pub fn host(&self, node: NodeId) -> Option<&H> {
        self.hosts.get(node.0 as usize)?.as_ref()
    }
    /// The host at a node, to take something out of it. It must not send, nor change when it wants to be woken: for
    /// that there is [`World::act`].
    pub fn host_mut(&mut self, node: NodeId) -> Option<&mut H> {
        self.hosts.get_mut(node.0 as usize)?.as_mut()
    }
    /// The hosts in the order of their nodes.
    pub fn hosts(&self) -> impl Iterator<Item = &H> {
        self.hosts.iter().flatten()
    }
    /// The hosts in the order of their nodes, to take something out of them. See [`World::host_mut`].
    pub fn hosts_mut(&mut self) -> impl Iterator<Item = &mut H> {
        self.hosts.iter_mut().flatten()
    }
    /// The directions of the links: that of link `n` forward at `2 n`, backward at `2 n + 1`.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// The directions of the links, to empty their logs.
    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }
    /// Packets for addresses that no host has, or that no way leads to.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }
    /// Takes the world apart.
    pub fn into_parts(self) -> (Vec<Option<H>>, Vec<Link>) {
        (self.hosts, self.links)
    }

    /// Acts on a host from outside, now: what it sends then is on its way, and its timer is asked. `None`: there is no
    /// host at this node.
    pub fn act<R>(&mut self, node: NodeId, action: impl FnOnce(&mut H, Time, &mut Exits) -> R) -> Option<R> {
        let index = node.0 as usize;
        let host = self.hosts.get_mut(index)?.as_mut()?;
        let result = action(host, self.now, &mut self.exits);
        self.timers.set(index, host.wake_at());
        self.forward_all(node);
        Some(result)
    }

    /// Brings the counters and logs of all links up to now. [`World::run`] does so itself when it gives `Reached` or
    /// `Idle`.
    pub fn catch_up(&mut self) {
        for link in &mut self.links {
            link.catch_up(self.now, &mut self.exits);
        }
    }

    /// Lets things happen up to and at `end`, or until `budget` timers went off and packets arrived. A run in pieces is
    /// the same run.
    ///
    /// # Errors
    /// If the run cannot go on: an unlimited queue that grows over all bounds, or time that does not pass.
    pub fn run(&mut self, end: Time, budget: u64) -> Result<Step, RunError> {
        self.run_until(end, budget, |_| false)
    }

    /// The same, until a condition holds: it is asked after each timer.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn run_until(
        &mut self,
        end: Time,
        budget: u64,
        mut stop: impl FnMut(&World<H>) -> bool,
    ) -> Result<Step, RunError> {
        let last = self.events.saturating_add(budget);
        while self.events < last {
            let next = self.timers.next();
            let Some((at, element)) = next.filter(|(at, _)| *at <= end) else {
                let idle = next.is_none();
                if !(idle && end == Time::NEVER) {
                    self.move_to(end);
                }
                self.catch_up();
                self.check()?;
                return Ok(if idle { Step::Idle } else { Step::Reached });
            };
            self.move_to(at);
            self.events += 1;
            self.wake(element);
            self.check()?;
            if stop(self) {
                return Ok(Step::Stopped);
            }
        }
        Ok(Step::Budget)
    }

    /// Moves the clock. Time never goes back: a timer that was set to the past is due at once.
    #[inline]
    fn move_to(&mut self, at: Time) {
        if at > self.now {
            self.now = at;
            self.earlier_events = self.events;
        }
    }

    #[inline]
    fn check(&self) -> Result<(), RunError> {
        if self.events - self.earlier_events <= MAX_AT_ONE_INSTANT && !self.exits.must_stop() {
            return Ok(());
        }
        let at = self.now;
        let overflow = self.links.iter().find_map(|link| Some((link.name().to_owned(), link.overflow()?)));
        Err(match overflow {
            Some((link, what)) => RunError::Overflow { link, what, at },
            None => RunError::Stuck { at },
        })
    }

    #[inline]
    fn wake(&mut self, element: usize) {
        let (now, nodes) = (self.now, self.hosts.len());
        let Some(direction) = element.checked_sub(nodes) else {
            if let Some(host) = &mut self.hosts[element] {
                host.wake(now, &mut self.exits);
                self.timers.set(element, host.wake_at());
            }
            return self.forward_all(NodeId(element as u32));
        };
        let node = self.ends[direction];
        // One packet after the other: each is where it goes before the next one leaves the link.
        while self.links[direction].is_due(now) {
            self.events += 1;
            if let Some(packet) = self.links[direction].deliver(now, &mut self.exits) {
                if self.foresight[node.0 as usize] > 0 {
                    self.foresee(direction, node);
                }
                self.arrive(node, packet);
            }
        }
        self.timers.set(element, self.links[direction].wake_at());
    }

    /// Tells a host what will arrive from a link, and asks for the packet that it will be told of next time.
    fn foresee(&self, direction: usize, node: NodeId) {
        let (node, link) = (node.0 as usize, &self.links[direction]);
        let Some(host) = &self.hosts[node] else { return };
        for ahead in 0..self.foresight[node] {
            let Some(packet) = link.upcoming(ahead) else { return };
            host.foresee(packet, ahead);
        }
        link.upcoming(self.foresight[node]).into_iter().for_each(units::cache::ask_for);
    }

    /// A packet is at a node: it is for its host, or goes on.
    #[inline]
    fn arrive(&mut self, node: NodeId, packet: Box<Packet>) {
        let index = node.0 as usize;
        if node_of(packet.destination.ip()) != Some(node) && !self.transit[index] {
            return self.forward(node, packet);
        }
        match &mut self.hosts[index] {
            Some(host) => {
                let packet = self.exits.unplace(packet);
                host.accept(self.now, packet, &mut self.exits);
                self.timers.set(index, host.wake_at());
                self.forward_all(node);
            }
            None => self.drop_unroutable(packet),
        }
    }

    /// Sends on what a host has left behind.
    #[inline]
    fn forward_all(&mut self, node: NodeId) {
        while let Some(packet) = self.exits.take_placed() {
            self.forward(node, packet);
        }
    }

    #[inline]
    fn forward(&mut self, node: NodeId, packet: Box<Packet>) {
        let destination = node_of(packet.destination.ip());
        let row = destination.and_then(|to| self.routes.get(to.0 as usize));
        let direction = row.and_then(|row| row.get(node.0 as usize)).copied().unwrap_or(NO_ROUTE) as usize;
        let Some(link) = self.links.get_mut(direction) else {
            return self.drop_unroutable(packet);
        };
        link.offer(self.now, packet, &mut self.exits);
        self.timers.set(self.hosts.len() + direction, link.wake_at());
    }

    fn drop_unroutable(&mut self, packet: Box<Packet>) {
        self.unroutable += 1;
        self.exits.discard(packet);
    }
}
