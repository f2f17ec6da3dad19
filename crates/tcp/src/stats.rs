//! The counters of a connection. They are always on and cheap.

use transport::Counters;
use units::Histogram;

/// The counters of one connection end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Segments sent.
    pub segments_sent: u64,
    /// Bytes of segments sent, with their TCP headers.
    pub bytes_sent: u64,
    /// Segments sent with payload.
    pub data_segments_sent: u64,
    /// Pure acknowledgements sent.
    pub ack_only_segments_sent: u64,
    /// Segments received and processed.
    pub segments_received: u64,
    /// Bytes of segments received, with their TCP headers.
    pub bytes_received: u64,
    /// Received segments that were dropped: altered in transit, malformed, or outside of the window.
    pub segments_dropped: u64,
    /// Payload bytes sent for the first time.
    pub sent_bytes: u64,
    /// Payload bytes retransmitted.
    pub retransmitted_bytes: u64,
    /// Segments declared lost.
    pub segments_declared_lost: u64,
    /// Segments declared lost that arrived, as far as the sender can observe.
    pub segments_spuriously_lost: u64,
    /// Retransmission timeouts (RFC 6298).
    pub timeouts: u64,
    /// Tail loss probes (RFC 8985 section 7).
    pub loss_probes: u64,
    /// Probes of a zero window (RFC 9293 section 3.8.6.1).
    pub window_probes: u64,
    /// SYN and SYN-ACK retransmissions.
    pub syn_retransmissions: u64,
    /// Bytes of the SYN that were accepted (RFC 7413).
    pub fast_open_bytes: u64,
    /// Duplicates reported by the peer (RFC 2883).
    pub dsacks_received: u64,
    /// Challenge ACKs sent (RFC 5961).
    pub challenge_acks_sent: u64,
    /// Returns of a passive open to LISTEN after a reset or another SYN during the handshake (RFC 9293 section
    /// 3.10.7.4).
    pub listened_again: u64,
    /// Segments sent with ECT(0).
    pub ect_segments_sent: u64,
    /// Segments received with CE.
    pub ce_segments_received: u64,
    /// Window reductions due to an ECN-Echo (RFC 3168 section 6.1.2).
    pub ecn_reductions: u64,
    /// Application bytes acknowledged by the peer.
    pub acked_bytes: u64,
    /// The largest receive window, in bytes.
    pub receive_window: u64,
    /// The RTT samples.
    pub rtt: Histogram,
}

impl From<&Stats> for Counters {
    fn from(stats: &Stats) -> Counters {
        Counters {
            packets_sent: stats.segments_sent,
            data_packets_sent: stats.data_segments_sent,
            ack_only_packets_sent: stats.ack_only_segments_sent,
            packets_declared_lost: stats.segments_declared_lost,
            packets_spuriously_lost: stats.segments_spuriously_lost,
            probe_timeouts: stats.timeouts + stats.loss_probes,
            sent_bytes: stats.sent_bytes,
            retransmitted_bytes: stats.retransmitted_bytes,
            rtt: stats.rtt.clone(),
        }
    }
}
