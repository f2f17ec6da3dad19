//! One connection: the order in which things happen, and nothing else.
//!
//! Sans-IO: datagrams and `now` go in by [`Connection::receive`] and [`Connection::wake`], datagrams come out by
//! [`Connection::transmit`], and [`Connection::wake_at`] tells when to come back. What an application does stands
//! here; what happens to a datagram stands in `receive` and `acknowledge`, how one is made in `transmit`, how it all
//! ends in `closing`.

mod acknowledge;
mod closing;
mod datagram;
mod early_data;
mod establish;
mod frames;
mod keys;
mod packet;
mod paths;
mod prefetch;
mod receive;
mod retry;
mod timers;
mod tracing;
mod transmit;
mod versions;

pub(crate) use receive::opens;
pub use transport::{Datagram, Transmit};

use crate::ack_frequency::AckRequests;
use crate::config::Config;
use crate::control::Control;
use crate::datagrams::Datagrams;
use crate::error::{CloseReason, StreamError, TransportError};
use crate::event::Event;
use crate::handshake::Crypto;
use crate::idle::Idle;
use crate::ids::{IdMaker, LocalIds, RemoteIds};
use crate::key_set::KeySet;
use crate::opening::Opening;
use crate::path::{Path, Paths, Preferred, Route};
use crate::recovery::{Loss, Recovery};
use crate::resume::{Remembering, ZeroRtt};
use crate::schedule::Priority;
use crate::sent::Contents;
use crate::space::{BySpace, Space};
use crate::stats::Stats;
use crate::stream::{Data, Read, Reading, StreamStats, Streams};
use crate::tokens::{TokenIssuer, Tokens};
use crate::variety::Variety;
use crate::version::{self, Versions};
use closing::Closing;
use random::Stream;
use receive::Early;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use tls::{Change, Session};
use trace::{Interest, Log};
use units::Time;
use wire::{Code, ConnectionId, Direction, Side, StreamId, TransportParameters, Version};

/// How far the handshake is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// Not complete.
    Handshaking,
    /// Complete at this end (RFC 9001 section 4.1.1).
    Complete,
    /// The other end is known to have completed it too (RFC 9001 section 4.1.2).
    Confirmed,
}

/// The ends of a connection and the ids of its first packets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub side: Side,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// The version of the client's first packet: of the last of them, if it has begun anew in another.
    pub version: Version,
    /// The destination id that the keys of Initial packets come from: that of the client's first packet, or, after a
    /// Retry, of its first one behind that.
    pub initial_destination: ConnectionId,
    /// The destination id of the client's first packet.
    pub original_destination: ConnectionId,
    /// The source id of the Retry packet, if there was one.
    pub retry_source: Option<ConnectionId>,
    /// At a server: whether a token has shown that the client receives what is sent to its address.
    pub validated: bool,
    /// The id that this side chose: its packets with long headers come from it.
    pub source: ConnectionId,
    /// The id that the peer chose, where it is known: at a server from the start.
    pub peer_id: Option<ConnectionId>,
}

/// What an endpoint gives to a connection.
pub(crate) struct Parts<'a> {
    pub maker: IdMaker,
    pub random: &'a mut Stream,
    pub interest: Interest,
    /// At a server: what the client's tokens for later connections are made by.
    pub issuer: Option<Box<TokenIssuer>>,
    /// At a client: what the application asked for.
    pub opening: Option<&'a Opening>,
    /// At a client: where it remembers.
    pub remembering: Option<Remembering>,
    /// At a server: its tickets.
    pub tickets: Option<tls::TicketStore>,
    /// At a server: the addresses that it prefers.
    pub preferred: Preferred,
}

/// A QUIC connection.
pub struct Connection {
    origin: Origin,
    config: Arc<Config>,
    progress: Progress,
    closing: Closing,
    session: Session,
    protection: tls::Protection,
    versions: Versions,
    keys: KeySet,
    crypto: Crypto,
    /// What was sent and received, by packet-number space.
    spaces: BySpace<Space>,
    /// When each end acknowledges.
    acks: AckRequests,
    streams: Streams,
    /// Once either side uses them.
    datagrams: Option<Box<Datagrams>>,
    /// Where the options ask for any.
    variety: Option<Box<Variety>>,
    paths: Paths,
    local_ids: LocalIds,
    /// Frames that are neither of a stream nor of a level, and wait to be sent.
    control: Control,
    /// The peer's transport parameters, once they are known.
    peer: Option<TransportParameters>,
    local_parameters: TransportParameters,
    idle: Idle,
    events: VecDeque<Event>,
    early: Early,
    /// How often the flight of the handshake was sent again at once (RFC 9002 section 6.2.3).
    flights_repeated: u8,
    contents: Contents,
    losses: Vec<Loss>,
    tokens: Tokens,
    /// Where 0-RTT is offered or taken.
    zero_rtt: Option<Box<ZeroRtt>>,
    log: Log,
    /// The time of the last call that told it.
    now: Time,
    /// The controller's state that was traced last.
    traced_state: &'static str,
    stats: Stats,
}

