//! The code points, and the table of integer parameters with their ranges (RFC 9000 section 18.2).

use crate::parameters::TransportParameters;
use crate::{StreamId, varint};
use std::ops::RangeInclusive;

pub(super) const ORIGINAL_DESTINATION_CONNECTION_ID: u64 = 0x00;
pub(super) const STATELESS_RESET_TOKEN: u64 = 0x02;
pub(super) const DISABLE_ACTIVE_MIGRATION: u64 = 0x0c;
pub(super) const PREFERRED_ADDRESS: u64 = 0x0d;
pub(super) const INITIAL_SOURCE_CONNECTION_ID: u64 = 0x0f;
pub(super) const RETRY_SOURCE_CONNECTION_ID: u64 = 0x10;
/// RFC 9287 section 3.
pub(super) const GREASE_QUIC_BIT: u64 = 0x2ab2;
/// RFC 9368 section 10.1.
pub(super) const VERSION_INFORMATION: u64 = 0x11;

/// draft-ietf-quic-reliable-stream-reset-09 section 3.
pub(super) const RESET_STREAM_AT: u64 = 0x1d;
/// draft-ietf-quic-ack-frequency section 3.
pub(super) const MIN_ACK_DELAY: u64 = 0xff04_de1b;
/// draft-kuhn-quic-0rtt-bdp-09 section 3.2, with the code point of picoquic.
pub(super) const ENABLE_BDP: u64 = 0xebd9;
/// Private: "i-bit" in ASCII.
pub(super) const IMMEDIATE_ACK_BIT: u64 = 0x69_2d62_6974;

/// An integer parameter.
pub(super) struct Integer {
    pub(super) id: u64,
    pub(super) name: &'static str,
    /// The valid values.
    pub(super) range: RangeInclusive<u64>,
    pub(super) get: fn(&TransportParameters) -> u64,
    pub(super) set: fn(&mut TransportParameters, u64),
}

/// A row of the table. The name of the field may differ from that of the parameter, since it includes the unit.
macro_rules! integer {
    ($id:literal, $name:literal, $field:ident, $range:expr) => {
        Integer {
            id: $id,
            name: $name,
            range: $range,
            get: |parameters| parameters.$field,
            set: |parameters, value| parameters.$field = value,
        }
    };
}

const ANY: RangeInclusive<u64> = 0..=varint::MAX;
// RFC 9000-4.6-1: more than 2^60 streams are a TRANSPORT_PARAMETER_ERROR.
const STREAMS: RangeInclusive<u64> = 0..=StreamId::MAX_COUNT;

/// In the order of their code points.
pub(super) static INTEGERS: [Integer; 12] = [
    integer!(0x01, "max_idle_timeout", max_idle_timeout_ms, ANY),
    integer!(0x03, "max_udp_payload_size", max_udp_payload_size, 1200..=varint::MAX),
    integer!(0x04, "initial_max_data", initial_max_data, ANY),
    integer!(0x05, "initial_max_stream_data_bidi_local", initial_max_stream_data_bidi_local, ANY),
    integer!(0x06, "initial_max_stream_data_bidi_remote", initial_max_stream_data_bidi_remote, ANY),
    integer!(0x07, "initial_max_stream_data_uni", initial_max_stream_data_uni, ANY),
    integer!(0x08, "initial_max_streams_bidi", initial_max_streams_bidi, STREAMS),
    integer!(0x09, "initial_max_streams_uni", initial_max_streams_uni, STREAMS),
    integer!(0x0a, "ack_delay_exponent", ack_delay_exponent, 0..=20),
    integer!(0x0b, "max_ack_delay", max_ack_delay_ms, 0..=(1 << 14) - 1),
    // RFC 9000-18.2-7: "receives a value less than 2".
    integer!(0x0e, "active_connection_id_limit", active_connection_id_limit, 2..=varint::MAX),
    // RFC 9221 section 3.
    integer!(0x20, "max_datagram_frame_size", max_datagram_frame_size, ANY),
];
