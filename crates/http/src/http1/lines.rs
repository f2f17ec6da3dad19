//! Lines of a head (RFC 9112 sections 2.2 and 5), and the fields that describe the connection rather than the
//! message.

use super::MAX_LINES;
use crate::message::{self, Malformed};
use crate::qpack::Field;
use std::borrow::Cow;

/// Field lines as received, or unfolded.
pub(super) type Lines<'a> = Vec<Cow<'a, [u8]>>;

/// The first line and the remaining ones.
pub(super) fn split(head: &[u8]) -> Result<(&[u8], Lines<'_>), Malformed> {
    let mut lines = Vec::new();
    let (mut first, mut rest) = (None, head);
    loop {
        let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
        let line = &rest[..end.unwrap_or(rest.len())];
        if first.is_none() {
            first = Some(line);
        } else {
            lines.push(Cow::Borrowed(line));
        }
        if lines.len() > MAX_LINES {
            return Err(Malformed("too many field lines"));
        }
        let Some(end) = end else { return Ok((first.unwrap_or_default(), lines)) };
        // Section 2.2: a CR without LF is invalid; here, so is a LF without CR.
        rest = rest[end..].strip_prefix(b"\r\n").ok_or(Malformed("a line that does not end with CR LF"))?;
    }
}

/// RFC 9112 section 5.2: a client joins a line that begins with white space to the previous one, with a space between
/// them. The first field line has no previous one (section 2.2).
pub(super) fn unfold(lines: Lines<'_>) -> Lines<'_> {
    let mut unfolded: Lines<'_> = Vec::with_capacity(lines.len());
    for line in lines {
        match unfolded.last_mut() {
            Some(before) if matches!(line.first(), Some(b' ' | b'\t')) => {
                let before = before.to_mut();
                before.push(b' ');
                before.extend_from_slice(trim(&line));
            }
            _ => unfolded.push(line),
        }
    }
    unfolded
}

/// A field line: its name in lowercase, and its value.
///
/// # Errors
/// If the line is invalid.
pub(super) fn field(line: &[u8]) -> Result<(Vec<u8>, &[u8]), Malformed> {
    // Section 5.2: no folding; section 2.2: no white space before the first field.
    if matches!(line.first(), None | Some(b' ' | b'\t')) {
        return Err(Malformed("a field line that begins with white space, or is empty"));
    }
    let colon = line.iter().position(|byte| *byte == b':');
    let (name, value) = line.split_at(colon.ok_or(Malformed("a field line without a colon"))?);
    let (name, value) = (name.to_ascii_lowercase(), trim(&value[1..]));
    // RFC 9112 5.1: "No whitespace is allowed between the field name and colon."
    message::check_field(&name, value)?;
    Ok((name, value))
}

/// The properties of the connection in the fields (RFC 9110 section 7.6.1).
#[derive(Debug, Default)]
pub(super) struct Connection {
    /// `close` (section 9.6).
    pub(super) close: bool,
    /// `keep-alive` (appendix C.2.2).
    pub(super) keep_alive: bool,
    /// The transfer codings in order, in lowercase and without parameters (section 6.1).
    pub(super) codings: Option<Vec<Vec<u8>>>,
}

impl Connection {
    /// Reads field lines; those that describe the message are added to `fields`.
    pub(super) fn read(lines: &[Cow<'_, [u8]>], fields: &mut Vec<Field>) -> Result<Connection, Malformed> {
        let mut connection = Connection::default();
        for line in lines {
            let (name, value) = field(line)?;
            match name.as_slice() {
                b"connection" => connection.options(value),
                b"transfer-encoding" => connection.codings(value)?,
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

    /// RFC 9110 section 5.3: lines with the same name form one list.
    fn codings(&mut self, value: &[u8]) -> Result<(), Malformed> {
        let codings = self.codings.get_or_insert_default();
        for coding in value.split(|byte| *byte == b',').map(trim) {
            // RFC 9110 section 5.6.1.2: empty elements are ignored.
            if coding.is_empty() {
                continue;
            }
            // Section 7: `chunked` has no parameters; other codings are unsupported with or without any.
            if !coding.iter().all(|byte| message::is_token(*byte)) {
                return Err(Malformed("a transfer coding that is not a token"));
            }
            codings.push(coding.to_ascii_lowercase());
        }
        Ok(())
    }
}

/// RFC 9110 section 5.6.3: OWS.
pub(super) fn trim(mut value: &[u8]) -> &[u8] {
    while let Some((b' ' | b'\t', rest)) = value.split_first() {
        value = rest;
    }
    while let Some((b' ' | b'\t', rest)) = value.split_last() {
        value = rest;
    }
    value
}
