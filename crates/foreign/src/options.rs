//! What an endpoint of another stack is told: options of a scenario that other projects have, too.

use units::Duration;

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

/// Options of `[transport]`. A stack uses those that its row names; for the others it has no equivalent, or its own rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// `controller`: one of those that the row of the stack names.
    pub controller: &'static str,
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
    /// The largest of `initial_max_stream_data_*`: one window for all kinds of streams.
    pub max_stream_data: u64,
    /// `initial_max_streams_bidi`, `initial_max_streams_uni`.
    pub max_streams: (u64, u64),
    /// `send_queue`.
    pub send_queue: Option<u64>,
    /// `ecn`. Without it, packets leave without an ECN mark, whatever the stack does.
    pub ecn: bool,
    /// `peer_ack_ratio` and the related options.
    pub peer_acks: Option<Acknowledgements>,
}
