//! Messages of HTTP/1.1 (RFC 9112): heads from bytes to values and back.
//!
//! It is read as strictly as the RFC admits: what could be understood in two ways is refused, since two readers that
//! understand it differently are how requests are smuggled (section 11.2). Only lengths that are told beforehand are taken:
//! a body in chunks is seen and told, and not read.

use crate::message::{Malformed, RequestHead, ResponseHead};
use crate::qpack::Field;
use std::borrow::Cow;

/// The longest head that is taken, in bytes.
pub const MAX_HEAD: usize = 32_768;
/// The most field lines of a head.
const MAX_LINES: usize = 256;

/// Collects the bytes of a head.
#[derive(Debug, Default)]
pub struct HeadReader {
    head: Vec<u8>,
}

/// A head is longer than [`MAX_HEAD`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl HeadReader {
    /// Takes bytes; when the head is complete, gives it, without the empty line, and how many of these bytes were its. The
    /// reader is then ready for the next one.
    ///
    /// # Errors
    /// [`TooLong`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, TooLong> {
        const END: &[u8] = b"\r\n\r\n";
        for (at, byte) in bytes.iter().enumerate() {
            self.head.push(*byte);
            // RFC 9112 section 2.2: an empty line before a request line is ignored.
            if self.head == b"\r\n" {
                self.head.clear();
            }
            if self.head.ends_with(END) {
                let mut head = std::mem::take(&mut self.head);
                head.truncate(head.len() - END.len());
                return Ok(Some((head, at + 1)));
            }
            if self.head.len() > MAX_HEAD {
                return Err(TooLong);
            }
        }
        Ok(None)
    }

    /// Whether nothing of a head has come.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }
}

/// A head, and what it says of the connection and the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<H> {
    /// What it says of the message.
    pub head: H,
    /// Whether the connection ends behind this message (section 9.6).
    pub closes: bool,
    /// Whether the body has a transfer coding (section 6.1).
    pub is_coded: bool,
}

/// Reads the head of a request, as [`HeadReader`] gives it.
///
/// # Errors
/// If it is malformed; it is then answered with 400, and the connection closed (section 2.2).
pub fn read_request(head: &[u8]) -> Result<Message<RequestHead>, Malformed> {
    let (line, lines) = split(head)?;
    // Section 3: exactly two spaces.
    let mut parts = line.split(|byte| *byte == b' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Malformed("a request line that is none"));
    };
    let minor = minor(version)?;
    let mut fields = vec![pseudo(":method", method), pseudo(":scheme", b"http")];
    match target {
        // Section 3.2.4: the asterisk, of OPTIONS alone, which the reader of fields sees to.
        [b'/', ..] | b"*" => fields.push(pseudo(":path", target)),
        // Sections 3.2.2 and 3.2.3: for proxies.
        _ => return Err(Malformed("a target of another form than an absolute path")),
    }
    let connection = Connection::read(lines, &mut fields, minor)?;
    // Section 3.2: exactly one, in 1.1. The reader of fields refuses none and two.
    let head = RequestHead::read(&fields)?;
    connection.message(head)
}

/// Reads the head of a response, as [`HeadReader`] gives it.
///
/// # Errors
/// If it is malformed; the connection is then closed.
pub fn read_response(head: &[u8]) -> Result<Message<ResponseHead>, Malformed> {
    let (line, lines) = split(head)?;
    // Section 4: the reason phrase may be empty, but its space is there.
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    let (Some(version), Some(status), Some(reason)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(Malformed("a status line that is none"));
    };
    if reason.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        return Err(Malformed("a reason with control characters"));
    }
    let minor = minor(version)?;
    let mut fields = vec![pseudo(":status", status)];
    let connection = Connection::read(lines, &mut fields, minor)?;
    let head = ResponseHead::read(&fields)?;
    connection.message(head)
}

