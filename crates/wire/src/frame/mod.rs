//! Frames (RFC 9000 section 19): the values, what each may do, and their decoder and encoder.

mod ack;
mod decode;
mod encode;
mod error;
mod properties;
mod tracing;

pub use ack::{Ack, AckRanges, EcnCounts};
pub use decode::Frames;
pub use encode::{
    ack, crypto_header, crypto_header_size, datagram_header, datagram_header_size, stream_header,
    stream_header_size,
};
pub use error::{FrameError, FrameProblem};

use crate::{Code, ConnectionId, Direction, StreamId};

/// The bytes that a STREAM or a DATAGRAM frame carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data<'a> {
    /// They are there.
    Bytes(&'a [u8]),
    /// They are those of the [`pattern`](crate::pattern) from the frame's stream offset on (in a DATAGRAM frame from 0),
    /// and stand nowhere: the frame owns the hole of its UDP datagram.
    Virtual {
        /// How many there are.
        length: usize,
    },
}

impl Data<'_> {
    /// How many bytes there are.
    #[inline]
    pub const fn len(&self) -> usize {
        match self {
            Data::Bytes(bytes) => bytes.len(),
            Data::Virtual { length } => *length,
        }
    }
    /// Whether there are none.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The type of ACK_FREQUENCY (draft-ietf-quic-ack-frequency section 4), which takes two bytes.
const ACK_FREQUENCY: u64 = 0xaf;

/// A frame. Integers are those on the wire: a delay is not scaled, an application's code is any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame<'a> {
    /// PADDING (19.1). A run of them is one value.
    Padding {
        /// How many there are, at least 1.
        length: usize,
    },
    /// PING (19.2).
    Ping,
    /// ACK, with or without ECN counts (19.3).
    Ack(Ack<'a>),
    /// RESET_STREAM (19.4).
    ResetStream {
        /// The stream.
        id: StreamId,
        /// The application's code.
        code: u64,
        /// The final size of the stream in bytes.
        final_size: u64,
    },
    /// STOP_SENDING (19.5).
    StopSending {
        /// The stream.
        id: StreamId,
        /// The application's code.
        code: u64,
    },
    /// CRYPTO (19.6). Offset and length together are at most 2^62 - 1.
    Crypto {
        /// The offset of the first byte in the handshake messages of its level.
        offset: u64,
        /// The bytes.
        data: &'a [u8],
    },
    /// NEW_TOKEN (19.7).
    NewToken {
        /// The token, not empty.
        token: &'a [u8],
    },
    /// STREAM (19.8). Offset and length together are at most 2^62 - 1.
    Stream {
        /// The stream.
        id: StreamId,
        /// The offset of the first byte in the stream.
        offset: u64,
        /// The bytes.
        data: Data<'a>,
        /// Whether the stream ends behind them.
        fin: bool,
    },
    /// MAX_DATA (19.9).
    MaxData {
        /// The greatest sum of stream offsets that may be sent, in bytes.
        maximum: u64,
    },
    /// MAX_STREAM_DATA (19.10).
    MaxStreamData {
        /// The stream.
        id: StreamId,
        /// The greatest offset that may be sent, in bytes.
        maximum: u64,
    },
    /// MAX_STREAMS (19.11).
    MaxStreams {
        /// Of which direction.
        direction: Direction,
        /// How many streams may be opened in all, at most 2^60.
        maximum: u64,
    },
    /// DATA_BLOCKED (19.12).
    DataBlocked {
        /// The limit of the connection at which the sender waits, in bytes.
        limit: u64,
    },
    /// STREAM_DATA_BLOCKED (19.13).
    StreamDataBlocked {
        /// The stream.
        id: StreamId,
        /// The limit of the stream at which the sender waits, in bytes.
        limit: u64,
    },
    /// STREAMS_BLOCKED (19.14).
    StreamsBlocked {
        /// Of which direction.
        direction: Direction,
        /// The limit on streams at which the sender waits, at most 2^60.
        limit: u64,
    },
    /// NEW_CONNECTION_ID (19.15).
    NewConnectionId {
        /// The sequence number of the id.
        sequence: u64,
        /// Ids with lower sequence numbers are to be retired; at most `sequence`.
        retire_prior_to: u64,
        /// The id: 1 to 20 bytes.
        id: ConnectionId,
        /// The stateless reset token of packets to that id.
        token: [u8; 16],
    },
    /// RETIRE_CONNECTION_ID (19.16).
    RetireConnectionId {
        /// The sequence number of the id.
        sequence: u64,
    },
    /// PATH_CHALLENGE (19.17).
    PathChallenge {
        /// Bytes that cannot be guessed.
        data: [u8; 8],
    },
    /// PATH_RESPONSE (19.18).
    PathResponse {
        /// The bytes of the challenge.
        data: [u8; 8],
    },
    /// CONNECTION_CLOSE of type 0x1c: QUIC closes the connection (19.19).
    ConnectionClose {
        /// Why.
        code: Code,
        /// The type of the frame that was the reason, or 0.
        frame_type: u64,
        /// An explanation for people: should be UTF-8, may be anything.
        reason: &'a [u8],
    },
    /// CONNECTION_CLOSE of type 0x1d: the application closes the connection (19.19).
    ApplicationClose {
        /// The application's code.
        code: u64,
        /// An explanation for people: should be UTF-8, may be anything.
        reason: &'a [u8],
    },
    /// HANDSHAKE_DONE (19.20).
    HandshakeDone,
    /// DATAGRAM (RFC 9221 section 4).
    Datagram {
        /// The bytes.
        data: Data<'a>,
        /// Whether the frame has no Length field and goes to the end of its packet: type 0x30, and not 0x31.
        to_end: bool,
    },
    /// ACK_FREQUENCY (draft-ietf-quic-ack-frequency section 4).
    AckFrequency {
        /// Grows with each such frame: older ones are ignored.
        sequence: u64,
        /// How many ack-eliciting packets may come without an acknowledgement.
        threshold: u64,
        /// The max_ack_delay that is asked for, in microseconds.
        max_ack_delay_us: u64,
        /// How far packets may be out of order before they are acknowledged at once; 0: however far.
        reordering_threshold: u64,
    },
    /// IMMEDIATE_ACK (draft-ietf-quic-ack-frequency section 5).
    ImmediateAck,
}

#[cfg(test)]
mod tests;
