//! One end of an exchange without cryptography: the messages of the real one in size, order and moment.
//!
//! Each message has its TLS header (RFC 8446 section 4) and its length. Of the contents only transport parameters and
//! ALPN are true; they stand at the front, each behind its length in 16 bits, and the rest is filled with zeros. What
//! a real handshake has around them is longer than that, so they always fit. The server's hello carries a digest of its
//! parameters in the place of its random bytes: what stands for keys is derived from that and the client's parameters,
//! so that it differs from connection to connection.

use crate::error::{Alert, code};
use crate::framing::Part;
use crate::keys::{KeyChange, Keys, NullKey, PacketKeys};
use crate::outbox::Outbox;
use std::sync::Arc;
use wire::Side;

/// HandshakeType (RFC 8446 section 4).
mod kind {
    pub(super) const CLIENT_HELLO: u8 = 1;
    pub(super) const SERVER_HELLO: u8 = 2;
    pub(super) const NEW_SESSION_TICKET: u8 = 4;
    pub(super) const ENCRYPTED_EXTENSIONS: u8 = 8;
    pub(super) const CERTIFICATE: u8 = 11;
    pub(super) const CERTIFICATE_VERIFY: u8 = 15;
    pub(super) const FINISHED: u8 = 20;
}

/// The server's messages of the Handshake level, in order.
const FLIGHT: [u8; 4] =
    [kind::ENCRYPTED_EXTENSIONS, kind::CERTIFICATE, kind::CERTIFICATE_VERIFY, kind::FINISHED];

/// Bytes of each message with its header. Two of them grow byte for byte with what they carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Without the transport parameters.
    client_hello: usize,
    server_hello: usize,
    /// Without the transport parameters and the name of the protocol.
    encrypted_extensions: usize,
    certificate: usize,
    certificate_verify: usize,
    server_finished: usize,
    client_finished: usize,
}

/// What the ends of a real handshake said, to learn the sizes from.
#[derive(Debug, Default)]
pub(crate) struct Transcript {
    pub(crate) client_hello: Vec<u8>,
    pub(crate) server_hello: Vec<u8>,
    pub(crate) server_flight: Vec<u8>,
    pub(crate) client_finished: Vec<u8>,
    /// Length of either end's transport parameters.
    pub(crate) parameters: usize,
    /// Length of the protocol's name.
    pub(crate) protocol: usize,
}

impl Sizes {
    /// `None` if the messages are not those of a full handshake without client authentication.
    pub(crate) fn learn(transcript: &Transcript) -> Option<Sizes> {
        let mut flight = [0; FLIGHT.len()];
        let mut rest = transcript.server_flight.as_slice();
        for (size, kind) in flight.iter_mut().zip(FLIGHT) {
            (*size, rest) = first_message(rest, kind)?;
        }
        let alone = |bytes: &[u8], kind| {
            first_message(bytes, kind).filter(|(_, rest)| rest.is_empty()).map(|(size, _)| size)
        };
        let [encrypted_extensions, certificate, certificate_verify, server_finished] = flight;
        rest.is_empty().then_some(Sizes {
            client_hello: alone(&transcript.client_hello, kind::CLIENT_HELLO)? - transcript.parameters,
            server_hello: alone(&transcript.server_hello, kind::SERVER_HELLO)?,
            encrypted_extensions: encrypted_extensions - transcript.parameters - transcript.protocol,
            certificate,
            certificate_verify,
            server_finished,
            client_finished: alone(&transcript.client_finished, kind::FINISHED)?,
        })
    }
}

/// The size of the first message if it is of this kind, and what is behind it.
fn first_message(bytes: &[u8], kind: u8) -> Option<(usize, &[u8])> {
    let (header, _) = bytes.split_first_chunk::<4>()?;
    let size = 4 + (usize::from(header[1]) << 16 | usize::from(header[2]) << 8 | usize::from(header[3]));
    (header[0] == kind && size <= bytes.len()).then(|| (size, &bytes[size..]))
}

/// What all ends of a context share.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) sizes: Sizes,
    /// Application protocols, the preferred one first, as in the ALPN extension: each behind its length in a byte.
    pub(crate) protocols: Vec<u8>,
}

