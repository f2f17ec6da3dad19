//! What the connections of a scenario share: configuration, certificates, and the sizes that null goes by.

use crate::certificate::Chain;
use crate::error::{Alert, Error, code};
use crate::keys::{KeyChange, known_version};
use crate::model::{Model, Sizes, Terms, Transcript};
use crate::options::{Options, Protection};
use crate::outbox::Outbox;
use crate::provider::{FixedTime, SessionKeyLog, provider};
use crate::real::{Real, Start};
use crate::session::{Engine, Level, Session};
use random::Stream;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use rustls::server::NoServerSessionStorage;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use std::fmt;
use std::sync::Arc;

/// The longest transport parameters in bytes: a ClientHello has to hold them.
pub const LARGEST_PARAMETERS: usize = 16_384;
/// The longest list of application protocols in bytes.
const LARGEST_PROTOCOLS: usize = 16_384;
/// Length of the transport parameters in the handshake that sizes are learned from; which one does not matter, because
/// their extension has length fields of one size (RFC 8446 section 4.2).
const TRIED_PARAMETERS: usize = 64;

/// The TLS side of a scenario: made once, cheap to clone, shared between runs and threads.
#[derive(Clone)]
pub struct Context {
    kind: Kind,
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
    server_name: ServerName<'static>,
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
        let tls = Context { kind: Kind::Tls(library) };
        let transcript = tls.try_handshake(alpn.first().map_or(0, |name| name.len()), seed)?;
        if options.protection == Protection::Tls {
            return Ok(tls);
        }
        let sizes = Sizes::learn(&transcript)
            .ok_or_else(|| Error::Library("the handshake has other messages than expected".to_owned()))?;
        Ok(Context { kind: Kind::Null(Arc::new(Terms { sizes, protocols: list })) })
    }

    /// How packets are protected.
    pub fn protection(&self) -> Protection {
        match &self.kind {
            Kind::Tls(_) => Protection::Tls,
            Kind::Null(_) => Protection::Null,
        }
    }

    /// The client's end of a new connection. `random`: what it draws from, for itself alone; `version`: the QUIC
    /// version, 1 or 2; `parameters`: its encoded transport parameters.
    ///
    /// # Errors
    /// [`Error::Version`], [`Error::ParametersTooLong`], or the library's own.
    pub fn client(&self, random: Stream, version: u32, parameters: Vec<u8>) -> Result<Session, Error> {
        let start = start(random, version, parameters)?;
        let mut outbox = Outbox::default();
        let engine = match &self.kind {
            Kind::Tls(library) => {
                let real = Real::client(&library.client, &library.server_name, start, &mut outbox)?;
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
    pub fn server(&self, random: Stream, version: u32, parameters: Vec<u8>) -> Result<Session, Error> {
        let start = start(random, version, parameters)?;
        let engine = match &self.kind {
            Kind::Tls(library) => Engine::Real(Box::new(Real::server(&library.server, start)?)),
            Kind::Null(terms) => Engine::Model(Box::new(Model::server(terms, start.parameters))),
        };
        Ok(Session::new(engine, Outbox::default()))
    }

    /// One handshake in memory: it shows that the configuration works, and how long its messages are.
    fn try_handshake(&self, protocol: usize, seed: u64) -> Result<Transcript, Error> {
        let parameters = vec![0; TRIED_PARAMETERS];
        let mut client = self.client(Stream::new(seed, "tls trial client"), 1, parameters.clone())?;
        let mut server = self.server(Stream::new(seed, "tls trial server"), 1, parameters)?;
        let mut said = Transcript { parameters: TRIED_PARAMETERS, protocol, ..Transcript::default() };
        exchange(&mut client, &mut server, &mut said).map_err(Error::Handshake)?;
        Ok(said)
    }
}

/// Runs a handshake to its end.
fn exchange(client: &mut Session, server: &mut Session, said: &mut Transcript) -> Result<(), Alert> {
    let missing = || Alert::new(code::INTERNAL_ERROR, "the handshake stops in the middle");
    client.write(&mut said.client_hello);
    server.read(Level::Initial, &said.client_hello)?;
    let Some(KeyChange::Handshake(_)) = server.write(&mut said.server_hello) else { return Err(missing()) };
    let Some(KeyChange::OneRtt(_)) = server.write(&mut said.server_flight) else { return Err(missing()) };
    client.read(Level::Initial, &said.server_hello)?;
    let Some(KeyChange::Handshake(_)) = client.write(&mut said.client_finished) else {
        return Err(missing());
    };
    client.read(Level::Handshake, &said.server_flight)?;
    let Some(KeyChange::OneRtt(_)) = client.write(&mut said.client_finished) else { return Err(missing()) };
    server.read(Level::Handshake, &said.client_finished)?;
    if client.is_complete() && server.is_complete() { Ok(()) } else { Err(missing()) }
}

impl Library {
    fn new(options: &Options, alpn: &[&[u8]], seed: u64) -> Result<Library, Error> {
        let server_name = ServerName::try_from(options.server_name.clone())
            .map_err(|_| Error::ServerName(options.server_name.clone()))?;
        let chain = Chain::new(&options.server_name, options.certificate_chain.as_bytes(), seed)?;
        let provider = Arc::new(provider(options.cipher, options.key_share));
        let alpn: Vec<Vec<u8>> = alpn.iter().map(|name| name.to_vec()).collect();

        let mut trusted = RootCertStore::empty();
        trusted.add(chain.authority())?;
        let mut client = ClientConfig::builder_with_details(provider.clone(), Arc::new(FixedTime))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(trusted)
            .with_no_client_auth();
        client.alpn_protocols = alpn.clone();
        client.key_log = Arc::new(SessionKeyLog);
        // What is remembered between connections would make one depend on those before it.
        client.resumption = Resumption::disabled();

        let mut server = ServerConfig::builder_with_details(provider, Arc::new(FixedTime))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(chain.certificates, chain.key)?;
        server.alpn_protocols = alpn;
        server.key_log = Arc::new(SessionKeyLog);
        server.session_storage = Arc::new(NoServerSessionStorage {});
        server.send_tls13_tickets = 0;
        Ok(Library { client: Arc::new(client), server: Arc::new(server), server_name })
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

fn start(random: Stream, version: u32, parameters: Vec<u8>) -> Result<Start, Error> {
    let version = known_version(version).ok_or(Error::Version(version))?;
    if parameters.len() > LARGEST_PARAMETERS {
        return Err(Error::ParametersTooLong { length: parameters.len(), largest: LARGEST_PARAMETERS });
    }
    Ok(Start { random, version, parameters })
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("protection", &self.protection()).finish_non_exhaustive()
    }
}
