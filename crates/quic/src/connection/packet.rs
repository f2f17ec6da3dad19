//! Builds a packet: its header, its frames in order of priority, its protection.

use super::Connection;
use super::tracing::TracedPacket;
use crate::assemble::Payload;
use crate::path::{MIN_PAYLOAD, MIN_ROOM};
use crate::schedule::PathView;
use crate::sent::{Contents, SentFrame, SentKind};
use crate::space::SpaceKind;
use congestion::{Limit, SentState};
use tls::Sealer;
use trace::{PacketKind, Wait};
use units::{Duration, Time};
use wire::header::{ShortHeader, WrittenLong};
use wire::{ConnectionId, Ecn, FirstByte, Frame, Hole, Truncated, TypedPacket};

/// The tag of every AEAD of QUIC (RFC 9001 section 5.3).
pub(super) const TAG: usize = 16;
/// The sample for header protection starts four bytes after the start of the packet number (RFC 9001 section 5.4.2).
pub(super) const SAMPLE_OFFSET: usize = 4;

/// What a space may send in a packet now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SpaceWants {
    Nothing,
    /// Only an ACK frame.
    Ack,
    /// Frames that count towards bytes in flight.
    Flight,
}

/// How a packet helps to expand its datagram to at least 1200 bytes (RFC 9000 section 14.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expansion {
    /// The datagram is not expanded.
    None,
    /// This packet is padded, unless another one fits after it.
    IfLast,
    /// This packet is padded.
    Here,
}

/// Where a packet is built.
pub(super) struct PacketPlace<'a> {
    /// The datagram, to which it is appended.
    pub(super) buffer: &'a mut Vec<u8>,
    /// The maximum length of the datagram.
    pub(super) limit: usize,
    pub(super) expansion: Expansion,
}

/// Where a packet is built that may stay typed.
pub(super) struct TypedPlace<'a> {
    /// The datagram, which is empty, for a packet that does not stay typed.
    pub(super) buffer: &'a mut Vec<u8>,
    pub(super) typed: &'a mut Option<TypedPacket>,
    /// The maximum length of the datagram.
    pub(super) limit: usize,
}

/// A packet that is complete.
pub(super) struct FinishedPacket {
    pub(super) number: u64,
    /// Its size in bytes.
    pub(super) size: u32,
    pub(super) carries_data: bool,
}

/// The datagram under construction.
#[derive(Debug, Default)]
pub(super) struct DatagramDraft {
    pub(super) hole: Option<Hole>,
    pub(super) carries_data: bool,
    /// The ECN field to send it with.
    pub(super) ecn: Ecn,
    /// The size of its packet, if that stayed typed; otherwise 0.
    pub(super) typed: usize,
}

/// A packet whose header is written, and its offsets in the datagram.
pub(super) struct StartedPacket {
    /// Its packet number.
    pub(super) number: u64,
    pub(super) start: usize,
    pub(super) number_offset: usize,
    pub(super) payload_offset: usize,
    pub(super) long: Option<WrittenLong>,
}