/// One end.
#[derive(Debug)]
pub(crate) struct Model {
    side: Side,
    terms: Arc<Terms>,
    /// Our own transport parameters, until they are sent.
    parameters: Vec<u8>,
    /// The message that must come next.
    expected: Expected,
    /// Of a message that carries something: what has come of it.
    body: Vec<u8>,
    peer_parameters: Option<Vec<u8>>,
    protocol: Option<Vec<u8>>,
    /// What keys are derived from: digests of the client's and the server's parameters.
    digests: [[u8; 8]; 2],
    /// The key phase that was given last.
    phase: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Message(u8),
    /// The handshake is complete.
    Nothing,
}

impl Model {
    pub(crate) fn client(terms: &Arc<Terms>, parameters: Vec<u8>, outbox: &mut Outbox) -> Model {
        let size = terms.sizes.client_hello + parameters.len();
        let mut hello = Vec::with_capacity(size);
        message(&mut hello, kind::CLIENT_HELLO, size, &[&parameters, &terms.protocols]);
        outbox.push(hello, None);
        let digest = NullKey::derive(&[&parameters]).to_bytes();
        Model { digests: [digest, [0; 8]], ..Model::new(Side::Client, terms, Vec::new(), kind::SERVER_HELLO) }
    }

    pub(crate) fn server(terms: &Arc<Terms>, parameters: Vec<u8>) -> Model {
        let digest = NullKey::derive(&[&parameters]).to_bytes();
        Model { digests: [[0; 8], digest], ..Model::new(Side::Server, terms, parameters, kind::CLIENT_HELLO) }
    }

    fn new(side: Side, terms: &Arc<Terms>, parameters: Vec<u8>, expected: u8) -> Model {
        Model {
            side,
            terms: terms.clone(),
            parameters,
            expected: Expected::Message(expected),
            body: Vec::new(),
            peer_parameters: None,
            protocol: None,
            digests: [[0; 8]; 2],
            phase: 0,
        }
    }

    pub(crate) fn read(&mut self, part: &Part<'_>, outbox: &mut Outbox) -> Result<(), Alert> {
        if matches!(part.kind, kind::CLIENT_HELLO | kind::SERVER_HELLO | kind::ENCRYPTED_EXTENSIONS) {
            self.body.extend_from_slice(part.body);
        }
        if !part.complete {
            return Ok(());
        }
        let body = std::mem::take(&mut self.body);
        match self.expected {
            Expected::Message(expected) if part.kind == expected => self.on_message(expected, &body, outbox),
            // RFC 8446 section 4.6.1: tickets come at any time behind the handshake.
            Expected::Nothing if part.kind == kind::NEW_SESSION_TICKET && self.side.is_client() => Ok(()),
            _ => Err(Alert::new(
                code::UNEXPECTED_MESSAGE,
                format!("a handshake message of type {} at the wrong time", part.kind),
            )),
        }
    }

    fn on_message(&mut self, arrived: u8, body: &[u8], outbox: &mut Outbox) -> Result<(), Alert> {
        self.expected = match (arrived, self.side) {
            (kind::CLIENT_HELLO, _) => {
                self.on_client_hello(body)?;
                self.answer(outbox);
                Expected::Message(kind::FINISHED)
            }
            (kind::SERVER_HELLO, _) => {
                let (digest, _) = field(body)?;
                self.digests[1] = digest.try_into().map_err(|_| malformed())?;
                outbox.push(Vec::new(), Some(KeyChange::Handshake(self.keys(b"handshake"))));
                Expected::Message(kind::ENCRYPTED_EXTENSIONS)
            }
            (kind::ENCRYPTED_EXTENSIONS, _) => {
                self.on_encrypted_extensions(body)?;
                Expected::Message(kind::CERTIFICATE)
            }
            (kind::CERTIFICATE, _) => Expected::Message(kind::CERTIFICATE_VERIFY),
            (kind::CERTIFICATE_VERIFY, _) => Expected::Message(kind::FINISHED),
            (_, Side::Server) => Expected::Nothing,
            (_, Side::Client) => {
                let mut finished = Vec::with_capacity(self.terms.sizes.client_finished);
                message(&mut finished, kind::FINISHED, self.terms.sizes.client_finished, &[]);
                outbox.push(finished, Some(KeyChange::OneRtt(self.keys(b"1-rtt"))));
                Expected::Nothing
            }
        };
        Ok(())
    }

