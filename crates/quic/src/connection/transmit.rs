//! Builds datagrams.

use super::packet::{DatagramDraft, Expansion, PacketPlace, SAMPLE_OFFSET, SpaceWants, TAG, TypedPlace};
use super::tracing::TracedPacket;
use super::{Connection, Progress, Transmit};
use crate::path::{MIN_PAYLOAD, MIN_ROOM};
use crate::space::SpaceKind;
use congestion::Limit;
use std::net::SocketAddr;
use trace::Wait;
use transport::Outgoing;
use units::Time;
use wire::Side;

/// CONNECTION_CLOSE without its reason: type, code, frame type and length (RFC 9000 section 19.19).
const MAX_CLOSE_FIELDS: usize = 1 + 8 + 8 + 2;

impl Connection {
    /// Writes the next datagram to send at `now`, if any.
    pub fn transmit(&mut self, now: Time, out: &mut Outgoing<'_>) -> Option<Transmit> {
        let buffer = &mut *out.bytes;
        debug_assert!(buffer.is_empty(), "a datagram begins in an empty buffer");
        if self.is_over() {
            return self.transmit_close(now, buffer);
        }
        if self.paths.has_validation_work()
            && let Some(transmit) = self.transmit_validation(now, buffer)
        {
            return Some(transmit);
        }
        if self.paths.current.route.is_blocked() {
            // RFC 9002 section 7.8: the congestion window is not the limit.
            self.paths.current.recovery.note_stop(now, Limit::Application);
            self.trace_wait(now, Wait::Validation);
            return None;
        }
        if self.paths.probes_size()
            && let Some(transmit) = self.transmit_mtu_probe(now, buffer)
        {
            return Some(transmit);
        }
        let limit = self.paths.current.route.payload();
        let ecn = self.mark(now);
        if self.progress == Progress::Confirmed {
            let wants = self.data_wants(now, limit);
            if wants == SpaceWants::Nothing {
                return None;
            }
            let mut draft = DatagramDraft { ecn, ..DatagramDraft::default() };
            if let Some(typed) = &mut out.typed
                && self.may_stay_typed()
            {
                self.typed_packet(now, wants, TypedPlace { buffer, typed, limit }, &mut draft);
                let transmit = self.finish_datagram(now, buffer, &draft)?;
                return Some(Transmit { last: self.is_last(now, wants), ..transmit });
            } else {
                let place = PacketPlace { buffer, limit, expansion: Expansion::None };
                self.packet(now, SpaceKind::Data, wants, place, &mut draft);
            }
            return self.finish_datagram(now, buffer, &draft);
        }
        let mut draft = DatagramDraft { ecn, ..DatagramDraft::default() };
        self.transmit_handshake(now, buffer, limit, &mut draft);
        self.finish_datagram(now, buffer, &draft)
    }

    /// Whether another call at this time would find nothing to send, and no event was caused, after a datagram that the
    /// space wanted.
    #[inline]
    fn is_last(&mut self, now: Time, wants: SpaceWants) -> bool {
        let path = &self.paths.current;
        let limit = path.route.payload();
        let stops = wants == SpaceWants::Ack || !path.recovery.admits(self.paths.room_wanted(limit, false));
        stops
            && !self.has_events()
            && !self.records_are_due()
            && !self.is_over()
            && !self.paths.has_duties()
            && self.data_wants(now, limit) == SpaceWants::Nothing
    }

    #[inline]
    fn finish_datagram(&mut self, now: Time, buffer: &mut [u8], draft: &DatagramDraft) -> Option<Transmit> {
        let length = draft.typed + buffer.len() + draft.hole.map_or(0, |hole| hole.length as usize);
        if length == 0 {
            return None;
        }
        let route = &mut self.paths.current.route;
        route.on_sent(length as u64);
        let (local, remote) = (route.local, route.remote);
        self.note_learning_sent(now);
        Some(self.finish_over(now, length, draft, local, remote))
    }

