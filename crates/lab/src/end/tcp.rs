//! An end that speaks TCP.

use super::ports::Ports;
use super::{End, Stack};
use crate::error::RunError;
use crate::shared::Shared;
use network::{Exits, Packet, Protocol};
use std::net::{IpAddr, SocketAddr};
use tcp::{Arrival, TcpConnections, TcpTransport};
use trace::Role;
use transport::{Application, Counters, Snapshot};
use units::Time;
use wire::Side;
use wire::tcp::{Flags, Header};

/// The connections of a flow.
pub(crate) struct TcpEnd {
    /// At a client: when the first connection is opened.
    opening: Option<Time>,
    connections: TcpConnections,
    /// The client's ports, by which both ends know the connections.
    ports: Ports,
    /// The name of the flow, and the subjects of the records of the connections behind the first.
    name: String,
    subjects: Vec<Option<u32>>,
    /// At a server: the client's own address, and the addresses that connections come from otherwise, by their indices: a NAT
    /// is on the way.
    client: IpAddr,
    translated: Vec<(SocketAddr, usize)>,
}

/// The name of a connection of a flow in the tables: the flow's for the first, with the connection's number for the others.
pub(crate) fn connection_name(flow: &str, index: usize) -> String {
    if index == 0 { flow.to_owned() } else { format!("{flow}#{index}") }
}

impl TcpEnd {
    /// The end that opens connections, the first at this time.
    pub(crate) fn client(connections: TcpConnections, at: Time, ports: Ports, name: &str) -> TcpEnd {
        TcpEnd { opening: Some(at), ..TcpEnd::new(connections, ports, name, IpAddr::from([0; 4])) }
    }
    /// The end that waits for them, from a client at this address. `None` if they cannot be made.
    pub(crate) fn server(
        mut connections: TcpConnections,
        ports: Ports,
        name: &str,
        client: IpAddr,
    ) -> Option<TcpEnd> {
        connections.get_or_create(Time::ZERO, 0)?;
        Some(TcpEnd::new(connections, ports, name, client))
    }

    fn new(connections: TcpConnections, ports: Ports, name: &str, client: IpAddr) -> TcpEnd {
        TcpEnd {
            opening: None,
            connections,
            ports,
            name: name.to_owned(),
            subjects: Vec::new(),
            client,
            translated: Vec::new(),
        }
    }

    /// At a server: the connection that a segment is of.
    fn connection_of(&mut self, packet: &Packet) -> Option<usize> {
        if packet.source.ip() == self.client {
            return self.ports.connection(packet.source.port());
        }
        let known = self.translated.iter().find(|(source, _)| *source == packet.source);
        if let Some((_, index)) = known {
            return Some(*index);
        }
        // A connection from an unknown address is the next one.
        let (header, _) = Header::decode(&packet.bytes).ok()?;
        let next = self.translated.len();
        let opens = header.flags.has(Flags::SYN) && !header.flags.has(Flags::ACK);
        if !opens || next >= usize::from(self.ports.count) {
            return None;
        }
        self.translated.push((packet.source, next));
        Some(next)
    }

    pub(super) fn ports(&self) -> Ports {
        self.ports
    }

    #[inline]
    /// Opens its first connection at this time.
    pub(super) fn open(&mut self, at: Time) {
        if self.opening.is_some() {
            self.opening = Some(at);
        }
    }

    pub(super) fn wake_at(&self) -> Time {
        self.opening.unwrap_or(Time::NEVER).min(self.connections.wake_at())
    }

    /// The sums over all connections; of their ends the first that was not clean, else that of the last.
    pub(super) fn report(&self, no_error: u64) -> Snapshot {
        let (mut counters, mut window, mut close) = (Counters::default(), 0, None);
        for (_, connection) in self.connections.iter() {
            counters.add(connection.stats().into());
            window += connection.flight().0;
            let unclean = matches!(close, Some((_, false)));
            if let Some(reason) = connection.close_reason().filter(|_| !unclean) {
                close = Some((reason.to_string(), reason.is_clean(no_error)));
            }
        }
        Snapshot { counters, window, close }
    }

