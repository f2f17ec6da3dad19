//! How a connection comes to be: what TLS says, keys, transport parameters (RFC 9000 section 7, RFC 9001 section 4).

use super::{Connection, Origin, Progress};
use crate::config::Config;
use crate::error::TransportError;
use crate::event::Event;
use crate::ids::LocalIds;
use crate::opening::Opening;
use crate::resume::{Remembering, Session, admits, terms};
use crate::sent::SentFrame;
use crate::space::SpaceKind;
use tls::KeyChange;
use units::{Duration, Time};
use wire::{Code, Side, TransportParameters, Version};

impl Connection {
    /// Takes out of TLS what it has to say, and installs the keys that it gives.
    pub(super) fn drive_handshake(&mut self, now: Time) -> Result<(), TransportError> {
        if self.session.version() != self.version.0 {
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
                self.settle_early_data(now, Some(&parameters))?;
                self.set_peer_parameters(now, parameters)?;
            }
            if self.zero_rtt.is_some() && self.peer.is_none() {
                self.settle_early_data(now, None)?;
            }
            let wrote = !bytes.is_empty();
            let level = self.write_level;
            if let Some(space) = self.space_mut(level).filter(|_| wrote) {
                space.crypto.write(&bytes);
            }
            match change {
                Some(KeyChange::Handshake(keys)) => {
                    self.write_level = SpaceKind::Handshake;
                    if let Some(space) = self.space_mut(SpaceKind::Handshake) {
                        space.keys = Some(keys);
                    }
                    self.trace_keys(now, SpaceKind::Handshake);
                }
                Some(KeyChange::OneRtt(keys, ..)) => {
                    self.write_level = SpaceKind::Data;
                    self.data.keys = Some(keys);
                    self.begin_key_phases();
                    self.trace_keys(now, SpaceKind::Data);
                }
                None if !wrote => break,
                None => {}
            }
        }
        if self.progress == Progress::Handshaking && self.session.is_complete() && self.data.keys.is_some() {
            self.complete_handshake(now)?;
        }
        Ok(())
    }

    fn complete_handshake(&mut self, now: Time) -> Result<(), TransportError> {
        if self.peer.is_none() {
            // RFC 9001 section 8.2.
            return Err(TransportError::new(Code::crypto(109), "no transport parameters"));
        }
        self.progress = Progress::Complete;
        self.prepare_next_keys();
        self.trace_state(now, "handshake_complete");
        self.events.push_back(Event::Connected);
        let limit = self.peer.as_ref().map_or(2, |peer| peer.active_connection_id_limit);
        let control = &mut self.control;
        self.local_ids.top_up(limit, |sequence| control.ask(SentFrame::NewConnectionId { sequence }));
        if let Some(remembering) = &self.remembering {
            remembering.memory.remember_version(&remembering.server, self.version);
        }
        self.ask_for_acknowledgements();
        if self.origin.side == Side::Server {
            // RFC 9001 section 4.1.2: to a server, complete is confirmed.
            // RFC 9000-19.20-1: complete.
            self.control.ask(SentFrame::HandshakeDone);
            self.issue_tokens(now);
            self.confirm_handshake(now);
        }
        Ok(())
    }

    pub(super) fn confirm_handshake(&mut self, now: Time) {
        if self.progress != Progress::Confirmed {
            self.progress = Progress::Confirmed;
            // RFC 9001 section 4.9: the keys of Initial packets are gone by now, unless a peer confirms too early.
            self.discard_space(now, SpaceKind::Initial);
            self.discard_space(now, SpaceKind::Handshake);
            self.trace_state(now, "handshake_confirmed");
            self.confirm_path(now);
        }
    }

    fn set_peer_parameters(&mut self, now: Time, peer: TransportParameters) -> Result<(), TransportError> {
        let mismatch = |what| Err(TransportError::new(Code::TRANSPORT_PARAMETER_ERROR, what));
        // RFC 9000-7.3-2, 9000-7.3-3, 9000-7.3-4: the ids in the parameters authenticate those of the headers.
        if peer.initial_source_connection_id != Some(self.paths.ids.current()) {
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
        self.check_versions(&peer)?;
        if peer.max_idle_timeout_ms > 0 {
            let theirs = Duration::from_millis(peer.max_idle_timeout_ms);
            self.idle_timeout = Some(self.idle_timeout.map_or(theirs, |ours| ours.min(theirs)));
        }
        self.paths.on_peer_parameters(&peer);
        self.streams.set_peer_parameters(now, &peer);
        if let Some(variety) = &mut self.variety {
            variety.on_peer_parameters(peer.grease_quic_bit);
        }
        let theirs = peer.version_information.map(|theirs| theirs.available).unwrap_or_default();
        self.trace_versions(now, theirs, Some(self.version));
        self.trace_parameters(now, &peer);
        self.peer = Some(peer);
        Ok(())
    }
}

/// What 0-RTT goes by: the server's transport parameters and the application protocol of an earlier connection.
pub(super) type ReliedOn = (TransportParameters, Vec<u8>);

/// What a client remembers of an earlier session with the server in this version (RFC 9369 section 5).
pub(super) fn recall(
    opening: &Opening,
    remembering: Option<&Remembering>,
    version: Version,
) -> Option<Session> {
    let known = remembering.filter(|_| opening.resume)?;
    known.memory.take_session(&known.server, version)
}

/// A client's TLS session, and what 0-RTT goes by if an earlier one is taken up.
pub(super) fn start_client(
    context: &tls::Context,
    start: tls::Start,
    opening: &Opening,
    remembered: Option<Session>,
) -> Result<(tls::Session, Option<ReliedOn>), TransportError> {
    let (ticket, relied_on) = match remembered {
        Some(Session { ticket, parameters, alpn, .. }) => (Some(ticket), Some((parameters, alpn))),
        None => (None, None),
    };
    let server_name = opening.server_name.as_deref();
    let request = tls::Request { server_name, ticket, early_data: opening.early_data };
    Ok((context.client(start, request).map_err(no_session)?, relied_on))
}

/// A server's TLS session. Its tickets keep the transport parameters that it now gives.
pub(super) fn start_server(
    context: &tls::Context,
    start: tls::Start,
    tickets: Option<tls::TicketStore>,
    parameters: &TransportParameters,
) -> Result<tls::Session, TransportError> {
    // RFC 9000-7.4.1-5, 9000-7.4.1-7: 0-RTT is taken only if no limit is lower than it was.
    let admission = tickets.map(|store| tls::Admission { store, terms: terms(parameters).into(), admits });
    context.server(start, admission).map_err(no_session)
}

pub(super) fn no_session(error: tls::Error) -> TransportError {
    TransportError::new(Code::INTERNAL_ERROR, error.to_string())
}

/// What this end tells the other (RFC 9000 section 18.2).
pub(super) fn local_parameters(config: &Config, origin: &Origin, ids: &LocalIds) -> TransportParameters {
    TransportParameters {
        // RFC 9000-7.3-1.
        initial_source_connection_id: Some(ids.first()),
        // RFC 9000-18.2-1, 9000-18.2-8: what only servers send.
        original_destination_connection_id: (origin.side == Side::Server)
            .then_some(origin.original_destination),
        // RFC 9000 section 7.3: set at a server that has sent a Retry.
        retry_source_connection_id: origin.retry_source,
        stateless_reset_token: (origin.side == Side::Server).then(|| ids.first_token()),
        ..config.parameters()
    }
}
