//! One end of a connection: the order in which things happen (RFC 9293 section 3.10).

mod application;
mod receive;
mod synchronize;
mod timers;
mod tracing;
mod transmit;

use crate::ack_policy::AckPolicy;
use crate::config::Config;
use crate::ecn::EcnState;
use crate::event::{CloseReason, Event};
use crate::fast_open::FastOpenState;
use crate::handshake::{Agreed, Syn};
use crate::outgoing::Outgoing;
use crate::reassembly::Reassembly;
use crate::records::{Records, TlsSizes};
use crate::recovery::Recovery;
use crate::sequence::Numbering;
use crate::state::State;
use crate::stats::Stats;
use crate::timestamps::{Clock, Recent};
use crate::window::Window;
use random::Stream;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::{Interest, Log};
use units::{Duration, Time};
use wire::tcp::Timestamps;
use wire::{Damage, Ecn, Hole, Side};

/// A segment that arrives. Whoever took it off the wire has verified its checksum, or says where it was altered.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// Where it comes from.
    pub remote: SocketAddr,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Header and payload, without the bytes of the hole.
    pub bytes: &'a [u8],
    /// Virtual bytes of the payload.
    pub hole: Option<Hole>,
    /// Where it was altered underway: then its checksum is wrong, and it is dropped (RFC 9293 section 3.1).
    pub damage: Option<Damage>,
}

/// A segment that leaves. Its checksum is left to who puts it on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// Where it goes.
    pub remote: SocketAddr,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Virtual bytes of the payload.
    pub hole: Option<Hole>,
    /// Whether it has payload.
    pub carries_data: bool,
}

/// What a connection's end is made from.
#[derive(Debug)]
pub struct Setup {
    /// Its own address.
    pub local: SocketAddr,
    /// Its options.
    pub config: Arc<Config>,
    /// Where the initial sequence number and the like come from.
    pub random: Stream,
    /// What is listened to.
    pub interest: Interest,
    /// What the sizes of the exchange follow from, where the options ask for TLS.
    pub tls: TlsSizes,
    /// What the server's Fast Open cookies follow from (RFC 7413 section 4.1.2). A client with the option `cached` has the
    /// cookie that this key gives.
    pub cookie_key: u64,
    /// The initial sequence number; default: a random one (RFC 6528 asks for one that nobody can guess).
    pub initial_sequence: Option<u32>,
}

/// What the peer lets this side send (RFC 9293 section 3.10.7.4).
#[derive(Debug, Clone, Copy, Default)]
struct PeerWindow {
    /// The number behind the last byte that it takes.
    edge: u64,
    /// SND.WL1 and SND.WL2: the segment that told it.
    told_by: (u64, u64),
    /// The largest window that it ever told: MAX.SND.WND (RFC 5961 section 5.2).
    largest: u64,
    shift: u8,
}

/// The probes of a window of zero (RFC 9293 section 3.8.6.1).
#[derive(Debug, Clone, Copy, Default)]
struct Persist {
    at: Option<Time>,
    backoffs: u32,
    /// Probes since the peer was heard last.
    unanswered: u32,
    due: bool,
    /// A byte beyond SND.NXT has left.
    sent: bool,
}

/// A reset that is to be sent, with numbers as they stand in the header.
#[derive(Debug, Clone, Copy)]
struct Reset {
    remote: SocketAddr,
    sequence: u32,
    acknowledgement: Option<u32>,
    /// RFC 7323 section 5.2: it has them where the connection has, or where what it answers had.
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
    agreed: Agreed,
    syn: Syn,
    fast_open: FastOpenState,
    cookie_key: u64,
    clock: Clock,
    recent: Recent,
    last_ack_sent: u64,
    recovery: Recovery,
    outgoing: Outgoing,
    /// TLS between the application and the stream.
    tls: Option<Box<Records>>,
    /// The application has finished.
    fin_wanted: bool,
    fin_sent: bool,
    incoming: Reassembly,
    /// The number of the peer's FIN, once it is known.
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
    told_readable: bool,
    end_was_read: bool,
    /// A write was refused or cut short.
    write_blocked: bool,
    /// How many bytes may wait to be sent before a write is refused.
    unsent_limit: u64,
    close_reason: Option<CloseReason>,
    /// The application has closed: what comes from now on is answered with a reset.
    closed: bool,
    log: Log,
    traced_state: &'static str,
    stats: Stats,
    /// When something came or was due last.
    now: Time,
}

