//! Writes heads (RFC 9112 sections 3 to 5).

use crate::qpack::Field;

/// Appends the head of a request. Names and values of the fields must be valid.
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

/// The phrase of a status (RFC 9110 section 15), for humans.
fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        200 => "OK",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        414 => "URI Too Long",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
