//! How a datagram is made.

use super::{Connection, Phase, Progress};
use crate::assemble::Payload;
use crate::config::ImmediateAck;
use crate::path::{LEAST_ROOM, MIN_PAYLOAD};
use crate::sent::{SentFrame, SentKind};
use crate::space::{Space, SpaceKind};
use congestion::Limit;
use std::net::SocketAddr;
use tls::Sealer;
use units::Time;
use wire::header::{LongHeader, ShortHeader, WrittenLong};
use wire::{ConnectionId, Ecn, EcnCounts, Frame, Hole, Side, Truncated};

/// The tag of every AEAD of QUIC (RFC 9001 section 5.3).
pub(super) const TAG: usize = 16;
/// CONNECTION_CLOSE without its reason: type, code, frame type and length (RFC 9000 section 19.19).
const MAX_CLOSE_FIELDS: usize = 1 + 8 + 8 + 2;
/// Header protection takes its sample four bytes behind the start of the packet number (RFC 9001 section 5.4.2).
const SAMPLE_OFFSET: usize = 4;

/// A UDP datagram that is to be sent; its bytes stand in the buffer that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// The address here that it leaves from. An unspecified IP address (0.0.0.0, ::) leaves the choice to the system.
    pub local: SocketAddr,
    /// Where to.
    pub remote: SocketAddr,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its virtual bytes, which do not stand in the buffer.
    pub hole: Option<Hole>,
    /// Whether it carries application data.
    pub carries_data: bool,
    /// Its length in bytes, hole included.
    pub length: usize,
}

/// What a space may put into a packet now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    Nothing,
    /// An ACK frame alone.
    Ack,
    /// Frames that count towards bytes in flight.
    Flight,
}

/// Whether a datagram is to have 1200 bytes at least (RFC 9000 section 14.1), as one of its packets sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expansion {
    /// It need not.
    None,
    /// This packet is padded, unless another fits behind it.
    IfLast,
    /// This packet is padded.
    Here,
}

/// A header that was written, and its packet's beginnings in the datagram.
pub(super) struct Begun {
    start: usize,
    number_offset: usize,
    pub(super) payload_offset: usize,
    long: Option<WrittenLong>,
}

impl Connection {
    /// Makes the next datagram, if one is to be sent at `now`, at the end of `buffer`, which is empty.
    pub fn transmit(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        debug_assert!(buffer.is_empty());
        match self.phase {
            Phase::Open => {}
            Phase::Closing { .. } => return self.transmit_close(now, buffer),
            // RFC 9000-10.2.2-1, 9000-10.2.2-2.
            Phase::Draining { .. } | Phase::Gone => return None,
        }
        if self.has_path_duties()
            && let Some(transmit) = self.transmit_validation(now, buffer)
        {
            return Some(transmit);
        }
        if self.path.is_blocked() {
            // RFC 9002 section 7.8: it is not the window that holds.
            self.recovery.note_stop(now, Limit::Application);
            return None;
        }
        if self.path.mtu.as_ref().is_some_and(|search| search.due().is_some())
            && let Some(transmit) = self.transmit_mtu_probe(now, buffer)
        {
            return Some(transmit);
        }
        let limit = self.path.payload(self.config.max_udp_payload);
        let mut made = Made { ecn: self.mark(now), ..Made::default() };
        if self.progress == Progress::Confirmed {
            let wants = self.data_wants(now, limit);
            if wants != Wants::Nothing {
                self.packet(now, SpaceKind::Data, wants, (buffer, limit, Expansion::None), &mut made);
            }
        } else {
            self.transmit_handshake(now, buffer, limit, &mut made);
        }
        self.finish_datagram(now, buffer, &made)
    }

    #[inline]
    fn finish_datagram(&mut self, now: Time, buffer: &mut [u8], made: &Made) -> Option<Transmit> {
        if buffer.is_empty() {
            return None;
        }
        let length = buffer.len() + made.hole.map_or(0, |hole| hole.length as usize);
        self.path.on_sent(length as u64);
        let (local, remote) = (self.path.local, self.path.remote);
        Some(self.finish_over(now, length, made, (local, remote)))
    }

    /// A datagram of this length leaves between these addresses.
    #[inline]
    pub(super) fn finish_over(
        &mut self,
        now: Time,
        length: usize,
        made: &Made,
        (local, remote): (SocketAddr, SocketAddr),
    ) -> Transmit {
        self.stats.datagrams_sent += 1;
        self.stats.bytes_sent += length as u64;
        self.trace_datagram_sent(now, length);
        Transmit { local, remote, ecn: made.ecn, hole: made.hole, carries_data: made.carries_data, length }
    }

