//! Key updates (RFC 9001 section 6): when this endpoint initiates one, and how it handles packets of another key
//! phase.

use super::Connection;
use crate::error::{CloseReason, TransportError};
use crate::key_phase::{KeyUse, OtherPhase};
use crate::space::SpaceKind;
use trace::event::DropReason;
use units::Time;
use wire::Code;

impl Connection {
    /// Requests an update of the packet protection keys. It happens with the first packet that may start one: the
    /// handshake must be confirmed, a packet of the current key phase acknowledged, and the previous update finished
    /// (RFC 9001 sections 6.1 and 6.5).
    pub fn update_keys(&mut self) {
        self.keys.phases.request();
    }

    /// Derives the next keys ahead of time, once the handshake is complete.
    pub(super) fn prepare_next_keys(&mut self) {
        self.keys.prepare(self.session.next_keys());
    }

    /// Whether a 1-RTT packet may be sealed; updates the keys first if that is due.
    #[inline]
    pub(super) fn may_seal(&mut self, now: Time) -> bool {
        !self.keys.phases.is_due() || self.check_key_use(now)
    }
    #[cold]
    fn check_key_use(&mut self, now: Time) -> bool {
        match self.keys.before_sealing(now, self.probe_timeout()) {
            KeyUse::Fine => true,
            KeyUse::Update => {
                self.advance_keys(now, None);
                true
            }
            KeyUse::Exhausted => {
                // RFC 9001 section 6.6: nothing more may be sent, not even the reason.
                let reason = "the confidentiality limit of the key is reached";
                let error = TransportError::new(Code::AEAD_LIMIT_REACHED, reason);
                self.begin_draining(now, CloseReason::Transport(error));
                false
            }
        }
    }

    /// Starts the next key phase in both directions, on this endpoint's initiative or because of the received packet
    /// with this number.
    fn advance_keys(&mut self, now: Time, received: Option<u64>) {
        let next_number = self.next_number();
        self.keys.advance(now, self.probe_timeout(), next_number, received);
        self.prepare_next_keys();
        self.note_key_update(now);
    }

    /// Opens a 1-RTT packet whose key phase is not the current one: an update has overtaken it, or it starts one.
    #[cold]
    pub(super) fn open_other_phase(
        &mut self,
        now: Time,
        number: u64,
        bytes: &mut [u8],
        start: usize,
    ) -> Result<usize, DropReason> {
        let likely = self.keys.phases.other(number);
        // A failed attempt destroys the packet.
        let kept = bytes.to_vec();
        if likely == OtherPhase::Next {
            let next = self.keys.phases.next.as_ref().map(|keys| keys.remote.open(number, bytes, start));
            if let Some(Ok(length)) = next {
                if !self.keys.phases.may_follow() {
                    // RFC 9001 section 6.2: a second update without an acknowledgement in between.
                    self.fail_update(now, "key update before the previous one was acknowledged");
                    return Err(DropReason::Invalid);
                }
                self.advance_keys(now, Some(number));
                self.keys.phases.opened_previous = false;
                return Ok(length);
            }
            bytes.copy_from_slice(&kept);
        }
        let tried = likely == OtherPhase::Next && self.keys.phases.next.is_some();
        let Some(previous) = self.keys.phases.previous(now) else {
            return Err(if tried { DropReason::DecryptionFailure } else { DropReason::KeyUnavailable });
        };
        let length = previous.open(number, bytes, start).map_err(|_| DropReason::DecryptionFailure)?;
        if likely == OtherPhase::Next {
            // RFC 9001 section 6.4: a higher packet number with older keys.
            self.fail_update(now, "old keys in a packet sent after one with new keys");
            return Err(DropReason::Invalid);
        }
        self.keys.phases.opened_previous = true;
        Ok(length)
    }

    /// Checks an ACK frame for 1-RTT packets up to `largest`.
    #[inline]
    pub(super) fn check_acked_keys(&mut self, now: Time, largest: u64) -> Result<(), TransportError> {
        if self.keys.phases.on_acked(now, largest) {
            let reason = "a packet with new keys was acknowledged in one with old keys";
            return Err(TransportError::new(Code::KEY_UPDATE_ERROR, reason));
        }
        Ok(())
    }
    /// Discards the keys of a handshake space (RFC 9001 section 4.9).
    pub(super) fn discard_keys(&mut self, now: Time, kind: SpaceKind) {
        self.keys.discard(kind);
        self.trace_keys_discarded(now, kind);
    }
    /// Whether 1-RTT packets may stay typed.
    #[inline]
    pub(super) fn may_stay_typed(&self) -> bool {
        self.keys.may_stay_typed()
    }
    /// Whether a space has keys.
    #[inline]
    pub(super) fn has_keys(&self, kind: SpaceKind) -> bool {
        self.keys.get(kind).is_some()
    }

