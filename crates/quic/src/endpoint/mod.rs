//! The connections of one address. `arrival` assigns datagrams to connections, `admission` admits new clients.
//!
//! Three verbs: change ([`Endpoint::connect`], [`Endpoint::receive`], [`Endpoint::wake`], calls on a connection),
//! drain ([`Endpoint::transmit`], [`Endpoint::next_active`] and the events of that connection), wait until
//! [`Endpoint::wake_at`].

mod admission;
mod answers;
mod arrival;
mod crowd;
mod door;
mod options;
mod resets;
mod slots;
mod stats;

pub use options::{EndpointOptions, Places};
pub use stats::EndpointStats;
pub use transport::Handle;
use transport::Outgoing;

use crate::address_token::{Presented, SpentTokens};
use crate::config::Config;
use crate::connection::{Connection, ConnectionInputs, Origin, Transmit};
use crate::error::TransportError;
use crate::ids::{IdMaker, LOCAL_ID_LENGTH, MAX_SLOTS, MIN_INITIAL_ID};
use crate::opening::Opening;
use crate::path::{KnownPaths, Migration, Preferred};
use crate::resume::{Memory, RememberedServer};
use crate::tokens::TokenIssuer;
use crate::waiting::WaitingRoom;
use answers::Answers;
use congestion::PathStore;
use door::Door;
use random::Generator;
use resets::{ResetIndex, ResetRate};
use slots::Slots;
use std::collections::BTreeMap;
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::sync::Arc;
use tls::{EndpointKey, SipKey};
use units::{Time, Timers};
use wire::{ConnectionId, Side, Version};

/// The number of packets and streams that a step of a connection pays to have checked.
const CHECKED_PER_STEP: usize = 4;

/// All connections of one address.
pub struct Endpoint {
    options: EndpointOptions,
    random: Generator,
    key: Arc<EndpointKey>,
    /// Derived from `key`, for connection ids.
    id_key: SipKey,
    /// The destination id of the last packet, and its slot.
    last_id: ([u8; LOCAL_ID_LENGTH], u32),
    memory: Memory,
    tickets: Option<tls::TicketStore>,
    known_paths: PathStore,
    waiting: WaitingRoom,
    preferred: Preferred,
    /// The slot of the connection that sent the last datagram.
    sender: Option<u32>,
    slots: Slots,
    free: Vec<u32>,
    /// Connections by the client's address and the destination id that it chose for its first packets.
    initial_ids: BTreeMap<(SocketAddr, ConnectionId), u32>,
    timers: Timers,
    answers: Answers,
    spent: SpentTokens,
    resets: ResetIndex,
    reset_rate: ResetRate,
    /// The number of accepted connections whose handshake is not complete.
    half_open: usize,
    /// The places for clients and handshakes.
    door: Door,
    /// Whether new clients are refused.
    refusing: bool,
    stats: EndpointStats,
}

impl Endpoint {
    /// An endpoint without connections.
    pub fn new(mut options: EndpointOptions, mut random: Generator) -> Endpoint {
        let mut drawn = [0; 32];
        random.fork("endpoint key").fill(&mut drawn);
        let key = Arc::new(EndpointKey::new(&options.key.unwrap_or(drawn)));
        options.max_connections = options.max_connections.min(MAX_SLOTS);
        let door = Door::new(&options);
        let tickets = options.tls.ticket_store();
        Endpoint {
            reset_rate: ResetRate::new(options.max_resets_per_second),
            resets: ResetIndex::new(&key),
            id_key: key.ids(),
            last_id: ([0; LOCAL_ID_LENGTH], IdMaker::slot_of(key.ids(), [0; LOCAL_ID_LENGTH])),
            key,
            options,
            random,
            memory: Memory::default(),
            tickets,
            known_paths: PathStore::default(),
            waiting: WaitingRoom::default(),
            preferred: Preferred::default(),
            sender: None,
            slots: Slots::new(),
            free: Vec::new(),
            initial_ids: BTreeMap::new(),
            timers: Timers::default(),
            answers: Answers::default(),
            spent: SpentTokens::default(),
            half_open: 0,
            door,
            refusing: false,
            stats: EndpointStats::default(),
        }
    }

