//! No cryptography for quinn-proto: a handshake whose messages have the usual sizes but negotiate nothing, and
//! keys that only reserve the 16 bytes of a tag.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, UnsupportedVersion,
};
use quinn_proto::transport_parameters::{self, TransportParameters};
use quinn_proto::{ClientConfig, ConnectError, ConnectionId, ServerConfig, Side, TransportError};

/// Bytes of an AEAD tag (RFC 9001 5.3) and of a header protection sample (RFC 9001 5.4.2).
const TAG: usize = 16;

/// The sizes of the messages of rustls with a small P-256 certificate.
const CLIENT_HELLO: usize = 280;
const SERVER_HELLO: usize = 90;
/// EncryptedExtensions, Certificate, CertificateVerify and Finished.
const SERVER_FLIGHT: usize = 700;
const FINISHED: usize = 36;

/// The configurations of both ends.
pub(super) fn configurations() -> (ClientConfig, ServerConfig) {
    (ClientConfig::new(Arc::new(Null)), ServerConfig::with_crypto(Arc::new(Null)))
}

/// Keys, and the configurations of both ends: they need no state.
struct Null;

fn keys() -> Keys {
    Keys { header: KeyPair { local: Box::new(Null), remote: Box::new(Null) }, packet: packet_keys() }
}

fn packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(Null), remote: Box::new(Null) }
}

impl HeaderKey for Null {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}
    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}
    fn sample_size(&self) -> usize {
        TAG
    }
}

impl PacketKey for Null {
    fn encrypt(&self, _packet: u64, _buffer: &mut [u8], _header_len: usize) {}
    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        payload.truncate(payload.len().checked_sub(TAG).ok_or(CryptoError)?);
        Ok(())
    }
    fn tag_len(&self) -> usize {
        TAG
    }
    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }
    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl crypto::ClientConfig for Null {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        parameters: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        Ok(Box::new(Session::new(Side::Client, parameters)))
    }
}

impl crypto::ServerConfig for Null {
    fn initial_keys(&self, _version: u32, _dst_cid: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _orig_dst_cid: &ConnectionId, _packet: &[u8]) -> [u8; TAG] {
        [0; TAG]
    }

    fn start_session(
        self: Arc<Self>,
        _version: u32,
        parameters: &TransportParameters,
    ) -> Box<dyn crypto::Session> {
        Box::new(Session::new(Side::Server, parameters))
    }
}

/// The next step of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The client's hello: the client writes it, the server reads it.
    ClientHello,
    /// The server's hello: the client reads it. (The server writes it in the next state.)
    ServerHello,
    /// The keys of the Handshake space; the server also sends its hello.
    HandshakeKeys,
    /// The server's flight: the server writes it and gets the 1-RTT keys, the client reads it.
    ServerFlight,
    /// The client's Finished: the client writes it and gets the 1-RTT keys, the server reads it.
    Finished,
    /// The handshake is complete.
    Done,
}

/// One end of the modelled handshake. Every message contains the transport parameters after their length, and
/// is padded with zeros to its size.
struct Session {
    side: Side,
    state: State,
    own: Vec<u8>,
    peer: Option<TransportParameters>,
    /// The received part of the expected message.
    pending: Vec<u8>,
}

impl Session {
    fn new(side: Side, parameters: &TransportParameters) -> Session {
        let mut own = Vec::with_capacity(128);
        parameters.write(&mut own);
        Session { side, state: State::ClientHello, own, peer: None, pending: Vec::new() }
    }

    /// The size of the next message to be read, and the state after it.
    fn expected(&self) -> Option<(usize, State)> {
        match (self.side, self.state) {
            (Side::Server, State::ClientHello) => Some((CLIENT_HELLO, State::HandshakeKeys)),
            (Side::Client, State::ServerHello) => Some((SERVER_HELLO, State::HandshakeKeys)),
            (Side::Client, State::ServerFlight) => Some((SERVER_FLIGHT, State::Finished)),
            (Side::Server, State::Finished) => Some((FINISHED, State::Done)),
            _ => None,
        }
    }

    /// Writes a message of this size, which starts with our transport parameters.
    fn message(&self, size: usize, out: &mut Vec<u8>) {
        let end = out.len() + size;
        out.extend_from_slice(&(self.own.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.own);
        debug_assert!(out.len() <= end, "the parameters fit the message");
        out.resize(end, 0);
    }

    /// Reads the peer's transport parameters from a message written by `message`.
    fn parameters(&self, message: &[u8]) -> Result<TransportParameters, TransportError> {
        let (length, rest) = message.split_at(2);
        let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
        let mut bytes = rest.get(..length).ok_or(transport_parameters::Error::Malformed)?;
        Ok(TransportParameters::read(self.side, &mut bytes)?)
    }
}

impl crypto::Session for Session {
    fn initial_keys(&self, _dst_cid: &ConnectionId, _side: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        match self.side {
            Side::Client => !matches!(self.state, State::Finished | State::Done),
            Side::Server => self.state != State::Done,
        }
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.pending.extend_from_slice(bytes);
        let Some((size, next)) = self.expected() else { return Ok(false) };
        if self.pending.len() >= size {
            // RFC 9001 8.2: the parameters stand in the ClientHello and in EncryptedExtensions.
            if matches!(self.state, State::ClientHello | State::ServerFlight) {
                self.peer = Some(self.parameters(&self.pending)?);
            }
            self.state = next;
            self.pending.drain(..size);
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.state) {
            (Side::Client, State::ClientHello) => {
                self.message(CLIENT_HELLO, out);
                self.state = State::ServerHello;
                None
            }
            (side, State::HandshakeKeys) => {
                if side.is_server() {
                    out.resize(out.len() + SERVER_HELLO, 0);
                }
                self.state = State::ServerFlight;
                Some(keys())
            }
            (Side::Server, State::ServerFlight) => {
                self.message(SERVER_FLIGHT, out);
                self.state = State::Finished;
                Some(keys())
            }
            (Side::Client, State::Finished) => {
                out.resize(out.len() + FINISHED, 0);
                self.state = State::Done;
                Some(keys())
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(packet_keys())
    }

    fn is_valid_retry(&self, _orig_dst_cid: &ConnectionId, _header: &[u8], _payload: &[u8]) -> bool {
        true
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
