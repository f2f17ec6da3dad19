//! The effect of each received frame (RFC 9000 section 19).

use super::Connection;
use crate::error::TransportError;
use crate::ids::NumberedId;
use crate::sent::SentFrame;
use crate::space::SpaceKind;
use trace::PacketKind;
use units::Time;
use wire::{Ack, Code, Data, Frame, FrameError, Frames, Header, TypedFrame};

fn frame_error(error: FrameError) -> TransportError {
    TransportError {
        frame_type: Some(error.frame_type),
        ..TransportError::new(error.code(), error.to_string())
    }
}

/// Whether a packet of this type, which is not 1-RTT, may carry the frame: RFC 9000 table 3. Section 12.5 permits a
/// server to refuse RETIRE_CONNECTION_ID in 0-RTT packets: no client has an id to retire by then except that of the
/// handshake, which must remain.
#[cold]
fn may_carry(kind: PacketKind, frame: &Frame<'_>) -> bool {
    let too_early = kind == PacketKind::ZeroRtt && matches!(frame, Frame::RetireConnectionId { .. });
    frame.allowed_in(kind) && !too_early
}

/// An error with the type of the frame that caused it.
#[cold]
fn named(error: TransportError, frame: &TypedFrame) -> TransportError {
    let mut bytes = Vec::new();
    let hole = frame.write(&mut bytes);
    let first = Frames::new(&bytes, hole.map_or(0, |hole| hole.length as usize)).next();
    let frame_type = first.and_then(Result::ok).map(|frame| frame.frame_type());
    TransportError { frame_type: error.frame_type.or(frame_type), ..error }
}

impl Connection {
    /// Processes the frames of a packet; returns whether it is ack-eliciting.
    #[inline]
    pub(super) fn process_frames(
        &mut self,
        now: Time,
        kind: SpaceKind,
        header: &Header,
        payload: &[u8],
        virtual_tail: usize,
    ) -> Result<bool, TransportError> {
        let mut ack_eliciting = false;
        let mut frames = Frames::new(payload, virtual_tail);
        loop {
            // By reference, because moving the frame costs more than reading it in place.
            let next = frames.next();
            let frame = match &next {
                Some(Ok(frame)) => frame,
                Some(Err(error)) => return Err(frame_error(*error)),
                None => return Ok(ack_eliciting),
            };
            if header.kind != PacketKind::OneRtt && !may_carry(header.kind, frame) {
                // RFC 9000-12.4-3, 9000-17.2.4-1: "receipt of a frame in a packet type that is not permitted":
                // table 3.
                let error =
                    TransportError::new(Code::PROTOCOL_VIOLATION, "frame not allowed in this packet type");
                return Err(TransportError { frame_type: Some(frame.frame_type()), ..error });
            }
            ack_eliciting |= frame.is_ack_eliciting();
            let done = if let &Frame::Stream { id, offset, data, fin } = frame {
                let done = self.streams.on_stream(id, offset, data, fin);
                self.trace_gap(now, self.streams.gaps > 0);
                done
            } else if let Frame::Ack(ack) = frame {
                self.on_ack(now, kind, ack)
            } else {
                self.on_frame(now, kind, header, *frame)
            };
            // RFC 9000-5.2-1: "or fully revert any changes"; the frames before this one took effect.
            if let Err(error) = done {
                return Err(TransportError {
                    frame_type: error.frame_type.or(Some(frame.frame_type())),
                    ..error
                });
            }
            if self.is_over() {
                return Ok(ack_eliciting);
            }
        }
    }

    /// Processes the frame of a typed packet; returns whether that is ack-eliciting.
    #[inline]
    pub(super) fn process_typed(&mut self, now: Time, frame: &TypedFrame) -> Result<bool, TransportError> {
        let (done, ack_eliciting) = match frame {
            &TypedFrame::Stream { id, offset, length, fin, .. } => {
                let data = Data::Virtual { length: length as usize };
                let done = self.streams.on_stream(id, offset, data, fin);
                self.trace_gap(now, self.streams.gaps > 0);
                (done, true)
            }
            TypedFrame::Ack { largest, first_range, lower, delay } => {
                let ack = Ack::listed(*largest, *first_range, lower, *delay);
                (self.on_ack(now, SpaceKind::Data, &ack), false)
            }
        };
        match done {
            Ok(()) => Ok(ack_eliciting),
            Err(error) => Err(named(error, frame)),
        }
    }

    fn on_frame(
        &mut self,
        now: Time,
        kind: SpaceKind,
        header: &Header,
        frame: Frame<'_>,
    ) -> Result<(), TransportError> {
        match frame {
            Frame::Padding { .. } | Frame::Ping | Frame::Ack(_) | Frame::Stream { .. } => {}
            Frame::Crypto { offset, data } => return self.on_crypto(now, kind, offset, data),
            Frame::ResetStream { id, code, final_size } => {
                return self.streams.on_reset(id, code, final_size, 0);
            }
            Frame::ResetStreamAt { id, code, final_size, reliable_size } => {
                if !self.config.reset_stream_at {
                    let (code, reason) = (Code::FRAME_ENCODING_ERROR, "RESET_STREAM_AT was not negotiated");
                    let frame_type = Some(frame.frame_type());
                    return Err(TransportError { frame_type, ..TransportError::new(code, reason) });
                }
                return self.streams.on_reset(id, code, final_size, reliable_size);
            }
            Frame::StopSending { id, code } => return self.streams.on_stop_sending(id, code),
            Frame::MaxData { maximum } => self.streams.on_max_data(now, maximum),
            Frame::MaxStreamData { id, maximum } => return self.streams.on_max_stream_data(now, id, maximum),
            Frame::MaxStreams { direction, maximum } => self.streams.on_max_streams(direction, maximum),
            Frame::DataBlocked { .. } => self.streams.on_data_blocked(),
            Frame::StreamsBlocked { .. } => {}
            Frame::StreamDataBlocked { id, .. } => return self.streams.on_stream_data_blocked(id),
            Frame::NewConnectionId { sequence, retire_prior_to, id, token } => {
                return self.on_new_id(now, NumberedId { sequence, id, token }, retire_prior_to);
            }
            Frame::RetireConnectionId { sequence } => {
                if let Some(retired) = self.local_ids.on_retire(sequence, &header.destination)? {
                    self.on_own_id_retired(now, &retired);
                }
                // RFC 9000 section 13.3: a retired id is not announced again.
                self.control.on_done(SentFrame::NewConnectionId { sequence });
                self.top_up_ids();
            }
            Frame::PathChallenge { data } => self.on_challenge(data),
            Frame::PathResponse { data } => return self.on_response(now, data),
            Frame::NewToken { token } => return self.on_new_token(token),
            Frame::HandshakeDone => return self.on_handshake_done(now),
            Frame::Datagram { data, .. } => return self.on_datagram(data, frame.encoded_size()),
            Frame::AckFrequency { .. } | Frame::ImmediateAck => {
                if self.acks.on_request(&frame)? {
                    self.ack_immediately();
                }
            }
            Frame::Bdp { .. } => return self.on_bdp(now, header.kind, &frame),
            Frame::ConnectionClose { code, reason, .. } => {
                let reason = String::from_utf8_lossy(reason).into_owned();
                self.begin_draining(now, crate::CloseReason::PeerTransport { code, reason });
            }
            Frame::ApplicationClose { code, reason } => {
                let reason = String::from_utf8_lossy(reason).into_owned();
                self.begin_draining(now, crate::CloseReason::PeerApplication { code, reason });
            }
        }
        Ok(())
    }
}