    fn fail_update(&mut self, now: Time, reason: &'static str) {
        self.fail(now, TransportError::new(Code::KEY_UPDATE_ERROR, reason));
    }

    /// Counts a packet that failed authentication. RFC 9001 section 6.6 limits the number of forgery attempts.
    #[cold]
    pub(super) fn note_open_failure(&mut self, now: Time) {
        if self.keys.phases.on_failure() {
            let reason = "too many packets failed authentication";
            self.fail(now, TransportError::new(Code::AEAD_LIMIT_REACHED, reason));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{CloseReason, Config, Datagram, Endpoint, EndpointOptions, Handle, Opening};
    use random::Generator;
    use std::sync::Arc;
    use units::Time;
    use wire::{Code, Ecn};

    const CLIENT: &str = "10.0.0.1:1";
    const SERVER: &str = "10.0.0.2:2";

    /// Exchanges datagrams until neither endpoint sends any.
    fn settle(client: &mut Endpoint, server: &mut Endpoint) -> Option<Handle> {
        let (mut quiet, mut accepted) = (false, None);
        while !quiet {
            quiet = true;
            for from_client in [true, false] {
                let (from, to) =
                    if from_client { (&mut *client, &mut *server) } else { (&mut *server, &mut *client) };
                accepted = accepted.or_else(|| if from_client { None } else { from.next_active() });
                let mut bytes = Vec::new();
                while let Some(transmit) = from.transmit(Time::ZERO, &mut bytes) {
                    let datagram = Datagram {
                        local: transmit.remote,
                        remote: transmit.local,
                        ecn: Ecn::NotEct,
                        bytes: &mut bytes,
                        hole: transmit.hole,
                        damage: None,
                    };
                    to.receive(Time::ZERO, datagram);
                    bytes.clear();
                    quiet = false;
                }
            }
        }
        accepted
    }

    /// RFC 9001 section 6.4: a client that returns to the keys of the previous phase.
    #[test]
    fn old_keys_after_new_ones_are_refused() {
        let context = tls::Context::new(&tls::Options::default(), &[b"test"], 1).unwrap();
        let config = Arc::new(Config::default());
        let accept = Some(config.clone());
        let options =
            EndpointOptions { accept, ..EndpointOptions::new(SERVER.parse().unwrap(), context.clone()) };
        let mut server = Endpoint::new(options, Generator::new(1, "server"));
        let options = EndpointOptions::new(CLIENT.parse().unwrap(), context);
        let mut client = Endpoint::new(options, Generator::new(1, "client"));
        let opening = Opening::new(SERVER.parse().unwrap(), config);
        let handle = client.connect(Time::ZERO, opening).unwrap();
        let at_server = settle(&mut client, &mut server).unwrap();

        let ping = |client: &mut Endpoint, server: &mut Endpoint| {
            client.get_mut(handle).unwrap().spaces.data.ping = true;
            settle(client, server);
        };
        let connection = client.get_mut(handle).unwrap();
        let next = connection.keys.phases.next.take().unwrap();
        let old = connection.keys.data_mut().unwrap().local.update(next.local);
        connection.keys.phases.bit = true;
        // The responses use the next keys, too.
        connection.keys.data_mut().unwrap().remote.update(next.remote);
        ping(&mut client, &mut server);
        let connection = server.get(at_server).unwrap();
        assert_eq!((connection.stats().key_updates, connection.close_reason()), (1, None));

        let connection = client.get_mut(handle).unwrap();
        connection.keys.data_mut().unwrap().local.update(old);
        connection.keys.phases.bit = false;
        ping(&mut client, &mut server);
        let reason = server.get(at_server).unwrap().close_reason();
        assert!(
            matches!(reason, Some(CloseReason::Transport(error)) if error.code == Code::KEY_UPDATE_ERROR),
            "{reason:?}"
        );
    }
}
