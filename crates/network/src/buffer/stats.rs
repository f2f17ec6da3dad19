//! What a direction of a link, or an attachment of a medium, has done.

use crate::count::Count;
use units::{Duration, Histogram, Time};

/// Why a packet ended on a carrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropReason {
    /// Larger than the MTU.
    Mtu,
    /// The queue dropped it.
    Queue,
    /// It was lost after transmission.
    Loss,
}

impl DropReason {
    /// The word for it in tables and traces.
    pub const fn name(self) -> &'static str {
        match self {
            DropReason::Mtu => "mtu",
            DropReason::Queue => "queue",
            DropReason::Loss => "loss",
        }
    }
}

/// What a direction of a link, or an attachment of a medium as a sender, has done up to a time. At any time and for
/// packets and bytes alike `accepted + duplicated = delivered + dropped + inside`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CarrierStats {
    /// The time up to which is counted.
    pub until: Time,
    /// Handed to it.
    pub accepted: Count,
    /// Reached the far end, copies included.
    pub delivered: Count,
    /// Dropped for their size.
    pub dropped_mtu: Count,
    /// Dropped by the queue.
    pub dropped_queue: Count,
    /// Lost after transmission; counted when the transmission ends.
    pub lost: Count,
    /// Waiting, in transmission, or underway.
    pub inside: Count,
    /// Second copies that were made.
    pub duplicated: Count,
    /// Packets that were altered.
    pub corrupted: u64,
    /// Packets that the queue marked with CE.
    pub marked: u64,
    /// The most that waited. The packet in transmission is not counted.
    pub queue_max: Count,
    /// Waiting packets integrated over time, in packets times nanoseconds.
    pub queue_packet_time: u128,
    /// Waiting bytes integrated over time, in bytes times nanoseconds.
    pub queue_byte_time: u128,
    /// The time during which something was waiting or in transmission.
    pub busy: Duration,
}

impl CarrierStats {
    /// All that was dropped or lost.
    pub fn dropped(&self) -> Count {
        self.dropped_mtu + self.dropped_queue + self.lost
    }
    /// Mean number of waiting packets over time since the start; 0 at the start.
    pub fn queue_mean_packets(&self) -> f64 {
        self.mean(self.queue_packet_time)
    }
    /// Mean number of waiting bytes over time since the start; 0 at the start.
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

/// How long packets waited in a queue, from their arrival until their transmission began.
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
    /// Those of packets that came as L4S traffic: with ECT(1) or CE (RFC 9331 section 5.1).
    pub fn l4s(&self) -> &Histogram {
        &self.l4s
    }
    /// Those of all packets.
    pub fn all(&self) -> Histogram {
        let mut all = self.classic.clone();
        all.merge(&self.l4s);
        all
    }
}
