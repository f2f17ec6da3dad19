//! What a host knows of paths from earlier connections (the option `resume`), and its form in scenarios and summaries.

use crate::scenario::{IpVersion, Protocol, Remembered};
use congestion::{Learned, PathKey, PathStore, Saved};
use network::{NodeId, node_address, node_of};
use units::{Duration, Size, Time};

/// The date at time zero in milliseconds since 1970.
pub(crate) const EPOCH_MS: u64 = tls::EPOCH.as_secs() * 1000;

/// The paths that a host knows: those of its QUIC endpoints, and those of its TCP connections.
#[derive(Debug, Default)]
pub(crate) struct KnownPaths {
    pub(crate) quic: PathStore,
    pub(crate) tcp: PathStore,
}

impl KnownPaths {
    /// Adds an entry of the scenario, as the path to the peer and as that to its prefix.
    pub(crate) fn add(&mut self, known: &Remembered) {
        let node = NodeId(known.peer as u32);
        let ip = known.address.unwrap_or_else(|| node_address(node, known.ip == IpVersion::V6));
        let saved = Saved { window: known.capacity.as_bytes(), rtt: known.rtt };
        let learned = Learned { saved, ip, date_ms: EPOCH_MS.saturating_sub(known.age.as_millis()) };
        let store = match known.protocol {
            Protocol::Quic => &self.quic,
            Protocol::Tcp => &self.tcp,
        };
        for by_prefix in [true, false] {
            store.remember(PathKey::of(ip, by_prefix), learned);
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.quic.clear();
        self.tcp.clear();
    }

    /// The entries by address that this host, a node of the scenario, has at a time, as entries of a scenario: each peer once.
    pub(crate) fn entries(&self, now: Time, node: NodeId) -> Vec<Remembered> {
        let date_ms = EPOCH_MS + now.since(Time::ZERO).as_millis();
        let mut all: Vec<Remembered> = Vec::new();
        for (protocol, store) in [(Protocol::Quic, &self.quic), (Protocol::Tcp, &self.tcp)] {
            let newest_first = store.entries().into_iter().rev();
            for (_, learned) in newest_first.filter(|(key, _)| matches!(key, PathKey::Address(_))) {
                let Some(peer) = node_of(learned.ip) else { continue };
                let ip = if learned.ip.is_ipv6() { IpVersion::V6 } else { IpVersion::V4 };
                let itself = node_address(peer, learned.ip.is_ipv6()) == learned.ip;
                let entry = Remembered {
                    name: String::new(),
                    node: node.0 as usize,
                    peer: peer.0 as usize,
                    protocol,
                    capacity: Size::from_bytes(learned.saved.window),
                    rtt: learned.saved.rtt,
                    age: Duration::from_millis(date_ms.saturating_sub(learned.date_ms)),
                    ip,
                    address: Some(learned.ip).filter(|_| !itself),
                };
                let of = |known: &Remembered| (known.peer, known.protocol, known.ip, known.address);
                if !all.iter().any(|known| of(known) == of(&entry)) {
                    all.push(entry);
                }
            }
        }
        // In the order in which they were learned.
        all.reverse();
        all
    }
}
