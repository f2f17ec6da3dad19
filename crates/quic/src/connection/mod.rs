//! One connection: the order in which things happen, and nothing else.
//!
//! Sans-IO: datagrams and `now` go in by [`Connection::receive`] and [`Connection::wake`], datagrams come out by
//! [`Connection::transmit`], and [`Connection::wake_at`] returns the time of the next timer. The application's calls
//! are in this file; `receive` and `acknowledge` process datagrams, `transmit` builds them, and `closing` ends the
//! connection.

mod acknowledge;
mod capacity;
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

pub(crate) use receive::can_decrypt;
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
use crate::path::{KnownPaths, Path, Paths, Preferred, Route};
use crate::recovery::{Loss, Recovery};
use crate::resume::{RememberedServer, ZeroRtt};
use crate::schedule::Priority;
use crate::sent::SentFrame;
use crate::space::{BySpace, Space};
use crate::stats::{Stats, Work};
use crate::stream::{Data, Read, Reading, StreamStats, Streams};
use crate::tokens::{TokenIssuer, Tokens};
use crate::variety::Variety;
use crate::version::{self, Versions};
use closing::Closing;
use congestion::{StoreKey, TicketKey};
use random::Generator;
use receive::EarlyPackets;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use tls::{Change, Session};
use trace::{Interest, Log};
use tracing::Traced;
use units::Time;
use wire::{Code, ConnectionId, Direction, Side, StreamId, TransportParameters, Version};

/// The progress of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// Not complete.
    Handshaking,
    /// Complete at this end (RFC 9001 section 4.1.1).
    Complete,
    /// The peer is known to have completed it, too (RFC 9001 section 4.1.2).
    Confirmed,
}

/// The addresses of a connection and the ids of its first packets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    pub side: Side,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// The version of the client's first packet; after Version Negotiation, of the first packet of the last attempt.
    pub version: Version,
    /// The destination id from which the Initial keys are derived: that of the client's first packet, or of its first
    /// packet after a Retry.
    pub initial_destination: ConnectionId,
    /// The destination id of the client's first packet.
    pub original_destination: ConnectionId,
    /// The source id of the Retry packet, if there was one.
    pub retry_source: Option<ConnectionId>,
    /// At a server: whether a token has validated the client's address.
    pub validated: bool,
    /// The id that this endpoint chose, the source id of its long headers.
    pub source: ConnectionId,
    /// The id that the peer chose, if known: at a server always.
    pub peer_id: Option<ConnectionId>,
}

/// What an endpoint passes to a new connection.
pub(crate) struct ConnectionInputs<'a> {
    pub maker: IdMaker,
    pub random: &'a mut Generator,
    pub interest: Interest,
    /// At a server: issues the client's tokens for later connections.
    pub issuer: Option<Box<TokenIssuer>>,
    /// At a client: the application's request.
    pub opening: Option<&'a Opening>,
    /// At a client: the memory of earlier connections.
    pub remembered: Option<RememberedServer>,
    /// At a server: the ticket store.
    pub tickets: Option<tls::TicketStore>,
    /// At a server: its preferred addresses.
    pub preferred: Preferred,
    /// What is known of paths.
    pub known_paths: KnownPaths,
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
    /// Sent and received packets, by packet-number space.
    spaces: BySpace<Space>,
    /// When each end acknowledges.
    acks: AckRequests,
    streams: Streams,
    /// Created when either end first uses datagrams.
    datagrams: Option<Box<Datagrams>>,
    /// Present if the options ask for variation.
    variety: Option<Box<Variety>>,
    paths: Paths,
    local_ids: LocalIds,
    /// Control frames that wait to be sent, except those of streams and CRYPTO.
    control: Control,
    /// The peer's transport parameters, once they are known.
    peer: Option<TransportParameters>,
    local_parameters: TransportParameters,
    idle: Idle,
    events: VecDeque<Event>,
    early: EarlyPackets,
    /// How often the handshake flight was repeated early (RFC 9002 section 6.2.3).
    flights_repeated: u8,
    /// Memory for the frames of the next packet.
    contents: Vec<SentFrame>,
    losses: Vec<Loss>,
    tokens: Tokens,
    /// Present if 0-RTT is offered or accepted.
    zero_rtt: Option<Box<ZeroRtt>>,
    log: Log,
    /// The time of the last call that passed it.
    now: Time,
    traced: Traced,
    stats: Stats,
}