    /// What this endpoint's clients remember from earlier connections.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
    /// Replaces the memory for connections opened from now on, so that endpoints can share one.
    pub fn set_memory(&mut self, memory: Memory) {
        self.memory = memory;
    }
    /// Forgets what it has learned of servers and what clients come back with, as a restart would: sessions, tokens and versions at a
    /// client; tickets, and the tokens of NEW_TOKEN frames that were issued up to now, at a server. Connections go on.
    pub fn forget(&mut self, now: Time) {
        self.memory.clear();
        if let Some(tickets) = &self.tickets {
            tickets.clear();
        }
        self.known_paths.clear();
        self.spent.clear(self.options.tls.date(now).as_millis() as u64);
    }
    /// What this endpoint's connections have learned of paths (the option `resume`).
    pub fn known_paths(&self) -> &PathStore {
        &self.known_paths
    }
    /// Replaces it for connections opened or accepted from now on, so that endpoints can share it or keep it across a restart.
    pub fn set_known_paths(&mut self, paths: PathStore) {
        self.known_paths = paths;
    }
    /// The store of the tickets issued by this endpoint; `None` if the TLS context issues none.
    pub fn tickets(&self) -> Option<&tls::TicketStore> {
        self.tickets.as_ref()
    }
    /// Replaces the ticket store, so that servers can share one or keep it across a restart. Without effect if the
    /// TLS context issues no tickets.
    pub fn set_tickets(&mut self, tickets: tls::TicketStore) {
        self.tickets = self.tickets.take().map(|_| tickets);
    }

    /// Sets the preferred addresses of a server, to which clients are asked to migrate after the handshake (RFC 9000
    /// section 9.6). Applies to connections accepted from now on. This endpoint must also receive packets sent to
    /// these addresses.
    pub fn set_preferred_address(&mut self, ipv4: Option<SocketAddrV4>, ipv6: Option<SocketAddrV6>) {
        self.preferred = Preferred { ipv4, ipv6 };
    }

    /// Changes the local address, for example after opening a new socket. Connections that this endpoint opened
    /// migrate ([`Migration::Rebound`]) or, if that is impossible, continue from the new address without migration
    /// ([`Migration::Silent`]). Connections opened from now on use the new address.
    pub fn rebind(&mut self, now: Time, local: SocketAddr) {
        self.options.local = local;
        for slot in 0..self.slots.len() as u32 {
            let Some(connection) = self.slots[slot as usize].connection.as_deref_mut() else { continue };
            if connection.migrate(now, local, Migration::Rebound).is_err() {
                // Fails for a server's connections: only clients migrate.
                let _ = connection.migrate(now, local, Migration::Silent);
            }
            self.touch(slot);
        }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// If TLS cannot be set up (for example because the server name is invalid), or the endpoint has its maximum
    /// number of connections.
    pub fn connect(&mut self, now: Time, mut opening: Opening) -> Result<Handle, TransportError> {
        if self.len() >= self.options.max_connections {
            return Err(TransportError::new(wire::Code::INTERNAL_ERROR, "too many connections"));
        }
        // RFC 9000-7.2-1: "This Destination Connection ID MUST be at least 8 bytes in length."
        let mut id = [0; MIN_INITIAL_ID];
        opening.random.as_mut().unwrap_or(&mut self.random).fill(&mut id);
        let original_destination = ConnectionId::new(&id).expect("a connection ID may have 8 bytes");
        let origin = Origin {
            side: Side::Client,
            local: opening.local.unwrap_or(self.options.local),
            remote: opening.remote,
            version: opening.config.first_version(self.remembered_version(&opening)),
            initial_destination: original_destination,
            original_destination,
            retry_source: None,
            validated: true,
            source: ConnectionId::EMPTY,
            peer_id: None,
        };
        let config = opening.config.clone();
        let slot = self.insert(now, origin, config, None, Some(&mut opening))?;
        Ok(Handle::new(slot, self.slots[slot as usize].generation))
    }

    fn insert(
        &mut self,
        now: Time,
        origin: Origin,
        config: Arc<Config>,
        presented: Option<Presented>,
        mut opening: Option<&mut Opening>,
    ) -> Result<u32, TransportError> {
        let slot = self.free.last().copied().unwrap_or(self.slots.len() as u32);
        let remembered = opening.as_deref().map(|opening| self.remembered(opening));
        let mut own = opening.as_deref_mut().and_then(|opening| opening.random.take());
        // RFC 9000-19.7-3: "Clients MUST NOT send NEW_TOKEN frames."
        let issues = origin.side == Side::Server
            && (config.new_tokens > 0 || config.resume.token || config.resume.bdp_frame);
        let issuer = issues.then(|| {
            let random = self.random.fork("tokens");
            TokenIssuer::new(self.key.clone(), random, self.options.tls.clone())
        });
        let inputs = ConnectionInputs {
            maker: IdMaker { key: self.key.clone(), slot },
            random: own.as_mut().unwrap_or(&mut self.random),
            interest: self.options.interest,
            issuer,
            opening: opening.as_deref(),
            remembered,
            tickets: self.tickets.clone().filter(|_| origin.side == Side::Server),
            preferred: self.preferred,
            known_paths: KnownPaths { store: self.known_paths.clone(), presented },
        };
        let tls = inputs.opening.and_then(|opening| opening.tls.as_ref()).unwrap_or(&self.options.tls);
        let connection = Box::new(Connection::new(now, origin, config, tls, inputs)?);
        match self.free.pop() {
            Some(_) => self.slots[slot as usize].connection = Some(connection),
            None => self.slots.push(connection),
        }
        self.touch(slot);
        Ok(slot)
    }

    /// The memory, and the server's key in it.
    fn remembered(&self, opening: &Opening) -> RememberedServer {
        let tls = opening.tls.as_ref().unwrap_or(&self.options.tls);
        let name = opening.server_name.as_deref().unwrap_or(tls.server_name());
        let server = match &opening.authority {
            Some(authority) => authority.as_str().into(),
            None => format!("{name}:{}", opening.remote.port()).into(),
        };
        RememberedServer { memory: self.memory.clone(), server }
    }

    /// The version last negotiated with the requested server.
    fn remembered_version(&self, opening: &Opening) -> Option<Version> {
        if opening.config.versions.iter().count() < 2 {
            return None;
        }
        let RememberedServer { memory, server } = self.remembered(opening);
        memory.version(&server)
    }

    /// Stops if the state of the endpoint or of a connection contradicts itself, with the certainty that is broken. For
    /// tests; in builds with debug assertions each connection is checked between its steps anyway.
    pub fn check(&self) {
        self.slots.check();
        let connections = self.slots.iter().filter_map(|slot| slot.connection.as_deref());
        assert_eq!(connections.clone().count(), self.len(), "a slot without a connection is free");
        let half_open = self.slots.iter().filter(|slot| slot.half_open).count();
        assert_eq!(half_open, self.half_open, "the handshakes in progress are counted");
        let waits = self.slots.iter().all(|slot| slot.connection.is_some() || slot.wake_at.is_none());
        assert!(waits, "no timer is set for a connection that is gone");
        connections.for_each(Connection::check);
    }

    /// The number of connections.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The number of dropped datagrams.
    pub fn dropped(&self) -> u64 {
        self.stats.dropped
    }
    /// The counters.
    pub fn stats(&self) -> EndpointStats {
        self.stats
    }

    /// A connection, unless it was removed.
    #[inline]
    pub fn get(&self, handle: Handle) -> Option<&Connection> {
        let slot = self.slots.get(handle.slot()).filter(|slot| slot.generation == handle.generation())?;
        slot.connection.as_deref()
    }
    /// A connection to change, unless it was removed. It is queued for [`Endpoint::transmit`].
    #[inline]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut Connection> {
        let known = self.slots.get(handle.slot())?.generation == handle.generation();
        if known {
            self.touch(handle.slot() as u32);
        }
        self.slots[handle.slot()].connection.as_deref_mut().filter(|_| known)
    }

