//! The counters that all kinds of endpoints have in common.

use units::Histogram;

/// The counters of one end of a flow. A packet is a QUIC packet or a TCP segment.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    /// Sent packets.
    pub packets_sent: u64,
    /// Sent packets with application data.
    pub data_packets_sent: u64,
    /// Sent packets with nothing but acknowledgements.
    pub ack_only_packets_sent: u64,
    /// Packets declared lost.
    pub packets_declared_lost: u64,
    /// Packets declared lost that were acknowledged later.
    pub packets_spuriously_lost: u64,
    /// Probe timeouts; in TCP, tail loss probes and retransmission timeouts.
    pub probe_timeouts: u64,
    /// Sent bytes of streams, each counted once, and of DATAGRAM frames.
    pub sent_bytes: u64,
    /// Retransmitted bytes of streams.
    pub retransmitted_bytes: u64,
    /// RTT samples.
    pub rtt: Histogram,
}

/// What came of the bytes of a connection's streams, headers of records above them included. Retransmissions do not count.
/// Applications may write 2^62 - 1 bytes to each stream, which together do not fit in 64 bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamBooks {
    /// Written bytes.
    pub written: u128,
    /// Those of them that were sent.
    pub sent: u64,
    /// Those that still wait to be sent.
    pub unsent: u128,
    /// Those that are never sent, since their streams were reset.
    pub abandoned: u128,
    /// Bytes that the peer has acknowledged.
    pub acked: u64,
    /// The ends of what has come of all streams: over QUIC also what is missing before them, as for flow control.
    pub received: u64,
    /// Those of them that were read or dropped.
    pub consumed: u64,
    /// The others.
    pub unread: u64,
}

impl StreamBooks {
    /// Adds the books of another connection of the same flow.
    pub fn add(&mut self, other: StreamBooks) {
        self.written += other.written;
        self.sent += other.sent;
        self.unsent += other.unsent;
        self.abandoned += other.abandoned;
        self.acked += other.acked;
        self.received += other.received;
        self.consumed += other.consumed;
        self.unread += other.unread;
    }
}

impl Counters {
    /// Adds the counters of another connection of the same flow.
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
