//! Frames (RFC 9000 section 19). Each frame is described once, here; `table` generates the values, the decoder, the
//! encoder and the properties.

mod ack;
mod codec;
mod decode;
mod encode;
mod error;
mod lower;
mod properties;
mod table;

pub use ack::{Ack, AckRanges, EcnCounts};
pub use codec::{Field, FieldSource};
pub use decode::Frames;
pub use encode::{
    ack, crypto_header, crypto_header_size, datagram_header, datagram_header_size, stream_header,
    stream_header_size,
};
pub use error::{FrameError, FrameProblem};
pub use lower::{LowerRanges, ShortLists};

use crate::varint::{self, Reader};
use crate::{Code, ConnectionId, Direction, StreamId};
use codec::{
    Bytes, Codec, DirectionBit, ErrorCode, Id, Integer, PaddingRun, Prefixed, Reason, Stream, StreamCount,
    Token,
};
use table::{frames, has};

/// The data of a STREAM or DATAGRAM frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data<'a> {
    /// Real bytes.
    Bytes(&'a [u8]),
    /// The bytes of the [`pattern`](crate::pattern) from the frame's stream offset (0 in a DATAGRAM frame), which are
    /// not stored: the frame owns the hole of its UDP datagram.
    Virtual {
        /// The number of bytes.
        length: usize,
    },
}

impl Data<'_> {
    /// The number of bytes.
    #[inline]
    pub const fn len(&self) -> usize {
        match self {
            Data::Bytes(bytes) => bytes.len(),
            Data::Virtual { length } => *length,
        }
    }
    /// Whether there is no data.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

