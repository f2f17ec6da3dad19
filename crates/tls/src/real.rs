//! One end of a real TLS 1.3 handshake: rustls, with the randomness and the key log of this session.

use crate::error::{Alert, Error, code};
use crate::framing::Part;
use crate::hello::Hello;
use crate::key_log::Secret;
use crate::keys::{DirectionalKeys, KeyChange, Keys, Opener, PacketKeys, Sealer};
use crate::lent::{LentState, Tape, lend};
use crate::outbox::Outbox;
use crate::start::{Change, Choose, EarlyData, KnownVersion, Offer, Opening, date, supported_version};
use crate::store::Admission;
use crate::ticket::{Kind, Ticket};
use rustls::pki_types::ServerName;
use rustls::quic::{self, ClientConnection, Connection, ServerConnection};
use rustls::{AlertDescription, CertificateError, ClientConfig, HandshakeKind, ServerConfig};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use units::Time;

/// HandshakeType of the messages that carry transport parameters (RFC 8446 section 4, RFC 9001 section 8.2).
const CLIENT_HELLO: u8 = 1;
const ENCRYPTED_EXTENSIONS: u8 = 8;

/// One end.
pub(crate) struct Real {
    connection: Connection,
    /// Always present between calls.
    lent: Option<LentState>,
    /// The date at time zero.
    epoch: Duration,
    next: Option<quic::Secrets>,
    /// At a server: the ClientHello received so far, until it is complete.
    hello: Option<Vec<u8>>,
    /// Whether the peer's extensions have arrived. Until then a client's library returns the transport parameters
    /// stored with its ticket instead of the server's.
    has_extensions: bool,
    early_data: EarlyData,
    version: u32,
    /// If the version may still change: set until the first message is read.
    restart: Option<Box<Restart>>,
}

/// What is needed to restart in another version.
enum Restart {
    /// Includes the random bytes of its ClientHello.
    Client(ClientStart, VecDeque<u8>),
    Server(Arc<ServerConfig>, Choose),
}

/// What is needed to create a client's end.
#[derive(Clone)]
struct ClientStart {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
    parameters: Vec<u8>,
}

impl ClientStart {
    /// Equal starts and equal draws produce equal ClientHellos.
    fn begin(self, version: quic::Version, lent: &mut Option<LentState>) -> Result<Connection, Error> {
        let ClientStart { config, name, parameters } = self;
        Ok(lend(lent, || ClientConnection::new(config, version, name, parameters))?.into())
    }
}

impl Real {
    pub(crate) fn client(
        config: &Arc<ClientConfig>,
        name: ServerName<'static>,
        opening: Opening,
        ticket: Option<Ticket>,
        outbox: &mut Outbox,
    ) -> Result<Real, Error> {
        let date = opening.date();
        let Opening { random, epoch, version, parameters, change, .. } = opening;
        let start = ClientStart { config: config.clone(), name, parameters };
        let mut own = LentState::new(random, date);
        // RFC 9369 5: "Clients MUST NOT use a session ticket or token from a QUIC version 1 connection to initiate a
        // QUIC version 2 connection, and vice versa."
        let restart = (matches!(change, Change::Follow) && ticket.is_none()).then(|| start.clone());
        if restart.is_some() {
            own.tape = Tape::Recording(Vec::new());
        }
        if let Some(Kind::Real(value, group)) = ticket.map(|ticket| ticket.kind) {
            own.offered = Some(*value);
            own.group = group;
        }
        let mut lent = Some(own);
        let connection = start.begin(version.keys, &mut lent)?;
        let offered = connection.zero_rtt_keys().is_some();
        let early_data = if offered { EarlyData::Offered } else { EarlyData::NotOffered };
        let mut real = Real {
            connection,
            lent,
            epoch,
            next: None,
            hello: None,
            has_extensions: false,
            early_data,
            version: version.number,
            restart: None,
        };
        real.drain(outbox);
        if let Some(lent) = &mut real.lent
            && let Some(start) = restart
            && let Tape::Recording(drawn) = std::mem::take(&mut lent.tape)
        {
            real.restart = Some(Box::new(Restart::Client(start, drawn.into())));
        }
        Ok(real)
    }

