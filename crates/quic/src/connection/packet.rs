//! How a packet is made: its header, its frames in the order in which they matter, its protection.

use super::Connection;
use crate::assemble::Payload;
use crate::path::{LEAST_ROOM, MIN_PAYLOAD};
use crate::schedule::PathView;
use crate::sent::{Contents, SentFrame, SentKind};
use crate::space::SpaceKind;
use congestion::{Limit, SentState};
use tls::Sealer;
use trace::PacketKind;
use units::{Duration, Time};
use wire::header::{ShortHeader, WrittenLong};
use wire::{ConnectionId, Ecn, FirstByte, Frame, Hole, Truncated};

/// The tag of every AEAD of QUIC (RFC 9001 section 5.3).
pub(super) const TAG: usize = 16;
/// Header protection takes its sample four bytes behind the start of the packet number (RFC 9001 section 5.4.2).
pub(super) const SAMPLE_OFFSET: usize = 4;

/// What a space may put into a packet now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpaceWants {
    Nothing,
    /// An ACK frame alone.
    Ack,
    /// Frames that count towards bytes in flight.
    Flight,
}

/// Whether a datagram is to have 1200 bytes at least (RFC 9000 section 14.1), as one of its packets sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expansion {
    /// It need not.
    None,
    /// This packet is padded, unless another fits behind it.
    IfLast,
    /// This packet is padded.
    Here,
}

/// What a datagram has come to hold.
#[derive(Debug, Default)]
pub(super) struct DatagramDraft {
    pub(super) hole: Option<Hole>,
    pub(super) carries_data: bool,
    /// The field that it leaves with.
    pub(super) ecn: Ecn,
}

/// A header that was written, and its packet's beginnings in the datagram.
pub(super) struct StartedPacket {
    /// Its packet number.
    pub(super) number: u64,
    pub(super) start: usize,
    pub(super) number_offset: usize,
    pub(super) payload_offset: usize,
    long: Option<WrittenLong>,
}

impl Connection {
    /// Whether a space has to send an ACK frame now.
    pub(super) fn ack_wanted(&self, now: Time, kind: SpaceKind) -> SpaceWants {
        let due = self.spaces.get(kind).is_some_and(|space| space.received.is_due(now));
        if due { SpaceWants::Ack } else { SpaceWants::Nothing }
    }
    /// What a space of the handshake may send.
    pub(super) fn early_wants(&mut self, now: Time, kind: SpaceKind, limit: usize) -> SpaceWants {
        // Without keys nothing waits.
        let Some(space) = self.spaces.get(kind) else { return SpaceWants::Nothing };
        let flight = self.crypto.has_pending(kind) || space.ping;
        if space.probing.left > 0 || flight && self.paths.current.recovery.admits(limit as u64) {
            SpaceWants::Flight
        } else if space.received.is_due(now) {
            SpaceWants::Ack
        } else {
            SpaceWants::Nothing
        }
    }

    /// What the 1-RTT space may send, with window and pacer asked, and noted where they refuse.
    #[inline]
    pub(super) fn data_wants(&mut self, now: Time, limit: usize) -> SpaceWants {
        if !self.may_send_data() {
            return SpaceWants::Nothing;
        }
        if self.spaces.data.probing.left > 0 {
            return SpaceWants::Flight;
        }
        let ack = if self.spaces.data.received.is_due(now) { SpaceWants::Ack } else { SpaceWants::Nothing };
        if !self.paths.current.recovery.admits(self.paths.room_wanted(limit, false))
            && self.awaits_acknowledgement()
        {
            self.paths.current.recovery.note_stop(now, Limit::Window);
            return ack;
        }
        let view = self.view(now);
        let pending = self.streams.has_pending(&view)
            || !self.control.is_empty()
            || self.spaces.data.ping
            || self.has_datagrams()
            || self.crypto.has_pending(SpaceKind::Data);
        if !pending {
            self.note_nothing_to_send(now);
            return ack;
        }
        if !self.paths.current.is_paced(now) {
            self.paths.current.recovery.note_stop(now, Limit::Pacer);
            return ack;
        }
        SpaceWants::Flight
    }

    /// Nothing may be sent though the window has room: because there is nothing, or because the peer gives no credit for it,
    /// which limits the rate as a network would (draft-ietf-ccwg-bbr-06 section 4.1.1.3.1).
    #[inline]
    pub(super) fn note_nothing_to_send(&mut self, now: Time) {
        if self.streams.wait_for_credit() || self.paths.current.paced_until.is_some_and(|until| until > now) {
            self.paths.current.recovery.note_stop(now, Limit::Application);
        } else {
            self.paths.current.recovery.note_dry(now);
        }
    }

