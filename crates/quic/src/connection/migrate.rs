//! Which path a connection uses: the peer's moves, this side's, and the way back (RFC 9000 sections 5.1 and 9).

use super::{Connection, Phase, Progress};
use crate::error::{CloseReason, TransportError};
use crate::event::Event;
use crate::ids::NumberedId;
use crate::path::{Arrival, MigrateError, Migration, Other, Path, Role, Validation};
use crate::recovery::Recovery;
use crate::sent::SentFrame;
use std::net::SocketAddr;
use trace::event::MigrationState;
use units::{Duration, Time};
use wire::{Code, ConnectionId, Frame, Frames, Side};

/// A path that is only tried, or left, and of which nothing is heard, is forgotten after so many probe timeouts.
const MEMORY: u64 = 3;

/// How often the patience with a path doubles at most, when validations fail one after the other.
const MOST_DOUBLINGS: u32 = 8;

impl Connection {
    // ---- what an application does ----

    /// A client moves to another local address (RFC 9000 section 9.2): see [`Migration`] for the ways.
    /// [`Event::Migrated`] tells that packets go over another path, [`Event::PathFailed`] that one does not work.
    ///
    /// A candidate that is still being tried gives way to a newer one.
    ///
    /// # Errors
    /// [`MigrateError`] says why it cannot; then nothing has changed. [`Migration::Silent`] only fails for a server and
    /// for a connection that is over.
    pub fn migrate(&mut self, now: Time, local: SocketAddr, how: Migration) -> Result<(), MigrateError> {
        self.now = now;
        if self.origin.side == Side::Server {
            return Err(MigrateError::NotAClient);
        }
        if self.phase != Phase::Open {
            return Err(MigrateError::Closed);
        }
        if how == Migration::Silent {
            self.path.local = local;
            return Ok(());
        }
        // RFC 9000-9-1.
        if self.progress != Progress::Confirmed {
            return Err(MigrateError::NotConfirmed);
        }
        // RFC 9000-9-2, 9000-18.2-2: it holds for the address of the handshake only (18.2).
        let disabled = self.peer.as_ref().is_some_and(|peer| peer.disable_active_migration);
        if disabled && self.path.remote == self.origin.remote {
            return Err(MigrateError::Disabled);
        }
        if self.path.local == local {
            return Err(MigrateError::SameAddress);
        }
        self.drop_candidates(now);
        // RFC 9000-9.5-1.
        let Some(id) = self.remote_ids.take_unused() else { return Err(MigrateError::NoConnectionId) };
        let remote = self.path.remote;
        self.try_path(now, local, remote, id);
        if how != Migration::Probe {
            let index = self.others.find_role(Role::Candidate { moves: true });
            self.move_to(now, index.unwrap_or_default());
            if how == Migration::Rebound
                && let Some(old) = self.others.find_role(Role::Fallback)
            {
                let gone = self.others.remove(old);
                self.let_go(now, &gone);
            }
        }
        Ok(())
    }

    /// A client begins to try a path to which it moves when it is proven.
    fn try_path(&mut self, now: Time, local: SocketAddr, remote: SocketAddr, id: NumberedId) {
        let mut path = self.path.beside(local, remote, true);
        path.addressed_to = self.path.addressed_to;
        path.validation = Some(Box::new(Validation::new(now, self.patience())));
        let other = Other::new(path, id, Role::Candidate { moves: true }, Time::NEVER);
        self.trace_migration(now, MigrationState::ProbingStarted, local, remote);
        self.add_other(now, other);
    }

    /// A client turns to the address that the server prefers (RFC 9000 section 9.6). The handshake is confirmed.
    pub(super) fn try_preferred(&mut self, now: Time) {
        if self.origin.side == Side::Server || !self.config.use_preferred_address {
            return;
        }
        let Some(preferred) = self.peer.as_ref().and_then(|peer| peer.preferred_address) else { return };
        let remote = match self.path.remote {
            SocketAddr::V4(_) => preferred.ipv4.map(SocketAddr::V4),
            SocketAddr::V6(_) => preferred.ipv6.map(SocketAddr::V6),
        };
        if let Some(remote) = remote.filter(|remote| *remote != self.path.remote)
            && let Some(id) = self.remote_ids.take_unused()
        {
            // RFC 9000-9.6.2-1: the original address stays in use until the new one is proven.
            self.try_path(now, self.path.local, remote, id);
        }
    }