impl Connection {
    /// A connection at its start. A client's first flight waits to be sent afterwards.
    pub(crate) fn new(
        now: Time,
        mut origin: Origin,
        config: Arc<Config>,
        context: &tls::Context,
        parts: Parts<'_>,
    ) -> Result<Connection, TransportError> {
        let Parts { maker, random, interest, issuer, opening, remembering, tickets, preferred } = parts;
        let mut fork = |name| random.fork(name);
        let mut local_ids = LocalIds::new(maker, fork("ids"));
        origin.source = local_ids.first();
        let mut parameters = establish::local_parameters(&config, &origin, &local_ids);
        if origin.side == Side::Server {
            parameters.preferred_address = preferred.parameter(|| local_ids.issue_preferred());
        }
        let remembered =
            opening.and_then(|opening| establish::recall(opening, remembering.as_ref(), origin.version));
        parameters.version_information =
            version::information(&config.versions, origin.version, remembered.is_some());
        let mut encoded = Vec::with_capacity(128);
        parameters.encode(&mut encoded, None);
        let first = origin.version;
        let change = match origin.side {
            Side::Client => Change::Follow,
            Side::Server => version::choice(config.versions, origin.version, &parameters),
        };
        let start = tls::Start { random: fork("tls"), now, version: first.0, parameters: encoded, change };
        let (session, remembered) = match opening {
            Some(opening) => establish::start_client(context, start, opening, remembered)?,
            None => (establish::start_server(context, start, tickets, &parameters)?, None),
        };
        // After all else that draws, so that these options move no other draws.
        let variety = Variety::new(&config, &mut fork);
        let path_seed = fork("paths").bits();
        let versions = Versions::new(origin.side, first, &config, context, (opening, &mut fork));
        let id = origin.initial_destination;
        let keys = tls::initial_keys(context.protection(), first.0, id.as_bytes(), origin.side);
        let tokens = Tokens::new(issuer, remembering, config.new_tokens, first);
        let controller = congestion::build(
            config.controller.name,
            &config.controller.arguments,
            Recovery::setup(&config, path_seed),
        );
        let scheduler = crate::schedule::build(config.scheduler.name, &config.scheduler.arguments);
        let (Some(controller), Some(scheduler)) = (controller, scheduler) else {
            return Err(TransportError::new(Code::INTERNAL_ERROR, "no such controller or scheduler"));
        };
        let mut route = Route::new(origin.side, origin.local, origin.remote, local_ids.first())
            .with_options(&config, controller.is_l4s());
        if origin.validated {
            route.validate();
        }
        let mut recovery = Recovery::new(&config, controller);
        recovery.probe_base = now;
        let remote_ids = RemoteIds::new(origin.peer_id.unwrap_or(id), config.active_connection_id_limit);
        let is_moveable = parameters.preferred_address.is_some();
        let paths = Paths::new(
            origin.side,
            Path::new(route, recovery),
            remote_ids,
            config.clone(),
            (path_seed, is_moveable),
        );
        let mut connection = Connection {
            progress: Progress::Handshaking,
            closing: Closing::new(),
            session,
            protection: context.protection(),
            versions,
            keys: KeySet::new(keys, &config),
            crypto: Crypto::new(),
            spaces: BySpace::new(
                Space::of_handshake(&config),
                Space::of_handshake(&config),
                Space::of_data(&config),
            ),
            acks: AckRequests::new(&config, &parameters),
            streams: Streams::new(origin.side, &config, scheduler),
            datagrams: None,
            variety,
            paths,
            local_ids,
            control: Control::default(),
            peer: None,
            local_parameters: parameters,
            idle: Idle::new(now, &config),
            events: VecDeque::new(),
            early: Early::default(),
            flights_repeated: 0,
            contents: Contents::default(),
            losses: Vec::new(),
            tokens,
            zero_rtt: None,
            log: Log::new(interest),
            now,
            traced_state: "",
            stats: Stats::default(),
            origin,
            config,
        };
        connection.trace_start(now);
        connection.drive_handshake(now)?;
        if let Some(remembered) = remembered {
            connection.begin_early_data(now, remembered);
        }
        Ok(connection)
    }

    // ---- what an application does ----

