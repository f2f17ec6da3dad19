//! What both kinds of endpoint count, under one set of names.

use units::Histogram;

/// The counters of one end of a flow. A packet is a QUIC packet or a TCP segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    pub packets_sent: u64,
    pub data_packets_sent: u64,
    pub ack_only_packets_sent: u64,
    pub packets_declared_lost: u64,
    pub packets_spuriously_lost: u64,
    /// Probe timeouts; of TCP tail loss probes and retransmission timeouts.
    pub probe_timeouts: u64,
    /// Bytes of streams, each counted once.
    pub sent_bytes: u64,
    pub retransmitted_bytes: u64,
    pub rtt: Histogram,
}

impl Counters {
    /// Adds what another connection of the same flow has counted.
    pub(crate) fn add(&mut self, other: Counters) {
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

impl From<quic::Stats> for Counters {
    fn from(stats: quic::Stats) -> Counters {
        Counters {
            packets_sent: stats.packets_sent,
            data_packets_sent: stats.data_packets_sent,
            ack_only_packets_sent: stats.ack_only_packets_sent,
            packets_declared_lost: stats.packets_declared_lost,
            packets_spuriously_lost: stats.packets_spuriously_lost,
            probe_timeouts: stats.probe_timeouts,
            sent_bytes: stats.streams.sent_bytes,
            retransmitted_bytes: stats.streams.retransmitted_bytes,
            rtt: stats.rtt,
        }
    }
}

impl From<&tcp::Stats> for Counters {
    fn from(stats: &tcp::Stats) -> Counters {
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
