//! The host, which connects endpoints to the network.
//!
//! A host has one QUIC endpoint for all its clients, and one for each server port; endpoints of TCP and of foreign stacks, one
//! for each client and one for each server port; the ends of flows; and senders of cross traffic. Each of them except the
//! connections has a timer.
//!
//! At one time, first ends act in the order of the scenario, then senders of cross traffic, and then endpoints. An end that
//! acts also serves its endpoint.

use crate::cross_traffic::CrossSender;
use crate::end::{End, EndReport, EndpointId, Endpoints, NO_FLOW, Stage, follow};
use crate::ends::{end_number, other_end};
use crate::flows::{end_of, find};
use crate::known_paths::KnownPaths;
use crate::scenario::Remembered;
use crate::shared::Shared;
use network::{Exits, Ledger, Node, NodeId, Packet, PacketBooks, Port, Protocol};
use quic::{Endpoint, Handle, MigrateError, Migration};
use std::collections::BTreeMap;
use std::rc::Rc;
use units::cache::ask_for;
use units::{Time, Timers};
use wire::Side;

/// The number of ends from which on they do not stay in the processor's cache, and are prefetched.
const MANY: usize = 16;
/// The number of packets to prefetch for: one step each for the end, for the connection, and for its parts.
const FORESIGHT: usize = 3;

/// A node with endpoints, or with senders of cross traffic.
pub(crate) struct Host<'a> {
    node: NodeId,
    ends: Vec<End>,
    crossing: Vec<CrossSender>,
    endpoints: Endpoints,
    known_paths: KnownPaths,
    /// The places of the endpoints, in the order of their timers.
    places: Vec<EndpointId>,
    /// The endpoints that receive the packets at each port.
    ports: Vec<(u16, EndpointId)>,
    /// The receiving ends of packets by the numbers in the packets.
    flows: Vec<(u32, u32)>,
    /// The timers of the ends, of the senders of cross traffic, and of the endpoints, in this order.
    timers: Timers,
    /// The packets that have arrived for it, by their numbers.
    taken: Ledger,
    shared: Rc<Shared<'a>>,
}

/// Tells the ends of each program which ones they are.
fn set_families(ends: &mut [End]) {
    let mut families: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, end) in ends.iter().enumerate() {
        if let Some(program) = end.application.program() {
            families.entry(program).or_default().push(index);
        }
    }
    for family in families.into_values() {
        let family: Rc<[usize]> = family.into();
        family.iter().for_each(|index| ends[*index].family = Some(Rc::clone(&family)));
    }
}

