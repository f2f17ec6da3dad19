//! The tokens and the memory of a connection: what a client's Initial packets carry, what a server issues for later, and
//! what is remembered of this connection (RFC 9000 sections 8.1.2 and 8.1.3).

use crate::address_token::new_token;
use crate::resume::{Remembering, Session};
use random::Stream;
use std::net::IpAddr;
use std::sync::Arc;
use tls::EndpointKey;
use units::Time;
use wire::Version;

/// What makes a server's tokens for a client's later connections, and those that it made.
pub(crate) struct TokenIssuer {
    key: Arc<EndpointKey>,
    random: Stream,
    /// For the date.
    tls: tls::Context,
    issued: Vec<Vec<u8>>,
}

impl TokenIssuer {
    /// Tokens under this key, made different by these random numbers.
    pub(crate) fn new(key: Arc<EndpointKey>, random: Stream, tls: tls::Context) -> Box<TokenIssuer> {
        Box::new(TokenIssuer { key, random, tls, issued: Vec::new() })
    }
}

/// The tokens of a connection.
pub(crate) struct Tokens {
    /// At a client: the token that its Initial packets carry (RFC 9000 section 8.1).
    initial: Vec<u8>,
    /// At a server that gives clients tokens, and how many.
    issuer: Option<Box<TokenIssuer>>,
    count: u8,
    /// At a client: where it remembers.
    remembering: Option<Remembering>,
}

impl Tokens {
    /// At a client: with what is remembered for this version. At a server: it issues so many.
    pub(crate) fn new(
        issuer: Option<Box<TokenIssuer>>,
        remembering: Option<Remembering>,
        count: u64,
        version: Version,
    ) -> Tokens {
        let count = count.min(u64::from(u8::MAX)) as u8;
        let mut tokens = Tokens { initial: Vec::new(), issuer, count, remembering };
        tokens.recall(version);
        tokens
    }

    // ---- a client ----

    /// Takes a token for this server out of the memory.
    pub(crate) fn recall(&mut self, version: Version) {
        if let Some(remembering) = &self.remembering {
            // RFC 9000-8.1.3-5: the memory gives what it has for the server of this name.
            let token = remembering.memory.take_token(&remembering.server, version);
            self.initial = token.unwrap_or_default();
        }
    }
    /// The token that Initial packets carry; empty if there is none.
    pub(crate) fn initial(&self) -> &[u8] {
        &self.initial
    }
    /// A Retry packet has brought this one.
    pub(crate) fn on_retry(&mut self, token: &[u8]) {
        self.initial = token.to_vec();
    }
    /// NEW_TOKEN has brought one for later.
    pub(crate) fn remember_token(&self, version: Version, token: &[u8]) {
        if let Some(Remembering { memory, server }) = &self.remembering {
            memory.remember_token(server, version, token);
        }
    }
    /// The server speaks this version.
    pub(crate) fn remember_version(&self, version: Version) {
        if let Some(Remembering { memory, server }) = &self.remembering {
            memory.remember_version(server, version);
        }
    }
    /// Whether sessions are remembered.
    pub(crate) fn remembers(&self) -> bool {
        self.remembering.is_some()
    }
    /// A session that can be taken up again.
    pub(crate) fn remember_session(&self, session: Session) {
        if let Some(Remembering { memory, server }) = &self.remembering {
            memory.remember_session(server, session);
        }
    }

    // ---- a server ----

    /// Makes tokens for later for a client at this address. Gives how many there are.
    pub(crate) fn issue(&mut self, now: Time, ip: IpAddr, version: Version) -> u8 {
        let Some(issuer) = &mut self.issuer else { return 0 };
        let date_ms = issuer.tls.date(now).as_millis() as u64;
        for _ in 0..self.count {
            // RFC 9000-19.7-1: it is never empty.
            let token = new_token(&issuer.key, &mut issuer.random, ip, version, date_ms);
            issuer.issued.push(token);
        }
        self.count
    }
    /// A token that was issued.
    pub(crate) fn issued(&self, index: u8) -> Option<&[u8]> {
        self.issuer.as_ref()?.issued.get(usize::from(index)).map(Vec::as_slice)
    }
}
