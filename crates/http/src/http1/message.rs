//! Heads of requests and responses (RFC 9112 sections 3 to 6).

use super::lines::{self, Connection};
use crate::message::{Malformed, RequestHead, ResponseHead};
use crate::qpack::Field;
use std::borrow::Cow;
use std::fmt;

/// A head, and what it says about the connection and the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<H> {
    /// The message.
    pub head: H,
    /// Whether the connection closes after this message (section 9.6).
    pub closes: bool,
    /// Whether this is HTTP/1.0 on a persistent connection; the answer must then confirm it (appendix C.2.2).
    pub is_kept_alive: bool,
    /// Whether the body is chunked (section 7.1).
    pub is_chunked: bool,
}

/// Why a request is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    /// The status of the answer.
    pub status: u16,
    /// A description for humans.
    pub why: &'static str,
}

impl From<Malformed> for Refused {
    fn from(Malformed(why): Malformed) -> Refused {
        Refused { status: 400, why }
    }
}
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.why, self.status)
    }
}
impl std::error::Error for Refused {}

/// Reads the head of a request, as returned by [`super::HeadReader`].
///
/// # Errors
/// If the request is rejected; it is then answered, and the connection closed (sections 2.2 and 6.3).
pub fn read_request(head: &[u8]) -> Result<Message<RequestHead>, Refused> {
    let (line, lines) = lines::split(head)?;
    // Section 3: exactly two spaces.
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Malformed("a malformed request line").into());
    };
    let minor = minor(version)?;
    let mut fields = vec![pseudo(":method", method)];
    let begin = target_fields(method, target, &mut fields)?;
    let connection = Connection::read(&lines, &mut fields)?;
    check_hosts(minor, begin.names_host, &mut fields)?;
    let mut head = RequestHead::read_with(&fields, minor > 0)?;
    // RFC 9110 10.1.1: "A server that receives a 100-continue expectation in an HTTP/1.0 request MUST ignore that
    // expectation."
    head.expects_continue &= minor > 0;
    let is_chunked = match connection.coding(minor, head.content_length.is_some())? {
        Coding::None => false,
        Coding::Chunked => true,
        // Section 6.1.
        Coding::Unknown { delimited: true } => {
            return Err(Refused { status: 501, why: "an unsupported transfer coding" });
        }
        // Section 6.3: the end of such a request is unknown.
        Coding::Unknown { delimited: false } => {
            return Err(Malformed("a request whose last transfer coding is not chunked").into());
        }
    };
    Ok(connection.message(minor, head, is_chunked))
}

/// Reads the head of a response, as returned by [`super::HeadReader`].
///
/// # Errors
/// If it is malformed; the connection is then closed.
pub fn read_response(head: &[u8]) -> Result<Message<ResponseHead>, Malformed> {
    let (line, lines) = lines::split(head)?;
    // Section 4: the reason phrase may be empty, but the space before it is mandatory.
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    let (Some(version), Some(status), Some(reason)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Malformed("a malformed status line"));
    };
    if reason.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        return Err(Malformed("a reason phrase with control characters"));
    }
    let minor = minor(version).map_err(|refused| Malformed(refused.why))?;
    let mut fields = vec![pseudo(":status", status)];
    let connection = Connection::read(&lines::unfold(lines), &mut fields)?;
    let head = ResponseHead::read(&fields)?;
    let is_chunked = match connection.coding(minor, head.content_length.is_some())? {
        Coding::None => false,
        Coding::Chunked => true,
        // RFC 9110 section 10.1.4: no other coding was requested by a TE field.
        Coding::Unknown { .. } => return Err(Malformed("a transfer coding that was not requested")),
    };
    Ok(connection.message(minor, head, is_chunked))
}

/// The beginning of a target.
struct Begin {
    /// Whether it names the host, in which case the Host field is ignored.
    names_host: bool,
}

