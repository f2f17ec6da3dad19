//! What a web client asks for, and what became of it.

use http::Priority;
use http::qpack::Field;
use std::fmt;
use units::Time;

/// The methods that are asked for and answered here: safe ones without a body (RFC 9110 section 9.2.1), so that a request
/// can go in 0-RTT packets and can be asked again (RFC 8470).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// The object.
    #[default]
    Get,
    /// What would be told about the object. hq-interop has no such method: there it fails.
    Head,
}

impl Method {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
        }
    }
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Path and query as they are sent: absolute and percent-encoded.
    pub path: String,
    /// The method.
    pub method: Method,
    /// How urgent the response is: it is sent as the field `priority`; hq-interop has none.
    pub priority: Priority,
    /// Bytes of a field `cookie`, which makes the request as large as it is to be; 0: there is none. hq-interop has no fields.
    pub cookie: usize,
}

impl Request {
    /// GET of this path with the default priority.
    pub fn get(path: impl Into<String>) -> Request {
        Request { path: path.into(), method: Method::Get, priority: Priority::default(), cookie: 0 }
    }

    /// The fields that are sent whatever the protocol, beside those that say what is asked for.
    pub fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::new("user-agent", "quiclab")];
        if self.priority != Priority::default() {
            fields.push(Field::new("priority", self.priority.to_string()));
        }
        if self.cookie > 0 {
            // A letter whose Huffman code has 8 bits: no packing of fields makes it shorter.
            fields.push(Field::new("cookie", "X".repeat(self.cookie)));
        }
        fields
    }
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fetched {
    /// The status code of the final response; none under hq-interop.
    pub status: Option<u16>,
    /// Bytes of the body that came.
    pub bytes: u64,
    /// The stream of the protocol that it was sent on: that of HTTP/3, that of HTTP/2, under HTTP/1.1 that of the connection.
    pub stream: Option<u64>,
    /// When it was written to its stream, for the last time if it was tried more than once.
    pub asked_at: Option<Time>,
    /// Whether that was before the handshake was complete.
    pub early: bool,
    /// When the response began to come.
    pub first_at: Option<Time>,
    /// When the response was complete, or it failed.
    pub finished_at: Option<Time>,
    /// Why there is no complete response.
    pub failure: Option<Failure>,
}

impl Fetched {
    /// Whether a complete response came, whatever its status.
    pub fn is_complete(&self) -> bool {
        self.finished_at.is_some() && self.failure.is_none()
    }
}

/// Why a request has no complete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server did not process it: it was refused before it was looked at, the server is going away, or the request
    /// was never sent. It can be asked again on another connection (RFC 9114 section 4.1.1).
    NotProcessed,
    /// The server broke it off, with this code of the application protocol.
    Reset(u64),
    /// The response broke a rule of HTTP.
    Malformed(&'static str),
    /// The sink refused the bytes.
    Sink(String),
    /// It was cancelled at this end.
    Cancelled,
    /// The connection ended before the response did.
    ConnectionLost,
    /// The protocol that was agreed on cannot express the request.
    Unsupported,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotProcessed => f.write_str("not processed by the server"),
            Failure::Reset(code) => write!(f, "broken off by the server with code {code:#x}"),
            Failure::Malformed(why) => write!(f, "malformed response: {why}"),
            Failure::Sink(why) => write!(f, "the response was not taken: {why}"),
            Failure::Cancelled => f.write_str("cancelled"),
            Failure::ConnectionLost => f.write_str("the connection ended"),
            Failure::Unsupported => f.write_str("the protocol has no such request"),
        }
    }
}
impl std::error::Error for Failure {}
