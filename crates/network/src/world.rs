//! The world: nodes, carriers and the clock, and the loop that runs them.
//!
//! The order of events at one instant is part of the contract:
//! * Timers expire in this order: nodes in the order of definition, then the directions of links (forward
//!   before backward) in the order of definition, then media, then the processing of nodes. A timer that is set during an instant to that
//!   instant, or to the past, expires within it, in this order among those that are still due.
//! * A packet that a node or a carrier hands over is taken by the next one before any other timer expires,
//!   first in, first out. Packets that reach the end of a carrier at one instant are handed over one by one: a
//!   host's reply to the first is sent before the host sees the second.
//! * Within one direction of a link, deliveries at one instant are in the order of transmission.

mod answer;
mod audit;
mod forward;
mod prefetch;

use crate::address::{NodeId, Port};
use crate::books::PacketBooks;
use crate::buffer::Overflow;
use crate::exits::Exits;
use crate::front::Front;
use crate::gate::Gate;
use crate::link::Link;
use crate::medium::Medium;
use crate::middlebox::Middlebox;
use crate::node::Node;
use crate::packet::Packet;
use crate::processing::Processor;
use crate::routes::Routes;
use crate::topology::Topology;
pub use answer::AnswerCounts;
use forward::Ways;
pub use prefetch::Prefetch;
use prefetch::Prefetching;
use std::collections::BTreeMap;
use std::fmt;
use units::{Time, Timers};

/// The maximum number of expired timers and arrived packets at one instant. A run in which time does not pass
/// ends with an error.
pub const MAX_AT_ONE_INSTANT: u64 = 10_000_000;

/// Why [`World::run`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Everything up to and at the given time has happened, and the clock is there.
    Reached,
    /// Nothing more will happen. The clock is at the given time, or unchanged if that is [`Time::NEVER`].
    Idle,
    /// The requested number of timers has expired.
    Budget,
    /// The caller's condition holds.
    Stopped,
}

/// Why a run cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// A carrier holds more packets than its memory allows.
    Overflow {
        /// The name of the direction of a link, or of the attachment of a medium.
        link: String,
        /// What exceeded its limit.
        what: Overflow,
        /// When.
        at: Time,
    },
    /// Time does not pass: more than [`MAX_AT_ONE_INSTANT`] timers expired and packets arrived at one instant.
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
                    "time stands still at {at}: more than {MAX_AT_ONE_INSTANT} timers expired and packets "
                )?;
                f.write_str("arrived at this instant; give the path a rate or a delay")
            }
        }
    }
}
impl std::error::Error for RunError {}

/// Learns which element of a world acts: for runs in real time, where an element may act late.
///
/// The elements have the numbers of their timers: the nodes in the order of definition, then the directions of links (forward
/// before backward), then the media.
///
/// It is passed on by value, so that nobody who watches is nothing that is passed on.
pub trait Watch: Copy {
    /// The element with this number acts now, at this time of the world: its timer expires, or a packet reaches it.
    fn acts(self, element: usize, at: Time);
    /// A packet reaches a node at this time of the world, its destination or one on the way.
    #[inline(always)]
    fn reaches(self, _node: NodeId, _at: Time, _packet: &Packet) {}
}

/// Nobody watches, which costs nothing.
impl Watch for () {
    #[inline(always)]
    fn acts(self, _: usize, _: Time) {}
}

/// What is at a node.
pub enum Occupant<H> {
    /// A router: packets pass, and none is addressed to it.
    Router,
    /// A host.
    Host(H),
    /// A middlebox.
    Middlebox(Box<dyn Middlebox>),
    /// A host behind a middlebox.
    Fronted(Box<Front<H>>),
    /// A gate to the outside.
    Gate(Gate),
}

