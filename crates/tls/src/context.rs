//! The TLS state that the connections of a scenario share: configuration, certificates, and the message sizes of
//! null.

use crate::certificate::Chain;
use crate::error::Error;
use crate::library::{Credentials, Library};
use crate::model::{ClientRequest, Model, Sizes, Terms, server_name_size};
use crate::options::{Options, Protection};
use crate::outbox::Outbox;
use crate::provider::provider;
use crate::real::Real;
use crate::session::{Engine, Session};
use crate::start::{Opening, Request, Start, date, supported_version};
use crate::store::{Admission, TicketStore};
use crate::trial::Trial;
use crate::trust::Trust;
use random::{Generator, Source};
use rustls::pki_types::ServerName;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The longest transport parameters in bytes. A ClientHello has to hold them.
pub const LARGEST_PARAMETERS: usize = 16_384;
/// The longest list of application protocols in bytes.
const LARGEST_PROTOCOLS: usize = 16_384;

/// The default date at time zero: noon of 2030-01-01 UTC, in seconds since 1970. The certificates are valid from 2020
/// to 2049.
pub const EPOCH: Duration = Duration::from_secs(1_893_499_200);

/// The TLS side of a scenario: created once, cheap to clone, shared between runs and threads.
#[derive(Clone)]
pub struct Context {
    kind: Kind,
    server_name: Arc<str>,
    epoch: Duration,
    /// The options for issuing and accepting tickets; `None` if there are no tickets.
    ticketing: Option<Arc<Options>>,
    /// The source of randomness that replaces the sessions' own streams.
    source: Option<&'static dyn Source>,
}

#[derive(Clone)]
enum Kind {
    Tls(Arc<Library>),
    Null(Arc<Terms>),
}

impl Context {
    /// Derives keys and certificates from the seed and runs a trial handshake, from which null learns its sizes.
    ///
    /// `alpn` lists the application protocols of both ends in order of preference (RFC 7301). Clients trust the
    /// authority of their own context: endpoints whose contexts have different seeds cannot complete a handshake.
    ///
    /// # Errors
    /// If no handshake is possible with the options: see [`Error`].
    pub fn new(options: &Options, alpn: &[&[u8]], seed: u64) -> Result<Context, Error> {
        let tls = Context::with_library(options, alpn, seeded(options, alpn, seed)?)?;
        let trial = Trial {
            client: &|start, request| tls.client(start, request),
            server: &|start, admission| tls.server(start, admission),
            server_name: &options.server_name,
            protocol: alpn.first().map_or(0, |name| name.len()),
            seed,
        };
        let (transcript, resumed) = trial.run(tls.ticket_store())?;
        if options.protection == Protection::Tls {
            return Ok(tls);
        }
        let sizes = Sizes::learn(&transcript).and_then(|sizes| match resumed {
            None => Some(sizes),
            Some(resumed) => sizes.learn_resumption(&transcript, &resumed, options.early_data),
        });
        let sizes = sizes
            .ok_or_else(|| Error::Library("the handshake has other messages than expected".to_owned()))?;
        let kind = Kind::Null(Arc::new(Terms {
            sizes,
            protocols: protocols(alpn)?,
            server_name: tls.server_name.clone(),
            tickets: options.tickets,
            early_data: options.early_data,
        }));
        Ok(Context { kind, ..tls })
    }

    /// Wraps a configured library.
    pub(crate) fn with_library(
        options: &Options,
        alpn: &[&[u8]],
        library: Library,
    ) -> Result<Context, Error> {
        protocols(alpn)?;
        Ok(Context {
            kind: Kind::Tls(Arc::new(library)),
            server_name: options.server_name.as_str().into(),
            epoch: EPOCH,
            ticketing: (options.tickets > 0).then(|| Arc::new(options.clone())),
            source: None,
        })
    }

    /// Returns the context with sessions that draw from `source`.
    pub(crate) fn drawing_from(self, source: &'static dyn Source) -> Context {
        Context { source: Some(source), ..self }
    }

    /// Creates a store for the tickets of one server; `None` if servers of this context issue none.
    pub fn ticket_store(&self) -> Option<TicketStore> {
        self.ticketing.as_deref().map(TicketStore::new)
    }

