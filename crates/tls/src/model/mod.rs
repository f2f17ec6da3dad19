//! One end of a handshake without cryptography, whose messages have the size, order and timing of the real ones.
//!
//! Each message has its TLS header (RFC 8446 section 4) and its real length. Only transport parameters, ALPN, the
//! server's name and tickets are carried, each at the front with a 16-bit length; the rest is zeros. They always fit,
//! because a real handshake surrounds them with more than that. The ServerHello carries a digest of its parameters
//! instead of random bytes. Null keys are derived from this digest and the client's parameters, so they differ from
//! connection to connection.

mod messages;
mod sizes;

pub(crate) use sizes::{Sizes, Transcript, server_name_size};

use crate::error::{Alert, code};
use crate::framing::Part;
use crate::keys::{KeyChange, Keys, NullKey, Opener, PacketKeys, Sealer};
use crate::outbox::Outbox;
use crate::start::{Change, EarlyData, Offer, Opening, date, supported_version};
use crate::store::Admission;
use crate::ticket::{Kind, ModelTicket, Ticket};
use messages::{Hello, Names, field, kind, malformed, message, no_protocol, offers, put_field};
use random::Generator;
use sizes::{EARLY_DATA, NAME_TAKEN};
use std::sync::Arc;
use std::time::Duration;
use units::Time;
use wire::Side;

/// The ticket lifetime announced to clients: that of the library.
const LIFETIME: u64 = 86_400;
/// The maximum difference between the ages of a ticket at both ends for 0-RTT, as in the library.
const FRESHNESS_MS: u32 = 60_000;
/// The maximum number of received tickets that were not taken, as with the library.
const MAX_RECEIVED: usize = 8;

/// The properties shared by all ends of a context.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) sizes: Sizes,
    /// Application protocols in order of preference, encoded as in the ALPN extension: each with a length byte.
    pub(crate) protocols: Vec<u8>,
    /// The name in the certificate.
    pub(crate) server_name: Arc<str>,
    /// Number of tickets per client.
    pub(crate) tickets: u64,
    /// Whether the server accepts 0-RTT.
    pub(crate) early_data: bool,
}

/// The server that a client asks for, and the ticket it offers.
pub(crate) struct ClientRequest {
    pub(crate) server_name: String,
    /// Bytes of the extension.
    pub(crate) server_name_size: usize,
    pub(crate) ticket: Option<Ticket>,
    pub(crate) early_data: bool,
}

/// One end.
#[derive(Debug)]
pub(crate) struct Model {
    side: Side,
    terms: Arc<Terms>,
    random: Generator,
    /// The date at time zero.
    epoch: Duration,
    /// Our own transport parameters, until they are sent.
    parameters: Vec<u8>,
    /// The message that must come next.
    expected: Expected,
    /// The bytes received of a message whose contents matter.
    body: Vec<u8>,
    peer_parameters: Option<Vec<u8>>,
    protocol: Option<Vec<u8>>,
    /// The inputs of key derivation: digests of the client's and the server's parameters.
    digests: [[u8; 8]; 2],
    /// The key phase of the last keys returned.
    phase: u64,
    /// The name that the client asks for.
    server_name: String,
    resumed: bool,
    early_data: EarlyData,
    /// Tickets received, at a client.
    received: Vec<Ticket>,
    /// Ticket rules, at a server.
    admission: Option<Box<Admission>>,
    version: u32,
    /// Fixed as soon as anything is read.
    change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Message(u8),
    /// The handshake is complete.
    Nothing,
}

impl Model {
    pub(crate) fn client(
        terms: &Arc<Terms>,
        opening: Opening,
        request: ClientRequest,
        outbox: &mut Outbox,
    ) -> Model {
        let date = opening.date().as_secs();
        let parameters = opening.parameters.clone();
        let mut model = Model::new(Side::Client, terms, opening, kind::SERVER_HELLO);
        if request.ticket.is_some() {
            // RFC 9369 section 5: a ticket belongs to one version.
            model.change = Change::Never;
        }
        let pass = match request.ticket.map(|ticket| ticket.kind) {
            // RFC 8446 section 4.6.1: a ticket must not be used after its lifetime.
            Some(Kind::Null(pass)) if date <= pass.received + LIFETIME => Some(pass),
            _ => None,
        };
        let mut size = terms.sizes.client_hello + parameters.len() + request.server_name_size;
        let mut hello = Hello {
            parameters: &parameters,
            protocols: &terms.protocols,
            server_name: if request.server_name_size > 0 { request.server_name.as_bytes() } else { &[] },
            ..Hello::default()
        };
        if let Some(pass) = &pass {
            hello.ticket = &pass.name;
            hello.age = u32::try_from(date - pass.received).unwrap_or(u32::MAX).saturating_mul(1000);
            hello.early_data = request.early_data && pass.early_data;
            size += terms.sizes.resumption.offer + if hello.early_data { EARLY_DATA } else { 0 };
        }
        if hello.early_data {
            model.early_data = EarlyData::Offered;
        }
        let mut bytes = Vec::with_capacity(size);
        hello.write(size, &mut bytes);
        outbox.push(bytes, None);
        model.digests[0] = NullKey::derive(&[&parameters]).to_bytes();
        model.parameters = Vec::new();
        model.server_name = request.server_name;
        model
    }

