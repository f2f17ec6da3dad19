//! A frame seen on the wire, with owned contents.

use std::ops::RangeInclusive;
use units::Duration;
use wire::Direction;

/// A frame for tests, with the length of its data only.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    Padding { length: u32 },
    Ping,
    Ack { delay: Duration, ranges: Vec<RangeInclusive<u64>>, ecn: Option<[u64; 3]> },
    ResetStream { stream: u64, code: u64, final_size: u64 },
    ResetStreamAt { stream: u64, code: u64, final_size: u64, reliable_size: u64 },
    StopSending { stream: u64, code: u64 },
    Crypto { offset: u64, length: u64 },
    NewToken { length: u64 },
    Stream { stream: u64, offset: u64, length: u64, fin: bool },
    MaxData { maximum: u64 },
    MaxStreamData { stream: u64, maximum: u64 },
    MaxStreams { bidirectional: bool, maximum: u64 },
    DataBlocked { limit: u64 },
    StreamDataBlocked { stream: u64, limit: u64 },
    StreamsBlocked { bidirectional: bool, limit: u64 },
    NewConnectionId { sequence: u64, retire_prior_to: u64, id: Vec<u8>, token: [u8; 16] },
    RetireConnectionId { sequence: u64 },
    PathChallenge { data: [u8; 8] },
    PathResponse { data: [u8; 8] },
    ConnectionClose { application: bool, code: u64, frame_type: Option<u64>, reason: String },
    HandshakeDone,
    Datagram { length: u64 },
    AckFrequency { sequence: u64, threshold: u64, max_ack_delay: Duration, reordering_threshold: u64 },
    ImmediateAck,
    Bdp { lifetime: Duration, capacity: u64, min_rtt: Duration, address: Vec<u8> },
}

impl Frame {
    /// The RFC's name for its type: `"ACK"`, `"STREAM"`.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Frame::Padding { .. } => "PADDING",
            Frame::Ping => "PING",
            Frame::Ack { .. } => "ACK",
            Frame::ResetStream { .. } => "RESET_STREAM",
            Frame::ResetStreamAt { .. } => "RESET_STREAM_AT",
            Frame::StopSending { .. } => "STOP_SENDING",
            Frame::Crypto { .. } => "CRYPTO",
            Frame::NewToken { .. } => "NEW_TOKEN",
            Frame::Stream { .. } => "STREAM",
            Frame::MaxData { .. } => "MAX_DATA",
            Frame::MaxStreamData { .. } => "MAX_STREAM_DATA",
            Frame::MaxStreams { .. } => "MAX_STREAMS",
            Frame::DataBlocked { .. } => "DATA_BLOCKED",
            Frame::StreamDataBlocked { .. } => "STREAM_DATA_BLOCKED",
            Frame::StreamsBlocked { .. } => "STREAMS_BLOCKED",
            Frame::NewConnectionId { .. } => "NEW_CONNECTION_ID",
            Frame::RetireConnectionId { .. } => "RETIRE_CONNECTION_ID",
            Frame::PathChallenge { .. } => "PATH_CHALLENGE",
            Frame::PathResponse { .. } => "PATH_RESPONSE",
            Frame::ConnectionClose { .. } => "CONNECTION_CLOSE",
            Frame::HandshakeDone => "HANDSHAKE_DONE",
            Frame::Datagram { .. } => "DATAGRAM",
            Frame::AckFrequency { .. } => "ACK_FREQUENCY",
            Frame::ImmediateAck => "IMMEDIATE_ACK",
            Frame::Bdp { .. } => "BDP_FRAME",
        }
    }
    /// A frame of an endpoint whose ack_delay_exponent is 3.
    pub(crate) fn of(frame: &wire::Frame<'_>) -> Frame {
        match *frame {
            wire::Frame::Padding { length } => Frame::Padding { length: length as u32 },
            wire::Frame::Ping => Frame::Ping,
            wire::Frame::Ack(ack) => Frame::Ack {
                delay: ack.scaled_delay(3),
                ranges: ack.ranges().collect(),
                ecn: ack.ecn().map(|counts| [counts.ect0, counts.ect1, counts.ce]),
            },
            wire::Frame::ResetStream { id, code, final_size } => {
                Frame::ResetStream { stream: id.value(), code, final_size }
            }
            wire::Frame::ResetStreamAt { id, code, final_size, reliable_size } => {
                Frame::ResetStreamAt { stream: id.value(), code, final_size, reliable_size }
            }
            wire::Frame::StopSending { id, code } => Frame::StopSending { stream: id.value(), code },
            wire::Frame::Crypto { offset, data } => Frame::Crypto { offset, length: data.len() as u64 },
            wire::Frame::NewToken { token } => Frame::NewToken { length: token.len() as u64 },
            wire::Frame::Stream { id, offset, data, fin } => {
                Frame::Stream { stream: id.value(), offset, length: data.len() as u64, fin }
            }
            wire::Frame::MaxData { maximum } => Frame::MaxData { maximum },
            wire::Frame::MaxStreamData { id, maximum } => {
                Frame::MaxStreamData { stream: id.value(), maximum }
            }
            wire::Frame::MaxStreams { direction, maximum } => {
                Frame::MaxStreams { bidirectional: direction == Direction::Bidirectional, maximum }
            }
            wire::Frame::DataBlocked { limit } => Frame::DataBlocked { limit },
            wire::Frame::StreamDataBlocked { id, limit } => {
                Frame::StreamDataBlocked { stream: id.value(), limit }
            }
            wire::Frame::StreamsBlocked { direction, limit } => {
                Frame::StreamsBlocked { bidirectional: direction == Direction::Bidirectional, limit }
            }
            wire::Frame::NewConnectionId { sequence, retire_prior_to, id, token } => {
                Frame::NewConnectionId { sequence, retire_prior_to, id: id.as_bytes().to_vec(), token }
            }
            wire::Frame::RetireConnectionId { sequence } => Frame::RetireConnectionId { sequence },
            wire::Frame::PathChallenge { data } => Frame::PathChallenge { data },
            wire::Frame::PathResponse { data } => Frame::PathResponse { data },
            wire::Frame::ConnectionClose { code, frame_type, reason } => Frame::ConnectionClose {
                application: false,
                code: code.0,
                frame_type: Some(frame_type),
                reason: String::from_utf8_lossy(reason).into_owned(),
            },
            wire::Frame::ApplicationClose { code, reason } => Frame::ConnectionClose {
                application: true,
                code,
                frame_type: None,
                reason: String::from_utf8_lossy(reason).into_owned(),
            },
            wire::Frame::HandshakeDone => Frame::HandshakeDone,
            wire::Frame::Datagram { data, .. } => Frame::Datagram { length: data.len() as u64 },
            wire::Frame::AckFrequency { sequence, threshold, max_ack_delay_us, reordering_threshold } => {
                let max_ack_delay = Duration::from_micros(max_ack_delay_us);
                Frame::AckFrequency { sequence, threshold, max_ack_delay, reordering_threshold }
            }
            wire::Frame::ImmediateAck => Frame::ImmediateAck,
            wire::Frame::Bdp { lifetime_us, capacity, min_rtt_us, address } => Frame::Bdp {
                lifetime: Duration::from_micros(lifetime_us),
                capacity,
                min_rtt: Duration::from_micros(min_rtt_us),
                address: address.to_vec(),
            },
        }
    }
}
