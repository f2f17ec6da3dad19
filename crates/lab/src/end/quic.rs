//! An end of a flow over QUIC: a connection of one of its host's endpoints.

use super::{End, Snapshot};
use crate::error::RunError;
use crate::flows::end_of;
use crate::shared::{Captured, Shared};
use network::{Exits, NodeId, Packet, Port, port_address};
use quic::{
    Connection, Datagram, Endpoint, Handle, MigrateError, Migration, Opening, QuicTransport, Transmit,
};
use std::cell::RefCell;
use std::net::SocketAddr;
use transport::Application;
use units::{Duration, Time, Timers};

/// A connection of an endpoint, or what will be one.
pub(crate) struct QuicEnd {
    /// Which of the host's endpoints.
    pub endpoint: usize,
    /// At a client: when the connection is opened, and how.
    opening: Option<(Time, Box<Opening>)>,
    pub handle: Option<Handle>,
    /// What the connection had counted when it was last seen near its end.
    last: Option<Box<Snapshot>>,
}

impl QuicEnd {
    /// The end that opens a connection.
    pub(crate) fn client(endpoint: usize, at: Time, opening: Opening) -> QuicEnd {
        QuicEnd { endpoint, opening: Some((at, Box::new(opening))), handle: None, last: None }
    }
    /// The end that accepts one.
    pub(crate) fn server(endpoint: usize) -> QuicEnd {
        QuicEnd { endpoint, opening: None, handle: None, last: None }
    }

    /// Opens its connection at this time.
    pub(super) fn open(&mut self, at: Time) {
        if let Some((opening_at, _)) = &mut self.opening {
            *opening_at = at;
        }
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.opening.as_ref().map_or(Time::NEVER, |(at, _)| *at)
    }

    fn snapshot(connection: &Connection, no_error: u64) -> Snapshot {
        let clean = (true, no_error);
        let close = connection.close_reason().map(|reason| (reason.to_string(), reason.code() == clean));
        (connection.stats().into(), connection.flight().0, close)
    }

    pub(super) fn report(&self, endpoints: &[QuicPort], no_error: u64) -> Snapshot {
        let live = self.handle.and_then(|handle| endpoints[self.endpoint].endpoint.get(handle));
        let live = live.map(|connection| QuicEnd::snapshot(connection, no_error));
        live.or_else(|| self.last.as_deref().cloned()).unwrap_or_default()
    }

    /// Does what is due, in flow `flow`; `stop`: the connection is to be closed.
    pub(super) fn wake(
        &mut self,
        now: Time,
        (stop, flow): (bool, usize),
        (port, index): (&mut QuicPort, usize),
        application: &mut dyn Application,
        shared: &Shared<'_>,
    ) {
        if let Some((_, opening)) = self.opening.take_if(|(at, _)| *at <= now) {
            match port.endpoint.connect(now, *opening) {
                Ok(handle) => {
                    port.assign(handle, index);
                    self.handle = Some(handle);
                }
                Err(error) => {
                    let (place, problem) = (format!("flow {flow}"), error.to_string());
                    shared.note(Err(RunError::Component { place, problem }));
                }
            }
        }
        // What the connection has to do at this instant comes first.
        port.endpoint.wake(now);
        let Some(connection) = self.handle.and_then(|handle| port.endpoint.get_mut(handle)) else { return };
        if stop {
            connection.close(now, application.no_error(), "stopped");
        }
        if application.wake_at().is_some_and(|at| at <= now) {
            application.on_wake(now, &mut QuicTransport { connection, now });
        }
    }

    /// Has the connection send from the address of a port; gives whether it does. Nothing happens unless it is open.
    pub(super) fn migrate(
        &self,
        now: Time,
        endpoint: &mut Endpoint,
        (node, port): (NodeId, Port),
        how: Migration,
    ) -> Result<bool, MigrateError> {
        let connection = self.handle.and_then(|handle| endpoint.get_mut(handle));
        let Some(connection) = connection else { return Ok(false) };
        let local = connection.local();
        let Some(address) = port_address(node, port, local.is_ipv6()) else { return Ok(false) };
        match connection.migrate(now, SocketAddr::new(address, local.port()), how) {
            Err(MigrateError::Closed) => Ok(false),
            result => result.map(|()| true),
        }
    }
}

/// One of a host's QUIC endpoints, and whose its connections are.
pub(crate) struct QuicPort {
    pub endpoint: Endpoint,
    /// The connections by their slots, and the ends that they belong to.
    ends: Vec<(Handle, u32)>,
    /// When its timer goes off.
    pub armed: Option<Time>,
}

/// What a host lets an endpoint act on.
pub(crate) struct Stage<'s, 'a> {
    /// The host's ends.
    pub ends: &'s mut [End],
    /// From the number of a flow's packets to the end that they are for.
    pub flows: &'s [(u32, u32)],
    /// The timers of the ends.
    pub timers: &'s mut Timers,
    pub shared: &'s Shared<'a>,
    pub exits: &'s mut Exits,
}

impl QuicPort {
    pub(crate) fn new(endpoint: Endpoint) -> QuicPort {
        QuicPort { endpoint, ends: Vec::new(), armed: None }
    }

    /// A connection is that of an end.
    fn assign(&mut self, handle: Handle, end: usize) {
        let slot = handle.slot();
        if self.ends.len() <= slot {
            self.ends.resize(slot + 1, (handle, 0));
        }
        self.ends[slot] = (handle, end as u32);
    }

