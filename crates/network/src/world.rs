//! Nodes, carriers and the clock together: the loop that everything runs in.
//!
//! The order of what happens at one instant is part of the contract:
//! * Timers go off in this order: nodes in the order of definition, then the directions of links, forward before backward, in
//!   the order of definition, then media. A timer that is set to this instant, or to the past, while it lasts goes off within
//!   it, in this order among those that are still due.
//! * What a node or a carrier hands over is taken by the next one before any other timer goes off, first in, first out.
//!   Packets that reach the end of a carrier at one instant are handed over one by one: what a host sends in reply to the
//!   first is on its way before it sees the second.
//! * Within one direction of a link, deliveries at one instant are in the order of transmission.

mod forward;

use crate::address::{NodeId, Port};
use crate::buffer::Overflow;
use crate::drops::Drops;
use crate::exits::Exits;
use crate::link::Link;
use crate::medium::Medium;
use crate::middlebox::Middlebox;
use crate::node::Node;
use crate::topology::Topology;
use forward::Ways;
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
    /// A carrier holds more packets than memory is set aside for.
    Overflow {
        /// The name of the direction of a link, or of the attachment of a medium.
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

/// What is at a node.
pub enum Place<H> {
    /// Nothing that packets are for: they pass.
    Router,
    /// A host.
    Host(H),
    /// A middlebox.
    Middlebox(Box<dyn Middlebox>),
}

impl<H: Node> Place<H> {
    fn node(&self) -> Option<&dyn Node> {
        match self {
            Place::Router => None,
            Place::Host(host) => Some(host),
            Place::Middlebox(middlebox) => Some(&**middlebox),
        }
    }
    #[inline]
    fn wake_at(&self) -> Option<Time> {
        match self {
            Place::Router => None,
            Place::Host(host) => host.wake_at(),
            Place::Middlebox(middlebox) => middlebox.wake_at(),
        }
    }
}

impl<H> From<Option<H>> for Place<H> {
    fn from(host: Option<H>) -> Place<H> {
        host.map_or(Place::Router, Place::Host)
    }
}

/// What moves packets between nodes.
#[derive(Default)]
pub struct Carriers {
    /// The directions of the links: that of link `n` forward at `2 n`, backward at `2 n + 1`.
    pub links: Vec<Link>,
    /// The media.
    pub media: Vec<Box<dyn Medium>>,
}

/// A network with hosts of the type `H` at some of its nodes.
pub struct World<H> {
    now: Time,
    /// Timers that went off and packets that arrived, so far.
    events: u64,
    /// How many of them were before `now`.
    earlier_events: u64,
    nodes: Vec<Place<H>>,
    /// Which nodes take what passes by.
    transit: Vec<bool>,
    /// How far ahead nodes want to know what arrives.
    foresight: Vec<usize>,
    links: Vec<Link>,
    /// For each direction of a link the node and the port that it leads to.
    ends: Vec<(NodeId, Port)>,
    media: Vec<Box<dyn Medium>>,
    /// For each medium the node and the port of each attachment.
    attached: Vec<Vec<(NodeId, Port)>>,
    /// For each host and each middlebox the next hop by node; empty for routers, which no packet is for.
    routes: Vec<Vec<u32>>,
    ways: Ways,
    topology: Topology,
    timers: Timers,
    exits: Exits,
    unroutable: u64,
    dropped_at_ports: u64,
    /// What is dropped between carriers and nodes.
    drops: Drops,
}

impl<H> fmt::Debug for World<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("now", &self.now).field("links", &self.links).finish_non_exhaustive()
    }
}

