//! One direction of the path: a rate, a drop-tail queue in bytes, a propagation delay.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::BytesMut;

/// Bytes of IPv4 and UDP header around each datagram: a UDP payload of 1472 bytes fills an MTU of 1500.
const HEADERS: u64 = 28;

/// The arena grows by this many bytes at a time; such a part is freed when all its packets are.
const ARENA: usize = 64 * 1024;

/// A first-in-first-out link.
pub(super) struct Link {
    nanoseconds_per_byte: u64,
    delay: Duration,
    /// The time that a full queue takes to drain.
    limit: Duration,
    /// When the last accepted packet has left the transmitter.
    free_at: Instant,
    /// In order of arrival, since the link does not reorder.
    in_transit: VecDeque<(Instant, BytesMut)>,
    /// Datagrams are copied here, since quinn-proto takes ownership of its input: one allocation for many
    /// packets.
    arena: BytesMut,
}

impl Link {
    /// 100 Mbit/s, 10 ms, a queue of one bandwidth-delay product of the round trip (20 ms: 250,000 bytes).
    pub(super) fn new(now: Instant) -> Link {
        Link {
            nanoseconds_per_byte: 80,
            delay: Duration::from_millis(10),
            limit: Duration::from_millis(20),
            free_at: now,
            in_transit: VecDeque::with_capacity(512),
            arena: BytesMut::new(),
        }
    }

    /// Accepts one datagram, or drops it if the queue (with the rest of the packet in transmission) has no room
    /// for it.
    pub(super) fn send(&mut self, now: Instant, datagram: &[u8]) {
        let time = Duration::from_nanos((datagram.len() as u64 + HEADERS) * self.nanoseconds_per_byte);
        let start = self.free_at.max(now);
        if start + time > now + self.limit {
            return;
        }
        self.free_at = start + time;
        if self.arena.capacity() < datagram.len() {
            self.arena.reserve(ARENA);
        }
        self.arena.extend_from_slice(datagram);
        self.in_transit.push_back((self.free_at + self.delay, self.arena.split()));
    }

    /// The time at which the next packet arrives.
    pub(super) fn next_arrival(&self) -> Option<Instant> {
        self.in_transit.front().map(|&(at, _)| at)
    }

    /// Returns a packet that has arrived by `now`.
    pub(super) fn receive(&mut self, now: Instant) -> Option<BytesMut> {
        if self.next_arrival()? > now {
            return None;
        }
        self.in_transit.pop_front().map(|(_, datagram)| datagram)
    }
}
