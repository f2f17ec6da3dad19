//! The endpoints of a host, and the connections of its ends, for any [`Stack`].

use super::{End, Snapshot, follow};
use crate::capture::Tap;
use crate::error::RunError;
use crate::flows::end_of;
use crate::shared::Shared;
use network::{Exits, NodeId, Packet, Port, port_address};
use quic::{Endpoint, MigrateError, Migration, Opening};
use std::net::SocketAddr;
use trace::Log;
use transport::{Application, Arrival, Connection, Datagram, Handle, Outgoing, Stack, Transmit};
use units::{Duration, Time, Timers};

/// A connection of an endpoint, now or in the future.
pub(crate) struct StackEnd<O> {
    /// The number of the endpoint among those of its kind.
    pub endpoint: usize,
    /// The time and the options with which a client opens the connection.
    opening: Option<(Time, Box<O>)>,
    pub handle: Option<Handle>,
    /// The counters of the connection near its end.
    last: Option<Box<Snapshot>>,
}

/// A connection over QUIC.
pub(crate) type QuicEnd = StackEnd<Opening>;
/// A connection over TCP, or of a foreign stack, which opens to an address.
pub(crate) type AddressedEnd = StackEnd<SocketAddr>;

impl<O> StackEnd<O> {
    /// The end that opens the connection.
    pub(crate) fn client(endpoint: usize, at: Time, opening: O) -> StackEnd<O> {
        StackEnd { endpoint, opening: Some((at, Box::new(opening))), handle: None, last: None }
    }
    /// The end that accepts the connection.
    pub(crate) fn server(endpoint: usize) -> StackEnd<O> {
        StackEnd { endpoint, opening: None, handle: None, last: None }
    }

    /// Schedules the opening of the connection.
    pub(super) fn open(&mut self, at: Time) {
        if let Some((opening_at, _)) = &mut self.opening {
            *opening_at = at;
        }
    }

    /// Cancels the opening of the connection. Returns `false` if the connection was opened already, or if this is a server.
    pub(super) fn cancel(&mut self) -> bool {
        self.opening.take().is_some()
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.opening.as_ref().map_or(Time::NEVER, |(at, _)| *at)
    }

    pub(super) fn report<S: Stack>(&self, ports: &[StackPort<S>], no_error: u64) -> Snapshot {
        let live = self.handle.and_then(|handle| ports[self.endpoint].endpoint.get(handle));
        let live = live.map(|connection| connection.snapshot(no_error));
        live.or_else(|| self.last.as_deref().cloned()).unwrap_or_default()
    }

    /// Opens the connection of the flow or wakes the application if that is due. Closes the connection if `stop` is set.
    pub(super) fn wake<S: Stack<Opening = O>>(
        &mut self,
        now: Time,
        Woken { flow, index, stop }: Woken,
        port: &mut StackPort<S>,
        application: &mut dyn Application,
        shared: &Shared<'_>,
    ) {
        if let Some((_, opening)) = self.opening.take_if(|(at, _)| *at <= now) {
            application.on_open(now);
            match port.endpoint.connect(now, *opening) {
                Ok(handle) => {
                    assign(&mut port.ends, handle, index);
                    self.handle = Some(handle);
                }
                Err(problem) => {
                    let place = format!("flow {flow}");
                    shared.note(Err(RunError::Component { place, problem }));
                }
            }
        }
        // Timers of the connection that are due come first.
        port.endpoint.wake(now);
        let Some(connection) = self.handle.and_then(|handle| port.endpoint.get_mut(handle)) else { return };
        if stop {
            connection.close(now, application.no_error(), "stopped");
        }
        if application.wake_at().is_some_and(|at| at <= now) {
            connection.wake(now, application);
        }
    }
}

/// An end whose time has come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Woken {
    pub flow: usize,
    /// Its number at its host.
    pub index: usize,
    /// Whether its connection is to be closed now.
    pub stop: bool,
}

