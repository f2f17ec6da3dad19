//! One connection: the order in which things happen, and nothing else.
//!
//! Sans-IO: datagrams and `now` go in by [`Connection::receive`] and [`Connection::wake`], datagrams come out by
//! [`Connection::transmit`], and [`Connection::wake_at`] tells when to come back. What an application does stands
//! here; what happens to a datagram stands in `receive` and `acknowledge`, how one is made in `transmit`, how it all
//! ends in `closing`.

mod acknowledge;
mod closing;
mod frames;
mod receive;
mod tracing;
mod transmit;

pub use receive::Datagram;
pub use transmit::Transmit;

use crate::ack_policy::{AckPolicy, EveryNth};
use crate::config::Config;
use crate::error::{CloseReason, StreamError, TransportError};
use crate::event::Event;
use crate::ids::{IdMaker, LocalIds, RemoteIds};
use crate::loss;
use crate::path::Path;
use crate::recovery::{Loss, Recovery};
use crate::schedule::PathView;
use crate::sent::Contents;
use crate::space::{Space, SpaceKind};
use crate::stats::Stats;
use crate::stream::{Data, Read, StreamStats, Streams};
use closing::Phase;
use random::Stream;
use receive::Early;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use tls::{KeyChange, Session};
use trace::{Interest, Log};
use units::{Duration, Time};
use wire::{Code, ConnectionId, Direction, Side, StreamId, TransportParameters, Version};

/// RFC 9000 section 18.2: a max_ack_delay of 2^14 ms or more is invalid.
const MAX_ACK_DELAY_MS: u64 = (1 << 14) - 1;

/// A peer that makes us send more packets than this without acknowledging one is given up.
const MAX_UNACKNOWLEDGED: usize = 1 << 20;

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
    /// The destination id of the client's first packet.
    pub original_destination: ConnectionId,
    /// The id that the peer chose, where it is known: at a server from the start.
    pub peer_id: Option<ConnectionId>,
}