    pub(crate) fn server(
        config: &Arc<ServerConfig>,
        opening: Opening,
        admission: Option<Admission>,
    ) -> Result<Real, Error> {
        let date = opening.date();
        let Opening { random, epoch, version, parameters, change, .. } = opening;
        let restart = match change {
            Change::Choose(choose) => Some(Box::new(Restart::Server(config.clone(), choose))),
            _ => None,
        };
        let mut own = LentState::new(random, date);
        own.admission = admission.map(Box::new);
        let mut lent = Some(own);
        let make = || ServerConnection::new(config.clone(), version.keys, parameters);
        let connection = lend(&mut lent, make)?.into();
        let early_data = EarlyData::NotOffered;
        Ok(Real {
            connection,
            lent,
            epoch,
            next: None,
            hello: Some(Vec::new()),
            has_extensions: false,
            early_data,
            version: version.number,
            restart,
        })
    }

    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Repeats the same ClientHello in a library session that makes keys for the other version.
    pub(crate) fn follow(&mut self, version: u32) -> bool {
        let Some(KnownVersion { number, keys }) = supported_version(version) else { return false };
        let Some(Restart::Client(start, drawn)) = self.restart.take().map(|restart| *restart) else {
            return false;
        };
        if let Some(lent) = &mut self.lent {
            lent.tape = Tape::Replaying(drawn);
        }
        let begun = start.begin(keys, &mut self.lent);
        let follows = begun.is_ok();
        if let Ok(connection) = begun {
            (self.connection, self.version) = (connection, number);
            self.drain(&mut Outbox::default());
        }
        if let Some(lent) = &mut self.lent {
            lent.tape = Tape::None;
        }
        follows
    }

    /// Creates a server's session in the version that it chooses for this client. Nothing has been drawn yet.
    fn choose(&mut self, hello: &Hello<'_>) -> Result<(), Error> {
        let Some(Restart::Server(config, choose)) = self.restart.take().map(|restart| *restart) else {
            return Ok(());
        };
        let Some(parameters) = hello.parameters else { return Ok(()) };
        let choice = choose.ask(&Offer { parameters, early_data: hello.early_data });
        if let Some(choice) = choice
            && let Some(KnownVersion { number, keys }) = supported_version(choice.version)
        {
            let make = || ServerConnection::new(config, keys, choice.parameters);
            self.connection = lend(&mut self.lent, make)?.into();
            self.version = number;
        }
        Ok(())
    }

    pub(crate) fn read(&mut self, now: Time, part: &Part<'_>, outbox: &mut Outbox) -> Result<(), Alert> {
        if let Some(lent) = &mut self.lent {
            lent.date = date(self.epoch, now);
        }
        match self.hello.as_mut() {
            None => {
                self.restart = None;
                self.feed(part.raw)?;
            }
            Some(hello) => {
                hello.extend_from_slice(part.raw);
                if !part.complete {
                    return Ok(());
                }
                let hello = self.hello.take().unwrap_or_default();
                self.read_hello(&hello)?;
            }
        }
        if part.complete {
            self.has_extensions |= [CLIENT_HELLO, ENCRYPTED_EXTENSIONS].contains(&part.kind);
            self.drain(outbox);
            self.judge_early_data();
        }
        Ok(())
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), Alert> {
        let connection = &mut self.connection;
        lend(&mut self.lent, || connection.read_hs(bytes)).map_err(|error| alert(connection.alert(), &error))
    }

    /// Reads a server's first message. Reasons to reject 0-RTT must be known before the library reads it.
    fn read_hello(&mut self, bytes: &[u8]) -> Result<(), Alert> {
        let hello = Hello::read(bytes.get(4..).unwrap_or_default());
        self.choose(&hello).map_err(|error| Alert::new(code::INTERNAL_ERROR, error.to_string()))?;
        if hello.early_data {
            self.early_data = EarlyData::Offered;
            let holds = self.lent.as_ref().is_some_and(|lent| {
                let admission = lent.admission.as_deref();
                hello.ticket.zip(admission).is_some_and(|(ticket, known)| known.holds(ticket, lent.date))
            });
            if let Connection::Server(server) = &mut self.connection
                && !holds
            {
                // RFC 9000 section 7.4.1: a server must reject 0-RTT if it does not keep the limits it promised.
                server.reject_early_data();
            }
        }
        self.feed(bytes)
    }

