//! The paths of a connection: what happens to them here, and what becomes of what they answer (see [`crate::path`]).

use super::Connection;
use super::Transmit;
use super::packet::{DatagramDraft, StartedPacket, TAG};
use crate::assemble::Payload;
use crate::error::{CloseReason, TransportError};
use crate::ids::NumberedId;
use crate::path::{MIN_PAYLOAD, MigrateError, Migration, Over, PathOutput, PathStats, Paths, Situation};
use crate::sent::{Contents, PROBING, SentFrame, SentKind};
use crate::space::SpaceKind;
use crate::stats::Stats;
use std::net::SocketAddr;
use trace::event::EcnState;
use units::{Duration, Time};
use wire::{ConnectionId, Ecn, Frame, TransportParameters, Truncated};

impl Connection {
    // ---- what an application does and asks ----

    /// A client moves to another local address (RFC 9000 section 9.2): see [`Migration`] for the ways.
    /// [`Event::Migrated`](crate::Event::Migrated) tells that packets go over another path,
    /// [`Event::PathFailed`](crate::Event::PathFailed) that one does not work.
    ///
    /// A candidate that is still being tried gives way to a newer one.
    ///
    /// # Errors
    /// [`MigrateError`] says why it cannot; then nothing has changed. [`Migration::Silent`] only fails for a server and
    /// for a connection that is over.
    pub fn migrate(&mut self, now: Time, local: SocketAddr, how: Migration) -> Result<(), MigrateError> {
        self.now = now;
        self.with_paths(now, |paths, at| paths.migrate(at, local, how))
    }
    /// The address of the other end, on the path in use.
    pub fn remote(&self) -> SocketAddr {
        self.paths.current.route.remote
    }
    /// The address of this end, on the path in use. Its IP is unspecified where the system chooses it.
    pub fn local(&self) -> SocketAddr {
        self.paths.current.route.local
    }
    /// Whether the peer is known to receive at its address, and 1200 bytes to pass (RFC 9000 section 8).
    pub fn is_path_validated(&self) -> bool {
        self.paths.current.route.is_proven()
    }
    /// The RTT estimate.
    pub fn rtt(&self) -> &congestion::RttEstimate {
        &self.paths.current.recovery.rtt
    }
    /// The congestion window and what is in flight, in bytes.
    pub fn flight(&self) -> (u64, u64) {
        let recovery = &self.paths.current.recovery;
        (recovery.window(), recovery.bytes_in_flight)
    }
    /// Where ECN is on the path in use; `None` while the option `ecn` is off.
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
    /// A number that is another one whenever these tokens may be others.
    #[inline]
    pub(crate) fn token_changes(&self) -> u32 {
        self.paths.ids.token_changes()
    }
    /// Whether a datagram from this address that ends in this token is a stateless reset (RFC 9000 section 10.3.1).
    pub(crate) fn is_reset_by(&self, remote: SocketAddr, token: [u8; 16]) -> bool {
        !self.is_over() && self.paths.is_reset_by(remote, token)
    }

    // ---- what the rest of the connection asks ----

