//! The paths of a connection: the one in use with all that is known of it, and those that may come into use
//! (RFC 9000 sections 8, 9 and 14).
//!
//! [`Paths`] hears what arrives, what was asked for and what time it is. What is to be done about it outside, an event for
//! the application say, it leaves as a [`PathOutput`], for the connection to take.

mod arrivals;
mod duties;
mod ecn;
mod migration;
mod moves;
mod mtu;
mod route;
mod signals;
mod unused;
mod validation;

pub(crate) use arrivals::is_probing;
pub(crate) use duties::Over;
pub(crate) use ecn::{EcnPath, Mark, Report as EcnReport};
pub(crate) use migration::Preferred;
pub use migration::{MigrateError, Migration};
pub(crate) use moves::Situation;
pub(crate) use mtu::MtuSearch;
pub(crate) use route::{AMPLIFICATION, LEAST_ROOM, Route, same_local};
pub(crate) use signals::AckBatch;
pub(crate) use unused::{Arrival, MAX_RESPONSES, Role, UnusedPath, UnusedPaths};
pub(crate) use validation::{Answer, Validation, Verdict};

pub use crate::config::MIN_PAYLOAD;

use crate::config::Config;
use crate::error::TransportError;
use crate::event::Event;
use crate::ids::RemoteIds;
use crate::recovery::Recovery;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::event::{EcnState, MigrationState};
use units::{Duration, Histogram, Time};
use wire::{Ack, PreferredAddress, Side, TransportParameters};

/// How the peer acknowledges: what its transport parameters say, and what it was asked for later.
#[derive(Debug, Clone, Copy)]
struct PeerAcks {
    max_delay: Duration,
    /// ack_delay_exponent (RFC 9000 section 18.2).
    exponent: u64,
    /// Whether it keeps to the maximum: from the confirmation of the handshake on (RFC 9002 section 5.3).
    bound: bool,
}

/// The path in use: its route, what is in flight on it, and what the acknowledgements tell of it. Nothing of this is kept
/// elsewhere, so that a connection could have two of them.
pub(crate) struct Path {
    pub(crate) route: Route,
    /// RTT, window, pacer, bytes in flight.
    pub(crate) recovery: Recovery,
    /// When the pacer lets the next packet go.
    pub(crate) paced_until: Option<Time>,
    peer_acks: PeerAcks,
}

impl Path {
    /// The path of the handshake.
    pub(crate) fn new(route: Route, recovery: Recovery) -> Path {
        let peer_acks = PeerAcks { max_delay: Duration::ZERO, exponent: 3, bound: false };
        Path { route, recovery, paced_until: None, peer_acks }
    }

    /// The longest that the peer may take to acknowledge.
    #[inline]
    pub(crate) fn max_ack_delay(&self) -> Duration {
        self.peer_acks.max_delay
    }
    /// The probe timeout (RFC 9002 section 6.2.1).
    #[inline]
    pub(crate) fn probe_timeout(&self) -> Duration {
        self.recovery.rtt.pto() + self.peer_acks.max_delay
    }
    /// How long the peer says that it waited with an ACK frame of 1-RTT packets (RFC 9002 section 5.3).
    #[inline]
    pub(crate) fn ack_delay(&self, ack: &Ack<'_>) -> Duration {
        let delay = Duration::from_micros(ack.delay().saturating_mul(1 << self.peer_acks.exponent));
        if self.peer_acks.bound { delay.min(self.peer_acks.max_delay) } else { delay }
    }
    /// Whether the pacer, asked now, lets a packet go. If not, it is noted when it will.
    #[inline]
    pub(crate) fn is_paced(&mut self, now: Time) -> bool {
        let until = self.recovery.paced_until(now);
        if until.is_some() {
            self.paced_until = until;
        }
        until.is_none()
    }
    /// Whether behind a packet of this size the window has no room for a full one, so that the sender waits until an
    /// acknowledgement comes.
    pub(crate) fn fills_window(&self, size: u64) -> bool {
        !self.recovery.admits(size + self.route.payload() as u64)
    }
}

/// What paths count over the time of a connection.
#[derive(Debug, Default)]
pub(crate) struct PathStats {
    pub(crate) packets_lost: u64,
    pub(crate) packets_spuriously_lost: u64,
    pub(crate) probe_timeouts: u64,
    /// The RTT samples.
    pub(crate) rtt: Histogram,
    pub(crate) ect_packets_sent: u64,
    pub(crate) ce_packets_reported: u64,
    pub(crate) ecn_failures: u64,
    pub(crate) mtu_probes_sent: u64,
    pub(crate) mtu_probes_lost: u64,
    pub(crate) mtu_black_holes: u64,
    pub(crate) changes: u64,
    pub(crate) validations_failed: u64,
    pub(crate) challenges_sent: u64,
}

