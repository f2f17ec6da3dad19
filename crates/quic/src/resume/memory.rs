//! What a client remembers of servers from earlier connections: TLS sessions with transport parameters, address
//! tokens, the negotiated version, and the capacity that the server has passed on.

use super::session::RememberedSession;
use crate::bdp_frame::BdpFrame;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Duration;
use wire::Version;

/// The default number of servers in a [`Memory`].
const DEFAULT_SERVERS: usize = 64;
/// The maximum number of tokens per server; the newest are kept (RFC 9000 section 8.1.3).
const MAX_TOKENS: usize = 4;
/// The maximum number of TLS sessions per server; the newest are kept.
const MAX_SESSIONS: usize = 4;
/// The maximum length of a kept token in bytes: every Initial packet carries it beside the ClientHello.
const MAX_TOKEN: usize = 512;

/// What a client remembers between connections, by server. The memory is bounded: the least recently updated server
/// is forgotten first.
///
/// The key of a server is its authority, `example.org:443`: host name and port, because tokens and tickets must not
/// be sent to another server (RFC 9000 section 8.1.3).
///
/// This is a handle: clones share one memory. An endpoint has its own
/// ([`Endpoint::memory`](crate::Endpoint::memory)), which can be passed to another endpoint
/// ([`Endpoint::set_memory`](crate::Endpoint::set_memory)). The memory lives as long as any of its handles and is not
/// written to disk.
#[derive(Debug, Clone)]
pub struct Memory(Arc<Mutex<Servers>>);

/// The servers; the most recently updated one is last.
#[derive(Debug)]
struct Servers {
    known: VecDeque<Server>,
    limit: usize,
}

/// The memory of one server.
#[derive(Debug)]
struct Server {
    authority: Box<str>,
    sessions: VecDeque<RememberedSession>,
    tokens: VecDeque<(Version, Vec<u8>)>,
    version: Option<Version>,
    /// The newest BDP_FRAME.
    bdp: Option<BdpFrame>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::with_limit(DEFAULT_SERVERS)
    }
}

impl Memory {
    /// An empty memory for at most this many servers.
    pub fn with_limit(servers: usize) -> Memory {
        Memory(Arc::new(Mutex::new(Servers { known: VecDeque::new(), limit: servers })))
    }

    /// Forgets all servers.
    pub fn clear(&self) {
        self.lock().known.clear();
    }

    /// Keeps a token of a NEW_TOKEN frame for a later connection (RFC 9000 section 8.1.3). Tokens longer than 512
    /// bytes are not kept; of more than four, the oldest is dropped.
    pub fn remember_token(&self, server: &str, version: Version, token: &[u8]) {
        if token.is_empty() || token.len() > MAX_TOKEN {
            return;
        }
        self.update(server, |known| {
            if !known.tokens.iter().any(|(_, kept)| kept == token) {
                known.tokens.push_back((version, token.to_vec()));
            }
            if known.tokens.len() > MAX_TOKENS {
                known.tokens.pop_front();
            }
        });
    }

    /// Removes and returns the newest token for this server from a connection of this version (RFC 9369 section 5).
    /// RFC 9000 section 8.1.3: a token is used in only one connection, so that observers cannot link two.
    pub fn take_token(&self, server: &str, version: Version) -> Option<Vec<u8>> {
        let mut servers = self.lock();
        let tokens = &mut servers.find(server)?.tokens;
        let newest = tokens.iter().rposition(|(of, _)| *of == version)?;
        tokens.remove(newest).map(|(_, token)| token)
    }

    /// Keeps a TLS session for a later connection; of more than four the oldest is dropped.
    pub(crate) fn remember_session(&self, server: &str, session: RememberedSession) {
        self.update(server, |known| {
            known.sessions.push_back(session);
            if known.sessions.len() > MAX_SESSIONS {
                known.sessions.pop_front();
            }
        });
    }

    /// Removes and returns the newest TLS session with this server from a connection of this version (RFC 9369
    /// section 5). RFC 8446 appendix C.4: a ticket is used once, so that observers cannot link two connections.
    pub(crate) fn take_session(&self, server: &str, version: Version) -> Option<RememberedSession> {
        let mut servers = self.lock();
        let sessions = &mut servers.find(server)?.sessions;
        let newest = sessions.iter().rposition(|session| session.version == version)?;
        sessions.remove(newest)
    }

    /// The number of TLS sessions with this server that can be resumed.
    pub fn sessions(&self, server: &str) -> usize {
        self.lock().find(server).map_or(0, |known| known.sessions.len())
    }

    /// Keeps the capacity in a BDP_FRAME, in place of an earlier one.
    pub(crate) fn remember_bdp(&self, server: &str, frame: BdpFrame) {
        self.update(server, |known| known.bdp = Some(frame));
    }

