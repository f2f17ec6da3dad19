//! A host: the only place where endpoints meet the network.
//!
//! A host has one QUIC endpoint for all its clients, one for each server port, and the ends of flows whose connections these
//! have; and it has the ends of flows over TCP, and senders of cross traffic. It has a timer for each of them.
//!
//! At one instant, ends come in the order of the scenario, then senders of cross traffic, then endpoints. What an endpoint has
//! to do at the instant of one of its ends is done with that.

use crate::cross_traffic::CrossSender;
use crate::end::{End, EndReport, QuicPort, Stage};
use crate::flows::{end_of, find, other_end};
use crate::shared::Shared;
use network::{Exits, Node, NodeId, Packet, Port};
use quic::{Handle, MigrateError, Migration};
use std::rc::Rc;
use units::cache::ask_for;
use units::{Time, Timers};
use wire::Side;

/// From so many ends on, the processor's cache is asked for what an end needs before its turn comes: they do not stay there.
const MANY: usize = 16;
/// No connection begins now, since no packet has come.
const NO_FLOW: u32 = u32::MAX;
/// So many packets ahead: one for the end, one for the connection, one for what that leads to.
const FORESIGHT: usize = 3;

/// What takes the packets of a port: the endpoint, or the end of a flow over TCP, of this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Taker {
    Endpoint(u32),
    End(u32),
}

/// A node with endpoints, or with senders of cross traffic.
pub(crate) struct Host<'a> {
    node: NodeId,
    ends: Vec<End>,
    crossing: Vec<CrossSender>,
    endpoints: Vec<QuicPort>,
    /// From port to what takes its packets.
    ports: Vec<(u16, Taker)>,
    /// From the number of a flow's packets to the end that they are for.
    flows: Vec<(u32, u32)>,
    /// Of the ends by their number, behind them of the senders of cross traffic, behind them of the endpoints.
    timers: Timers,
    shared: Rc<Shared<'a>>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(
        node: NodeId,
        (mut ends, endpoints): (Vec<End>, Vec<QuicPort>),
        crossing: Vec<CrossSender>,
        shared: Rc<Shared<'a>>,
    ) -> Host<'a> {
        let taker = |(index, end): (u32, &End)| match end.quic() {
            Some(quic) => Taker::Endpoint(quic.endpoint as u32),
            None => Taker::End(index),
        };
        let takers = (0..).zip(&ends).map(|place| (place.1.ports(), taker(place)));
        let mut ports: Vec<(u16, Taker)> =
            takers.flat_map(|(ports, taker)| ports.all().map(move |port| (port, taker))).collect();
        ports.sort_unstable();
        // Several flows may have one port of an endpoint.
        ports.dedup();
        let mut flows: Vec<(u32, u32)> =
            (0..).zip(&ends).map(|(index, end)| (other_end(end.flow, end.side), index)).collect();
        flows.sort_unstable();
        let mut timers = Timers::new(ends.len() + crossing.len() + endpoints.len());
        for (i, end) in ends.iter_mut().enumerate() {
            end.armed = end.wake_at();
            timers.set(i, end.armed);
        }
        for (sender, number) in crossing.iter().zip(ends.len()..) {
            timers.set(number, sender.wake_at());
        }
        Host { node, ends, crossing, endpoints, ports, flows, timers, shared }
    }

    pub(crate) fn crossing(&self) -> &[CrossSender] {
        &self.crossing
    }

    pub(crate) fn ends(&self) -> &[End] {
        &self.ends
    }

    /// What has become of its ends, of which the run is over at this time.
    pub(crate) fn reports(&mut self, now: Time) -> impl Iterator<Item = EndReport> {
        let endpoints = &self.endpoints;
        self.ends.iter_mut().map(move |end| end.report(now, endpoints))
    }

    /// Forgets what its endpoints have learned of servers, and what their clients come back with.
    pub(crate) fn forget(&mut self, now: Time) {
        for port in &mut self.endpoints {
            port.endpoint.forget(now);
        }
    }

    /// Has the client of a flow open its connection at this time.
    pub(crate) fn open(&mut self, now: Time, flow: usize, at: Time) {
        let is_client = |end: &End| end.flow == flow && end.side == Side::Client;
        if let Some(index) = self.ends.iter().position(is_client) {
            self.ends[index].open(at);
            self.ends[index].arm(now, index, &mut self.timers);
        }
    }

    #[cold]
    fn capture(&self, now: Time, packet: &Packet) {
        if let Some(end) = self.end_of(packet).map(|index| &self.ends[index]).filter(|end| end.captured) {
            end.capture(now, packet, &self.shared);
        }
    }

    /// Has the client of a flow send from the address of a port; nothing happens unless its connection is open.
    pub(crate) fn migrate(
        &mut self,
        now: Time,
        flow: usize,
        (port, how): (Port, Migration),
        exits: &mut Exits,
    ) -> Result<(), MigrateError> {
        let is_client = |end: &End| end.flow == flow && end.side == Side::Client;
        let Some(index) = self.ends.iter().position(is_client) else { return Ok(()) };
        let result = self.ends[index].migrate(now, &mut self.endpoints, (self.node, port), how);
        self.settle(now, index, exits);
        result
    }

    /// Lets everybody do what follows from what an end has done, and sets the timers.
    fn settle(&mut self, now: Time, index: usize, exits: &mut Exits) {
        match self.ends[index].quic().map(|end| end.endpoint) {
            Some(endpoint) => self.drain(now, endpoint, NO_FLOW, exits),
            None => self.ends[index].drain_tcp(now, &self.shared, exits),
        }
        self.ends[index].arm(now, index, &mut self.timers);
    }

    /// Lets the connections of an endpoint do what they have to do now. `flow`: the number of the packet that it has taken.
    #[inline]
    fn drain(&mut self, now: Time, endpoint: usize, flow: u32, exits: &mut Exits) {
        let (ends, flows, shared) = (&mut *self.ends, &*self.flows, &*self.shared);
        let stage = &mut Stage { ends, flows, timers: &mut self.timers, shared, exits };
        self.endpoints[endpoint].drain(now, flow, stage);
        self.arm_endpoint(endpoint, now);
    }

    #[inline]
    fn arm_endpoint(&mut self, endpoint: usize, now: Time) {
        let port = &mut self.endpoints[endpoint];
        let at = port.wake_at(now);
        if at != port.armed {
            port.armed = at;
            self.timers.set(self.ends.len() + self.crossing.len() + endpoint, at);
        }
    }

    /// The end that a packet is for, if its port is one of this host's.
    #[inline]
    fn end_of(&self, packet: &Packet) -> Option<usize> {
        end_of(&self.flows, packet.flow)
    }
}

