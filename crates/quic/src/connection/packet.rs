//! How a packet is made: its header, its frames in the order in which they matter, its protection.

use super::Connection;
use crate::assemble::Payload;
use crate::config::ImmediateAck;
use crate::path::{LEAST_ROOM, MIN_PAYLOAD};
use crate::sent::{SentFrame, SentKind};
use crate::space::{Space, SpaceKind};
use tls::Sealer;
use units::Time;
use wire::header::{LongHeader, ShortHeader, WrittenLong};
use wire::{ConnectionId, Ecn, EcnCounts, Frame, Hole, Truncated};

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
        if kind == SpaceKind::Data && !self.is_early(kind) && !self.may_seal(now) {
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
        if carries_data && self.config.immediate_ack == ImmediateAck::Bit && !self.is_early(kind) {
            buffer[begun.start] |= self.immediate_ack_bit(u64::from(size));
        }
        self.seal(kind, number, buffer, begun, virtual_length);
        if made.ecn != Ecn::NotEct {
            contents.kind = SentKind::Ect;
            self.paths.on_marked();
        }
        let space = match kind {
            SpaceKind::Data => Some(&mut self.data),
            early => self.early_spaces[early as usize].as_deref_mut(),
        };
        if let Some(space) = space {
            space.ping &= !contents.ack_eliciting;
            if space.probing.left > 0 && contents.ack_eliciting {
                space.probing.on_probe(number);
            }
            self.paths.current.recovery.on_sent(now, space, size, &contents);
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
    ) -> Option<StartedPacket> {
        let space = self.space(kind)?;
        let start = buffer.len();
        let next = space.sent.next_number();
        let number = Truncated::new(next, space.largest_acked);
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
        Some(StartedPacket { number: next, start, number_offset, payload_offset: buffer.len(), long })
    }

    /// Fills a payload in the order in which frames matter.
    #[inline]
    fn fill(&mut self, now: Time, kind: SpaceKind, wants: SpaceWants, payload: &mut Payload<'_>) {
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
        let probes = self.space(kind).is_some_and(|space| space.probing.left > 0);
        if probes && !payload.contents().ack_eliciting {
            self.repeat_underway(kind, payload);
        }
        // RFC 9000-13.2.1-5: for probes alone, never because only ACK frames are sent.
        let ping = probes || self.space(kind).is_some_and(|space| space.ping);
        if ping && !payload.contents().ack_eliciting && payload.room() > 0 {
            payload.passing_frame(&Frame::Ping, true);
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
            Frame::AckFrequency { max_ack_delay_us, .. } => self.note_ack_frequency_sent(max_ack_delay_us),
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