    /// Whether an acknowledgement will come that makes room in the window. Packets of ACK and PADDING frames take room (RFC
    /// 9002 section 2), but nobody acknowledges them, nor notices that they are lost, until something else is sent.
    #[inline]
    fn awaits_acknowledgement(&self) -> bool {
        let mut early = self.spaces.early();
        self.spaces.data.sent.ack_eliciting() > 0 || early.any(|space| space.sent.ack_eliciting() > 0)
    }

    fn view(&self, now: Time) -> PathView {
        let recovery = &self.paths.current.recovery;
        PathView { now, window: recovery.window(), smoothed_rtt: recovery.rtt.smoothed() }
    }

    /// Makes one packet at the end of the datagram.
    #[inline]
    pub(super) fn packet(
        &mut self,
        now: Time,
        kind: SpaceKind,
        wants: SpaceWants,
        (buffer, limit, expansion): (&mut Vec<u8>, usize, Expansion),
        made: &mut DatagramDraft,
    ) {
        let early = self.is_early(kind);
        if kind == SpaceKind::Data && !early && !self.may_seal(now) {
            return;
        }
        if kind == SpaceKind::Data && self.variety.is_some() {
            self.skip_number(now);
        }
        let destination = self.paths.ids.current();
        let Some(begun) = self.begin_packet(kind, destination, buffer) else { return };
        let number = begun.number;
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
        if carries_data
            && self.acks.asks_by_bit()
            && !early
            && self.paths.current.fills_window(u64::from(size))
        {
            buffer[begun.start] |= FirstByte::IMMEDIATE_ACK;
        }
        self.seal(kind, number, buffer, begun, virtual_length);
        if made.ecn != Ecn::NotEct {
            contents.kind = SentKind::Ect;
            self.paths.on_marked();
        }
        if let Some(space) = self.spaces.get_mut(kind) {
            space.ping &= !contents.ack_eliciting;
            if space.probing.left > 0 && contents.ack_eliciting {
                space.probing.on_probe(number);
            }
            self.paths.current.recovery.on_sent(now, space, size, &contents);
        }
        if kind == SpaceKind::Data {
            self.note_sealed(&contents);
        }
        self.stats.data_packets_sent += u64::from(carries_data);
        self.note_packet_sent(now, contents.ack_eliciting);
        self.contents = contents;
        made.hole = made.hole.or(hole);
        made.carries_data |= carries_data;
    }

    /// A packet of the data space was sealed.
    #[inline]
    pub(super) fn note_sealed(&mut self, contents: &Contents) {
        self.keys.phases.on_sealed(contents.acked.is_some());
    }
    /// The number of the next packet of the data space.
    pub(super) fn next_number(&self) -> u64 {
        self.spaces.data.sent.next_number()
    }
    /// A packet left of which nothing is remembered but that its number is used.
    pub(super) fn note_number_used(&mut self, now: Time, kind: SpaceKind, size: u32) {
        if let Some(space) = self.spaces.get_mut(kind) {
            space.sent.push(now, size, SentState::default(), &Contents::default());
        }
        self.stats.packets_sent += 1;
    }

    /// Leaves a packet number out, if one is due (RFC 9000 section 21.4).
    #[cold]
    fn skip_number(&mut self, now: Time) {
        let number = self.next_number();
        if self.variety.as_mut().is_some_and(|variety| variety.skips(number)) {
            self.spaces.data.sent.skip(now);
        }
    }

    #[inline]
    pub(super) fn note_packet_sent(&mut self, now: Time, ack_eliciting: bool) {
        self.stats.packets_sent += 1;
        self.stats.ack_only_packets_sent += u64::from(!ack_eliciting);
        if ack_eliciting {
            self.idle.on_eliciting_sent(now);
        }
    }

    #[inline]
    pub(super) fn begin_packet(
        &mut self,
        kind: SpaceKind,
        destination: ConnectionId,
        buffer: &mut Vec<u8>,
    ) -> Option<StartedPacket> {
        let space = self.spaces.get(kind)?;
        let start = buffer.len();
        let next = space.sent.next_number();
        let number = Truncated::new(next, space.largest_acked);
        // RFC 9000-12.2-2: the same for all packets of a datagram.
        let (number_offset, long) = match kind {
            SpaceKind::Data if !self.is_early(kind) => {
                let header =
                    ShortHeader { destination, spin: false, key_phase: self.keys.phases.bit, number };
                (header.write(buffer), None)
            }
            early => {
                let written = self.write_long_header(self.packet_kind(early), destination, number, buffer);
                (written.number_offset, Some(written))
            }
        };
        if let Some(variety) = &mut self.variety {
            variety.mark(destination, &mut buffer[start]);
        }
        Some(StartedPacket { number: next, start, number_offset, payload_offset: buffer.len(), long })
    }