/// What is to be done outside because of something that a path heard, in this order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PathOutput {
    /// The application is told.
    Event(Event),
    /// How far a move is, between these addresses here and there.
    Migration(MigrationState, SocketAddr, SocketAddr),
    /// The validation of ECN has come to this.
    Ecn(EcnState),
    /// The size of datagrams, before and from now on, and whether the search for a larger one is over.
    Mtu { old: u16, new: u16, done: bool },
    /// Window and RTT are those of another path.
    Metrics,
    /// The peer is told that the id of this number is not used any more.
    Retire(u64),
    /// The connection is closed with this error.
    Fail(TransportError),
    /// There is no path to the peer any more: the connection ends without a word.
    NoPath,
}

/// The paths of a connection.
pub(crate) struct Paths {
    /// The path in use.
    pub(crate) current: Path,
    /// The peer's ids, which packets go to.
    pub(crate) ids: RemoteIds,
    unused: UnusedPaths,
    /// Answers to challenges that came on the path in use.
    responses: VecDeque<[u8; 8]>,
    config: Arc<Config>,
    side: Side,
    /// The addresses of the handshake: here and there.
    first: (SocketAddr, SocketAddr),
    /// At a server: whether it has given out another address.
    is_moveable: bool,
    /// Whether the handshake is confirmed.
    confirmed: bool,
    /// Whether the peer does not want this side to move.
    moves_disabled: bool,
    /// Where the peer would rather have packets sent to.
    preferred: Option<PreferredAddress>,
    /// How many recoveries there were before the one of the path in use.
    epochs: u32,
    /// What the data of challenges and the draws of controllers follow from.
    seed: u64,
    pub(crate) stats: PathStats,
    outputs: Vec<PathOutput>,
}

impl Paths {
    /// The path of the handshake and no other. `is_moveable`: a server has told of an address that it prefers.
    pub(crate) fn new(
        side: Side,
        current: Path,
        ids: RemoteIds,
        config: Arc<Config>,
        (seed, is_moveable): (u64, bool),
    ) -> Paths {
        Paths {
            first: (current.route.local, current.route.remote),
            current,
            ids,
            unused: UnusedPaths::default(),
            responses: VecDeque::new(),
            config,
            side,
            is_moveable,
            confirmed: false,
            moves_disabled: false,
            preferred: None,
            epochs: 0,
            seed,
            stats: PathStats::default(),
            outputs: Vec::new(),
        }
    }

    /// The peer's transport parameters have come.
    pub(crate) fn on_peer_parameters(&mut self, peer: &TransportParameters) {
        self.current.peer_acks.max_delay = Duration::from_millis(peer.max_ack_delay_ms);
        self.current.peer_acks.exponent = peer.ack_delay_exponent;
        self.current.route.limit_payload(peer.max_udp_payload_size);
        self.moves_disabled = peer.disable_active_migration;
        self.preferred = peer.preferred_address;
        if let Some(preferred) = peer.preferred_address {
            self.ids.add_preferred(preferred.id, preferred.token);
        }
        if let Some(token) = peer.stateless_reset_token {
            self.ids.set_first_token(token);
        }
    }
    /// The peer may take so long to acknowledge, because it was asked to. When it begins to is not known, so that a shorter
    /// delay is not counted on.
    pub(crate) fn allow_ack_delay(&mut self, delay: Duration) {
        let known = &mut self.current.peer_acks.max_delay;
        *known = delay.max(*known);
    }
    /// The handshake is confirmed: a client turns to the address that the server prefers.
    pub(crate) fn on_confirmed(&mut self, now: Time) {
        self.confirmed = true;
        self.current.peer_acks.bound = true;
        self.try_preferred(now);
    }
    /// All that was sent is sent again, with a fresh state of recovery, whose RTT is this where it is known (RFC 9002
    /// section 6.3).
    pub(crate) fn begin_again(&mut self, now: Time, rtt: Option<Duration>) {
        if let Some(recovery) = Recovery::fresh(&self.config, rtt, self.seed) {
            self.current.recovery = recovery;
        }
        self.current.recovery.probe_base = now;
        self.current.paced_until = None;
    }

    /// Whether something is to be done outside.
    #[inline]
    pub(crate) fn has_outputs(&self) -> bool {
        !self.outputs.is_empty()
    }
    /// What is to be done outside, since the last call.
    pub(crate) fn take_outputs(&mut self) -> Vec<PathOutput> {
        std::mem::take(&mut self.outputs)
    }
    /// Asks for what the next packet needs that lies elsewhere.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.current.recovery.prefetch();
        self.stats.rtt.prefetch(self.current.recovery.rtt.latest());
    }
}
