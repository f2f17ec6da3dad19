//! The choice of the path: migration, fallback, and the connection ids of paths (RFC 9000 sections 5.1 and 9).

use super::{
    MigrateError, Migration, Path, PathOutput, Paths, Role, Route, UnusedPath, Validation, ValidationState,
};
use crate::error::TransportError;
use crate::event::Event;
use crate::ids::{LocalIds, NumberedId};
use crate::recovery::Recovery;
use crate::space::Space;
use std::net::SocketAddr;
use trace::event::MigrationState;
use units::{Duration, Time};
use wire::{Code, ConnectionId, Side};

/// The maximum number of doublings of the validation timeout after successive failures.
const MAX_DOUBLINGS: u32 = 8;

/// The parts of a connection that its paths need for an input.
pub(crate) struct PathContext<'a> {
    pub(crate) now: Time,
    /// Whether the connection is neither closing nor closed.
    pub(crate) open: bool,
    /// The space of 1-RTT packets, each of which counts for one path.
    pub(crate) space: &'a mut Space,
    /// The ids issued to the peer.
    pub(crate) local_ids: &'a LocalIds,
}

impl Paths {
    // ---- calls of the application ----

    /// See [`Connection::migrate`](crate::Connection::migrate).
    pub(crate) fn migrate(
        &mut self,
        at: &mut PathContext<'_>,
        local: SocketAddr,
        how: Migration,
    ) -> Result<(), MigrateError> {
        let now = at.now;
        if self.side == Side::Server {
            return Err(MigrateError::NotAClient);
        }
        if !at.open {
            return Err(MigrateError::Closed);
        }
        if how == Migration::Silent {
            self.current.route.local = local;
            return Ok(());
        }
        // RFC 9000-9-1: "MUST NOT initiate connection migration before the handshake is confirmed".
        if !self.confirmed {
            return Err(MigrateError::NotConfirmed);
        }
        // RFC 9000-9-2, 9000-18.2-2: not "from a different local address to the address the peer used during
        // the handshake".
        if self.migration_disabled && self.current.route.remote == self.first.1 {
            return Err(MigrateError::Disabled);
        }
        if self.current.route.local == local {
            return Err(MigrateError::SameAddress);
        }
        self.drop_candidates();
        // RFC 9000-9.5-1: not "when sending from more than one local address".
        let Some(id) = self.ids.take_unused() else { return Err(MigrateError::NoConnectionId) };
        let remote = self.current.route.remote;
        let index = self.try_path(now, local, remote, id);
        if how != Migration::Probe {
            self.move_to(at, index);
            if how == Migration::Rebound
                && let Some(old) = self.unused.find_role(Role::Fallback)
            {
                let gone = self.unused.remove(old);
                self.retire_id_of(&gone);
            }
        }
        Ok(())
    }

    /// Starts validating a path to which a client migrates on success; returns its index.
    fn try_path(&mut self, now: Time, local: SocketAddr, remote: SocketAddr, id: NumberedId) -> usize {
        let mut route = self.current.route.for_addresses(local, remote, true);
        route.addressed_to = self.current.route.addressed_to;
        route.validation = Some(Box::new(Validation::new(now, self.validation_timeout())));
        self.note_state(MigrationState::ProbingStarted, local, remote);
        self.add_unused(UnusedPath::new(route, id, Role::Candidate { moves: true }, Time::NEVER))
    }

    /// Starts the migration of a client to the server's preferred address (RFC 9000 section 9.6), once the handshake
    /// is confirmed.
    pub(super) fn try_preferred(&mut self, now: Time) {
        if self.side == Side::Server || !self.config.use_preferred_address {
            return;
        }
        let Some(preferred) = self.preferred else { return };
        let remote = match self.current.route.remote {
            SocketAddr::V4(_) => preferred.ipv4.map(SocketAddr::V4),
            SocketAddr::V6(_) => preferred.ipv6.map(SocketAddr::V6),
        };
        if let Some(remote) = remote.filter(|remote| *remote != self.current.route.remote)
            && let Some(id) = self.ids.take_unused()
        {
            // RFC 9000-9.6.2-1: "MUST validate the address it chooses before migrating".
            self.try_path(now, self.current.route.local, remote, id);
        }
    }

    /// Notes that the peer has retired one of this endpoint's ids: it has left the path of that id, which needs no
    /// validation any more.
    pub(crate) fn on_own_id_retired(&mut self, id: &ConnectionId) {
        for other in self.unused.iter_mut().filter(|other| other.route.addressed_to == *id) {
            other.route.validation = None;
        }
        self.drop_unneeded();
    }