impl<'a> Host<'a> {
    pub(crate) fn new(
        node: NodeId,
        mut ends: Vec<End>,
        mut endpoints: Endpoints,
        known_paths: KnownPaths,
        crossing: Vec<CrossSender>,
        shared: Rc<Shared<'a>>,
    ) -> Host<'a> {
        let takers = ends.iter().map(|end| (end.ports, end.stack.place()));
        let mut ports: Vec<(u16, EndpointId)> =
            takers.flat_map(|(ports, place)| ports.all().map(move |port| (port, place))).collect();
        ports.sort_unstable();
        // Several flows may share a port of an endpoint.
        ports.dedup();
        assert!(ports.is_sorted_by(|one, next| one.0 < next.0), "a port of a host is that of one endpoint");
        let mut flows: Vec<(u32, u32)> =
            (0..).zip(&ends).map(|(index, end)| (other_end(end.flow, end.side), index)).collect();
        flows.sort_unstable();
        assert!(flows.is_sorted_by(|one, next| one.0 < next.0), "a packet has one end that receives it");
        set_families(&mut ends);
        let places = endpoints.set_timers(ends.len() + crossing.len());
        let mut timers = Timers::new(ends.len() + crossing.len() + places.len());
        for (i, end) in ends.iter_mut().enumerate() {
            end.armed = end.wake_at();
            timers.set(i, end.armed);
        }
        for (sender, number) in crossing.iter().zip(ends.len()..) {
            timers.set(number, sender.wake_at());
        }
        Host {
            node,
            ends,
            crossing,
            endpoints,
            known_paths,
            places,
            ports,
            flows,
            timers,
            taken: Ledger::default(),
            shared,
        }
    }

    pub(crate) fn crossing(&self) -> &[CrossSender] {
        &self.crossing
    }

    pub(crate) fn ends(&self) -> &[End] {
        &self.ends
    }

    /// Moves the records that its connections still have to the sinks, at the end of the run.
    pub(crate) fn take_records(&mut self) {
        for port in &mut self.endpoints.quic {
            port.take_records(&self.ends, &self.shared);
        }
    }

    /// The reports of its ends at the end of the run.
    pub(crate) fn reports(&mut self, now: Time) -> impl Iterator<Item = EndReport> {
        let endpoints = &self.endpoints;
        self.ends.iter_mut().map(move |end| end.report(now, endpoints))
    }

    /// What it knows of paths, as entries of a scenario.
    pub(crate) fn memory(&self, now: Time) -> Vec<Remembered> {
        self.known_paths.entries(now, self.node)
    }

    /// Makes it forget what it knows of paths, and its QUIC endpoints what clients know about servers, and the tickets and tokens
    /// of servers.
    pub(crate) fn forget(&mut self, now: Time) {
        self.known_paths.clear();
        for port in &mut self.endpoints.quic {
            port.endpoint.forget(now);
        }
    }

    /// Alters what servers have given its QUIC clients: see [`quic::Memory::tamper`].
    pub(crate) fn tamper(&mut self, factor: f64) {
        for port in &mut self.endpoints.quic {
            port.endpoint.memory().tamper(factor);
        }
    }

    /// The number of the client of a flow among the ends.
    fn client_of(&self, flow: usize) -> usize {
        let client = self.ends.iter().position(|end| end.flow == flow && end.side == Side::Client);
        client.expect("a client that acts is at its host")
    }

    /// Schedules the opening of the connection of a flow's client.
    pub(crate) fn open(&mut self, now: Time, flow: usize, at: Time) {
        let index = self.client_of(flow);
        self.ends[index].open(at);
        self.ends[index].arm(now, index, &mut self.timers);
    }

    #[cold]
    fn capture(&self, now: Time, packet: &Packet) {
        if let Some(end) = self.end_of(packet).map(|index| &self.ends[index]).filter(|end| end.captured) {
            end.capture(now, packet, &self.shared);
        }
    }

    /// Migrates the client of a flow to the address of a port. Without an open connection nothing happens.
    pub(crate) fn migrate(
        &mut self,
        now: Time,
        flow: usize,
        port: Port,
        how: Migration,
        exits: &mut Exits,
    ) -> Result<(), MigrateError> {
        let index = self.client_of(flow);
        let result = self.ends[index].migrate(now, &mut self.endpoints, self.node, port, how);
        self.settle(now, index, exits);
        result
    }

    /// Serves the endpoint of an end that has acted, and sets the timers.
    fn settle(&mut self, now: Time, index: usize, exits: &mut Exits) {
        let place = self.ends[index].stack.place();
        let (endpoints, mut stage) = self.split(exits);
        match place {
            EndpointId::Quic(at) => endpoints.quic[at].drain(now, NO_FLOW, &mut stage),
            EndpointId::Tcp(at) => endpoints.tcp[at].drain(now, NO_FLOW, &mut stage),
            EndpointId::Foreign(at) => endpoints.foreign[at].drain(now, NO_FLOW, &mut stage),
        }
        self.ends[index].arm(now, index, &mut self.timers);
        if let Some(family) = self.ends[index].family.clone() {
            follow(now, &mut self.ends, &family, &mut self.timers, &self.shared);
        }
    }

    /// The endpoints, and the parts of the host that they act on.
    #[inline(always)]
    fn split<'s>(&'s mut self, exits: &'s mut Exits) -> (&'s mut Endpoints, Stage<'s, 'a>) {
        let Host { endpoints, ends, flows, timers, shared, .. } = self;
        (endpoints, Stage { ends, flows, timers, shared, exits })
    }

    /// Hands a packet to an endpoint of a kind other than QUIC.
    #[inline(never)]
    fn accept_non_quic(&mut self, now: Time, place: EndpointId, packet: Box<Packet>, exits: &mut Exits) {
        let (endpoints, mut stage) = self.split(exits);
        match place {
            EndpointId::Tcp(at) => endpoints.tcp[at].accept(now, packet, &mut stage),
            EndpointId::Foreign(at) => endpoints.foreign[at].accept(now, packet, &mut stage),
            EndpointId::Quic(_) => unreachable!("endpoints of QUIC take their packets elsewhere"),
        }
    }

    /// Wakes an endpoint.
    fn wake_endpoint(&mut self, now: Time, place: EndpointId, exits: &mut Exits) {
        let (endpoints, mut stage) = self.split(exits);
        match place {
            EndpointId::Quic(at) => endpoints.quic[at].wake(now, &mut stage),
            EndpointId::Tcp(at) => endpoints.tcp[at].wake(now, &mut stage),
            EndpointId::Foreign(at) => endpoints.foreign[at].wake(now, &mut stage),
        }
    }

    /// The receiving end of a packet.
    #[inline]
    fn end_of(&self, packet: &Packet) -> Option<usize> {
        end_of(&self.flows, packet.flow)
    }
}

