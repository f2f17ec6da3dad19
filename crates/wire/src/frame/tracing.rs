//! Frames as a trace shows them.

use crate::Direction;
use crate::frame::Frame;
use units::Duration;

impl Frame<'_> {
    /// The frame for a trace. `ack_delay_exponent` is that of the side which sent it (RFC 9000 section 18.2: 0 to 20),
    /// for the delay of an ACK; beyond what a [`Duration`] holds it is the longest. A reason that is not UTF-8 is
    /// shown as far as it is.
    pub fn to_trace(&self, ack_delay_exponent: u8) -> trace::Frame {
        match *self {
            Frame::Padding { length } => trace::Frame::Padding { length: length as u32 },
            Frame::Ping => trace::Frame::Ping,
            Frame::Ack(ack) => trace::Frame::Ack {
                delay: scaled_delay(ack.delay(), ack_delay_exponent),
                ranges: ack.ranges().collect(),
                ecn: ack.ecn().map(|counts| [counts.ect0, counts.ect1, counts.ce]),
            },
            Frame::ResetStream { id, code, final_size } => {
                trace::Frame::ResetStream { stream: id.value(), code, final_size }
            }
            Frame::StopSending { id, code } => trace::Frame::StopSending { stream: id.value(), code },
            Frame::Crypto { offset, data } => trace::Frame::Crypto { offset, length: data.len() as u64 },
            Frame::NewToken { token } => trace::Frame::NewToken { length: token.len() as u64 },
            Frame::Stream { id, offset, data, fin } => {
                trace::Frame::Stream { stream: id.value(), offset, length: data.len() as u64, fin }
            }
            Frame::MaxData { maximum } => trace::Frame::MaxData { maximum },
            Frame::MaxStreamData { id, maximum } => {
                trace::Frame::MaxStreamData { stream: id.value(), maximum }
            }
            Frame::MaxStreams { direction, maximum } => {
                trace::Frame::MaxStreams { bidirectional: direction == Direction::Bidirectional, maximum }
            }
            Frame::DataBlocked { limit } => trace::Frame::DataBlocked { limit },
            Frame::StreamDataBlocked { id, limit } => {
                trace::Frame::StreamDataBlocked { stream: id.value(), limit }
            }
            Frame::StreamsBlocked { direction, limit } => {
                trace::Frame::StreamsBlocked { bidirectional: direction == Direction::Bidirectional, limit }
            }
            Frame::NewConnectionId { sequence, retire_prior_to, id, token } => {
                trace::Frame::NewConnectionId { sequence, retire_prior_to, id: id.as_bytes().to_vec(), token }
            }
            Frame::RetireConnectionId { sequence } => trace::Frame::RetireConnectionId { sequence },
            Frame::PathChallenge { data } => trace::Frame::PathChallenge { data },
            Frame::PathResponse { data } => trace::Frame::PathResponse { data },
            Frame::ConnectionClose { code, frame_type, reason } => trace::Frame::ConnectionClose {
                application: false,
                code: code.0,
                frame_type: Some(frame_type),
                reason: String::from_utf8_lossy(reason).into_owned(),
            },
            Frame::ApplicationClose { code, reason } => trace::Frame::ConnectionClose {
                application: true,
                code,
                frame_type: None,
                reason: String::from_utf8_lossy(reason).into_owned(),
            },
            Frame::HandshakeDone => trace::Frame::HandshakeDone,
            Frame::Datagram { data, .. } => trace::Frame::Datagram { length: data.len() as u64 },
            Frame::AckFrequency { sequence, threshold, max_ack_delay_us, reordering_threshold } => {
                let max_ack_delay = Duration::from_micros(max_ack_delay_us);
                trace::Frame::AckFrequency { sequence, threshold, max_ack_delay, reordering_threshold }
            }
            Frame::ImmediateAck => trace::Frame::ImmediateAck,
        }
    }
}

/// "multiplying the value in the field by 2 to the power of the ack_delay_exponent" gives microseconds (RFC 9000
/// section 19.3).
fn scaled_delay(delay: u64, exponent: u8) -> Duration {
    Duration::from_micros(delay.saturating_mul(1u64.checked_shl(u32::from(exponent)).unwrap_or(u64::MAX)))
}
