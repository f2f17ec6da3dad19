//! The error codes of HTTP/3 and QPACK.

use crate::codes::codes;
use std::fmt;

codes! {
    /// An error code of HTTP/3 (RFC 9114 section 8.1) or QPACK (RFC 9204 section 6), used in RESET_STREAM,
    /// STOP_SENDING and CONNECTION_CLOSE frames.
    Code(u64);
    /// No error.
    NO_ERROR = 0x100 "H3_NO_ERROR";
    /// The peer broke a rule that has no code of its own.
    GENERAL_PROTOCOL_ERROR = 0x101 "H3_GENERAL_PROTOCOL_ERROR";
    /// An internal error.
    INTERNAL_ERROR = 0x102 "H3_INTERNAL_ERROR";
    /// The peer opened a stream that is not allowed.
    STREAM_CREATION_ERROR = 0x103 "H3_STREAM_CREATION_ERROR";
    /// A stream that the connection needs was closed or reset.
    CLOSED_CRITICAL_STREAM = 0x104 "H3_CLOSED_CRITICAL_STREAM";
    /// A frame that is not permitted in this state or on this stream.
    FRAME_UNEXPECTED = 0x105 "H3_FRAME_UNEXPECTED";
    /// A frame whose layout or size is wrong.
    FRAME_ERROR = 0x106 "H3_FRAME_ERROR";
    /// The peer's behaviour might cause excessive load.
    EXCESSIVE_LOAD = 0x107 "H3_EXCESSIVE_LOAD";
    /// A stream ID or push ID was used wrongly.
    ID_ERROR = 0x108 "H3_ID_ERROR";
    /// An error in the payload of a SETTINGS frame.
    SETTINGS_ERROR = 0x109 "H3_SETTINGS_ERROR";
    /// There was no SETTINGS frame at the beginning of the control stream.
    MISSING_SETTINGS = 0x10a "H3_MISSING_SETTINGS";
    /// The server rejected the request without processing it.
    REQUEST_REJECTED = 0x10b "H3_REQUEST_REJECTED";
    /// The request, or its response, is cancelled.
    REQUEST_CANCELLED = 0x10c "H3_REQUEST_CANCELLED";
    /// The client's stream ended before the request was complete.
    REQUEST_INCOMPLETE = 0x10d "H3_REQUEST_INCOMPLETE";
    /// The message was malformed.
    MESSAGE_ERROR = 0x10e "H3_MESSAGE_ERROR";
    /// The connection of a CONNECT request was reset.
    CONNECT_ERROR = 0x10f "H3_CONNECT_ERROR";
    /// The request cannot be served over HTTP/3.
    VERSION_FALLBACK = 0x110 "H3_VERSION_FALLBACK";
    /// A field section could not be decoded.
    QPACK_DECOMPRESSION_FAILED = 0x200 "QPACK_DECOMPRESSION_FAILED";
    /// An instruction on the encoder stream was wrong.
    QPACK_ENCODER_STREAM_ERROR = 0x201 "QPACK_ENCODER_STREAM_ERROR";
    /// An instruction on the decoder stream was wrong.
    QPACK_DECODER_STREAM_ERROR = 0x202 "QPACK_DECODER_STREAM_ERROR";
}

/// An error in the peer's data that ends the connection (RFC 9114 section 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation {
    /// The code to close the connection with.
    pub code: Code,
    /// A description for humans.
    pub why: &'static str,
}

impl Violation {
    pub(crate) const fn new(code: Code, why: &'static str) -> Violation {
        Violation { code, why }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.why, self.code)
    }
}
impl std::error::Error for Violation {}