impl Connection {
    fn new(setup: Setup, side: Side, remote: Option<SocketAddr>, state: State) -> Option<Connection> {
        let Setup { local, config, mut random, interest, tls, cookie_key, initial_sequence } = setup;
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
            agreed: Agreed::unknown(&config),
            syn: Syn::default(),
            fast_open: FastOpenState::default(),
            cookie_key,
            clock,
            recent: Recent::default(),
            last_ack_sent: 0,
            recovery: Recovery::new(&config, clock, random.bits())?,
            outgoing: Outgoing::default(),
            tls: config.tls.then(|| Box::new(Records::new(side, tls))),
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
            told_readable: false,
            end_was_read: false,
            write_blocked: false,
            unsent_limit: u64::MAX,
            close_reason: None,
            closed: false,
            log: Log::new(interest),
            traced_state: "",
            stats: Stats::default(),
            now: Time::ZERO,
            config,
        })
    }

    /// The end that opens a connection, to this address: its SYN is the first thing to transmit (RFC 9293 section
    /// 3.10.1). `None` without a controller of the name in the options.
    pub fn connect(now: Time, setup: Setup, remote: SocketAddr) -> Option<Connection> {
        let mut connection = Connection::new(setup, Side::Client, Some(remote), State::SynSent)?;
        connection.syn.due = true;
        connection.trace_start(now);
        connection.offer_fast_open();
        Some(connection)
    }

    /// The end that waits for one (RFC 9293 section 3.10.1). `None` without a controller of the name in the options.
    pub fn listen(setup: Setup) -> Option<Connection> {
        Connection::new(setup, Side::Server, None, State::Listen)
    }

    /// Which end it is: who opens is the client.
    pub fn side(&self) -> Side {
        self.side
    }
    /// How far it is.
    pub fn state(&self) -> State {
        self.state
    }
    /// Whether it is over but for answers to stragglers.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Closed | State::TimeWait)
    }
    /// Why it ended, if it did.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.close_reason.as_ref()
    }
    /// What was counted.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    /// The congestion window, and the bytes in flight.
    pub fn flight(&self) -> (u64, u64) {
        (self.recovery.window(), self.recovery.in_flight())
    }
    /// The smoothed RTT; before the first sample what `initial_rtt` assumes.
    pub fn smoothed_rtt(&self) -> units::Duration {
        self.recovery.rtt.smoothed()
    }
    /// The bytes that a full-sized segment carries.
    pub fn segment_size(&self) -> u64 {
        u64::from(self.agreed.mss)
    }
    /// What happened.
    pub fn log(&mut self) -> &mut Log {
        &mut self.log
    }
    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        if self.events.is_empty() && self.is_over() && self.end_was_read && self.close_reason.is_none() {
            // Both directions have ended and the application knows; it had the first word.
            self.finish(self.now, CloseReason::Finished);
        }
        self.events.pop_front()
    }

    /// RCV.NXT: the peer's FIN counts.
    #[inline]
    fn rcv_nxt(&self) -> u64 {
        let next = self.incoming.next();
        next + u64::from(self.peer_fin == Some(next))
    }
    /// Bytes that wait for the application.
    #[inline]
    fn unread(&self) -> u64 {
        self.tls.as_ref().map_or(self.incoming.ready_bytes(), |tls| tls.ready.len())
    }
    /// Whether all of the peer's data, and its end, have come.
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
            // Nobody is left to wait for the peer's end; stacks of today give it as long as TIME-WAIT.
            State::FinWait2 if self.closed => self.time_wait_until = Some(now + self.config.time_wait),
            State::Closed => {
                self.time_wait_until = None;
                // What was owed to the peer goes with the last segment or not at all.
                self.acks.no_timer();
            }
            _ => {}
        }
    }

    /// The connection is over, for this reason unless there was one before.
    fn finish(&mut self, now: Time, reason: CloseReason) {
        if self.close_reason.is_some() {
            return;
        }
        self.trace_closed(now, &reason);
        self.close_reason = Some(reason);
        self.events.push_back(Event::Ended);
    }

    /// The connection ends at once, whatever is underway.
    fn abort(&mut self, now: Time, reason: CloseReason) {
        self.finish(now, reason);
        self.recovery.stop();
        self.syn = Syn::default();
        self.persist = Persist::default();
        self.paced_until = None;
        self.acks.on_sent();
        self.set_state(now, State::Closed);
    }

    fn tell_readable(&mut self) {
        let there = self.unread() > 0 || self.peer_is_done() && !self.end_was_read;
        if there && !self.told_readable && !self.closed {
            self.told_readable = true;
            self.events.push_back(Event::Readable);
        }
    }

    fn sample_rtt(&mut self, sample: Option<Duration>) {
        if let Some(sample) = sample {
            self.stats.rtt.add(sample);
        }
    }
}
