//! The peer, played by the script: its ids, packet numbers and TLS messages.
//!
//! It needs no keys, because under null protection a tag of zeros matches any key (`tls::NullKey`).

mod decode;
mod encode;

pub(crate) use decode::{Decoded, Sent};
pub(crate) use encode::{Injected, Values};

use crate::options::Options;
use quic::Config;
use random::Generator;
use std::collections::BTreeMap;
use tls::{KeyChange, Level, Session};
use units::Time;
use wire::{ConnectionId, PacketKind, Side, TransportParameters, Version};

/// The id that the peer chooses.
const ID: [u8; 8] = [0xf0; 8];
/// The destination of a client's first Initial packet, if the peer is the client.
const FIRST_DESTINATION: [u8; 8] = [0xd0; 8];
/// The stateless reset token of [`ID`], if the peer is the server.
const RESET_TOKEN: [u8; 16] = [0xe0; 16];
/// The length of all ids of both ends.
const ID_LENGTH: usize = 8;
/// The buffer for out-of-order handshake bytes: far more than ever needed.
const MAX_CRYPTO: u64 = 1 << 20;

/// One packet number space of the peer.
#[derive(Debug, Default)]
struct Space {
    /// The number of the next injected packet.
    next_number: u64,
    /// The largest number received.
    largest_received: Option<u64>,
    /// The handshake bytes written for this level, and how many of them were injected.
    written: Vec<u8>,
    injected: u64,
    /// The handshake bytes received, including those that wait for a gap to be filled.
    read: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
}

/// The peer.
pub(crate) struct Peer {
    side: Side,
    context: tls::Context,
    config: Config,
    /// The endpoint's, for the delays in its ACK frames.
    their_exponent: u8,
    seed: u64,
    session: Option<Session>,
    /// The level at which TLS writes.
    level: Level,
    spaces: [Space; 3],
    /// The id that packets to the endpoint carry.
    destination: ConnectionId,
    /// Whether the endpoint has chosen an id of its own.
    has_destination: bool,
    /// The destination of the client's first packet, if the peer is the server.
    original_destination: Option<ConnectionId>,
    /// The id that a Retry packet gave to the client.
    retry_source: Option<ConnectionId>,
    /// Further ids from NEW_CONNECTION_ID.
    issued: Vec<ConnectionId>,
    key_phase: bool,
}

/// The packet number space of a kind of packet.
fn space_of(kind: PacketKind) -> usize {
    match kind {
        PacketKind::Initial => 0,
        PacketKind::Handshake => 1,
        _ => 2,
    }
}

fn id(bytes: &[u8]) -> ConnectionId {
    ConnectionId::new(bytes).unwrap_or(ConnectionId::EMPTY)
}

impl Peer {
    pub(crate) fn new(options: &Options, context: tls::Context) -> Peer {
        let mut peer = Peer {
            side: options.role.peer(),
            context,
            config: options.peer.clone(),
            their_exponent: options.transport.ack_delay_exponent,
            seed: options.seed,
            session: None,
            level: Level::Initial,
            spaces: Default::default(),
            destination: id(&FIRST_DESTINATION),
            has_destination: false,
            original_destination: None,
            retry_source: None,
            issued: Vec::new(),
            key_phase: false,
        };
        if peer.side == Side::Client {
            peer.begin();
        }
        peer
    }

    /// Creates the TLS session once the transport parameters are known.
    fn begin(&mut self) {
        let name = if self.retry_source.is_some() { "peer after Retry" } else { "peer" };
        let random = Generator::new(self.seed, name);
        let mut parameters = Vec::new();
        self.parameters().encode(&mut parameters, None);
        let start = tls::Start::new(random, Version::V1.0, parameters);
        let session = match self.side {
            Side::Client => self.context.client(start, tls::Request::default()),
            Side::Server => self.context.server(start, None),
        };
        self.session = session.ok();
        self.write();
    }

    /// The peer's transport parameters.
    fn parameters(&self) -> TransportParameters {
        TransportParameters {
            initial_source_connection_id: Some(id(&ID)),
            original_destination_connection_id: self.original_destination,
            retry_source_connection_id: self.retry_source,
            stateless_reset_token: (self.side == Side::Server).then_some(RESET_TOKEN),
            ..self.config.parameters()
        }
    }

    /// Collects output of TLS.
    fn write(&mut self) {
        let Some(session) = &mut self.session else { return };
        loop {
            let space = &mut self.spaces[self.level as usize];
            let before = space.written.len();
            let change = session.write(&mut space.written);
            let wrote = space.written.len() > before;
            match change {
                Some(KeyChange::Handshake(_)) => self.level = Level::Handshake,
                Some(KeyChange::OneRtt(_)) => self.level = Level::OneRtt,
                None if !wrote => return,
                None => {}
            }
        }
    }

    /// Processes a received packet: its ids and handshake messages.
    pub(crate) fn hear(&mut self, now: Time, packet: &Decoded) {
        if packet.is_long {
            self.has_destination = true;
            self.destination = packet.source;
            if self.side == Side::Server && self.session.is_none() && packet.kind == PacketKind::Initial {
                self.original_destination.get_or_insert(packet.destination);
                self.begin();
            }
        }
        let level = [Level::Initial, Level::Handshake, Level::OneRtt][space_of(packet.kind)];
        for (offset, data) in &packet.crypto {
            self.hear_crypto(now, level, *offset, data);
        }
    }

    /// As a server, rejects the client with a Retry packet and forgets what it has received, as a server does that
    /// keeps no state for it (RFC 9000 section 8.1.2).
    fn forget(&mut self, retry_source: ConnectionId) {
        self.retry_source = Some(retry_source);
        self.session = None;
        self.level = Level::Initial;
        for space in &mut self.spaces {
            let Space { next_number, largest_received, .. } = *space;
            *space = Space { next_number, largest_received, ..Space::default() };
        }
    }

    fn hear_crypto(&mut self, now: Time, level: Level, offset: u64, data: &[u8]) {
        let space = &mut self.spaces[level as usize];
        if offset + data.len() as u64 <= space.read || offset > space.read + MAX_CRYPTO {
            return;
        }
        let longer = space.waiting.get(&offset).is_none_or(|known| known.len() < data.len());
        if longer {
            space.waiting.insert(offset, data.to_vec());
        }
        while let Some(entry) = space.waiting.first_entry().filter(|entry| *entry.key() <= space.read) {
            let (offset, data) = entry.remove_entry();
            let known = ((space.read - offset) as usize).min(data.len());
            space.read += (data.len() - known) as u64;
            if let Some(session) = &mut self.session {
                // Mistakes in the endpoint's messages would show in the transport parameters or the state that
                // scripts check; TLS has its own tests.
                let _ = session.read(now, level, &data[known..]);
            }
        }
        self.write();
    }

    /// The number of handshake bytes that wait to be injected in packets of this kind.
    pub(crate) fn crypto_left(&self, kind: PacketKind) -> u64 {
        let space = &self.spaces[space_of(kind)];
        space.written.len() as u64 - space.injected
    }

    /// The number of handshake bytes injected in packets of this kind.
    pub(crate) fn crypto_begun(&self, kind: PacketKind) -> u64 {
        self.spaces[space_of(kind)].injected
    }

    /// Whether TLS is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.session.as_ref().is_some_and(Session::is_complete)
    }
}
