//! A host: the only place where endpoints meet the network.
//!
//! A host has one QUIC endpoint for all its clients, one for each server port, and the ends of flows whose connections these
//! have; and it has the ends of flows over TCP, and senders of cross traffic. It has a timer for each of them.
//!
//! At one instant, ends come in the order of the scenario, then senders of cross traffic, then endpoints. What an endpoint has
//! to do at the instant of one of its ends is done with that.

use crate::cross_traffic::CrossSender;
use crate::end::{End, EndReport, QuicPort};
use crate::flows::other_end;
use crate::shared::Shared;
use network::{Exits, Node, NodeId, Packet, Port};
use quic::{Handle, MigrateError, Migration};
use std::rc::Rc;
use units::cache::ask_for;
use units::{Duration, Time, Timers};
use wire::Side;

/// From so many ends on, the processor's cache is asked for what an end needs before its turn comes: they do not stay there.
const MANY: usize = 16;
/// So many packets ahead: one for the end, one for the connection, one for what that leads to.
const FORESIGHT: usize = 3;

/// A node with endpoints, or with senders of cross traffic.
pub(crate) struct Host<'a> {
    node: NodeId,
    ends: Vec<End>,
    crossing: Vec<CrossSender>,
    endpoints: Vec<QuicPort>,
    /// From port to end.
    ports: Vec<(u16, u32)>,
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
        let mut ports: Vec<(u16, u32)> = (0..)
            .zip(&ends)
            .flat_map(|(index, end)| end.ports().all().map(move |port| (port, index)))
            .collect();
        ports.sort_unstable();
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
            self.arm(index, now);
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
    #[inline]
    fn settle(&mut self, now: Time, index: usize, exits: &mut Exits) {
        match self.ends[index].quic().map(|end| end.endpoint) {
            Some(endpoint) => {
                self.endpoints[endpoint].drain(now, index, &mut self.ends, &self.shared, exits);
                self.arm_endpoint(endpoint, now);
            }
            None => self.ends[index].drain_tcp(now, &self.shared, exits),
        }
        self.arm(index, now);
    }

    /// Sets the timer of an end: to a later time than this one, so that the clock always goes on.
    #[inline]
    fn arm(&mut self, index: usize, now: Time) {
        let end = &mut self.ends[index];
        let at = end.wake_at().map(|at| at.max(now + Duration::from_nanos(1)));
        if at != end.armed {
            self.timers.set(index, at);
            end.armed = at;
        }
    }

    #[inline]
    fn arm_endpoint(&mut self, endpoint: usize, now: Time) {
        let number = self.ends.len() + self.crossing.len() + endpoint;
        let port = &mut self.endpoints[endpoint];
        let at = port.wake_at(now);
        if at != port.armed {
            self.timers.set(number, at);
            port.armed = at;
        }
    }

    /// The end that a packet is for.
    #[inline]
    fn end_of(&self, packet: &Packet) -> Option<usize> {
        let index =
            find(&self.ports, packet.destination.port(), |from, to| usize::from(from.wrapping_sub(to)))?;
        match self.ends[index].quic() {
            // Of several flows that have one port, the packet says which it is of.
            Some(end) if self.endpoints[end.endpoint].is_shared => {
                let of_flow = find(&self.flows, packet.flow, |from, to| (from.wrapping_sub(to) / 2) as usize);
                of_flow.or(Some(index))
            }
            _ => Some(index),
        }
    }
}

/// The value of a key in a sorted list. The keys mostly follow one another: `guess` says where one is, counted from the first.
#[inline]
fn find<K: Copy + Ord>(list: &[(K, u32)], key: K, guess: impl Fn(K, K) -> usize) -> Option<usize> {
    match list {
        [(only, index)] => (*only == key).then_some(*index as usize),
        list => {
            if let Some((known, index)) = list.get(guess(key, list.first()?.0))
                && *known == key
            {
                return Some(*index as usize);
            }
            let at = list.binary_search_by_key(&key, |(known, _)| *known).ok()?;
            Some(list[at].1 as usize)
        }
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
    fn accept(&mut self, now: Time, _: Port, packet: Packet, exits: &mut Exits) {
        let Some(index) = self.end_of(&packet) else {
            return exits.recycle(packet.bytes);
        };
        let end = &mut self.ends[index];
        if end.captured {
            end.capture(now, &packet, &self.shared);
        }
        match end.quic().map(|end| end.endpoint) {
            Some(endpoint) => {
                self.endpoints[endpoint].receive(now, packet, exits);
                self.endpoints[endpoint].drain(now, index, &mut self.ends, &self.shared, exits);
                self.arm_endpoint(endpoint, now);
            }
            None => end.receive_tcp(now, packet, &self.shared, exits),
        }
        self.arm(index, now);
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
                self.endpoints[endpoint].drain(now, 0, &mut self.ends, &self.shared, exits);
                self.arm_endpoint(endpoint, now);
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
