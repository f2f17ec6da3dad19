//! What must hold whatever the attacker does.

use quic::Config;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use units::Time;

/// A server may send so many times what it received to an address that is not proven (RFC 9000 section 8.1).
const AMPLIFICATION: u64 = 3;
/// So many things may happen at one instant.
const MOST_AT_ONCE: u64 = 20_000;
/// And so many in a case.
const MOST_STEPS: u64 = 2_000_000;
/// What a connection may hold beside what its options admit: the state itself, handshake messages that came out of
/// order in three spaces, acknowledgements, what is in flight.
const PER_CONNECTION: i64 = 200_000;
/// An application's byte may cost so many: an odd frame of a few bytes is kept with its bookkeeping.
const OVERHEAD: i64 = 4;

/// The books that are kept.
pub(crate) struct Laws {
    /// By address: bytes that the server received from it and sent to it.
    traffic: BTreeMap<SocketAddr, (u64, u64)>,
    /// Addresses from which a client has answered.
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

    /// `count` connections of these options may be held, and `on_each` bytes for what runs on each.
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

    /// What was sent to this address reached a client, who may answer from elsewhere: any path's PATH_RESPONSE will do (RFC
    /// 9000 section 8.2.3).
    pub(crate) fn forwarded(&mut self, from: SocketAddr) {
        self.proven.insert(from);
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

    pub(crate) fn check_memory(&mut self, held: i64) {
        self.peak = self.peak.max(held);
        assert!(held <= self.most_memory, "{held} bytes are held, of {}", self.most_memory);
    }
}
