//! An endpoint of quinn-proto as its host sees it.

use super::clock::{instant, time};
use super::connection::Connection;
use super::seeds::{Draws, FixedDate};
use super::session::{Secrets, Sessions};
use super::transport::config;
use crate::row::Setup;
use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, ConnectionEvent, ConnectionHandle, DatagramEvent, EcnCodepoint, Incoming, ServerConfig,
};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use tls::{Context, Protection};
use transport::{Datagram, Handle, Outgoing, Stack, Transmit};
use units::{Time, Timers};
use wire::Ecn;

/// The number of datagrams per call: more (segmentation offload) would leave together.
const SEGMENTS: usize = 1;

/// Connections of quinn-proto on one address.
pub(super) struct Endpoint {
    inner: quinn_proto::Endpoint,
    local: SocketAddr,
    /// Whether its packets are ECN-capable.
    ecn: bool,
    client: ClientConfig,
    context: Context,
    secrets: Secrets,
    /// The maximum number of connections at a time.
    max_connections: usize,
    slots: Vec<Slot>,
    /// The active slots, each once.
    active: VecDeque<u32>,
    timers: Timers,
    /// The endpoint's own answers.
    answers: VecDeque<(Transmit, Vec<u8>)>,
    /// The slot of the connection that sent the last datagram.
    sender: Option<u32>,
}

/// The slot of a connection, by quinn-proto's number.
#[derive(Default)]
struct Slot {
    connection: Option<Box<Connection>>,
    generation: u32,
    is_active: bool,
    wake_at: Option<Time>,
}

impl Endpoint {
    /// Creates an endpoint without connections.
    pub(super) fn new(setup: Setup<'_>) -> Endpoint {
        let Setup { local, options, tls: context, random, max_connections, arguments: _ } = setup;
        let draws = Draws::new(random);
        let (transport, endpoint) = (Arc::new(config(options)), Arc::new(draws.endpoint()));
        let secrets = Secrets::default();
        let sessions = Arc::new(Sessions::new(context.clone(), draws.clone(), secrets.clone()));
        let mut client = ClientConfig::new(sessions.clone());
        client.transport_config(transport.clone());
        let server = (max_connections > 0).then(|| {
            let mut server = ServerConfig::new(sessions, draws.token_key());
            server.transport_config(transport);
            server.time_source(Arc::new(FixedDate));
            Arc::new(server)
        });
        client.initial_dst_cid_provider(Arc::new(move || draws.first_id()));
        Endpoint {
            inner: quinn_proto::Endpoint::new(endpoint, server, true, None),
            local,
            ecn: options.ecn,
            client,
            context,
            secrets,
            max_connections,
            slots: Vec::new(),
            active: VecDeque::new(),
            timers: Timers::default(),
            answers: VecDeque::new(),
            sender: None,
        }
    }

    fn insert(&mut self, handle: ConnectionHandle, inner: quinn_proto::Connection) -> Handle {
        let slot = handle.0;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        self.slots[slot].connection = Some(Box::new(Connection::new(inner, self.secrets.clone())));
        self.touch(slot as u32);
        self.handle(slot as u32)
    }

    fn handle(&self, slot: u32) -> Handle {
        Handle::new(slot, self.slots[slot as usize].generation)
    }

    fn touch(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.slots[slot as usize].is_active, true) {
            self.active.push_back(slot);
        }
    }

    /// Passes an event of the endpoint to a connection.
    fn pass(&mut self, handle: ConnectionHandle, event: ConnectionEvent) {
        let Some(slot) = self.slots.get_mut(handle.0) else { return };
        if let Some(connection) = &mut slot.connection {
            connection.inner.handle_event(event);
            self.touch(handle.0 as u32);
        }
    }

    fn accept(&mut self, now: Time, incoming: Incoming, mut answer: Vec<u8>) {
        answer.clear();
        if self.inner.open_connections() >= self.max_connections {
            let transmit = self.inner.refuse(incoming, &mut answer);
            return self.answer(&transmit, answer);
        }
        match self.inner.accept(incoming, instant(now), &mut answer, None) {
            Ok((handle, connection)) => {
                self.insert(handle, connection);
            }
            Err(error) => {
                if let Some(transmit) = error.response {
                    self.answer(&transmit, answer);
                }
            }
        }
    }

    fn answer(&mut self, transmit: &quinn_proto::Transmit, bytes: Vec<u8>) {
        self.answers.push_back((self.transmit_of(transmit, false), bytes));
    }

    fn transmit_of(&self, transmit: &quinn_proto::Transmit, carries_data: bool) -> Transmit {
        Transmit {
            local: self.local,
            remote: transmit.destination,
            ecn: transmit.ecn.filter(|_| self.ecn).map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8)),
            hole: None,
            carries_data,
            length: transmit.size,
            last: false,
        }
    }

    /// Exchanges the events of endpoint and connection.
    fn exchange(&mut self, slot: u32) {
        let Some(connection) = &mut self.slots[slot as usize].connection else { return };
        while let Some(event) = connection.inner.poll_endpoint_events() {
            if let Some(event) = self.inner.handle_event(ConnectionHandle(slot as usize), event) {
                connection.inner.handle_event(event);
            }
        }
        connection.gather();
    }

    /// Sets the timer of a connection that has nothing more to send, or removes it if it has ended.
    fn settle(&mut self, slot: u32) {
        self.exchange(slot);
        let entry = &mut self.slots[slot as usize];
        let Some(connection) = &mut entry.connection else { return };
        let gone = connection.inner.is_drained() && connection.events.is_empty();
        let at = connection.inner.poll_timeout().map(time).filter(|_| !gone);
        if gone {
            entry.connection = None;
            entry.generation = entry.generation.wrapping_add(1);
        }
        if entry.wake_at != at {
            entry.wake_at = at;
            self.timers.set(slot as usize, at);
        }
    }

    fn front_has_events(&self) -> bool {
        let front = self.active.front().and_then(|slot| self.slots[*slot as usize].connection.as_ref());
        front.is_some_and(|connection| !connection.events.is_empty())
    }
}

