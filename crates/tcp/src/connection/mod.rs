//! One end of a connection and the order of its operations (RFC 9293 section 3.10).

mod application;
mod receive;
mod relay;
mod synchronize;
mod timers;
mod tracing;
mod transmit;

use crate::ack_policy::AckPolicy;
use crate::config::{Config, Layer};
use crate::ecn::EcnState;
use crate::event::{CloseReason, Event};
use crate::fast_open::FastOpenState;
use crate::handshake::{Negotiated, Syn};
use crate::outgoing::Outgoing;
use crate::reassembly::Reassembly;
use crate::records::{Records, TlsSizes};
use crate::recovery::Recovery;
use crate::sequence::Numbering;
use crate::state::State;
use crate::stats::Stats;
use crate::timestamps::{Clock, Recent};
use crate::window::Window;
use congestion::PathStore;
use random::Generator;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::{Interest, Log, Waits};
use units::{Duration, Time};
use wire::tcp::Timestamps;
use wire::{Damage, Ecn, Hole, Side};

/// A received segment. Its receiver has verified the checksum, or reports where the segment was altered.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The source address.
    pub remote: SocketAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// Header and payload, without the bytes of the hole.
    pub bytes: &'a [u8],
    /// The virtual bytes of the payload.
    pub hole: Option<Hole>,
    /// Where the segment was altered in transit. Its checksum is then wrong, and it is dropped (RFC 9293 section 3.1).
    pub damage: Option<Damage>,
}

/// A segment to be sent. The caller computes its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// The destination address.
    pub remote: SocketAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// The virtual bytes of the payload.
    pub hole: Option<Hole>,
    /// Whether the segment has payload.
    pub carries_data: bool,
}

/// The inputs for a new connection end.
#[derive(Debug)]
pub struct Setup {
    /// The local address.
    pub local: SocketAddr,
    /// The options.
    pub config: Arc<Config>,
    /// The random numbers for the initial sequence number and the timestamp clock.
    pub random: Generator,
    /// The trace events to record.
    pub interest: Interest,
    /// The parameters of the TLS exchange, if the options ask for TLS.
    pub tls: TlsSizes,
    /// The key of the server's Fast Open cookies (RFC 7413 section 4.1.2). A client with the option `cached` already
    /// has the cookie derived from this key.
    pub cookie_key: u64,
    /// What the host knows of paths (the option `resume`), and the date at time zero in milliseconds since 1970.
    pub known_paths: (PathStore, u64),
    /// The initial sequence number; random by default (RFC 6528 requires an unpredictable one).
    pub initial_sequence: Option<u32>,
}

/// The send window granted by the peer (RFC 9293 section 3.10.7.4).
#[derive(Debug, Clone, Copy, Default)]
struct PeerWindow {
    /// The right edge of the window.
    edge: u64,
    /// SND.WL1 and SND.WL2: the segment of the last window update.
    updated_by: (u64, u64),
    /// The largest window advertised by the peer: MAX.SND.WND (RFC 5961 section 5.2).
    largest: u64,
    shift: u8,
}

/// Zero-window probes (RFC 9293 section 3.8.6.1).
#[derive(Debug, Clone, Copy, Default)]
struct Persist {
    at: Option<Time>,
    backoffs: u32,
    /// Probes since the last segment from the peer.
    unanswered: u32,
    due: bool,
    /// A byte beyond SND.NXT was sent.
    sent: bool,
}

/// A pending reset, with header values.
#[derive(Debug, Clone, Copy)]
struct Reset {
    remote: SocketAddr,
    sequence: u32,
    acknowledgement: Option<u32>,
    /// RFC 7323 section 5.2: a reset has timestamps if the connection uses them, or if the segment it answers has them.
    timestamps: Option<Timestamps>,
}

/// Challenge ACKs within the last five seconds (RFC 5961 section 7).
#[derive(Debug, Clone, Copy, Default)]
struct Challenges {
    since: Time,
    count: u32,
}