    /// While the handshake is not confirmed: packets of several spaces in one datagram (RFC 9000 section 12.2), which
    /// is padded where the RFC asks for it (14.1).
    fn transmit_handshake(&mut self, now: Time, buffer: &mut Vec<u8>, limit: usize, made: &mut Made) {
        let mut wants = [Wants::Nothing; 3];
        for kind in SpaceKind::ALL {
            wants[kind as usize] = match kind {
                SpaceKind::Data => self.data_wants(now, limit),
                early => self.early_wants(now, early, limit),
            };
        }
        if !wants.contains(&Wants::Flight) && self.recovery.admits(limit as u64) {
            // RFC 9002 section 7.8: messages of the handshake seldom fill the window.
            self.note_nothing_to_send(now);
        }
        let initial = wants[SpaceKind::Initial as usize];
        // RFC 9000-8.1-3, 9000-14.1-1: every Initial of a client; 9000-14.1-2: those of a server that are acknowledged.
        let mut padded = match self.origin.side {
            Side::Client => initial != Wants::Nothing,
            Side::Server => initial == Wants::Flight,
        };
        // A server that may not send a full datagram does not send an Initial packet that asks for one.
        if padded && limit < usize::from(MIN_PAYLOAD) {
            let due = self.space(SpaceKind::Initial).is_some_and(|space| space.received.is_due(now));
            wants[SpaceKind::Initial as usize] = if due { Wants::Ack } else { Wants::Nothing };
            padded = false;
        }
        for kind in SpaceKind::ALL {
            let room = limit.saturating_sub(buffer.len() + made.hole.map_or(0, |hole| hole.length as usize));
            if wants[kind as usize] == Wants::Nothing || (!buffer.is_empty() && room < LEAST_ROOM) {
                continue;
            }
            let last = SpaceKind::ALL
                .into_iter()
                .all(|later| later <= kind || wants[later as usize] == Wants::Nothing);
            let expansion = match (padded, last) {
                (false, _) => Expansion::None,
                (true, false) => Expansion::IfLast,
                (true, true) => Expansion::Here,
            };
            let before = buffer.len();
            self.packet(now, kind, wants[kind as usize], (buffer, limit, expansion), made);
            if kind == SpaceKind::Handshake && self.origin.side == Side::Client && buffer.len() > before {
                // RFC 9001 section 4.9.1: a client that sends a Handshake packet is done with Initial ones.
                self.discard_space(now, SpaceKind::Initial);
            }
        }
    }

    fn early_wants(&mut self, now: Time, kind: SpaceKind, limit: usize) -> Wants {
        if self.space(kind).is_some_and(|space| space.probes > 0) {
            self.repeat_oldest(now, kind);
        }
        let Some(space) = self.space(kind).filter(|space| space.keys.is_some()) else {
            return Wants::Nothing;
        };
        let flight = space.crypto.has_pending() || space.ping;
        if space.probes > 0 || flight && self.recovery.admits(limit as u64) {
            Wants::Flight
        } else if space.received.is_due(now) {
            Wants::Ack
        } else {
            Wants::Nothing
        }
    }

    /// What the 1-RTT space may send, with window and pacer asked, and noted where they refuse.
    #[inline]
    fn data_wants(&mut self, now: Time, limit: usize) -> Wants {
        if (self.data.keys.is_none()
            || self.progress == Progress::Handshaking && self.origin.side == Side::Client)
            && !self.sends_early_data()
        {
            return Wants::Nothing;
        }
        if self.data.probes > 0 {
            self.repeat_oldest(now, SpaceKind::Data);
            return Wants::Flight;
        }
        let ack = if self.data.received.is_due(now) { Wants::Ack } else { Wants::Nothing };
        if !self.recovery.admits(self.room_wanted(limit)) && self.awaits_acknowledgement() {
            self.recovery.note_stop(now, Limit::Window);
            return ack;
        }
        let view = self.view(now);
        let pending = self.streams.has_pending(&view)
            || !self.control.is_empty()
            || self.data.ping
            || self.has_datagrams()
            || self.data.crypto.has_pending();
        if !pending {
            self.note_nothing_to_send(now);
            return ack;
        }
        if let Some(at) = self.recovery.paced_until(now) {
            self.recovery.note_stop(now, Limit::Pacer);
            self.paced_until = Some(at);
            return ack;
        }
        Wants::Flight
    }

