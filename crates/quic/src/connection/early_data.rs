//! 0-RTT: data before the handshake completes (RFC 9001 sections 4.6 and 4.9.3, RFC 9000 section 7.4.1).

use super::Connection;
use super::establish::RememberedTerms;
use crate::error::TransportError;
use crate::event::Event;
use crate::resume::{RememberedSession, ZeroRtt, lowered, remembered};
use tls::EarlyData;
use units::Time;
use wire::{Code, TransportParameters};

/// illegal_parameter (RFC 8446 section 6).
const ILLEGAL_PARAMETER: u8 = 47;

/// The 0-RTT that a server has decided about.
fn offered(early: Option<&mut ZeroRtt>) -> &mut ZeroRtt {
    early.expect("a server decides only about 0-RTT that was offered")
}

impl Connection {
    /// Starts 0-RTT at a client that resumes a session, if that session permits it.
    pub(super) fn begin_early_data(
        &mut self,
        now: Time,
        RememberedTerms { parameters, alpn }: RememberedTerms,
    ) {
        let Some(sealer) = self.session.early_sealer() else { return };
        // RFC 9000-7.4.1-4, 9000-7.4.1-8: "a client MUST only use remembered transport parameters".
        self.limit_payload(parameters.max_udp_payload_size);
        self.set_stream_limits(now, &parameters);
        self.trace_restored(now, &parameters);
        self.return_capacity(&parameters);
        self.zero_rtt = Some(Box::new(ZeroRtt::offered(sealer, parameters, alpn)));
        self.trace_early_keys(now, true);
        self.events.push_back(Event::EarlyDataReady);
    }

    /// The state of 0-RTT according to TLS.
    pub fn early_data(&self) -> EarlyData {
        self.zero_rtt.as_ref().map_or(EarlyData::NotOffered, |early| early.status)
    }
    /// Whether the handshake resumes an earlier TLS session (RFC 8446 section 2.2).
    pub fn is_resumed(&self) -> bool {
        self.session.is_resumed()
    }
    /// The negotiated application protocol (RFC 7301). While a client sends 0-RTT data, it is that of the remembered
    /// session, which the server must select again to accept the data (RFC 8446 section 4.2.10).
    pub fn alpn(&self) -> Option<&[u8]> {
        let early = self.zero_rtt.as_ref().filter(|early| early.status == EarlyData::Offered);
        self.session.alpn().or(early.map(|early| &*early.alpn).filter(|alpn| !alpn.is_empty()))
    }

    /// The number of the first 1-RTT packet; all packets before it are 0-RTT packets.
    pub(super) fn first_one_rtt(&self) -> u64 {
        self.zero_rtt.as_ref().map_or(0, |early| early.first_one_rtt)
    }
    /// Whether a client may send 0-RTT packets.
    pub(super) fn sends_early_data(&self) -> bool {
        self.zero_rtt.as_ref().is_some_and(|early| early.sealer.is_some())
    }

    /// Sets the stream limits from the peer's transport parameters, new or remembered.
    pub(super) fn set_stream_limits(&mut self, now: Time, parameters: &TransportParameters) {
        self.streams.set_peer_parameters(now, parameters);
    }

    /// Installs the 0-RTT keys at a server, if TLS has them now.
    pub(super) fn accept_early_data(&mut self, now: Time) {
        if self.zero_rtt.is_none()
            && let Some(opener) = self.session.early_opener()
        {
            self.zero_rtt = Some(Box::new(ZeroRtt::accepted(opener)));
            self.trace_early_keys(now, true);
            self.events.push_back(Event::EarlyDataAccepted);
        }
    }
    /// Handles the server's decision about 0-RTT at a client, if TLS has it now. `parameters` are the peer's, once
    /// known and before they are applied.
    pub(super) fn settle_early_data(
        &mut self,
        now: Time,
        parameters: Option<&TransportParameters>,
    ) -> Result<(), TransportError> {
        let status = self.session.early_data();
        if self.early_data() != EarlyData::Offered || status == EarlyData::Offered {
            return Ok(());
        }
        // RFC 9000-7.4.1-8, 9000-17.2.3-2: no "updated values that it learns from the server's updated
        // transport parameters", so no more 0-RTT packets are sent; their keys are discarded (RFC 9001 section
        // 4.9.3).
        self.give_up_early_data(now);
        // A HelloRetryRequest rejects 0-RTT before the server sends its parameters.
        let Some(parameters) = parameters else { return Ok(()) };
        match status {
            EarlyData::Accepted => self.on_early_data_accepted(parameters),
            _ => self.on_early_data_rejected(now, parameters),
        }
    }

