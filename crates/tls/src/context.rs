//! What the connections of a scenario share: configuration, certificates, and the sizes that null goes by.

use crate::certificate::Chain;
use crate::error::{Alert, Error, code};
use crate::keys::{KeyChange, known_version};
use crate::model::{Model, Sizes, Terms, Transcript};
use crate::options::{Options, Protection};
use crate::outbox::Outbox;
use crate::provider::{SessionKeyLog, SessionTime, provider};
use crate::real::{Opening, Real};
use crate::session::{Engine, Level, Session};
use crate::start::{Request, Start};
use random::Stream;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::server::NoServerSessionStorage;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use units::Time;

/// The longest transport parameters in bytes: a ClientHello has to hold them.
pub const LARGEST_PARAMETERS: usize = 16_384;
/// The longest list of application protocols in bytes.
const LARGEST_PROTOCOLS: usize = 16_384;
/// Length of the transport parameters in the handshake that sizes are learned from; which one does not matter, because
/// their extension has length fields of one size (RFC 8446 section 4.2).
const TRIED_PARAMETERS: usize = 64;

/// What the date is at time zero unless it is told otherwise: noon of 2030-01-01 UTC, in seconds since 1970. The
/// certificates are valid from 2020 to 2049.
const EPOCH: Duration = Duration::from_secs(1_893_499_200);

/// The TLS side of a scenario: made once, cheap to clone, shared between runs and threads.
#[derive(Clone)]
pub struct Context {
    kind: Kind,
    server_name: Arc<str>,
    epoch: Duration,
}

#[derive(Clone)]
enum Kind {
    Tls(Arc<Library>),
    Null(Arc<Terms>),
}

/// How rustls is set up.
struct Library {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Context {
    /// Makes keys and certificates from the seed, and tries one handshake, from which null learns its sizes.
    ///
    /// `alpn`: the application protocols of both ends, the preferred one first (RFC 7301). Clients trust the authority
    /// of their own context: ends of contexts with different seeds do not come together.
    ///
    /// # Errors
    /// Options that no handshake can have: see [`Error`].
    pub fn new(options: &Options, alpn: &[&[u8]], seed: u64) -> Result<Context, Error> {
        let list = protocols(alpn)?;
        let library = Arc::new(Library::new(options, alpn, seed)?);
        let server_name: Arc<str> = options.server_name.as_str().into();
        let context = |kind| Context { kind, server_name: server_name.clone(), epoch: EPOCH };
        let tls = context(Kind::Tls(library));
        let transcript = tls.try_handshake(alpn.first().map_or(0, |name| name.len()), seed)?;
        if options.protection == Protection::Tls {
            return Ok(tls);
        }
        let sizes = Sizes::learn(&transcript)
            .ok_or_else(|| Error::Library("the handshake has other messages than expected".to_owned()))?;
        Ok(context(Kind::Null(Arc::new(Terms { sizes, protocols: list }))))
    }

    /// How packets are protected.
    pub fn protection(&self) -> Protection {
        match &self.kind {
            Kind::Tls(_) => Protection::Tls,
            Kind::Null(_) => Protection::Null,
        }
    }

    /// The same with this date at time zero, as time since 1970 in UTC: for connections to the world outside, whose
    /// certificates and tickets have true dates. By default it is noon of 2030-01-01, so that a scenario does not
    /// depend on the day of its run.
    #[must_use]
    pub fn with_epoch(self, epoch: Duration) -> Context {
        Context { epoch, ..self }
    }

    /// The host that clients ask for if they ask for no other.
    pub fn server_name(&self) -> &str {
        &self.server_name
    }

    /// The client's end of a new connection.
    ///
    /// # Errors
    /// [`Error::Version`], [`Error::ParametersTooLong`], [`Error::ServerName`], or the library's own.
    pub fn client(&self, start: Start, request: Request<'_>) -> Result<Session, Error> {
        let start = self.opening(start)?;
        let name = request.server_name.unwrap_or(&self.server_name);
        let name = ServerName::try_from(name).map_err(|_| Error::ServerName(name.to_owned()))?;
        let mut outbox = Outbox::default();
        let engine = match &self.kind {
            Kind::Tls(library) => {
                let real = Real::client(&library.client, name.to_owned(), start, &mut outbox)?;
                Engine::Real(Box::new(real))
            }
            Kind::Null(terms) => Engine::Model(Box::new(Model::client(terms, start.parameters, &mut outbox))),
        };
        Ok(Session::new(engine, outbox))
    }