/// Prefetching into the processor's cache. Without it a packet of one among 1,000 flows takes 1.15 times as long
/// (docs/performance.md).
impl Host<'_> {
    /// The number of packets ahead of time for which it prefetches.
    pub(crate) fn foresight(&self) -> usize {
        if self.has_many() { FORESIGHT } else { 0 }
    }

    /// Prefetches what a packet needs that arrives behind `ahead` others.
    pub(crate) fn foresee(&self, packet: &Packet, ahead: usize) {
        let Some(end) = self.end_of(packet).and_then(|index| self.ends.get(index)) else {
            return;
        };
        match ahead {
            0 => self.prefetch_parts(end),
            1 => self.prefetch(end),
            _ => ask_for(end),
        }
    }

    fn has_many(&self) -> bool {
        self.ends.len() >= MANY
    }

    /// The endpoint and the connection of an end.
    #[inline]
    fn connection_of(&self, end: &End) -> Option<(&Endpoint, Handle)> {
        let quic = end.quic()?;
        Some((&self.endpoints.quic[quic.endpoint].endpoint, quic.handle?))
    }

    #[inline]
    fn prefetch(&self, end: &End) {
        if let Some((endpoint, handle)) = self.connection_of(end) {
            endpoint.prefetch(handle);
        }
    }

    /// Prefetches the parts of a connection, after the connection itself.
    #[inline]
    fn prefetch_parts(&self, end: &End) {
        ask_for(&*end.application);
        if let Some((endpoint, handle)) = self.connection_of(end) {
            endpoint.prefetch_parts(handle);
        }
    }
}

impl Node for Host<'_> {
    #[inline]
    fn accept(&mut self, now: Time, _: Port, packet: Box<Packet>, exits: &mut Exits) {
        self.taken.add(packet.flow, packet.size);
        let port = packet.destination.port();
        let Some(place) = find(&self.ports, port, |from, to| usize::from(from.wrapping_sub(to))) else {
            return exits.discard(packet);
        };
        if self.shared.capture.is_some() {
            self.capture(now, &packet);
        }
        if let EndpointId::Quic(at) = place {
            let (endpoints, mut stage) = self.split(exits);
            endpoints.quic[at].accept(now, packet, &mut stage);
        } else {
            self.accept_non_quic(now, place, packet, exits);
        }
    }

    fn wake(&mut self, now: Time, exits: &mut Exits) {
        while self.timers.at().is_some_and(|at| at <= now) {
            let (_, number) = self.timers.next().expect("a timer that is due has a number");
            if number < self.ends.len() {
                // `settle` sets its timer to a later time.
                self.ends[number].wake(now, number, &mut self.endpoints, &self.shared);
                self.settle(now, number, exits);
            } else if let Some(sender) = self.crossing.get_mut(number - self.ends.len()) {
                sender.wake(now, exits);
                self.timers.set(number, sender.wake_at());
            } else {
                self.wake_endpoint(now, self.places[number - self.ends.len() - self.crossing.len()], exits);
            }
        }
    }

    fn listens(&self, packet: &Packet) -> bool {
        let port = packet.destination.port();
        // Who is no part of the scenario has no flow, and so no application here.
        packet.protocol() != Protocol::Ip
            && self.end_of(packet).is_some()
            && find(&self.ports, port, |from, to| usize::from(from.wrapping_sub(to))).is_some()
    }

    fn account(&self, books: &mut PacketBooks) {
        for end in &self.ends {
            books.sent.add_all(end_number(end.flow, end.side), end.sent);
        }
        for sender in &self.crossing {
            books.sent.add_all(sender.number, sender.on_the_wire);
        }
        books.taken.merge(&self.taken);
    }

    #[inline]
    fn wake_at(&self) -> Option<Time> {
        self.timers.at()
    }
}