    /// Nothing may be sent though the window has room: because there is nothing, or because the peer gives no credit for it,
    /// which limits the rate as a network would (draft-ietf-ccwg-bbr-06 section 4.1.1.3.1).
    #[inline]
    fn note_nothing_to_send(&mut self, now: Time) {
        if self.streams.wait_for_credit() || self.paced_until.is_some_and(|until| until > now) {
            self.recovery.note_stop(now, Limit::Application);
        } else {
            self.recovery.note_dry(now);
        }
    }

    /// Whether an acknowledgement will come that makes room in the window. Packets of ACK and PADDING frames take room (RFC
    /// 9002 section 2), but nobody acknowledges them, nor notices that they are lost, until something else is sent.
    #[inline]
    fn awaits_acknowledgement(&self) -> bool {
        let mut early = self.early_spaces.iter().flatten();
        self.data.sent.ack_eliciting() > 0 || early.any(|space| space.sent.ack_eliciting() > 0)
    }

    /// Makes one packet at the end of the datagram.
    #[inline]
    fn packet(
        &mut self,
        now: Time,
        kind: SpaceKind,
        wants: Wants,
        (buffer, limit, expansion): (&mut Vec<u8>, usize, Expansion),
        made: &mut Made,
    ) {
        if kind == SpaceKind::Data
            && self.key_phases.is_due()
            && !self.is_early(kind)
            && !self.check_key_use(now)
        {
            return;
        }
        if kind == SpaceKind::Data && self.variety.is_some() {
            self.skip_number(now);
        }
        let destination = self.remote_ids.current();
        let Some(begun) = self.begin_packet(kind, destination, buffer) else { return };
        let number = self.space(kind).map_or(0, |space| space.sent.next_number());
        let hollow = kind == SpaceKind::Data && self.sealer(kind).is_some_and(Sealer::is_null);
        let mut contents = std::mem::take(&mut self.contents);
        let mut payload = Payload::new(buffer, &mut contents, limit - TAG, hollow);
        self.fill(now, kind, wants, &mut payload);
        let behind = limit.saturating_sub(payload.length() + TAG);
        if expansion == Expansion::Here || expansion == Expansion::IfLast && behind < LEAST_ROOM {
            payload.pad_to(usize::from(MIN_PAYLOAD) - TAG);
        }
        // The sample for header protection must lie in the packet.
        if payload.length() < begun.number_offset + SAMPLE_OFFSET {
            payload.pad_to(begun.number_offset + SAMPLE_OFFSET);
        }
        let (hole, carries_data, length) = (payload.hole(), payload.carries_data, payload.length());
        if length == begun.payload_offset {
            // RFC 9000-12.4-1: nothing was to be said after all.
            buffer.truncate(begun.start);
            self.contents = contents;
            return;
        }
        self.trace_packet_sent(
            now,
            kind,
            (number, destination),
            &buffer[begun.payload_offset..],
            (length + TAG - begun.start, hole),
        );
        let virtual_length = hole.map_or(0, |hole| hole.length as usize);
        let size = (length + TAG - begun.start) as u32;
        if carries_data && self.config.immediate_ack == ImmediateAck::Bit && !self.is_early(kind) {
            buffer[begun.start] |= self.immediate_ack_bit(u64::from(size));
        }
        self.seal(kind, number, buffer, begun, virtual_length);
        if made.ecn != Ecn::NotEct {
            contents.kind = SentKind::Ect;
            self.path.ecn.on_marked();
            self.stats.ect_packets_sent += 1;
        }
        let space = match kind {
            SpaceKind::Data => Some(&mut self.data),
            early => self.early_spaces[early as usize].as_deref_mut(),
        };
        if let Some(space) = space {
            space.ping &= !contents.ack_eliciting;
            space.probes = space.probes.saturating_sub(u8::from(contents.ack_eliciting));
            self.recovery.on_sent(now, space, size, &contents);
        }
        if kind == SpaceKind::Data {
            self.key_phases.on_sealed(contents.acked.is_some());
        }
        self.stats.data_packets_sent += u64::from(carries_data);
        self.note_packet_sent(now, contents.ack_eliciting);
        self.contents = contents;
        made.hole = made.hole.or(hole);
        made.carries_data |= carries_data;
    }

    /// Leaves a packet number out, if one is due (RFC 9000 section 21.4).
    #[cold]
    fn skip_number(&mut self, now: Time) {
        let number = self.data.sent.next_number();
        if self.variety.as_mut().is_some_and(|variety| variety.skips(number)) {
            self.data.sent.skip(now);
        }
    }