    // ---- the peer's moves ----

    /// A datagram came that is not of the path in use: whether it may be processed.
    #[cold]
    pub(super) fn expect_elsewhere(&mut self, local: SocketAddr, remote: SocketAddr, length: usize) -> bool {
        let known = match self.origin.side {
            // RFC 9000-9-5: a client drops what comes from addresses that it does not know.
            Side::Client => self.path.remote == remote || self.others.iter().any(|o| o.path.remote == remote),
            // Section 9: addresses stay the same during the handshake; and a server has one address, unless it has given
            // out another. RFC 9000-9-3: a peer that moves in spite of disable_active_migration is validated like any.
            Side::Server => {
                let here = crate::path::same_local(self.path.local, local);
                self.progress == Progress::Confirmed
                    && self.phase == Phase::Open
                    && (here || self.local_parameters.preferred_address.is_some())
            }
        };
        if known {
            let challenges = Vec::new();
            self.others.arrival = Some(Arrival { local, remote, length: length as u64, challenges });
        }
        known
    }

    /// A packet of a datagram from elsewhere opened and was processed. `newest`: no higher number has come.
    #[cold]
    pub(super) fn on_packet_elsewhere(&mut self, now: Time, to: ConnectionId, newest: bool, probing: bool) {
        let Some(arrival) = &mut self.others.arrival else { return };
        let (local, remote) = (arrival.local, arrival.remote);
        // It counts once for the amplification limit, and only because something in it was the peer's.
        let length = std::mem::take(&mut arrival.length);
        let challenges = std::mem::take(&mut arrival.challenges);
        if self.phase != Phase::Open {
            return;
        }
        if self.path.is_between(local, remote) {
            // Something in the datagram has moved the connection there.
            self.path.on_received(length);
            self.path_responses.extend(challenges);
            return;
        }
        let Some(index) = self.others.find(local, remote).or_else(|| self.meet_path(now, local, remote, to))
        else {
            return;
        };
        let until = now + self.patience() * MEMORY;
        let timeout = self.patience();
        let side = self.origin.side;
        let Some(other) = self.others.get_mut(index) else { return };
        other.path.on_received(length);
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
        let Some(other) = self.others.get_mut(index) else { return };
        let elsewhere_here = !crate::path::same_local(self.path.local, other.path.local);
        if moves && elsewhere_here && !other.path.is_proven() {
            // RFC 9000-9.6.2-2: the original address goes on sending until the path from the preferred one is proven.
            // RFC 9000-9.6.3-2: and that one is under the limit of an address that is not, wherever the client is now.
            other.role = Role::Candidate { moves: true };
        } else if moves {
            return self.move_to(now, index);
        }
        if !other.path.is_proven() && other.path.validation.is_none() {
            // RFC 9000-9.6.2-3: a server probes too. And the peer may move to what it probes: then it is proven already.
            other.path.validation = Some(Box::new(Validation::new(now, timeout)));
        }
    }

    /// Whether a non-probing packet on that path moves a server there: not back from a preferred address.
    fn path_may_change_to(&mut self, index: usize) -> bool {
        let (current, origin) = (self.path.local, self.origin.local);
        let Some(other) = self.others.get_mut(index) else { return false };
        // 9.6.2: what still comes to the old address of a server is late.
        current == origin || !crate::path::same_local(other.path.local, origin)
    }

    /// A server meets a path of its peer's that it does not know. `None`: there is no connection id for it.
    fn meet_path(
        &mut self,
        now: Time,
        local: SocketAddr,
        remote: SocketAddr,
        to: ConnectionId,
    ) -> Option<usize> {
        if self.origin.side == Side::Client {
            return None;
        }
        let mut path = self.path.beside(local, remote, false);
        // RFC 9000 section 9.5: if the peer did not change the id, it does not know of the change, and this side may go on
        // with the same id too, from the same address.
        let kept = to == self.path.addressed_to && crate::path::same_local(local, self.path.local);
        path.addressed_to = to;
        let id = match kept || self.remote_ids.current().is_empty() {
            true => self.remote_ids.current_numbered(),
            // RFC 9000-9.5-2.
            false => match self.remote_ids.take_unused() {
                Some(id) => id,
                None => {
                    let proven = self.path.is_proven();
                    if let Some(gone) = self.others.remove_unless(|o| o.role == Role::Fallback && !proven) {
                        // The peer gives another id for the one that this frees. Its packets go on asking.
                        self.let_go(now, &gone);
                    }
                    return None;
                }
            },
        };
        let until = now + self.patience() * MEMORY;
        let other = Other::new(path, id, Role::Candidate { moves: false }, until);
        Some(self.add_other(now, other))
    }