impl<H: Node> Occupant<H> {
    fn node(&self) -> Option<&dyn Node> {
        match self {
            Occupant::Router => None,
            Occupant::Host(host) => Some(host),
            Occupant::Middlebox(middlebox) => Some(&**middlebox),
            Occupant::Fronted(front) => Some(&**front),
            Occupant::Gate(gate) => Some(gate),
        }
    }
    fn host(&self) -> Option<&H> {
        match self {
            Occupant::Host(host) => Some(host),
            Occupant::Fronted(front) => Some(front.host()),
            Occupant::Router | Occupant::Middlebox(_) | Occupant::Gate(_) => None,
        }
    }
    fn host_mut(&mut self) -> Option<&mut H> {
        match self {
            Occupant::Host(host) => Some(host),
            Occupant::Fronted(front) => Some(front.host_mut()),
            Occupant::Router | Occupant::Middlebox(_) | Occupant::Gate(_) => None,
        }
    }
    fn middlebox(&self) -> Option<&dyn Middlebox> {
        match self {
            Occupant::Middlebox(middlebox) => Some(&**middlebox),
            Occupant::Fronted(front) => Some(front.middlebox()),
            Occupant::Router | Occupant::Host(_) | Occupant::Gate(_) => None,
        }
    }
    fn middlebox_mut(&mut self) -> Option<&mut dyn Middlebox> {
        match self {
            Occupant::Middlebox(middlebox) => Some(&mut **middlebox),
            Occupant::Fronted(front) => Some(front.middlebox_mut()),
            Occupant::Router | Occupant::Host(_) | Occupant::Gate(_) => None,
        }
    }
    #[inline]
    fn wake_at(&self) -> Option<Time> {
        match self {
            Occupant::Router | Occupant::Gate(_) => None,
            Occupant::Host(host) => host.wake_at(),
            Occupant::Middlebox(middlebox) => middlebox.wake_at(),
            Occupant::Fronted(front) => front.wake_at(),
        }
    }
}

impl<H> From<Option<H>> for Occupant<H> {
    fn from(host: Option<H>) -> Occupant<H> {
        host.map_or(Occupant::Router, Occupant::Host)
    }
}

/// The carriers, which move packets between nodes.
#[derive(Default)]
pub struct Carriers {
    /// The directions of the links: that of link `n` forward at `2 n`, backward at `2 n + 1`.
    pub links: Vec<Link>,
    /// The media.
    pub media: Vec<Box<dyn Medium>>,
    /// The processing of the nodes that take time for packets.
    pub processors: Vec<(NodeId, Processor)>,
}

/// A network with hosts of the type `H` at some of its nodes.
pub struct World<H> {
    now: Time,
    /// The number of expired timers and arrived packets so far.
    events: u64,
    /// The number of these before `now`.
    earlier_events: u64,
    nodes: Vec<Occupant<H>>,
    /// Whether each node takes packets in transit.
    transit: Vec<bool>,
    prefetching: Prefetching<H>,
    links: Vec<Link>,
    /// The node and the port at the end of each direction of a link.
    ends: Vec<(NodeId, Port)>,
    media: Vec<Box<dyn Medium>>,
    /// The node and the port of each attachment of each medium.
    attached: Vec<Vec<(NodeId, Port)>>,
    /// The processing of nodes, and the number of that of each node; empty if none takes time.
    processors: Vec<(NodeId, Processor)>,
    processor_of: Vec<Option<usize>>,
    /// The routes to hosts, middleboxes and gates; routers are a destination only if there is a gate.
    routes: Routes,
    ways: Ways,
    timers: Timers,
    exits: Exits,
    unroutable: u64,
    dropped_at_ports: u64,
    answers: AnswerCounts,
    /// What came of packets between carriers and nodes, by node.
    between: BTreeMap<NodeId, PacketBooks>,
}

impl<H> fmt::Debug for World<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("now", &self.now).field("links", &self.links).finish_non_exhaustive()
    }
}

impl<H: Node> World<H> {
    /// Creates a world at time zero: a place for each node of the topology, two directions for each link, and
    /// the media.
    ///
    /// # Panics
    /// If the numbers differ from those of the topology.
    pub fn new(topology: &Topology, carriers: Carriers, places: Vec<Occupant<H>>) -> World<H> {
        World::with_routes(Routes::new(topology.clone()), carriers, places)
    }

