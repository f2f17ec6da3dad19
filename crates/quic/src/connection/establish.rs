//! The handshake of a connection: TLS messages, keys, transport parameters (RFC 9000 section 7, RFC 9001 section 4).

use super::{Connection, Origin, Progress};
use crate::config::Config;
use crate::error::TransportError;
use crate::event::Event;
use crate::handshake::CryptoStream;
use crate::ids::LocalIds;
use crate::opening::Opening;
use crate::resume::{RememberedServer, RememberedSession, admits, terms};
use crate::sent::SentFrame;
use crate::space::SpaceKind;
use congestion::TicketKey;
use std::net::SocketAddr;
use tls::KeyChange;
use units::Time;
use wire::{Code, ConnectionId, Side, TransportParameters, Version};

impl Connection {
    /// Client or server.
    pub fn side(&self) -> Side {
        self.origin.side
    }
    /// Whether the handshake is complete.
    pub fn is_established(&self) -> bool {
        self.progress >= Progress::Complete
    }
    /// The transport parameters of the peer, once they are known.
    pub fn peer_parameters(&self) -> Option<&TransportParameters> {
        self.peer.as_ref()
    }
    /// Takes the TLS secrets that are new since the last call, for captures.
    pub fn take_secrets(&mut self) -> Vec<tls::Secret> {
        self.session.take_secrets()
    }
    /// At a server: the source address and the destination id of the client's first packet.
    pub(crate) fn initial_key(&self) -> (SocketAddr, ConnectionId) {
        (self.origin.remote, self.origin.initial_destination)
    }

    /// Whether the peer has certainly validated this endpoint's address (RFC 9002 section A.6). `handshake_acked`: it
    /// has acknowledged a Handshake packet, or the Handshake space is discarded.
    pub(super) fn peer_completed_validation(&self, handshake_acked: bool) -> bool {
        self.origin.side == Side::Server || self.progress == Progress::Confirmed || handshake_acked
    }
    /// Whether packets of the data space may be sent. A client sends no 1-RTT packets before its handshake is
    /// complete.
    #[inline]
    pub(super) fn may_send_data(&self) -> bool {
        self.crypto.level() == SpaceKind::Data
            && (self.progress != Progress::Handshaking || self.origin.side == Side::Server)
            || self.sends_early_data()
    }