    /// The peer has retired one of our ids: it does not use the path any more that it used it on, and need not be asked
    /// there.
    pub(super) fn on_own_id_retired(&mut self, now: Time, id: &ConnectionId) {
        for other in self.others.iter_mut().filter(|other| other.path.addressed_to == *id) {
            other.path.validation = None;
        }
        self.drop_needless(now);
    }

    // ---- moving ----

    /// The path of this index becomes the one in use.
    fn move_to(&mut self, now: Time, index: usize) {
        let next = self.others.remove(index);
        let port_only = self.path.differs_in_port_only(&next.path);
        let old_id = self.remote_ids.current_numbered();
        self.remote_ids.select(next.id);
        let mut old =
            Other::new(std::mem::replace(&mut self.path, next.path), old_id, Role::Fallback, Time::NEVER);
        old.responses = std::mem::replace(&mut self.path_responses, next.responses);
        // RFC 9000-9.4-2: a path that was in use before takes its estimates up again; another begins anew, unless only a
        // port has changed.
        let taken_up = next.recovery.map(|mut known| {
            known.bytes_in_flight = self.data.sent.in_flight_of(known.epoch);
            known.pto_count = 0;
            *known
        });
        let recovery = match taken_up {
            None if port_only => None,
            None => self.fresh_recovery(),
            known => known,
        };
        if let Some(recovery) = recovery {
            let before = std::mem::replace(&mut self.recovery, recovery);
            self.data.sent.epoch = self.recovery.epoch;
            self.keep_recovery(&mut old, before);
        }
        self.path.since = self.data.sent.next_number();
        if let Some(search) = &mut self.path.mtu {
            search.resume();
            let size = u64::from(search.current());
            self.recovery.set_datagram_size(now, size);
        }
        self.paced_until = None;
        self.data.loss_time = None;
        self.probe_base = now;
        if !self.path.is_proven() && self.path.validation.is_none() {
            // RFC 9000-9-4, 9000-9.3-1.
            self.path.validation = Some(Box::new(Validation::new(now, self.patience())));
        }
        self.leave(now, old);
        if self.origin.side == Side::Client {
            // The server moves when something comes that is not a probe (9.2).
            self.data.ping = true;
        }
        self.stats.path_changes += 1;
        let (local, remote) = (self.path.local, self.path.remote);
        self.events.push_back(Event::Migrated { local, remote });
        self.trace_migration(now, MigrationState::MigrationStarted, local, remote);
        if self.path.is_proven() {
            self.trace_migration(now, MigrationState::MigrationComplete, local, remote);
        }
        self.trace_metrics(now);
    }

    /// What the path that was left had estimated goes with it, or with the one to fall back to that shared it.
    fn keep_recovery(&mut self, old: &mut Other, recovery: Recovery) {
        if old.path.is_proven() {
            old.recovery = Some(Box::new(recovery));
        } else if let Some(fallback) = self.others.iter_mut().find(|o| o.role == Role::Fallback)
            && fallback.recovery.is_none()
        {
            fallback.recovery = Some(Box::new(recovery));
        }
    }

    /// What becomes of the path that was in use until now.
    fn leave(&mut self, now: Time, mut old: Other) {
        if !old.path.is_proven() {
            // RFC 9000 section 9.3.2: a validation that a further move overtakes is abandoned.
            return self.let_go(now, &old);
        }
        let older = self.others.find_role(Role::Fallback).map(|index| self.others.remove(index));
        old.path.validation = None;
        match self.origin.side {
            Side::Server if self.local_ids.owns(old.path.addressed_to.as_bytes()) => {
                // RFC 9000-9.3.3-1: who was there may not know of the move. (If the id that was used there is retired,
                // the peer has told that it does.)
                old.path.validation = Some(Box::new(Validation::new(now, self.patience())));
            }
            Side::Server => {}
            Side::Client => {
                if self.path.is_proven() {
                    (old.role, old.until) = (Role::Leaving, now + self.linger(old.recovery.as_deref()));
                }
            }
        }
        self.add_other(now, old);
        if let Some(older) = older {
            // Only now: the two may have shared an id.
            self.let_go(now, &older);
        }
    }