    // ---- migration ----

    /// Makes the path with this index the one in use.
    pub(super) fn move_to(&mut self, at: &mut PathContext<'_>, index: usize) {
        let (now, space) = (at.now, &mut *at.space);
        let next = self.unused.remove(index);
        let port_only = self.current.route.differs_in_port_only(&next.route);
        let old_id = self.ids.current_numbered();
        self.ids.select(next.id);
        let left = std::mem::replace(&mut self.current.route, next.route);
        let mut old = UnusedPath::new(left, old_id, Role::Fallback, Time::NEVER);
        old.responses = std::mem::replace(&mut self.responses, next.responses);
        // RFC 9000-9.4-2: "immediately reset the congestion controller and round-trip time estimator", "unless
        // the only change in the peer's address is its port number". A path that was in use before has its own
        // estimates.
        let taken_up = next.recovery.map(|mut known| {
            known.bytes_in_flight = space.sent.in_flight_of(known.epoch);
            known.pto_count = 0;
            *known
        });
        let recovery = match taken_up {
            None if port_only => None,
            None => Some(self.fresh_recovery()),
            known => known,
        };
        if let Some(recovery) = recovery {
            let before = std::mem::replace(&mut self.current.recovery, recovery);
            space.sent.epoch = self.current.recovery.epoch;
            self.keep_recovery(&mut old, before);
            let Path { capacity, route, recovery, .. } = &mut self.current;
            if let Some(capacity) = capacity {
                capacity.on_new_path(route.remote.ip(), recovery.regulator());
            }
        }
        let current = &mut self.current;
        current.route.since = space.sent.next_number();
        if let Some(search) = &mut current.route.mtu {
            search.resume();
            let size = u64::from(search.current());
            current.recovery.set_datagram_size(now, size);
        }
        current.paced_until = None;
        current.recovery.probe_base = now;
        space.loss_time = None;
        if self.side == Side::Client {
            // RFC 9000 section 9.2: a non-probing packet migrates the server.
            space.ping = true;
        }
        if !self.current.route.is_fully_validated() && self.current.route.validation.is_none() {
            // RFC 9000-9-4, 9000-9.3-1: "if it detects any change to a peer's address".
            self.current.route.validation = Some(Box::new(Validation::new(now, self.validation_timeout())));
        }
        self.leave(at, old);
        self.stats.changes += 1;
        let (local, remote) = (self.current.route.local, self.current.route.remote);
        self.outputs.push(PathOutput::Event(Event::Migrated { local, remote }));
        self.note_state(MigrationState::MigrationStarted, local, remote);
        if self.current.route.is_fully_validated() {
            self.note_state(MigrationState::MigrationComplete, local, remote);
        }
        self.outputs.push(PathOutput::Metrics);
    }

    /// Keeps the recovery state of the path that was left with that path, or with the fallback that shared it.
    fn keep_recovery(&mut self, old: &mut UnusedPath, recovery: Recovery) {
        if old.route.is_fully_validated() {
            old.recovery = Some(Box::new(recovery));
        } else if let Some(fallback) = self.unused.iter_mut().find(|known| known.role == Role::Fallback)
            && fallback.recovery.is_none()
        {
            fallback.recovery = Some(Box::new(recovery));
        }
    }

    /// Keeps or drops the path that was in use until now.
    fn leave(&mut self, at: &PathContext<'_>, mut old: UnusedPath) {
        let now = at.now;
        if !old.route.is_fully_validated() {
            // RFC 9000 section 9.3.2: another migration abandons an unfinished validation.
            return self.retire_id_of(&old);
        }
        let older = self.unused.find_role(Role::Fallback).map(|index| self.unused.remove(index));
        old.route.validation = None;
        match self.side {
            Side::Server if at.local_ids.owns(old.route.addressed_to.as_bytes()) => {
                // RFC 9000-9.3.3-1: "endpoints MUST validate the previously active path", unless the peer has
                // retired the id it used there.
                old.route.validation = Some(Box::new(Validation::new(now, self.validation_timeout())));
            }
            Side::Server => {}
            Side::Client => {
                if self.current.route.is_fully_validated() {
                    (old.role, old.until) = (Role::Leaving, now + self.linger(old.recovery.as_deref()));
                }
            }
        }
        self.add_unused(old);
        if let Some(older) = older {
            // After adding the other, because the two may share an id.
            self.retire_id_of(&older);
        }
    }