    /// [`World::new`] with the routes of the topology.
    ///
    /// # Panics
    /// As `new`.
    pub fn with_routes(mut routes: Routes, carriers: Carriers, places: Vec<Occupant<H>>) -> World<H> {
        let topology = routes.topology();
        let Carriers { links, media, processors } = carriers;
        assert_eq!(links.len(), 2 * topology.links().len(), "two directions for each link");
        assert_eq!(media.len(), topology.media(), "one medium for each of the topology");
        assert_eq!(places.len(), topology.nodes().len(), "a place for each node");
        let mut timers = Timers::new(places.len() + links.len() + media.len() + processors.len());
        let mut processor_of = Vec::new();
        for (number, (node, _)) in processors.iter().enumerate() {
            processor_of.resize(places.len(), None);
            let other = processor_of[node.0 as usize].replace(number);
            assert_eq!(other, None, "a node has at most one processor");
        }
        for (node, place) in places.iter().enumerate() {
            timers.set(node, place.wake_at());
        }
        let (link_ports, medium_ports) = topology.arrival_ports();
        let ends = link_ports.into_iter().enumerate().map(|(hop, port)| (topology.end_of(hop), port));
        let attached = medium_ports
            .into_iter()
            .enumerate()
            .map(|(medium, ports)| topology.attachments(medium).iter().copied().zip(ports).collect())
            .collect();
        let ends = ends.collect();
        // What comes from outside may be for a router, too, and its answers are.
        let has_gate = places.iter().any(|place| matches!(place, Occupant::Gate(_)));
        routes.keep(|node| has_gate || !matches!(places[node.0 as usize], Occupant::Router));
        let mut world = World {
            now: Time::ZERO,
            events: 0,
            earlier_events: 0,
            transit: places.iter().map(|place| place.node().is_some_and(Node::takes_transit)).collect(),
            prefetching: Prefetching::default(),
            ends,
            attached,
            processors,
            processor_of,
            routes,
            ways: Ways::default(),
            nodes: places,
            links,
            media,
            timers,
            exits: Exits::default(),
            unroutable: 0,
            dropped_at_ports: 0,
            answers: AnswerCounts::default(),
            between: BTreeMap::new(),
        };
        world.teach_all_routes();
        world
    }