    /// The path in use does not work: back to the last that did.
    fn fall_back(&mut self, now: Time) {
        let (local, remote) = (self.path.local, self.path.remote);
        self.stats.path_validations_failed += 1;
        self.others.failures += 1;
        self.events.push_back(Event::PathFailed { local, remote });
        self.trace_migration(now, MigrationState::MigrationAbandoned, local, remote);
        self.path.validation = None;
        if let Some(index) = self.others.find_role(Role::Fallback) {
            // RFC 9000-9.3.2-1. RFC 9000-14.2-1: also where the peer answers but 1200 bytes do not pass.
            return self.move_to(now, index);
        }
        match self.origin.side {
            // 8.2.4: it can wait until something gets through.
            Side::Client => {}
            Side::Server if self.path.is_validated() => {
                // RFC 9000-14.2-1, and section 8.2.4: the path is there, but does not carry what QUIC needs.
                self.fail(
                    now,
                    TransportError::new(Code::NO_VIABLE_PATH, "the path does not carry 1200 bytes"),
                );
            }
            Side::Server => {
                // RFC 9000-9.3.2-2: silently.
                self.end(now, CloseReason::NoPath);
                self.phase = Phase::Gone;
            }
        }
    }

    fn fresh_recovery(&mut self) -> Option<Recovery> {
        let (name, arguments) = (self.config.controller.name, &self.config.controller.arguments);
        let seed = self.path_seed.wrapping_add(1 + u64::from(self.epochs));
        let controller = congestion::build(name, arguments, Recovery::setup(&self.config, seed))?;
        let mut recovery = Recovery::new(&self.config, controller);
        self.epochs += 1;
        recovery.epoch = self.epochs;
        Some(recovery)
    }

    // ---- the end of validations ----

    /// The path in use has proven good.
    pub(super) fn on_current_proven(&mut self, now: Time) {
        self.others.failures = 0;
        let (local, remote) = (self.path.local, self.path.remote);
        self.trace_migration(now, MigrationState::MigrationComplete, local, remote);
        if self.origin.side == Side::Client
            && let Some(index) = self.others.find_role(Role::Fallback)
        {
            let mut old = self.others.remove(index);
            (old.role, old.until) = (Role::Leaving, now + self.linger(old.recovery.as_deref()));
            self.add_other(now, old);
        }
        self.drop_needless(now);
    }

    /// A path that is not in use has proven good.
    pub(super) fn on_other_proven(&mut self, now: Time, index: usize, took: Duration) {
        let Some(other) = self.others.get_mut(index) else { return };
        let (role, local, remote) = (other.role, other.path.local, other.path.remote);
        self.others.failures = 0;
        if let Role::Candidate { moves } = role {
            self.trace_migration(now, MigrationState::ProbingSuccessful, local, remote);
            if moves {
                self.move_to(now, index);
                self.recovery.guess_rtt(took);
            }
        }
        self.drop_needless(now);
    }

    /// The fallback is not needed once the path in use is proven and whoever was on it before was asked (9.3.3).
    fn drop_needless(&mut self, now: Time) {
        if self.path.is_proven()
            && let Some(gone) =
                self.others.remove_unless(|o| o.role != Role::Fallback || o.path.validation.is_some())
        {
            self.let_go(now, &gone);
        }
    }

