//! The TLS of the crate `tls` for quinn-proto.

use super::keys::{keys, packet_keys};
use super::seeds::Draws;
use quinn_proto::crypto::{self, ExportKeyingMaterialError, KeyPair, Keys, UnsupportedVersion};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ConnectError, ConnectionId, Side, TransportError, TransportErrorCode};
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use tls::{Context, KeyChange, Request, Start};
use units::Time;

/// The QUIC version.
const VERSION: u32 = 1;

/// The configuration of sessions at either end.
pub(crate) struct Sessions {
    context: Context,
    draws: Draws,
    secrets: Secrets,
}

/// New lines of SSLKEYLOGFILE.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
    fn add(&self, session: &mut tls::Session) {
        let secrets = session.take_secrets();
        if !secrets.is_empty() {
            let lines = secrets.iter().map(ToString::to_string);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(lines);
        }
    }
}

/// One end of a handshake.
struct QuinnSession {
    inner: Mutex<tls::Session>,
    protection: tls::Protection,
    side: Side,
    secrets: Secrets,
}

impl Sessions {
    pub(crate) fn new(context: Context, draws: Draws, secrets: Secrets) -> Sessions {
        Sessions { context, draws, secrets }
    }

    fn start(&self, parameters: &TransportParameters) -> Start {
        let mut written = Vec::with_capacity(128);
        parameters.write(&mut written);
        Start::new(self.draws.fork("session"), VERSION, written)
    }

    fn session(&self, mut inner: tls::Session, side: Side) -> Box<dyn crypto::Session> {
        self.secrets.add(&mut inner);
        Box::new(QuinnSession {
            inner: Mutex::new(inner),
            protection: self.context.protection(),
            side,
            secrets: self.secrets.clone(),
        })
    }
}

fn initial(protection: tls::Protection, version: u32, id: &ConnectionId, side: Side) -> Keys {
    let side = if side.is_client() { tls::Side::Client } else { tls::Side::Server };
    keys(tls::initial_keys(protection, version, id, side))
}

impl crypto::ClientConfig for Sessions {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        if version != VERSION {
            return Err(ConnectError::UnsupportedVersion);
        }
        let request = Request { server_name: Some(server_name), ticket: None, early_data: false };
        let inner = self.context.client(self.start(parameters), request);
        let inner = inner.map_err(|_| ConnectError::InvalidServerName(server_name.to_owned()))?;
        Ok(self.session(inner, Side::Client))
    }
}

impl crypto::ServerConfig for Sessions {
    fn initial_keys(&self, version: u32, id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        if version != VERSION {
            return Err(UnsupportedVersion);
        }
        Ok(initial(self.context.protection(), version, id, Side::Server))
    }
    fn retry_tag(&self, version: u32, original_destination: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        tls::retry_integrity_tag(version, original_destination, packet)
    }
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn crypto::Session> {
        let inner = self.context.server(self.start(parameters), None);
        // The version is supported, the parameters are short, and the context of a scenario has an identity.
        self.session(inner.expect("a server of this context can be made"), Side::Server)
    }
}

impl QuinnSession {
    fn get_mut(&mut self) -> &mut tls::Session {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
    fn ask<T>(&self, ask: impl FnOnce(&tls::Session) -> T) -> T {
        ask(&self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl crypto::Session for QuinnSession {
    fn initial_keys(&self, id: &ConnectionId, side: Side) -> Keys {
        initial(self.protection, VERSION, id, side)
    }
    /// The application protocol.
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.ask(|session| session.alpn().map(|alpn| Box::new(alpn.to_vec()) as Box<dyn Any>))
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }
    fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn crypto::PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        self.side.is_client().then_some(false)
    }
    fn is_handshaking(&self) -> bool {
        self.ask(|session| !session.is_complete())
    }
    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        let session = self.get_mut();
        // quinn-proto accepts handshake bytes of the current level only.
        let level = session.read_level();
        let read = session.read(Time::ZERO, level, bytes);
        read.map(|()| false).map_err(|alert| TransportError {
            code: TransportErrorCode::crypto(alert.code),
            frame: None,
            reason: alert.reason.clone(),
        })
    }
    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let encoded = self.ask(|session| session.peer_parameters().map(<[u8]>::to_vec));
        let Some(encoded) = encoded else { return Ok(None) };
        Ok(Some(TransportParameters::read(self.side, &mut &encoded[..])?))
    }
    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        let change = self.get_mut().write(out);
        let secrets = self.secrets.clone();
        secrets.add(self.get_mut());
        change.map(|(KeyChange::Handshake(all) | KeyChange::OneRtt(all))| keys(all))
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn crypto::PacketKey>>> {
        self.get_mut().next_keys().map(packet_keys)
    }
    fn is_valid_retry(&self, original_destination: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        let Some(end) = payload.len().checked_sub(tls::TAG_LENGTH) else { return false };
        let packet = [header, &payload[..end]].concat();
        tls::retry_integrity_tag(VERSION, original_destination, &packet) == payload[end..]
    }
    fn export_keying_material(
        &self,
        _output: &mut [u8],
        _label: &[u8],
        _context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}