    /// The probe timeout of the path in use (RFC 9002 section 6.2.1).
    pub(super) fn probe_timeout(&self) -> Duration {
        self.paths.current.probe_timeout()
    }
    /// How many bytes of frames have room in the largest 1-RTT packet.
    pub(super) fn room_for_frames(&self) -> usize {
        let header = 1 + self.paths.ids.current().len() + Truncated::MAX_LENGTH;
        self.max_udp_payload().saturating_sub(header + TAG)
    }
    /// The counters with those of the paths.
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
            rtt: paths.rtt.clone(),
            ..stats
        }
    }
    #[inline]
    pub(super) fn trace_metrics(&mut self, now: Time) {
        if self.log.interest().metrics {
            self.paths.current.recovery.trace(now, &mut self.traced_state, &mut self.log);
        }
    }

    // ---- what paths hear ----

    /// A datagram of this length came: whether it may be processed.
    #[inline]
    pub(super) fn arrive(&mut self, local: SocketAddr, remote: SocketAddr, length: usize) -> bool {
        let open = !self.is_over();
        self.paths.on_datagram(local, remote, length, open)
    }
    /// The datagram has been processed. Gives whether it came on another path than the one in use.
    #[inline]
    pub(super) fn end_arrival(&mut self) -> bool {
        self.paths.end_datagram()
    }
    /// Whether the datagram that is being processed came on another path than the one in use.
    #[inline]
    pub(super) fn came_elsewhere(&self) -> bool {
        self.paths.is_elsewhere()
    }
    /// The peer's transport parameters have come.
    pub(super) fn set_path_limits(&mut self, peer: &TransportParameters) {
        self.paths.on_peer_parameters(peer);
    }
    /// The peer takes no larger datagrams.
    pub(super) fn limit_payload(&mut self, maximum: u64) {
        self.paths.current.route.limit_payload(maximum);
    }

    /// Tells the paths of something, and does what they answer.
    fn with_paths<T>(&mut self, now: Time, tell: impl FnOnce(&mut Paths, &mut Situation<'_>) -> T) -> T {
        let open = !self.is_over();
        let mut at = Situation { now, open, space: &mut self.spaces.data, local_ids: &self.local_ids };
        let answer = tell(&mut self.paths, &mut at);
        self.settle_paths(now);
        answer
    }
    /// Does what paths have left to be done outside.
    #[inline]
    pub(super) fn settle_paths(&mut self, now: Time) {
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
                PathOutput::Mtu { old, new, done } => self.trace_mtu(now, (old, new), done),
                PathOutput::Metrics => self.trace_metrics(now),
                PathOutput::Retire(sequence) => {
                    self.control.ask(SentFrame::RetireConnectionId { sequence });
                }
                PathOutput::Fail(error) => self.fail(now, error),
                PathOutput::NoPath => self.end_silently(now, CloseReason::NoPath),
            }
        }
    }

    /// The peer is known to receive at its address: it has answered what was sent there.
    pub(super) fn on_address_proven(&mut self) {
        self.paths.current.route.validate();
    }
    /// The peer goes by this id: that of its first packet, or, before that, the one that a client has made up.
    pub(super) fn set_peer_id(&mut self, id: ConnectionId) {
        self.paths.ids.set_first(id);
    }
    /// The handshake is confirmed.
    pub(super) fn confirm_path(&mut self, now: Time) {
        self.paths.on_confirmed(now);
        self.settle_paths(now);
    }
    /// NEW_CONNECTION_ID (19.15).
    pub(super) fn on_new_id(
        &mut self,
        now: Time,
        new: NumberedId,
        retire_prior_to: u64,
    ) -> Result<(), TransportError> {
        self.with_paths(now, |paths, _| paths.on_new_id(new, retire_prior_to))
    }
    /// PATH_RESPONSE (19.18).
    pub(super) fn on_response(&mut self, now: Time, data: [u8; 8]) -> Result<(), TransportError> {
        let answer = self.with_paths(now, |paths, at| paths.on_response(at, data))?;
        if let Some(took) = answer {
            self.paths.current.recovery.guess_rtt(took);
        }
        Ok(())
    }
    /// PATH_CHALLENGE (19.17).
    pub(super) fn on_challenge(&mut self, data: [u8; 8]) {
        self.paths.on_challenge(data);
    }
    /// The peer has retired one of our ids.
    pub(super) fn on_own_id_retired(&mut self, now: Time, id: &ConnectionId) {
        self.with_paths(now, |paths, _| paths.on_own_id_retired(id));
    }
    /// A packet of a datagram from elsewhere opened and was processed. `newest`: no higher number has come.
    #[cold]
    pub(super) fn on_packet_elsewhere(&mut self, now: Time, to: ConnectionId, newest: bool, probing: bool) {
        self.with_paths(now, |paths, at| paths.on_packet_elsewhere(at, to, newest, probing));
    }
    /// Time has passed, and a path may have run out of it.
    #[cold]
    pub(super) fn on_path_time(&mut self, now: Time) {
        self.with_paths(now, Paths::on_time);
    }

    // ---- what paths send ----

    /// The ECN field of the next datagram.
    #[inline]
    pub(super) fn mark(&mut self, now: Time) -> Ecn {
        let ecn = self.paths.mark(now);
        self.settle_paths(now);
        ecn
    }

    /// A datagram for the validation of a path, if one is to be sent.
    #[cold]
    pub(super) fn transmit_validation(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if !self.has_keys(SpaceKind::Data) {
            return None;
        }
        let datagram = self.paths.validation_datagram()?;
        if !self.may_seal(now) {
            return None;
        }
        let begun = self.begin_packet(SpaceKind::Data, datagram.id, buffer)?;
        let mut contents = std::mem::take(&mut self.contents);
        let mut payload = Payload::new(buffer, &mut contents, datagram.limit - TAG, false);
        let (answers, challenge) = self.paths.fill_validation(datagram.over, &mut payload);
        let current = datagram.over == Over::Current;
        let received = &mut self.spaces.data.received;
        if current && received.is_waiting() {
            received.fill(now, &mut payload);
        }
        if current && answers && payload.contents().acked.is_none() && payload.room() > 0 {
            // 9.3.3: an answer on the path in use is not a probe, so that the peer comes back if it was led away.
            payload.passing_frame(&Frame::Ping, true);
        }
        if datagram.limit == usize::from(MIN_PAYLOAD) {
            // RFC 9000-8.2.1-2, 9000-8.2.2-5: so that the path is known to carry what QUIC needs. RFC 9000-8.2.2-6: not
            // where the amplification limit forbids it.
            payload.pad_to(datagram.limit - TAG);
        }
        let length = payload.length() + TAG;
        if !current {
            // 9.4: the loss of a probe tells nothing of the path in use, and its timer is that of the validation.
            (contents.ack_eliciting, contents.in_flight) = (false, false);
        }
        let named = (begun.number, datagram.id);
        self.trace_packet_sent(now, SpaceKind::Data, named, &buffer[begun.payload_offset..], (length, None));
        self.seal_and_note(now, buffer, begun, current, &contents);
        self.contents = contents;
        self.paths.on_validation_sent(now, datagram.over, length, challenge);
        Some(self.finish_over(now, length, &DatagramDraft::default(), (datagram.local, datagram.remote)))
    }

    /// A probe of the size of datagrams on the path in use, if one is to be sent (RFC 9000 section 14.4).
    #[cold]
    pub(super) fn transmit_mtu_probe(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let size = self.paths.mtu_probe(now, self.spaces.data.probing.left > 0)?;
        let id = self.paths.ids.current();
        let begun = self.begin_packet(SpaceKind::Data, id, buffer)?;
        let mut contents = std::mem::take(&mut self.contents);
        let mut payload = Payload::new(buffer, &mut contents, size - TAG, false);
        // RFC 9000 section 14.4: nothing that would be missed.
        payload.passing_frame(&Frame::Ping, true);
        payload.pad_to(size - TAG);
        contents.kind = SentKind::MtuProbe;
        let number = begun.number;
        let named = (number, id);
        self.trace_packet_sent(now, SpaceKind::Data, named, &buffer[begun.payload_offset..], (size, None));
        self.seal_and_note(now, buffer, begun, true, &contents);
        self.contents = contents;
        self.paths.on_mtu_probe_sent(number, size);
        let ends = (self.local(), self.remote());
        Some(self.finish_over(now, size, &DatagramDraft::default(), ends))
    }

    /// Protects a packet that a path asked for and notes that it was sent.
    fn seal_and_note(
        &mut self,
        now: Time,
        buffer: &mut Vec<u8>,
        begun: StartedPacket,
        current: bool,
        contents: &Contents,
    ) {
        let number = begun.number;
        self.seal(SpaceKind::Data, number, buffer, begun, 0);
        self.note_sealed(contents);
        let size = buffer.len() as u32;
        if current {
            self.paths.current.recovery.on_sent(now, &mut self.spaces.data, size, contents);
        } else {
            // RFC 9000-9.4-1.
            let epoch = std::mem::replace(&mut self.spaces.data.sent.epoch, PROBING);
            self.spaces.data.sent.push(now, size, congestion::SentState::default(), contents);
            self.spaces.data.sent.epoch = epoch;
        }
        self.note_packet_sent(now, true);
    }
}
