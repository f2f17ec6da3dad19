//! The number of connections per client network, so that one network cannot use up all of them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// A client network: the first 24 bits of an IPv4 address, the smallest routed block, or the first 56 bits of an IPv6
/// address, the usual prefix of a home (RFC 6177). The owner of one address in it may own all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    V4([u8; 3]),
    V6([u8; 7]),
}

impl Source {
    fn of(remote: SocketAddr) -> Source {
        match remote.ip().to_canonical() {
            IpAddr::V4(address) => {
                let [a, b, c, _] = address.octets();
                Source::V4([a, b, c])
            }
            IpAddr::V6(address) => {
                let [a, b, c, d, e, f, g, ..] = address.octets();
                Source::V6([a, b, c, d, e, f, g])
            }
        }
    }
}

/// The number of connections of one source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) connections: usize,
    /// Those of them whose handshake is in progress.
    pub(super) half_open: usize,
}

/// The accepted connections, by the source of their first packet.
#[derive(Debug, Default)]
pub(super) struct Sources(BTreeMap<Source, Share>);

impl Sources {
    pub(super) fn share(&self, remote: SocketAddr) -> Share {
        self.0.get(&Source::of(remote)).copied().unwrap_or_default()
    }
    /// Counts a new connection in its handshake.
    pub(super) fn begin(&mut self, remote: SocketAddr) {
        let share = self.0.entry(Source::of(remote)).or_default();
        share.connections += 1;
        share.half_open += 1;
    }
    /// Counts a finished handshake.
    pub(super) fn establish(&mut self, remote: SocketAddr) {
        if let Some(share) = self.0.get_mut(&Source::of(remote)) {
            share.half_open -= 1;
        }
    }
    /// Counts a removed connection.
    pub(super) fn end(&mut self, remote: SocketAddr) {
        let source = Source::of(remote);
        if let Some(share) = self.0.get_mut(&source) {
            share.connections -= 1;
            if share.connections == 0 {
                self.0.remove(&source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_share() {
        let mut sources = Sources::default();
        let at = |text: &str| -> SocketAddr { text.parse().unwrap() };
        for (one, same, other) in [
            ("192.0.2.1:1", "192.0.2.255:2", "192.0.3.1:1"),
            ("[::ffff:198.51.100.1]:1", "198.51.100.2:1", "198.51.101.2:1"),
            ("[2001:db8:0:100::1]:1", "[2001:db8:0:1ff:ffff::]:7", "[2001:db8:0:200::1]:1"),
        ] {
            sources.begin(at(one));
            sources.begin(at(one));
            sources.establish(at(one));
            assert_eq!(sources.share(at(same)), Share { connections: 2, half_open: 1 });
            assert_eq!(sources.share(at(other)), Share::default());
            sources.establish(at(same));
            sources.end(at(same));
            sources.end(at(one));
        }
        assert!(sources.0.is_empty());
    }
}