    /// Time has passed, and a path may have run out of it.
    #[cold]
    pub(super) fn on_path_time(&mut self, now: Time) {
        use crate::path::Verdict;
        let ended = |path: &mut Path| {
            let failed = path.validation.as_deref_mut().is_some_and(|v| v.on_time(now) == Verdict::Failed);
            failed.then(|| path.validation = None).is_some()
        };
        for other in self.others.iter_mut() {
            if ended(&mut other.path) && other.role != Role::Fallback {
                other.until = now;
            }
        }
        while let Some(gone) = self.others.remove_unless(|other| other.until > now) {
            if matches!(gone.role, Role::Candidate { .. }) && !gone.path.is_proven() {
                let (local, remote) = (gone.path.local, gone.path.remote);
                // RFC 9000-9.6.1-1: the path in use stays in use.
                self.trace_migration(now, MigrationState::ProbingAbandoned, local, remote);
                self.others.failures += 1;
                if self.origin.side == Side::Client {
                    self.stats.path_validations_failed += 1;
                    self.events.push_back(Event::PathFailed { local, remote });
                }
            }
            self.let_go(now, &gone);
        }
        if ended(&mut self.path) && !self.path.is_proven() {
            self.fall_back(now);
        }
        self.drop_needless(now);
    }

    // ---- ids ----

    /// NEW_CONNECTION_ID (19.15). Paths whose ids are retired by it take others, or end.
    #[cold]
    pub(super) fn on_new_id(
        &mut self,
        now: Time,
        new: NumberedId,
        retire_prior_to: u64,
    ) -> Result<(), TransportError> {
        let before = self.remote_ids.current_numbered().sequence;
        let control = &mut self.control;
        self.remote_ids.on_new(new, retire_prior_to, |sequence| {
            control.ask(SentFrame::RetireConnectionId { sequence });
        })?;
        let ids = &mut self.remote_ids;
        for other in self.others.iter_mut() {
            if !ids.holds(other.id.sequence) {
                let shared = other.id.sequence == before;
                let renewed = if shared { Some(ids.current_numbered()) } else { ids.take_unused() };
                other.id = renewed.unwrap_or(other.id);
            }
        }
        while let Some(gone) = self.others.remove_unless(|other| self.remote_ids.holds(other.id.sequence)) {
            self.let_go(now, &gone);
        }
        Ok(())
    }

    fn add_other(&mut self, now: Time, other: Other) -> usize {
        let (index, gone) = self.others.add(other);
        if let Some(gone) = gone {
            self.let_go(now, &gone);
        }
        index
    }

    fn drop_candidates(&mut self, now: Time) {
        while let Some(gone) = self.others.remove_unless(|o| !matches!(o.role, Role::Candidate { .. })) {
            self.let_go(now, &gone);
        }
    }

    /// A path is forgotten; its id is retired, unless another path uses it too (RFC 9000 section 5.1.2).
    fn let_go(&mut self, now: Time, gone: &Other) {
        let sequence = gone.id.sequence;
        let shared = self.remote_ids.current_numbered().sequence == sequence
            || self.others.iter().any(|other| other.id.sequence == sequence);
        if shared {
            return;
        }
        let control = &mut self.control;
        let retired = self.remote_ids.give_up(sequence, |sequence| {
            control.ask(SentFrame::RetireConnectionId { sequence });
        });
        if let Err(error) = retired {
            self.fail(now, error);
        }
    }

    // ---- times ----

    /// The larger one of the probe timeouts of the path in use and of a path of which nothing is known
    /// (RFC 9000 section 8.2.4), and longer after failures.
    pub(super) fn patience(&self) -> Duration {
        let unknown = congestion::RttEstimate::new(self.config.initial_rtt);
        let expected = self.probe_timeout().max(unknown.pto() + self.peer_max_ack_delay);
        // Where that was too short, a longer one is: else two ends whose first guess of the RTT is too low would go to and
        // fro between paths that both work.
        expected * (1 << self.others.failures.min(MOST_DOUBLINGS))
    }
    /// How long a client keeps the path that it left: what the server asks there comes within a round trip.
    fn linger(&self, left: Option<&Recovery>) -> Duration {
        left.unwrap_or(&self.recovery).rtt.pto() + self.peer_max_ack_delay
    }
    /// The probe timeout of the path in use (RFC 9002 section 6.2.1).
    pub(super) fn probe_timeout(&self) -> Duration {
        self.recovery.rtt.pto() + self.peer_max_ack_delay
    }
}

/// Whether a packet has probing frames only (RFC 9000 section 9.1).
pub(super) fn is_probing(payload: &[u8], virtual_tail: usize) -> bool {
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