impl Connection {
    /// Whether a space must send an ACK frame now.
    pub(super) fn ack_wanted(&self, now: Time, kind: SpaceKind) -> SpaceWants {
        let due = self.spaces.get(kind).is_some_and(|space| space.received.is_due(now));
        if due { SpaceWants::Ack } else { SpaceWants::Nothing }
    }
    /// What a handshake space may send.
    pub(super) fn handshake_wants(&mut self, now: Time, kind: SpaceKind, limit: usize) -> SpaceWants {
        // Nothing waits in a space without keys.
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

    /// What the 1-RTT space may send. Checks window and pacer, and records it if they block.
    #[inline]
    pub(super) fn data_wants(&mut self, now: Time, limit: usize) -> SpaceWants {
        if !self.may_send_data() {
            return SpaceWants::Nothing;
        }
        if self.spaces.data.probing.left > 0 {
            return SpaceWants::Flight;
        }
        let ack = if self.spaces.data.received.is_due(now) { SpaceWants::Ack } else { SpaceWants::Nothing };
        let room = self.paths.room_wanted(limit, false);
        if !self.paths.current.recovery.admits(room)
            && self.awaits_acknowledgement()
            && !self.makes_room(now, room)
        {
            self.paths.current.recovery.note_stop(now, Limit::Window);
            if self.traces_waits() {
                self.trace_wait(now, self.paths.current.recovery.wait());
            }
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
            self.jump(now, Limit::Pacer);
            if !self.paths.current.is_paced(now) {
                self.paths.current.recovery.note_stop(now, Limit::Pacer);
                if self.traces_waits() {
                    self.trace_wait(now, self.paths.current.recovery.wait().paced());
                }
                return ack;
            }
        }
        SpaceWants::Flight
    }

    /// The window is full. Returns whether more data waits, and a saved capacity makes room for a datagram of this size.
    #[inline]
    fn makes_room(&mut self, now: Time, bytes: u64) -> bool {
        if !self.paths.learns() || !self.streams.has_pending(&self.view(now)) {
            return false;
        }
        self.jump(now, Limit::Window);
        self.paths.current.recovery.admits(bytes)
    }

    /// Records that nothing can be sent although the window has room: there is no data, or no flow-control credit,
    /// which limits the rate as a network would (draft-ietf-ccwg-bbr-06 section 4.1.1.3.1).
    #[inline]
    pub(super) fn note_nothing_to_send(&mut self, now: Time) {
        if self.traces_waits() {
            let after_all = self.paths.current.recovery.after_all();
            let wait = match self.streams.wait() {
                _ if !self.is_established() => Wait::Handshake,
                Wait::Application => after_all,
                Wait::SendQueue if after_all == Wait::Timeout => after_all,
                wait => wait,
            };
            self.trace_wait(now, wait);
        }
        if self.streams.wait_for_credit() || self.paths.current.paced_until.is_some_and(|until| until > now) {
            self.paths.current.recovery.note_stop(now, Limit::Application);
        } else {
            self.paths.current.recovery.note_dry(now);
        }
    }

    /// Whether an acknowledgement that frees space in the window will arrive. Packets with only ACK and PADDING
    /// frames occupy the window (RFC 9002 section 2), but they are neither acknowledged nor declared lost until
    /// something else is sent.
    #[inline]
    fn awaits_acknowledgement(&self) -> bool {
        let mut early = self.spaces.handshake();
        self.spaces.data.sent.ack_eliciting() > 0 || early.any(|space| space.sent.ack_eliciting() > 0)
    }

    pub(super) fn view(&self, now: Time) -> PathView {
        let recovery = &self.paths.current.recovery;
        PathView { now, window: recovery.window(), smoothed_rtt: recovery.rtt.smoothed() }
    }

    /// Builds one packet at the end of the datagram.
    #[inline]
    pub(super) fn packet(
        &mut self,
        now: Time,
        kind: SpaceKind,
        wants: SpaceWants,
        place: PacketPlace<'_>,
        draft: &mut DatagramDraft,
    ) {
        let PacketPlace { buffer, limit, expansion } = place;
        let early = self.is_early(kind);
        if kind == SpaceKind::Data && !early && !self.may_seal(now) {
            return;
        }
        if kind == SpaceKind::Data && self.variety.is_some() {
            self.skip_number(now);
        }
        let destination = self.paths.ids.current();
        let started = self.begin_packet(kind, destination, buffer);
        let number = started.number;
        let hollow = kind == SpaceKind::Data && self.sealer(kind).is_some_and(Sealer::is_null);
        let mut contents = Contents::reusing(std::mem::take(&mut self.contents));
        let mut payload = Payload::new(buffer, &mut contents, limit - TAG, hollow);
        self.fill(now, kind, wants, &mut payload);
        let remaining = payload.room();
        if expansion == Expansion::Here || expansion == Expansion::IfLast && remaining < MIN_ROOM {
            payload.pad_to(usize::from(MIN_PAYLOAD) - TAG);
        }
        // The packet must contain the sample for header protection.
        if payload.length() < started.number_offset + SAMPLE_OFFSET {
            payload.pad_to(started.number_offset + SAMPLE_OFFSET);
        }
        let (hole, carries_data, length) = (payload.hole(), payload.carries_data, payload.length());
        if length == started.payload_offset {
            // RFC 9000-12.4-1: "The payload of a packet that contains frames MUST contain at least one frame".
            buffer.truncate(started.start);
            self.contents = contents.into_memory();
            return;
        }
        let virtual_length = hole.map_or(0, |hole| hole.length as usize);
        self.trace_packet_sent(
            now,
            kind,
            &TracedPacket {
                number,
                destination,
                length: length + TAG - started.start,
                payload: &buffer[started.payload_offset..],
                virtual_tail: virtual_length,
            },
        );
        let size = (length + TAG - started.start) as u32;
        if !early && self.asks_for_ack(carries_data, size) {
            buffer[started.start] |= FirstByte::IMMEDIATE_ACK;
        }
        self.seal(kind, number, buffer, started, virtual_length);
        draft.hole = draft.hole.or(hole);
        self.finish_packet(now, kind, FinishedPacket { number, size, carries_data }, contents, draft);
    }

    /// Whether a 1-RTT packet of this size has the immediate-ack bit: it has data, and leaves no window for another full one.
    #[inline]
    fn asks_for_ack(&self, carries_data: bool, size: u32) -> bool {
        carries_data && self.acks.asks_by_bit() && self.paths.current.fills_window(u64::from(size))
    }

    /// Builds a 1-RTT packet that stays typed if its frame permits that; otherwise it is written into the buffer, which is empty.
    #[inline]
    pub(super) fn typed_packet(
        &mut self,
        now: Time,
        wants: SpaceWants,
        place: TypedPlace<'_>,
        draft: &mut DatagramDraft,
    ) {
        let TypedPlace { buffer, typed, limit } = place;
        // An update of the keys comes first: it changes key and phase.
        if !self.may_seal(now) {
            return;
        }
        let key = self.keys.get(SpaceKind::Data).and_then(|keys| keys.local.null_key());
        let key = key.expect("packets stay typed only under null protection");
        let header = self.short_header(self.paths.ids.current());
        let (number, payload_offset) = (self.next_number(), header.size());
        let number_offset = payload_offset - header.number.length();
        let mut contents = Contents::reusing(std::mem::take(&mut self.contents));
        let mut payload = Payload::typed(buffer, &mut contents, limit - TAG, &header);
        self.fill(now, SpaceKind::Data, wants, &mut payload);
        // The packet must contain the sample for header protection.
        if payload.length() < number_offset + SAMPLE_OFFSET {
            payload.pad_to(number_offset + SAMPLE_OFFSET);
        }
        let (hole, carries_data, length) = (payload.hole(), payload.carries_data, payload.length());
        if length == payload_offset {
            self.contents = contents.into_memory();
            return;
        }
        let size = (length + TAG) as u32;
        let frame = payload.take_typed();
        let asks_for_ack = self.asks_for_ack(carries_data, size);
        if let Some(frame) = frame {
            *typed = Some(TypedPacket { header, asks_for_ack, number, key, frame, size });
            draft.typed = size as usize;
        } else {
            if asks_for_ack {
                buffer[0] |= FirstByte::IMMEDIATE_ACK;
            }
            let started = StartedPacket { number, start: 0, number_offset, payload_offset, long: None };
            self.seal(SpaceKind::Data, number, buffer, started, 0);
            draft.hole = hole;
        }
        self.finish_packet(
            now,
            SpaceKind::Data,
            FinishedPacket { number, size, carries_data },
            contents,
            draft,
        );
    }

    /// Records a packet that is complete.
    #[inline(always)]
    pub(super) fn finish_packet(
        &mut self,
        now: Time,
        kind: SpaceKind,
        packet: FinishedPacket,
        mut contents: Contents,
        draft: &mut DatagramDraft,
    ) {
        let FinishedPacket { number, size, carries_data } = packet;
        if draft.ecn != Ecn::NotEct {
            contents.kind = SentKind::Ect;
            self.paths.on_marked();
        }
        let space = self.spaces.get_mut(kind).expect("a packet is finished in the space where it was begun");
        debug_assert_eq!(
            number,
            space.sent.next_number(),
            "no other packet takes the number of one that was begun"
        );
        space.ping &= !contents.ack_eliciting;
        if space.probing.left > 0 && contents.ack_eliciting {
            space.probing.on_probe(number);
        }
        self.paths.current.recovery.on_sent(now, space, size, &contents);
        if kind == SpaceKind::Data {
            self.note_sealed(&contents);
        }
        self.stats.data_packets_sent += u64::from(carries_data);
        self.note_packet_sent(now, contents.ack_eliciting);
        self.contents = contents.into_memory();
        draft.carries_data |= carries_data;
    }

    /// Notes that a packet of the data space was sealed.
    #[inline]
    pub(super) fn note_sealed(&mut self, contents: &Contents) {
        self.keys.phases.on_sealed(contents.acked.is_some());
    }
    /// The number of the next packet of the data space.
    pub(super) fn next_number(&self) -> u64 {
        self.spaces.data.sent.next_number()
    }
    /// Records a sent packet of which only the number matters.
    pub(super) fn note_number_used(&mut self, now: Time, kind: SpaceKind, size: u32) {
        let space = self.spaces.get_mut(kind).expect("a packet is finished in the space where it was begun");
        space.sent.push(now, size, SentState::default(), &Contents::default());
        self.stats.packets_sent += 1;
    }

    /// Skips a packet number, if that is due (RFC 9000 section 21.4).
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

    /// The header of the next 1-RTT packet.
    #[inline]
    pub(super) fn short_header(&self, destination: ConnectionId) -> ShortHeader {
        let data = &self.spaces.data;
        let number = Truncated::new(data.sent.next_number(), data.largest_acked);
        ShortHeader { destination, spin: false, key_phase: self.keys.phases.bit, number }
    }

    #[inline]
    pub(super) fn begin_packet(
        &mut self,
        kind: SpaceKind,
        destination: ConnectionId,
        buffer: &mut Vec<u8>,
    ) -> StartedPacket {
        let space = self.spaces.get(kind).expect("nothing is sent in a space that was discarded");
        let start = buffer.len();
        let next = space.sent.next_number();
        // RFC 9000-12.2-2: no "QUIC packets with different connection IDs" in "a single UDP datagram".
        let (number_offset, long) = match kind {
            SpaceKind::Data if !self.is_early(kind) => (self.short_header(destination).write(buffer), None),
            early => {
                let number = Truncated::new(next, space.largest_acked);
                let written = self.write_long_header(self.packet_kind(early), destination, number, buffer);
                (written.number_offset, Some(written))
            }
        };
        if let Some(variety) = &mut self.variety {
            variety.mark(destination, &mut buffer[start]);
        }
        StartedPacket { number: next, start, number_offset, payload_offset: buffer.len(), long }
    }

    /// Whether packets of the data space are 0-RTT packets, that is, while there are no 1-RTT keys.
    #[inline]
    fn is_early(&self, kind: SpaceKind) -> bool {
        kind == SpaceKind::Data && self.keys.get(kind).is_none()
    }
    /// The type of packets currently sent in a space.
    #[inline]
    pub(super) fn packet_kind(&self, kind: SpaceKind) -> PacketKind {
        if self.is_early(kind) { PacketKind::ZeroRtt } else { kind.packet_kind() }
    }
    /// The keys that protect packets currently sent in a space.
    #[inline]
    fn sealer(&self, kind: SpaceKind) -> Option<&Sealer> {
        match self.keys.get(kind) {
            Some(keys) => Some(&keys.local),
            None if kind == SpaceKind::Data => self.zero_rtt.as_ref()?.sealer.as_ref(),
            None => None,
        }
    }

    /// Fills a payload with frames in order of priority.
    #[inline(always)]
    pub(super) fn fill(&mut self, now: Time, kind: SpaceKind, wants: SpaceWants, payload: &mut Payload<'_>) {
        let space = self.spaces.get_mut(kind).expect("a packet is filled in the space where it was begun");
        // RFC 9000-13.2.6-1, 9000-13.2.6-2, 9000-13.2.6-3, 9000-17.2.3-3: "only be carried in a packet that has
        // the same packet number space".
        if space.received.is_waiting() {
            space.received.fill(now, payload);
        }
        if wants != SpaceWants::Flight {
            // RFC 9002 section 7: ack-eliciting packets need room in the window.
            if kind == SpaceKind::Data
                && self.paths.current.recovery.admits(payload.room() as u64)
                && space.received.requests_ack_of_acks(now, self.paths.current.recovery.rtt.smoothed())
            {
                payload.untracked_frame(&Frame::Ping, true);
            }
            return;
        }
        if self.crypto.has_pending(kind) {
            let crypto = self.crypto.streams.get_mut(kind);
            crypto.expect("a CRYPTO stream with pending data is not discarded").fill(payload);
        }
        // RFC 9000-12.5-2: "All other frame types MUST only be sent in the application data packet number
        // space".
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
            self.repeat_in_flight(kind, payload);
        }
        // RFC 9000-13.2.1-5: not "in all packets that would otherwise be non-ack-eliciting": only for probes.
        let ping = probes || self.spaces.get(kind).is_some_and(|space| space.ping);
        if ping && !payload.contents().ack_eliciting && payload.room() > 0 {
            if probes
                && payload.contents().acked.is_none()
                && let Some(space) = self.spaces.get_mut(kind)
                && space.received.is_unconfirmed()
            {
                // RFC 9000 section 13.2.1: the last ACK frame may have been lost, as the probed packets may.
                space.received.fill(now, payload);
            }
            payload.untracked_frame(&Frame::Ping, true);
        }
    }

