//! Transport parameters (RFC 9000 section 18).

mod decode;
mod encode;
mod table;
mod versions;

pub use decode::{ParameterError, ParameterProblem};
pub use versions::{VersionInformation, VersionList};

use crate::ConnectionId;
use std::net::{SocketAddrV4, SocketAddrV6};
use units::Duration;

/// The address that a server prefers after the handshake (RFC 9000 section 18.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreferredAddress {
    /// The IPv4 address; `None` is encoded as `0.0.0.0:0`.
    pub ipv4: Option<SocketAddrV4>,
    /// The IPv6 address; `None` is encoded as `[::]:0`.
    pub ipv6: Option<SocketAddrV6>,
    /// The connection id of sequence number 1: 1 to 20 bytes.
    pub id: ConnectionId,
    /// The stateless reset token for that id.
    pub token: [u8; 16],
}

/// The transport parameters of one side, with the names of RFC 9000 section 18.2 and of the extensions. The [`Default`]
/// is the meaning of absent parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransportParameters {
    /// The destination connection id of the client's first Initial. Sent by every server, and only by servers. The
    /// handshake detects its absence when it compares the ids (RFC 9000 section 7.3).
    pub original_destination_connection_id: Option<ConnectionId>,
    /// The idle timeout in milliseconds; 0, the default, disables it.
    pub max_idle_timeout_ms: u64,
    /// The stateless reset token for the connection id of the handshake. Only from servers.
    pub stateless_reset_token: Option<[u8; 16]>,
    /// The largest UDP payload in bytes that the sender of this receives: at least 1200; default 65527.
    pub max_udp_payload_size: u64,
    /// The initial limit on the data of the connection, in bytes; default 0.
    pub initial_max_data: u64,
    /// The initial limit, in bytes, on bidirectional streams opened by the sender of this; default 0.
    pub initial_max_stream_data_bidi_local: u64,
    /// The initial limit, in bytes, on bidirectional streams opened by the receiver of this; default 0.
    pub initial_max_stream_data_bidi_remote: u64,
    /// The initial limit, in bytes, on unidirectional streams opened by the receiver of this; default 0.
    pub initial_max_stream_data_uni: u64,
    /// The number of bidirectional streams that the receiver of this may open at first: at most 2^60; default 0.
    pub initial_max_streams_bidi: u64,
    /// The number of unidirectional streams that the receiver of this may open at first: at most 2^60; default 0.
    pub initial_max_streams_uni: u64,
    /// The shift of the ACK Delay in 1-RTT packets, in bits: at most 20; default 3.
    pub ack_delay_exponent: u64,
    /// The maximum delay of acknowledgments in milliseconds: below 2^14; default 25.
    pub max_ack_delay_ms: u64,
    /// Whether the peer must not migrate away from the address of the handshake; default no.
    pub disable_active_migration: bool,
    /// The preferred address. Only from servers.
    pub preferred_address: Option<PreferredAddress>,
    /// The number of the peer's connection ids that the sender of this stores: at least 2; default 2.
    pub active_connection_id_limit: u64,
    /// The source connection id of the sender's first Initial. Both sides send it; the handshake detects its absence
    /// (RFC 9000 section 7.3).
    pub initial_source_connection_id: Option<ConnectionId>,
    /// The largest accepted DATAGRAM frame in bytes, including type and length; 0, the default, disables them (RFC 9221
    /// section 3).
    pub max_datagram_frame_size: u64,
    /// Whether packets with a fixed bit of 0 are accepted; default no (RFC 9287 section 3).
    pub grease_quic_bit: bool,
    /// Whether RESET_STREAM_AT is understood; default no (draft-ietf-quic-reliable-stream-reset-09 section 3).
    pub reset_stream_at: bool,
    /// The source connection id of the Retry packet, if there was one. Only from servers.
    pub retry_source_connection_id: Option<ConnectionId>,
    /// The minimum acknowledgement delay in microseconds that can be requested from the sender of this; at most
    /// `max_ack_delay_ms`. `None`, the default: it does not support ACK_FREQUENCY and IMMEDIATE_ACK
    /// (draft-ietf-quic-ack-frequency section 3).
    pub min_ack_delay_us: Option<u64>,
    /// Whether the immediate-ack bit of short headers is supported: [`crate::FirstByte::asks_for_ack`]; default no. A
    /// private parameter.
    pub immediate_ack_bit: bool,
    /// Whether BDP_FRAME is understood: a value of 1 to 3; 0, the default: it is not (draft-kuhn-quic-0rtt-bdp-09 section 3.2).
    pub enable_bdp: u64,
    /// The chosen and the available versions (RFC 9368 section 3).
    pub version_information: Option<VersionInformation>,
}

impl Default for TransportParameters {
    fn default() -> TransportParameters {
        TransportParameters {
            original_destination_connection_id: None,
            max_idle_timeout_ms: 0,
            stateless_reset_token: None,
            max_udp_payload_size: 65527,
            initial_max_data: 0,
            initial_max_stream_data_bidi_local: 0,
            initial_max_stream_data_bidi_remote: 0,
            initial_max_stream_data_uni: 0,
            initial_max_streams_bidi: 0,
            initial_max_streams_uni: 0,
            ack_delay_exponent: 3,
            max_ack_delay_ms: 25,
            disable_active_migration: false,
            preferred_address: None,
            active_connection_id_limit: 2,
            max_datagram_frame_size: 0,
            grease_quic_bit: false,
            reset_stream_at: false,
            initial_source_connection_id: None,
            retry_source_connection_id: None,
            min_ack_delay_us: None,
            immediate_ack_bit: false,
            enable_bdp: 0,
            version_information: None,
        }
    }
}

impl TransportParameters {
    /// The idle timeout, if enabled.
    pub const fn max_idle_timeout(&self) -> Option<Duration> {
        match self.max_idle_timeout_ms {
            0 => None,
            ms => Some(Duration::from_millis(ms)),
        }
    }
    /// The maximum delay of an acknowledgment.
    pub const fn max_ack_delay(&self) -> Duration {
        Duration::from_millis(self.max_ack_delay_ms)
    }
    /// Names and values of the integer parameters for traces, including defaults, in the order of their code points and
    /// with the RFC's names.
    pub fn integers(&self) -> Vec<(&'static str, u64)> {
        table::INTEGERS.iter().map(|row| (row.name, (row.get)(self))).collect()
    }
}

#[cfg(test)]
mod tests;