    /// The routes to hosts, middleboxes and gates.
    pub fn into_routes(self) -> Routes {
        self.routes
    }
    /// The current time.
    pub fn now(&self) -> Time {
        self.now
    }
    /// The time of the next timer; `None` if nothing more happens without a call from outside.
    pub fn next_at(&self) -> Option<Time> {
        self.timers.at()
    }
    /// The host at a node.
    pub fn host(&self, node: NodeId) -> Option<&H> {
        self.nodes.get(node.0 as usize)?.host()
    }
    /// The host at a node, to take values out of it. It must not send or change its timer: see [`World::act`].
    pub fn host_mut(&mut self, node: NodeId) -> Option<&mut H> {
        self.nodes.get_mut(node.0 as usize)?.host_mut()
    }
    /// The hosts in the order of their nodes.
    pub fn hosts(&self) -> impl Iterator<Item = &H> {
        self.nodes.iter().filter_map(Occupant::host)
    }
    /// The hosts in the order of their nodes, to take values out of them. See [`World::host_mut`].
    pub fn hosts_mut(&mut self) -> impl Iterator<Item = &mut H> {
        self.nodes.iter_mut().filter_map(Occupant::host_mut)
    }
    /// The middleboxes in the order of their nodes.
    pub fn middleboxes(&self) -> impl Iterator<Item = (NodeId, &dyn Middlebox)> {
        let found = |(node, place): (usize, _)| Some((NodeId(node as u32), Occupant::middlebox(place)?));
        self.nodes.iter().enumerate().filter_map(found)
    }
    /// The middlebox at a node, to empty its log.
    pub fn middlebox_mut(&mut self, node: NodeId) -> Option<&mut dyn Middlebox> {
        self.nodes.get_mut(node.0 as usize)?.middlebox_mut()
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
    /// The processing of nodes, in the order of [`Carriers::processors`].
    pub fn processors(&self) -> &[(NodeId, Processor)] {
        &self.processors
    }
    /// The processing of nodes, to empty their logs.
    pub fn processors_mut(&mut self) -> &mut [(NodeId, Processor)] {
        &mut self.processors
    }
    /// Packets to unknown addresses or without a route.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }
    /// Packets dropped because they would have left or arrived by a port that was down.
    pub fn dropped_at_ports(&self) -> u64 {
        self.dropped_at_ports
    }

    /// Acts on a host from outside at the current time: its packets are sent, and its timer is updated. Returns
    /// `None` if there is no host at this node.
    pub fn act<R>(&mut self, node: NodeId, action: impl FnOnce(&mut H, Time, &mut Exits) -> R) -> Option<R> {
        let index = node.0 as usize;
        let place = self.nodes.get_mut(index)?;
        let result = match place {
            Occupant::Host(host) => action(host, self.now, &mut self.exits),
            Occupant::Fronted(front) => front.act(self.now, action, &mut self.exits),
            _ => return None,
        };
        self.timers.set(index, place.wake_at());
        self.forward_all(node);
        Some(result)
    }

    /// A packet enters by the gate at a node at the current time, and takes the route to its destination. Without a gate there,
    /// nothing happens.
    pub fn enter(&mut self, node: NodeId, packet: Packet) {
        let Some(Occupant::Gate(gate)) = self.nodes.get_mut(node.0 as usize) else { return };
        gate.note_entered(&packet);
        let packet = self.exits.place(packet);
        self.exits.send(packet);
        self.forward_all(node);
    }
    /// An empty buffer for the payload of a packet that enters, a used one if possible.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.exits.buffer()
    }
    /// Takes back the buffer of a packet that has left.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.exits.recycle(buffer);
    }
    /// The gate at a node, to take the packets that leave.
    pub fn gate_mut(&mut self, node: NodeId) -> Option<&mut Gate> {
        match self.nodes.get_mut(node.0 as usize)? {
            Occupant::Gate(gate) => Some(gate),
            _ => None,
        }
    }

    /// Makes the middlebox at a node lose its memory. Without a middlebox there, nothing happens.
    pub fn forget(&mut self, node: NodeId) {
        let index = node.0 as usize;
        let Some(place) = self.nodes.get_mut(index) else { return };
        if let Some(middlebox) = place.middlebox_mut() {
            middlebox.forget(self.now);
            self.timers.set(index, place.wake_at());
        }
    }

    /// Brings the counters and logs of all carriers up to the current time. [`World::run`] does that itself
    /// when it returns `Reached` or `Idle`.
    pub fn catch_up(&mut self) {
        for link in &mut self.links {
            link.catch_up(self.now, &mut self.exits);
        }
        for medium in &mut self.media {
            medium.catch_up(self.now, &mut self.exits);
        }
        for (_, processor) in &mut self.processors {
            processor.catch_up(self.now);
        }
    }

    /// Runs up to and at `end`, or until `budget` timers have expired and packets have arrived. A run in pieces
    /// is the same run.
    ///
    /// # Errors
    /// If the run cannot continue: an unlimited queue grows beyond all bounds, or time does not pass.
    pub fn run(&mut self, end: Time, budget: u64) -> Result<Step, RunError> {
        self.run_until(end, budget, |_| false)
    }

    /// The same until a condition holds, which is tested after each timer.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn run_until(
        &mut self,
        end: Time,
        budget: u64,
        stop: impl FnMut(&World<H>) -> bool,
    ) -> Result<Step, RunError> {
        self.run_watched(end, budget, stop, ())
    }

    /// The same while somebody watches.
    ///
    /// # Errors
    /// As [`World::run`].
    pub fn run_watched<W: Watch>(
        &mut self,
        end: Time,
        budget: u64,
        mut stop: impl FnMut(&World<H>) -> bool,
        watch: W,
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
                self.check_limits()?;
                if cfg!(debug_assertions) {
                    self.check();
                }
                return Ok(if idle { Step::Idle } else { Step::Reached });
            };
            self.move_to(at);
            self.events += 1;
            self.wake(element, watch);
            self.check_limits()?;
            if stop(self) {
                return Ok(Step::Stopped);
            }
        }
        Ok(Step::Budget)
    }

    /// Advances the clock. Time never goes back: a timer in the past is due at once.
    #[inline]
    fn move_to(&mut self, at: Time) {
        if at > self.now {
            self.now = at;
            self.earlier_events = self.events;
        }
    }

    /// Stops unless the clock and the timers are those of the elements.
    fn check(&self) {
        assert!(self.exits.is_empty(), "what a node has sent was taken at the same instant");
        assert!(self.earlier_events <= self.events, "events are counted up");
        let at_nodes = self.nodes.iter().map(Occupant::wake_at);
        let at_links = self.links.iter().map(Link::wake_at);
        let at_media = self.media.iter().map(|medium| medium.wake_at());
        let at_processors = self.processors.iter().map(|(_, processor)| processor.wake_at());
        let all = at_nodes.chain(at_links).chain(at_media).chain(at_processors);
        for (element, wants) in all.enumerate() {
            let wakes = self.timers.of(element).unwrap_or(Time::NEVER);
            let wants = wants.unwrap_or(Time::NEVER);
            assert!(
                wakes <= wants,
                "element {element} sleeps until {wakes}, and has something to do at {wants}"
            );
        }
    }

    #[inline]
    fn check_limits(&self) -> Result<(), RunError> {
        if self.events - self.earlier_events <= MAX_AT_ONE_INSTANT && !self.exits.must_stop() {
            return Ok(());
        }
        let at = self.now;
        let links = self.links.iter().map(|link| Some((link.name(), link.overflow()?)));
        let nodes = self.processors.iter().map(|(_, at)| Some((at.name(), at.overflow()?)));
        let mut all = links.chain(self.media.iter().map(|medium| medium.overflow())).chain(nodes);
        Err(match all.find_map(|overflow| overflow) {
            Some((link, what)) => RunError::Overflow { link: link.to_owned(), what, at },
            None => RunError::Stuck { at },
        })
    }

    #[inline]
    fn wake<W: Watch>(&mut self, element: usize, watch: W) {
        let (now, nodes) = (self.now, self.nodes.len());
        let Some(direction) = element.checked_sub(nodes) else {
            watch.acts(element, now);
            match &mut self.nodes[element] {
                Occupant::Host(host) => {
                    host.wake(now, &mut self.exits);
                    self.timers.set(element, host.wake_at());
                }
                Occupant::Middlebox(middlebox) => {
                    middlebox.wake(now, &mut self.exits);
                    if cfg!(debug_assertions) {
                        middlebox.check();
                    }
                    self.timers.set(element, middlebox.wake_at());
                }
                Occupant::Fronted(front) => {
                    front.wake(now, &mut self.exits);
                    self.timers.set(element, front.wake_at());
                }
                Occupant::Router | Occupant::Gate(_) => unreachable!("routers and gates set no timer"),
            }
            return self.forward_all(NodeId(element as u32));
        };
        let Some((node, port)) = self.ends.get(direction).copied() else {
            let medium = direction - self.ends.len();
            return match medium.checked_sub(self.media.len()) {
                None => self.wake_medium(medium, watch),
                Some(processor) => self.wake_processor(processor, watch),
            };
        };
        // One packet at a time: each reaches its place before the next one leaves the link.
        while self.links[direction].is_due(now) {
            self.events += 1;
            watch.acts(element, now);
            if let Some(packet) = self.links[direction].deliver(now, &mut self.exits) {
                self.prefetching.announce(&self.nodes, &self.links[direction], node);
                self.arrive(node, port, packet, watch);
            }
        }
        self.timers.set(element, self.links[direction].wake_at());
    }

    #[cold]
    fn wake_medium<W: Watch>(&mut self, medium: usize, watch: W) {
        while self.media[medium].is_due(self.now) {
            self.events += 1;
            watch.acts(self.nodes.len() + self.links.len() + medium, self.now);
            if let Some((attachment, packet)) = self.media[medium].deliver(self.now, &mut self.exits) {
                let (node, port) = self.attached[medium][usize::from(attachment)];
                self.arrive(node, port, packet, watch);
            }
        }
        self.set_medium_timer(medium);
    }
    /// Hands the packets over whose processing has ended.
    #[cold]
    fn wake_processor<W: Watch>(&mut self, number: usize, watch: W) {
        let (node, now) = (self.processors[number].0, self.now);
        while let Some((port, packet)) = self.processors[number].1.deliver(now, &mut self.exits) {
            self.events += 1;
            self.take(node, port, packet, watch);
        }
        self.set_processor_timer(number);
    }
    fn set_processor_timer(&mut self, number: usize) {
        let at = self.processors[number].1.wake_at();
        self.timers.set(self.nodes.len() + self.links.len() + self.media.len() + number, at);
    }
    fn set_medium_timer(&mut self, medium: usize) {
        let at = self.media[medium].wake_at();
        self.timers.set(self.nodes.len() + self.links.len() + medium, at);
    }
}