/// Asking the processor's cache for what will be needed soon.
impl Host<'_> {
    fn has_many(&self) -> bool {
        self.ends.len() >= MANY
    }

    /// The endpoint and the connection of an end.
    #[inline]
    fn connection_of(&self, end: &End) -> Option<(&QuicPort, Handle)> {
        let quic = end.quic()?;
        Some((&self.endpoints[quic.endpoint], quic.handle?))
    }

    #[inline]
    fn prefetch(&self, end: &End) {
        if let Some((port, handle)) = self.connection_of(end) {
            port.endpoint.prefetch(handle);
        }
    }

    /// What lies one step further, some time after that.
    #[inline]
    fn prefetch_parts(&self, end: &End) {
        ask_for(&*end.application);
        if let Some((port, handle)) = self.connection_of(end) {
            port.endpoint.prefetch_parts(handle);
        }
    }
}

impl Node for Host<'_> {
    #[inline]
    fn accept(&mut self, now: Time, _: Port, mut packet: Packet, exits: &mut Exits) {
        let port = packet.destination.port();
        let Some(taker) = find(&self.ports, port, |from, to| usize::from(from.wrapping_sub(to))) else {
            return exits.recycle(packet.bytes);
        };
        if self.shared.capture.is_some() {
            self.capture(now, &packet);
        }
        match taker {
            Taker::Endpoint(endpoint) => {
                let endpoint = endpoint as usize;
                self.endpoints[endpoint].receive(now, &mut packet);
                exits.recycle(std::mem::take(&mut packet.bytes));
                self.drain(now, endpoint, packet.flow, exits);
            }
            Taker::End(index) => {
                let end = &mut self.ends[index as usize];
                end.receive_tcp(now, packet, &self.shared, exits);
                end.arm(now, index as usize, &mut self.timers);
            }
        }
    }

    fn wake(&mut self, now: Time, exits: &mut Exits) {
        while self.timers.at().is_some_and(|at| at <= now) {
            let Some((_, number)) = self.timers.next() else { break };
            if number < self.ends.len() {
                // Its timer stands until it is set again below, to a later time.
                self.ends[number].wake(now, number, &mut self.endpoints, &self.shared);
                self.settle(now, number, exits);
            } else if let Some(sender) = self.crossing.get_mut(number - self.ends.len()) {
                sender.wake(now, exits);
                self.timers.set(number, sender.wake_at());
            } else {
                let endpoint = number - self.ends.len() - self.crossing.len();
                self.endpoints[endpoint].endpoint.wake(now);
                self.drain(now, endpoint, NO_FLOW, exits);
            }
        }
    }

    fn foresight(&self) -> usize {
        if self.has_many() { FORESIGHT } else { 0 }
    }

    #[inline]
    fn foresee(&self, packet: &Packet, ahead: usize) {
        let Some(end) = self.end_of(packet).and_then(|index| self.ends.get(index)) else {
            return;
        };
        match ahead {
            0 => self.prefetch_parts(end),
            1 => self.prefetch(end),
            _ => ask_for(end),
        }
    }

    #[inline]
    fn wake_at(&self) -> Option<Time> {
        self.timers.at()
    }
}