    /// Counts a sent datagram of this length and describes it.
    #[inline]
    pub(super) fn finish_over(
        &mut self,
        now: Time,
        length: usize,
        draft: &DatagramDraft,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> Transmit {
        self.stats.datagrams_sent += 1;
        self.stats.bytes_sent += length as u64;
        self.trace_datagram_sent(now, length);
        let DatagramDraft { ecn, hole, carries_data, .. } = *draft;
        Transmit { local, remote, ecn, hole, carries_data, length, last: false }
    }

    /// Builds a datagram before the handshake is confirmed: it may contain packets of several spaces (RFC 9000
    /// section 12.2), and is padded if section 14.1 requires it.
    fn transmit_handshake(
        &mut self,
        now: Time,
        buffer: &mut Vec<u8>,
        limit: usize,
        draft: &mut DatagramDraft,
    ) {
        let mut wants = [SpaceWants::Nothing; 3];
        for kind in SpaceKind::ALL {
            wants[kind as usize] = match kind {
                SpaceKind::Data => self.data_wants(now, limit),
                early => self.handshake_wants(now, early, limit),
            };
        }
        if !wants.contains(&SpaceWants::Flight) && self.paths.current.recovery.admits(limit as u64) {
            // RFC 9002 section 7.8: handshake messages rarely fill the window.
            self.note_nothing_to_send(now);
        }
        let initial = wants[SpaceKind::Initial as usize];
        // RFC 9000-8.1-3, 9000-14.1-1: every Initial packet of a client; 9000-14.1-2: the ack-eliciting ones of a
        // server.
        let mut padded = match self.origin.side {
            Side::Client => initial != SpaceWants::Nothing,
            Side::Server => initial == SpaceWants::Flight,
        };
        // A server that may not send a full datagram sends no Initial packet that requires one.
        if padded && limit < usize::from(MIN_PAYLOAD) {
            wants[SpaceKind::Initial as usize] = self.ack_wanted(now, SpaceKind::Initial);
            padded = false;
        }
        for kind in SpaceKind::ALL {
            let room = limit.saturating_sub(buffer.len() + draft.hole.map_or(0, |hole| hole.length as usize));
            if wants[kind as usize] == SpaceWants::Nothing || (!buffer.is_empty() && room < MIN_ROOM) {
                continue;
            }
            let last = SpaceKind::ALL
                .into_iter()
                .all(|later| later <= kind || wants[later as usize] == SpaceWants::Nothing);
            let expansion = match (padded, last) {
                (false, _) => Expansion::None,
                (true, false) => Expansion::IfLast,
                (true, true) => Expansion::Here,
            };
            let before = buffer.len();
            let place = PacketPlace { buffer, limit, expansion };
            self.packet(now, kind, wants[kind as usize], place, draft);
            if kind == SpaceKind::Handshake && self.origin.side == Side::Client && buffer.len() > before {
                // RFC 9001 section 4.9.1: a client discards the Initial keys when it first sends a Handshake packet.
                self.discard_space(now, SpaceKind::Initial);
            }
        }
    }

    /// Builds CONNECTION_CLOSE in every space whose packets the peer may be able to decrypt (RFC 9000 section
    /// 10.2.3).
    fn transmit_close(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if self.paths.current.route.is_blocked() {
            return None;
        }
        let limit = self.paths.current.route.payload() as u64;
        // RFC 9000-10.2.2-1, 9000-10.2.2-2: "an endpoint in the draining state MUST NOT send any packets".
        let limit = limit.min(self.closing_limit()?) as usize;
        let spaces: Vec<SpaceKind> = self.closing_spaces().collect();
        let pad = spaces.contains(&SpaceKind::Initial) && self.origin.side == Side::Client;
        if pad && limit < usize::from(MIN_PAYLOAD) {
            return None;
        }
        for (i, kind) in spaces.iter().copied().enumerate() {
            let destination = self.paths.ids.current();
            let started = self.begin_packet(kind, destination, buffer);
            // RFC 9000 section 8.1: the anti-amplification limit also applies to CONNECTION_CLOSE.
            let Some(room) = limit.checked_sub(buffer.len() + TAG + MAX_CLOSE_FIELDS) else {
                buffer.truncate(started.start);
                break;
            };
            let number = started.number;
            self.encode_close(kind, room, buffer);
            if pad && i + 1 == spaces.len() {
                let padded = buffer.len().max(usize::from(MIN_PAYLOAD) - TAG);
                buffer.resize(padded, 0);
            }
            let sample = started.number_offset + SAMPLE_OFFSET;
            buffer.resize(buffer.len().max(sample), 0);
            let size = buffer.len() + TAG - started.start;
            let traced = TracedPacket {
                number,
                destination,
                length: size,
                payload: &buffer[started.payload_offset..],
                virtual_tail: 0,
            };
            self.trace_packet_sent(now, kind, &traced);
            self.seal(kind, number, buffer, started, 0);
            // Packet numbers are never reused, not even while closing.
            self.note_number_used(now, kind, size as u32);
        }
        let transmit = self.finish_datagram(now, buffer, &DatagramDraft::default())?;
        self.note_close_sent(transmit.length as u64);
        Some(transmit)
    }
}
