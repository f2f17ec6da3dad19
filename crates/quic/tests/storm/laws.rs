//! What must hold whatever the attacker does.

use quic::Config;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use units::Time;

/// The ratio of bytes sent to bytes received at an address that is not validated (RFC 9000 section 8.1).
const AMPLIFICATION: u64 = 3;
/// The maximum number of events at one time.
const MOST_AT_ONCE: u64 = 20_000;
/// The maximum number of events in a case.
const MOST_STEPS: u64 = 2_000_000;
/// The memory of a connection beyond its options: the state itself, out-of-order handshake messages in three spaces,
/// acknowledgements, packets in flight.
const PER_CONNECTION: i64 = 200_000;
/// The maximum memory per byte of an application: a frame of a few bytes is kept with its bookkeeping.
const OVERHEAD: i64 = 4;

/// The number of steps after which the endpoints check their books.
const CHECK_EVERY: u64 = 16;

/// The measurements for the laws.
pub(crate) struct Laws {
    /// Bytes that the server has received from and sent to each address.
    traffic: BTreeMap<SocketAddr, (u64, u64)>,
    /// Addresses from which a client has responded.
    proven: BTreeSet<SocketAddr>,
    most_memory: i64,
    /// The most that was held.
    pub peak: i64,
    steps: u64,
    at_once: u64,
}

impl Laws {
    pub(crate) fn new() -> Laws {
        Laws {
            traffic: BTreeMap::new(),
            proven: BTreeSet::new(),
            most_memory: 100_000,
            peak: 0,
            steps: 0,
            at_once: 0,
        }
    }

    /// Permits `count` connections with these options, and `on_each` bytes for the application of each.
    pub(crate) fn admit(&mut self, config: &Config, count: u64, on_each: i64) {
        let windows = config.initial_max_data.as_bytes() + 20 * config.send_buffer.as_bytes();
        self.most_memory += count as i64 * (PER_CONNECTION + OVERHEAD * windows as i64 + on_each);
    }

    pub(crate) fn server_received(&mut self, from: SocketAddr, length: usize, client: Option<(usize, bool)>) {
        self.traffic.entry(from).or_default().0 += length as u64;
        if client.is_some_and(|(_, has_received)| has_received) {
            self.proven.insert(from);
        }
    }

    /// A packet to this address has reached a client, which may respond from another one: a PATH_RESPONSE is valid on
    /// any path (RFC 9000 section 8.2.3).
    pub(crate) fn forwarded(&mut self, from: SocketAddr) {
        self.proven.insert(from);
    }

    /// A token may come from this address. It vouches for the IP address, whatever the port (RFC 9000 section 8.1.4), if a client has
    /// responded from there.
    pub(crate) fn vouched(&mut self, from: SocketAddr) {
        if self.proven.iter().any(|proven| proven.ip() == from.ip()) {
            self.proven.insert(from);
        }
    }

    pub(crate) fn server_sent(&mut self, to: SocketAddr, length: usize) {
        let (received, sent) = self.traffic.entry(to).or_default();
        *sent += length as u64;
        assert!(
            self.proven.contains(&to) || *sent <= AMPLIFICATION * *received,
            "RFC 9000 section 8.1: {sent} bytes were sent to {to}, which is not proven, for {received}"
        );
    }

    pub(crate) fn tick(&mut self, now: Time, next: Time) {
        self.steps += 1;
        self.at_once = if next == now { self.at_once + 1 } else { 0 };
        assert!(self.at_once < MOST_AT_ONCE && self.steps < MOST_STEPS, "stands still at {now}");
    }

    /// Whether the endpoints check their books in this step, which takes as long as the step itself.
    pub(crate) fn is_time_to_check(&self) -> bool {
        self.steps.is_multiple_of(CHECK_EVERY)
    }

    pub(crate) fn check_memory(&mut self, held: i64) {
        self.peak = self.peak.max(held);
        assert!(held <= self.most_memory, "{held} bytes are held, of {}", self.most_memory);
    }
}