impl QuicEnd {
    /// Migrates an open connection to the address of a port. Returns whether there was one.
    pub(super) fn migrate(
        &self,
        now: Time,
        endpoint: &mut Endpoint,
        node: NodeId,
        port: Port,
        how: Migration,
    ) -> Result<bool, MigrateError> {
        let connection = self.handle.and_then(|handle| endpoint.get_mut(handle));
        let Some(connection) = connection else { return Ok(false) };
        let local = connection.local();
        let address = port_address(node, port, local.is_ipv6());
        let address =
            address.expect("the reader refuses events that move a flow to a port without an address");
        match connection.migrate(now, SocketAddr::new(address, local.port()), how) {
            Err(MigrateError::Closed) => Ok(false),
            result => result.map(|()| true),
        }
    }
}

/// One of a host's endpoints, with the ends of its connections.
pub(crate) struct StackPort<S> {
    pub endpoint: S,
    /// The connections by slot, with the numbers of their ends.
    ends: Vec<(Handle, u32)>,
    /// The number of its timer.
    timer: usize,
    /// The time of its timer.
    armed: Option<Time>,
}

/// The endpoints of a host.
#[derive(Default)]
pub(crate) struct Endpoints {
    pub quic: Vec<StackPort<Endpoint>>,
    pub tcp: Vec<StackPort<tcp::Endpoint>>,
    pub foreign: Vec<StackPort<foreign::Endpoint>>,
}

/// The place of an endpoint: its kind, and its number among those of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EndpointId {
    Quic(usize),
    Tcp(usize),
    Foreign(usize),
}

impl Endpoints {
    /// Numbers the timers of all endpoints, starting at `first`; returns their places in this order.
    pub(crate) fn set_timers(&mut self, first: usize) -> Vec<EndpointId> {
        let mut places = Vec::new();
        let mut number = |place| {
            places.push(place);
            first + places.len() - 1
        };
        (0..).zip(&mut self.quic).for_each(|(at, port)| port.timer = number(EndpointId::Quic(at)));
        (0..).zip(&mut self.tcp).for_each(|(at, port)| port.timer = number(EndpointId::Tcp(at)));
        (0..).zip(&mut self.foreign).for_each(|(at, port)| port.timer = number(EndpointId::Foreign(at)));
        places
    }
}

/// The number of no flow: without a packet, no new connection is accepted.
pub(crate) const NO_FLOW: u32 = u32::MAX;

/// The parts of a host that its endpoints act on.
pub(crate) struct Stage<'s, 'a> {
    /// The host's ends.
    pub ends: &'s mut [End],
    /// The receiving ends of packets by the numbers in the packets.
    pub flows: &'s [(u32, u32)],
    /// The timers of the host.
    pub timers: &'s mut Timers,
    pub shared: &'s Shared<'a>,
    pub exits: &'s mut Exits,
}

/// A host while it serves one endpoint.
struct Serving<'p, 's, 'a> {
    /// The number in the packet that was just received.
    flow: u32,
    /// The connections by slot, with the numbers of their ends.
    known: &'p mut Vec<(Handle, u32)>,
    stage: &'p mut Stage<'s, 'a>,
}

impl<S: Stack> StackPort<S> {
    /// Adds an endpoint to those of its kind; returns its number.
    pub(crate) fn add(ports: &mut Vec<StackPort<S>>, endpoint: S) -> usize {
        ports.push(StackPort { endpoint, ends: Vec::new(), timer: 0, armed: None });
        ports.len() - 1
    }