    /// When it is to be woken: later than now, so that the clock always goes on.
    #[inline]
    pub(crate) fn wake_at(&self, now: Time) -> Option<Time> {
        self.endpoint.wake_at().map(|at| at.max(now + Duration::from_nanos(1)))
    }

    /// The end of a connection that the peer has opened just now, which is that of `newcomer`.
    #[cold]
    fn adopt(&mut self, handle: Handle, newcomer: usize, ends: &mut [End]) -> usize {
        self.assign(handle, newcomer);
        if let Some(quic) = ends[newcomer].quic_mut() {
            quic.handle = Some(handle);
        }
        newcomer
    }

    /// Takes a packet.
    #[inline]
    pub(crate) fn receive(&mut self, now: Time, packet: &mut Packet) {
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
    }

    /// Lets the connections and their applications do all that they have to do now. `flow`: the number of the packet that was taken
    /// just now; a connection that is new is that of its flow.
    pub(crate) fn drain(&mut self, now: Time, flow: u32, stage: &mut Stage<'_, '_>) {
        loop {
            let mut active = None;
            if let Some((handle, connection)) = self.endpoint.active() {
                let known = self.ends.get(handle.slot()).filter(|(known, _)| *known == handle);
                let index = match known {
                    Some((_, index)) => *index as usize,
                    None => {
                        self.adopt(handle, stage.newcomer(flow), stage.ends);
                        continue;
                    }
                };
                if stage.ends[index].attend_quic(now, connection, stage.shared) {
                    stage.ends[index].arm(now, index, stage.timers);
                }
                active = Some((handle, index));
            }
            let mut bytes = stage.exits.buffer();
            // By reference: to move what was just written costs more than to read it where it is.
            let made = self.endpoint.transmit(now, &mut bytes);
            let Some(transmit) = &made else {
                stage.exits.recycle(bytes);
                if self.endpoint.next_active().is_some() {
                    continue;
                }
                return;
            };
            let index = match active {
                Some((handle, index)) if self.endpoint.has_sent(handle) => index,
                _ => self.sender(flow, stage),
            };
            stage.ends[index].send_quic(now, transmit, bytes, stage.shared, stage.exits);
        }
    }

    /// The end that the last datagram is of, if it is not of the connection whose turn it was: the endpoint's own answers
    /// are of the end to which they answer.
    #[cold]
    fn sender(&mut self, flow: u32, stage: &mut Stage<'_, '_>) -> usize {
        let newcomer = stage.newcomer(flow);
        let Some(handle) = self.endpoint.sender() else { return newcomer };
        match self.ends.get(handle.slot()) {
            Some((known, index)) if *known == handle => *index as usize,
            _ => self.adopt(handle, newcomer, stage.ends),
        }
    }
}

impl Stage<'_, '_> {
    /// The end of a connection that a packet of this number has opened.
    #[cold]
    fn newcomer(&self, flow: u32) -> usize {
        end_of(self.flows, flow).unwrap_or(0)
    }
}

impl End {
    /// Puts a datagram of its connection onto the network.
    #[inline]
    fn send_quic(
        &mut self,
        now: Time,
        transmit: &Transmit,
        bytes: Vec<u8>,
        shared: &Shared<'_>,
        exits: &mut Exits,
    ) {
        let packet = exits.send_new(transmit.local, transmit.remote, bytes, transmit.hole);
        packet.ecn = transmit.ecn;
        packet.flow = crate::flows::end_number(self.flow, self.side);
        packet.data = transmit.carries_data;
        if self.moved
            && let Some(port) = network::port_of(transmit.local.ip())
        {
            packet.leave_by(port);
        }
        if self.captured {
            self.capture(now, packet, shared);
        }
    }

    /// Brings a connection's events to the application and its records to the sinks; returns whether there were events.
    #[inline(always)]
    fn attend_quic(&mut self, now: Time, connection: &mut Connection, shared: &Shared<'_>) -> bool {
        let (mut heard, mut ended) = (false, false);
        while let Some(event) = connection.poll_event() {
            self.application.on_event(now, &event, &mut QuicTransport { connection, now });
            heard = true;
            ended |= event == quic::Event::Ended;
        }
        if !connection.log().is_empty() {
            self.take_records(connection, shared);
        }
        if let Some(capture) = &shared.capture {
            self.take_secrets(connection, capture, shared);
        }
        if connection.is_over() {
            self.keep_last(connection);
        }
        if ended {
            self.ended(shared);
        }
        heard
    }

    #[inline(never)]
    fn take_records(&self, connection: &mut Connection, shared: &Shared<'_>) {
        let mut recorder = shared.recorder.borrow_mut();
        shared.note_records(recorder.take(self.subject, connection.log()));
    }

    #[inline(never)]
    fn take_secrets(
        &self,
        connection: &mut Connection,
        capture: &RefCell<Option<Captured>>,
        shared: &Shared<'_>,
    ) {
        let secrets = connection.take_secrets();
        for secret in secrets.iter().filter(|secret| crate::capture::is_first_at(self.side, secret)) {
            if let Some(capture) = &mut *capture.borrow_mut() {
                shared.note_capture(capture.secrets(&secret.to_string()));
            }
        }
    }

    #[cold]
    fn keep_last(&mut self, connection: &Connection) {
        let last = QuicEnd::snapshot(connection, self.application.no_error());
        if let Some(end) = self.quic_mut() {
            end.last = Some(Box::new(last));
        }
    }
}