    /// Handles CRYPTO (RFC 9000 section 19.6).
    pub(super) fn on_crypto(
        &mut self,
        now: Time,
        kind: SpaceKind,
        offset: u64,
        data: &[u8],
    ) -> Result<(), TransportError> {
        let left = match kind {
            SpaceKind::Initial => self.crypto.level() != SpaceKind::Initial,
            SpaceKind::Handshake => self.progress >= Progress::Complete,
            SpaceKind::Data => false,
        };
        let level = self.crypto.level();
        let Some(stream) = self.crypto.streams.get_mut(kind) else { return Ok(()) };
        if kind == SpaceKind::Initial
            && level != SpaceKind::Initial
            && self.origin.side == Side::Server
            && !data.is_empty()
            && !stream.is_new(offset, data.len())
        {
            self.repeat_flight(now);
            return Ok(());
        }
        // RFC 9001 section 4.1.3: a level that TLS has left carries no new data.
        if left && stream.is_new(offset, data.len()) {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "new CRYPTO data at an earlier encryption level",
            ));
        }
        stream.receive(offset, data)?;
        stream.feed(now, kind.level(), &mut self.session)?;
        // RFC 9001 section 4.1.3: TLS has moved to new keys, so no data may be left at the old level.
        self.drive_handshake(now)?;
        if kind == SpaceKind::Data {
            self.remember_sessions();
        }
        if self.crypto.level() != level && self.crypto.streams.get(level).is_some_and(CryptoStream::has_gap) {
            return Err(TransportError::new(
                Code::PROTOCOL_VIOLATION,
                "CRYPTO data is left over at an earlier encryption level",
            ));
        }
        Ok(())
    }

    /// Handles HANDSHAKE_DONE (RFC 9000 section 19.20).
    pub(super) fn on_handshake_done(&mut self, now: Time) -> Result<(), TransportError> {
        // RFC 9000-19.20-2: "A server MUST treat receipt of a HANDSHAKE_DONE frame as a connection error".
        if self.origin.side == Side::Server {
            return Err(TransportError::new(Code::PROTOCOL_VIOLATION, "HANDSHAKE_DONE from a client"));
        }
        if self.progress == Progress::Complete {
            self.confirm_handshake(now);
        }
        Ok(())
    }
    /// Handles NEW_TOKEN (RFC 9000 section 19.7).
    pub(super) fn on_new_token(&mut self, token: &[u8]) -> Result<(), TransportError> {
        // RFC 9000-19.7-4: "A server MUST treat receipt of a NEW_TOKEN frame as a connection error".
        if self.origin.side == Side::Server {
            return Err(TransportError::new(Code::PROTOCOL_VIOLATION, "NEW_TOKEN from a client"));
        }
        self.tokens.remember_token(self.versions.in_use(), token);
        Ok(())
    }

    /// Takes the handshake messages to send from TLS, and installs its new keys.
    pub(super) fn drive_handshake(&mut self, now: Time) -> Result<(), TransportError> {
        if self.session.version() != self.versions.in_use().0 {
            self.adopt_choice();
        }
        loop {
            let mut bytes = Vec::new();
            let change = self.session.write(&mut bytes);
            if self.peer.is_none()
                && let Some(encoded) = self.session.peer_parameters()
            {
                let parameters =
                    TransportParameters::decode(encoded, self.origin.side.peer()).map_err(|error| {
                        TransportError::new(Code::TRANSPORT_PARAMETER_ERROR, error.to_string())
                    })?;
                self.read_early_data(now, Some(&parameters))?;
                self.set_peer_parameters(now, parameters)?;
            }
            if self.zero_rtt.is_some() && self.peer.is_none() {
                self.read_early_data(now, None)?;
            }
            let wrote = !bytes.is_empty();
            if wrote {
                self.crypto.write(&bytes);
            }
            match change {
                Some(KeyChange::Handshake(keys)) => {
                    self.crypto.enter(SpaceKind::Handshake);
                    self.keys.set_handshake_keys(SpaceKind::Handshake, keys);
                    self.trace_keys(now, SpaceKind::Handshake);
                }
                Some(KeyChange::OneRtt(keys, ..)) => {
                    self.crypto.enter(SpaceKind::Data);
                    self.keys.begin_phases(keys);
                    self.trace_keys(now, SpaceKind::Data);
                }
                None if !wrote => break,
                None => {}
            }
        }
        let level = self.crypto.level();
        if self.progress == Progress::Handshaking && self.session.is_complete() && level == SpaceKind::Data {
            self.complete_handshake(now)?;
        }
        Ok(())
    }
    fn read_early_data(
        &mut self,
        now: Time,
        parameters: Option<&TransportParameters>,
    ) -> Result<(), TransportError> {
        match self.origin.side {
            Side::Client => self.settle_early_data(now, parameters),
            Side::Server => {
                self.accept_early_data(now);
                Ok(())
            }
        }
    }

    fn complete_handshake(&mut self, now: Time) -> Result<(), TransportError> {
        if self.peer.is_none() {
            // RFC 9001 section 8.2.
            return Err(TransportError::new(Code::crypto(109), "transport parameters are missing"));
        }
        self.progress = Progress::Complete;
        self.prepare_next_keys();
        self.trace_state(now, "handshake_complete");
        self.events.push_back(Event::Connected);
        self.top_up_ids();
        self.tokens.remember_version(self.versions.in_use());
        if self.acks.asks() {
            self.control.ask(SentFrame::AckFrequency);
        }
        if self.origin.side == Side::Server {
            // RFC 9001 section 4.1.2: at a server, a complete handshake is confirmed.
            // RFC 9000-19.20-1: not "before completing the handshake".
            self.control.ask(SentFrame::HandshakeDone);
            // A client's address does not change before the handshake is confirmed.
            let ip = self.origin.remote.ip();
            for index in 0..self.tokens.issue(now, ip, self.versions.in_use()) {
                self.control.ask(SentFrame::NewToken { index });
            }
            self.confirm_handshake(now);
        }
        Ok(())
    }

    /// An issued token.
    pub(super) fn issued_token(&self, index: u8) -> Option<&[u8]> {
        self.tokens.issued(index)
    }
    /// Issues as many connection ids as the peer accepts.
    pub(super) fn top_up_ids(&mut self) {
        let limit = self.peer.as_ref().map_or(2, |peer| peer.active_connection_id_limit);
        let control = &mut self.control;
        self.local_ids.top_up(limit, |sequence| control.ask(SentFrame::NewConnectionId { sequence }));
    }

    fn confirm_handshake(&mut self, now: Time) {
        if self.progress != Progress::Confirmed {
            self.progress = Progress::Confirmed;
            // RFC 9001 section 4.9: the Initial keys are already discarded, unless a peer confirms too early.
            self.discard_space(now, SpaceKind::Initial);
            self.discard_space(now, SpaceKind::Handshake);
            self.keys.on_confirmed();
            self.trace_state(now, "handshake_confirmed");
            self.confirm_path(now);
        }
    }

    fn set_peer_parameters(&mut self, now: Time, peer: TransportParameters) -> Result<(), TransportError> {
        let mismatch = |what| Err(TransportError::new(Code::TRANSPORT_PARAMETER_ERROR, what));
        // RFC 9000-7.3-2, 9000-7.3-3, 9000-7.3-4: "received transport parameters match received connection ID
        // values".
        if peer.initial_source_connection_id != self.origin.peer_id {
            return mismatch("initial_source_connection_id does not match");
        }
        if self.origin.side == Side::Client {
            if peer.original_destination_connection_id != Some(self.origin.original_destination) {
                return mismatch("original_destination_connection_id does not match");
            }
            if peer.retry_source_connection_id != self.origin.retry_source {
                return mismatch("retry_source_connection_id does not match");
            }
        }
        self.versions.check(peer.version_information)?;
        self.idle.on_peer_parameters(peer.max_idle_timeout_ms);
        self.acks.on_peer_parameters(&peer);
        self.set_path_limits(&peer);
        self.set_stream_limits(now, &peer);
        if let Some(variety) = &mut self.variety {
            variety.on_peer_parameters(peer.grease_quic_bit);
        }
        let theirs = peer.version_information.map(|theirs| theirs.available).unwrap_or_default();
        self.trace_versions(now, theirs, Some(self.versions.in_use()));
        self.trace_parameters(now, &peer);
        self.peer = Some(peer);
        self.recall_ticket(now);
        Ok(())
    }
}

