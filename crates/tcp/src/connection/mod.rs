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
use crate::recovery::{DatedPaths, Recovery};
use crate::sequence::Numbering;
use crate::state::State;
use crate::stats::Stats;
use crate::timestamps::{Clock, Recent};
use crate::window::Window;
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
pub struct ConnectionInputs {
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
    /// What the host knows of paths.
    pub known_paths: DatedPaths,
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

/// The side of an end, and the addresses of both.
struct Ends {
    side: Side,
    local: SocketAddr,
    /// The peer's, once a segment of it has arrived.
    remote: Option<SocketAddr>,
}

/// The numbers of the bytes of both directions.
struct Numbers {
    ours: Numbering,
    theirs: Numbering,
    last_ack_sent: u64,
}

/// What the ends agree on when they open a connection, and what an end brings for that.
struct Opening {
    negotiated: Negotiated,
    syn: Syn,
    fast_open: FastOpenState,
    cookie_key: u64,
    known_paths: DatedPaths,
}

/// The timestamps of both ends.
struct TimestampClocks {
    clock: Clock,
    recent: Recent,
}

/// What the application has done on the sending side.
struct Writing {
    /// It has ended its data.
    fin_wanted: bool,
    fin_sent: bool,
    /// A write was blocked or partial.
    blocked: bool,
    /// Unsent bytes from which on writes are blocked.
    unsent_limit: u64,
}

/// What the application knows of the receiving side.
#[derive(Default)]
struct Reading {
    /// The number of the peer's FIN, once known.
    peer_fin: Option<u64>,
    /// It was told that there is data.
    reported: bool,
    read_to_end: bool,
}

/// The timers, but for those of the recovery and of acknowledgements.
#[derive(Default)]
struct WaitTimers {
    persist: Persist,
    time_wait_until: Option<Time>,
    paced_until: Option<Time>,
}

/// Answers to segments that are not acceptable.
#[derive(Default)]
struct Answers {
    reset: Option<Reset>,
    challenges: Challenges,
}

/// How the connection ends.
#[derive(Default)]
struct Ending {
    reason: Option<CloseReason>,
    /// The application has closed the connection: data that arrives from now on is answered with a reset.
    closed: bool,
}

/// What was traced last.
#[derive(Default)]
struct Traced {
    state: &'static str,
    /// What this end waits for, once that is traced.
    waits: Option<Box<Waits>>,
}

/// One end of a connection.
pub struct Connection {
    config: Arc<Config>,
    ends: Ends,
    state: State,
    numbers: Numbers,
    opening: Opening,
    timestamps: TimestampClocks,
    recovery: Recovery,
    outgoing: Outgoing,
    /// The TLS layer between the application and the stream.
    tls: Option<Box<Records>>,
    writing: Writing,
    incoming: Reassembly,
    reading: Reading,
    window: Window,
    acks: AckPolicy,
    peer: PeerWindow,
    ecn: EcnState,
    timers: WaitTimers,
    answers: Answers,
    events: VecDeque<Event>,
    ending: Ending,
    log: Log,
    traced: Traced,
    stats: Stats,
    /// The time of the last segment or timer.
    now: Time,
}

impl Connection {
    fn new(
        setup: ConnectionInputs,
        side: Side,
        remote: Option<SocketAddr>,
        state: State,
    ) -> Option<Connection> {
        let ConnectionInputs {
            local,
            config,
            mut random,
            interest,
            tls,
            cookie_key,
            known_paths,
            initial_sequence,
        } = setup;
        let drawn = random.bits();
        let clock = Clock::new((drawn >> 32) as u32);
        let (size, most) = (config.receive_buffer.as_bytes(), config.max_receive_buffer.as_bytes());
        Some(Connection {
            ends: Ends { side, local, remote },
            state,
            numbers: Numbers {
                ours: Numbering::new(initial_sequence.unwrap_or(drawn as u32)),
                theirs: Numbering::default(),
                last_ack_sent: 0,
            },
            opening: Opening {
                negotiated: Negotiated::unknown(&config),
                syn: Syn::default(),
                fast_open: FastOpenState::default(),
                cookie_key,
                known_paths,
            },
            timestamps: TimestampClocks { clock, recent: Recent::default() },
            recovery: Recovery::new(&config, clock, random.bits())?,
            outgoing: Outgoing::default(),
            tls: (config.tls == Layer::Tls13).then(|| Box::new(Records::new(side, tls))),
            writing: Writing { fin_wanted: false, fin_sent: false, blocked: false, unsent_limit: u64::MAX },
            incoming: Reassembly::new(),
            reading: Reading::default(),
            window: Window::of(size, most, config.mss),
            acks: AckPolicy::new(config.ack_ratio, config.delayed_ack),
            peer: PeerWindow::default(),
            ecn: EcnState::default(),
            timers: WaitTimers::default(),
            answers: Answers::default(),
            events: VecDeque::new(),
            ending: Ending::default(),
            log: Log::new(interest),
            traced: Traced::default(),
            stats: Stats::default(),
            now: Time::ZERO,
            config,
        })
    }