impl Connection {
    /// Creates a connection. A client's first flight is then ready to be sent.
    pub(crate) fn new(
        now: Time,
        mut origin: Origin,
        config: Arc<Config>,
        context: &tls::Context,
        inputs: ConnectionInputs<'_>,
    ) -> Result<Connection, TransportError> {
        let ConnectionInputs {
            maker,
            random,
            interest,
            issuer,
            opening,
            remembered: server,
            tickets,
            preferred,
            known_paths,
        } = inputs;
        let mut fork = |name| random.fork(name);
        let mut local_ids = LocalIds::new(maker, fork("ids"));
        origin.source = local_ids.first();
        let mut parameters = establish::local_parameters(&config, &origin, &local_ids);
        if origin.side == Side::Server {
            parameters.preferred_address = preferred.parameter(|| local_ids.issue_preferred());
        }
        let remembered =
            opening.and_then(|opening| establish::recall(opening, server.as_ref(), origin.version));
        parameters.version_information =
            version::information(&config.versions, origin.version, remembered.is_some());
        let mut ticket_key = TicketKey::default();
        if config.resume.store == StoreKey::Ticket {
            fork("ticket key").fill(&mut ticket_key);
        }
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
            None => (establish::start_server(context, start, tickets, ticket_key, &parameters)?, None),
        };
        // Drawn last, so that these options change no other draws.
        let variety = Variety::new(&config, &mut fork);
        let path_seed = fork("paths").bits();
        let versions = Versions::new(origin.side, first, &config, context, opening, &mut fork);
        let id = origin.initial_destination;
        let keys = tls::initial_keys(context.protection(), first.0, id.as_bytes(), origin.side);
        let tokens = Tokens::new(issuer, server, config.new_tokens, first);
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
        let has_preferred_address = parameters.preferred_address.is_some();
        let paths = Paths::new(
            origin.side,
            Path::new(route, recovery),
            remote_ids,
            config.clone(),
            path_seed,
            has_preferred_address,
        );
        let mut connection = Connection {
            progress: Progress::Handshaking,
            closing: Closing::new(),
            session,
            protection: context.protection(),
            versions,
            keys: KeySet::new(keys, &config, !interest.packets && variety.is_none()),
            crypto: Crypto::new(),
            spaces: BySpace::new(
                Space::of_handshake(&config),
                Space::of_handshake(&config),
                Space::of_data(&config),
            ),
            acks: AckRequests::new(&config, &parameters),
            streams: Streams::new(origin.side, &config, scheduler).counting_gaps(interest.metrics),
            datagrams: None,
            variety,
            paths,
            local_ids,
            control: Control::default(),
            peer: None,
            local_parameters: parameters,
            idle: Idle::new(now, &config),
            events: VecDeque::new(),
            early: EarlyPackets::default(),
            flights_repeated: 0,
            contents: Vec::new(),
            losses: Vec::new(),
            tokens,
            zero_rtt: None,
            log: Log::new(interest),
            now,
            traced: Traced::new(now, interest),
            stats: Stats::default(),
            origin,
            config,
        };
        connection.trace_start(now);
        connection.begin_learning(now, known_paths, ticket_key, context);
        connection.drive_handshake(now)?;
        if let Some(remembered) = remembered {
            connection.begin_early_data(now, remembered);
        }
        Ok(connection)
    }

    /// Stops if the state contradicts itself. In builds with debug assertions an endpoint calls it between steps.
    pub(crate) fn check(&self) {
        if self.is_over() {
            // The books are not kept any more: an error may have stopped in the middle of a packet.
            return;
        }
        self.check_flight();
        self.streams.check();
        self.local_ids.check();
        if let Some(datagrams) = &self.datagrams {
            datagrams.check();
        }
        assert!(self.contents.is_empty(), "no packet is begun between two steps");
    }

    // ---- calls of the application ----

    /// Opens a stream.
    ///
    /// # Errors
    /// [`StreamError::LimitReached`] while the peer permits no more, [`StreamError::Closed`].
    pub fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        self.check_open()?;
        let stream = self.streams.open(direction)?;
        self.trace_stream_opened(stream);
        Ok(stream)
    }
    /// Writes to a stream; returns the number of bytes accepted. Virtual data is accepted whole.
    ///
    /// # Errors
    /// [`StreamError::Blocked`] if the send buffer is full, and the errors of a stream's state.
    pub fn write(&mut self, now: Time, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        self.check_open()?;
        let taken = self.streams.write(now, stream, data)?;
        self.trace_written(now, stream, taken);
        Ok(taken)
    }
    /// The number of real bytes worth writing to a stream now, for data that is stored elsewhere, for example in a
    /// file: the peer's credit, but no more than the free space of the stream's send buffer and than
    /// [`Connection::set_send_allowance`] leaves. Only the part of the connection's credit that other streams do not
    /// already wait to use counts: a stream with data to send gets at most an eighth of it, an idle one also 16 kB
    /// beyond the rest. A write of this many bytes is accepted whole. If it is 0, [`crate::Event::Writable`] reports
    /// when there is room.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn room(&mut self, stream: StreamId) -> Result<u64, StreamError> {
        self.check_open()?;
        self.streams.room(stream)
    }
    /// Limits the unacknowledged real bytes of all streams for which [`Connection::room`] leaves space. Streams with
    /// much data to send share only the first half of the allowance, so that a stream requested late can still be
    /// sent early. Default: no limit except that of each stream, the option `send_buffer`.
    pub fn set_send_allowance(&mut self, bytes: u64) {
        self.streams.set_allowance(bytes);
    }
    /// The number of bytes that were written to a stream and never sent.
    ///
    /// # Errors
    /// If there is no such stream, or this endpoint does not send on it.
    pub fn unsent(&mut self, stream: StreamId) -> Result<u64, StreamError> {
        self.streams.unsent(stream)
    }
    /// Ends a stream after the data written so far.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn finish(&mut self, now: Time, stream: StreamId) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.finish(now, stream)
    }
    /// Aborts sending on a stream: RESET_STREAM with this code, at most 2^62 - 1.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.reset(stream, code.min(wire::varint::MAX), 0)
    }
    /// Aborts sending on a stream whose first `reliable` written bytes are delivered nevertheless: RESET_STREAM_AT
    /// (draft-ietf-quic-reliable-stream-reset-09), if the peer understands it, and otherwise as [`Connection::reset`]. A
    /// later call with less, or `reset`, has less delivered.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn reset_at(&mut self, stream: StreamId, code: u64, reliable: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.reset(stream, code.min(wire::varint::MAX), reliable)
    }
    /// Aborts receiving on a stream: STOP_SENDING with this code, at most 2^62 - 1, unless all data has arrived. Data
    /// of the stream is dropped and its credit returned; reads return nothing from now on.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.stop(stream, code.min(wire::varint::MAX))
    }
    /// Reads available data into `out`.
    ///
    /// # Errors
    /// [`StreamError::Reset`] if the peer reset the stream, and the errors of a stream's state.
    pub fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        self.streams.read(stream, Reading::Into(out))
    }
    /// Discards the available data. After the first call, the stream's data is never stored.
    ///
    /// # Errors
    /// Those of [`Connection::read`].
    #[inline]
    pub fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.streams.read(stream, Reading::Discard)
    }
    /// Discards at most `limit` bytes of the available data. The data after them can be read.
    ///
    /// # Errors
    /// Those of [`Connection::read`].
    #[inline]
    pub fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        self.streams.read(stream, Reading::Skip(limit))
    }
    /// Sets the scheduling priority of a stream that this endpoint sends on: see [`Priority`]. It takes effect with
    /// the next packet.
    ///
    /// # Errors
    /// If the state of the stream does not allow it.
    pub fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.set_priority(stream, priority)
    }
    /// Closes the connection with an application's code (RFC 9000 section 10.2). A code above 2^62 - 1, which does
    /// not fit into the frame, is replaced by 2^62 - 1.
    pub fn close(&mut self, now: Time, code: u64, reason: &str) {
        let code = code.min(wire::varint::MAX);
        self.begin_closing(now, CloseReason::Local { code, reason: reason.to_owned() });
    }

    fn check_open(&self) -> Result<(), StreamError> {
        if self.is_over() { Err(StreamError::Closed) } else { Ok(()) }
    }

    /// The next event for the application.
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
    /// Whether [`Connection::poll_event`] would return an event.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.streams.has_events() || !self.events.is_empty() || self.has_datagram_events()
    }

    // ---- streams and ids ----

    /// The number of streams of a direction that the peer may open, including finished ones: the last MAX_STREAMS
    /// sent (RFC 9000 section 4.6).
    pub fn peer_stream_limit(&self, direction: Direction) -> u64 {
        self.streams.peer_limit(direction)
    }
    /// The counters.
    pub fn stats(&self) -> Stats {
        Stats { streams: self.streams.stats, ..self.counters() }
    }
    /// The counters of the streams only.
    #[inline]
    pub fn stream_stats(&self) -> &StreamStats {
        &self.streams.stats
    }
    /// The acknowledged bytes of all streams.
    pub fn acked_bytes(&self) -> u64 {
        self.streams.stats.acked_bytes
    }
    /// The unacknowledged real bytes that the streams keep; 0 without [`Connection::set_send_allowance`].
    pub fn kept_bytes(&self) -> u64 {
        self.streams.kept()
    }
    /// Whether the allowance of [`Connection::set_send_allowance`] leaves a stream no room, and its application waits
    /// for [`crate::Event::Writable`].
    pub fn waits_for_allowance(&mut self) -> bool {
        self.streams.wait_for_allowance()
    }
    /// What came of the bytes of all streams.
    pub(crate) fn stream_books(&self) -> transport::StreamBooks {
        self.streams.books()
    }
    /// What the peer has this endpoint do.
    pub(crate) fn work(&self) -> Work {
        let requests = if self.is_over() { 0 } else { self.streams.peer_open(Direction::Bidirectional) };
        let StreamStats { acked_bytes, received_bytes, received_unidirectional, .. } = self.streams.stats;
        let bytes = acked_bytes + received_bytes - received_unidirectional;
        Work { requests, bytes, round_trip: self.smoothed_rtt(), patience: self.probe_timeout() * 3 }
    }
    /// The number of streams in both directions that the peer has opened and that are not over: at a web server, the
    /// requests in progress.
    pub fn requests(&self) -> u64 {
        self.work().requests
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

    /// Traces the number of bytes that the application has appended to a stream.
    #[inline]
    fn trace_written(&mut self, now: Time, stream: StreamId, length: u64) {
        if self.log.interest().packets && length > 0 {
            let end = self.streams.written(stream);
            let offset = end.checked_sub(length).expect("the bytes just written are among those written");
            self.log.push(now, trace::Event::StreamWritten { stream: stream.value(), offset, length });
        }
    }
}
