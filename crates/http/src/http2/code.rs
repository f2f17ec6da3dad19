//! Error codes (RFC 9113 section 7).

use crate::codes::codes;
use std::fmt;

codes! {
    /// An error code of HTTP/2, as it stands in RST_STREAM and GOAWAY frames.
    Code(u32);
    /// Nothing is wrong.
    NO_ERROR = 0x00 "NO_ERROR";
    /// The peer broke a rule for which there is no code of its own.
    PROTOCOL_ERROR = 0x01 "PROTOCOL_ERROR";
    /// Something failed on this side.
    INTERNAL_ERROR = 0x02 "INTERNAL_ERROR";
    /// The peer sent more than its flow-control window, or made ours too large.
    FLOW_CONTROL_ERROR = 0x03 "FLOW_CONTROL_ERROR";
    /// A SETTINGS frame was not acknowledged in time.
    SETTINGS_TIMEOUT = 0x04 "SETTINGS_TIMEOUT";
    /// A frame on a stream that is half closed.
    STREAM_CLOSED = 0x05 "STREAM_CLOSED";
    /// A frame whose size is wrong.
    FRAME_SIZE_ERROR = 0x06 "FRAME_SIZE_ERROR";
    /// The stream was refused before anything was done with it.
    REFUSED_STREAM = 0x07 "REFUSED_STREAM";
    /// The stream is not needed any more.
    CANCEL = 0x08 "CANCEL";
    /// A field block could not be decoded.
    COMPRESSION_ERROR = 0x09 "COMPRESSION_ERROR";
    /// The connection of a CONNECT request was reset.
    CONNECT_ERROR = 0x0a "CONNECT_ERROR";
    /// The peer's behaviour might cause excessive load.
    ENHANCE_YOUR_CALM = 0x0b "ENHANCE_YOUR_CALM";
    /// The transport is not secure enough.
    INADEQUATE_SECURITY = 0x0c "INADEQUATE_SECURITY";
    /// HTTP/1.1 is required.
    HTTP_1_1_REQUIRED = 0x0d "HTTP_1_1_REQUIRED";
}

/// What is wrong with what the peer sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error {
    /// The code that the peer is told.
    pub code: Code,
    /// The stream that ends with it; `None`: the connection does (section 5.4).
    pub stream: Option<u32>,
    /// What it was, for people.
    pub why: &'static str,
}

impl Error {
    /// One that ends the connection (section 5.4.1).
    pub const fn connection(code: Code, why: &'static str) -> Error {
        Error { code, stream: None, why }
    }
    /// One that ends a stream (section 5.4.2).
    pub const fn stream(stream: u32, code: Code, why: &'static str) -> Error {
        Error { code, stream: Some(stream), why }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.why, self.code)
    }
}
impl std::error::Error for Error {}