/// A QUIC connection.
pub struct Connection {
    origin: Origin,
    config: Arc<Config>,
    progress: Progress,
    phase: Phase,
    session: Session,
    /// The spaces of the handshake, until they are given up.
    early_spaces: [Option<Box<Space>>; 2],
    data: Space,
    /// The space whose CRYPTO stream takes what TLS writes next.
    write_level: SpaceKind,
    ack_policy: Box<dyn AckPolicy>,
    recovery: Recovery,
    streams: Streams,
    path: Path,
    local_ids: LocalIds,
    remote_ids: RemoteIds,
    /// Frames that are neither of a stream nor of a level, and wait to be sent.
    control: VecDeque<crate::sent::SentFrame>,
    path_responses: VecDeque<[u8; 8]>,
    peer: Option<TransportParameters>,
    local_parameters: TransportParameters,
    peer_max_ack_delay: Duration,
    idle_timeout: Option<Duration>,
    idle_from: Time,
    /// Whether something ack-eliciting was sent since the last packet arrived: only the first restarts the idle timer.
    eliciting_since_receipt: bool,
    /// Whence a client counts to its next probe while nothing is underway: the last time that something ack-eliciting
    /// was sent or the timer was set anew (RFC 9002 section A.8).
    probe_base: Time,
    /// When the pacer lets the next packet go.
    paced_until: Option<Time>,
    events: VecDeque<Event>,
    early: Early,
    contents: Contents,
    losses: Vec<Loss>,
    close_reason: Option<CloseReason>,
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
        origin: Origin,
        config: Arc<Config>,
        context: &tls::Context,
        (maker, random, interest): (IdMaker, &mut Stream, Interest),
    ) -> Result<Connection, TransportError> {
        let mut fork = |name| Stream::new(random.bits(), name);
        let local_ids = LocalIds::new(maker, fork("ids"));
        let parameters = local_parameters(&config, &origin, &local_ids);
        let mut encoded = Vec::with_capacity(128);
        parameters.encode(&mut encoded, None);
        let version = Version::V1.0;
        let session = match origin.side {
            Side::Client => context.client(fork("tls"), version, encoded),
            Side::Server => context.server(fork("tls"), version, encoded),
        };
        let session =
            session.map_err(|error| TransportError::new(Code::INTERNAL_ERROR, error.to_string()))?;
        let mut initial = Box::new(Space::new());
        let id = origin.original_destination;
        initial.keys = Some(tls::initial_keys(context.protection(), version, id.as_bytes(), origin.side));
        let controller =
            congestion::build(config.controller.name, &config.controller.arguments, Recovery::setup(&config));
        let scheduler = crate::schedule::build(config.scheduler.name, &config.scheduler.arguments);
        let (Some(controller), Some(scheduler)) = (controller, scheduler) else {
            return Err(TransportError::new(Code::INTERNAL_ERROR, "no such controller or scheduler"));
        };
        let mut connection = Connection {
            progress: Progress::Handshaking,
            phase: Phase::Open,
            session,
            early_spaces: [Some(initial), Some(Box::new(Space::new()))],
            data: Space::new(),
            write_level: SpaceKind::Initial,
            ack_policy: Box::new(EveryNth::new(&config.ack)),
            recovery: Recovery::new(&config, controller),
            streams: Streams::new(origin.side, &config, scheduler),
            path: Path::new(origin.side, origin.remote),
            local_ids,
            remote_ids: RemoteIds::new(origin.peer_id.unwrap_or(id), config.active_connection_id_limit),
            control: VecDeque::new(),
            path_responses: VecDeque::new(),
            peer: None,
            local_parameters: parameters,
            peer_max_ack_delay: Duration::ZERO,
            idle_timeout: (!config.max_idle_timeout.is_zero()).then_some(config.max_idle_timeout),
            idle_from: now,
            eliciting_since_receipt: false,
            probe_base: now,
            paced_until: None,
            events: VecDeque::new(),
            early: Early::default(),
            contents: Contents::default(),
            losses: Vec::new(),
            close_reason: None,
            log: Log::new(interest),
            now,
            traced_state: "",
            stats: Stats::default(),
            origin,
            config,
        };
        connection.trace_start(now);
        connection.drive_handshake(now)?;
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
        self.streams.write(now, stream, data)
    }
    /// Ends a stream behind what was written.
    ///
    /// # Errors
    /// Those of a stream's state.
    pub fn finish(&mut self, now: Time, stream: StreamId) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.finish(now, stream)
    }
    /// Gives up sending on a stream: RESET_STREAM with this code, of at most 2^62 - 1.
    ///
    /// # Errors
    /// Those of a stream's state.
    pub fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.reset(stream, code.min(wire::varint::MAX))
    }
    /// Gives up receiving on a stream: STOP_SENDING with this code, of at most 2^62 - 1.
    ///
    /// # Errors
    /// Those of a stream's state.
    pub fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.check_open()?;
        self.streams.stop(stream, code.min(wire::varint::MAX))
    }
    /// Reads what is there into `out`.
    ///
    /// # Errors
    /// [`StreamError::Reset`] if the peer gave up, and the errors of a stream's state.
    pub fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        self.streams.read(stream, Some(out))
    }
    /// Takes what is there without looking at it. From the first call on, the stream's data is not kept at all.
    ///
    /// # Errors
    /// Those of [`Connection::read`].
    #[inline]
    pub fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.streams.read(stream, None)
    }
    /// Closes the connection with an application's code (RFC 9000 section 10.2). A code above 2^62 - 1, which no frame
    /// can hold, becomes that.
    pub fn close(&mut self, now: Time, code: u64, reason: &str) {
        let code = code.min(wire::varint::MAX);
        self.begin_closing(now, CloseReason::Local { code, reason: reason.to_owned() });
    }

    fn check_open(&self) -> Result<(), StreamError> {
        if self.phase == Phase::Open { Ok(()) } else { Err(StreamError::Closed) }
    }

    /// The next thing that the application may want to act on.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.streams.poll_event() {
            self.trace_stream_event(&event);
            return Some(event);
        }
        self.events.pop_front()
    }
    /// Whether [`Connection::poll_event`] would give something.
    #[inline]
    pub fn has_events(&self) -> bool {
        self.streams.has_events() || !self.events.is_empty()
    }

    // ---- what can be asked ----

    /// Which end this is.
    pub fn side(&self) -> Side {
        self.origin.side
    }
    /// The address of the other end.
    pub fn remote(&self) -> SocketAddr {
        self.path.remote
    }
    /// Whether the handshake is complete.
    pub fn is_established(&self) -> bool {
        self.progress >= Progress::Complete
    }
    /// Whether the connection takes no more from the application: closing, draining or gone.
    pub fn is_over(&self) -> bool {
        self.phase != Phase::Open
    }
    /// Whether nothing is left to do: the endpoint can forget it (RFC 9000 section 10.2).
    pub fn is_gone(&self) -> bool {
        self.phase == Phase::Gone
    }
    /// Why it is over.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.close_reason.as_ref()
    }
    /// The counters.
    pub fn stats(&self) -> Stats {
        Stats { streams: self.streams.stats, ..self.stats.clone() }
    }
    /// The counters of the streams alone.
    #[inline]
    pub fn stream_stats(&self) -> &StreamStats {
        &self.streams.stats
    }
    /// The RTT estimate.
    pub fn rtt(&self) -> &congestion::RttEstimate {
        &self.recovery.rtt
    }
    /// The congestion window and what is in flight, in bytes.
    pub fn flight(&self) -> (u64, u64) {
        (self.recovery.window(), self.recovery.bytes_in_flight)
    }
    /// The number of streams that are not over.
    pub fn open_streams(&self) -> usize {
        self.streams.open_count()
    }
    /// The transport parameters of the peer, once they are known.
    pub fn peer_parameters(&self) -> Option<&TransportParameters> {
        self.peer.as_ref()
    }
    /// The events that wait for a sink.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    /// TLS secrets that have come up since the last call, for captures.
    pub fn take_secrets(&mut self) -> Vec<tls::Secret> {
        self.session.take_secrets()
    }
    /// Whether packets to this id are for this connection.
    #[inline]
    pub(crate) fn owns(&self, id: &[u8]) -> bool {
        self.local_ids.owns(id)
    }
    /// Whether no packet has opened yet.
    pub(crate) fn is_blank(&self) -> bool {
        self.stats.packets_received == 0
    }
    pub(crate) fn original_destination(&self) -> ConnectionId {
        self.origin.original_destination
    }

    // ---- time ----

    /// When [`Connection::wake`] must be called at the latest.
    #[inline]
    pub fn wake_at(&self) -> Option<Time> {
        match &self.phase {
            Phase::Open => {}
            Phase::Closing { until, .. } | Phase::Draining { until } => return Some(*until),
            Phase::Gone => return None,
        }
        let time = |deadline: Option<Time>| deadline.unwrap_or(Time::NEVER);
        let at = time(self.loss_timer().map(|(at, _)| at))
            .min(time(self.ack_deadline()))
            .min(time(self.paced_until))
            .min(time(self.idle_deadline()))
            .min(time(self.keep_alive_deadline()));
        (at != Time::NEVER).then_some(at)
    }

    /// Time has passed.
    pub fn wake(&mut self, now: Time) {
        self.now = now;
        match &self.phase {
            Phase::Open => {}
            Phase::Closing { until, .. } | Phase::Draining { until } => {
                if *until <= now {
                    self.phase = Phase::Gone;
                    self.trace_state(now, "closed");
                }
                return;
            }
            Phase::Gone => return,
        }
        if self.idle_deadline().is_some_and(|at| at <= now) {
            // RFC 9000 section 10.1: silently, and without a closing period.
            self.end(now, CloseReason::IdleTimeout);
            self.phase = Phase::Gone;
            return;
        }
        if let Some((at, kind)) = self.loss_timer().filter(|(at, _)| *at <= now) {
            debug_assert!(at <= now);
            self.on_loss_timer(now, kind);
        }
        if self.keep_alive_deadline().is_some_and(|at| at <= now) {
            self.data.ping = true;
        }
        if self.paced_until.is_some_and(|at| at <= now) {
            self.paced_until = None;
        }
    }

    #[inline]
    fn ack_deadline(&self) -> Option<Time> {
        if self.path.is_blocked() {
            return None;
        }
        let mut deadline = self.data.received.deadline();
        for space in self.early_spaces.iter().flatten().filter(|space| space.keys.is_some()) {
            if let Some(at) = space.received.deadline() {
                deadline = Some(deadline.map_or(at, |known| known.min(at)));
            }
        }
        deadline
    }

    #[inline]
    fn idle_deadline(&self) -> Option<Time> {
        // RFC 9000 section 10.1: at least three times the PTO.
        let pto = self.recovery.rtt.pto() + self.peer_max_ack_delay;
        self.idle_timeout.map(|timeout| self.idle_from + timeout.max(pto * 3))
    }

    #[inline]
    fn keep_alive_deadline(&self) -> Option<Time> {
        let interval = self.config.keep_alive?;
        (self.progress == Progress::Confirmed && !self.data.ping && self.data.sent.ack_eliciting() == 0)
            .then(|| self.idle_from + interval)
    }

    /// Whether the peer is sure not to wait for us to prove our address (RFC 9002 section A.6).
    fn peer_completed_validation(&self) -> bool {
        self.origin.side == Side::Server
            || self.progress == Progress::Confirmed
            || self.early_spaces[1].as_ref().is_none_or(|space| space.largest_acked.is_some())
    }

    /// The loss detection timer and the space that it is for (RFC 9002 sections 6.1.2, 6.2.1 and A.8).
    #[inline]
    fn loss_timer(&self) -> Option<(Time, SpaceKind)> {
        if self.progress == Progress::Confirmed {
            return self.data_loss_timer();
        }
        self.handshake_loss_timer()
    }

    #[inline]
    fn data_loss_timer(&self) -> Option<(Time, SpaceKind)> {
        if let Some(at) = self.data.loss_time {
            return Some((at, SpaceKind::Data));
        }
        if self.data.sent.ack_eliciting() == 0 {
            return None;
        }
        let timeout =
            loss::probe_timeout(&self.recovery.rtt, self.peer_max_ack_delay, self.recovery.pto_count);
        Some((self.data.last_eliciting_at + timeout, SpaceKind::Data))
    }

    fn handshake_loss_timer(&self) -> Option<(Time, SpaceKind)> {
        let losses = SpaceKind::ALL.into_iter().filter_map(|kind| Some((self.space(kind)?.loss_time?, kind)));
        if let Some(first) = losses.min() {
            return Some(first);
        }
        if self.path.is_blocked() {
            // 6.2.2.1: a server that may not send more has no use for a timer.
            return None;
        }
        let timeout = loss::probe_timeout(&self.recovery.rtt, Duration::ZERO, self.recovery.pto_count);
        let early = [SpaceKind::Initial, SpaceKind::Handshake].into_iter();
        let sendable = early.filter(|kind| *kind != SpaceKind::Initial || self.path.admits_full());
        let eliciting = sendable.filter_map(|kind| {
            let space = self.space(kind).filter(|space| space.sent.ack_eliciting() > 0)?;
            Some((space.last_eliciting_at + timeout, kind))
        });
        if let Some(first) = eliciting.min() {
            return Some(first);
        }
        if self.peer_completed_validation() {
            return None;
        }
        // 6.2.2.1: a client goes on proving its address, so that the server is never stuck.
        let kind = match self.space(SpaceKind::Handshake).is_some_and(|space| space.keys.is_some()) {
            true => SpaceKind::Handshake,
            false => SpaceKind::Initial,
        };
        Some((self.probe_base + timeout, kind))
    }

    fn on_loss_timer(&mut self, now: Time, kind: SpaceKind) {
        if self.space(kind).is_some_and(|space| space.loss_time.is_some()) {
            self.detect_losses(now, kind);
            self.trace_metrics(now);
            return;
        }
        if self.space(kind).is_some_and(|space| space.sent.kept() > MAX_UNACKNOWLEDGED) {
            return self.fail(now, TransportError::new(Code::INTERNAL_ERROR, "too much is not acknowledged"));
        }
        self.recovery.pto_count += 1;
        self.stats.probe_timeouts += 1;
        // 6.2.4: two probes, and during the handshake, with them, two of every other space that has data underway.
        for probed in SpaceKind::ALL {
            let wanted =
                probed == kind || self.progress != Progress::Confirmed && self.has_unfinished(probed);
            if let Some(space) = self.space_mut(probed).filter(|_| wanted) {
                space.probes = 2;
                space.ping = true;
            }
        }
        self.trace_metrics(now);
    }

    /// Whether something is underway in a space whose packets the peer may open, or waits there for a window that is
    /// full of what the peer cannot open yet.
    fn has_unfinished(&self, kind: SpaceKind) -> bool {
        let readable = kind != SpaceKind::Data || self.progress >= Progress::Complete;
        let space = self.space(kind).filter(|space| readable && space.keys.is_some());
        space.is_some_and(|space| space.sent.ack_eliciting() > 0 || space.crypto.has_pending())
    }

    // ---- spaces and keys ----

    #[inline]
    fn space(&self, kind: SpaceKind) -> Option<&Space> {
        match kind {
            SpaceKind::Data => Some(&self.data),
            early => self.early_spaces[early as usize].as_deref(),
        }
    }
    #[inline]
    fn space_mut(&mut self, kind: SpaceKind) -> Option<&mut Space> {
        match kind {
            SpaceKind::Data => Some(&mut self.data),
            early => self.early_spaces[early as usize].as_deref_mut(),
        }
    }

    /// Gives up a space of the handshake with its keys (RFC 9001 section 4.9).
    fn discard_space(&mut self, now: Time, kind: SpaceKind) {
        if let Some(mut space) = self.early_spaces[kind as usize].take() {
            self.recovery.discard(&mut space);
            self.probe_base = now;
            self.trace_keys_discarded(now, kind);
        }
    }

    fn view(&self, now: Time) -> PathView {
        PathView { now, window: self.recovery.window(), smoothed_rtt: self.recovery.rtt.smoothed() }
    }

    /// Takes out of TLS what it has to say, and installs the keys that it gives.
    fn drive_handshake(&mut self, now: Time) -> Result<(), TransportError> {
        loop {
            let mut bytes = Vec::new();
            let change = self.session.write(&mut bytes);
            if self.peer.is_none()
                && let Some(encoded) = self.session.peer_parameters()
            {
                let parameters =
                    TransportParameters::decode(encoded, self.origin.side.peer()).map_err(|error| {
                        TransportError::new(Code::TRANSPORT_PARAMETER_ERROR, error.to_string())
                    })?;
                self.set_peer_parameters(now, parameters)?;
            }
            let wrote = !bytes.is_empty();
            let level = self.write_level;
            if let Some(space) = self.space_mut(level).filter(|_| wrote) {
                space.crypto.write(&bytes);
            }
            match change {
                Some(KeyChange::Handshake(keys)) => {
                    self.write_level = SpaceKind::Handshake;
                    if let Some(space) = self.space_mut(SpaceKind::Handshake) {
                        space.keys = Some(keys);
                    }
                    self.trace_keys(now, SpaceKind::Handshake);
                }
                Some(KeyChange::OneRtt(keys, ..)) => {
                    self.write_level = SpaceKind::Data;
                    self.data.keys = Some(keys);
                    self.trace_keys(now, SpaceKind::Data);
                }
                None if !wrote => break,
                None => {}
            }
        }
        if self.progress == Progress::Handshaking && self.session.is_complete() && self.data.keys.is_some() {
            self.complete_handshake(now)?;
        }
        Ok(())
    }

    fn complete_handshake(&mut self, now: Time) -> Result<(), TransportError> {
        if self.peer.is_none() {
            // RFC 9001 section 8.2.
            return Err(TransportError::new(Code::crypto(109), "no transport parameters"));
        }
        self.progress = Progress::Complete;
        self.trace_state(now, "handshake_complete");
        self.events.push_back(Event::Connected);
        let limit = self.peer.as_ref().map_or(2, |peer| peer.active_connection_id_limit);
        let control = &mut self.control;
        self.local_ids.top_up(limit, |sequence| {
            control.push_back(crate::sent::SentFrame::NewConnectionId { sequence })
        });
        if self.origin.side == Side::Server {
            // RFC 9001 section 4.1.2: to a server, complete is confirmed.
            self.control.push_back(crate::sent::SentFrame::HandshakeDone);
            self.confirm_handshake(now);
        }
        Ok(())
    }

    fn confirm_handshake(&mut self, now: Time) {
        if self.progress != Progress::Confirmed {
            self.progress = Progress::Confirmed;
            self.discard_space(now, SpaceKind::Handshake);
            self.trace_state(now, "handshake_confirmed");
        }
    }

    fn set_peer_parameters(&mut self, now: Time, peer: TransportParameters) -> Result<(), TransportError> {
        let mismatch = |what| Err(TransportError::new(Code::TRANSPORT_PARAMETER_ERROR, what));
        // RFC 9000 section 7.3: the ids in the parameters authenticate those of the headers.
        if peer.initial_source_connection_id != Some(self.remote_ids.current()) {
            return mismatch("initial_source_connection_id does not match");
        }
        if self.origin.side == Side::Client {
            if peer.original_destination_connection_id != Some(self.origin.original_destination) {
                return mismatch("original_destination_connection_id does not match");
            }
            if peer.retry_source_connection_id.is_some() {
                return mismatch("retry_source_connection_id without a Retry");
            }
        }
        self.peer_max_ack_delay = Duration::from_millis(peer.max_ack_delay_ms);
        if peer.max_idle_timeout_ms > 0 {
            let theirs = Duration::from_millis(peer.max_idle_timeout_ms);
            self.idle_timeout = Some(self.idle_timeout.map_or(theirs, |ours| ours.min(theirs)));
        }
        self.path.limit_payload(peer.max_udp_payload_size);
        self.streams.set_peer_parameters(&peer);
        self.trace_parameters(now, &peer);
        self.peer = Some(peer);
        Ok(())
    }
}