    /// Whether packets of the data space are 0-RTT packets: while there are no other keys.
    #[inline]
    fn is_early(&self, kind: SpaceKind) -> bool {
        kind == SpaceKind::Data && self.keys.get(kind).is_none()
    }
    /// The type of the packets that are sent in a space now.
    #[inline]
    pub(super) fn packet_kind(&self, kind: SpaceKind) -> PacketKind {
        if self.is_early(kind) { PacketKind::ZeroRtt } else { kind.packet_kind() }
    }
    /// What protects the packets that are sent in a space now.
    #[inline]
    fn sealer(&self, kind: SpaceKind) -> Option<&Sealer> {
        match self.keys.get(kind) {
            Some(keys) => Some(&keys.local),
            None if kind == SpaceKind::Data => self.zero_rtt.as_ref()?.sealer.as_ref(),
            None => None,
        }
    }

    /// Fills a payload in the order in which frames matter.
    #[inline]
    fn fill(&mut self, now: Time, kind: SpaceKind, wants: SpaceWants, payload: &mut Payload<'_>) {
        let Some(space) = self.spaces.get_mut(kind) else { return };
        // RFC 9000-13.2.6-1, 9000-13.2.6-2, 9000-13.2.6-3, 9000-17.2.3-3: of this space alone.
        if space.received.is_waiting() {
            space.received.fill(now, payload);
        }
        if wants != SpaceWants::Flight {
            // RFC 9002 section 7: what elicits an acknowledgement needs room in the window.
            if kind == SpaceKind::Data
                && self.paths.current.recovery.admits(payload.room() as u64)
                && space.received.asks_to_be_heard(now, self.paths.current.recovery.rtt.smoothed())
            {
                payload.passing_frame(&Frame::Ping, true);
            }
            return;
        }
        if let Some(crypto) = self.crypto.streams.get_mut(kind) {
            crypto.fill(payload);
        }
        // RFC 9000-12.5-2: the other spaces carry nothing of this.
        if kind == SpaceKind::Data {
            self.fill_control(payload);
            if self.has_datagrams() {
                self.fill_datagrams(payload);
            }
            let view = self.view(now);
            if self.acks.asks_by_frame() {
                self.fill_immediate_ack(payload, &view);
            }
            self.streams.fill(payload, &view);
        }
        let probes = self.spaces.get(kind).is_some_and(|space| space.probing.left > 0);
        if probes && !payload.contents().ack_eliciting {
            self.repeat_underway(kind, payload);
        }
        // RFC 9000-13.2.1-5: for probes alone, never because only ACK frames are sent.
        let ping = probes || self.spaces.get(kind).is_some_and(|space| space.ping);
        if ping && !payload.contents().ack_eliciting && payload.room() > 0 {
            payload.passing_frame(&Frame::Ping, true);
        }
    }

    /// Puts IMMEDIATE_ACK into a packet with data behind which the window has no room for another full one.
    #[cold]
    fn fill_immediate_ack(&mut self, payload: &mut Payload<'_>, view: &PathView) {
        let path = &self.paths.current;
        if self.streams.has_pending(view)
            && payload.room() > 1
            && path.fills_window(path.route.payload() as u64)
        {
            payload.passing_frame(&Frame::ImmediateAck, true);
        }
    }

    /// The connection's own control frames.
    fn fill_control(&mut self, payload: &mut Payload<'_>) {
        while let Some(frame) = self.control.next() {
            if !self.put_control(frame, payload) {
                return;
            }
        }
    }

    /// Writes a control frame, unless it has become needless; `false` if there is no room for it.
    pub(super) fn put_control(&mut self, sent: SentFrame, payload: &mut Payload<'_>) -> bool {
        let Some(frame) = self.control_frame(sent) else {
            self.control.on_done(sent);
            return true;
        };
        if frame.encoded_size() > payload.room() {
            return false;
        }
        payload.frame(&frame, sent);
        match frame {
            Frame::NewConnectionId { sequence, .. } => self.local_ids.note_sent(sequence),
            Frame::AckFrequency { max_ack_delay_us, .. } => {
                self.paths.allow_ack_delay(Duration::from_micros(max_ack_delay_us));
            }
            _ => {}
        }
        self.control.on_sent(sent);
        true
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
            SentFrame::AckFrequency => self.acks.request(),
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
        begun: StartedPacket,
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
}
