//! Error codes (RFC 9113 section 7).

use std::fmt;

/// An error code of HTTP/2, as it stands in RST_STREAM and GOAWAY frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(pub u32);

/// A code: its constant, its value, its name in the RFC.
macro_rules! codes {
    ($($(#[$doc:meta])* $constant:ident = $value:literal;)*) => {
        impl Code {
            $($(#[$doc])* pub const $constant: Code = Code($value);)*

            /// The name in the RFC; `None` for a code that it does not have.
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some(stringify!($constant)),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// Nothing is wrong.
    NO_ERROR = 0x00;
    /// The peer broke a rule for which there is no code of its own.
    PROTOCOL_ERROR = 0x01;
    /// Something failed on this side.
    INTERNAL_ERROR = 0x02;
    /// The peer sent more than its flow-control window, or made ours too large.
    FLOW_CONTROL_ERROR = 0x03;
    /// A SETTINGS frame was not acknowledged in time.
    SETTINGS_TIMEOUT = 0x04;
    /// A frame on a stream that is half closed.
    STREAM_CLOSED = 0x05;
    /// A frame whose size is wrong.
    FRAME_SIZE_ERROR = 0x06;
    /// The stream was refused before anything was done with it.
    REFUSED_STREAM = 0x07;
    /// The stream is not needed any more.
    CANCEL = 0x08;
    /// A field block could not be decoded.
    COMPRESSION_ERROR = 0x09;
    /// The connection of a CONNECT request was reset.
    CONNECT_ERROR = 0x0a;
    /// The peer's behaviour might cause excessive load.
    ENHANCE_YOUR_CALM = 0x0b;
    /// The transport is not secure enough.
    INADEQUATE_SECURITY = 0x0c;
    /// HTTP/1.1 is required.
    HTTP_1_1_REQUIRED = 0x0d;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#x}", self.0),
        }
    }
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