    /// Adds IMMEDIATE_ACK to a packet with data that leaves no window for another full one.
    #[cold]
    fn fill_immediate_ack(&mut self, payload: &mut Payload<'_>, view: &PathView) {
        let path = &self.paths.current;
        if self.streams.has_pending(view)
            && payload.room() > 1
            && path.fills_window(path.route.payload() as u64)
        {
            payload.untracked_frame(&Frame::ImmediateAck, true);
        }
    }

    /// Adds the connection's control frames.
    fn fill_control(&mut self, payload: &mut Payload<'_>) {
        while let Some(frame) = self.control.next() {
            if !self.put_control(frame, payload) {
                return;
            }
        }
    }

    /// Queues a control frame.
    pub(super) fn ask_for(&mut self, frame: SentFrame) {
        self.control.ask(frame);
    }

    /// Writes a control frame, unless it is not needed any more; returns `false` if it does not fit.
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
            Frame::Bdp { .. } => {
                self.stats.capacities_returned += u64::from(self.side() == wire::Side::Client)
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
                    // RFC 9000-19.15-5: "less than or equal to the value in the Sequence Number field":
                    // retirement is never requested.
                    retire_prior_to: 0,
                    id: known.id,
                    token: known.token,
                })
            }
            SentFrame::RetireConnectionId { sequence } => Some(Frame::RetireConnectionId { sequence }),
            SentFrame::HandshakeDone => Some(Frame::HandshakeDone),
            SentFrame::AckFrequency => self.acks.request(),
            SentFrame::NewToken { index } => self.issued_token(index).map(|token| Frame::NewToken { token }),
            SentFrame::Bdp { index } => self.bdp_frame(index),
            SentFrame::Stream { .. }
            | SentFrame::Crypto { .. }
            | SentFrame::Notice { .. }
            | SentFrame::Datagram { .. } => {
                unreachable!("streams, CRYPTO and datagrams keep their own frames: {pending:?}")
            }
        }
    }

    /// Adds the tag and applies packet and header protection.
    #[inline]
    pub(super) fn seal(
        &self,
        kind: SpaceKind,
        number: u64,
        buffer: &mut Vec<u8>,
        started: StartedPacket,
        virtual_length: usize,
    ) {
        buffer.resize(buffer.len() + TAG, 0);
        if let Some(long) = started.long {
            let length = buffer.len() - started.payload_offset + virtual_length;
            long.set_length(buffer, length);
        }
        let sealer = self.sealer(kind).expect("a packet is begun only with the keys that seal it");
        let packet = &mut buffer[started.start..];
        sealer.seal(
            number,
            packet,
            started.number_offset - started.start,
            started.payload_offset - started.start,
        );
    }
}
