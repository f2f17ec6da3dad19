//! Typed packets: 1-RTT packets under null protection that are not written out and not read.
//!
//! They take the way of all packets, without the bytes: what is done here in another order than in `packet` and `receive`, or
//! not at all, has no effect on anything that can be observed. A packet with whatever is rare is written out, or wanted as bytes.

use super::packet::{DatagramDraft, SAMPLE_OFFSET, SpaceWants, StartedPacket, TAG};
use super::{Connection, Progress};
use crate::assemble::Payload;
use crate::error::TransportError;
use crate::sent::Contents;
use crate::space::SpaceKind;
use transport::Arrival;
use units::Time;
use wire::{Ack, Data, FirstByte, Frame, TypedFrame, TypedPacket};

impl Connection {
    /// Builds a 1-RTT packet that stays typed if its frame permits that; otherwise it is written into the buffer, which is empty.
    #[inline]
    pub(super) fn typed_packet(
        &mut self,
        now: Time,
        wants: SpaceWants,
        (buffer, place, limit): (&mut Vec<u8>, &mut Option<TypedPacket>, usize),
        draft: &mut DatagramDraft,
    ) {
        // An update of the keys comes first: it changes key and phase.
        if !self.may_seal(now) {
            return;
        }
        let Some(key) = self.keys.get(SpaceKind::Data).and_then(|keys| keys.local.null_key()) else { return };
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
        let asks_for_ack =
            carries_data && self.acks.asks_by_bit() && self.paths.current.fills_window(u64::from(size));
        if let Some(frame) = frame {
            *place = Some(TypedPacket { header, asks_for_ack, number, key, frame, size });
            draft.typed = size as usize;
        } else {
            if asks_for_ack {
                buffer[0] |= FirstByte::IMMEDIATE_ACK;
            }
            let started = StartedPacket { number, start: 0, number_offset, payload_offset, long: None };
            self.seal(SpaceKind::Data, number, buffer, started, 0);
            draft.hole = hole;
        }
        self.finish_packet(now, SpaceKind::Data, (number, size, carries_data), contents, draft);
    }

    /// Processes a typed packet. Returns `false`, and does nothing, if its bytes are needed.
    #[inline]
    pub(crate) fn receive_typed(&mut self, now: Time, arrival: Arrival<'_>, packet: &TypedPacket) -> bool {
        let (number, header) = (packet.number, &packet.header);
        let received = &self.spaces.data.received;
        let plain = self.progress >= Progress::Complete
            && !self.is_over()
            && self.takes_typed()
            && self.paths.current.route.is_between(arrival.local, arrival.remote)
            && header.key_phase == self.keys.phases.bit
            && !packet.asks_for_ack
            && self.keys.get(SpaceKind::Data).is_some_and(|keys| keys.remote.has_null_key(packet.key))
            && packet.is_expanded(received.ranges.max())
            && !received.is_duplicate(number);
        if !plain {
            return false;
        }
        self.now = now;
        let length = packet.size as usize;
        self.paths.current.route.on_received(length as u64);
        self.stats.datagrams_received += 1;
        self.stats.bytes_received += length as u64;
        self.trace_datagram_received(now, length);
        self.keys.phases.on_received(number);
        self.keys.phases.opened_previous = false;
        self.stats.packets_received += 1;
        self.idle.on_received(now);
        let (done, ack_eliciting) = match &packet.frame {
            &TypedFrame::Stream { id, offset, length, fin, .. } => {
                let data = Data::Virtual { length: length as usize };
                (self.streams.on_stream(id, offset, data, fin), true)
            }
            TypedFrame::Ack { largest, first_range, lower, delay } => {
                let ack = Ack::listed(*largest, *first_range, lower, *delay);
                (self.on_ack(now, SpaceKind::Data, &ack), false)
            }
        };
        match done {
            Ok(()) => self.note_received(now, SpaceKind::Data, number, ack_eliciting, arrival.ecn),
            Err(error) => self.fail_typed(now, error, &packet.frame),
        }
        true
    }

    /// Whether nothing looks at each packet as it arrives.
    #[inline]
    fn takes_typed(&self) -> bool {
        !self.log.interest().packets
            && self.variety.is_none()
            && self.zero_rtt.is_none()
            && self.early.is_empty()
    }

    /// Ends the connection because of the frame of a typed packet.
    #[cold]
    fn fail_typed(&mut self, now: Time, error: TransportError, frame: &TypedFrame) {
        let mut bytes = Vec::new();
        let hole = frame.write(&mut bytes);
        let first = wire::Frames::new(&bytes, hole.map_or(0, |hole| hole.length as usize)).next();
        let frame_type = first.and_then(Result::ok).map(|frame: Frame<'_>| frame.frame_type());
        self.fail(now, TransportError { frame_type: error.frame_type.or(frame_type), ..error });
    }
}
