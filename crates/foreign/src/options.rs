//! The options of an endpoint of quinn-proto, from the options of connections in a scenario.

use quinn_proto::congestion::{CubicConfig, NewRenoConfig};
use quinn_proto::{AckFrequencyConfig, IdleTimeout, MtuDiscoveryConfig, TransportConfig, VarInt};
use std::sync::Arc;
use units::Duration;

/// The controllers of quinn-proto. Its BBR is left out: it draws from the operating system, so that equal seeds
/// would give different runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// NewReno (RFC 9002 section 7).
    NewReno,
    /// CUBIC (RFC 9438).
    Cubic,
}

/// The acknowledgements requested from the peer by ACK_FREQUENCY frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledgements {
    /// Ack-eliciting packets per acknowledgement, at least 1.
    pub ratio: u64,
    /// The maximum delay of an acknowledgement.
    pub max_delay: Duration,
    /// The reordering that is not acknowledged at once, in packets.
    pub reordering_threshold: u64,
}

/// The options of `[transport]` that quinn-proto supports. It has no equivalent of the others, or decides by
/// itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// `controller`.
    pub controller: Controller,
    /// `initial_window`, in bytes.
    pub initial_window: u64,
    /// `initial_rtt`.
    pub initial_rtt: Duration,
    /// `max_udp_payload`, or what the MTU of the path allows: at least 1200.
    pub max_udp_payload: u16,
    /// `mtu_discovery`.
    pub mtu_discovery: bool,
    /// `max_idle_timeout`; zero for none.
    pub max_idle_timeout: Duration,
    /// `keep_alive`.
    pub keep_alive: Option<Duration>,
    /// `initial_max_data`.
    pub max_data: u64,
    /// The largest of `initial_max_stream_data_*`: quinn-proto has one window for all kinds of streams.
    pub max_stream_data: u64,
    /// `initial_max_streams_bidi`, `initial_max_streams_uni`.
    pub max_streams: (u64, u64),
    /// `send_queue`.
    pub send_queue: Option<u64>,
    /// `ecn`: quinn-proto sends ECN-capable packets until it finds that marks are not reported. Without this
    /// option the mark is removed here.
    pub ecn: bool,
    /// `peer_ack_ratio` and the related options.
    pub peer_acks: Option<Acknowledgements>,
}

impl Options {
    pub(crate) fn transport(&self) -> TransportConfig {
        let mut config = TransportConfig::default();
        match self.controller {
            Controller::NewReno => {
                let mut controller = NewRenoConfig::default();
                controller.initial_window(self.initial_window);
                config.congestion_controller_factory(Arc::new(controller));
            }
            Controller::Cubic => {
                let mut controller = CubicConfig::default();
                controller.initial_window(self.initial_window);
                config.congestion_controller_factory(Arc::new(controller));
            }
        }
        let idle = (self.max_idle_timeout != Duration::ZERO).then(|| idle_timeout(self.max_idle_timeout));
        config
            .initial_rtt(standard(self.initial_rtt))
            .max_idle_timeout(idle)
            .keep_alive_interval(self.keep_alive.map(standard))
            .receive_window(varint(self.max_data))
            .stream_receive_window(varint(self.max_stream_data))
            .max_concurrent_bidi_streams(varint(self.max_streams.0))
            .max_concurrent_uni_streams(varint(self.max_streams.1))
            .datagram_receive_buffer_size(None)
            .allow_spin(false);
        if let Some(bytes) = self.send_queue {
            config.send_window(bytes);
        }
        if self.mtu_discovery {
            let mut discovery = MtuDiscoveryConfig::default();
            discovery.upper_bound(self.max_udp_payload);
            config.mtu_discovery_config(Some(discovery));
        } else {
            config.initial_mtu(self.max_udp_payload).mtu_discovery_config(None);
        }
        if let Some(wanted) = self.peer_acks {
            let mut frequency = AckFrequencyConfig::default();
            // quinn-proto counts the packets without an acknowledgement.
            frequency
                .ack_eliciting_threshold(varint(wanted.ratio.saturating_sub(1)))
                .max_ack_delay(Some(standard(wanted.max_delay)))
                .reordering_threshold(varint(wanted.reordering_threshold));
            config.ack_frequency_config(Some(frequency));
        }
        config
    }
}

fn standard(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.as_nanos())
}

fn idle_timeout(duration: Duration) -> IdleTimeout {
    VarInt::from_u64(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(VarInt::MAX).into()
}

pub(crate) fn varint(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}
