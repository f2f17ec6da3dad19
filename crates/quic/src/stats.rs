//! The counters of a connection, which are always on and cheap.

use crate::datagrams::DatagramStats;
use crate::stream::StreamStats;
use units::{Duration, Histogram};

/// The counters of one connection end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// UDP datagrams sent.
    pub datagrams_sent: u64,
    /// UDP payload bytes sent.
    pub bytes_sent: u64,
    /// UDP datagrams received.
    pub datagrams_received: u64,
    /// UDP payload bytes received.
    pub bytes_received: u64,
    /// QUIC packets sent.
    pub packets_sent: u64,
    /// QUIC packets sent with STREAM or DATAGRAM frames.
    pub data_packets_sent: u64,
    /// QUIC packets sent that are not ack-eliciting.
    pub ack_only_packets_sent: u64,
    /// QUIC packets received and processed.
    pub packets_received: u64,
    /// QUIC packets received and dropped.
    pub packets_dropped: u64,
    /// QUIC packets declared lost.
    pub packets_declared_lost: u64,
    /// QUIC packets acknowledged after they were declared lost.
    pub packets_spuriously_lost: u64,
    /// Updates of the 1-RTT keys, by either endpoint (RFC 9001 section 6).
    pub key_updates: u64,
    /// QUIC packets sent with ECT(0), or with ECT(1) if the controller is for L4S.
    pub ect_packets_sent: u64,
    /// Those of them that the peer has reported as received with CE (RFC 9000 section 13.4.1).
    pub ce_packets_reported: u64,
    /// Paths that failed ECN validation (RFC 9000 section 13.4.2).
    pub ecn_failures: u64,
    /// MTU probes sent (RFC 9000 section 14.4).
    pub mtu_probes_sent: u64,
    /// MTU probes declared lost.
    pub mtu_probes_lost: u64,
    /// Black holes: resets to 1200 bytes because the path does not carry larger datagrams any more (RFC 8899 section
    /// 4.3).
    pub mtu_black_holes: u64,
    /// Changes of the path in use, including returns to a previous path (RFC 9000 section 9).
    pub path_changes: u64,
    /// Failed path validations (RFC 9000 section 8.2.4).
    pub path_validations_failed: u64,
    /// PATH_CHALLENGE frames sent.
    pub path_challenges_sent: u64,
    /// Probe timeouts.
    pub probe_timeouts: u64,
    /// Saved capacities of the path that this side has taken over: 0 or 1 for each path in use (the option `resume`).
    pub capacities_accepted: u64,
    /// Saved capacities that it has refused: expired, forged, of another path.
    pub capacities_refused: u64,
    /// BDP_FRAMEs in which a client has sent a capacity back, repetitions included.
    pub capacities_returned: u64,
    /// The RTT samples.
    pub rtt: Histogram,
    /// The bytes of streams.
    pub streams: StreamStats,
    /// The counters of DATAGRAM frames (RFC 9221), as opposed to UDP datagrams.
    pub datagram_frames: DatagramStats,
}

/// What a client does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// The number of its requests in progress: of streams that it opened in both directions.
    pub(crate) requests: u64,
    /// The bytes of stream data that it has sent on streams in both directions, and those that it has acknowledged.
    pub(crate) bytes: u64,
    /// Its smoothed round-trip time.
    pub(crate) round_trip: Duration,
    /// A few of its round trips: three probe timeouts.
    pub(crate) patience: Duration,
}