    #[inline]
    pub(super) fn note_packet_sent(&mut self, now: Time, ack_eliciting: bool) {
        self.stats.packets_sent += 1;
        self.stats.ack_only_packets_sent += u64::from(!ack_eliciting);
        if ack_eliciting {
            self.probe_base = now;
            if !std::mem::replace(&mut self.eliciting_since_receipt, true) {
                // RFC 9000 section 10.1: the first ack-eliciting packet after one received restarts the idle timer.
                self.idle_from = now;
            }
        }
    }

    #[inline]
    pub(super) fn begin_packet(
        &mut self,
        kind: SpaceKind,
        destination: ConnectionId,
        buffer: &mut Vec<u8>,
    ) -> Option<Begun> {
        let space = self.space(kind)?;
        let start = buffer.len();
        let number = Truncated::new(space.sent.next_number(), space.largest_acked);
        // RFC 9000-12.2-2: the same for all packets of a datagram.
        let (number_offset, long) = match kind {
            SpaceKind::Data if !self.is_early(kind) => {
                let header = ShortHeader { destination, spin: false, key_phase: self.key_phases.bit, number };
                (header.write(buffer), None)
            }
            early => {
                let header = LongHeader {
                    kind: self.packet_kind(early),
                    version: self.version_of(self.packet_kind(early)),
                    destination,
                    // RFC 9000-17.2.5.2-5: the same from the first packet to the last with a long header.
                    source: self.local_ids.first(),
                    // RFC 9000-8.1.2-1, 9000-8.1.3-1: written for Initial packets only, and for all of them.
                    // RFC 9000-17.2.2-1: a server has none.
                    token: &self.token,
                    number,
                };
                let written = header.write(buffer);
                (written.number_offset, Some(written))
            }
        };
        if let Some(variety) = &mut self.variety {
            variety.mark(destination, &mut buffer[start]);
        }
        Some(Begun { start, number_offset, payload_offset: buffer.len(), long })
    }

    /// Fills a payload in the order in which frames matter.
    #[inline]
    fn fill(&mut self, now: Time, kind: SpaceKind, wants: Wants, payload: &mut Payload<'_>) {
        let exponent = self.config.ack_delay_exponent;
        let space = match kind {
            SpaceKind::Data => &mut self.data,
            early => match self.early_spaces[early as usize].as_deref_mut() {
                Some(space) => space,
                None => return,
            },
        };
        // RFC 9000-13.2.6-1, 9000-13.2.6-2, 9000-13.2.6-3, 9000-17.2.3-3: of this space alone.
        if space.received.is_waiting() {
            fill_ack(now, space, exponent, payload);
        }
        if wants != Wants::Flight {
            // RFC 9002 section 7: what elicits an acknowledgement needs room in the window.
            if kind == SpaceKind::Data
                && self.recovery.admits(payload.room() as u64)
                && space.received.asks_to_be_heard(now, self.recovery.rtt.smoothed())
            {
                payload.passing_frame(&Frame::Ping, true);
            }
            return;
        }
        space.crypto.fill(payload);
        // RFC 9000-12.5-2: the other spaces carry nothing of this.
        if kind == SpaceKind::Data {
            self.fill_control(payload);
            if self.has_datagrams() {
                self.fill_datagrams(payload);
            }
            let view = self.view(now);
            if self.config.immediate_ack == ImmediateAck::Frame {
                self.fill_immediate_ack(payload, &view);
            }
            self.streams.fill(payload, &view);
        }
        // RFC 9000-13.2.1-5: for probes alone, never because only ACK frames are sent.
        let ping = self.space(kind).is_some_and(|space| space.ping || space.probes > 0);
        if ping && !payload.contents().ack_eliciting && payload.room() > 0 {
            payload.passing_frame(&Frame::Ping, true);
        }
    }

    /// The connection's own control frames.
    fn fill_control(&mut self, payload: &mut Payload<'_>) {
        while let Some(&pending) = self.control.front() {
            if let Some(frame) = self.control_frame(pending) {
                if frame.encoded_size() > payload.room() {
                    return;
                }
                payload.frame(&frame, pending);
                match frame {
                    Frame::NewConnectionId { sequence, .. } => self.local_ids.note_sent(sequence),
                    Frame::AckFrequency { max_ack_delay_us, .. } => {
                        self.note_ack_frequency_sent(max_ack_delay_us);
                    }
                    _ => {}
                }
            }
            self.control.pop_front();
        }
    }