    /// Chooses the protocol as rustls does: the first of our own that the client names.
    fn on_client_hello(&mut self, body: &[u8]) -> Result<(), Alert> {
        let (parameters, rest) = field(body)?;
        let (offered, _) = field(rest)?;
        if !Names(offered).all(|name| name.is_ok()) {
            return Err(malformed());
        }
        let chosen = Names(&self.terms.protocols).flatten().find(|name| offers(offered, name));
        if chosen.is_none() && !(self.terms.protocols.is_empty() && offered.is_empty()) {
            return Err(no_protocol());
        }
        self.protocol = chosen.map(<[u8]>::to_vec);
        self.peer_parameters = Some(parameters.to_vec());
        self.digests[0] = NullKey::derive(&[parameters]).to_bytes();
        Ok(())
    }

    /// What stands for the keys of a level.
    fn keys(&self, level: &[u8]) -> Keys {
        Keys::null(self.side, &[level, &self.digests[0], &self.digests[1]])
    }

    /// ServerHello under Initial keys, then the rest under Handshake keys.
    fn answer(&mut self, outbox: &mut Outbox) {
        let Sizes { server_hello, encrypted_extensions, certificate, .. } = self.terms.sizes;
        let Sizes { certificate_verify, server_finished, .. } = self.terms.sizes;
        let mut hello = Vec::with_capacity(server_hello);
        message(&mut hello, kind::SERVER_HELLO, server_hello, &[&self.digests[1]]);
        outbox.push(hello, Some(KeyChange::Handshake(self.keys(b"handshake"))));

        let parameters = std::mem::take(&mut self.parameters);
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let extensions = encrypted_extensions + parameters.len() + protocol.len();
        let mut flight = Vec::with_capacity(extensions + certificate + certificate_verify + server_finished);
        message(&mut flight, kind::ENCRYPTED_EXTENSIONS, extensions, &[&parameters, protocol]);
        message(&mut flight, kind::CERTIFICATE, certificate, &[]);
        message(&mut flight, kind::CERTIFICATE_VERIFY, certificate_verify, &[]);
        message(&mut flight, kind::FINISHED, server_finished, &[]);
        outbox.push(flight, Some(KeyChange::OneRtt(self.keys(b"1-rtt"))));
    }

    fn on_encrypted_extensions(&mut self, body: &[u8]) -> Result<(), Alert> {
        let (parameters, rest) = field(body)?;
        let (protocol, _) = field(rest)?;
        if protocol.is_empty() {
            if !self.terms.protocols.is_empty() {
                // RFC 9001 section 8.1.
                return Err(no_protocol());
            }
        } else if !offers(&self.terms.protocols, protocol) {
            return Err(Alert::new(
                code::ILLEGAL_PARAMETER,
                "the server chose a protocol that was not offered",
            ));
        } else {
            self.protocol = Some(protocol.to_vec());
        }
        self.peer_parameters = Some(parameters.to_vec());
        Ok(())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.expected == Expected::Nothing
    }
    pub(crate) fn peer_parameters(&self) -> Option<&[u8]> {
        self.peer_parameters.as_deref()
    }
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.protocol.as_deref()
    }
    /// There are 1-RTT keys at the server once it has answered, at the client at the end.
    pub(crate) fn next_keys(&mut self) -> Option<PacketKeys> {
        let answered = self.side == Side::Server && self.peer_parameters.is_some();
        if !answered && !self.is_complete() {
            return None;
        }
        self.phase += 1;
        let phase = self.phase.to_be_bytes();
        Some(PacketKeys::null(self.side, &[b"1-rtt", &self.digests[0], &self.digests[1], &phase]))
    }
}

fn malformed() -> Alert {
    Alert::new(code::DECODE_ERROR, "a modelled handshake message that is too short for what it carries")
}

fn no_protocol() -> Alert {
    Alert::new(code::NO_APPLICATION_PROTOCOL, "the ends have no application protocol in common")
}

/// Appends a message of `size` bytes with its header: the fields, then zeros.
fn message(out: &mut Vec<u8>, kind: u8, size: usize, fields: &[&[u8]]) {
    let end = out.len() + size;
    let [.., high, middle, low] = (size - 4).to_be_bytes();
    out.extend_from_slice(&[kind, high, middle, low]);
    for field in fields {
        out.extend_from_slice(&(field.len() as u16).to_be_bytes());
        out.extend_from_slice(field);
    }
    debug_assert!(out.len() <= end, "a real message has room for what it carries");
    out.resize(end, 0);
}

/// A field of a message and what is behind it.
fn field(bytes: &[u8]) -> Result<(&[u8], &[u8]), Alert> {
    let (length, rest) = bytes.split_first_chunk::<2>().ok_or_else(malformed)?;
    rest.split_at_checked(usize::from(u16::from_be_bytes(*length))).ok_or_else(malformed)
}