    /// Creates the end that opens a connection to this address; its first segment is the SYN (RFC 9293 section 3.10.1).
    /// Returns `None` if the configured controller does not exist.
    pub fn connect(now: Time, setup: ConnectionInputs, remote: SocketAddr) -> Option<Connection> {
        let mut connection = Connection::new(setup, Side::Client, Some(remote), State::SynSent)?;
        connection.opening.syn.due = true;
        connection.trace_start(now);
        connection.offer_fast_open();
        Some(connection)
    }

    /// Creates the end that waits for a connection (RFC 9293 section 3.10.1). Returns `None` if the configured
    /// controller does not exist.
    pub fn listen(setup: ConnectionInputs) -> Option<Connection> {
        Connection::new(setup, Side::Server, None, State::Listen)
    }

    /// The side of this end: the client opens the connection.
    pub fn side(&self) -> Side {
        self.ends.side
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
        self.ending.reason.as_ref()
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
        u64::from(self.opening.negotiated.mss)
    }
    /// The local address.
    #[inline]
    pub(crate) fn local(&self) -> SocketAddr {
        self.ends.local
    }
    /// The trace events.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    /// Whether both directions have ended and the application has read the end, without closing the connection first.
    #[inline]
    fn is_finished(&self) -> bool {
        self.is_over() && self.reading.read_to_end && self.ending.reason.is_none()
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
        let end = self.outgoing.end() + 1 + u64::from(self.writing.fin_sent);
        assert!(self.recovery.nxt <= end, "what is sent was written, or is the FIN");
        assert!(
            self.writing.fin_wanted || !self.writing.fin_sent,
            "the end is sent when the application has ended its data"
        );
        let listens = self.state == State::Listen;
        assert!(
            self.ends.remote.is_some() || listens || self.is_over(),
            "a connection that does not listen has a peer"
        );
        let beyond = self.reading.peer_fin.is_some_and(|fin| fin < self.incoming.next());
        assert!(!beyond, "the peer sends no data behind its end");
    }

    /// What came of the bytes of the stream, records of TLS included.
    pub(crate) fn stream_books(&self) -> transport::StreamBooks {
        let sent_to = self.recovery.nxt - 1 - u64::from(self.writing.fin_sent);
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
        next + u64::from(self.reading.peer_fin == Some(next))
    }
    /// Bytes available to the application.
    #[inline]
    fn unread(&self) -> u64 {
        self.tls.as_ref().map_or(self.incoming.ready_bytes(), |tls| tls.ready.len())
    }
    /// Whether all data of the peer and its FIN have arrived.
    fn peer_is_done(&self) -> bool {
        self.reading.peer_fin == Some(self.incoming.next())
    }

    fn set_state(&mut self, now: Time, state: State) {
        if state == self.state {
            return;
        }
        self.state = state;
        self.trace_state(now, state.name());
        match state {
            State::TimeWait => self.timers.time_wait_until = Some(now + self.config.time_wait),
            // Nobody waits for the peer's FIN any more. Current stacks limit this state to the time of TIME-WAIT.
            State::FinWait2 if self.ending.closed => {
                self.timers.time_wait_until = Some(now + self.config.time_wait)
            }
            State::Closed => {
                self.timers.time_wait_until = None;
                // A pending acknowledgement is sent with the last segment or not at all.
                self.acks.no_timer();
            }
            _ => {}
        }
    }

    /// Ends the connection for the application. An earlier reason takes precedence.
    fn finish(&mut self, now: Time, reason: CloseReason) {
        if self.ending.reason.is_some() {
            return;
        }
        if self.recovery.learns() {
            self.recovery.learn(now, true, &mut self.log);
        }
        self.trace_closed(now, &reason);
        self.ending.reason = Some(reason);
        self.events.push_back(Event::Ended);
    }

    /// Ends the connection at once, whatever is in flight.
    fn abort(&mut self, now: Time, reason: CloseReason) {
        self.finish(now, reason);
        self.recovery.stop();
        self.opening.syn = Syn::default();
        self.timers.persist = Persist::default();
        self.timers.paced_until = None;
        self.acks.on_sent();
        self.set_state(now, State::Closed);
    }

    fn report_readable(&mut self) {
        let there = self.unread() > 0 || self.peer_is_done() && !self.reading.read_to_end;
        if there && !self.reading.reported && !self.ending.closed {
            self.reading.reported = true;
            self.events.push_back(Event::Readable);
        }
    }

    fn sample_rtt(&mut self, sample: Option<Duration>) {
        if let Some(sample) = sample {
            self.stats.rtt.add(sample);
        }
    }
}
