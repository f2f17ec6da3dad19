//! The tokens and the memory of a connection: the token in a client's Initial packets, tokens that a server issues,
//! and what a client remembers (RFC 9000 sections 8.1.2 and 8.1.3).

use crate::address_token::{capacity_token, new_token};
use crate::bdp_frame::{BdpFrame, Opened};
use crate::resume::{RememberedServer, RememberedSession};
use congestion::{Learned, Refusal, Resume};
use random::Generator;
use std::net::IpAddr;
use std::sync::Arc;
use tls::EndpointKey;
use units::Time;
use wire::Version;

/// Issues a server's tokens for a client's later connections, and stores the issued ones.
pub(crate) struct TokenIssuer {
    key: Arc<EndpointKey>,
    random: Generator,
    /// Provides the date.
    tls: tls::Context,
    issued: Vec<Vec<u8>>,
}

impl TokenIssuer {
    /// An issuer of tokens with this key, made unique by these random numbers.
    pub(crate) fn new(key: Arc<EndpointKey>, random: Generator, tls: tls::Context) -> Box<TokenIssuer> {
        Box::new(TokenIssuer { key, random, tls, issued: Vec::new() })
    }
}

/// The tokens of a connection.
pub(crate) struct Tokens {
    /// At a client: the token that its Initial packets carry (RFC 9000 section 8.1).
    initial: Vec<u8>,
    /// At a server that issues tokens: the issuer and the number of tokens.
    issuer: Option<Box<TokenIssuer>>,
    count: u8,
    /// At a client: its memory.
    remembered: Option<RememberedServer>,
    /// The BDP_FRAME to send, with its index. At a server, a newer one takes its place.
    bdp: Option<Box<(u8, BdpFrame)>>,
}

impl Tokens {
    /// At a client, with the remembered token for this version; at a server, with the number of tokens to issue.
    pub(crate) fn new(
        issuer: Option<Box<TokenIssuer>>,
        remembered: Option<RememberedServer>,
        count: u64,
        version: Version,
    ) -> Tokens {
        let count = count.min(u64::from(u8::MAX)) as u8;
        let mut tokens = Tokens { initial: Vec::new(), issuer, count, remembered, bdp: None };
        tokens.recall(version);
        tokens
    }

    // ---- client ----

    /// Takes a token for this server from the memory.
    pub(crate) fn recall(&mut self, version: Version) {
        if let Some(remembered) = &self.remembered {
            // RFC 9000-8.1.3-5: not one "not applicable to the server that it is connecting to": the memory is
            // by server name.
            let token = remembered.memory.take_token(&remembered.server, version);
            self.initial = token.unwrap_or_default();
        }
    }
    /// The token for Initial packets; empty if there is none.
    pub(crate) fn initial(&self) -> &[u8] {
        &self.initial
    }
    /// Stores the token of a Retry packet.
    pub(crate) fn on_retry(&mut self, token: &[u8]) {
        self.initial = token.to_vec();
    }
    /// Remembers the token of a NEW_TOKEN frame.
    pub(crate) fn remember_token(&self, version: Version, token: &[u8]) {
        if let Some(RememberedServer { memory, server }) = &self.remembered {
            memory.remember_token(server, version, token);
        }
    }
    /// Remembers the negotiated version.
    pub(crate) fn remember_version(&self, version: Version) {
        if let Some(RememberedServer { memory, server }) = &self.remembered {
            memory.remember_version(server, version);
        }
    }
    /// Whether sessions are remembered.
    pub(crate) fn remembers(&self) -> bool {
        self.remembered.is_some()
    }
    /// Remembers a session that can be resumed.
    pub(crate) fn remember_session(&self, session: RememberedSession) {
        if let Some(RememberedServer { memory, server }) = &self.remembered {
            memory.remember_session(server, session);
        }
    }

    /// Remembers the capacity in a BDP_FRAME.
    pub(crate) fn remember_bdp(&self, frame: BdpFrame) {
        if let Some(RememberedServer { memory, server }) = &self.remembered {
            memory.remember_bdp(server, frame);
        }
    }
    /// Takes the BDP_FRAME for this server from the memory, to send it back; returns whether there is one.
    pub(crate) fn recall_bdp(&mut self) -> bool {
        let remembered = self.remembered.as_ref();
        let frame = remembered.and_then(|known| known.memory.take_bdp(&known.server));
        self.bdp = frame.map(|frame| Box::new((0, frame)));
        self.bdp.is_some()
    }

    // ---- server ----

    /// Issues tokens for later connections of a client at this address. Returns their number.
    pub(crate) fn issue(&mut self, now: Time, ip: IpAddr, version: Version) -> u8 {
        let Some(issuer) = &mut self.issuer else { return 0 };
        let date_ms = issuer.tls.date(now).as_millis() as u64;
        for _ in 0..self.count {
            // RFC 9000-19.7-1: "The token MUST NOT be empty."
            let token = new_token(&issuer.key, &mut issuer.random, ip, version, date_ms);
            issuer.issued.push(token);
        }
        self.count
    }
    /// Issues a token with a capacity, and returns its index; `None` if there are too many.
    pub(crate) fn issue_capacity(&mut self, now: Time, version: Version, learned: Learned) -> Option<u8> {
        let issuer = self.issuer.as_mut()?;
        let index = u8::try_from(issuer.issued.len()).ok()?;
        let date_ms = issuer.tls.date(now).as_millis() as u64;
        let token = capacity_token(&issuer.key, &mut issuer.random, version, date_ms, learned);
        issuer.issued.push(token);
        Some(index)
    }
    /// Issues a BDP_FRAME with a capacity in place of the one before, and returns its index.
    pub(crate) fn issue_bdp(&mut self, now: Time, resume: &Resume, learned: Learned) -> Option<u8> {
        let issuer = self.issuer.as_ref()?;
        let date_ms = issuer.tls.date(now).as_millis() as u64;
        let index = self.bdp.as_ref().map_or(0, |bdp| bdp.0.wrapping_add(1));
        self.bdp = Some(Box::new((index, BdpFrame::issue(&issuer.key, resume, learned, date_ms))));
        Some(index)
    }
    /// Checks a BDP_FRAME from a client at this address.
    pub(crate) fn open_bdp(&self, now: Time, resume: &Resume, ip: IpAddr, frame: &BdpFrame) -> Opened {
        let Some(issuer) = self.issuer.as_ref() else {
            return Opened { hashes: None, learned: Err(Refusal::Forged) };
        };
        let date_ms = issuer.tls.date(now).as_millis() as u64;
        frame.open(&issuer.key, resume, ip, date_ms)
    }
    /// The BDP_FRAME with this index, unless a newer one has taken its place.
    pub(crate) fn bdp(&self, index: u8) -> Option<&BdpFrame> {
        self.bdp.as_deref().filter(|(of, _)| *of == index).map(|(_, frame)| frame)
    }
    /// An issued token.
    pub(crate) fn issued(&self, index: u8) -> Option<&[u8]> {
        self.issuer.as_ref()?.issued.get(usize::from(index)).map(Vec::as_slice)
    }
}
