//! Frame errors, and the transport errors that they cause.

use crate::Code;
use std::fmt;

/// A problem with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameProblem {
    /// The packet ends within the frame.
    Truncated,
    /// No frame has this type (RFC 9000 section 12.4).
    UnknownType,
    /// The type is not in its shortest encoding (RFC 9000 section 12.4).
    LongType,
    /// The packet has no frame (RFC 9000 section 12.4). The frame type of the error is 0.
    NoFrames,
    /// The frame must not be in a packet of this type (RFC 9000 section 12.4).
    Forbidden,
    /// A range of an ACK frame goes below packet number 0 (RFC 9000 section 19.3.1).
    AckRange,
    /// The data goes past 2^62 - 1 (RFC 9000 sections 19.6 and 19.8).
    BeyondLastOffset,
    /// A limit of more than 2^60 streams (RFC 9000 sections 19.11 and 19.14).
    TooManyStreams,
    /// A NEW_TOKEN frame without a token (RFC 9000 section 19.7).
    EmptyToken,
    /// A connection id of no byte or of more than 20 (RFC 9000 section 19.15).
    ConnectionIdLength,
    /// Retire Prior To exceeds the sequence number (RFC 9000 section 19.15).
    RetirePriorTo,
    /// A BDP_FRAME with an address of more than 16 bytes.
    AddressLength,
    /// RESET_STREAM_AT delivers more than the stream has.
    ReliableSize,
    /// The virtual bytes of the packet are not the data of its last frame (see [`crate::Hole`]).
    VirtualData,
}

/// A frame error, which closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameError {
    /// The type of the frame, for the CONNECTION_CLOSE frame; 0 if it could not be read.
    pub frame_type: u64,
    /// The problem.
    pub problem: FrameProblem,
}

impl FrameError {
    /// The error code in the RFC; FRAME_ENCODING_ERROR if it permits several.
    pub const fn code(&self) -> Code {
        match self.problem {
            // RFC 9000-12.4-2, 9000-12.4-3: "receipt of a packet containing no frames", or of a forbidden one,
            // is a PROTOCOL_VIOLATION.
            FrameProblem::LongType | FrameProblem::NoFrames | FrameProblem::Forbidden => {
                Code::PROTOCOL_VIOLATION
            }
            _ => Code::FRAME_ENCODING_ERROR,
        }
    }
    /// The text for the reason phrase of the CONNECTION_CLOSE frame.
    pub const fn reason(&self) -> &'static str {
        match self.problem {
            FrameProblem::Truncated => "the packet ends within a frame",
            FrameProblem::UnknownType => "unknown frame type",
            FrameProblem::LongType => "a frame type that does not use the shortest encoding",
            FrameProblem::NoFrames => "a packet without frames",
            FrameProblem::Forbidden => "a frame that this packet type must not carry",
            FrameProblem::AckRange => "an ACK range below packet number 0",
            FrameProblem::BeyondLastOffset => "data past offset 2^62 - 1",
            FrameProblem::TooManyStreams => "a limit of more than 2^60 streams",
            FrameProblem::EmptyToken => "NEW_TOKEN without a token",
            FrameProblem::ConnectionIdLength => "a connection ID that is not 1 to 20 bytes long",
            FrameProblem::RetirePriorTo => "Retire Prior To above the sequence number",
            FrameProblem::ReliableSize => "RESET_STREAM_AT with a reliable size above the final size",
            FrameProblem::AddressLength => "BDP_FRAME with an address of more than 16 bytes",
            FrameProblem::VirtualData => "virtual bytes that are not the last frame's data",
        }
    }
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (frame type {:#04x})", self.reason(), self.frame_type)
    }
}
impl std::error::Error for FrameError {}