    fn control_frame(&self, pending: SentFrame) -> Option<Frame<'_>> {
        match pending {
            SentFrame::NewConnectionId { sequence } => {
                let known = self.local_ids.get(sequence)?;
                Some(Frame::NewConnectionId {
                    sequence,
                    // RFC 9000-19.15-5: nothing is asked to be retired.
                    retire_prior_to: 0,
                    id: known.id,
                    token: known.token,
                })
            }
            SentFrame::RetireConnectionId { sequence } => Some(Frame::RetireConnectionId { sequence }),
            SentFrame::HandshakeDone => Some(Frame::HandshakeDone),
            SentFrame::AckFrequency => self.ack_frequency(),
            SentFrame::NewToken { index } => self.issued_token(index).map(|token| Frame::NewToken { token }),
            _ => None,
        }
    }

    /// Puts the tag on and both protections.
    #[inline]
    pub(super) fn seal(
        &self,
        kind: SpaceKind,
        number: u64,
        buffer: &mut Vec<u8>,
        begun: Begun,
        virtual_length: usize,
    ) {
        buffer.resize(buffer.len() + TAG, 0);
        if let Some(long) = begun.long {
            let behind = buffer.len() - begun.payload_offset + virtual_length;
            long.set_length(buffer, behind);
        }
        if let Some(sealer) = self.sealer(kind) {
            let packet = &mut buffer[begun.start..];
            sealer.seal(
                number,
                packet,
                begun.number_offset - begun.start,
                begun.payload_offset - begun.start,
            );
        }
    }

    /// CONNECTION_CLOSE in every space whose packets the peer may be able to open (10.2.3).
    fn transmit_close(&mut self, now: Time, buffer: &mut Vec<u8>) -> Option<Transmit> {
        if self.path.is_blocked() {
            return None;
        }
        let limit = self.path.payload(self.config.max_udp_payload) as u64;
        let limit = limit.min(self.closing_limit()?) as usize;
        let spaces: Vec<SpaceKind> = self.closing_spaces().collect();
        let pad = spaces.contains(&SpaceKind::Initial) && self.origin.side == Side::Client;
        if pad && limit < usize::from(MIN_PAYLOAD) {
            return None;
        }
        for (i, kind) in spaces.iter().copied().enumerate() {
            let destination = self.remote_ids.current();
            let Some(begun) = self.begin_packet(kind, destination, buffer) else { continue };
            // 8.1: the last words count against the credit of an address that is not proven, too.
            let Some(room) = limit.checked_sub(buffer.len() + TAG + MAX_CLOSE_FIELDS) else {
                buffer.truncate(begun.start);
                break;
            };
            let number = self.space(kind).map_or(0, |space| space.sent.next_number());
            self.encode_close(kind, room, buffer);
            if pad && i + 1 == spaces.len() {
                let padded = buffer.len().max(usize::from(MIN_PAYLOAD) - TAG);
                buffer.resize(padded, 0);
            }
            let sample = begun.number_offset + SAMPLE_OFFSET;
            buffer.resize(buffer.len().max(sample), 0);
            let size = buffer.len() + TAG - begun.start;
            let named = (number, destination);
            self.trace_packet_sent(now, kind, named, &buffer[begun.payload_offset..], (size, None));
            self.seal(kind, number, buffer, begun, 0);
            let mut contents = std::mem::take(&mut self.contents);
            contents.clear();
            if let Some(space) = self.space_mut(kind) {
                // Numbers are never used twice, in closing either.
                space.sent.push(now, size as u32, congestion::SentState::default(), &contents);
            }
            self.contents = contents;
            self.stats.packets_sent += 1;
        }
        let transmit = self.finish_datagram(now, buffer, &Made::default())?;
        self.note_close_sent(transmit.length as u64);
        Some(transmit)
    }
}

/// What a datagram has come to hold.
#[derive(Debug, Default)]
pub(super) struct Made {
    hole: Option<Hole>,
    carries_data: bool,
    /// The field that it leaves with.
    ecn: Ecn,
}

#[inline]
pub(super) fn fill_ack(now: Time, space: &mut Space, exponent: u8, payload: &mut Payload<'_>) {
    let received = &mut space.received;
    let Some(largest) = received.ranges.max() else { return };
    let delay = received.delay(now).as_micros() >> exponent;
    let ecn = received.ecn_counts().map(|[ect0, ect1, ce]| EcnCounts { ect0, ect1, ce });
    let mut written = 0;
    payload.ack(largest, |out, room| {
        let descending = received.ranges.iter().rev().map(|range| range.start..=range.end - 1);
        written = wire::frame::ack(out, descending, delay, ecn, room);
        written > 0
    });
    if written > 0 {
        received.note_ack_sent();
    }
}
