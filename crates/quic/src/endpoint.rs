//! Many connections on one address: routing by connection id, accepting, and version negotiation.
//!
//! Three verbs: change ([`Endpoint::connect`], [`Endpoint::receive`], [`Endpoint::wake`], calls on a connection),
//! drain ([`Endpoint::transmit`], [`Endpoint::next_active`] and the events of that connection), wait until
//! [`Endpoint::wake_at`].

use crate::config::Config;
use crate::connection::{Connection, Datagram, Origin, Parts, Transmit};
use crate::error::TransportError;
use crate::ids::{IdMaker, LOCAL_ID_LENGTH};
use crate::opening::Opening;
use crate::path::MIN_PAYLOAD;
use crate::resume::{Memory, Remembering};
use crate::waiting::WaitingRoom;
use random::Stream;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use trace::{Interest, PacketKind};
use units::Time;
use wire::{ConnectionId, Ecn, FirstByte, Header, HeaderError, Side, Version};

/// The least length of the destination id of a client's first packet (RFC 9000-7.2-1).
const MIN_INITIAL_ID: usize = 8;
/// Answers to packets of unknown versions that wait to be sent.
const MAX_ANSWERS: usize = 64;

/// A connection of an endpoint. Slots are used again; the handle of a connection that is gone leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle {
    slot: u32,
    generation: u32,
}

/// What an endpoint is made from.
#[derive(Clone)]
pub struct EndpointOptions {
    /// The address that clients' packets leave from, if their [`Opening`] names no other; where its IP address is
    /// unspecified (0.0.0.0, ::) the system chooses.
    pub local: SocketAddr,
    /// How connections that this side accepts are configured; `None`: it accepts none.
    pub accept: Option<Arc<Config>>,
    /// Certificates, keys and packet protection.
    pub tls: tls::Context,
    /// How many connections may be open at a time.
    pub max_connections: usize,
    /// What connections note in their logs.
    pub interest: Interest,
}

/// A datagram that belongs to no connection.
struct Answer {
    local: SocketAddr,
    remote: SocketAddr,
    bytes: Vec<u8>,
}

impl EndpointOptions {
    /// An endpoint at this address that accepts no connections, with everything else as it is by default: as many
    /// connections as there can be (2^32), and nothing noted in logs.
    pub fn new(local: SocketAddr, tls: tls::Context) -> EndpointOptions {
        EndpointOptions {
            local,
            accept: None,
            tls,
            max_connections: u32::MAX as usize,
            interest: Interest::NONE,
        }
    }
}

struct Slot {
    connection: Option<Box<Connection>>,
    generation: u32,
    /// Whether it stands in the queue of those that may have something to send or to tell.
    queued: bool,
    wake_at: Option<Time>,
}

/// All connections of one address.
pub struct Endpoint {
    options: EndpointOptions,
    random: Stream,
    secret: u64,
    memory: Memory,
    tickets: Option<tls::TicketStore>,
    waiting: WaitingRoom,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Clients' first packets go to an id that the client made up.
    initial_ids: BTreeMap<(SocketAddr, ConnectionId), u32>,
    /// Connections whose events or datagrams are to be drained.
    active: VecDeque<u32>,
    timers: std::collections::BTreeSet<(Time, u32)>,
    /// Datagrams that belong to no connection.
    answers: VecDeque<Answer>,
    /// Datagrams that nothing could be done with.
    dropped: u64,
}

impl Endpoint {
    /// An endpoint without connections.
    pub fn new(options: EndpointOptions, mut random: Stream) -> Endpoint {
        let secret = random.bits();
        let tickets = options.tls.ticket_store();
        Endpoint {
            options,
            random,
            secret,
            memory: Memory::default(),
            tickets,
            waiting: WaitingRoom::default(),
            slots: Vec::new(),
            free: Vec::new(),
            initial_ids: BTreeMap::new(),
            active: VecDeque::new(),
            timers: std::collections::BTreeSet::new(),
            answers: VecDeque::new(),
            dropped: 0,
        }
    }

