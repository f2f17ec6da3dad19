//! The transport parameters that an endpoint sends for its options (RFC 9000 section 18.2).

use crate::config::Config;
use units::{Duration, Size};
use wire::TransportParameters;

/// RFC 9000 section 18.2: a max_ack_delay of 2^14 ms or more is invalid.
pub(crate) const MAX_ACK_DELAY_MS: u64 = (1 << 14) - 1;

impl Config {
    /// The transport parameters for these options (RFC 9000 section 18.2), except those that a connection adds: its
    /// connection ids, tokens and versions.
    pub fn parameters(&self) -> TransportParameters {
        // Rounded up: 0 would disable a timeout of less than a millisecond.
        let whole_ms = |span: Duration| span.as_nanos().div_ceil(1_000_000);
        let max_ack_delay_ms = whole_ms(self.ack.max_delay).min(MAX_ACK_DELAY_MS);
        let window = |size: Size| size.as_bytes().min(wire::varint::MAX);
        TransportParameters {
            max_idle_timeout_ms: whole_ms(self.max_idle_timeout).min(wire::varint::MAX),
            initial_max_data: window(self.initial_max_data),
            initial_max_stream_data_bidi_local: window(self.initial_max_stream_data_bidi_local),
            initial_max_stream_data_bidi_remote: window(self.initial_max_stream_data_bidi_remote),
            initial_max_stream_data_uni: window(self.initial_max_stream_data_uni),
            initial_max_streams_bidi: self.initial_max_streams_bidi,
            initial_max_streams_uni: self.initial_max_streams_uni,
            ack_delay_exponent: u64::from(self.ack_delay_exponent),
            max_ack_delay_ms,
            // draft-ietf-quic-ack-frequency section 3: at most max_ack_delay.
            min_ack_delay_us: self.min_ack_delay.map(|least| least.as_micros().min(max_ack_delay_ms * 1000)),
            disable_active_migration: self.disable_active_migration,
            active_connection_id_limit: self.active_connection_id_limit,
            max_datagram_frame_size: self.max_datagram_frame_size,
            grease_quic_bit: self.grease_quic_bit,
            reset_stream_at: self.reset_stream_at,
            immediate_ack_bit: self.immediate_ack_bit,
            enable_bdp: u64::from(self.resume.bdp_frame),
            ..TransportParameters::default()
        }
    }
}