    /// The server's end of a new connection: as [`client`](Context::client).
    ///
    /// # Errors
    /// As [`client`](Context::client).
    pub fn server(&self, start: Start) -> Result<Session, Error> {
        let start = self.opening(start)?;
        let engine = match &self.kind {
            Kind::Tls(library) => Engine::Real(Box::new(Real::server(&library.server, start)?)),
            Kind::Null(terms) => Engine::Model(Box::new(Model::server(terms, start.parameters))),
        };
        Ok(Session::new(engine, Outbox::default()))
    }

    /// One handshake in memory: it shows that the configuration works, and how long its messages are.
    fn try_handshake(&self, protocol: usize, seed: u64) -> Result<Transcript, Error> {
        let parameters = vec![0; TRIED_PARAMETERS];
        let start = |name| Start::new(Stream::new(seed, name), 1, parameters.clone());
        let mut client = self.client(start("tls trial client"), Request::default())?;
        let mut server = self.server(start("tls trial server"))?;
        let mut said = Transcript { parameters: TRIED_PARAMETERS, protocol, ..Transcript::default() };
        exchange(&mut client, &mut server, &mut said).map_err(Error::Handshake)?;
        Ok(said)
    }

    fn opening(&self, start: Start) -> Result<Opening, Error> {
        let Start { random, now, version, parameters } = start;
        let version = known_version(version).ok_or(Error::Version(version))?;
        if parameters.len() > LARGEST_PARAMETERS {
            return Err(Error::ParametersTooLong { length: parameters.len(), largest: LARGEST_PARAMETERS });
        }
        Ok(Opening { random, now, epoch: self.epoch, version, parameters })
    }
}

/// Runs a handshake to its end.
fn exchange(client: &mut Session, server: &mut Session, said: &mut Transcript) -> Result<(), Alert> {
    let missing = || Alert::new(code::INTERNAL_ERROR, "the handshake stops in the middle");
    client.write(&mut said.client_hello);
    server.read(Time::ZERO, Level::Initial, &said.client_hello)?;
    let Some(KeyChange::Handshake(_)) = server.write(&mut said.server_hello) else { return Err(missing()) };
    let Some(KeyChange::OneRtt(_)) = server.write(&mut said.server_flight) else { return Err(missing()) };
    client.read(Time::ZERO, Level::Initial, &said.server_hello)?;
    let Some(KeyChange::Handshake(_)) = client.write(&mut said.client_finished) else {
        return Err(missing());
    };
    client.read(Time::ZERO, Level::Handshake, &said.server_flight)?;
    let Some(KeyChange::OneRtt(_)) = client.write(&mut said.client_finished) else { return Err(missing()) };
    server.read(Time::ZERO, Level::Handshake, &said.client_finished)?;
    if client.is_complete() && server.is_complete() { Ok(()) } else { Err(missing()) }
}

impl Library {
    fn new(options: &Options, alpn: &[&[u8]], seed: u64) -> Result<Library, Error> {
        ServerName::try_from(options.server_name.as_str())
            .map_err(|_| Error::ServerName(options.server_name.clone()))?;
        let chain = Chain::new(&options.server_name, options.certificate_chain.as_bytes(), seed)?;
        let provider = Arc::new(provider(options.cipher, options.key_share));
        let alpn: Vec<Vec<u8>> = alpn.iter().map(|name| name.to_vec()).collect();

        let mut trusted = RootCertStore::empty();
        trusted.add(chain.authority())?;
        let mut client = ClientConfig::builder_with_details(provider.clone(), Arc::new(SessionTime))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(trusted)
            .with_no_client_auth();
        client.alpn_protocols = alpn.clone();
        client.key_log = Arc::new(SessionKeyLog);
        // What is remembered between connections would make one depend on those before it.
        client.resumption = Resumption::disabled();

        let mut server = ServerConfig::builder_with_details(provider, Arc::new(SessionTime))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(chain.certificates, chain.key)?;
        server.alpn_protocols = alpn;
        server.key_log = Arc::new(SessionKeyLog);
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        Ok(Library { client: Arc::new(client), server: Arc::new(server) })
    }
}

/// The list of names as in the ALPN extension (RFC 7301 section 3.1).
fn protocols(alpn: &[&[u8]]) -> Result<Vec<u8>, Error> {
    let mut list = Vec::new();
    for name in alpn {
        let length = u8::try_from(name.len()).ok().filter(|length| *length > 0).ok_or(Error::Protocols)?;
        list.push(length);
        list.extend_from_slice(name);
    }
    if list.len() <= LARGEST_PROTOCOLS { Ok(list) } else { Err(Error::Protocols) }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("protection", &self.protection()).finish_non_exhaustive()
    }
}