    /// Opens a stream.
    ///
    /// # Errors
    /// [`StreamError::LimitReached`] while the peer admits no more, [`StreamError::Closed`].
    pub fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        self.check_open()?;
        let stream = self.streams.open(direction)?;
        self.trace_stream_opened(stream);
        Ok(stream)
    }
    /// Writes to a stream; gives how many bytes were taken. Virtual data is taken whole.
    ///
    /// # Errors
    /// [`StreamError::Blocked`] if the send buffer is full, and the errors of a stream's state.
    pub fn write(&mut self, now: Time, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        self.check_open()?;
        let taken = self.streams.write(now, stream, data)?;
        self.trace_written(now, stream, taken);
        Ok(taken)
    }
    /// How many real bytes of data that lies elsewhere, in a file say, are worth writing to a stream now: what the peer gives
    /// credit for, but no more than the stream's send buffer has room for, and than [`Connection::set_send_allowance`] leaves.
    /// Of the connection's credit only what other streams do not wait with already counts: a stream that has something to
    /// send gets at most an eighth of it, one that has nothing also 16 kB beyond what is left.
    /// A write of this many is taken whole. If it is 0, [`crate::Event::Writable`] reports when there is room.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn room(&mut self, stream: StreamId) -> Result<u64, StreamError> {
        self.check_open()?;
        self.streams.room(stream)
    }
    /// From now on [`Connection::room`] keeps the real bytes of all streams that are not acknowledged within this many.
    /// Streams that have much to send already get only the first half of it, so that one that is requested late can be
    /// sent early. Default: no limit but that of each stream, the option `send_buffer`.
    pub fn set_send_allowance(&mut self, bytes: u64) {
        self.streams.set_allowance(bytes);
    }
    /// Ends a stream behind what was written.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn finish(&mut self, now: Time, stream: StreamId) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.finish(now, stream)
    }
    /// Gives up sending on a stream: RESET_STREAM with this code, of at most 2^62 - 1.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.reset(stream, code.min(wire::varint::MAX))
    }
    /// Gives up receiving on a stream: STOP_SENDING with this code, of at most 2^62 - 1, unless all has come. What has come
    /// and what still comes is not kept, and gives its credit back; reads give nothing from now on.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.stop(stream, code.min(wire::varint::MAX))
    }
    /// Reads what is there into `out`.
    ///
    /// # Errors
    /// [`StreamError::Reset`] if the peer gave up, and the errors of a stream's state.
    pub fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        self.streams.read(stream, Reading::Into(out))
    }
    /// Takes what is there without looking at it. From the first call on, the stream's data is not kept at all.
    ///
    /// # Errors
    /// Those of [`Connection::read`].
    #[inline]
    pub fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.streams.read(stream, Reading::Discard)
    }
    /// Takes what is there, but no more than `limit` bytes, without looking at it. What comes behind can be read.
    ///
    /// # Errors
    /// Those of [`Connection::read`].
    #[inline]
    pub fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        self.streams.read(stream, Reading::Skip(limit))
    }
    /// Says what the scheduler is to know of a stream that this side sends on: see [`Priority`]. It holds until it is said
    /// anew, from the next packet on.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.set_priority(stream, priority)
    }
    /// Closes the connection with an application's code (RFC 9000 section 10.2). A code above 2^62 - 1, which no frame
    /// can hold, becomes that.
    pub fn close(&mut self, now: Time, code: u64, reason: &str) {
        let code = code.min(wire::varint::MAX);
        self.begin_closing(now, CloseReason::Local { code, reason: reason.to_owned() });
    }

    fn check_open(&self) -> Result<(), StreamError> {
        if self.is_over() { Err(StreamError::Closed) } else { Ok(()) }
    }

    /// The next thing that the application may want to act on.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.streams.poll_event() {
            self.trace_stream_event(&event);
            return Some(event);
        }
        if let Some(event) = self.datagrams.as_mut().and_then(|datagrams| datagrams.events.pop_front()) {
            return Some(event);
        }
        self.events.pop_front()
    }
    /// Whether [`Connection::poll_event`] would give something.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.streams.has_events() || !self.events.is_empty() || self.has_datagram_events()
    }

    // ---- what can be asked of its streams and ids ----

    /// How many streams of a direction the peer may open so far, those that are over among them: MAX_STREAMS as it was told
    /// last (RFC 9000 section 4.6).
    pub fn peer_stream_limit(&self, direction: Direction) -> u64 {
        self.streams.peer_limit(direction)
    }
    /// The counters.
    pub fn stats(&self) -> Stats {
        Stats { streams: self.streams.stats, ..self.counters() }
    }
    /// The counters of the streams alone.
    #[inline]
    pub fn stream_stats(&self) -> &StreamStats {
        &self.streams.stats
    }
    /// Bytes of all streams that the peer has acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.streams.stats.acked_bytes
    }
    /// Real bytes that the streams keep until they are acknowledged; 0 without [`Connection::set_send_allowance`].
    pub fn kept_bytes(&self) -> u64 {
        self.streams.kept()
    }
    /// Whether a stream has room for nothing because of [`Connection::set_send_allowance`], and its application is to be told when
    /// it has.
    pub fn waits_for_allowance(&mut self) -> bool {
        self.streams.wait_for_allowance()
    }
    /// The number of streams that are not over.
    pub fn open_streams(&self) -> usize {
        self.streams.open_count()
    }
    /// Whether packets to this id are for this connection.
    #[inline]
    pub(crate) fn owns(&self, id: &[u8]) -> bool {
        self.local_ids.owns(id)
    }

    /// The application has written so many bytes to the end of a stream.
    #[inline]
    fn trace_written(&mut self, now: Time, stream: StreamId, length: u64) {
        if self.log.interest().packets && length > 0 {
            let offset = self.streams.written(stream).saturating_sub(length);
            self.log.push(now, trace::Event::StreamWritten { stream: stream.value(), offset, length });
        }
    }
}