    /// RFC 9001 section 4.6.2: a server decides with its first flight. A client learns of it from
    /// EncryptedExtensions, or from HelloRetryRequest, after which there is no 0-RTT.
    fn judge_early_data(&mut self) {
        if self.early_data != EarlyData::Offered {
            return;
        }
        let retried = self.connection.handshake_kind() == Some(HandshakeKind::FullWithHelloRetryRequest);
        let accepted = match &self.connection {
            Connection::Client(_) if retried => false,
            Connection::Client(client) if self.has_extensions => client.is_early_data_accepted(),
            Connection::Client(_) => return,
            Connection::Server(server) => server.zero_rtt_keys().is_some(),
        };
        self.early_data = if accepted { EarlyData::Accepted } else { EarlyData::Rejected };
    }

    /// Takes the library's output at once, so that it is known when the level changes.
    fn drain(&mut self, outbox: &mut Outbox) {
        loop {
            let mut bytes = Vec::new();
            let connection = &mut self.connection;
            let change = match lend(&mut self.lent, || connection.write_hs(&mut bytes)) {
                None if bytes.is_empty() => return,
                None => None,
                Some(quic::KeyChange::Handshake { keys }) => Some(KeyChange::Handshake(Keys::from(keys))),
                Some(quic::KeyChange::OneRtt { keys, next }) => {
                    self.next = Some(next);
                    Some(KeyChange::OneRtt(Keys::from(keys)))
                }
            };
            outbox.push(bytes, change);
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        !self.connection.is_handshaking()
    }
    pub(crate) fn resumed_terms(&self) -> Option<&[u8]> {
        self.lent.as_ref()?.admission.as_deref()?.resumed()
    }
    pub(crate) fn is_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }
    pub(crate) fn peer_parameters(&self) -> Option<&[u8]> {
        self.connection.quic_transport_parameters().filter(|_| self.has_extensions)
    }
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }
    pub(crate) fn early_data(&self) -> EarlyData {
        self.early_data
    }
    pub(crate) fn early_sealer(&self) -> Option<Sealer> {
        let keys = self.connection.zero_rtt_keys().filter(|_| self.early_data == EarlyData::Offered)?;
        Some(Sealer::Tls(DirectionalKeys::from(keys)))
    }
    pub(crate) fn early_opener(&self) -> Option<Opener> {
        let keys = self.connection.zero_rtt_keys().filter(|_| self.early_data == EarlyData::Accepted)?;
        Some(Opener::Tls(DirectionalKeys::from(keys)))
    }
    pub(crate) fn take_tickets(&mut self) -> Vec<Ticket> {
        let Some(lent) = &mut self.lent else { return Vec::new() };
        let group = lent.group;
        let received = std::mem::take(&mut lent.received).into_iter();
        received.map(|value| Ticket { kind: Kind::Real(Box::new(value), group) }).collect()
    }
    pub(crate) fn take_secrets(&mut self) -> Vec<Secret> {
        self.lent.as_mut().map(|lent| std::mem::take(&mut lent.secrets)).unwrap_or_default()
    }
    pub(crate) fn next_keys(&mut self) -> Option<PacketKeys> {
        self.next.as_mut().map(|secrets| secrets.next_packet_keys().into())
    }
}

/// The alert that the library wants to send, or the one for its error if it leaves the choice to the caller.
fn alert(description: Option<AlertDescription>, error: &rustls::Error) -> Alert {
    let code = match (description, error) {
        (Some(description), _) => description.into(),
        (None, rustls::Error::InvalidMessage(_)) => code::DECODE_ERROR,
        (None, rustls::Error::PeerMisbehaved(_)) => code::ILLEGAL_PARAMETER,
        (None, rustls::Error::PeerIncompatible(_)) => code::HANDSHAKE_FAILURE,
        (None, rustls::Error::InvalidCertificate(_)) => code::BAD_CERTIFICATE,
        (None, rustls::Error::NoApplicationProtocol) => code::NO_APPLICATION_PROTOCOL,
        (None, _) => code::INTERNAL_ERROR,
    };
    let reason = match error {
        // Errors found by this crate keep their own words.
        rustls::Error::InvalidCertificate(CertificateError::Other(other)) => other.0.to_string(),
        error => error.to_string(),
    };
    Alert::new(code, reason)
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Real").field("complete", &self.is_complete()).finish_non_exhaustive()
    }
}
