//! What can be wrong with a frame, and the transport error that it is.

use crate::Code;
use std::fmt;

/// What is wrong with a frame.
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
    /// Ids are to be retired that come after the one that is given (RFC 9000 section 19.15).
    RetirePriorTo,
    /// The virtual bytes of the packet are not the data of its last frame (see [`crate::Hole`]).
    VirtualData,
}

/// An error of the connection, found in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameError {
    /// The type of the frame, for the CONNECTION_CLOSE frame; 0 if it could not be read.
    pub frame_type: u64,
    /// What is wrong.
    pub problem: FrameProblem,
}

impl FrameError {
    /// The code that the RFC names. Where it leaves the choice, FRAME_ENCODING_ERROR.
    pub const fn code(&self) -> Code {
        match self.problem {
            // RFC 9000-12.4-2, 9000-12.4-3.
            FrameProblem::LongType | FrameProblem::NoFrames | FrameProblem::Forbidden => {
                Code::PROTOCOL_VIOLATION
            }
            _ => Code::FRAME_ENCODING_ERROR,
        }
    }
    /// What is wrong, for the reason phrase of the CONNECTION_CLOSE frame.
    pub const fn reason(&self) -> &'static str {
        match self.problem {
            FrameProblem::Truncated => "the packet ends within a frame",
            FrameProblem::UnknownType => "unknown frame type",
            FrameProblem::LongType => "a frame type that is not in its shortest encoding",
            FrameProblem::NoFrames => "a packet without frames",
            FrameProblem::Forbidden => "a frame that this packet type must not carry",
            FrameProblem::AckRange => "an ACK range below packet number 0",
            FrameProblem::BeyondLastOffset => "data past offset 2^62 - 1",
            FrameProblem::TooManyStreams => "a limit of more than 2^60 streams",
            FrameProblem::EmptyToken => "NEW_TOKEN without a token",
            FrameProblem::ConnectionIdLength => "a connection id of a length outside of 1 to 20",
            FrameProblem::RetirePriorTo => "Retire Prior To above the sequence number",
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