    /// What this endpoint's clients remember between connections.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
    /// From now on connections that are opened here remember there: for endpoints that share what they know.
    pub fn set_memory(&mut self, memory: Memory) {
        self.memory = memory;
    }
    /// Where this endpoint keeps the tickets that its servers give; `None` where the TLS context gives none.
    pub fn tickets(&self) -> Option<&tls::TicketStore> {
        self.tickets.as_ref()
    }
    /// From now on tickets are kept and looked for there: for servers that share them, or one that was started anew.
    /// Without effect where the TLS context gives none.
    pub fn set_tickets(&mut self, tickets: tls::TicketStore) {
        self.tickets = self.tickets.take().map(|_| tickets);
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// If TLS cannot be set up (the server's name is none, perhaps), or the endpoint has all the connections that it may
    /// have.
    pub fn connect(&mut self, now: Time, opening: Opening) -> Result<Handle, TransportError> {
        if self.len() >= self.options.max_connections {
            return Err(TransportError::new(wire::Code::INTERNAL_ERROR, "too many connections"));
        }
        let mut id = [0; MIN_INITIAL_ID];
        self.random.fill(&mut id);
        let original_destination = ConnectionId::new(&id).unwrap_or(ConnectionId::EMPTY);
        let origin = Origin {
            side: Side::Client,
            local: self.options.local,
            remote: opening.remote,
            original_destination,
            peer_id: None,
        };
        let slot = self.insert(now, origin, opening.config.clone(), Some(&opening))?;
        Ok(Handle { slot, generation: self.slots[slot as usize].generation })
    }

    fn insert(
        &mut self,
        now: Time,
        origin: Origin,
        config: Arc<Config>,
        opening: Option<&Opening>,
    ) -> Result<u32, TransportError> {
        let slot = self.free.last().copied().unwrap_or(self.slots.len() as u32);
        let remembering = opening.map(|opening| self.remembering(opening));
        let parts = Parts {
            maker: IdMaker { secret: self.secret, slot },
            random: &mut self.random,
            interest: self.options.interest,
            opening,
            remembering,
            tickets: self.tickets.clone().filter(|_| opening.is_none()),
        };
        let connection = Some(Box::new(Connection::new(now, origin, config, &self.options.tls, parts)?));
        match self.free.pop() {
            Some(_) => self.slots[slot as usize].connection = connection,
            None => self.slots.push(Slot { connection, generation: 0, queued: false, wake_at: None }),
        }
        self.touch(slot);
        Ok(slot)
    }

    /// The memory, and what the server goes by in it.
    fn remembering(&self, opening: &Opening) -> Remembering {
        let name = opening.server_name.as_deref().unwrap_or(self.options.tls.server_name());
        let server = format!("{name}:{}", opening.remote.port()).into();
        Remembering { memory: self.memory.clone(), server }
    }

    /// The number of connections.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Datagrams that nothing could be done with.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// A connection, unless it is gone.
    #[inline]
    pub fn get(&self, handle: Handle) -> Option<&Connection> {
        let slot =
            self.slots.get(handle.slot as usize).filter(|slot| slot.generation == handle.generation)?;
        slot.connection.as_deref()
    }
    /// A connection to act on, unless it is gone. It is looked at again before the next datagrams leave.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut Connection> {
        let known = self.slots.get(handle.slot as usize)?.generation == handle.generation;
        if known {
            self.touch(handle.slot);
        }
        self.slots[handle.slot as usize].connection.as_deref_mut().filter(|_| known)
    }

    #[inline]
    fn touch(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        if !entry.queued {
            entry.queued = true;
            self.active.push_back(slot);
        }
    }

    /// Takes in a datagram.
    #[inline]
    pub fn receive(&mut self, now: Time, mut datagram: Datagram<'_>) {
        let Some(&first) = datagram.bytes.first() else { return };
        let short = !FirstByte(first).is_long();
        let id = if short { datagram.bytes.get(1..1 + LOCAL_ID_LENGTH) } else { None };
        if let Some(slot) = id.and_then(|id| self.slot_of(id)) {
            return self.deliver(now, slot, &mut datagram);
        }
        if short {
            return self.receive_unknown(now, &datagram);
        }
        self.receive_long(now, &mut datagram);
    }