    pub(crate) fn server(terms: &Arc<Terms>, opening: Opening, admission: Option<Admission>) -> Model {
        let mut model = Model::new(Side::Server, terms, opening, kind::CLIENT_HELLO);
        model.digests[1] = NullKey::derive(&[&model.parameters]).to_bytes();
        model.admission = admission.map(Box::new);
        model
    }

    fn new(side: Side, terms: &Arc<Terms>, opening: Opening, expected: u8) -> Model {
        Model {
            side,
            terms: terms.clone(),
            random: opening.random,
            epoch: opening.epoch,
            parameters: opening.parameters,
            expected: Expected::Message(expected),
            body: Vec::new(),
            peer_parameters: None,
            protocol: None,
            digests: [[0; 8]; 2],
            phase: 0,
            server_name: String::new(),
            resumed: false,
            early_data: EarlyData::NotOffered,
            received: Vec::new(),
            admission: None,
            version: opening.version.number,
            change: opening.change,
        }
    }

    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    pub(crate) fn follow(&mut self, version: u32) -> bool {
        let follows = matches!(std::mem::take(&mut self.change), Change::Follow)
            && supported_version(version).is_some();
        if follows {
            self.version = version;
        }
        follows
    }

    /// Switches a server to the version that it chooses for this client.
    fn choose(&mut self, hello: &Hello<'_>) {
        if let Change::Choose(choose) = std::mem::take(&mut self.change)
            && let offer = (Offer { parameters: hello.parameters, early_data: hello.early_data })
            && let Some(choice) = choose.ask(&offer)
            && supported_version(choice.version).is_some()
        {
            self.version = choice.version;
            self.parameters = choice.parameters;
            self.digests[1] = NullKey::derive(&[&self.parameters]).to_bytes();
        }
    }

    pub(crate) fn read(&mut self, now: Time, part: &Part<'_>, outbox: &mut Outbox) -> Result<(), Alert> {
        let carries =
            [kind::CLIENT_HELLO, kind::SERVER_HELLO, kind::ENCRYPTED_EXTENSIONS, kind::NEW_SESSION_TICKET];
        if carries.contains(&part.kind) {
            self.body.extend_from_slice(part.body);
        }
        if !part.complete {
            return Ok(());
        }
        let body = std::mem::take(&mut self.body);
        let date = date(self.epoch, now);
        match self.expected {
            Expected::Message(expected) if part.kind == expected => {
                self.on_message(expected, &body, date, outbox)
            }
            // RFC 8446 section 4.6.1: tickets can arrive at any time after the handshake.
            Expected::Nothing if part.kind == kind::NEW_SESSION_TICKET && self.side.is_client() => {
                self.on_ticket(&body, date)
            }
            _ => Err(Alert::new(
                code::UNEXPECTED_MESSAGE,
                format!("a handshake message of type {} at the wrong time", part.kind),
            )),
        }
    }

    fn on_message(
        &mut self,
        arrived: u8,
        body: &[u8],
        date: Duration,
        outbox: &mut Outbox,
    ) -> Result<(), Alert> {
        self.expected = match (arrived, self.side) {
            (kind::CLIENT_HELLO, _) => {
                self.on_client_hello(body, date)?;
                self.answer(outbox);
                Expected::Message(kind::FINISHED)
            }
            (kind::SERVER_HELLO, _) => {
                self.change = Change::Never;
                let (digest, rest) = field(body)?;
                self.digests[1] = digest.try_into().map_err(|_| malformed())?;
                self.resumed = field(rest).is_ok_and(|(chosen, _)| chosen == [1]);
                outbox.push(Vec::new(), Some(KeyChange::Handshake(self.keys(b"handshake"))));
                Expected::Message(kind::ENCRYPTED_EXTENSIONS)
            }
            (kind::ENCRYPTED_EXTENSIONS, _) => {
                self.on_encrypted_extensions(body)?;
                Expected::Message(if self.resumed { kind::FINISHED } else { kind::CERTIFICATE })
            }
            (kind::CERTIFICATE, _) => Expected::Message(kind::CERTIFICATE_VERIFY),
            (kind::CERTIFICATE_VERIFY, _) => {
                self.check_name()?;
                Expected::Message(kind::FINISHED)
            }
            (_, Side::Server) => {
                self.give_tickets(date, outbox);
                Expected::Nothing
            }
            (_, Side::Client) => {
                let mut finished = Vec::with_capacity(self.terms.sizes.client_finished);
                message(&mut finished, kind::FINISHED, self.terms.sizes.client_finished, &[]);
                outbox.push(finished, Some(KeyChange::OneRtt(self.keys(b"1-rtt"))));
                Expected::Nothing
            }
        };
        Ok(())
    }