/// Appends the head of a request. Names and values of the fields must be such.
pub fn write_request(out: &mut Vec<u8>, method: &str, path: &str, host: &str, fields: &[Field]) {
    for part in [method, " ", path, " HTTP/1.1\r\nhost: ", host, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    write_fields(out, fields);
}

/// Appends the head of a response.
pub fn write_response(out: &mut Vec<u8>, status: u16, fields: &[Field]) {
    out.extend_from_slice(format!("HTTP/1.1 {status} {}\r\n", reason(status)).as_bytes());
    write_fields(out, fields);
}

fn write_fields(out: &mut Vec<u8>, fields: &[Field]) {
    for Field { name, value } in fields {
        for part in [name, &b": "[..], value, b"\r\n"] {
            out.extend_from_slice(part);
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// The phrase of a status (RFC 9110 section 15), for people.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        _ => "",
    }
}

/// The first line and those behind it.
fn split(head: &[u8]) -> Result<(&[u8], Vec<&[u8]>), Malformed> {
    let mut lines = Vec::new();
    let mut rest = head;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        // Section 2.2: a CR without LF is invalid, and so is here a LF without CR.
        let behind =
            rest[at..].strip_prefix(b"\r\n").ok_or(Malformed("a line that does not end with CR LF"))?;
        lines.push(&rest[..at]);
        if lines.len() > MAX_LINES {
            return Err(Malformed("too many field lines"));
        }
        rest = behind;
    }
    lines.push(rest);
    let first = lines.remove(0);
    Ok((first, lines))
}

/// The minor version (section 2.3).
fn minor(version: &[u8]) -> Result<u8, Malformed> {
    match version {
        b"HTTP/1.1" => Ok(1),
        b"HTTP/1.0" => Ok(0),
        _ => Err(Malformed("a version that is neither HTTP/1.1 nor HTTP/1.0")),
    }
}

fn pseudo(name: &'static str, value: &[u8]) -> Field {
    Field { name: Cow::Borrowed(name.as_bytes()), value: Cow::Owned(value.to_vec()) }
}

/// What the fields say that are of the connection and not of the message (RFC 9110 section 7.6.1).
#[derive(Debug, Default)]
struct Connection {
    minor: u8,
    close: bool,
    keep_alive: bool,
    is_coded: bool,
}

impl Connection {
    /// Reads field lines; those of the message go to `fields`.
    fn read(lines: Vec<&[u8]>, fields: &mut Vec<Field>, minor: u8) -> Result<Connection, Malformed> {
        let mut connection = Connection { minor, ..Connection::default() };
        for line in lines {
            // Section 5.2: no folding; section 2.2: no white space before the first field.
            if matches!(line.first(), None | Some(b' ' | b'\t')) {
                return Err(Malformed("a field line that begins with white space, or is empty"));
            }
            let colon = line.iter().position(|byte| *byte == b':');
            let (name, value) = line.split_at(colon.ok_or(Malformed("a field line without a colon"))?);
            // Section 5.1: no white space before the colon: the reader of fields admits none in a name.
            let name = name.to_ascii_lowercase();
            let value = trim(&value[1..]);
            match name.as_slice() {
                b"connection" => connection.options(value),
                b"transfer-encoding" => connection.is_coded = true,
                b"keep-alive" | b"proxy-connection" | b"upgrade" | b"te" => {}
                _ => fields.push(Field { name: Cow::Owned(name), value: Cow::Owned(value.to_vec()) }),
            }
        }
        Ok(connection)
    }

    fn options(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',').map(trim) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn message<H: Lengths>(self, head: H) -> Result<Message<H>, Malformed> {
        // Section 6.1: not together, and not in 1.0.
        if self.is_coded && (head.is_told() || self.minor == 0) {
            return Err(Malformed("a transfer coding where there is none, or with a content-length"));
        }
        // Section 9.3: 1.1 persists unless it says close, 1.0 only if it says keep-alive.
        let closes = self.close || self.minor == 0 && !self.keep_alive;
        Ok(Message { head, closes, is_coded: self.is_coded })
    }
}

/// RFC 9110 section 5.6.3: OWS.
fn trim(mut value: &[u8]) -> &[u8] {
    while let Some((b' ' | b'\t', rest)) = value.split_first() {
        value = rest;
    }
    while let Some((b' ' | b'\t', rest)) = value.split_last() {
        value = rest;
    }
    value
}

/// A head that may tell the length of the content.
trait Lengths {
    fn is_told(&self) -> bool;
}
impl Lengths for RequestHead {
    fn is_told(&self) -> bool {
        self.content_length.is_some()
    }
}
impl Lengths for ResponseHead {
    fn is_told(&self) -> bool {
        self.content_length.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;

    fn request(text: &str) -> Result<Message<RequestHead>, Malformed> {
        read_request(text.as_bytes())
    }
    fn response(text: &str) -> Result<Message<ResponseHead>, Malformed> {
        read_response(text.as_bytes())
    }

    #[test]
    fn heads_are_cut_out_of_any_pieces() {
        let bytes = b"\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\nGET /b HTTP/1.1\r\n\r\nrest";
        for step in 1..bytes.len() {
            let (mut reader, mut heads, mut rest) = (HeadReader::default(), Vec::new(), &bytes[..]);
            while heads.len() < 2 {
                let piece = &rest[..step.min(rest.len())];
                match reader.push(piece).unwrap() {
                    Some((head, used)) => {
                        heads.push(String::from_utf8(head).unwrap());
                        rest = &rest[used..];
                    }
                    None => rest = &rest[piece.len()..],
                }
            }
            assert_eq!(heads, ["GET / HTTP/1.1\r\nhost: a", "GET /b HTTP/1.1"], "{step}");
            assert!(rest.starts_with(b"rest") && reader.is_empty());
        }
        assert_eq!(HeadReader::default().push(&[b'a'; MAX_HEAD + 1]), Err(TooLong));
    }

    #[test]
    fn messages_come_back() {
        let mut out = Vec::new();
        let fields = [Field::new("Priority", "u=1, i"), Field::new("content-length", "12")];
        write_request(&mut out, "GET", "/a?b", "host:1", &fields);
        let message = read_request(out.strip_suffix(b"\r\n\r\n").unwrap()).unwrap();
        assert_eq!((message.head.method.as_str(), message.head.path.as_deref()), ("GET", Some("/a?b")));
        assert_eq!((message.head.authority.as_deref(), message.closes), (Some("host:1"), false));
        assert_eq!(message.head.priority, Some(Priority { urgency: 1, incremental: true }));
        assert_eq!((message.head.content_length, message.is_coded), (Some(12), false));

        let mut out = Vec::new();
        write_response(&mut out, 404, &fields[1..]);
        assert_eq!(out, b"HTTP/1.1 404 Not Found\r\ncontent-length: 12\r\n\r\n");
        let message = read_response(out.strip_suffix(b"\r\n\r\n").unwrap()).unwrap();
        assert_eq!((message.head.status, message.head.content_length), (404, Some(12)));
    }

    /// RFC 9112 sections 2.2, 3, 3.2, 5.1, 5.2 and 6.1.
    #[test]
    fn malformed_requests() {
        assert!(request("GET / HTTP/1.1\r\nhost: a").is_ok());
        for bad in [
            "",
            "GET / HTTP/1.1",
            "GET /\r\nhost: a",
            "GET  / HTTP/1.1\r\nhost: a",
            "GET / HTTP/1.1 \r\nhost: a",
            "GET / HTTP/2.0\r\nhost: a",
            "GET / http/1.1\r\nhost: a",
            "GET a HTTP/1.1\r\nhost: a",
            "GET http://a/ HTTP/1.1\r\nhost: a",
            "GET * HTTP/1.1\r\nhost: a",
            "G(T / HTTP/1.1\r\nhost: a",
            "GET / HTTP/1.1\nhost: a",
            "GET / HTTP/1.1\r\nhost: a\rb",
            "GET / HTTP/1.1\r\nhost : a",
            "GET / HTTP/1.1\r\n host: a",
            "GET / HTTP/1.1\r\nhost: a\r\n folded",
            "GET / HTTP/1.1\r\nhost: a\r\nhost: a",
            "GET / HTTP/1.1\r\nhost:",
            "GET / HTTP/1.1\r\nhost: a\r\nfield",
            "GET / HTTP/1.1\r\nhost: a\r\n: b",
            "GET / HTTP/1.1\r\nhost: a\r\n:path: /b",
            "GET / HTTP/1.1\r\nhost: a\r\nb: \0",
            "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1, 2",
            "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked",
            "GET / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked",
        ] {
            assert!(request(bad).is_err(), "{bad:?}");
        }
        let many = "a: b\r\n".repeat(MAX_LINES);
        assert!(request(&format!("GET / HTTP/1.1\r\nhost: a\r\n{many}b: c")).is_err());
        assert!(request("OPTIONS * HTTP/1.1\r\nhost: a").is_ok());
    }

    /// RFC 9112 section 4.
    #[test]
    fn malformed_responses() {
        assert!(response("HTTP/1.1 200 ").is_ok());
        for bad in [
            "HTTP/1.1 200",
            "HTTP/1.1  200 OK",
            "HTTP/1.1 20 OK",
            "HTTP/1.1 2000 OK",
            "HTTP/3 200 OK",
            "HTTP/1.1 200 O\0K",
            "HTTP/1.1 200 OK\r\na b: c",
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2",
        ] {
            assert!(response(bad).is_err(), "{bad:?}");
        }
    }

    /// RFC 9112 sections 6.1, 9.3 and 9.6.
    #[test]
    fn what_is_of_the_connection() {
        for (text, closes, is_coded) in [
            ("HTTP/1.1 200 OK", false, false),
            ("HTTP/1.1 200 OK\r\nConnection: foo, CLOSE", true, false),
            ("HTTP/1.0 200 OK", true, false),
            ("HTTP/1.0 200 OK\r\nconnection: keep-alive", false, false),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nupgrade: h2c\r\nkeep-alive: 5", false, true),
        ] {
            let message = response(text).unwrap();
            assert_eq!((message.closes, message.is_coded), (closes, is_coded), "{text}");
        }
    }
}