    /// Handles a failed validation of the path in use: returns to the last validated path.
    fn fall_back(&mut self, at: &mut PathContext<'_>) {
        let (local, remote) = (self.current.route.local, self.current.route.remote);
        self.stats.validations_failed += 1;
        self.unused.failures += 1;
        self.outputs.push(PathOutput::Event(Event::PathFailed { local, remote }));
        self.note_state(MigrationState::MigrationAbandoned, local, remote);
        self.current.route.validation = None;
        if let Some(index) = self.unused.find_role(Role::Fallback) {
            // RFC 9000-9.3.2-1. RFC 9000-14.2-1: also if the peer responds but the path does not carry 1200 bytes.
            return self.move_to(at, index);
        }
        match self.side {
            // RFC 9000 section 8.2.4: a client can wait until packets arrive again.
            Side::Client => {}
            Side::Server if self.current.route.is_validated() => {
                // RFC 9000-14.2-1, and section 8.2.4: "cannot support the smallest allowed maximum datagram
                // size of 1200 bytes"; see section 8.2.4.
                let reason = "the path does not carry 1200 bytes";
                let error = TransportError::new(Code::NO_VIABLE_PATH, reason);
                self.outputs.push(PathOutput::Fail(error));
            }
            // RFC 9000-9.3.2-2: "silently by discarding all connection state".
            Side::Server => self.outputs.push(PathOutput::NoPath),
        }
    }

    fn fresh_recovery(&mut self) -> Recovery {
        let seed = self.seed.wrapping_add(1 + u64::from(self.epochs));
        let mut recovery = Recovery::fresh(&self.config, None, seed);
        self.epochs += 1;
        recovery.epoch = self.epochs;
        recovery
    }

    // ---- results of validation ----

    /// Handles the successful validation of the path in use.
    pub(super) fn on_current_validated(&mut self, now: Time) {
        self.unused.failures = 0;
        let (local, remote) = (self.current.route.local, self.current.route.remote);
        self.note_state(MigrationState::MigrationComplete, local, remote);
        if self.side == Side::Client
            && let Some(index) = self.unused.find_role(Role::Fallback)
        {
            let mut old = self.unused.remove(index);
            (old.role, old.until) = (Role::Leaving, now + self.linger(old.recovery.as_deref()));
            self.add_unused(old);
        }
        self.drop_unneeded();
    }

    /// Handles the successful validation of another path. If that path is now in use, returns the round-trip time of
    /// the response as its initial RTT.
    pub(super) fn on_unused_validated(
        &mut self,
        at: &mut PathContext<'_>,
        index: usize,
        round_trip: Duration,
    ) -> Option<Duration> {
        let other = self.unused.at(index);
        let (role, local, remote) = (other.role, other.route.local, other.route.remote);
        self.unused.failures = 0;
        let mut guess = None;
        if let Role::Candidate { moves } = role {
            self.note_state(MigrationState::ProbingSuccessful, local, remote);
            if moves {
                self.move_to(at, index);
                guess = Some(round_trip);
            }
        }
        self.drop_unneeded();
        guess
    }

    /// Drops the fallback once the path in use is validated and the validation of the fallback itself has ended (RFC
    /// 9000 section 9.3.3).
    fn drop_unneeded(&mut self) {
        if self.current.route.is_fully_validated()
            && let Some(gone) = self
                .unused
                .remove_unless(|known| known.role != Role::Fallback || known.route.validation.is_some())
        {
            self.retire_id_of(&gone);
        }
    }

    /// Handles the timers of the paths.
    #[cold]
    pub(crate) fn on_time(&mut self, at: &mut PathContext<'_>) {
        let now = at.now;
        let ended = |route: &mut Route| {
            let failed =
                route.validation.as_deref_mut().is_some_and(|v| v.on_time(now) == ValidationState::Failed);
            failed.then(|| route.validation = None).is_some()
        };
        for other in self.unused.iter_mut() {
            if ended(&mut other.route) && other.role != Role::Fallback {
                other.until = now;
            }
        }
        while let Some(gone) = self.unused.remove_unless(|other| other.until > now) {
            if matches!(gone.role, Role::Candidate { .. }) && !gone.route.is_fully_validated() {
                let (local, remote) = (gone.route.local, gone.route.remote);
                // RFC 9000-9.6.1-1: "MUST continue sending all future packets to the server's original IP
                // address".
                self.note_state(MigrationState::ProbingAbandoned, local, remote);
                self.unused.failures += 1;
                if self.side == Side::Client {
                    self.stats.validations_failed += 1;
                    self.outputs.push(PathOutput::Event(Event::PathFailed { local, remote }));
                }
            }
            self.retire_id_of(&gone);
        }
        if ended(&mut self.current.route) && !self.current.route.is_fully_validated() {
            self.fall_back(at);
        }
        self.drop_unneeded();
    }