/// One end of a connection.
pub struct Connection {
    config: Arc<Config>,
    side: Side,
    local: SocketAddr,
    remote: Option<SocketAddr>,
    state: State,
    ours: Numbering,
    theirs: Numbering,
    negotiated: Negotiated,
    syn: Syn,
    fast_open: FastOpenState,
    cookie_key: u64,
    clock: Clock,
    recent: Recent,
    last_ack_sent: u64,
    recovery: Recovery,
    known_paths: (PathStore, u64),
    outgoing: Outgoing,
    /// The TLS layer between the application and the stream.
    tls: Option<Box<Records>>,
    /// The application has ended its data.
    fin_wanted: bool,
    fin_sent: bool,
    incoming: Reassembly,
    /// The number of the peer's FIN, once known.
    peer_fin: Option<u64>,
    window: Window,
    acks: AckPolicy,
    peer: PeerWindow,
    ecn: EcnState,
    persist: Persist,
    time_wait_until: Option<Time>,
    paced_until: Option<Time>,
    reset: Option<Reset>,
    challenges: Challenges,
    events: VecDeque<Event>,
    readable_reported: bool,
    end_was_read: bool,
    /// A write was blocked or partial.
    write_blocked: bool,
    /// Unsent bytes from which on writes are blocked.
    unsent_limit: u64,
    close_reason: Option<CloseReason>,
    /// The application has closed the connection: data that arrives from now on is answered with a reset.
    closed: bool,
    log: Log,
    traced_state: &'static str,
    /// What this end waits for, once that is traced.
    waits: Option<Box<Waits>>,
    stats: Stats,
    /// The time of the last segment or timer.
    now: Time,
}

impl Connection {
    fn new(setup: Setup, side: Side, remote: Option<SocketAddr>, state: State) -> Option<Connection> {
        let Setup { local, config, mut random, interest, tls, cookie_key, known_paths, initial_sequence } =
            setup;
        let drawn = random.bits();
        let clock = Clock::new((drawn >> 32) as u32);
        let (size, most) = (config.receive_buffer.as_bytes(), config.max_receive_buffer.as_bytes());
        Some(Connection {
            side,
            local,
            remote,
            state,
            ours: Numbering::new(initial_sequence.unwrap_or(drawn as u32)),
            theirs: Numbering::default(),
            negotiated: Negotiated::unknown(&config),
            syn: Syn::default(),
            fast_open: FastOpenState::default(),
            cookie_key,
            clock,
            recent: Recent::default(),
            last_ack_sent: 0,
            recovery: Recovery::new(&config, clock, random.bits())?,
            known_paths,
            outgoing: Outgoing::default(),
            tls: (config.tls == Layer::Tls13).then(|| Box::new(Records::new(side, tls))),
            fin_wanted: false,
            fin_sent: false,
            incoming: Reassembly::new(),
            peer_fin: None,
            window: Window::of(size, most, config.mss),
            acks: AckPolicy::new(config.ack_ratio, config.delayed_ack),
            peer: PeerWindow::default(),
            ecn: EcnState::default(),
            persist: Persist::default(),
            time_wait_until: None,
            paced_until: None,
            reset: None,
            challenges: Challenges::default(),
            events: VecDeque::new(),
            readable_reported: false,
            end_was_read: false,
            write_blocked: false,
            unsent_limit: u64::MAX,
            close_reason: None,
            closed: false,
            log: Log::new(interest),
            traced_state: "",
            waits: None,
            stats: Stats::default(),
            now: Time::ZERO,
            config,
        })
    }

    /// Creates the end that opens a connection to this address; its first segment is the SYN (RFC 9293 section 3.10.1).
    /// Returns `None` if the configured controller does not exist.
    pub fn connect(now: Time, setup: Setup, remote: SocketAddr) -> Option<Connection> {
        let mut connection = Connection::new(setup, Side::Client, Some(remote), State::SynSent)?;
        connection.syn.due = true;
        connection.trace_start(now);
        connection.offer_fast_open();
        Some(connection)
    }

    /// Creates the end that waits for a connection (RFC 9293 section 3.10.1). Returns `None` if the configured
    /// controller does not exist.
    pub fn listen(setup: Setup) -> Option<Connection> {
        Connection::new(setup, Side::Server, None, State::Listen)
    }