    /// Chooses the protocol as rustls does: the server's first that the client offers.
    fn on_client_hello(&mut self, body: &[u8], date: Duration) -> Result<(), Alert> {
        let hello = Hello::read(body)?;
        if !Names(hello.protocols).all(|name| name.is_ok()) {
            return Err(malformed());
        }
        let chosen = Names(&self.terms.protocols).flatten().find(|name| offers(hello.protocols, name));
        if chosen.is_none() && !(self.terms.protocols.is_empty() && hello.protocols.is_empty()) {
            return Err(no_protocol());
        }
        self.protocol = chosen.map(<[u8]>::to_vec);
        self.peer_parameters = Some(hello.parameters.to_vec());
        self.choose(&hello);
        self.server_name = String::from_utf8_lossy(hello.server_name).into_owned();
        self.digests[0] = NullKey::derive(&[hello.parameters]).to_bytes();
        self.resume(&hello, date);
        Ok(())
    }

    /// The null keys of a level.
    fn keys(&self, level: &[u8]) -> Keys {
        Keys::null(self.side, &[level, &self.digests[0], &self.digests[1]])
    }

    /// Accepts a valid ticket and decides on 0-RTT (RFC 8446 sections 4.2.10 and 4.2.11), in the order and by the
    /// rules of the library.
    fn resume(&mut self, hello: &Hello<'_>, date: Duration) {
        if hello.early_data {
            self.early_data = EarlyData::Rejected;
        }
        let Some(admission) = self.admission.as_deref_mut().filter(|_| !hello.ticket.is_empty()) else {
            return;
        };
        let holds = admission.holds(hello.ticket, date);
        let Some(session) = admission.take(hello.ticket, date) else { return };
        let Some(session) = SessionRecord::read(&session) else { return };
        self.resumed = session.server_name == hello.server_name;
        let age = u32::try_from(date.as_secs().saturating_sub(session.issued)).unwrap_or(u32::MAX);
        let fresh = age.saturating_mul(1000).abs_diff(hello.age) <= FRESHNESS_MS;
        let same_protocol = session.protocol == self.protocol.as_deref().unwrap_or_default();
        let possible = hello.early_data && self.terms.early_data && self.resumed;
        if possible && holds && fresh && same_protocol {
            self.early_data = EarlyData::Accepted;
        }
    }

    /// Sends the ServerHello under Initial keys and the rest under Handshake keys.
    fn answer(&mut self, outbox: &mut Outbox) {
        let sizes = self.terms.sizes;
        let server_hello = sizes.server_hello + if self.resumed { sizes.resumption.choice } else { 0 };
        let mut hello = Vec::with_capacity(server_hello);
        message(&mut hello, kind::SERVER_HELLO, server_hello, &[&self.digests[1], &[u8::from(self.resumed)]]);
        outbox.push(hello, Some(KeyChange::Handshake(self.keys(b"handshake"))));

        let parameters = std::mem::take(&mut self.parameters);
        let protocol = self.protocol.as_deref().unwrap_or_default();
        let accepted = self.early_data == EarlyData::Accepted;
        let extensions = sizes.encrypted_extensions
            + parameters.len()
            + protocol.len()
            + if accepted { EARLY_DATA } else { 0 }
            + if self.resumed || self.server_name.is_empty() { 0 } else { NAME_TAKEN };
        let mut flight = Vec::new();
        let fields: [&[u8]; 3] = [&parameters, protocol, &[1]];
        let fields = if accepted { &fields[..] } else { &fields[..2] };
        message(&mut flight, kind::ENCRYPTED_EXTENSIONS, extensions, fields);
        if !self.resumed {
            message(&mut flight, kind::CERTIFICATE, sizes.certificate, &[]);
            message(&mut flight, kind::CERTIFICATE_VERIFY, sizes.certificate_verify, &[]);
        }
        message(&mut flight, kind::FINISHED, sizes.server_finished, &[]);
        outbox.push(flight, Some(KeyChange::OneRtt(self.keys(b"1-rtt"))));
    }