    // ---- ids ----

    /// Handles NEW_CONNECTION_ID (RFC 9000 section 19.15). Paths whose ids it retires switch to other ids, or are
    /// dropped.
    #[cold]
    pub(crate) fn on_new_id(&mut self, new: NumberedId, retire_prior_to: u64) -> Result<(), TransportError> {
        let before = self.ids.current_numbered().sequence;
        let outputs = &mut self.outputs;
        self.ids.on_new(new, retire_prior_to, |sequence| outputs.push(PathOutput::Retire(sequence)))?;
        let ids = &mut self.ids;
        for other in self.unused.iter_mut() {
            if !ids.holds(other.id.sequence) {
                let shared = other.id.sequence == before;
                let renewed = if shared { Some(ids.current_numbered()) } else { ids.take_unused() };
                // Without another ID the path keeps the retired one, and is dropped below.
                other.id = renewed.unwrap_or(other.id);
            }
        }
        while let Some(gone) = self.unused.remove_unless(|other| self.ids.holds(other.id.sequence)) {
            self.retire_id_of(&gone);
        }
        Ok(())
    }

    /// Whether a datagram from this address that ends in this token is a stateless reset.
    pub(crate) fn is_reset_by(&self, remote: SocketAddr, token: [u8; 16]) -> bool {
        // RFC 9000 section 10.3.1: the tokens of ids in use are valid, each for its remote address.
        let current = self.current.route.remote == remote && self.ids.current_numbered().has_token(token);
        current || self.unused.iter().any(|known| known.route.remote == remote && known.id.has_token(token))
    }

    pub(super) fn add_unused(&mut self, path: UnusedPath) -> usize {
        let (index, gone) = self.unused.add(path);
        if let Some(gone) = gone {
            self.retire_id_of(&gone);
        }
        index
    }

    fn drop_candidates(&mut self) {
        let keep = |known: &UnusedPath| !matches!(known.role, Role::Candidate { .. });
        while let Some(gone) = self.unused.remove_unless(keep) {
            self.retire_id_of(&gone);
        }
    }

    /// Retires the id of a removed path, unless another path shares it (RFC 9000 section 5.1.2).
    pub(super) fn retire_id_of(&mut self, gone: &UnusedPath) {
        let sequence = gone.id.sequence;
        let shared = self.ids.current_numbered().sequence == sequence
            || self.unused.iter().any(|other| other.id.sequence == sequence);
        if shared {
            return;
        }
        let outputs = &mut self.outputs;
        if let Err(error) =
            self.ids.retire_id(sequence, |sequence| outputs.push(PathOutput::Retire(sequence)))
        {
            outputs.push(PathOutput::Fail(error));
        }
    }

    fn note_state(&mut self, state: MigrationState, local: SocketAddr, remote: SocketAddr) {
        self.outputs.push(PathOutput::Migration(state, local, remote));
    }

    // ---- times ----

    /// The validation timeout: the larger of the probe timeouts of the path in use and of a new path (RFC 9000
    /// section 8.2.4), and longer after failures.
    pub(super) fn validation_timeout(&self) -> Duration {
        let unknown = congestion::RttEstimate::new(self.config.initial_rtt);
        let expected = self.current.probe_timeout().max(unknown.pto() + self.current.max_ack_delay());
        // Doubled after each failure: otherwise two endpoints with too low an initial RTT would oscillate between two
        // working paths.
        expected * (1 << self.unused.failures.min(MAX_DOUBLINGS))
    }
    /// How long a client keeps the path that it left: the server's challenge arrives there within a round trip.
    fn linger(&self, left: Option<&Recovery>) -> Duration {
        left.unwrap_or(&self.current.recovery).rtt.pto() + self.current.max_ack_delay()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::ids::{IdMaker, RemoteIds};
    use crate::path::PathChoice;
    use random::Generator;
    use std::sync::Arc;

    const HERE: &str = "10.0.0.1:1";
    const ELSEWHERE: &str = "10.0.0.9:1";
    const SERVER: &str = "10.0.0.2:443";

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }
    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A client's paths once the handshake is confirmed, with one unused id of the server's.
    fn client() -> (Paths, Space, LocalIds) {
        let config = Arc::new(Config::default());
        let route = Route::new(Side::Client, address(HERE), address(SERVER), ConnectionId::EMPTY);
        let recovery = Recovery::fresh(&config, None, 1);
        let ids = RemoteIds::new(ConnectionId::new(&[1; 8]).unwrap(), 4);
        let mut paths = Paths::new(Side::Client, Path::new(route, recovery), ids, config, 1, false);
        paths.on_confirmed(at(0));
        let id = ConnectionId::new(&[2; 8]).unwrap();
        paths.on_new_id(NumberedId { sequence: 1, id, token: [0; 16] }, 0).unwrap();
        assert_eq!(paths.take_outputs(), []);
        let key = Arc::new(tls::EndpointKey::new(&[7; 32]));
        (paths, Space::new(), LocalIds::new(IdMaker { key, slot: 0 }, Generator::new(1, "ids")))
    }

