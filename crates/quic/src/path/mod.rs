//! The paths of a connection: the one in use with its complete state, and candidates (RFC 9000 sections 8, 9 and 14).
//!
//! The inputs of [`Paths`] are arrivals, requests and the time. Actions for the connection, such as an event for the
//! application, are its outputs: a queue of [`PathOutput`].

mod arrivals;
mod duties;
mod ecn;
mod learning;
mod migration;
mod moves;
mod mtu;
mod route;
mod signals;
mod unused;
mod validation;

pub(crate) use arrivals::is_probing;
pub(crate) use duties::PathChoice;
pub(crate) use ecn::{EcnPath, Mark, Report as EcnFeedback};
pub(crate) use learning::KnownPaths;
pub(crate) use migration::Preferred;
pub use migration::{MigrateError, Migration};
pub(crate) use moves::PathContext;
pub(crate) use mtu::MtuSearch;
pub(crate) use route::{AMPLIFICATION, MIN_ROOM, Route, same_local};
pub(crate) use signals::AckBatch;
pub(crate) use unused::{Arrival, MAX_RESPONSES, Role, UnusedPath, UnusedPaths};
pub(crate) use validation::{ChallengeResponse, Validation, ValidationState};

pub use crate::config::MIN_PAYLOAD;

use crate::config::Config;
use crate::error::TransportError;
use crate::event::Event;
use crate::ids::RemoteIds;
use crate::recovery::Recovery;
use crate::space::Space;
use congestion::{Capacity, Learned};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use trace::event::{EcnState, MigrationState, ResumePhase};
use units::{Duration, Histogram, Time};
use wire::{Ack, PreferredAddress, Side, TransportParameters};

/// How the peer acknowledges, according to its transport parameters and later requests.
#[derive(Debug, Clone, Copy)]
struct PeerAcks {
    max_delay: Duration,
    /// ack_delay_exponent (RFC 9000 section 18.2).
    exponent: u64,
    /// Whether it respects the maximum delay: after the handshake is confirmed (RFC 9002 section 5.3).
    bound: bool,
}

/// The path in use: its route, the packets in flight, and the estimates from acknowledgements. This is the complete
/// state of a path, so that a connection could have two of them.
pub(crate) struct Path {
    pub(crate) route: Route,
    /// RTT, window, pacer, bytes in flight.
    pub(crate) recovery: Recovery,
    /// The time at which the pacer releases the next packet.
    pub(crate) paced_until: Option<Time>,
    peer_acks: PeerAcks,
    /// What is learned of its capacity, if the options ask for it.
    pub(crate) capacity: Option<Box<Capacity>>,
}

impl Path {
    /// The path of the handshake.
    pub(crate) fn new(route: Route, recovery: Recovery) -> Path {
        let peer_acks = PeerAcks { max_delay: Duration::ZERO, exponent: 3, bound: false };
        Path { route, recovery, paced_until: None, peer_acks, capacity: None }
    }

    /// The peer's maximum acknowledgement delay.
    #[inline]
    pub(crate) fn max_ack_delay(&self) -> Duration {
        self.peer_acks.max_delay
    }
    /// The probe timeout (RFC 9002 section 6.2.1).
    #[inline]
    pub(crate) fn probe_timeout(&self) -> Duration {
        self.recovery.rtt.pto() + self.peer_acks.max_delay
    }
    /// The delay that the peer reports in an ACK frame for 1-RTT packets (RFC 9002 section 5.3).
    #[inline]
    pub(crate) fn ack_delay(&self, ack: &Ack<'_>) -> Duration {
        let delay = Duration::from_micros(ack.delay().saturating_mul(1 << self.peer_acks.exponent));
        if self.peer_acks.bound { delay.min(self.peer_acks.max_delay) } else { delay }
    }
    /// Whether the pacer releases a packet now. If not, records the time at which it will.
    #[inline]
    pub(crate) fn is_paced(&mut self, now: Time) -> bool {
        let until = self.recovery.paced_until(now);
        if until.is_some() {
            self.paced_until = until;
        }
        until.is_none()
    }
    /// Whether a packet of this size leaves no window for a full one, so that the sender must wait for an
    /// acknowledgement.
    pub(crate) fn fills_window(&self, size: u64) -> bool {
        !self.recovery.admits(size + self.route.payload() as u64)
    }
}

/// The counters of all paths of a connection.
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
    pub(crate) capacities_accepted: u64,
    pub(crate) capacities_refused: u64,
}

/// An action for the connection to carry out, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PathOutput {
    /// Report an event to the application.
    Event(Event),
    /// Trace the state of a migration between these local and remote addresses.
    Migration(MigrationState, SocketAddr, SocketAddr),
    /// Trace the state of ECN validation.
    Ecn(EcnState),
    /// Trace the maximum datagram size, old and new, and whether the search is done.
    Mtu { old: u16, new: u16, done: bool },
    /// Trace what became of a saved capacity that was presented by this carrier.
    SavedPath { carrier: &'static str, result: &'static str },
    /// Pass an observed capacity on to the client.
    Learned(Learned),
    /// Trace a change of the phase of Careful Resume.
    ResumePhase(Box<ResumePhase>),
    /// Trace window and RTT, which now belong to another path.
    Metrics,
    /// Retire the peer's id with this sequence number.
    Retire(u64),
    /// Close the connection with this error.
    Fail(TransportError),
    /// End the connection silently, because no path to the peer is left.
    NoPath,
}