/// The names in a list as it stands in the ALPN extension; an error ends it.
struct Names<'a>(&'a [u8]);

impl<'a> Iterator for Names<'a> {
    type Item = Result<&'a [u8], Alert>;

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.0.split_first()?;
        match rest.split_at_checked(usize::from(*length)) {
            // RFC 7301 section 3.1: empty names must not be.
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

fn offers(list: &[u8], wanted: &[u8]) -> bool {
    Names(list).flatten().any(|name| name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::Framing;
    use proptest::prelude::*;

    fn terms(protocols: &[u8]) -> Arc<Terms> {
        let sizes = Sizes {
            client_hello: 200,
            server_hello: 90,
            encrypted_extensions: 24,
            certificate: 1000,
            certificate_verify: 72,
            server_finished: 36,
            client_finished: 36,
        };
        Arc::new(Terms { sizes, protocols: protocols.to_vec() })
    }
    fn feed(model: &mut Model, mut bytes: &[u8], outbox: &mut Outbox) -> Result<(), Alert> {
        let mut framing = Framing::default();
        while !bytes.is_empty() {
            let part = framing.next(&mut bytes)?;
            model.read(&part, outbox)?;
        }
        Ok(())
    }
    fn client_hello(protocols: &[u8]) -> Vec<u8> {
        let (mut outbox, mut bytes) = (Outbox::default(), Vec::new());
        Model::client(&terms(protocols), vec![5; 30], &mut outbox);
        assert!(outbox.pop(&mut bytes).is_none());
        bytes
    }

    #[test]
    fn the_server_prefers_its_own_order_of_protocols() {
        for (ours, theirs, chosen) in [
            (&b"\x02h3\x02hq"[..], &b"\x02hq\x02h3"[..], Ok(Some(&b"h3"[..]))),
            (b"\x02h3\x02hq", b"\x02hq", Ok(Some(b"hq"))),
            (b"\x02h3", b"\x02hq", Err(120)),
            (b"\x02h3", b"", Err(120)),
            (b"", b"\x02h3", Err(120)),
            (b"", b"", Ok(None)),
        ] {
            let mut server = Model::server(&terms(ours), vec![6; 40]);
            let result = feed(&mut server, &client_hello(theirs), &mut Outbox::default());
            assert_eq!(result.map(|()| server.alpn()).map_err(|alert| alert.code), chosen);
        }
    }

    #[test]
    fn a_message_at_the_wrong_time_is_unexpected() {
        let (terms, mut outbox) = (terms(b"\x02h3"), Outbox::default());
        let mut client = Model::client(&terms, Vec::new(), &mut outbox);
        assert_eq!(feed(&mut client, &[8, 0, 0, 0], &mut outbox).unwrap_err().code, 10);
        let mut server = Model::server(&terms, Vec::new());
        assert_eq!(feed(&mut server, &[20, 0, 0, 0], &mut outbox).unwrap_err().code, 10);
    }

    #[test]
    fn a_message_without_what_it_must_carry_does_not_decode() {
        for body in [&[][..], &[0], &[0, 9, 1], &[0, 1, 7], &[0, 0, 0, 4, 2, b'h', b'3', 1], &[0, 0, 0, 1, 0]]
        {
            let mut server = Model::server(&terms(b"\x02h3"), Vec::new());
            let mut hello = vec![1, 0, 0, body.len() as u8];
            hello.extend_from_slice(body);
            let alert = feed(&mut server, &hello, &mut Outbox::default()).unwrap_err();
            assert_eq!(alert.code, 50, "{body:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), side: bool) {
            let (terms, mut outbox) = (terms(b"\x02h3"), Outbox::default());
            let mut model =
                if side { Model::client(&terms, vec![1; 9], &mut outbox) } else { Model::server(&terms, vec![1; 9]) };
            let _ = feed(&mut model, &bytes, &mut outbox);
        }

        #[test]
        fn a_hello_with_one_byte_changed_is_read_without_panic(at in 0usize..234, to: u8) {
            let mut hello = client_hello(b"\x02h3");
            let at = at.min(hello.len() - 1);
            hello[at] = to;
            let _ = feed(&mut Model::server(&terms(b"\x02h3"), Vec::new()), &hello, &mut Outbox::default());
        }
    }
}