    /// RFC 9000-9-1, 9000-9.3.2-1: tests paths without a connection, from the call to the fallback.
    #[test]
    fn a_client_returns_from_a_path_without_response() {
        let (mut paths, mut space, local_ids) = client();
        let mut now = at(10);
        let mut situation = PathContext { now, open: true, space: &mut space, local_ids: &local_ids };
        assert_eq!(
            paths.migrate(&mut situation, address(HERE), Migration::AtOnce),
            Err(MigrateError::SameAddress)
        );
        assert_eq!(paths.migrate(&mut situation, address(ELSEWHERE), Migration::AtOnce), Ok(()));
        assert!(situation.space.ping, "the server hears of it");
        let moved =
            |local| PathOutput::Event(Event::Migrated { local: address(local), remote: address(SERVER) });
        let state = |state, local| PathOutput::Migration(state, address(local), address(SERVER));
        let outputs = paths.take_outputs();
        assert_eq!(outputs[0], state(MigrationState::ProbingStarted, ELSEWHERE));
        assert_eq!(outputs[1], moved(ELSEWHERE));
        assert_eq!(outputs[2], state(MigrationState::MigrationStarted, ELSEWHERE));
        assert_eq!(paths.ids.current(), ConnectionId::new(&[2; 8]).unwrap(), "RFC 9000-9.5-1");
        let epoch = paths.current.recovery.epoch;
        assert_eq!((epoch, space.sent.epoch), (1, 1), "what is sent counts for the new path");

        let mut failed = Vec::new();
        for _ in 0..100 {
            let Some(due) = paths.deadline() else { break };
            now = now.max(due);
            let mut situation = PathContext { now, open: true, space: &mut space, local_ids: &local_ids };
            paths.on_time(&mut situation);
            failed.extend(paths.take_outputs());
            if failed.contains(&moved(HERE)) {
                break;
            }
            paths.on_validation_sent(now, PathChoice::Current, 1200, Some([9; 8]));
        }
        let first =
            PathOutput::Event(Event::PathFailed { local: address(ELSEWHERE), remote: address(SERVER) });
        assert_eq!(failed[0], first);
        assert!(failed.contains(&moved(HERE)) && failed.contains(&PathOutput::Retire(1)), "{failed:?}");
        assert_eq!((paths.current.recovery.epoch, space.sent.epoch), (0, 0), "with what it knew before");
    }

    #[test]
    fn a_migration_that_is_not_permitted_returns_the_reason() {
        let (mut paths, mut space, local_ids) = client();
        let mut tries = |paths: &mut Paths, open| {
            let mut situation = PathContext { now: at(1), open, space: &mut space, local_ids: &local_ids };
            paths.migrate(&mut situation, address(ELSEWHERE), Migration::Probe)
        };
        assert_eq!(tries(&mut paths, false), Err(MigrateError::Closed));
        assert_eq!(tries(&mut paths, true), Ok(()));
        assert_eq!(tries(&mut paths, true), Err(MigrateError::NoConnectionId));
        paths.migration_disabled = true;
        assert_eq!(tries(&mut paths, true), Err(MigrateError::Disabled));
        paths.confirmed = false;
        assert_eq!(tries(&mut paths, true), Err(MigrateError::NotConfirmed));
        paths.side = Side::Server;
        assert_eq!(tries(&mut paths, true), Err(MigrateError::NotAClient));
    }
}