    /// A datagram that no connection knows by its id may be a stateless reset (RFC 9000 section 10.3.1).
    #[cold]
    fn receive_unknown(&mut self, now: Time, datagram: &Datagram<'_>) {
        let token = wire::header::reset_token(datagram.bytes);
        let slot = token.and_then(|token| {
            let is_reset = |slot: &Slot| {
                slot.connection.as_deref().is_some_and(|known| known.is_reset_by(datagram.remote, token))
            };
            self.slots.iter().position(is_reset)
        });
        let Some(slot) = slot else {
            self.dropped += 1;
            return;
        };
        if let Some(connection) = self.slots[slot].connection.as_deref_mut() {
            connection.on_stateless_reset(now);
        }
        self.touch(slot as u32);
    }

    /// The connection that gave this id out.
    #[inline]
    fn slot_of(&self, id: &[u8]) -> Option<u32> {
        let slot = IdMaker::slot_of(self.secret, id)?;
        let connection = self.slots.get(slot as usize)?.connection.as_deref()?;
        connection.owns(id).then_some(slot)
    }

    #[inline]
    fn deliver(&mut self, now: Time, slot: u32, datagram: &mut Datagram<'_>) {
        if let Some(connection) = self.slots[slot as usize].connection.as_deref_mut() {
            connection.receive(now, datagram);
        }
        self.touch(slot);
    }

    fn receive_long(&mut self, now: Time, datagram: &mut Datagram<'_>) {
        let header = match Header::parse_with_any_quic_bit(datagram.bytes, LOCAL_ID_LENGTH, datagram.hole) {
            Ok(header) if header.version == Version::V1 || header.version == Version::NEGOTIATION => header,
            Ok(header) => return self.negotiate(header.version, datagram),
            Err(HeaderError::UnsupportedVersion(version)) => return self.negotiate(version, datagram),
            Err(_) => {
                self.dropped += 1;
                return;
            }
        };
        let known = self.slot_of(header.destination.as_bytes());
        let known = known.or_else(|| self.initial_ids.get(&(datagram.remote, header.destination)).copied());
        if let Some(slot) = known {
            return self.deliver(now, slot, datagram);
        }
        // RFC 9000 section 5.2.2.
        let early =
            header.kind == PacketKind::ZeroRtt && self.tickets.is_some() && self.options.accept.is_some();
        if !(early && self.waiting.keep(now, header.destination, datagram)) {
            self.accept(now, &header, datagram);
        }
    }

    /// 0-RTT packets that overtook the Initial packet of this connection.
    fn deliver_waiting(&mut self, now: Time, slot: u32, id: (SocketAddr, ConnectionId)) {
        for mut waiting in self.waiting.take(now, id.0, id.1) {
            let mut datagram = Datagram {
                local: waiting.local,
                remote: waiting.remote,
                ecn: waiting.ecn,
                bytes: &mut waiting.bytes,
                hole: waiting.hole,
                damage: waiting.damage,
            };
            self.deliver(now, slot, &mut datagram);
        }
    }

    /// A client's first packet (RFC 9000 sections 7.2 and 14.1).
    fn accept(&mut self, now: Time, header: &Header, datagram: &mut Datagram<'_>) {
        let length = datagram.bytes.len() + datagram.hole.map_or(0, |hole| hole.length as usize);
        // RFC 9000-17.2-1: whether the fixed bit may be 0 is agreed upon later.
        let acceptable = header.kind == PacketKind::Initial
            && FirstByte(datagram.bytes[0]).fixed_bit()
            && header.destination.len() >= MIN_INITIAL_ID
            && length >= usize::from(MIN_PAYLOAD)
            && self.len() < self.options.max_connections;
        let Some(config) = self.options.accept.clone().filter(|_| acceptable) else {
            self.dropped += 1;
            return;
        };
        let origin = Origin {
            side: Side::Server,
            local: datagram.local,
            remote: datagram.remote,
            original_destination: header.destination,
            // RFC 9000-7.2-5.
            peer_id: Some(header.source),
        };
        match self.insert(now, origin, config, None) {
            Ok(slot) => {
                self.initial_ids.insert((datagram.remote, header.destination), slot);
                self.deliver(now, slot, datagram);
                if self.slots[slot as usize].connection.as_deref().is_some_and(Connection::is_blank) {
                    // Nothing opened: it was not a client's first packet, or was altered on its way, its ids perhaps.
                    self.forget(slot);
                    self.dropped += 1;
                    return;
                }
                self.deliver_waiting(now, slot, (datagram.remote, header.destination));
            }
            Err(_) => self.dropped += 1,
        }
    }