/// What a client remembers of an earlier connection for 0-RTT: the server's transport parameters and the application
/// protocol.
pub(super) struct RememberedTerms {
    pub parameters: TransportParameters,
    pub alpn: Vec<u8>,
}

/// The remembered session of a client with the server in this version (RFC 9369 section 5).
pub(super) fn recall(
    opening: &Opening,
    remembered: Option<&RememberedServer>,
    version: Version,
) -> Option<RememberedSession> {
    let known = remembered.filter(|_| opening.resume)?;
    known.memory.take_session(&known.server, version)
}

/// Starts a client's TLS session. Also returns the terms for 0-RTT if it resumes an earlier session.
pub(super) fn start_client(
    context: &tls::Context,
    start: tls::Start,
    opening: &Opening,
    remembered: Option<RememberedSession>,
) -> Result<(tls::Session, Option<RememberedTerms>), TransportError> {
    let (ticket, relied_on) = match remembered {
        Some(RememberedSession { ticket, parameters, alpn, .. }) => {
            (Some(ticket), Some(RememberedTerms { parameters, alpn }))
        }
        None => (None, None),
    };
    let server_name = opening.server_name.as_deref();
    let request = tls::Request { server_name, ticket, early_data: opening.early_data };
    Ok((context.client(start, request).map_err(no_session)?, relied_on))
}

/// Starts a server's TLS session. Its tickets record the transport parameters that it sends now, and a key.
pub(super) fn start_server(
    context: &tls::Context,
    start: tls::Start,
    tickets: Option<tls::TicketStore>,
    key: TicketKey,
    parameters: &TransportParameters,
) -> Result<tls::Session, TransportError> {
    // RFC 9000-7.4.1-5, 9000-7.4.1-7: "the server MUST NOT reduce any limits".
    let admission = tickets.map(|store| tls::Admission::new(store, terms(parameters, key).into(), admits));
    context.server(start, admission).map_err(no_session)
}

pub(super) fn no_session(error: tls::Error) -> TransportError {
    TransportError::new(Code::INTERNAL_ERROR, error.to_string())
}

/// The transport parameters of this endpoint (RFC 9000 section 18.2).
pub(super) fn local_parameters(config: &Config, origin: &Origin, ids: &LocalIds) -> TransportParameters {
    TransportParameters {
        // RFC 9000-7.3-1: "MUST match the values that an endpoint used" in its headers.
        initial_source_connection_id: Some(ids.first()),
        // RFC 9000-18.2-1, 9000-18.2-8: "MUST NOT be sent by a client".
        original_destination_connection_id: (origin.side == Side::Server)
            .then_some(origin.original_destination),
        // RFC 9000 section 7.3: present at a server that has sent a Retry.
        retry_source_connection_id: origin.retry_source,
        stateless_reset_token: (origin.side == Side::Server).then(|| ids.first_token()),
        ..config.parameters()
    }
}
