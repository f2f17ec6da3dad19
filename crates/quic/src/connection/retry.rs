//! Tokens of a connection: the Retry packet that brings a client one, those that a server issues for later
//! (RFC 9000 sections 8.1.2, 8.1.3 and 17.2.5).

use super::{Connection, Progress};
use crate::address_token::new_token;
use crate::sent::SentFrame;
use crate::space::SpaceKind;
use random::Stream;
use std::sync::Arc;
use tls::EndpointKey;
use trace::PacketKind;
use trace::event::DropReason;
use units::{Duration, Time};
use wire::{Header, Side};

/// The longest token that is taken from a Retry packet: behind a longer one an Initial packet has no room for a
/// ClientHello in pieces worth sending.
const MAX_TOKEN: usize = 1000;

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

impl Connection {
    /// At a client: takes a token for this server out of the memory.
    pub(super) fn take_remembered_token(&mut self) {
        if let Some(remembering) = &self.remembering {
            // RFC 9000-8.1.3-5: the memory gives what it has for the server of this name.
            let token = remembering.memory.take_token(&remembering.server, self.origin.version);
            self.token = token.unwrap_or_default();
        }
    }

    /// At a server, when the handshake is complete: the client gets tokens for later (RFC 9000 section 8.1.3).
    pub(super) fn issue_tokens(&mut self, now: Time) {
        let Some(issuer) = &mut self.issuer else { return };
        let date_ms = issuer.tls.date(now).as_millis() as u64;
        let ip = self.paths.current.route.remote.ip();
        for index in 0..self.config.new_tokens.min(u64::from(u8::MAX)) as u8 {
            // RFC 9000-19.7-1: it is never empty.
            let token = new_token(&issuer.key, &mut issuer.random, ip, self.version, date_ms);
            issuer.issued.push(token);
            self.control.ask(SentFrame::NewToken { index });
        }
    }

    /// A token that was issued.
    pub(super) fn issued_token(&self, index: u8) -> Option<&[u8]> {
        self.issuer.as_ref()?.issued.get(usize::from(index)).map(Vec::as_slice)
    }

    /// A Retry packet: the server wants to see that we receive what is sent to our address (RFC 9000 section 17.2.5.2).
    #[cold]
    pub(super) fn on_retry(&mut self, now: Time, header: &Header, packet: &[u8]) {
        if !self.admits_retry(header, packet) {
            return self.drop_packet(now, PacketKind::Retry, packet.len(), DropReason::Invalid);
        }
        self.stats.packets_received += 1;
        self.trace_retry_received(now, header, packet.len());
        // RFC 9000-8.1.2-1, 9000-8.1.3-6, 9000-8.1.3-1: in the place of a token of NEW_TOKEN. 9000-8.1.3-2: it is gone with
        // the connection.
        self.token = header.token(packet).to_vec();
        self.origin.retry_source = Some(header.source);
        // RFC 9000-17.2.5.1-3: and the keys of Initial packets follow from it (RFC 9001 section 5.2).
        self.origin.initial_destination = header.source;
        self.set_peer_id(header.source);
        let keys = self.initial_keys(self.version);
        if let Some(space) = self.space_mut(SpaceKind::Initial) {
            space.keys = Some(keys);
        }
        self.begin_again(now);
    }

    /// Whether a Retry packet is one of the server, and comes in time.
    fn admits_retry(&self, header: &Header, packet: &[u8]) -> bool {
        let length = packet.len() - wire::header::RETRY_TAG_LENGTH;
        let original = self.origin.original_destination;
        self.origin.side == Side::Client
            && self.progress == Progress::Handshaking
            // RFC 9000-17.2.5.2-1, 9000-17.2.5.2-2: once, and before any other packet.
            && self.stats.packets_received == 0
            && header.destination == self.local_ids.first()
            // RFC 9369 section 4.1: only in the version that this side began with.
            && header.version == self.origin.version
            // RFC 9000-17.2.5.1-2.
            && header.source != original
            // RFC 9000-17.2.5.2-4: one without a token is no header at all.
            && header.token_range().len() <= MAX_TOKEN
            // RFC 9000-17.2.5.2-3: only who has seen our first packet can make the tag.
            && header.retry_tag(packet)
                == Some(tls::retry_integrity_tag(
                    self.origin.version.0,
                    original.as_bytes(),
                    &packet[..length],
                ))
    }

    /// All that was sent goes out again, with a fresh state of recovery and with the numbers going on (RFC 9002 section
    /// 6.3).
    pub(super) fn begin_again(&mut self, now: Time) {
        // The time since the first Initial packet is taken for the RTT, in the place of the default.
        let oldest = self.space(SpaceKind::Initial).and_then(|space| space.sent.oldest());
        let rtt: Option<Duration> = oldest.map(|packet| now.since(packet.sent_at));
        for kind in [SpaceKind::Initial, SpaceKind::Data] {
            // RFC 9000-17.2.5.3-1, 9000-17.2.5.3-2, 9000-17.2.3-1: the same bytes under new numbers.
            self.lose_all(now, kind);
        }
        self.paths.begin_again(now, rtt);
    }
}