/// Converts the target of a request (section 3.2) to the pseudo-header fields of other versions.
fn target_fields(method: &[u8], target: &[u8], fields: &mut Vec<Field>) -> Result<Begin, Malformed> {
    if method == b"CONNECT" {
        // Section 3.2.3: host and port.
        fields.push(pseudo(":authority", target));
        return Ok(Begin { names_host: true });
    }
    // Section 3.2.4: the asterisk is for OPTIONS only, which the reader of fields checks.
    if target.starts_with(b"/") || target == b"*" {
        fields.extend([pseudo(":scheme", b"http"), pseudo(":path", target)]);
        return Ok(Begin { names_host: false });
    }
    // RFC 9112 3.2.2: "A server MUST accept the absolute-form in requests".
    let scheme = [&b"http"[..], b"https"].into_iter().find(|scheme| {
        target.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
            && target[scheme.len()..].starts_with(b"://")
    });
    let scheme = scheme.ok_or(Malformed("a target that is neither a path nor an HTTP URL"))?;
    let rest = &target[scheme.len() + 3..];
    let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let path = match path.first() {
        Some(b'/') => path.to_vec(),
        None if method == b"OPTIONS" => b"*".to_vec(),
        // RFC 9110 section 4.2.3: an empty path is the same as "/".
        _ => [b"/", path].concat(),
    };
    fields.extend([pseudo(":scheme", scheme), pseudo(":authority", authority), pseudo(":path", &path)]);
    Ok(Begin { names_host: true })
}

/// RFC 9112 section 3.2: HTTP/1.1 requires exactly one Host; section 3.2.2: it is ignored if the target names the
/// host.
fn check_hosts(minor: u8, names_host: bool, fields: &mut Vec<Field>) -> Result<(), Malformed> {
    let hosts = fields.iter().filter(|field| &*field.name == b"host").count();
    if hosts > 1 || hosts == 0 && minor > 0 {
        return Err(Malformed("a request without a Host field, or with several"));
    }
    if names_host {
        fields.retain(|field| &*field.name != b"host");
    }
    Ok(())
}

/// The minor version (section 2.3). RFC 9110 section 2.5: a higher one is treated as the highest known.
fn minor(version: &[u8]) -> Result<u8, Refused> {
    match version {
        [b'H', b'T', b'T', b'P', b'/', b'1', b'.', minor @ b'0'..=b'9'] => Ok((minor - b'0').min(1)),
        // RFC 9110 section 15.6.6.
        [b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => {
            Err(Refused { status: 505, why: "a version that is not HTTP/1" })
        }
        _ => Err(Malformed("a malformed version").into()),
    }
}

fn pseudo(name: &'static str, value: &[u8]) -> Field {
    Field { name: Cow::Borrowed(name.as_bytes()), value: Cow::Owned(value.to_vec()) }
}

/// The coding of a body.
enum Coding {
    None,
    Chunked,
    /// Unsupported; tells whether the end of the body can be found.
    Unknown {
        delimited: bool,
    },
}

impl Connection {
    /// The transfer codings of a message of HTTP/1.`minor` (section 6.1).
    fn coding(&self, minor: u8, is_told: bool) -> Result<Coding, Malformed> {
        let Some(codings) = &self.codings else { return Ok(Coding::None) };
        // Section 6.1: HTTP/1.0 has no transfer codings; section 6.3: together with Content-Length they are an error,
        // because they are a means of request smuggling.
        if is_told || minor == 0 {
            return Err(Malformed("a transfer coding in HTTP/1.0, or together with content-length"));
        }
        Ok(match codings.as_slice() {
            [] => return Err(Malformed("an empty transfer coding")),
            [coding] if coding == b"chunked" => Coding::Chunked,
            [before @ .., last] => {
                // Section 7.1: `chunked` is applied once, and last.
                if before.iter().any(|coding| coding == b"chunked") {
                    return Err(Malformed("chunked is not the last transfer coding, or is applied twice"));
                }
                Coding::Unknown { delimited: last == b"chunked" }
            }
        })
    }

    fn message<H>(self, minor: u8, head: H, is_chunked: bool) -> Message<H> {
        // Section 9.3: HTTP/1.1 persists unless told to close; HTTP/1.0 closes unless told to keep alive.
        let is_kept_alive = minor == 0 && self.keep_alive && !self.close;
        let closes = self.close || minor == 0 && !is_kept_alive;
        Message { head, closes, is_kept_alive, is_chunked }
    }
}