    /// The side of this end: the client opens the connection.
    pub fn side(&self) -> Side {
        self.side
    }
    /// The state of the connection.
    pub fn state(&self) -> State {
        self.state
    }
    /// Whether the connection is over, except for answers to late segments.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }
    /// The reason of the end, if the connection has ended.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.close_reason.as_ref()
    }
    /// The counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// The congestion window and the bytes in flight.
    pub fn flight(&self) -> (u64, u64) {
        (self.recovery.window(), self.recovery.in_flight())
    }
    /// The smoothed RTT; `initial_rtt` before the first sample.
    pub fn smoothed_rtt(&self) -> units::Duration {
        self.recovery.rtt.smoothed()
    }
    /// The payload of a full-sized segment in bytes.
    pub fn segment_size(&self) -> u64 {
        u64::from(self.negotiated.mss)
    }
    /// The local address.
    #[inline]
    pub(crate) fn local(&self) -> SocketAddr {
        self.local
    }
    /// The trace events.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    /// Whether both directions have ended and the application has read the end, without closing the connection first.
    #[inline]
    fn is_finished(&self) -> bool {
        self.is_over() && self.end_was_read && self.close_reason.is_none()
    }
    /// Whether there are events or records to take.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        !self.events.is_empty() || !self.log.is_empty() || self.is_finished()
    }
    /// The next event.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events.is_empty() && self.is_finished() {
            self.finish(self.now, CloseReason::Finished);
        }
        self.events.pop_front()
    }

    /// The number of segments that [`Connection::check`] looks at.
    pub(crate) fn books(&self) -> usize {
        self.recovery.board.len()
    }
    /// Stops if the state contradicts itself. In builds with debug assertions it is called between steps.
    ///
    /// # Panics
    /// In that case, which is an error of this crate.
    pub fn check(&self) {
        self.recovery.check();
        self.outgoing.check();
        self.incoming.check();
        self.window.check();
        if let Some(tls) = &self.tls {
            tls.check();
        }
        let end = self.outgoing.end() + 1 + u64::from(self.fin_sent);
        assert!(self.recovery.nxt <= end, "what is sent was written, or is the FIN");
        assert!(self.fin_wanted || !self.fin_sent, "the end is sent when the application has ended its data");
        let listens = self.state == State::Listen;
        assert!(
            self.remote.is_some() || listens || self.is_over(),
            "a connection that does not listen has a peer"
        );
        let beyond = self.peer_fin.is_some_and(|fin| fin < self.incoming.next());
        assert!(!beyond, "the peer sends no data behind its end");
    }

    /// What came of the bytes of the stream, records of TLS included.
    pub(crate) fn stream_books(&self) -> transport::StreamBooks {
        let sent_to = self.recovery.nxt - 1 - u64::from(self.fin_sent);
        let (received, consumed) = self.incoming.books();
        transport::StreamBooks {
            written: self.outgoing.end().into(),
            sent: self.stats.sent_bytes,
            unsent: (self.outgoing.end() - sent_to).into(),
            abandoned: 0,
            acked: self.recovery.una.clamp(1, sent_to + 1) - 1,
            received,
            consumed,
            unread: self.incoming.ready_bytes(),
        }
    }

    /// RCV.NXT, which includes the peer's FIN.
    #[inline]
    fn rcv_nxt(&self) -> u64 {
        let next = self.incoming.next();
        next + u64::from(self.peer_fin == Some(next))
    }
    /// Bytes available to the application.
    #[inline]
    fn unread(&self) -> u64 {
        self.tls.as_ref().map_or(self.incoming.ready_bytes(), |tls| tls.ready.len())
    }
    /// Whether all data of the peer and its FIN have arrived.
    fn peer_is_done(&self) -> bool {
        self.peer_fin == Some(self.incoming.next())
    }

    fn set_state(&mut self, now: Time, state: State) {
        if state == self.state {
            return;
        }
        self.state = state;
        self.trace_state(now, state.name());
        match state {
            State::TimeWait => self.time_wait_until = Some(now + self.config.time_wait),
            // Nobody waits for the peer's FIN any more. Current stacks limit this state to the time of TIME-WAIT.
            State::FinWait2 if self.closed => self.time_wait_until = Some(now + self.config.time_wait),
            State::Closed => {
                self.time_wait_until = None;
                // A pending acknowledgement is sent with the last segment or not at all.
                self.acks.no_timer();
            }
            _ => {}
        }
    }

    /// Ends the connection for the application. An earlier reason takes precedence.
    fn finish(&mut self, now: Time, reason: CloseReason) {
        if self.close_reason.is_some() {
            return;
        }
        if self.recovery.learns() {
            self.recovery.learn(now, true, &mut self.log);
        }
        self.trace_closed(now, &reason);
        self.close_reason = Some(reason);
        self.events.push_back(Event::Ended);
    }

    /// Ends the connection at once, whatever is in flight.
    fn abort(&mut self, now: Time, reason: CloseReason) {
        self.finish(now, reason);
        self.recovery.stop();
        self.syn = Syn::default();
        self.persist = Persist::default();
        self.paced_until = None;
        self.acks.on_sent();
        self.set_state(now, State::Closed);
    }

    fn report_readable(&mut self) {
        let there = self.unread() > 0 || self.peer_is_done() && !self.end_was_read;
        if there && !self.readable_reported && !self.closed {
            self.readable_reported = true;
            self.events.push_back(Event::Readable);
        }
    }

    fn sample_rtt(&mut self, sample: Option<Duration>) {
        if let Some(sample) = sample {
            self.stats.rtt.add(sample);
        }
    }
}