frames! {
    /// PADDING (19.1). A run of them is one value.
    Padding {
        /// The number of bytes, at least 1.
        length: usize as PaddingRun,
    } = 0x00, "PADDING", "IH01", "NP";
    /// PING (19.2).
    Ping = 0x01, "PING", "IH01", "";
    /// RESET_STREAM (19.4).
    ResetStream {
        /// The stream.
        id: StreamId as Stream,
        /// The application's code.
        code: u64 as Integer,
        /// The final size of the stream in bytes.
        final_size: u64 as Integer,
    } = 0x04, "RESET_STREAM", "__01", "";
    /// STOP_SENDING (19.5).
    StopSending {
        /// The stream.
        id: StreamId as Stream,
        /// The application's code.
        code: u64 as Integer,
    } = 0x05, "STOP_SENDING", "__01", "";
    /// CRYPTO (19.6). Offset and length together are at most 2^62 - 1.
    Crypto {
        /// The offset of the first byte in the handshake messages of its level.
        offset: u64 as Integer,
        /// The bytes.
        data: &'a [u8] as Prefixed,
    } = 0x06, "CRYPTO", "IH_1", "",
        // RFC 9000-19.6-1: CRYPTO beyond offset 2^62 - 1 is an error.
        BeyondLastOffset unless offset + data.len() as u64 <= varint::MAX;
    /// NEW_TOKEN (19.7).
    NewToken {
        /// The token, not empty.
        token: &'a [u8] as Token,
    } = 0x07, "NEW_TOKEN", "___1", "";
    /// MAX_DATA (19.9).
    MaxData {
        /// The maximum sum of stream offsets that may be sent, in bytes.
        maximum: u64 as Integer,
    } = 0x10, "MAX_DATA", "__01", "";
    /// MAX_STREAM_DATA (19.10).
    MaxStreamData {
        /// The stream.
        id: StreamId as Stream,
        /// The maximum offset that may be sent, in bytes.
        maximum: u64 as Integer,
    } = 0x11, "MAX_STREAM_DATA", "__01", "";
    /// MAX_STREAMS (19.11).
    MaxStreams {
        /// The direction of the streams.
        direction: Direction as DirectionBit,
        /// The total number of streams that may be opened, at most 2^60.
        maximum: u64 as StreamCount,
    } = 0x12 or 0x13, "MAX_STREAMS", "__01", "";
    /// DATA_BLOCKED (19.12).
    DataBlocked {
        /// The limit of the connection that blocks the sender, in bytes.
        limit: u64 as Integer,
    } = 0x14, "DATA_BLOCKED", "__01", "";
    /// STREAM_DATA_BLOCKED (19.13).
    StreamDataBlocked {
        /// The stream.
        id: StreamId as Stream,
        /// The limit of the stream that blocks the sender, in bytes.
        limit: u64 as Integer,
    } = 0x15, "STREAM_DATA_BLOCKED", "__01", "";
    /// STREAMS_BLOCKED (19.14).
    StreamsBlocked {
        /// The direction of the streams.
        direction: Direction as DirectionBit,
        /// The limit on streams that blocks the sender, at most 2^60.
        limit: u64 as StreamCount,
    } = 0x16 or 0x17, "STREAMS_BLOCKED", "__01", "";
    /// NEW_CONNECTION_ID (19.15).
    NewConnectionId {
        /// The sequence number of the id.
        sequence: u64 as Integer,
        /// Ids with lower sequence numbers are to be retired; at most `sequence`.
        retire_prior_to: u64 as Integer,
        /// The id: 1 to 20 bytes.
        id: ConnectionId as Id,
        /// The stateless reset token for that id.
        token: [u8; 16] as Bytes<16>,
    } = 0x18, "NEW_CONNECTION_ID", "__01", "P",
        // RFC 9000-19.15-6: "greater than that in the Sequence Number field".
        RetirePriorTo unless retire_prior_to <= sequence;
    /// RETIRE_CONNECTION_ID (19.16).
    RetireConnectionId {
        /// The sequence number of the id.
        sequence: u64 as Integer,
    } = 0x19, "RETIRE_CONNECTION_ID", "__01", "";
    /// PATH_CHALLENGE (19.17).
    PathChallenge {
        /// Unpredictable bytes.
        data: [u8; 8] as Bytes<8>,
    } = 0x1a, "PATH_CHALLENGE", "__01", "P";
    /// PATH_RESPONSE (19.18).
    PathResponse {
        /// The bytes of the challenge.
        data: [u8; 8] as Bytes<8>,
    } = 0x1b, "PATH_RESPONSE", "___1", "P";
    /// CONNECTION_CLOSE of type 0x1c: QUIC closes the connection (19.19). Initial and Handshake packets only carry this
    /// type, since information from the application must not be readable during the handshake (RFC 9000 section
    /// 10.2.3).
    ConnectionClose {
        /// The error code.
        code: Code as ErrorCode,
        /// The type of the frame that caused the error, or 0.
        frame_type: u64 as Integer,
        /// An explanation for humans; should be UTF-8.
        reason: &'a [u8] as Reason,
    } = 0x1c, "CONNECTION_CLOSE", "IH01", "N";
    /// CONNECTION_CLOSE of type 0x1d: the application closes the connection (19.19).
    ApplicationClose {
        /// The application's error code.
        code: u64 as Integer,
        /// An explanation for humans; should be UTF-8.
        reason: &'a [u8] as Reason,
    } = 0x1d, "CONNECTION_CLOSE", "__01", "N";
    /// HANDSHAKE_DONE (19.20).
    HandshakeDone = 0x1e, "HANDSHAKE_DONE", "___1", "";
    /// ACK_FREQUENCY (draft-ietf-quic-ack-frequency section 4). Not in 0-RTT packets, since min_ack_delay is not
    /// remembered (section 3).
    AckFrequency {
        /// Increases with each such frame; frames with lower numbers are ignored.
        sequence: u64 as Integer,
        /// The number of ack-eliciting packets that may be received without an acknowledgement.
        threshold: u64 as Integer,
        /// The requested max_ack_delay in microseconds.
        max_ack_delay_us: u64 as Integer,
        /// The reordering that triggers an immediate acknowledgement; 0 disables it.
        reordering_threshold: u64 as Integer,
    } = 0xaf, "ACK_FREQUENCY", "___1", "";
    /// RESET_STREAM_AT (draft-ietf-quic-reliable-stream-reset-09 section 4).
    ResetStreamAt {
        /// The stream.
        id: StreamId as Stream,
        /// The application's code.
        code: u64 as Integer,
        /// The final size of the stream in bytes.
        final_size: u64 as Integer,
        /// The bytes that are delivered nevertheless; at most `final_size`.
        reliable_size: u64 as Integer,
    } = 0x24, "RESET_STREAM_AT", "__01", "",
        ReliableSize unless reliable_size <= final_size;
    /// IMMEDIATE_ACK (draft-ietf-quic-ack-frequency section 5).
    ImmediateAck = 0x1f, "IMMEDIATE_ACK", "___1", "";
    /// BDP_FRAME (draft-kuhn-quic-0rtt-bdp-09 section 3.3, with the type and the layout of picoquic): a server in 1-RTT packets
    /// gives a client the capacity that it observed, and the client gives it back in 0-RTT packets.
    Bdp {
        /// How long it may be used, in microseconds.
        lifetime_us: u64 as Integer,
        /// The capacity in bytes.
        capacity: u64 as Integer,
        /// The least RTT in microseconds.
        min_rtt_us: u64 as Integer,
        /// The saved address: at most 16 bytes, which only the server has to understand.
        address: &'a [u8] as Prefixed,
    } = 0xebd9, "BDP_FRAME", "__01", "",
        AddressLength unless address.len() <= 16;

    @special
    /// ACK, with or without ECN counts (19.3).
    Ack(Ack<'a>) = "ACK", "IH_1", "NC";
    /// STREAM (19.8). Offset and length together are at most 2^62 - 1.
    Stream {
        /// The stream.
        id: StreamId,
        /// The offset of the first byte in the stream.
        offset: u64,
        /// The bytes.
        data: Data<'a>,
        /// Whether the stream ends after the data.
        fin: bool,
    } = "STREAM", "__01", "F";
    /// DATAGRAM (RFC 9221 section 4).
    Datagram {
        /// The bytes.
        data: Data<'a>,
        /// Whether the frame has no Length field and extends to the end of its packet (type 0x30 instead of 0x31).
        to_end: bool,
    } = "DATAGRAM", "__01", "";
}

#[cfg(test)]
mod tests;
