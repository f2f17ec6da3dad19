//! The requests of a web client and their results.

use http::Priority;
use http::qpack::Field;
use std::fmt;
use std::rc::Rc;
use units::Time;

/// The supported methods: safe ones without a body (RFC 9110 section 9.2.1), so that a request can be sent in 0-RTT and
/// can be retried (RFC 8470).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Fetches the object.
    #[default]
    Get,
    /// Fetches the header fields of the object. hq-interop does not support this method, so the request fails.
    Head,
}

impl Method {
    /// The name of the method.
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
    /// Path and query as sent: absolute and percent-encoded.
    pub path: String,
    /// The method.
    pub method: Method,
    /// The priority of the response, sent as the field `priority`; ignored by hq-interop.
    pub priority: Priority,
    /// The host and port that it is for; `None` for those of the client.
    pub authority: Option<Rc<str>>,
    /// The size of a field `cookie`, which pads the request; 0 for none. Ignored by hq-interop.
    pub cookie: usize,
}

impl Request {
    /// GET of this path with the default priority.
    pub fn get(path: impl Into<String>) -> Request {
        Request {
            path: path.into(),
            method: Method::Get,
            priority: Priority::default(),
            authority: None,
            cookie: 0,
        }
    }

    /// The host and port that it is for, with those of the client.
    pub(crate) fn authority<'r>(&'r self, of_client: &'r str) -> &'r str {
        self.authority.as_deref().unwrap_or(of_client)
    }

    /// The protocol-independent fields, except for those that identify the object.
    pub fn fields(&self) -> Vec<Field> {
        let mut fields = vec![Field::new("user-agent", "quiclab")];
        if self.priority != Priority::default() {
            fields.push(Field::new("priority", self.priority.to_string()));
        }
        if self.cookie > 0 {
            // A letter whose Huffman code has 8 bits, so that header compression does not shorten it.
            fields.push(Field::new("cookie", "X".repeat(self.cookie)));
        }
        fields
    }
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fetched {
    /// The status code of the final response; none for hq-interop.
    pub status: Option<u16>,
    /// The received bytes of the body.
    pub bytes: u64,
    /// The stream of the request: that of HTTP/3 or HTTP/2, and for HTTP/1.1 that of the connection.
    pub stream: Option<u64>,
    /// The time at which it was written to its stream; the last time if it was retried.
    pub requested_at: Option<Time>,
    /// Whether that was before the handshake was complete.
    pub early: bool,
    /// The time at which the response started to arrive.
    pub first_at: Option<Time>,
    /// The time at which the response was complete or failed.
    pub finished_at: Option<Time>,
    /// Why there is no complete response.
    pub failure: Option<Failure>,
    /// The sum over the bytes of the body of their arrival times in nanoseconds.
    pub byte_times: u128,
}

impl Fetched {
    /// Adds bytes of the body.
    pub(crate) fn count(&mut self, now: Time, bytes: u64) {
        self.bytes += bytes;
        self.byte_times += u128::from(bytes) * u128::from(now.as_nanos());
    }
    /// Whether a complete response was received, whatever its status.
    pub fn is_complete(&self) -> bool {
        self.finished_at.is_some() && self.failure.is_none()
    }
}

/// Why a request has no complete response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server did not process it: it was refused, the server is going away, or the request was never sent. It can
    /// be retried on another connection (RFC 9114 section 4.1.1).
    NotProcessed,
    /// The server aborted it with this code of the application protocol.
    Reset(u64),
    /// The response violated a rule of HTTP.
    Malformed(&'static str),
    /// The sink refused the bytes.
    Sink(String),
    /// It was cancelled locally.
    Cancelled,
    /// The connection ended before the response did.
    ConnectionLost,
    /// The negotiated protocol cannot express the request.
    Unsupported,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotProcessed => f.write_str("not processed by the server"),
            Failure::Reset(code) => write!(f, "aborted by the server with code {code:#x}"),
            Failure::Malformed(why) => write!(f, "malformed response: {why}"),
            Failure::Sink(why) => write!(f, "the response could not be saved: {why}"),
            Failure::Cancelled => f.write_str("cancelled"),
            Failure::ConnectionLost => f.write_str("the connection ended"),
            Failure::Unsupported => f.write_str("the protocol does not support this request"),
        }
    }
}
impl std::error::Error for Failure {}