impl Stack for Endpoint {
    type Connection = dyn transport::Connection;
    /// The server's address.
    type Opening = SocketAddr;

    fn connect(&mut self, now: Time, remote: SocketAddr) -> Result<Handle, String> {
        let name = self.context.server_name();
        let opened = self.inner.connect(instant(now), self.client.clone(), remote, name);
        let (handle, connection) = opened.map_err(|error| error.to_string())?;
        Ok(self.insert(handle, connection))
    }

    fn receive(&mut self, now: Time, datagram: Datagram<'_>) {
        // Null protection has no authentication tag: an altered packet is dropped here.
        if datagram.damage.is_some() && self.context.protection() == Protection::Null {
            return;
        }
        let mut bytes = datagram.bytes.to_vec();
        if let Some(hole) = datagram.hole {
            hole.write_out(&mut bytes);
        }
        let (mut answer, data) = (Vec::new(), BytesMut::from(&bytes[..]));
        let ecn = EcnCodepoint::from_bits(datagram.ecn.bits());
        match self.inner.handle(instant(now), datagram.remote, None, ecn, data, &mut answer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => self.pass(handle, event),
            Some(DatagramEvent::NewConnection(incoming)) => self.accept(now, incoming, answer),
            Some(DatagramEvent::Response(transmit)) => self.answer(&transmit, answer),
            None => {}
        }
    }

    fn transmit(&mut self, now: Time, out: Outgoing<'_>) -> Option<Transmit> {
        let buffer = out.bytes;
        if let Some((transmit, bytes)) = self.answers.pop_front() {
            buffer.extend_from_slice(&bytes);
            self.sender = None;
            return Some(transmit);
        }
        while let Some(slot) = self.active.front().copied() {
            self.exchange(slot);
            if let Some(connection) = &mut self.slots[slot as usize].connection
                && let Some(transmit) = connection.inner.poll_transmit(instant(now), SEGMENTS, buffer)
            {
                let carries_data = connection.sent.note(&connection.inner.stats());
                self.sender = Some(slot);
                return Some(self.transmit_of(&transmit, carries_data));
            }
            if self.front_has_events() {
                return None;
            }
            self.active.pop_front();
            self.slots[slot as usize].is_active = false;
            self.settle(slot);
            if self.front_has_events() {
                return None;
            }
        }
        None
    }

    fn wake_at(&self) -> Option<Time> {
        self.timers.at()
    }

    fn wake(&mut self, now: Time) {
        while let Some((at, number)) = self.timers.next() {
            if at > now {
                break;
            }
            self.timers.set(number, None);
            self.slots[number].wake_at = None;
            if let Some(connection) = &mut self.slots[number].connection {
                connection.inner.handle_timeout(instant(now));
                self.touch(number as u32);
            }
        }
    }

    fn next_active(&self) -> Option<Handle> {
        self.active.front().map(|slot| self.handle(*slot))
    }

    fn active(&mut self) -> Option<(Handle, &mut Self::Connection)> {
        let slot = *self.active.front()?;
        let handle = self.handle(slot);
        let connection = self.slots[slot as usize].connection.as_deref_mut()?;
        Some((handle, connection))
    }

    fn sender(&self) -> Option<Handle> {
        self.sender.map(|slot| self.handle(slot))
    }

    fn has_sent(&self, handle: Handle) -> bool {
        self.sender == Some(handle.slot() as u32)
    }

    fn get(&self, handle: Handle) -> Option<&Self::Connection> {
        let slot = self.slots.get(handle.slot()).filter(|slot| slot.generation == handle.generation())?;
        slot.connection.as_deref().map(|connection| connection as &dyn transport::Connection)
    }

    fn get_mut(&mut self, handle: Handle) -> Option<&mut Self::Connection> {
        let slot = self.slots.get(handle.slot()).filter(|slot| slot.generation == handle.generation())?;
        slot.connection.as_ref()?;
        self.touch(handle.slot() as u32);
        self.slots[handle.slot()].connection.as_deref_mut().map(|c| c as &mut dyn transport::Connection)
    }
}
