//! The messages of the modelled handshake: a TLS header (RFC 8446 section 4), length-prefixed fields, zeros.

use crate::error::{Alert, code};

/// HandshakeType (RFC 8446 section 4).
pub(super) mod kind {
    pub(in crate::model) const CLIENT_HELLO: u8 = 1;
    pub(in crate::model) const SERVER_HELLO: u8 = 2;
    pub(in crate::model) const NEW_SESSION_TICKET: u8 = 4;
    pub(in crate::model) const ENCRYPTED_EXTENSIONS: u8 = 8;
    pub(in crate::model) const CERTIFICATE: u8 = 11;
    pub(in crate::model) const CERTIFICATE_VERIFY: u8 = 15;
    pub(in crate::model) const FINISHED: u8 = 20;
}

/// The contents of a ClientHello.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hello<'a> {
    pub(super) parameters: &'a [u8],
    /// A list as encoded in the ALPN extension.
    pub(super) protocols: &'a [u8],
    pub(super) server_name: &'a [u8],
    /// The ticket's name; empty if there is none.
    pub(super) ticket: &'a [u8],
    /// The age of the ticket in milliseconds.
    pub(super) age: u32,
    pub(super) early_data: bool,
}

impl<'a> Hello<'a> {
    pub(super) fn write(&self, size: usize, out: &mut Vec<u8>) {
        let mut rest = self.age.to_be_bytes().to_vec();
        rest.push(u8::from(self.early_data));
        let ticketed: &[u8] = if self.ticket.is_empty() { &[] } else { &rest };
        let fields = [self.parameters, self.protocols, self.server_name, self.ticket, ticketed];
        message(out, kind::CLIENT_HELLO, size, &fields);
    }

    pub(super) fn read(body: &'a [u8]) -> Result<Hello<'a>, Alert> {
        let (parameters, rest) = field(body)?;
        let (protocols, rest) = field(rest)?;
        let (server_name, rest) = field(rest)?;
        let (ticket, rest) = field(rest)?;
        let (ticketed, _) = field(rest)?;
        let (age, early_data) = match ticketed.split_first_chunk::<4>() {
            Some((age, flag)) => (u32::from_be_bytes(*age), flag == [1]),
            None => (0, false),
        };
        Ok(Hello { parameters, protocols, server_name, ticket, age, early_data })
    }
}

pub(super) fn malformed() -> Alert {
    Alert::new(code::DECODE_ERROR, "a modelled handshake message that is too short for what it carries")
}

/// RFC 9000-7-2, RFC 9001 section 8.1: "MUST explicitly negotiate an application protocol".
pub(super) fn no_protocol() -> Alert {
    Alert::new(code::NO_APPLICATION_PROTOCOL, "the ends have no application protocol in common")
}

/// Appends a message of `size` bytes including its header: the fields, then zeros.
pub(super) fn message(out: &mut Vec<u8>, kind: u8, size: usize, fields: &[&[u8]]) {
    let end = out.len() + size;
    let [.., high, middle, low] = (size - 4).to_be_bytes();
    out.extend_from_slice(&[kind, high, middle, low]);
    for field in fields {
        put_field(out, field);
    }
    debug_assert!(out.len() <= end, "a real message has room for what it carries");
    out.resize(end, 0);
}

/// Appends a length-prefixed field.
pub(super) fn put_field(out: &mut Vec<u8>, field: &[u8]) {
    out.extend_from_slice(&(field.len() as u16).to_be_bytes());
    out.extend_from_slice(field);
}

/// Splits off the first field of a message.
pub(super) fn field(bytes: &[u8]) -> Result<(&[u8], &[u8]), Alert> {
    let (length, rest) = bytes.split_first_chunk::<2>().ok_or_else(malformed)?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length))).ok_or_else(malformed)
}

/// Iterates over the names of a list in the ALPN extension; an error ends it.
pub(super) struct Names<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Names<'a> {
    type Item = Result<&'a [u8], Alert>;

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.0.split_first()?;
        match rest.split_at_checked(usize::from(*length)) {
            // RFC 7301 3.1: "Empty strings MUST NOT be included".
            Some((name, rest)) if !name.is_empty() => {
                self.0 = rest;
                Some(Ok(name))
            }
            _ => {
                self.0 = &[];
                Some(Err(malformed()))
            }
        }
    }
}

pub(super) fn offers(list: &[u8], wanted: &[u8]) -> bool {
    Names(list).flatten().any(|name| name == wanted)
}
