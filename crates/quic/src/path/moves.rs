//! Which path a connection uses: the peer's moves, this side's, and the way back (RFC 9000 sections 5.1 and 9).

use super::{
    Arrival, MigrateError, Migration, PathOutput, Paths, Role, Route, UnusedPath, Validation, Verdict,
    same_local,
};
use crate::error::TransportError;
use crate::event::Event;
use crate::ids::{LocalIds, NumberedId};
use crate::recovery::Recovery;
use crate::space::Space;
use std::net::SocketAddr;
use trace::event::MigrationState;
use units::{Duration, Time};
use wire::{Code, ConnectionId, Frame, Frames, Side};

/// A path that is only tried, or left, and of which nothing is heard, is forgotten after so many probe timeouts.
const MEMORY: u64 = 3;

/// How often the patience with a path doubles at most, when validations fail one after the other.
const MOST_DOUBLINGS: u32 = 8;

/// What a connection is doing while something happens to its paths.
pub(crate) struct Situation<'a> {
    pub(crate) now: Time,
    /// Whether the connection is neither closing nor closed.
    pub(crate) open: bool,
    /// The space of 1-RTT packets, whose packets count for one path or another.
    pub(crate) space: &'a mut Space,
    /// The ids that the peer's packets go to.
    pub(crate) local_ids: &'a LocalIds,
}

impl Paths {
    // ---- what an application does ----

    /// See [`Connection::migrate`](crate::Connection::migrate).
    pub(crate) fn migrate(
        &mut self,
        at: &mut Situation<'_>,
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
        // RFC 9000-9-1.
        if !self.confirmed {
            return Err(MigrateError::NotConfirmed);
        }
        // RFC 9000-9-2, 9000-18.2-2: it holds for the address of the handshake only (18.2).
        if self.moves_disabled && self.current.route.remote == self.first.1 {
            return Err(MigrateError::Disabled);
        }
        if self.current.route.local == local {
            return Err(MigrateError::SameAddress);
        }
        self.drop_candidates();
        // RFC 9000-9.5-1.
        let Some(id) = self.ids.take_unused() else { return Err(MigrateError::NoConnectionId) };
        let remote = self.current.route.remote;
        self.try_path(now, local, remote, id);
        if how != Migration::Probe {
            let index = self.unused.find_role(Role::Candidate { moves: true });
            self.move_to(at, index.unwrap_or_default());
            if how == Migration::Rebound
                && let Some(old) = self.unused.find_role(Role::Fallback)
            {
                let gone = self.unused.remove(old);
                self.let_go(&gone);
            }
        }
        Ok(())
    }

    /// A client begins to try a path to which it moves when it is proven.
    fn try_path(&mut self, now: Time, local: SocketAddr, remote: SocketAddr, id: NumberedId) {
        let mut route = self.current.route.beside(local, remote, true);
        route.addressed_to = self.current.route.addressed_to;
        route.validation = Some(Box::new(Validation::new(now, self.patience())));
        self.note_state(MigrationState::ProbingStarted, local, remote);
        self.add_unused(UnusedPath::new(route, id, Role::Candidate { moves: true }, Time::NEVER));
    }