    /// Moves the records that were not due to the sinks, at the end of a run.
    pub(crate) fn take_records(&mut self, ends: &[End], shared: &Shared<'_>)
    where
        S: Stack<Connection = quic::Connection>,
    {
        for (handle, end) in self.ends.iter().filter(|(_, end)| *end != NO_END) {
            if let Some(connection) = self.endpoint.get_mut(*handle) {
                ends[*end as usize].take_records(0, connection.log(), shared);
            }
        }
    }

    /// Receives a packet, and serves the endpoint.
    #[inline(always)]
    pub(crate) fn accept(&mut self, now: Time, mut packet: Box<Packet>, stage: &mut Stage<'_, '_>) {
        if let Some(typed) = packet.typed() {
            let arrival = Arrival { local: &packet.destination, remote: &packet.source, ecn: packet.ecn };
            if self.endpoint.receive_typed(now, arrival, typed) {
                let flow = packet.flow;
                stage.exits.discard(packet);
                return self.drain(now, flow, stage);
            }
            stage.exits.write_typed(&mut packet);
        }
        let (hole, damage) = (packet.hole(), packet.damage());
        let datagram = Datagram {
            local: packet.destination,
            remote: packet.source,
            ecn: packet.ecn,
            bytes: &mut packet.bytes,
            hole,
            damage,
        };
        self.endpoint.receive(now, datagram);
        let flow = packet.flow;
        stage.exits.discard(packet);
        self.drain(now, flow, stage);
    }

    /// Wakes the endpoint, and serves it.
    #[inline(always)]
    pub(crate) fn wake(&mut self, now: Time, stage: &mut Stage<'_, '_>) {
        self.endpoint.wake(now);
        self.drain(now, NO_FLOW, stage);
    }

    /// Serves the active connections and their applications. Sets the timer to a time after `now`, so that the clock always
    /// advances. `flow` is the number in the packet that was just received, to find the end of a new connection.
    #[inline(never)]
    pub(crate) fn drain(&mut self, now: Time, flow: u32, stage: &mut Stage<'_, '_>) {
        let mut host = Serving { flow, known: &mut self.ends, stage };
        transport::serve(&mut self.endpoint, &mut host, now);
        let at = self.endpoint.wake_at().map(|at| at.max(now + Duration::from_nanos(1)));
        if at != self.armed {
            self.armed = at;
            stage.timers.set(self.timer, at);
        }
    }
}

/// The number of no end: that of a slot whose connection has none yet.
const NO_END: u32 = u32::MAX;

fn assign(ends: &mut Vec<(Handle, u32)>, handle: Handle, end: usize) {
    let slot = handle.slot();
    if ends.len() <= slot {
        ends.resize(slot + 1, (handle, NO_END));
    }
    ends[slot] = (handle, end as u32);
}

impl<S: Stack> transport::Environment<S> for Serving<'_, '_, '_> {
    /// The number of an end.
    type Key = usize;
    /// The packet that the datagram becomes.
    type Buffer = Box<Packet>;

    #[inline(always)]
    fn attend(&mut self, now: Time, handle: Handle, connection: &mut S::Connection) -> usize {
        let index = self.end_of(handle);
        let end = &mut self.stage.ends[index];
        if end.attend(now, connection, self.stage.shared) {
            end.arm(now, index, self.stage.timers);
            if let Some(family) = end.family.clone() {
                follow(now, self.stage.ends, &family, self.stage.timers, self.stage.shared);
            }
        }
        index
    }
    #[inline(always)]
    fn buffer(&mut self) -> Option<Box<Packet>> {
        Some(self.stage.exits.packet())
    }
    #[inline(always)]
    fn outgoing(packet: &mut Box<Packet>) -> Outgoing<'_> {
        let (bytes, typed) = packet.place();
        Outgoing { bytes, typed: Some(typed) }
    }
    #[inline(always)]
    fn recycle(&mut self, packet: Box<Packet>) {
        self.stage.exits.discard(packet);
    }
    /// The end of a connection, or the end to which the endpoint itself responds.
    #[cold]
    fn sender(&mut self, handle: Option<Handle>) -> usize {
        match handle {
            Some(handle) => self.end_of(handle),
            None => self.new_end(),
        }
    }
    #[inline(always)]
    fn send(&mut self, now: Time, end: usize, transmit: &Transmit, packet: Box<Packet>) {
        self.stage.ends[end].send(now, transmit, packet, self.stage.shared, self.stage.exits);
    }
}