    /// Removes and returns the BDP_FRAME of this server, which is used once.
    pub(crate) fn take_bdp(&self, server: &str) -> Option<BdpFrame> {
        self.lock().find(server)?.bdp.take()
    }

    /// The capacity in bytes and the RTT that this server has passed on in a BDP_FRAME
    /// (draft-kuhn-quic-0rtt-bdp-09 section 3.3). The next connection with 0-RTT sends it back, unless it is refused.
    pub fn capacity(&self, server: &str) -> Option<(u64, Duration)> {
        self.lock().find(server)?.bdp.map(|frame| frame.readable())
    }

    /// Refuses the capacity that this server has passed on: it is not sent back.
    pub fn refuse_capacity(&self, server: &str) {
        self.take_bdp(server);
    }

    /// Alters what servers have given, as a client that lies would: the last bit of each token, and the capacity in each BDP_FRAME,
    /// which is multiplied with this factor.
    pub fn tamper(&self, factor: f64) {
        for known in &mut self.lock().known {
            known.tokens.iter_mut().filter_map(|(_, token)| token.last_mut()).for_each(|last| *last ^= 1);
            if let Some(frame) = &mut known.bdp {
                frame.multiply(factor);
            }
        }
    }

    /// Stores the version negotiated with this server (RFC 9368 section 4).
    pub fn remember_version(&self, server: &str, version: Version) {
        self.update(server, |known| known.version = Some(version));
    }

    /// The version last negotiated with this server.
    pub fn version(&self, server: &str) -> Option<Version> {
        self.lock().find(server)?.version
    }

    /// Forgets everything about this server.
    pub fn forget(&self, server: &str) {
        self.lock().known.retain(|known| &*known.authority != server);
    }

    /// The number of remembered servers.
    pub fn len(&self) -> usize {
        self.lock().known.len()
    }
    /// Whether no server is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Servers> {
        // No operation leaves an inconsistent state, so the data of a panicked thread is valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the memory of a server, which becomes the most recently updated one.
    fn update(&self, server: &str, change: impl FnOnce(&mut Server)) {
        let mut servers = self.lock();
        let at = servers.known.iter().position(|known| &*known.authority == server);
        let known = at.and_then(|at| servers.known.remove(at));
        let mut known = known.unwrap_or_else(|| Server {
            authority: server.into(),
            sessions: VecDeque::new(),
            tokens: VecDeque::new(),
            version: None,
            bdp: None,
        });
        change(&mut known);
        servers.known.push_back(known);
        if servers.known.len() > servers.limit {
            servers.known.pop_front();
        }
    }
}

impl Servers {
    fn find(&mut self, server: &str) -> Option<&mut Server> {
        self.known.iter_mut().find(|known| &*known.authority == server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_taken_once_the_newest_first() {
        let memory = Memory::default();
        assert_eq!(memory.take_token("a.example:443", Version::V1), None);
        for token in 0..6u8 {
            memory.remember_token("a.example:443", Version::V1, &[token]);
        }
        memory.remember_token("a.example:443", Version::V1, &[5]);
        memory.remember_token("a.example:443", Version::V1, &[]);
        memory.remember_token("a.example:443", Version::V1, &[7; MAX_TOKEN + 1]);
        memory.remember_token("a.example:444", Version::V1, &[9]);
        let taken: Vec<_> = std::iter::from_fn(|| memory.take_token("a.example:443", Version::V1)).collect();
        assert_eq!(taken, [[5], [4], [3], [2]]);
        // RFC 9369 section 5.
        assert_eq!(memory.take_token("a.example:444", Version::V2), None);
        assert_eq!(memory.take_token("a.example:444", Version::V1), Some(vec![9]));
    }

    #[test]
    fn the_least_recently_updated_server_is_forgotten_first() {
        let memory = Memory::with_limit(2);
        memory.remember_version("a:1", Version::V1);
        memory.remember_version("b:1", Version::V1);
        memory.remember_token("a:1", Version::V1, b"token");
        memory.remember_version("c:1", Version::V2);
        assert_eq!(memory.len(), 2);
        assert_eq!((memory.version("a:1"), memory.version("b:1")), (Some(Version::V1), None));
        memory.forget("a:1");
        assert_eq!((memory.version("a:1"), memory.version("c:1")), (None, Some(Version::V2)));
        assert!(!memory.is_empty() && Memory::with_limit(0).is_empty());
        let none = Memory::with_limit(0);
        none.remember_token("a:1", Version::V1, b"token");
        assert!(none.is_empty());
    }

    #[test]
    fn clones_share_one_memory() {
        let memory = Memory::default();
        memory.clone().remember_token("a:1", Version::V1, b"token");
        assert_eq!(memory.take_token("a:1", Version::V1), Some(b"token".to_vec()));
    }
}