    /// How packets are protected.
    pub fn protection(&self) -> Protection {
        match &self.kind {
            Kind::Tls(_) => Protection::Tls,
            Kind::Null(_) => Protection::Null,
        }
    }

    /// Sets the date at time zero, as time since 1970 in UTC, for connections to the outside world, where
    /// certificates and tickets have real dates. The default is noon of 2030-01-01, so that a scenario does not
    /// depend on the day it is run.
    #[must_use]
    pub fn with_epoch(self, epoch: Duration) -> Context {
        Context { epoch, ..self }
    }

    /// The date at `now`, as time since 1970.
    pub fn date(&self, now: units::Time) -> Duration {
        date(self.epoch, now)
    }

    /// The host that clients ask for by default.
    pub fn server_name(&self) -> &str {
        &self.server_name
    }

    /// Creates the client's end of a connection.
    ///
    /// # Errors
    /// [`Error::Version`], [`Error::ParametersTooLong`], [`Error::ServerName`], or the library's own.
    pub fn client(&self, start: Start, request: Request<'_>) -> Result<Session, Error> {
        let start = self.opening(start)?;
        let name = request.server_name.unwrap_or(&self.server_name);
        let name = ServerName::try_from(name).map_err(|_| Error::ServerName(name.to_owned()))?;
        let Request { ticket, early_data, .. } = request;
        let mut outbox = Outbox::default();
        let engine = match &self.kind {
            Kind::Tls(library) => {
                let config = if early_data { &library.early_client } else { &library.client };
                let real = Real::client(config, name.to_owned(), start, ticket, &mut outbox)?;
                Engine::Real(Box::new(real))
            }
            Kind::Null(terms) => {
                let (server_name_size, server_name) = (server_name_size(&name), name.to_str().into_owned());
                let request = ClientRequest { server_name, server_name_size, ticket, early_data };
                Engine::Model(Box::new(Model::client(terms, start, request, &mut outbox)))
            }
        };
        Ok(Session::new(engine, outbox))
    }

    /// Creates the server's end of a connection. It issues and accepts tickets only with an `admission`.
    ///
    /// # Errors
    /// As [`client`](Context::client), and [`Error::NoIdentity`].
    pub fn server(&self, start: Start, admission: Option<Admission>) -> Result<Session, Error> {
        let start = self.opening(start)?;
        let engine = match &self.kind {
            Kind::Tls(library) => {
                let config = library.server.as_ref().ok_or(Error::NoIdentity)?;
                Engine::Real(Box::new(Real::server(config, start, admission)?))
            }
            Kind::Null(terms) => Engine::Model(Box::new(Model::server(terms, start, admission))),
        };
        Ok(Session::new(engine, Outbox::default()))
    }

    fn opening(&self, start: Start) -> Result<Opening, Error> {
        let Start { random, now, version, parameters, change } = start;
        let version = supported_version(version).ok_or(Error::Version(version))?;
        let random = self.source.map_or(random, Generator::foreign);
        if parameters.len() > LARGEST_PARAMETERS {
            return Err(Error::ParametersTooLong { length: parameters.len(), largest: LARGEST_PARAMETERS });
        }
        Ok(Opening { random, now, epoch: self.epoch, version, parameters, change })
    }
}

/// Configures keys and certificates from the seed, and a client that trusts them.
fn seeded(options: &Options, alpn: &[&[u8]], seed: u64) -> Result<Library, Error> {
    ServerName::try_from(options.server_name.as_str())
        .map_err(|_| Error::ServerName(options.server_name.clone()))?;
    let chain = Chain::new(&options.server_name, options.certificate_chain.as_bytes(), seed)?;
    let provider = Arc::new(provider(options.cipher, options.key_share));
    let verifier = Trust::Roots(vec![chain.authority()]).verifier(&provider)?;
    Library::new(
        options,
        alpn,
        &provider,
        verifier,
        Some(Credentials { certificates: chain.certificates, key: chain.key }),
    )
}

/// The list of names as encoded in the ALPN extension (RFC 7301 section 3.1).
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
