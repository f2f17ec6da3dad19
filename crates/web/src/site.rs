//! What a web server offers.

use super::Method;
use http::message::RequestHead;
use http::qpack::Field;
use http::{BadTarget, Target};
use std::borrow::Cow;
use std::fmt;
use std::io;
use units::Duration;

/// A request as it reaches a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query<'a> {
    /// GET or HEAD; the server has answered every other method itself (405). The answer to both is the same: of the one
    /// to HEAD the server sends no body.
    pub method: Method,
    /// The object: segments that are names, none of them `.` or `..` or with a `/` in it.
    pub target: &'a Target,
    /// Host and port that the client asked for; unknown under hq-interop.
    pub authority: Option<&'a str>,
}

/// A site: from the target of a request to what is answered. One for each connection; what they share lies behind it.
pub trait Site {
    /// Answers a request. Called once for each, when it is complete.
    fn find(&mut self, query: Query<'_>) -> Answer;
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// The status code (RFC 9110 section 15), from 200 to 599. Under hq-interop, which has none, everything but 200 is a
    /// reset of the stream.
    pub status: u16,
    /// The value of Content-Type; without one there is no such field.
    pub content_type: Option<Cow<'static, str>>,
    /// The content. Its length is told by Content-Length.
    pub body: Body,
    /// How long the server thinks before it answers.
    pub think: Duration,
    /// Bytes of a field `x-fill`, which makes the head as large as it is to be; 0: there is none.
    pub fill: usize,
}

impl Answer {
    /// 200 with this body and no content type.
    pub fn found(body: Body) -> Answer {
        Answer { status: 200, content_type: None, body, think: Duration::ZERO, fill: 0 }
    }
    /// A status with one line of text.
    pub fn plain(status: u16, text: &str) -> Answer {
        let body = Body::Bytes(format!("{text}\n").into_bytes());
        let content_type = Some("text/plain;charset=utf-8".into());
        Answer { status, content_type, ..Answer::found(body) }
    }

    /// The answer to a complete request: that of the site, or the server's own one to what no site is asked. Whether only its
    /// head is sent.
    pub(crate) fn to(head: &RequestHead, site: &mut dyn Site) -> (Answer, bool) {
        let methods = [Method::Get, Method::Head];
        let Some(method) = methods.into_iter().find(|method| method.as_str() == head.method) else {
            return (Answer::to_other_method(&head.method), false);
        };
        let answer = match Target::parse(head.path.as_deref().unwrap_or_default().as_bytes()) {
            Ok(target) => site.find(Query { method, target: &target, authority: head.authority.as_deref() }),
            // RFC 9110 section 15.5.15.
            Err(bad @ BadTarget::TooLong) => Answer::plain(414, &bad.to_string()),
            Err(bad) => Answer::plain(400, &bad.to_string()),
        };
        (answer, method == Method::Head)
    }

    /// RFC 9110 section 9.1: 405 for a method that is known and not allowed, 501 for one that is not known.
    pub(crate) fn to_other_method(method: &str) -> Answer {
        match method {
            "POST" | "PUT" | "DELETE" | "CONNECT" | "OPTIONS" | "TRACE" | "PATCH" => {
                Answer::plain(405, "only GET and HEAD are answered")
            }
            _ => Answer::plain(501, "there is no such method"),
        }
    }

    /// The fields of the response, whatever the protocol; whether it has content, unless it answers HEAD.
    pub fn fields(&self) -> (Vec<Field>, bool) {
        let mut fields = Vec::new();
        // RFC 9110 section 15.5.6.
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
    /// So many virtual bytes; what they are depends on where they come to stand in the stream ([`wire::pattern`]).
    Virtual(u64),
    /// Bytes that are there.
    Bytes(Vec<u8>),
    /// Bytes that are read piece by piece as the connection takes them.
    Source {
        /// How many there are.
        length: u64,
        /// Where they are read.
        source: Box<dyn Source>,
    },
}

impl Body {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Body::Virtual(length) | Body::Source { length, .. } => *length,
            Body::Bytes(bytes) => bytes.len() as u64,
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Body::Virtual(length) => write!(f, "Virtual({length})"),
            Body::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Body::Source { length, .. } => write!(f, "Source({length})"),
        }
    }
}

/// Where the bytes of a body are read: a file, say.
pub trait Source {
    /// Reads into `out` from `offset` on; gives how many bytes there were, at least one. The offsets ascend without
    /// gaps. The server never asks for bytes beyond the length that was told.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`]: they cannot be read now, and are asked for again a tenth of a second later. After any other
    /// error, and after 0 bytes, the response is broken off by a reset, for its length was told already.
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<usize>;
}
