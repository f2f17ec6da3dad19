//! One end of a real TLS 1.3 exchange: rustls, with the randomness and the key log of this session.

use crate::error::{Alert, Error, code};
use crate::framing::Part;
use crate::key_log::Secret;
use crate::keys::{KeyChange, Keys, PacketKeys};
use crate::lent::{Lent, lend};
use crate::outbox::Outbox;
use random::Stream;
use rustls::pki_types::ServerName;
use rustls::quic::{self, ClientConnection, Connection, ServerConnection, Version};
use rustls::{AlertDescription, ClientConfig, ServerConfig};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use units::Time;

/// One end.
pub(crate) struct Real {
    connection: Connection,
    /// Always there between calls.
    lent: Option<Lent>,
    /// The date at time zero.
    epoch: Duration,
    next: Option<quic::Secrets>,
}

/// What an end begins with.
pub(crate) struct Opening {
    pub(crate) random: Stream,
    pub(crate) now: Time,
    /// The date at time zero.
    pub(crate) epoch: Duration,
    pub(crate) version: Version,
    pub(crate) parameters: Vec<u8>,
}

impl Real {
    pub(crate) fn client(
        config: &Arc<ClientConfig>,
        name: ServerName<'static>,
        opening: Opening,
        outbox: &mut Outbox,
    ) -> Result<Real, Error> {
        let Opening { random, now, epoch, version, parameters } = opening;
        let mut lent = Some(Lent { random, date: date(epoch, now), secrets: Vec::new() });
        let make = || ClientConnection::new(config.clone(), version, name, parameters);
        let connection = lend(&mut lent, make)?.into();
        let mut real = Real { connection, lent, epoch, next: None };
        real.drain(outbox);
        Ok(real)
    }

    pub(crate) fn server(config: &Arc<ServerConfig>, opening: Opening) -> Result<Real, Error> {
        let Opening { random, now, epoch, version, parameters } = opening;
        let mut lent = Some(Lent { random, date: date(epoch, now), secrets: Vec::new() });
        let make = || ServerConnection::new(config.clone(), version, parameters);
        let connection = lend(&mut lent, make)?.into();
        Ok(Real { connection, lent, epoch, next: None })
    }

    pub(crate) fn read(&mut self, now: Time, part: &Part<'_>, outbox: &mut Outbox) -> Result<(), Alert> {
        if let Some(lent) = &mut self.lent {
            lent.date = date(self.epoch, now);
        }
        let connection = &mut self.connection;
        if let Err(error) = lend(&mut self.lent, || connection.read_hs(part.raw)) {
            return Err(alert(connection.alert(), &error));
        }
        if part.complete {
            self.drain(outbox);
        }
        Ok(())
    }

    /// Takes out at once what the library has to say, so that it is known when the level of what is read changes.
    fn drain(&mut self, outbox: &mut Outbox) {
        loop {
            let mut bytes = Vec::new();
            let connection = &mut self.connection;
            let change = match lend(&mut self.lent, || connection.write_hs(&mut bytes)) {
                None if bytes.is_empty() => return,
                None => None,
                Some(quic::KeyChange::Handshake { keys }) => Some(KeyChange::Handshake(Keys::from(keys))),
                Some(quic::KeyChange::OneRtt { keys, next }) => {
                    self.next = Some(next);
                    Some(KeyChange::OneRtt(Keys::from(keys)))
                }
            };
            outbox.push(bytes, change);
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        !self.connection.is_handshaking()
    }
    pub(crate) fn peer_parameters(&self) -> Option<&[u8]> {
        self.connection.quic_transport_parameters()
    }
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn_protocol()
    }
    pub(crate) fn take_secrets(&mut self) -> Vec<Secret> {
        self.lent.as_mut().map(|lent| std::mem::take(&mut lent.secrets)).unwrap_or_default()
    }
    pub(crate) fn next_keys(&mut self) -> Option<PacketKeys> {
        self.next.as_mut().map(|secrets| secrets.next_packet_keys().into())
    }
}

fn date(epoch: Duration, now: Time) -> Duration {
    epoch.saturating_add(Duration::from_nanos(now.as_nanos()))
}

/// The alert that the library wants to send, or the one that its error means where it leaves the choice to us.
fn alert(description: Option<AlertDescription>, error: &rustls::Error) -> Alert {
    let code = match (description, error) {
        (Some(description), _) => description.into(),
        (None, rustls::Error::InvalidMessage(_)) => code::DECODE_ERROR,
        (None, rustls::Error::PeerMisbehaved(_)) => code::ILLEGAL_PARAMETER,
        (None, rustls::Error::PeerIncompatible(_)) => code::HANDSHAKE_FAILURE,
        (None, rustls::Error::InvalidCertificate(_)) => code::BAD_CERTIFICATE,
        (None, rustls::Error::NoApplicationProtocol) => code::NO_APPLICATION_PROTOCOL,
        (None, _) => code::INTERNAL_ERROR,
    };
    Alert::new(code, error.to_string())
}

impl fmt::Debug for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Real").field("complete", &self.is_complete()).finish_non_exhaustive()
    }
}