    pub(super) fn receive(&mut self, now: Time, (packet, side): (Packet, Side), exits: &mut Exits) {
        let index = match side {
            _ if packet.protocol() != Protocol::Tcp => None,
            Side::Client => self.ports.connection(packet.destination.port()),
            Side::Server => self.connection_of(&packet),
        };
        let connection = index.and_then(|index| match side {
            // A client has opened what it has.
            Side::Client => self.connections.get(index),
            Side::Server => self.connections.get_or_create(now, index),
        });
        if let Some(connection) = connection {
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

    /// Does what is due, in flow `flow`; `stop`: the connections are to be closed.
    pub(super) fn wake(
        &mut self,
        now: Time,
        (stop, flow): (bool, usize),
        application: &mut dyn Application,
        shared: &Shared<'_>,
    ) {
        if self.opening.is_some_and(|at| at <= now) {
            self.opening = None;
            if self.connections.get_or_create(now, 0).is_none() {
                let problem = "no such controller".to_owned();
                shared.note(Err(RunError::Component { place: format!("flow {flow}"), problem }));
            }
        }
        self.connections.wake(now);
        if stop {
            self.connections.close(now, application.no_error(), "stopped");
        }
        if self.opening.is_none() && application.wake_at().is_some_and(|at| at <= now) {
            application.on_wake(now, &mut TcpTransport { connections: &mut self.connections, now });
        }
    }

    /// The subject of a connection's records; `first` is that of the first one.
    fn subject(&mut self, index: usize, (first, side): (u32, Side), shared: &Shared<'_>) -> u32 {
        if index == 0 {
            return first;
        }
        if self.subjects.len() < index {
            self.subjects.resize(index, None);
        }
        let role = Role::Connection(super::traced(side));
        *self.subjects[index - 1].get_or_insert_with(|| {
            shared.recorder.borrow_mut().register(&connection_name(&self.name, index), role)
        })
    }
}

/// TCP is no [`transport::Stack`], and has a loop of its own: what an application sees as one connection with streams are many
/// connections here, each with packets of its own, and a stack would have to lend all of them for the events of one.
impl End {
    pub(crate) fn drain_tcp(&mut self, now: Time, shared: &Shared<'_>, exits: &mut Exits) {
        while let Stack::Tcp(end) = &mut self.stack
            && let Some(index) = end.connections.next_touched()
        {
            self.drain_connection(now, index, shared, exits);
            if let Stack::Tcp(end) = &mut self.stack {
                end.connections.put_back(index);
            }
        }
    }

    fn drain_connection(&mut self, now: Time, index: usize, shared: &Shared<'_>, exits: &mut Exits) {
        loop {
            self.attend_tcp(now, index, shared);
            let Stack::Tcp(end) = &mut self.stack else { return };
            let Some(connection) = end.connections.attended(index) else { return };
            let mut bytes = exits.buffer();
            let Some(transmit) = connection.transmit(now, &mut bytes) else {
                exits.recycle(bytes);
                // What the last segment told is not left behind.
                return self.attend_tcp(now, index, shared);
            };
            let mut local = self.local;
            if self.side == Side::Client {
                local.set_port(end.ports.of(index));
            }
            let packet = exits.send_new(local, transmit.remote, bytes, transmit.hole);
            packet.carry_tcp();
            packet.ecn = transmit.ecn;
            packet.flow = crate::flows::end_number(self.flow, self.side);
            packet.data = transmit.carries_data;
            if self.captured {
                self.capture(now, packet, shared);
            }
        }
    }

    /// Brings a connection's events to the application and its records to the sinks.
    fn attend_tcp(&mut self, now: Time, index: usize, shared: &Shared<'_>) {
        let Stack::Tcp(end) = &mut self.stack else { return };
        let mut ended = false;
        while let Some(event) = end.connections.poll_event(index) {
            let mut transport = TcpTransport { connections: &mut end.connections, now };
            self.application.on_event(now, &event, &mut transport);
            ended |= event == quic::Event::Ended;
        }
        if end.connections.attended(index).is_some_and(|connection| !connection.log().is_empty()) {
            let subject = end.subject(index, (self.subject, self.side), shared);
            let mut recorder = shared.recorder.borrow_mut();
            if let Some(connection) = end.connections.attended(index) {
                shared.note_records(recorder.take(subject, connection.log()));
            }
        }
        if ended {
            self.ended(shared);
        }
    }
}
