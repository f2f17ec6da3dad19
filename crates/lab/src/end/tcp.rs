//! An end that speaks TCP.

use super::{End, Snapshot, Stack};
use crate::counters::Counters;
use crate::error::RunError;
use crate::shared::Shared;
use network::{Exits, Packet, Protocol};
use std::net::SocketAddr;
use tcp::{Arrival, Connection, Setup};
use traffic::{Application, TcpTransport};
use units::Time;

/// One connection, which a client has from its start on.
pub(crate) struct TcpEnd {
    /// At a client: where to, when, and how.
    opening: Option<(SocketAddr, Time, Setup)>,
    connection: Option<Connection>,
}

impl TcpEnd {
    /// The end that opens the connection at this time.
    pub(crate) fn client(remote: SocketAddr, at: Time, setup: Setup) -> TcpEnd {
        TcpEnd { opening: Some((remote, at, setup)), connection: None }
    }
    /// The end that waits for it. `None` without a controller of the name in its options.
    pub(crate) fn server(setup: Setup) -> Option<TcpEnd> {
        Some(TcpEnd { opening: None, connection: Some(Connection::listen(setup)?) })
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        match (&self.opening, &self.connection) {
            (Some((_, at, _)), _) => Some(*at),
            (None, connection) => connection.as_ref()?.wake_at(),
        }
    }

    pub(super) fn report(&self, no_error: u64) -> Snapshot {
        let Some(connection) = &self.connection else { return Snapshot::default() };
        let close = connection.close_reason().map(|reason| (reason.to_string(), reason.is_clean(no_error)));
        (Counters::from(connection.stats()), connection.flight().0, close)
    }

    pub(super) fn receive(&mut self, now: Time, packet: Packet, exits: &mut Exits) {
        if let Some(connection) = self.connection.as_mut().filter(|_| packet.protocol() == Protocol::Tcp) {
            let arrival = Arrival {
                remote: packet.source,
                ecn: packet.ecn,
                bytes: &packet.bytes,
                hole: packet.hole(),
                damage: packet.damage(),
            };
            connection.receive(now, arrival);
        }
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
            && let Some((remote, _, setup)) = self.opening.take()
        {
            self.connection = Connection::connect(now, setup, remote);
            if self.connection.is_none() {
                let problem = "no such controller".to_owned();
                shared.note(Err(RunError::Component { place: format!("flow {flow}"), problem }));
            }
        }
        let Some(connection) = &mut self.connection else { return };
        connection.wake(now);
        if stop {
            connection.close(now, application.no_error(), "stopped");
        }
        if application.wake_at().is_some_and(|at| at <= now) {
            application.on_wake(now, &mut TcpTransport { connection, now });
        }
    }
}

impl End {
    pub(super) fn drain_tcp(&mut self, now: Time, shared: &Shared<'_>, exits: &mut Exits) {
        loop {
            self.attend_tcp(now, shared);
            let Stack::Tcp(end) = &mut self.stack else { return };
            let Some(connection) = &mut end.connection else { return };
            let mut bytes = exits.buffer();
            let Some(transmit) = connection.transmit(now, &mut bytes) else {
                exits.recycle(bytes);
                // What the last segment told is not left behind.
                return self.attend_tcp(now, shared);
            };
            let packet = exits.send_new(self.local, transmit.remote, bytes, transmit.hole);
            packet.carry_tcp();
            packet.ecn = transmit.ecn;
            packet.flow = End::number(self.flow, self.side);
            packet.data = transmit.carries_data;
            if self.captured {
                self.capture(now, packet, shared);
            }
        }
    }

    /// Brings a connection's events to the application and its records to the sinks.
    fn attend_tcp(&mut self, now: Time, shared: &Shared<'_>) {
        let Stack::Tcp(end) = &mut self.stack else { return };
        let Some(connection) = &mut end.connection else { return };
        let mut ended = false;
        while let Some(event) = connection.poll_event() {
            for event in traffic::tcp_events(event, self.side) {
                self.application.on_event(now, &event, &mut TcpTransport { connection, now });
                ended |= event == quic::Event::Ended;
            }
        }
        if !connection.log().is_empty() {
            let mut recorder = shared.recorder.borrow_mut();
            shared.note_records(recorder.take(self.subject, connection.log()));
        }
        if ended {
            self.ended(shared);
        }
    }
}
