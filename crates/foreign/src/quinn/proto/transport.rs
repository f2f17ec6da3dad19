//! The options of a scenario in those of quinn-proto.

use crate::Options;
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{AckFrequencyConfig, IdleTimeout, MtuDiscoveryConfig, TransportConfig, VarInt};
use std::sync::Arc;
use units::Duration;

/// A controller of quinn-proto with its initial window in bytes.
type Factory = fn(u64) -> Arc<dyn ControllerFactory + Send + Sync>;

/// Its controllers by their names in scenarios. Its BBR is left out: it draws from the operating system, so that equal seeds would give
/// different runs.
static CONTROLLERS: [(&str, Factory); crate::quinn::CONTROLLERS.len()] =
    [(crate::quinn::CONTROLLERS[0], newreno), (crate::quinn::CONTROLLERS[1], cubic)];

fn newreno(initial_window: u64) -> Arc<dyn ControllerFactory + Send + Sync> {
    let mut controller = NewRenoConfig::default();
    controller.initial_window(initial_window);
    Arc::new(controller)
}

fn cubic(initial_window: u64) -> Arc<dyn ControllerFactory + Send + Sync> {
    let mut controller = CubicConfig::default();
    controller.initial_window(initial_window);
    Arc::new(controller)
}

/// The configuration with these options.
pub(super) fn config(options: &Options) -> TransportConfig {
    let mut config = TransportConfig::default();
    let controller = CONTROLLERS.iter().find(|(name, _)| *name == options.controller);
    let (_, controller) = controller.expect("the reader refuses controllers that a stack does not have");
    config.congestion_controller_factory(controller(options.initial_window));
    let idle = (options.max_idle_timeout != Duration::ZERO).then(|| idle_timeout(options.max_idle_timeout));
    config
        .initial_rtt(standard(options.initial_rtt))
        .max_idle_timeout(idle)
        .keep_alive_interval(options.keep_alive.map(standard))
        .receive_window(varint(options.max_data))
        .stream_receive_window(varint(options.max_stream_data))
        .max_concurrent_bidi_streams(varint(options.max_streams.0))
        .max_concurrent_uni_streams(varint(options.max_streams.1))
        .datagram_receive_buffer_size(None)
        .allow_spin(false);
    if let Some(bytes) = options.send_queue {
        config.send_window(bytes);
    }
    if options.mtu_discovery {
        let mut discovery = MtuDiscoveryConfig::default();
        discovery.upper_bound(options.max_udp_payload);
        config.mtu_discovery_config(Some(discovery));
    } else {
        config.initial_mtu(options.max_udp_payload).mtu_discovery_config(None);
    }
    if let Some(wanted) = options.peer_acks {
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

fn standard(duration: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(duration.as_nanos())
}

fn idle_timeout(duration: Duration) -> IdleTimeout {
    VarInt::from_u64(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(VarInt::MAX).into()
}

pub(super) fn varint(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}
