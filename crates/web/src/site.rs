//! The sites that web servers offer.

use super::{Method, Release};
use http::message::RequestHead;
use http::qpack::Field;
use http::{BadTarget, Target};
use std::borrow::Cow;
use std::fmt;
use std::io;
use units::Duration;

/// A request to a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query<'a> {
    /// GET or HEAD; the server itself answers all other methods (405). The answers to both are the same; the server
    /// omits the body for HEAD.
    pub method: Method,
    /// The path of the object: segments that are neither `.` nor `..` and contain no `/`.
    pub target: &'a Target,
    /// The host and port in the request; unknown for hq-interop.
    pub authority: Option<&'a str>,
}

/// A site, which maps the targets of requests to answers. There is one value per connection; any shared state lies
/// behind it.
pub trait Site {
    /// Answers a request. Called once per complete request.
    fn find(&mut self, query: Query<'_>) -> Answer;
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The status code (RFC 9110 section 15), from 200 to 599. hq-interop has no status codes and resets the stream for
    /// everything except 200.
    pub status: u16,
    /// The value of Content-Type; `None` omits the field.
    pub content_type: Option<Cow<'static, str>>,
    /// The content, whose length is sent as Content-Length.
    pub body: Body,
    /// The think time of the server before the response.
    pub think: Duration,
    /// The size of a field `x-fill`, which pads the head; 0 for none.
    pub fill: usize,
}

impl Answer {
    /// 200 with this body and no content type.
    pub fn found(body: Body) -> Answer {
        Answer { status: 200, content_type: None, body, think: Duration::ZERO, fill: 0 }
    }
    /// A status with a line of text.
    pub fn plain(status: u16, text: &str) -> Answer {
        let body = Body::Bytes(format!("{text}\n").into_bytes());
        let content_type = Some("text/plain;charset=utf-8".into());
        Answer { status, content_type, ..Answer::found(body) }
    }

    /// The answer to a complete request, from the site or, for invalid requests, from the server itself; and whether to
    /// send only its head.
    pub(crate) fn to(head: &RequestHead, site: &mut dyn Site) -> (Answer, bool) {
        let methods = [Method::Get, Method::Head];
        let Some(method) = methods.into_iter().find(|method| method.as_str() == head.method) else {
            return (Answer::to_other_method(&head.method), false);
        };
        let answer = match Target::parse(head.path.as_deref().unwrap_or_default().as_bytes()) {
            Ok(target) => site.find(Query { method, target: &target, authority: head.authority.as_deref() }),
            // RFC 9110 section 15.5.15: the target is too long.
            Err(bad @ BadTarget::TooLong) => Answer::plain(414, &bad.to_string()),
            Err(bad) => Answer::plain(400, &bad.to_string()),
        };
        (answer, method == Method::Head)
    }

    /// RFC 9110 section 9.1: 405 for a known method that is not allowed, 501 for an unknown method.
    pub(crate) fn to_other_method(method: &str) -> Answer {
        match method {
            "POST" | "PUT" | "DELETE" | "CONNECT" | "OPTIONS" | "TRACE" | "PATCH" => {
                Answer::plain(405, "only GET and HEAD are answered")
            }
            _ => Answer::plain(501, "there is no such method"),
        }
    }

    /// The protocol-independent fields of the response, and whether it has content, except for HEAD.
    pub fn fields(&self) -> (Vec<Field>, bool) {
        let mut fields = Vec::new();
        // RFC 9110 section 15.5.6: 405 requires the field Allow.
        if self.status == 405 {
            fields.push(Field::new("allow", "GET, HEAD"));
        }
        fields.extend(self.content_type.clone().map(|kind| Field::new("content-type", kind)));
        // RFC 9110 section 6.4.1: these never have content.
        let never = matches!(self.status, 204 | 304);
        if !never {
            fields.push(Field::new("content-length", self.body.len().to_string()));
        }
        if self.fill > 0 {
            fields.push(Field::new("x-fill", "X".repeat(self.fill)));
        }
        (fields, !never && !self.body.is_empty())
    }
}

/// The content of an answer.
pub enum Body {
    /// This many virtual bytes; their values depend on their position in the stream ([`wire::pattern`]).
    Virtual(u64),
    /// Virtual bytes that may be sent over time.
    Released {
        /// The number of bytes.
        length: u64,
        /// When they may be sent.
        release: Release,
    },
    /// Bytes in memory.
    Bytes(Vec<u8>),
    /// Bytes that are read in pieces as the connection accepts them.
    Source {
        /// The number of bytes.
        length: u64,
        /// The source of the bytes.
        source: Box<dyn Source>,
    },
}

impl Body {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Body::Virtual(length) | Body::Released { length, .. } | Body::Source { length, .. } => *length,
            Body::Bytes(bytes) => bytes.len() as u64,
        }
    }
    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Body::Virtual(length) => write!(f, "Virtual({length})"),
            Body::Released { length, .. } => write!(f, "Released({length})"),
            Body::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Body::Source { length, .. } => write!(f, "Source({length})"),
        }
    }
}

/// A source of body bytes, for example a file.
pub trait Source {
    /// Reads into `out` from `offset` on. Returns the number of bytes, at least one. The offsets ascend without gaps.
    /// The server never reads beyond the announced length.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if no bytes are available now; the server retries a tenth of a second later. After
    /// any other error, and after 0 bytes, the response is aborted by a reset, since its length was already announced.
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<usize>;
}