/// The paths of a connection.
pub(crate) struct Paths {
    /// The path in use.
    pub(crate) current: Path,
    /// The peer's ids.
    pub(crate) ids: RemoteIds,
    unused: UnusedPaths,
    /// Pending responses to challenges received on the path in use.
    responses: VecDeque<[u8; 8]>,
    config: Arc<Config>,
    side: Side,
    /// The addresses of the handshake: local and remote.
    first: (SocketAddr, SocketAddr),
    /// At a server: whether it has sent a preferred address.
    has_preferred_address: bool,
    /// Whether the handshake is confirmed.
    confirmed: bool,
    /// Whether the peer has sent disable_active_migration.
    migration_disabled: bool,
    /// The server's preferred address.
    preferred: Option<PreferredAddress>,
    /// The number of recoveries created so far, beside the first.
    epochs: u32,
    /// The seed for the data of challenges and for controllers.
    seed: u64,
    pub(crate) stats: PathStats,
    outputs: Vec<PathOutput>,
}

impl Paths {
    /// Only the path of the handshake. `is_moveable`: the server has sent a preferred address.
    pub(crate) fn new(
        side: Side,
        current: Path,
        ids: RemoteIds,
        config: Arc<Config>,
        seed: u64,
        has_preferred_address: bool,
    ) -> Paths {
        Paths {
            first: (current.route.local, current.route.remote),
            current,
            ids,
            unused: UnusedPaths::default(),
            responses: VecDeque::new(),
            config,
            side,
            has_preferred_address,
            confirmed: false,
            migration_disabled: false,
            preferred: None,
            epochs: 0,
            seed,
            stats: PathStats::default(),
            outputs: Vec::new(),
        }
    }

    /// Applies the peer's transport parameters.
    pub(crate) fn on_peer_parameters(&mut self, peer: &TransportParameters) {
        self.current.peer_acks.max_delay = Duration::from_millis(peer.max_ack_delay_ms);
        self.current.peer_acks.exponent = peer.ack_delay_exponent;
        self.current.route.limit_payload(peer.max_udp_payload_size);
        self.migration_disabled = peer.disable_active_migration;
        self.preferred = peer.preferred_address;
        if let Some(preferred) = peer.preferred_address {
            self.ids.add_preferred(preferred.id, preferred.token);
        }
        if let Some(token) = peer.stateless_reset_token {
            self.ids.set_first_token(token);
        }
    }
    /// Raises the peer's maximum acknowledgement delay after a request. The delay is never lowered, because the time
    /// at which the peer applies the request is unknown.
    pub(crate) fn allow_ack_delay(&mut self, delay: Duration) {
        let known = &mut self.current.peer_acks.max_delay;
        *known = delay.max(*known);
    }
    /// Notes that the handshake is confirmed; a client then tries the server's preferred address.
    pub(crate) fn on_confirmed(&mut self, now: Time) {
        self.confirmed = true;
        self.current.peer_acks.bound = true;
        self.try_preferred(now);
    }
    /// Resets recovery, with this initial RTT if known (RFC 9002 section 6.3).
    pub(crate) fn restart(&mut self, now: Time, rtt: Option<Duration>) {
        self.current.recovery = Recovery::fresh(&self.config, rtt, self.seed);
        if let Some(capacity) = &mut self.current.capacity {
            capacity.on_restart(self.current.recovery.regulator());
        }
        self.current.recovery.probe_base = now;
        self.current.paced_until = None;
    }

    /// Stops if the paths contradict each other, or the packets in flight.
    pub(crate) fn check<'a>(&self, spaces: impl Iterator<Item = &'a Space>) {
        self.current.route.check();
        self.current.recovery.check(spaces);
        self.ids.check();
        self.unused.check();
        assert!(
            self.current.recovery.epoch <= self.epochs,
            "the estimates in use are among those that were begun"
        );
        assert!(self.outputs.is_empty(), "what paths ask for is carried out in the same step");
        for known in self.unused.iter() {
            assert!(
                self.ids.holds(known.id.sequence),
                "a path whose ID is retired gets another one or is dropped"
            );
        }
    }

    /// The round-trip time that is assumed before the first sample.
    pub(crate) fn initial_rtt(&self) -> Duration {
        self.config.initial_rtt
    }

    /// Whether there are outputs.
    #[inline]
    pub(crate) fn has_outputs(&self) -> bool {
        !self.outputs.is_empty()
    }
    /// Takes the outputs since the last call.
    pub(crate) fn take_outputs(&mut self) -> Vec<PathOutput> {
        std::mem::take(&mut self.outputs)
    }
    /// Prefetches what the next packet needs.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.current.recovery.prefetch();
        self.stats.rtt.prefetch(self.current.recovery.rtt.latest());
    }
}