    fn on_encrypted_extensions(&mut self, body: &[u8]) -> Result<(), Alert> {
        let (parameters, rest) = field(body)?;
        let (protocol, rest) = field(rest)?;
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
        if self.early_data == EarlyData::Offered {
            let accepted = self.resumed && field(rest).is_ok_and(|(flag, _)| flag == [1]);
            self.early_data = if accepted { EarlyData::Accepted } else { EarlyData::Rejected };
        }
        Ok(())
    }

    /// Checks the name in the certificate.
    fn check_name(&self) -> Result<(), Alert> {
        if self.server_name.eq_ignore_ascii_case(&self.terms.server_name) {
            return Ok(());
        }
        Err(Alert::new(code::BAD_CERTIFICATE, "the certificate is for another name"))
    }

    /// RFC 8446 section 4.6.1.
    fn give_tickets(&mut self, date: Duration, outbox: &mut Outbox) {
        let Some(admission) = self.admission.as_deref() else { return };
        let size = self.terms.sizes.resumption.ticket;
        let mut bytes = Vec::new();
        for _ in 0..self.terms.tickets {
            let mut name = vec![0; 32];
            self.random.fill(&mut name);
            let session = SessionRecord {
                server_name: self.server_name.as_bytes(),
                protocol: self.protocol.as_deref().unwrap_or_default(),
                issued: date.as_secs(),
            };
            message(&mut bytes, kind::NEW_SESSION_TICKET, size, &[&name, &[u8::from(self.terms.early_data)]]);
            admission.store.put(name, session.write(), &admission.terms, date);
        }
        if !bytes.is_empty() {
            outbox.push(bytes, None);
        }
    }

    fn on_ticket(&mut self, body: &[u8], date: Duration) -> Result<(), Alert> {
        let (name, rest) = field(body)?;
        let (flag, _) = field(rest)?;
        if self.received.len() == MAX_RECEIVED {
            self.received.remove(0);
        }
        let pass = ModelTicket { name: name.to_vec(), early_data: flag == [1], received: date.as_secs() };
        self.received.push(Ticket { kind: Kind::Null(Box::new(pass)) });
        Ok(())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.expected == Expected::Nothing
    }
    pub(crate) fn resumed_terms(&self) -> Option<&[u8]> {
        self.admission.as_deref()?.resumed()
    }
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed && self.peer_parameters.is_some()
    }
    pub(crate) fn early_data(&self) -> EarlyData {
        self.early_data
    }
    pub(crate) fn take_tickets(&mut self) -> Vec<Ticket> {
        std::mem::take(&mut self.received)
    }
    pub(crate) fn peer_parameters(&self) -> Option<&[u8]> {
        self.peer_parameters.as_deref()
    }
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.protocol.as_deref()
    }
    /// A server has 1-RTT keys after its answer, a client at the end.
    pub(crate) fn next_keys(&mut self) -> Option<PacketKeys> {
        let answered = self.side == Side::Server && self.peer_parameters.is_some();
        if !answered && !self.is_complete() {
            return None;
        }
        self.phase += 1;
        let phase = self.phase.to_be_bytes();
        Some(PacketKeys::null(self.side, &[b"1-rtt", &self.digests[0], &self.digests[1], &phase]))
    }

    /// The null keys of 0-RTT, which depend on nothing from the server.
    fn early_keys(&self) -> Keys {
        Keys::null(self.side, &[b"0-rtt", &self.digests[0]])
    }
    pub(crate) fn early_sealer(&self) -> Option<Sealer> {
        (self.early_data == EarlyData::Offered).then(|| self.early_keys().local)
    }
    pub(crate) fn early_opener(&self) -> Option<Opener> {
        (self.early_data == EarlyData::Accepted).then(|| self.early_keys().remote)
    }
}

/// A server's record of a session.
struct SessionRecord<'a> {
    server_name: &'a [u8],
    protocol: &'a [u8],
    /// The date of issue in seconds.
    issued: u64,
}

impl<'a> SessionRecord<'a> {
    fn write(&self) -> Vec<u8> {
        let mut bytes = self.issued.to_be_bytes().to_vec();
        put_field(&mut bytes, self.server_name);
        put_field(&mut bytes, self.protocol);
        bytes
    }
    fn read(bytes: &'a [u8]) -> Option<SessionRecord<'a>> {
        let (issued, rest) = bytes.split_first_chunk::<8>()?;
        let (server_name, rest) = field(rest).ok()?;
        let (protocol, _) = field(rest).ok()?;
        Some(SessionRecord { server_name, protocol, issued: u64::from_be_bytes(*issued) })
    }
}

#[cfg(test)]
mod tests;
