//! Connects a connection with its paths (see [`crate::path`]): passes their inputs on and carries out their outputs.

use super::packet::{DatagramDraft, StartedPacket, TAG};
use super::tracing::TracedPacket;
use super::{Connection, Progress, Transmit};
use crate::assemble::Payload;
use crate::error::{CloseReason, TransportError};
use crate::ids::NumberedId;
use crate::path::{
    KnownPaths, MIN_PAYLOAD, MigrateError, Migration, PathChoice, PathContext, PathOutput, PathStats, Paths,
};
use crate::sent::{Contents, PROBING, SentFrame, SentKind};
use crate::space::SpaceKind;
use crate::stats::Stats;
use congestion::{Limit, TicketKey};
use std::net::SocketAddr;
use trace::Event as Traced;
use trace::event::EcnState;
use units::{Duration, Time};
use wire::{ConnectionId, Ecn, Frame, TransportParameters, Truncated};

impl Connection {
    // ---- calls of the application ----

    /// Moves a client to another local address (RFC 9000 section 9.2); [`Migration`] describes the ways.
    /// [`Event::Migrated`](crate::Event::Migrated) reports that packets use another path,
    /// [`Event::PathFailed`](crate::Event::PathFailed) that a path does not work.
    ///
    /// A newer candidate replaces one that is still being validated.
    ///
    /// # Errors
    /// [`MigrateError`] gives the reason; the connection is unchanged then. [`Migration::Silent`] only fails for a
    /// server and for a closed connection.
    pub fn migrate(&mut self, now: Time, local: SocketAddr, how: Migration) -> Result<(), MigrateError> {
        self.now = now;
        self.with_paths(now, |paths, at| paths.migrate(at, local, how))
    }
    /// The peer's address on the path in use.
    pub fn remote(&self) -> SocketAddr {
        self.paths.current.route.remote
    }
    /// The local address on the path in use. Its IP is unspecified if the system chooses it.
    pub fn local(&self) -> SocketAddr {
        self.paths.current.route.local
    }
    /// Whether the peer's address is validated and the path is known to carry 1200 bytes (RFC 9000 section 8).
    pub fn is_path_validated(&self) -> bool {
        self.paths.current.route.is_fully_validated()
    }
    /// The RTT estimate.
    pub fn rtt(&self) -> &congestion::RttEstimate {
        &self.paths.current.recovery.rtt
    }
    /// The congestion window and the bytes in flight.
    pub fn flight(&self) -> (u64, u64) {
        let recovery = &self.paths.current.recovery;
        (recovery.window(), recovery.bytes_in_flight)
    }
    /// The state of ECN on the path in use; `None` while the option `ecn` is off.
    pub fn ecn_state(&self) -> Option<EcnState> {
        self.paths.current.route.ecn.state()
    }
    /// The largest UDP payload in bytes that is sent on the path in use. It changes while the path is probed (option
    /// `mtu_discovery`), and with the path.
    pub fn max_udp_payload(&self) -> usize {
        self.paths.current.route.size()
    }
    /// The tokens with which the peer can reset the connection.
    pub(crate) fn reset_tokens(&self) -> impl Iterator<Item = [u8; 16]> + '_ {
        self.paths.ids.tokens_in_use()
    }
    /// A counter that increases whenever these tokens may have changed.
    #[inline]
    pub(crate) fn token_changes(&self) -> u32 {
        self.paths.ids.token_changes()
    }
    /// Whether a datagram from this address that ends in this token is a stateless reset (RFC 9000 section 10.3.1).
    pub(crate) fn is_reset_by(&self, remote: SocketAddr, token: [u8; 16]) -> bool {
        !self.is_over() && self.paths.is_reset_by(remote, token)
    }

    // ---- queries of the rest of the connection ----

    /// The probe timeout of the path in use (RFC 9002 section 6.2.1).
    pub(super) fn probe_timeout(&self) -> Duration {
        self.paths.current.probe_timeout()
    }
    /// The time in which the peer answers a packet of the handshake, which it acknowledges at once: a probe timeout that is
    /// not backed off.
    pub(super) fn answer_time(&self) -> Duration {
        self.paths.current.recovery.rtt.pto()
    }
    /// The smoothed round-trip time of the path in use.
    pub(super) fn smoothed_rtt(&self) -> Duration {
        self.paths.current.recovery.rtt.smoothed()
    }
    /// The number of bytes for frames in the largest 1-RTT packet.
    pub(super) fn room_for_frames(&self) -> usize {
        let header = 1 + self.paths.ids.current().len() + Truncated::MAX_LENGTH;
        let room = self.max_udp_payload().checked_sub(header + TAG);
        room.expect("a datagram of 1200 bytes has room beside header and tag")
    }
    /// The numbers of saved capacities that were taken over and that were refused: see [`Stats`].
    pub fn capacities(&self) -> (u64, u64) {
        (self.paths.stats.capacities_accepted, self.paths.stats.capacities_refused)
    }
    /// Adds the counters of the paths to `stats`.
    pub(super) fn with_path_stats(&self, stats: Stats) -> Stats {
        let paths: &PathStats = &self.paths.stats;
        Stats {
            packets_declared_lost: paths.packets_lost,
            packets_spuriously_lost: paths.packets_spuriously_lost,
            ect_packets_sent: paths.ect_packets_sent,
            ce_packets_reported: paths.ce_packets_reported,
            ecn_failures: paths.ecn_failures,
            mtu_probes_sent: paths.mtu_probes_sent,
            mtu_probes_lost: paths.mtu_probes_lost,
            mtu_black_holes: paths.mtu_black_holes,
            path_changes: paths.changes,
            path_validations_failed: paths.validations_failed,
            path_challenges_sent: paths.challenges_sent,
            probe_timeouts: paths.probe_timeouts,
            capacities_accepted: paths.capacities_accepted,
            capacities_refused: paths.capacities_refused,
            rtt: paths.rtt.clone(),
            ..stats
        }
    }
    #[inline]
    pub(super) fn trace_metrics(&mut self, now: Time) {
        if self.log.interest().metrics {
            self.paths.current.recovery.trace(now, &mut self.traced.state, &mut self.log);
        }
    }

    // ---- inputs of the paths ----

    /// Begins to learn about the path: see [`Paths::begin_learning`].
    pub(super) fn begin_learning(
        &mut self,
        now: Time,
        known: KnownPaths,
        ticket: TicketKey,
        context: &tls::Context,
    ) {
        self.paths.begin_learning(now, known, ticket, context);
        self.apply_path_outputs(now);
    }
    /// Saves what was learned of the path, after an acknowledgement of a confirmed peer or at the end.
    #[inline]
    pub(super) fn learn(&mut self, now: Time, last: bool) {
        if self.paths.learns() && (last || self.progress == Progress::Confirmed) {
            self.paths.learn(now, last);
            self.apply_path_outputs(now);
        }
    }
    /// More data waits than this limit admits: a saved capacity may be tried.
    #[inline]
    pub(super) fn jump(&mut self, now: Time, limit: Limit) {
        if self.paths.learns() {
            self.paths.jump(now, limit);
            self.apply_path_outputs(now);
        }
    }
    /// A packet was sent.
    #[inline]
    pub(super) fn note_learning_sent(&mut self, now: Time) {
        if self.paths.learns()
            && let Some(number) = self.next_number().checked_sub(1)
        {
            self.paths.note_learning_sent(number);
            self.apply_path_outputs(now);
        }
    }

    /// Notes the arrival of a datagram of this length; returns whether it may be processed.
    #[inline]
    pub(super) fn arrive(&mut self, local: SocketAddr, remote: SocketAddr, length: usize) -> bool {
        let open = !self.is_over();
        self.paths.on_datagram(local, remote, length, open)
    }
    /// Whether the path in use is between these addresses.
    #[inline]
    pub(super) fn is_in_use(&self, local: &SocketAddr, remote: &SocketAddr) -> bool {
        self.paths.current.route.is_between(local, remote)
    }
    /// Notes the arrival of a datagram of this length on the path in use.
    #[inline]
    pub(super) fn note_arrival(&mut self, length: usize) {
        self.paths.current.route.on_received(length as u64);
    }
    /// Notes that the datagram is processed; returns whether it arrived on another path than the one in use.
    #[inline]
    pub(super) fn end_arrival(&mut self) -> bool {
        self.paths.end_datagram()
    }
    /// Whether the datagram being processed arrived on another path than the one in use.
    #[inline]
    pub(super) fn came_on_other_path(&self) -> bool {
        self.paths.is_on_other_path()
    }
    /// Applies the peer's transport parameters.
    pub(super) fn set_path_limits(&mut self, peer: &TransportParameters) {
        self.paths.on_peer_parameters(peer);
    }
    /// Limits datagrams to the size that the peer accepts.
    pub(super) fn limit_payload(&mut self, maximum: u64) {
        self.paths.current.route.limit_payload(maximum);
    }

    /// Passes an input to the paths, and carries out their outputs.
    pub(super) fn with_paths<T>(
        &mut self,
        now: Time,
        input: impl FnOnce(&mut Paths, &mut PathContext<'_>) -> T,
    ) -> T {
        let open = !self.is_over();
        let mut at = PathContext { now, open, space: &mut self.spaces.data, local_ids: &self.local_ids };
        let result = input(&mut self.paths, &mut at);
        self.apply_path_outputs(now);
        result
    }
    /// Carries out the outputs of the paths.
    #[inline]
    pub(super) fn apply_path_outputs(&mut self, now: Time) {
        if self.paths.has_outputs() {
            self.carry_out(now);
        }
    }
    #[cold]
    fn carry_out(&mut self, now: Time) {
        for output in self.paths.take_outputs() {
            match output {
                PathOutput::Event(event) => self.events.push_back(event),
                PathOutput::Migration(state, local, remote) => {
                    self.trace_migration(now, state, local, remote);
                }
                PathOutput::Ecn(state) => self.trace_ecn_state(now, state),
                PathOutput::Mtu { old, new, done } => self.trace_mtu(now, old, new, done),
                PathOutput::Learned(learned) => self.pass_on(now, learned),
                PathOutput::SavedPath { carrier, result } => {
                    self.trace_lifecycle(now, Traced::SavedPath { carrier, result });
                }
                PathOutput::ResumePhase(change) => self.trace_lifecycle(now, Traced::ResumePhase(change)),
                PathOutput::Metrics => self.trace_metrics(now),
                PathOutput::Retire(sequence) => {
                    self.control.ask(SentFrame::RetireConnectionId { sequence });
                }
                PathOutput::Fail(error) => self.fail(now, error),
                PathOutput::NoPath => self.end_silently(now, CloseReason::NoPath),
            }
        }
    }

    /// Validates the peer's address, because it has responded to packets sent there.
    pub(super) fn on_address_validated(&mut self) {
        self.paths.current.route.validate();
    }
    /// Sets the peer's id: that of its first packet or, before that, the one that a client has chosen at random.
    pub(super) fn set_peer_id(&mut self, id: ConnectionId) {
        self.paths.ids.set_first(id);
    }
    /// Notes that the handshake is confirmed.
    pub(super) fn confirm_path(&mut self, now: Time) {
        self.paths.on_confirmed(now);
        self.apply_path_outputs(now);
    }
    /// Handles NEW_CONNECTION_ID (RFC 9000 section 19.15).
    pub(super) fn on_new_id(
        &mut self,
        now: Time,
        new: NumberedId,
        retire_prior_to: u64,
    ) -> Result<(), TransportError> {
        self.with_paths(now, |paths, _| paths.on_new_id(new, retire_prior_to))
    }
    /// Handles PATH_RESPONSE (RFC 9000 section 19.18).
    pub(super) fn on_response(&mut self, now: Time, data: [u8; 8]) -> Result<(), TransportError> {
        let answer = self.with_paths(now, |paths, at| paths.on_response(at, data))?;
        if let Some(round_trip) = answer {
            self.paths.current.recovery.guess_rtt(round_trip);
        }
        Ok(())
    }
    /// Handles PATH_CHALLENGE (RFC 9000 section 19.17).
    pub(super) fn on_challenge(&mut self, data: [u8; 8]) {
        self.paths.on_challenge(data);
    }
    /// Notes that the peer has retired one of this endpoint's ids.
    pub(super) fn on_own_id_retired(&mut self, now: Time, id: &ConnectionId) {
        self.with_paths(now, |paths, _| paths.on_own_id_retired(id));
    }
    /// Handles a processed packet from another path than the one in use. `newest`: it has the highest number so far.
    #[cold]
    pub(super) fn on_packet_of_other_path(
        &mut self,
        now: Time,
        to: ConnectionId,
        newest: bool,
        probing: bool,
    ) {
        self.with_paths(now, |paths, at| paths.on_packet_of_other_path(at, to, newest, probing));
    }
    /// Handles the timers of the paths.
    #[cold]
    pub(super) fn on_path_time(&mut self, now: Time) {
        self.with_paths(now, Paths::on_time);
    }

    // ---- packets of the paths ----

    /// The ECN field of the next datagram.
    #[inline]
    pub(super) fn mark(&mut self, now: Time) -> Ecn {
        let ecn = self.paths.mark(now);
        self.apply_path_outputs(now);
        ecn
    }

    /// Builds a datagram for path validation, if one is due.
    #[cold]
    pub(super) fn transmit_validation(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if !self.has_keys(SpaceKind::Data) {
            return None;
        }
        let datagram = self.paths.validation_datagram()?;
        if !self.may_seal(now) {
            return None;
        }
        let started = self.begin_packet(SpaceKind::Data, datagram.id, buffer);
        let mut contents = Contents::reusing(std::mem::take(&mut self.contents));
        let mut payload = Payload::new(buffer, &mut contents, datagram.limit - TAG, false);
        let (answers, challenge) = self.paths.fill_validation(datagram.path, &mut payload);
        let current = datagram.path == PathChoice::Current;
        let received = &mut self.spaces.data.received;
        if current && received.is_waiting() {
            received.fill(now, &mut payload);
        }
        if current && answers && payload.contents().acked.is_none() && payload.room() > 0 {
            // RFC 9000 section 9.3.3: a response on the path in use is not a probing packet, so that the peer returns
            // if an attacker has moved it.
            payload.untracked_frame(&Frame::Ping, true);
        }
        if datagram.limit == usize::from(MIN_PAYLOAD) {
            // RFC 9000-8.2.1-2, 9000-8.2.2-5: to show that the path carries 1200 bytes. RFC 9000-8.2.2-6: unless the
            // anti-amplification limit forbids it.
            payload.pad_to(datagram.limit - TAG);
        }
        let length = payload.length() + TAG;
        if !current {
            // RFC 9000 section 9.4: the loss of a probe says nothing about the path in use; validation has its own
            // timer.
            (contents.ack_eliciting, contents.in_flight) = (false, false);
        }
        let traced = TracedPacket {
            number: started.number,
            destination: datagram.id,
            length,
            payload: &buffer[started.payload_offset..],
            virtual_tail: 0,
        };
        self.trace_packet_sent(now, SpaceKind::Data, &traced);
        self.seal_and_note(now, buffer, started, current, &contents);
        self.contents = contents.into_memory();
        self.paths.on_validation_sent(now, datagram.path, length, challenge);
        Some(self.finish_over(now, length, &DatagramDraft::default(), datagram.local, datagram.remote))
    }

    /// Builds a probe for the maximum datagram size of the path in use, if one is due (RFC 9000 section 14.4).
    #[cold]
    pub(super) fn transmit_mtu_probe(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let size = self.paths.mtu_probe(now, self.spaces.data.probing.left > 0)?;
        let id = self.paths.ids.current();
        let started = self.begin_packet(SpaceKind::Data, id, buffer);
        let mut contents = Contents::reusing(std::mem::take(&mut self.contents));
        let mut payload = Payload::new(buffer, &mut contents, size - TAG, false);
        // RFC 9000 section 14.4: the probe carries nothing that must be retransmitted.
        // An ACK frame in place of padding is a copy: it is sent again, since the probe is likely to be lost.
        if self.spaces.data.received.is_waiting() {
            self.spaces.data.received.write(now, &mut payload);
        }
        payload.untracked_frame(&Frame::Ping, true);
        payload.pad_to(size - TAG);
        contents.kind = SentKind::MtuProbe;
        let number = started.number;
        let traced = TracedPacket {
            number,
            destination: id,
            length: size,
            payload: &buffer[started.payload_offset..],
            virtual_tail: 0,
        };
        self.trace_packet_sent(now, SpaceKind::Data, &traced);
        self.seal_and_note(now, buffer, started, true, &contents);
        self.contents = contents.into_memory();
        self.paths.on_mtu_probe_sent(number, size);
        let (local, remote) = (self.local(), self.remote());
        Some(self.finish_over(now, size, &DatagramDraft::default(), local, remote))
    }

    /// Protects a packet of a path and records that it was sent.
    fn seal_and_note(
        &mut self,
        now: Time,
        buffer: &mut Vec<u8>,
        started: StartedPacket,
        current: bool,
        contents: &Contents,
    ) {
        let number = started.number;
        self.seal(SpaceKind::Data, number, buffer, started, 0);
        self.note_sealed(contents);
        let size = buffer.len() as u32;
        if current {
            self.paths.current.recovery.on_sent(now, &mut self.spaces.data, size, contents);
        } else {
            // RFC 9000-9.4-1: "Packets sent on the old path MUST NOT contribute".
            let epoch = std::mem::replace(&mut self.spaces.data.sent.epoch, PROBING);
            self.spaces.data.sent.push(now, size, congestion::SentState::default(), contents);
            self.spaces.data.sent.epoch = epoch;
        }
        self.note_packet_sent(now, true);
    }
}