    /// RFC 9000 section 6.1: a server tells which versions it speaks, to datagrams that are large enough.
    fn negotiate(&mut self, version: Version, datagram: &Datagram<'_>) {
        let answerable = self.options.accept.is_some()
            && version != Version::NEGOTIATION
            && datagram.bytes.len() >= usize::from(MIN_PAYLOAD)
            && self.answers.len() < MAX_ANSWERS;
        let Some(invariants) = wire::header::Invariants::parse(datagram.bytes).ok().filter(|_| answerable)
        else {
            self.dropped += 1;
            return;
        };
        let mut answer = Vec::new();
        let unused = self.random.bits() as u8 & 0x7f;
        let (destination, source) = (invariants.source, invariants.destination);
        wire::header::version_negotiation(&mut answer, unused, destination, source, &[Version::V1]);
        self.answers.push_back(Answer { local: datagram.local, remote: datagram.remote, bytes: answer });
    }

    /// Makes the next datagram that is to leave at `now`. Connections whose events were not drained by
    /// [`Endpoint::next_active`] are drained of datagrams all the same.
    #[inline]
    pub fn transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if let Some(Answer { local, remote, bytes }) = self.answers.pop_front() {
            buffer.extend_from_slice(&bytes);
            let length = bytes.len();
            return Some(Transmit {
                local,
                remote,
                ecn: Ecn::NotEct,
                hole: None,
                carries_data: false,
                length,
            });
        }
        while let Some(&slot) = self.active.front() {
            if let Some(connection) = self.slots[slot as usize].connection.as_deref_mut()
                && let Some(transmit) = connection.transmit(now, buffer)
            {
                return Some(transmit);
            }
            self.active.pop_front();
            self.settle(slot);
        }
        None
    }

    /// The connection that is to be looked at next: one that may have events. It stays the same until
    /// [`Endpoint::transmit`] has nothing more from it.
    #[inline]
    pub fn next_active(&self) -> Option<Handle> {
        let slot = *self.active.front()?;
        Some(Handle { slot, generation: self.slots[slot as usize].generation })
    }

    /// Gives a connection's slot to others.
    #[cold]
    fn forget(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        let Some(connection) = entry.connection.take() else { return };
        self.initial_ids.remove(&(connection.remote(), connection.original_destination()));
        if let Some(at) = entry.wake_at.take() {
            self.timers.remove(&(at, slot));
        }
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(slot);
    }

    /// A connection has nothing more to send: its timer is set, or, if it is gone, it is forgotten.
    #[inline]
    fn settle(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        entry.queued = false;
        let Some(connection) = entry.connection.as_deref() else { return };
        if connection.is_gone() && !connection.has_events() {
            return self.forget(slot);
        }
        let at = connection.wake_at();
        // A timer that moves back is left where it is: it fires once for nothing, which costs less than moving it
        // with every packet.
        let stands = matches!((entry.wake_at, at), (Some(set), Some(at)) if set <= at);
        if !stands && entry.wake_at != at {
            if let Some(old) = entry.wake_at {
                self.timers.remove(&(old, slot));
            }
            if let Some(at) = at {
                self.timers.insert((at, slot));
            }
            entry.wake_at = at;
        }
    }

    /// When [`Endpoint::wake`] is to be called at the latest.
    #[inline]
    pub fn wake_at(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// Time has passed.
    pub fn wake(&mut self, now: Time) {
        while let Some(&(at, slot)) = self.timers.first() {
            if at > now {
                break;
            }
            self.timers.pop_first();
            let entry = &mut self.slots[slot as usize];
            entry.wake_at = None;
            if let Some(connection) = entry.connection.as_deref_mut() {
                connection.wake(now);
                self.touch(slot);
            }
        }
    }
}