/// What this end tells the other (RFC 9000 section 18.2).
fn local_parameters(config: &Config, origin: &Origin, ids: &LocalIds) -> TransportParameters {
    // Rounded up: a timeout of less than a millisecond must not become none.
    let whole_ms = |span: Duration| span.as_nanos().div_ceil(1_000_000);
    let window = |size: units::Size| size.as_bytes().min(wire::varint::MAX);
    TransportParameters {
        max_idle_timeout_ms: whole_ms(config.max_idle_timeout).min(wire::varint::MAX),
        initial_max_data: window(config.initial_max_data),
        initial_max_stream_data_bidi_local: window(config.initial_max_stream_data_bidi_local),
        initial_max_stream_data_bidi_remote: window(config.initial_max_stream_data_bidi_remote),
        initial_max_stream_data_uni: window(config.initial_max_stream_data_uni),
        initial_max_streams_bidi: config.initial_max_streams_bidi,
        initial_max_streams_uni: config.initial_max_streams_uni,
        ack_delay_exponent: u64::from(config.ack_delay_exponent),
        max_ack_delay_ms: whole_ms(config.ack.max_delay).min(MAX_ACK_DELAY_MS),
        // Packets from other addresses are dropped (RFC 9000 section 18.2).
        disable_active_migration: true,
        active_connection_id_limit: config.active_connection_id_limit,
        initial_source_connection_id: Some(ids.first()),
        original_destination_connection_id: (origin.side == Side::Server)
            .then_some(origin.original_destination),
        stateless_reset_token: (origin.side == Side::Server).then(|| ids.first_token()),
        ..TransportParameters::default()
    }
}
