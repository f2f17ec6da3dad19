//! The counters of a direction of a link, or of an attachment of a medium.

use crate::count::Count;
use units::{Duration, Histogram, Time};

/// The reason why a packet ended on a carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// It was larger than the MTU.
    Mtu,
    /// The queue dropped it.
    Queue,
    /// It was lost after transmission.
    Loss,
}

impl DropReason {
    /// The word in tables and traces.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Mtu => "mtu",
            DropReason::Queue => "queue",
            DropReason::Loss => "loss",
        }
    }
}

/// The counters of a direction of a link, or of an attachment of a medium as a sender. At any time, for packets
/// and bytes, `accepted + duplicated = delivered + dropped + inside`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CarrierStats {
    /// The time of the last update.
    pub until: Time,
    /// Packets handed to it.
    pub accepted: Count,
    /// Packets that reached the far end, copies included.
    pub delivered: Count,
    /// Packets dropped for their size.
    pub dropped_mtu: Count,
    /// Packets dropped by the queue.
    pub dropped_queue: Count,
    /// Packets lost after transmission, counted at the end of the transmission.
    pub lost: Count,
    /// Packets that are waiting, in transmission, or in flight.
    pub inside: Count,
    /// Duplicates.
    pub duplicated: Count,
    /// Altered packets.
    pub corrupted: u64,
    /// Packets marked with CE by the queue.
    pub marked: u64,
    /// The maximum of waiting packets. The packet in transmission is not counted.
    pub queue_max: Count,
    /// Waiting packets integrated over time, in packets times nanoseconds.
    pub queue_packet_time: u128,
    /// Waiting bytes integrated over time, in bytes times nanoseconds.
    pub queue_byte_time: u128,
    /// The time during which something was waiting or in transmission.
    pub busy: Duration,
}

impl CarrierStats {
    /// All dropped and lost packets.
    pub fn dropped(&self) -> Count {
        self.dropped_mtu + self.dropped_queue + self.lost
    }
    /// The mean number of waiting packets over time since the start; 0 at the start.
    pub fn queue_mean_packets(&self) -> f64 {
        self.mean(self.queue_packet_time)
    }
    /// The mean number of waiting bytes over time since the start; 0 at the start.
    pub fn queue_mean_bytes(&self) -> f64 {
        self.mean(self.queue_byte_time)
    }
    /// The share of time during which something was waiting or in transmission, from 0 to 1.
    pub fn utilization(&self) -> f64 {
        self.mean(u128::from(self.busy.as_nanos()))
    }

    fn mean(&self, integral: u128) -> f64 {
        match self.until.as_nanos() {
            0 => 0.0,
            span => integral as f64 / span as f64,
        }
    }
}

/// The delays of packets in a queue, from arrival to the start of transmission.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueueDelays {
    classic: Histogram,
    l4s: Histogram,
}

impl QueueDelays {
    #[inline]
    pub(crate) fn add(&mut self, l4s: bool, delay: Duration) {
        if l4s { &mut self.l4s } else { &mut self.classic }.add(delay);
    }
    /// The delays of packets that arrived as L4S traffic: with ECT(1) or CE (RFC 9331 section 5.1).
    pub fn l4s(&self) -> &Histogram {
        &self.l4s
    }
    /// The delays of all packets.
    pub fn all(&self) -> Histogram {
        let mut all = self.classic.clone();
        all.merge(&self.l4s);
        all
    }
}
