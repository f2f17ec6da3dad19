//! Error codes (RFC 9113 section 7).

use crate::codes::codes;
use std::fmt;

codes! {
    /// An error code of HTTP/2, used in RST_STREAM and GOAWAY frames.
    Code(u32);
    /// No error.
    NO_ERROR = 0x00 "NO_ERROR";
    /// The peer broke a rule that has no code of its own.
    PROTOCOL_ERROR = 0x01 "PROTOCOL_ERROR";
    /// An internal error.
    INTERNAL_ERROR = 0x02 "INTERNAL_ERROR";
    /// The peer exceeded its flow-control window, or enlarged ours too much.
    FLOW_CONTROL_ERROR = 0x03 "FLOW_CONTROL_ERROR";
    /// A SETTINGS frame was not acknowledged in time.
    SETTINGS_TIMEOUT = 0x04 "SETTINGS_TIMEOUT";
    /// A frame arrived on a half-closed stream.
    STREAM_CLOSED = 0x05 "STREAM_CLOSED";
    /// A frame whose size is wrong.
    FRAME_SIZE_ERROR = 0x06 "FRAME_SIZE_ERROR";
    /// The stream was refused before any processing.
    REFUSED_STREAM = 0x07 "REFUSED_STREAM";
    /// The stream is no longer needed.
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

/// An error in the peer's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error {
    /// The code sent to the peer.
    pub code: Code,
    /// The stream that the error ends; `None` if it ends the connection (section 5.4).
    pub stream: Option<u32>,
    /// A description for humans.
    pub why: &'static str,
}

impl Error {
    /// An error that ends the connection (section 5.4.1).
    pub const fn connection(code: Code, why: &'static str) -> Error {
        Error { code, stream: None, why }
    }
    /// An error that ends a stream (section 5.4.2).
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