    /// A client turns to the address that the server prefers (RFC 9000 section 9.6). The handshake is confirmed.
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
            // RFC 9000-9.6.2-1: the original address stays in use until the new one is proven.
            self.try_path(now, self.current.route.local, remote, id);
        }
    }

    // ---- the peer's moves ----

    /// A datagram of this length came: whether it may be processed. `open`: the connection is neither closing nor closed.
    #[inline]
    pub(crate) fn on_datagram(
        &mut self,
        local: SocketAddr,
        remote: SocketAddr,
        length: usize,
        open: bool,
    ) -> bool {
        if self.current.route.is_between(local, remote) {
            self.current.route.on_received(length as u64);
            return true;
        }
        self.expect_elsewhere(local, remote, length, open)
    }
    /// The datagram has been processed.
    #[inline]
    pub(crate) fn end_datagram(&mut self) {
        self.unused.arrival = None;
    }
    /// Whether the datagram that is being processed came on another path than the one in use.
    #[inline]
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.unused.arrival.is_some()
    }

    /// A datagram came that is not of the path in use: whether it may be processed.
    #[cold]
    fn expect_elsewhere(&mut self, local: SocketAddr, remote: SocketAddr, length: usize, open: bool) -> bool {
        let known = match self.side {
            // RFC 9000-9-5: a client drops what comes from addresses that it does not know.
            Side::Client => {
                self.current.route.remote == remote
                    || self.unused.iter().any(|known| known.route.remote == remote)
            }
            // Section 9: addresses stay the same during the handshake; and a server has one address, unless it has given
            // out another. RFC 9000-9-3: a peer that moves in spite of disable_active_migration is validated like any.
            Side::Server => {
                let here = same_local(self.current.route.local, local);
                self.confirmed && open && (here || self.is_moveable)
            }
        };
        if known {
            let challenges = Vec::new();
            self.unused.arrival = Some(Arrival { local, remote, length: length as u64, challenges });
        }
        known
    }

    /// A packet of a datagram from elsewhere opened and was processed. `newest`: no higher number has come.
    #[cold]
    pub(crate) fn on_packet_elsewhere(
        &mut self,
        at: &mut Situation<'_>,
        to: ConnectionId,
        newest: bool,
        probing: bool,
    ) {
        let now = at.now;
        let Some(arrival) = &mut self.unused.arrival else { return };
        let (local, remote) = (arrival.local, arrival.remote);
        // It counts once for the amplification limit, and only because something in it was the peer's.
        let length = std::mem::take(&mut arrival.length);
        let challenges = std::mem::take(&mut arrival.challenges);
        if !at.open {
            return;
        }
        if self.current.route.is_between(local, remote) {
            // Something in the datagram has moved the connection there.
            self.current.route.on_received(length);
            self.responses.extend(challenges);
            return;
        }
        let Some(index) = self.unused.find(local, remote).or_else(|| self.meet_path(now, local, remote, to))
        else {
            return;
        };
        let until = now + self.patience() * MEMORY;
        let timeout = self.patience();
        let side = self.side;
        let Some(other) = self.unused.get_mut(index) else { return };
        other.route.on_received(length);
        for data in challenges {
            other.answer(data);
        }
        if side == Side::Client {
            return;
        }
        if let Role::Candidate { .. } = other.role {
            other.until = until;
        }
        let moves = newest && !probing && self.path_may_change_to(index);
        let Some(other) = self.unused.get_mut(index) else { return };
        let elsewhere_here = !same_local(self.current.route.local, other.route.local);
        if moves && elsewhere_here && !other.route.is_proven() {
            // RFC 9000-9.6.2-2: the original address goes on sending until the path from the preferred one is proven.
            // RFC 9000-9.6.3-2: and that one is under the limit of an address that is not, wherever the client is now.
            other.role = Role::Candidate { moves: true };
        } else if moves {
            return self.move_to(at, index);
        }
        if !other.route.is_proven() && other.route.validation.is_none() {
            // RFC 9000-9.6.2-3: a server probes too. And the peer may move to what it probes: then it is proven already.
            other.route.validation = Some(Box::new(Validation::new(now, timeout)));
        }
    }

    /// Whether a non-probing packet on that path moves a server there: not back from a preferred address.
    fn path_may_change_to(&mut self, index: usize) -> bool {
        let (current, origin) = (self.current.route.local, self.first.0);
        let Some(other) = self.unused.get_mut(index) else { return false };
        // 9.6.2: what still comes to the old address of a server is late.
        current == origin || !same_local(other.route.local, origin)
    }

    /// A server meets a path of its peer's that it does not know. `None`: there is no connection id for it.
    fn meet_path(
        &mut self,
        now: Time,
        local: SocketAddr,
        remote: SocketAddr,
        to: ConnectionId,
    ) -> Option<usize> {
        if self.side == Side::Client {
            return None;
        }
        let mut route = self.current.route.beside(local, remote, false);
        // RFC 9000 section 9.5: if the peer did not change the id, it does not know of the change, and this side may go on
        // with the same id too, from the same address.
        let kept = to == self.current.route.addressed_to && same_local(local, self.current.route.local);
        route.addressed_to = to;
        let id = match kept || self.ids.current().is_empty() {
            true => self.ids.current_numbered(),
            // RFC 9000-9.5-2.
            false => match self.ids.take_unused() {
                Some(id) => id,
                None => {
                    let proven = self.current.route.is_proven();
                    if let Some(gone) =
                        self.unused.remove_unless(|known| known.role == Role::Fallback && !proven)
                    {
                        // The peer gives another id for the one that this frees. Its packets go on asking.
                        self.let_go(&gone);
                    }
                    return None;
                }
            },
        };
        let until = now + self.patience() * MEMORY;
        Some(self.add_unused(UnusedPath::new(route, id, Role::Candidate { moves: false }, until)))
    }

    /// The peer has retired one of our ids: it does not use the path any more that it used it on, and need not be asked
    /// there.
    pub(crate) fn on_own_id_retired(&mut self, id: &ConnectionId) {
        for other in self.unused.iter_mut().filter(|other| other.route.addressed_to == *id) {
            other.route.validation = None;
        }
        self.drop_needless();
    }

    // ---- moving ----

    /// The path of this index becomes the one in use.
    fn move_to(&mut self, at: &mut Situation<'_>, index: usize) {
        let (now, space) = (at.now, &mut *at.space);
        let next = self.unused.remove(index);
        let port_only = self.current.route.differs_in_port_only(&next.route);
        let old_id = self.ids.current_numbered();
        self.ids.select(next.id);
        let left = std::mem::replace(&mut self.current.route, next.route);
        let mut old = UnusedPath::new(left, old_id, Role::Fallback, Time::NEVER);
        old.responses = std::mem::replace(&mut self.responses, next.responses);
        // RFC 9000-9.4-2: a path that was in use before takes its estimates up again; another begins anew, unless only a
        // port has changed.
        let taken_up = next.recovery.map(|mut known| {
            known.bytes_in_flight = space.sent.in_flight_of(known.epoch);
            known.pto_count = 0;
            *known
        });
        let recovery = match taken_up {
            None if port_only => None,
            None => self.fresh_recovery(),
            known => known,
        };
        if let Some(recovery) = recovery {
            let before = std::mem::replace(&mut self.current.recovery, recovery);
            space.sent.epoch = self.current.recovery.epoch;
            self.keep_recovery(&mut old, before);
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
            // The server moves when something comes that is not a probe (9.2).
            space.ping = true;
        }
        if !self.current.route.is_proven() && self.current.route.validation.is_none() {
            // RFC 9000-9-4, 9000-9.3-1.
            self.current.route.validation = Some(Box::new(Validation::new(now, self.patience())));
        }
        self.leave(at, old);
        self.stats.changes += 1;
        let (local, remote) = (self.current.route.local, self.current.route.remote);
        self.outputs.push(PathOutput::Event(Event::Migrated { local, remote }));
        self.note_state(MigrationState::MigrationStarted, local, remote);
        if self.current.route.is_proven() {
            self.note_state(MigrationState::MigrationComplete, local, remote);
        }
        self.outputs.push(PathOutput::Metrics);
    }

    /// What the path that was left had estimated goes with it, or with the one to fall back to that shared it.
    fn keep_recovery(&mut self, old: &mut UnusedPath, recovery: Recovery) {
        if old.route.is_proven() {
            old.recovery = Some(Box::new(recovery));
        } else if let Some(fallback) = self.unused.iter_mut().find(|known| known.role == Role::Fallback)
            && fallback.recovery.is_none()
        {
            fallback.recovery = Some(Box::new(recovery));
        }
    }

    /// What becomes of the path that was in use until now.
    fn leave(&mut self, at: &Situation<'_>, mut old: UnusedPath) {
        let now = at.now;
        if !old.route.is_proven() {
            // RFC 9000 section 9.3.2: a validation that a further move overtakes is abandoned.
            return self.let_go(&old);
        }
        let older = self.unused.find_role(Role::Fallback).map(|index| self.unused.remove(index));
        old.route.validation = None;
        match self.side {
            Side::Server if at.local_ids.owns(old.route.addressed_to.as_bytes()) => {
                // RFC 9000-9.3.3-1: who was there may not know of the move. (If the id that was used there is retired,
                // the peer has told that it does.)
                old.route.validation = Some(Box::new(Validation::new(now, self.patience())));
            }
            Side::Server => {}
            Side::Client => {
                if self.current.route.is_proven() {
                    (old.role, old.until) = (Role::Leaving, now + self.linger(old.recovery.as_deref()));
                }
            }
        }
        self.add_unused(old);
        if let Some(older) = older {
            // Only now: the two may have shared an id.
            self.let_go(&older);
        }
    }

    /// The path in use does not work: back to the last that did.
    fn fall_back(&mut self, at: &mut Situation<'_>) {
        let (local, remote) = (self.current.route.local, self.current.route.remote);
        self.stats.validations_failed += 1;
        self.unused.failures += 1;
        self.outputs.push(PathOutput::Event(Event::PathFailed { local, remote }));
        self.note_state(MigrationState::MigrationAbandoned, local, remote);
        self.current.route.validation = None;
        if let Some(index) = self.unused.find_role(Role::Fallback) {
            // RFC 9000-9.3.2-1. RFC 9000-14.2-1: also where the peer answers but 1200 bytes do not pass.
            return self.move_to(at, index);
        }
        match self.side {
            // 8.2.4: it can wait until something gets through.
            Side::Client => {}
            Side::Server if self.current.route.is_validated() => {
                // RFC 9000-14.2-1, and section 8.2.4: the path is there, but does not carry what QUIC needs.
                let reason = "the path does not carry 1200 bytes";
                let error = TransportError::new(Code::NO_VIABLE_PATH, reason);
                self.outputs.push(PathOutput::Fail(error));
            }
            // RFC 9000-9.3.2-2: silently.
            Side::Server => self.outputs.push(PathOutput::NoPath),
        }
    }

    fn fresh_recovery(&mut self) -> Option<Recovery> {
        let seed = self.seed.wrapping_add(1 + u64::from(self.epochs));
        let mut recovery = Recovery::fresh(&self.config, None, seed)?;
        self.epochs += 1;
        recovery.epoch = self.epochs;
        Some(recovery)
    }

    // ---- the end of validations ----

    /// The path in use has proven good.
    pub(super) fn on_current_proven(&mut self, now: Time) {
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
        self.drop_needless();
    }

    /// A path that is not in use has proven good. Gives how long its answer took if it is the path in use now: that is the first guess of its RTT.
    pub(super) fn on_unused_proven(
        &mut self,
        at: &mut Situation<'_>,
        index: usize,
        took: Duration,
    ) -> Option<Duration> {
        let other = self.unused.get_mut(index)?;
        let (role, local, remote) = (other.role, other.route.local, other.route.remote);
        self.unused.failures = 0;
        let mut guess = None;
        if let Role::Candidate { moves } = role {
            self.note_state(MigrationState::ProbingSuccessful, local, remote);
            if moves {
                self.move_to(at, index);
                guess = Some(took);
            }
        }
        self.drop_needless();
        guess
    }

    /// The fallback is not needed once the path in use is proven and whoever was on it before was asked (9.3.3).
    fn drop_needless(&mut self) {
        if self.current.route.is_proven()
            && let Some(gone) = self
                .unused
                .remove_unless(|known| known.role != Role::Fallback || known.route.validation.is_some())
        {
            self.let_go(&gone);
        }
    }

    /// Time has passed, and a path may have run out of it.
    #[cold]
    pub(crate) fn on_time(&mut self, at: &mut Situation<'_>) {
        let now = at.now;
        let ended = |route: &mut Route| {
            let failed = route.validation.as_deref_mut().is_some_and(|v| v.on_time(now) == Verdict::Failed);
            failed.then(|| route.validation = None).is_some()
        };
        for other in self.unused.iter_mut() {
            if ended(&mut other.route) && other.role != Role::Fallback {
                other.until = now;
            }
        }
        while let Some(gone) = self.unused.remove_unless(|other| other.until > now) {
            if matches!(gone.role, Role::Candidate { .. }) && !gone.route.is_proven() {
                let (local, remote) = (gone.route.local, gone.route.remote);
                // RFC 9000-9.6.1-1: the path in use stays in use.
                self.note_state(MigrationState::ProbingAbandoned, local, remote);
                self.unused.failures += 1;
                if self.side == Side::Client {
                    self.stats.validations_failed += 1;
                    self.outputs.push(PathOutput::Event(Event::PathFailed { local, remote }));
                }
            }
            self.let_go(&gone);
        }
        if ended(&mut self.current.route) && !self.current.route.is_proven() {
            self.fall_back(at);
        }
        self.drop_needless();
    }

    // ---- ids ----

    /// NEW_CONNECTION_ID (19.15). Paths whose ids are retired by it take others, or end.
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
                other.id = renewed.unwrap_or(other.id);
            }
        }
        while let Some(gone) = self.unused.remove_unless(|other| self.ids.holds(other.id.sequence)) {
            self.let_go(&gone);
        }
        Ok(())
    }

    /// Whether a datagram from this address that ends in this token is a stateless reset.
    pub(crate) fn is_reset_by(&self, remote: SocketAddr, token: [u8; 16]) -> bool {
        // RFC 9000 section 10.3.1: tokens count for the ids that are in use, each with its remote address.
        let current = self.current.route.remote == remote && self.ids.current_numbered().has_token(token);
        current || self.unused.iter().any(|known| known.route.remote == remote && known.id.has_token(token))
    }

    fn add_unused(&mut self, path: UnusedPath) -> usize {
        let (index, gone) = self.unused.add(path);
        if let Some(gone) = gone {
            self.let_go(&gone);
        }
        index
    }

    fn drop_candidates(&mut self) {
        let keep = |known: &UnusedPath| !matches!(known.role, Role::Candidate { .. });
        while let Some(gone) = self.unused.remove_unless(keep) {
            self.let_go(&gone);
        }
    }

    /// A path is forgotten; its id is retired, unless another path uses it too (RFC 9000 section 5.1.2).
    fn let_go(&mut self, gone: &UnusedPath) {
        let sequence = gone.id.sequence;
        let shared = self.ids.current_numbered().sequence == sequence
            || self.unused.iter().any(|other| other.id.sequence == sequence);
        if shared {
            return;
        }
        let outputs = &mut self.outputs;
        if let Err(error) = self.ids.give_up(sequence, |sequence| outputs.push(PathOutput::Retire(sequence)))
        {
            outputs.push(PathOutput::Fail(error));
        }
    }

    fn note_state(&mut self, state: MigrationState, local: SocketAddr, remote: SocketAddr) {
        self.outputs.push(PathOutput::Migration(state, local, remote));
    }

    // ---- times ----

    /// The larger one of the probe timeouts of the path in use and of a path of which nothing is known
    /// (RFC 9000 section 8.2.4), and longer after failures.
    pub(super) fn patience(&self) -> Duration {
        let unknown = congestion::RttEstimate::new(self.config.initial_rtt);
        let expected = self.current.probe_timeout().max(unknown.pto() + self.current.max_ack_delay());
        // Where that was too short, a longer one is: else two ends whose first guess of the RTT is too low would go to and
        // fro between paths that both work.
        expected * (1 << self.unused.failures.min(MOST_DOUBLINGS))
    }
    /// How long a client keeps the path that it left: what the server asks there comes within a round trip.
    fn linger(&self, left: Option<&Recovery>) -> Duration {
        left.unwrap_or(&self.current.recovery).rtt.pto() + self.current.max_ack_delay()
    }
}

/// Whether a packet has probing frames only (RFC 9000 section 9.1).
pub(crate) fn is_probing(payload: &[u8], virtual_tail: usize) -> bool {
    Frames::new(payload, virtual_tail).all(|frame| {
        matches!(
            frame,
            Ok(Frame::Padding { .. }
                | Frame::PathChallenge { .. }
                | Frame::PathResponse { .. }
                | Frame::NewConnectionId { .. })
        )
    })
}
