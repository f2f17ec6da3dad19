//! What all kinds of endpoints count, under one set of names.

use units::Histogram;

/// The counters of one end of a flow. A packet is a QUIC packet or a TCP segment.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Packets that were sent.
    pub packets_sent: u64,
    /// Those with data of the application.
    pub data_packets_sent: u64,
    /// Those with acknowledgements alone.
    pub ack_only_packets_sent: u64,
    /// Packets that were taken for lost.
    pub packets_declared_lost: u64,
    /// Those of them that were acknowledged later.
    pub packets_spuriously_lost: u64,
    /// Probe timeouts; of TCP tail loss probes and retransmission timeouts.
    pub probe_timeouts: u64,
    /// Bytes of streams, each counted once.
    pub sent_bytes: u64,
    /// Bytes of streams that were sent again.
    pub retransmitted_bytes: u64,
    /// The samples of the RTT.
    pub rtt: Histogram,
}

impl Counters {
    /// Adds what another connection of the same flow has counted.
    pub fn add(&mut self, other: Counters) {
        self.packets_sent += other.packets_sent;
        self.data_packets_sent += other.data_packets_sent;
        self.ack_only_packets_sent += other.ack_only_packets_sent;
        self.packets_declared_lost += other.packets_declared_lost;
        self.packets_spuriously_lost += other.packets_spuriously_lost;
        self.probe_timeouts += other.probe_timeouts;
        self.sent_bytes += other.sent_bytes;
        self.retransmitted_bytes += other.retransmitted_bytes;
        self.rtt.merge(&other.rtt);
    }
}
