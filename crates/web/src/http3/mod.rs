//! HTTP/3 (RFC 9114) over a [`transport::Transport`]: client and server.

mod client;
mod control;
mod incoming;
mod server;

pub(crate) use client::Http3Client;
pub(crate) use server::Http3Server;

use http::qpack::{self, BadSection, Field};
use http::{Code, Violation, frame};

/// The protocol name (ALPN; RFC 9114 section 3.1).
pub const ALPN: &[u8] = b"h3";

/// The maximum size of a received field section, as counted in RFC 9114 section 4.2.2, and of a HEADERS frame. Each
/// message in progress may use this much memory.
const MAX_FIELD_SECTION: u64 = 32_768;

/// A violation of a rule of the connection.
fn violation(code: Code, why: &'static str) -> Violation {
    Violation { code, why }
}

/// Decodes the fields of a HEADERS frame; `None` if they are too large.
fn decode(section: &[u8]) -> Result<Option<Vec<Field>>, Violation> {
    match qpack::decode(section, MAX_FIELD_SECTION) {
        Ok(fields) => Ok(Some(fields)),
        Err(BadSection::TooLarge) => Ok(None),
        Err(BadSection::Undecodable(why)) => Err(violation(Code::QPACK_DECOMPRESSION_FAILED, why)),
    }
}

/// A HEADERS frame with these fields.
fn headers(fields: &[Field]) -> Vec<u8> {
    let mut section = Vec::new();
    qpack::encode(&mut section, fields);
    let mut out = Vec::with_capacity(section.len() + 9);
    frame::encode(&mut out, frame::HEADERS, &section);
    out
}