impl Serving<'_, '_, '_> {
    #[inline(always)]
    fn end_of(&mut self, handle: Handle) -> usize {
        match self.known.get(handle.slot()) {
            Some((known, index)) if *known == handle => *index as usize,
            _ => self.adopt(handle),
        }
    }

    /// Assigns a new connection to its end.
    #[cold]
    fn adopt(&mut self, handle: Handle) -> usize {
        let end = self.new_end();
        let side = self.stage.ends[end].side;
        assert_eq!(side, wire::Side::Server, "a connection that a packet opens is that of a server");
        assign(self.known, handle, end);
        self.stage.ends[end].set_handle(handle);
        end
    }

    /// The end of a connection that the received packet opens.
    #[cold]
    fn new_end(&self) -> usize {
        end_of(self.stage.flows, self.flow)
            .expect("what opens a connection is a packet of a flow that ends here")
    }
}

impl End {
    /// Sends a datagram of its connection to the network.
    #[inline(always)]
    fn send(
        &mut self,
        now: Time,
        transmit: &Transmit,
        mut packet: Box<Packet>,
        shared: &Shared<'_>,
        exits: &mut Exits,
    ) {
        packet.address(transmit.local, transmit.remote, transmit.hole);
        packet.ecn = transmit.ecn;
        packet.flow = crate::ends::end_number(self.flow, self.side);
        packet.data = transmit.carries_data;
        if self.moved
            && let Some(port) = network::port_of(transmit.local.ip())
        {
            packet.leave_by(port);
        }
        if matches!(self.stack, super::EndConnection::Tcp(_)) {
            packet.carry_tcp();
        }
        if self.captured {
            self.capture(now, &packet, shared);
        }
        self.sent.add(packet.size);
        exits.send(packet);
    }

    /// Moves the events of the connection to the application, and its records to the sinks. Returns whether there were events.
    #[inline(always)]
    fn attend<C: Connection + ?Sized>(&mut self, now: Time, connection: &mut C, shared: &Shared<'_>) -> bool {
        let notified = connection.notify_all(now, &mut *self.application);
        if let Some((part, log)) = connection.records()
            && !log.is_empty()
        {
            self.take_records(part, log, shared);
        }
        if let Some(tap) = &shared.capture {
            self.take_secrets(connection, tap, shared);
        }
        if connection.is_over() {
            self.keep_last(connection);
        }
        if self.receives && notified.any {
            self.note_arrival(notified.ended, shared);
        }
        if notified.ended {
            self.ended(shared);
        }
        notified.any
    }

    #[inline(never)]
    fn take_records(&self, part: usize, log: &mut Log, shared: &Shared<'_>) {
        let mut recorder = shared.recorder.borrow_mut();
        let subject = if part == 0 { self.subject } else { recorder.part(self.subject, part) };
        shared.note_records(recorder.take(subject, log));
    }

    #[inline(never)]
    fn take_secrets<C: Connection + ?Sized>(&self, connection: &mut C, tap: &Tap, shared: &Shared<'_>) {
        let secrets = connection.take_secrets();
        for secret in secrets.iter().filter(|secret| crate::capture::is_first_at(self.side, secret)) {
            shared.note_capture(tap.secrets(secret));
        }
    }

    #[cold]
    fn keep_last<C: Connection + ?Sized>(&mut self, connection: &C) {
        let last = Box::new(connection.snapshot(self.application.no_error()));
        match &mut self.stack {
            super::EndConnection::Quic(end) => end.last = Some(last),
            super::EndConnection::Tcp(end) | super::EndConnection::Foreign(end) => end.last = Some(last),
        }
    }

    fn set_handle(&mut self, handle: Handle) {
        match &mut self.stack {
            super::EndConnection::Quic(end) => end.handle = Some(handle),
            super::EndConnection::Tcp(end) | super::EndConnection::Foreign(end) => end.handle = Some(handle),
        }
    }
}
