//! Messages of HTTP/2 (RFC 9113 section 8): as in [`crate::message`], with one more rule.

use crate::message::{self, Malformed, RequestHead, ResponseHead};
use crate::qpack::Field;

/// Reads the header section of a request.
///
/// # Errors
/// If the request is malformed: a stream error of type PROTOCOL_ERROR (section 8.1.1).
pub fn read_request(fields: &[Field]) -> Result<RequestHead, Malformed> {
    check_edges(fields).and_then(|()| RequestHead::read(fields))
}

/// Reads the header section of a response.
///
/// # Errors
/// As [`read_request`].
pub fn read_response(fields: &[Field]) -> Result<ResponseHead, Malformed> {
    check_edges(fields).and_then(|()| ResponseHead::read(fields))
}

/// Checks a trailer section.
///
/// # Errors
/// As [`read_request`].
pub fn check_trailers(fields: &[Field]) -> Result<(), Malformed> {
    check_edges(fields).and_then(|()| message::check_trailers(fields))
}

/// RFC 9113 8.2.1: "A field value MUST NOT start or end with an ASCII whitespace character".
fn check_edges(fields: &[Field]) -> Result<(), Malformed> {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if fields.iter().any(|field| is_space(field.value.first()) || is_space(field.value.last())) {
        return Err(Malformed("a field value with white space around it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9113 section 8.2.1.
    #[test]
    fn values_with_outer_white_space_are_malformed() {
        for (value, fine) in
            [("a b", true), ("", true), (" a", false), ("a ", false), ("\ta", false), ("a\t", false)]
        {
            let of = |lines: &[(&'static str, &'static str)]| {
                let mut fields: Vec<Field> =
                    lines.iter().map(|(name, value)| Field::new(*name, *value)).collect();
                fields.push(Field::new("x", value));
                fields
            };
            let get = [(":method", "GET"), (":scheme", "https"), (":authority", "a"), (":path", "/")];
            assert_eq!(read_request(&of(&get)).is_ok(), fine, "{value:?}");
            assert_eq!(read_response(&of(&[(":status", "200")])).is_ok(), fine, "{value:?}");
            assert_eq!(check_trailers(&of(&[])).is_ok(), fine, "{value:?}");
        }
    }
}
