//! An end that speaks QUIC.

use super::{End, Snapshot, Stack};
use crate::error::RunError;
use crate::shared::Shared;
use network::{Exits, Packet};
use quic::{Config, Connection, Datagram, Endpoint, Handle, Opening, QuicTransport};
use std::net::SocketAddr;
use std::sync::Arc;
use transport::Application;
use units::Time;
use wire::Side;

/// An endpoint with one connection.
pub(crate) struct QuicEnd {
    pub endpoint: Endpoint,
    /// At a client: where to, when, and how.
    pub opening: Option<(SocketAddr, Time, Arc<Config>)>,
    handle: Option<Handle>,
    /// What the connection had counted when it was last seen near its end.
    last: Option<Snapshot>,
}

impl QuicEnd {
    pub(crate) fn new(endpoint: Endpoint, opening: Option<(SocketAddr, Time, Arc<Config>)>) -> QuicEnd {
        QuicEnd { endpoint, opening, handle: None, last: None }
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        let opening = self.opening.as_ref().map_or(Time::NEVER, |(_, at, _)| *at);
        opening.min(self.endpoint.wake_at().unwrap_or(Time::NEVER))
    }

    /// Its connection, while there is one.
    pub(super) fn connection(&mut self) -> Option<&mut Connection> {
        self.endpoint.get_mut(self.handle?)
    }

    fn snapshot(connection: &Connection, no_error: u64) -> Snapshot {
        let clean = (true, no_error);
        let close = connection.close_reason().map(|reason| (reason.to_string(), reason.code() == clean));
        (connection.stats().into(), connection.flight().0, close)
    }

    pub(super) fn report(&self, no_error: u64) -> Snapshot {
        let live = self.handle.and_then(|handle| self.endpoint.get(handle));
        let live = live.map(|connection| QuicEnd::snapshot(connection, no_error));
        live.or_else(|| self.last.clone()).unwrap_or_default()
    }

    #[inline]
    pub(super) fn receive(&mut self, now: Time, mut packet: Packet, exits: &mut Exits) {
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
        exits.recycle(packet.bytes);
    }

    /// Does what is due, in flow `flow`; `stop`: the connection is to be closed.
    pub(super) fn wake(
        &mut self,
        now: Time,
        (stop, flow): (bool, usize),
        application: &mut dyn Application,
        shared: &Shared<'_>,
    ) {
        if self.opening.as_ref().is_some_and(|(_, at, _)| *at <= now)
            && let Some((remote, _, config)) = self.opening.take()
        {
            match self.endpoint.connect(now, Opening::new(remote, config)) {
                Ok(handle) => self.handle = Some(handle),
                Err(error) => {
                    let (place, problem) = (format!("flow {flow}"), error.to_string());
                    shared.note(Err(RunError::Component { place, problem }));
                }
            }
        }
        self.endpoint.wake(now);
        let Some(connection) = self.handle.and_then(|handle| self.endpoint.get_mut(handle)) else { return };
        if stop {
            connection.close(now, application.no_error(), "stopped");
        }
        if application.wake_at().is_some_and(|at| at <= now) {
            application.on_wake(now, &mut QuicTransport { connection, now });
        }
    }
}

impl End {
    #[inline]
    pub(super) fn drain_quic(&mut self, now: Time, shared: &Shared<'_>, exits: &mut Exits) {
        loop {
            let Stack::Quic(end) = &mut self.stack else { return };
            if let Some(handle) = end.endpoint.next_active() {
                end.handle = Some(handle);
                self.attend_quic(now, handle, shared);
            }
            let Stack::Quic(end) = &mut self.stack else { return };
            let mut bytes = exits.buffer();
            // By reference: to move what was just written costs more than to read it where it is.
            let made = end.endpoint.transmit(now, &mut bytes);
            let Some(transmit) = &made else {
                exits.recycle(bytes);
                if end.endpoint.next_active().is_some() {
                    continue;
                }
                return;
            };
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
    }

    /// Brings a connection's events to the application and its records to the sinks.
    #[inline]
    fn attend_quic(&mut self, now: Time, handle: Handle, shared: &Shared<'_>) {
        let Stack::Quic(end) = &mut self.stack else { return };
        let Some(connection) = end.endpoint.get_mut(handle) else { return };
        let mut ended = false;
        while let Some(event) = connection.poll_event() {
            self.application.on_event(now, &event, &mut QuicTransport { connection, now });
            ended |= event == quic::Event::Ended;
        }
        if !connection.log().is_empty() {
            let mut recorder = shared.recorder.borrow_mut();
            shared.note_records(recorder.take(self.subject, connection.log()));
        }
        if let Some(capture) = &shared.capture {
            for secret in connection
                .take_secrets()
                .iter()
                .filter(|secret| crate::capture::is_first_at(self.side, secret))
            {
                if let Some(capture) = &mut *capture.borrow_mut() {
                    shared.note_capture(capture.secrets(&secret.to_string()));
                }
            }
        }
        if connection.is_over() {
            end.last = Some(QuicEnd::snapshot(connection, self.application.no_error()));
        }
        if ended && self.side == Side::Client {
            self.ended(shared);
        }
    }
}