    /// Stops sending 0-RTT packets at a client.
    pub(super) fn give_up_early_data(&mut self, now: Time) {
        let next = self.next_number();
        if let Some(early) = self.zero_rtt.as_deref_mut()
            && early.sealer.take().is_some()
        {
            early.first_one_rtt = next;
            self.trace_early_keys(now, false);
        }
    }

    fn on_early_data_accepted(&mut self, parameters: &TransportParameters) -> Result<(), TransportError> {
        let early = offered(self.zero_rtt.as_deref_mut());
        early.status = EarlyData::Accepted;
        if self.session.alpn().unwrap_or_default() != early.alpn {
            let reason = "0-RTT was accepted for another application protocol";
            return Err(TransportError::new(Code::crypto(ILLEGAL_PARAMETER), reason));
        }
        // RFC 9000-7.4.1-5, 9000-7.4.1-6: "MUST NOT reduce any limits".
        if let Some(name) = lowered(&early.remembered, parameters) {
            let reason = format!("0-RTT was accepted, but {name} is lower than before");
            return Err(TransportError::new(Code::PROTOCOL_VIOLATION, reason));
        }
        self.events.push_back(Event::EarlyDataAccepted);
        Ok(())
    }

    /// RFC 9001 section 4.6.2: "The client therefore MUST reset the state of all streams". Written data is kept and
    /// sent again, unless the application protocol differs (RFC 8446 section 4.2.10) or the server permits fewer
    /// streams.
    fn on_early_data_rejected(
        &mut self,
        now: Time,
        parameters: &TransportParameters,
    ) -> Result<(), TransportError> {
        let early = offered(self.zero_rtt.as_deref_mut());
        early.status = EarlyData::Rejected;
        let same = self.session.alpn().unwrap_or_default() == early.alpn;
        self.resend_early_data(now);
        let resent = same && self.streams.fit(parameters);
        if resent {
            self.streams.rewind();
        } else {
            let config = &self.config.scheduler;
            let scheduler = crate::schedule::build(config.name, &config.arguments)
                .ok_or_else(|| TransportError::new(Code::INTERNAL_ERROR, "no such scheduler"))?;
            self.streams.forget(scheduler);
        }
        self.events.push_back(Event::EarlyDataRejected { resent });
        Ok(())
    }

    /// RFC 9001 section 4.9.3: the first 1-RTT packet ends 0-RTT. Reordered 0-RTT packets are accepted for three more
    /// probe timeouts.
    #[cold]
    pub(super) fn on_one_rtt_packet(&mut self, now: Time) {
        let wait = self.probe_timeout() * 3;
        if let Some(early) = self.zero_rtt.as_deref_mut().filter(|early| early.opener.is_some()) {
            early.discard_at.get_or_insert(now + wait);
        }
    }

    /// Discards the 0-RTT keys when they have expired.
    #[cold]
    pub(super) fn discard_early_keys(&mut self, now: Time) {
        let early = self.zero_rtt.as_deref_mut();
        let early = early.expect("the keys of 0-RTT expire only where 0-RTT was used");
        if early.discard_at.is_some_and(|at| at <= now) {
            (early.opener, early.discard_at) = (None, None);
            self.trace_early_keys(now, false);
        }
    }

    /// Stores the tickets that TLS has received since the handshake.
    pub(super) fn remember_sessions(&mut self) {
        let Some(peer) = self.peer.as_ref().filter(|_| self.tokens.remembers()) else { return };
        for ticket in self.session.take_tickets() {
            let session = RememberedSession {
                ticket,
                parameters: remembered(peer),
                alpn: self.session.alpn().unwrap_or_default().to_vec(),
                version: self.versions.in_use(),
            };
            self.tokens.remember_session(session);
        }
    }
}
