//! The random numbers of quinn-proto: from a named stream instead of the operating system.

use quinn_proto::{ConnectionId, ConnectionIdGenerator, EndpointConfig};
use random::Generator;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The length of local connection ids in bytes.
const ID_LENGTH: usize = 8;
/// The length in bytes of the id that a client chooses for the server (RFC 9000 section 7.2: at least 8).
const FIRST_ID_LENGTH: usize = 20;

/// A stream that is shared by several callbacks.
#[derive(Clone)]
pub(crate) struct Draws(Arc<Mutex<Generator>>);

impl Draws {
    pub(crate) fn new(stream: Generator) -> Draws {
        Draws(Arc::new(Mutex::new(stream)))
    }

    pub(crate) fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(&mut bytes);
        bytes
    }
    /// A separate stream for a session.
    pub(crate) fn fork(&self, name: &str) -> Generator {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fork(name)
    }
    /// The first destination id of a client.
    pub(crate) fn first_id(&self) -> ConnectionId {
        ConnectionId::new(&self.bytes::<FIRST_ID_LENGTH>())
    }

    /// The configuration of an endpoint that draws from the stream.
    pub(crate) fn endpoint(&self) -> EndpointConfig {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &self.bytes::<64>());
        let mut config = EndpointConfig::new(Arc::new(key));
        let draws = self.clone();
        config.cid_generator(move || Box::new(Ids(draws.clone())));
        config.rng_seed(Some(self.bytes()));
        config
    }
    /// The key of a server's tokens.
    pub(crate) fn token_key(&self) -> Arc<ring::hkdf::Prk> {
        Arc::new(ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, &[]).extract(&self.bytes::<64>()))
    }
}

/// The ids of an endpoint.
struct Ids(Draws);

impl ConnectionIdGenerator for Ids {
    fn generate_cid(&mut self) -> ConnectionId {
        ConnectionId::new(&self.0.bytes::<ID_LENGTH>())
    }
    fn cid_len(&self) -> usize {
        ID_LENGTH
    }
    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// The date for a server's tokens, which are only used within a run.
pub(crate) struct FixedDate;

impl quinn_proto::TimeSource for FixedDate {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}