impl<H: Node> World<H> {
    /// A world at time zero: a place for each node of the topology, two directions for each link, and the media.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn new(topology: &Topology, carriers: Carriers, places: Vec<Place<H>>) -> World<H> {
        let Carriers { links, media } = carriers;
        assert_eq!(links.len(), 2 * topology.links().len(), "two directions for each link");
        assert_eq!(media.len(), topology.media(), "one medium for each of the topology");
        assert_eq!(places.len(), topology.nodes().len(), "a place for each node");
        let routes = |(node, place): (usize, &Place<H>)| match place {
            Place::Router => Vec::new(),
            _ => topology.routes_to(NodeId(node as u32), None),
        };
        let mut timers = Timers::new(places.len() + links.len() + media.len());
        for (node, place) in places.iter().enumerate() {
            timers.set(node, place.wake_at());
        }
        let (link_ports, medium_ports) = topology.arrival_ports();
        let ends = link_ports.into_iter().enumerate().map(|(hop, port)| (topology.end_of(hop), port));
        let attached = medium_ports
            .into_iter()
            .enumerate()
            .map(|(medium, ports)| topology.attachments(medium).iter().copied().zip(ports).collect());
        let node = |place: &Place<H>, of: fn(&dyn Node) -> usize| place.node().map_or(0, of);
        let mut world = World {
            now: Time::ZERO,
            events: 0,
            earlier_events: 0,
            transit: places.iter().map(|place| place.node().is_some_and(Node::takes_transit)).collect(),
            foresight: places.iter().map(|place| node(place, |node| node.foresight())).collect(),
            ends: ends.collect(),
            attached: attached.collect(),
            routes: places.iter().enumerate().map(routes).collect(),
            ways: Ways::default(),
            nodes: places,
            links,
            media,
            topology: topology.clone(),
            timers,
            exits: Exits::default(),
            unroutable: 0,
            dropped_at_ports: 0,
            drops: Drops::default(),
        };
        for (node, routes) in world.routes.iter().enumerate() {
            let address = (NodeId(node as u32), None);
            forward::teach_routes(&mut world.nodes, &world.topology, address, routes);
        }
        world
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
        match self.nodes.get(node.0 as usize)? {
            Place::Host(host) => Some(host),
            _ => None,
        }
    }
    /// The host at a node, to take something out of it. It must not send, nor change when it wants to be woken: for
    /// that there is [`World::act`].
    pub fn host_mut(&mut self, node: NodeId) -> Option<&mut H> {
        match self.nodes.get_mut(node.0 as usize)? {
            Place::Host(host) => Some(host),
            _ => None,
        }
    }
    /// The hosts in the order of their nodes.
    pub fn hosts(&self) -> impl Iterator<Item = &H> {
        self.nodes.iter().filter_map(|place| match place {
            Place::Host(host) => Some(host),
            _ => None,
        })
    }
    /// The hosts in the order of their nodes, to take something out of them. See [`World::host_mut`].
    pub fn hosts_mut(&mut self) -> impl Iterator<Item = &mut H> {
        self.nodes.iter_mut().filter_map(|place| match place {
            Place::Host(host) => Some(host),
            _ => None,
        })
    }
    /// The middleboxes in the order of their nodes.
    pub fn middleboxes(&self) -> impl Iterator<Item = (NodeId, &dyn Middlebox)> {
        self.nodes.iter().enumerate().filter_map(|(node, place)| match place {
            Place::Middlebox(middlebox) => Some((NodeId(node as u32), &**middlebox)),
            _ => None,
        })
    }
    /// The middlebox at a node, to empty its log.
    pub fn middlebox_mut(&mut self, node: NodeId) -> Option<&mut dyn Middlebox> {
        match self.nodes.get_mut(node.0 as usize)? {
            Place::Middlebox(middlebox) => Some(&mut **middlebox),
            _ => None,
        }
    }
    /// The directions of the links: that of link `n` forward at `2 n`, backward at `2 n + 1`.
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// The directions of the links, to empty their logs.
    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }
    /// The media.
    pub fn media(&self) -> &[Box<dyn Medium>] {
        &self.media
    }
    /// The media, to empty their logs.
    pub fn media_mut(&mut self) -> &mut [Box<dyn Medium>] {
        &mut self.media
    }
    /// Packets for addresses that nobody has, or that no way leads to.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }
    /// Packets that were dropped because they would have left, or had arrived, by a port that was down.
    pub fn dropped_at_ports(&self) -> u64 {
        self.dropped_at_ports
    }

    /// Packets of a flow that were dropped or lost anywhere in the network. Flows from 65,536 on are not counted one by one.
    pub fn drops_of(&self, flow: u32) -> u64 {
        let links = self.links.iter().map(|link| link.drops_of(flow));
        let media = self.media.iter().map(|medium| medium.drops_of(flow));
        let boxes = self.middleboxes().map(|(_, middlebox)| middlebox.drops_of(flow));
        self.drops.of(flow) + links.chain(media).chain(boxes).sum::<u64>()
    }

    /// Acts on a host from outside, now: what it sends then is on its way, and its timer is asked. `None`: there is no
    /// host at this node.
    pub fn act<R>(&mut self, node: NodeId, action: impl FnOnce(&mut H, Time, &mut Exits) -> R) -> Option<R> {
        let index = node.0 as usize;
        let Place::Host(host) = self.nodes.get_mut(index)? else { return None };
        let result = action(host, self.now, &mut self.exits);
        self.timers.set(index, host.wake_at());
        self.forward_all(node);
        Some(result)
    }

    /// Has the middlebox at a node lose its memory, now; nothing happens if there is none.
    pub fn forget(&mut self, node: NodeId) {
        let index = node.0 as usize;
        if let Some(Place::Middlebox(middlebox)) = self.nodes.get_mut(index) {
            middlebox.forget(self.now);
            self.timers.set(index, middlebox.wake_at());
        }
    }

    /// Brings the counters and logs of all carriers up to now. [`World::run`] does so itself when it gives `Reached` or
    /// `Idle`.
    pub fn catch_up(&mut self) {
        for link in &mut self.links {
            link.catch_up(self.now, &mut self.exits);
        }
        for medium in &mut self.media {
            medium.catch_up(self.now, &mut self.exits);
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
        let links = self.links.iter().map(|link| Some((link.name(), link.overflow()?)));
        let mut all = links.chain(self.media.iter().map(|medium| medium.overflow()));
        Err(match all.find_map(|overflow| overflow) {
            Some((link, what)) => RunError::Overflow { link: link.to_owned(), what, at },
            None => RunError::Stuck { at },
        })
    }

    #[inline]
    fn wake(&mut self, element: usize) {
        let (now, nodes) = (self.now, self.nodes.len());
        let Some(direction) = element.checked_sub(nodes) else {
            match &mut self.nodes[element] {
                Place::Host(host) => {
                    host.wake(now, &mut self.exits);
                    self.timers.set(element, host.wake_at());
                }
                Place::Middlebox(middlebox) => {
                    middlebox.wake(now, &mut self.exits);
                    self.timers.set(element, middlebox.wake_at());
                }
                Place::Router => {}
            }
            return self.forward_all(NodeId(element as u32));
        };
        let Some((node, port)) = self.ends.get(direction).copied() else {
            return self.wake_medium(direction - self.ends.len());
        };
        // One packet after the other: each is where it goes before the next one leaves the link.
        while self.links[direction].is_due(now) {
            self.events += 1;
            if let Some(packet) = self.links[direction].deliver(now, &mut self.exits) {
                if self.foresight[node.0 as usize] > 0 {
                    self.foresee(direction, node);
                }
                self.arrive((node, port), packet);
            }
        }
        self.timers.set(element, self.links[direction].wake_at());
    }

    #[cold]
    fn wake_medium(&mut self, medium: usize) {
        while self.media[medium].is_due(self.now) {
            self.events += 1;
            if let Some((attachment, packet)) = self.media[medium].deliver(self.now, &mut self.exits) {
                self.arrive(self.attached[medium][usize::from(attachment)], packet);
            }
        }
        self.set_medium_timer(medium);
    }
    fn set_medium_timer(&mut self, medium: usize) {
        let at = self.media[medium].wake_at();
        self.timers.set(self.nodes.len() + self.links.len() + medium, at);
    }

    /// Tells a host what will arrive from a link, and asks for the packet that it will be told of next time.
    fn foresee(&self, direction: usize, node: NodeId) {
        let (node, link) = (node.0 as usize, &self.links[direction]);
        let Some(listener) = self.nodes[node].node() else { return };
        for ahead in 0..self.foresight[node] {
            let Some(packet) = link.upcoming(ahead) else { return };
            listener.foresee(packet, ahead);
        }
        link.upcoming(self.foresight[node]).into_iter().for_each(units::cache::ask_for);
    }
}