    #[inline]
    fn touch(&mut self, slot: u32) {
        self.slots.enqueue(slot);
    }

    /// Writes the next datagram to send at `now` into `buffer`. `None` means that the connection of
    /// [`Endpoint::next_active`] has nothing more to send. If `next_active` then returns another one, handle its
    /// events and call this again.
    pub fn transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.transmit_into(now, Outgoing::bytes(buffer))
    }

    /// The same into any place for a payload.
    #[inline]
    pub fn transmit_into(&mut self, now: Time, mut out: Outgoing<'_>) -> Option<Transmit> {
        if let Some(transmit) = self.answers.transmit(out.bytes) {
            self.sender = None;
            return Some(transmit);
        }
        while let Some(slot) = self.slots.front() {
            if let Some(connection) = self.slots[slot as usize].connection.as_deref_mut()
                && let Some(transmit) = connection.transmit(now, &mut out)
            {
                self.sender = Some(slot);
                if transmit.last {
                    self.slots.dequeue();
                    self.settle(now, slot);
                }
                return Some(transmit);
            }
            self.slots.dequeue();
            self.settle(now, slot);
            // Skipping this connection would delay its events until its next datagram, and lose those of a removed
            // one.
            if self.front_has_events() {
                return None;
            }
        }
        None
    }

    /// The connection that sent the last datagram of [`Endpoint::transmit`]; `None` if it was an answer of the
    /// endpoint itself.
    #[inline]
    pub fn sender(&self) -> Option<Handle> {
        let slot = self.sender?;
        Some(Handle::new(slot, self.slots[slot as usize].generation))
    }
    /// Whether that was this connection.
    #[inline]
    pub fn has_sent(&self, handle: Handle) -> bool {
        self.sender == Some(handle.slot() as u32)
    }

    #[inline]
    fn front_has_events(&self) -> bool {
        let front = self.slots.front().and_then(|slot| self.slots[slot as usize].connection.as_deref());
        front.is_some_and(Connection::has_events)
    }

    /// The next connection that may have events. It remains the same until it has nothing more to send; `None` if no
    /// connection has events or datagrams to send.
    #[inline]
    pub fn next_active(&self) -> Option<Handle> {
        let slot = self.slots.front()?;
        Some(Handle::new(slot, self.slots[slot as usize].generation))
    }

    /// [`Endpoint::next_active`] with the connection itself.
    #[inline]
    pub fn active(&mut self) -> Option<(Handle, &mut Connection)> {
        let number = self.slots.front()?;
        let slot = &mut self.slots[number as usize];
        let handle = Handle::new(number, slot.generation);
        Some((handle, slot.connection.as_deref_mut()?))
    }

    /// Removes a connection and frees its slot.
    #[cold]
    fn remove(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        let connection = entry.connection.take().expect("a connection is removed once");
        self.initial_ids.remove(&connection.initial_key());
        self.half_open -= usize::from(std::mem::take(&mut entry.half_open));
        entry.admitted = false;
        self.door.leave(slot);
        for hash in entry.reset_tokens.drain(..) {
            self.resets.remove(hash, slot);
        }
        entry.token_changes = 0;
        entry.wake_at = None;
        self.timers.set(slot as usize, None);
        entry.generation = entry.generation.wrapping_add(1);
        self.free.push(slot);
    }

    /// Sets the timer of a connection that has nothing more to send, or removes the connection if it is gone.
    #[inline]
    fn settle(&mut self, now: Time, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        // A connection may have been removed while it was queued.
        let Some(connection) = entry.connection.as_deref() else { return };
        if cfg!(debug_assertions) {
            // A check costs as much as the connection has packets in flight. Each step pays for some of them, and the check
            // comes when all are paid for: at once where few are in flight.
            entry.unchecked += CHECKED_PER_STEP;
            if entry.unchecked >= connection.books() {
                entry.unchecked = 0;
                connection.check();
            }
        }
        if connection.is_gone() && !connection.has_events() {
            return self.remove(slot);
        }
        let at_the_door = entry.half_open || entry.admitted;
        if entry.token_changes != connection.token_changes() {
            self.index_tokens(slot);
        }
        self.set_timer(slot);
        if at_the_door {
            self.look_at_the_door(now, slot);
        }
    }

    /// Updates the index of reset tokens after a change of the peer's ids.
    #[cold]
    fn index_tokens(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        for hash in entry.reset_tokens.drain(..) {
            self.resets.remove(hash, slot);
        }
        let connection =
            entry.connection.as_deref().expect("the tokens that changed are those of a connection");
        entry.token_changes = connection.token_changes();
        entry.reset_tokens.extend(connection.reset_tokens().map(|token| self.resets.insert(token, slot)));
    }

    #[inline]
    fn set_timer(&mut self, slot: u32) {
        let entry = &mut self.slots[slot as usize];
        let connection = entry.connection.as_deref().expect("a timer is set for a connection");
        let mut at = connection.wake_at();
        if entry.half_open
            && let Some(due) = self.door.due(slot)
        {
            at = Some(at.map_or(due, |at| at.min(due)));
        }
        // A timer that moves to a later time is not changed: it expires once too early, which costs less than moving
        // it with every packet.
        let stands = matches!((entry.wake_at, at), (Some(set), Some(at)) if set <= at);
        if !stands && entry.wake_at != at {
            self.timers.set(slot as usize, at);
            entry.wake_at = at;
        }
    }

    /// The latest time at which [`Endpoint::wake`] must be called.
    #[inline]
    pub fn wake_at(&self) -> Option<Time> {
        self.timers.at()
    }

    /// Prefetches a connection that will be used soon into the processor's cache. Has no other effect.
    #[inline]
    pub fn prefetch(&self, handle: Handle) {
        if let Some(connection) = self.get(handle) {
            connection.prefetch();
        }
    }
    /// Prefetches what the connection points to, some time after [`Endpoint::prefetch`].
    #[inline]
    pub fn prefetch_parts(&self, handle: Handle) {
        if let Some(connection) = self.get(handle) {
            connection.prefetch_parts();
        }
    }

    /// Handles the timers that have expired at `now`.
    pub fn wake(&mut self, now: Time) {
        while let Some((at, number)) = self.timers.next() {
            if at > now {
                break;
            }
            self.timers.set(number, None);
            let many = self.slots.len() > 1;
            let (entry, slot) = (&mut self.slots[number], number as u32);
            entry.wake_at = None;
            if entry.half_open && self.door.takes_too_long(now, slot) {
                self.stats.handshakes_timed_out += 1;
                self.give_way(now, slot, "the handshake took too long");
                continue;
            }
            if let Some(connection) = entry.connection.as_deref_mut() {
                if many {
                    connection.prefetch();
                }
                connection.wake(now);
                self.touch(slot);
            }
        }
    }
}
