//! The route of a path: its two addresses, the validation of the peer's, and the amount that may be sent there (RFC
//! 9000 sections 8, 9 and 14).

use super::{EcnPath, MIN_PAYLOAD, Mark, MtuSearch, Validation};
use crate::config::Config;
use std::net::SocketAddr;
use wire::{ConnectionId, Side};

/// The room for any packet with an ACK frame of one range: at most 54 bytes of header, 26 of frame and 16 of tag. No
/// packet is started with less room, so that a due frame never blocks on room that it cannot use.
pub(crate) const MIN_ROOM: usize = 96;
/// The room for any packet with one PATH_CHALLENGE or PATH_RESPONSE: at most 25 bytes of header, 9 of frame and 16 of
/// tag.
const CHALLENGE_ROOM: u64 = 50;
/// The part of the anti-amplification credit reserved for repeated challenges during validation, because the peer may
/// send nothing more.
const CHALLENGE_RESERVE: u64 = 5 * CHALLENGE_ROOM;
/// The anti-amplification limit: the ratio of bytes sent to bytes received before an address is validated (RFC 9000
/// section 8.1).
pub(crate) const AMPLIFICATION: u64 = 3;

/// The two addresses of a path and what is known about the route between them. The path in use also has estimates:
/// see [`Path`](super::Path).
#[derive(Debug)]
pub(crate) struct Route {
    /// The local address; its IP is unspecified if the system chooses it.
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// The destination id of the peer's packets when this path was first seen.
    pub(crate) addressed_to: ConnectionId,
    /// Whether the peer's address is validated.
    validated: bool,
    /// Whether the path is known to carry 1200 bytes in both directions (RFC 9000 section 8.2.1).
    carries_full: bool,
    received: u64,
    sent: u64,
    peer_max_payload: u64,
    /// The largest UDP payload that the options permit.
    max_payload: u16,
    /// The first packet number sent since the path came into use; lower ones were sent on another path.
    pub(crate) since: u64,
    pub(crate) ecn: EcnPath,
    /// Present if the options enable it.
    pub(crate) mtu: Option<Box<MtuSearch>>,
    /// Present during path validation (RFC 9000 section 8.2).
    pub(crate) validation: Option<Box<Validation>>,
}

/// Whether two local addresses may be the same: an unspecified IP address matches any.
#[inline]
pub(crate) fn same_local(one: &SocketAddr, other: &SocketAddr) -> bool {
    one == other || one.ip().is_unspecified() || other.ip().is_unspecified()
}

impl Route {
    /// The path of the handshake. A client trusts the server's address; a server must validate the client's.
    pub(crate) fn new(
        side: Side,
        local: SocketAddr,
        remote: SocketAddr,
        addressed_to: ConnectionId,
    ) -> Route {
        Route {
            local,
            remote,
            addressed_to,
            validated: side == Side::Client,
            // RFC 9000 section 14.1: handshake datagrams have this size.
            carries_full: true,
            received: 0,
            sent: 0,
            peer_max_payload: u64::MAX,
            max_payload: MIN_PAYLOAD,
            since: 0,
            ecn: EcnPath::default(),
            mtu: None,
            validation: None,
        }
    }
    /// Applies the options of the connection; `l4s`: the controller reacts to CE as an L4S sender.
    pub(crate) fn with_options(self, config: &Config, l4s: bool) -> Route {
        let mark = if l4s { Some(Mark::Ect1) } else { config.ecn.then_some(Mark::Ect0) };
        let mtu = config.mtu_discovery.then(|| Box::new(MtuSearch::new(config.max_udp_payload)));
        Route { ecn: EcnPath::new(mark), mtu, max_payload: config.max_udp_payload, ..self }
    }
    /// The route of a path between other addresses to the same peer. `trusted`: the peer's address needs no
    /// validation.
    pub(crate) fn for_addresses(&self, local: SocketAddr, remote: SocketAddr, trusted: bool) -> Route {
        Route {
            local,
            remote,
            addressed_to: ConnectionId::EMPTY,
            validated: trusted,
            carries_full: false,
            received: 0,
            sent: 0,
            peer_max_payload: self.peer_max_payload,
            max_payload: self.max_payload,
            since: 0,
            // RFC 9000 section 13.4.2: ECN is validated for each path.
            ecn: self.ecn.for_new_path(),
            // RFC 9000 section 14.3: the MTU is searched for each path.
            mtu: self.mtu.as_deref().map(|search| Box::new(search.for_new_path())),
            validation: None,
        }
    }

    /// Stops if more was sent than an address that is not validated may get.
    pub(crate) fn check(&self) {
        let limit = self.received.saturating_mul(AMPLIFICATION);
        assert!(
            self.validated || self.sent <= limit,
            "RFC 9000 section 8.1: \"three times the amount of data received\""
        );
        assert!(self.size() >= usize::from(MIN_PAYLOAD), "every path carries 1200 bytes");
        if let Some(search) = &self.mtu {
            search.check();
        }
    }

    /// Whether datagrams between these addresses belong to this path.
    #[inline]
    pub(crate) fn is_between(&self, local: &SocketAddr, remote: &SocketAddr) -> bool {
        self.remote == *remote && same_local(&self.local, local)
    }
    /// Whether the other path differs only in a port, which most often means a NAT rebinding (RFC 9000 section 9.4).
    pub(crate) fn differs_in_port_only(&self, other: &Route) -> bool {
        self.remote.ip() == other.remote.ip()
            && self.local.ip() == other.local.ip()
            && !self.local.ip().is_unspecified()
    }
    /// RFC 9000-8.1-2: "all of the payload bytes received in datagrams that are uniquely attributed to a single
    /// connection".
    #[inline]
    pub(crate) fn on_received(&mut self, bytes: u64) {
        self.received += bytes;
    }
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }
    /// Marks the peer's address as validated.
    #[inline]
    pub(crate) fn validate(&mut self) {
        self.validated = true;
    }
    /// Notes that the path carries 1200 bytes in both directions.
    pub(crate) fn validate_full(&mut self) {
        self.carries_full = true;
    }
    /// Whether the peer is known to receive at its address.
    pub(crate) fn is_validated(&self) -> bool {
        self.validated
    }
    /// Whether the path is fully validated: the peer's address, and a size of 1200 bytes.
    pub(crate) fn is_fully_validated(&self) -> bool {
        self.validated && self.carries_full
    }
    /// The number of bytes that may be sent now.
    #[inline]
    pub(crate) fn allowance(&self) -> u64 {
        if self.validated {
            return u64::MAX;
        }
        let reserve = if self.validation.is_some() { CHALLENGE_RESERVE } else { 0 };
        self.credit().saturating_sub(reserve)
    }
    /// RFC 9000-8-1, 9000-8.1-1, 9000-14.1-4, 9000-9.3-2: the number of bytes within the anti-amplification limit.
    fn credit(&self) -> u64 {
        if self.validated { u64::MAX } else { (self.received * AMPLIFICATION).saturating_sub(self.sent) }
    }
    /// Whether the anti-amplification limit leaves no room for a packet.
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        self.allowance() < MIN_ROOM as u64
    }
    /// Whether a datagram of the minimum size for Initial packets may be sent (RFC 9000 section 14.1).
    pub(crate) fn admits_full(&self) -> bool {
        self.allowance() >= u64::from(MIN_PAYLOAD)
    }
    /// The size of a datagram for path validation; `None` if none may be sent. It is 1200 bytes or the smallest
    /// possible size, to save anti-amplification credit.
    pub(crate) fn validation_payload(&self) -> Option<usize> {
        match self.credit() {
            0..CHALLENGE_ROOM => None,
            credit if credit < u64::from(MIN_PAYLOAD) => Some(CHALLENGE_ROOM as usize),
            _ => Some(usize::from(MIN_PAYLOAD)),
        }
    }
    /// Limits payloads to the peer's max_udp_payload_size.
    pub(crate) fn limit_payload(&mut self, maximum: u64) {
        self.peer_max_payload = maximum;
        if let Some(search) = &mut self.mtu {
            search.limit(maximum);
        }
    }
    /// The largest payload that the path is known to carry, or without discovery the configured one.
    #[inline]
    fn known_to_pass(&self) -> u16 {
        self.mtu.as_deref().map_or(self.max_payload, MtuSearch::current)
    }
    /// The state of MTU discovery: the largest payload that the path is known to carry, and whether the search is
    /// finished for now.
    #[inline]
    pub(crate) fn search_state(&self) -> Option<(u16, bool)> {
        self.mtu.as_deref().map(|search| (search.current(), search.is_done()))
    }
    /// The largest payload of the path, regardless of the anti-amplification limit.
    pub(crate) fn size(&self) -> usize {
        u64::from(self.known_to_pass()).min(self.peer_max_payload) as usize
    }
    /// The largest payload to send now.
    #[inline]
    pub(crate) fn payload(&self) -> usize {
        let known = u64::from(self.known_to_pass());
        known.min(self.peer_max_payload).min(self.allowance()) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }
    fn first(side: Side, local: SocketAddr, remote: SocketAddr) -> Route {
        let route = Route::new(side, local, remote, ConnectionId::EMPTY);
        route.with_options(&Config { max_udp_payload: 1472, ..Config::default() }, false)
    }

    /// RFC 9000-8-1, 9000-8.1-1.
    #[test]
    fn a_server_sends_at_most_three_times_until_the_address_is_validated() {
        let (local, remote) = (address("10.0.0.2:443"), address("10.0.0.1:1"));
        let mut path = first(Side::Server, local, remote);
        assert!(path.is_blocked());
        path.on_received(1200);
        assert_eq!((path.allowance(), path.payload()), (3600, 1472));
        path.on_sent(2944);
        assert_eq!(path.payload(), 656);
        path.on_sent(656);
        assert!(path.is_blocked());
        path.validate();
        path.limit_payload(1300);
        assert_eq!(path.payload(), 1300);
        assert!(!first(Side::Client, remote, local).is_blocked());
        let other = path.for_addresses(local, address("10.0.0.9:1"), false);
        assert!(other.is_blocked() && !other.is_fully_validated(), "nothing is known of another address");
        assert_eq!(path.for_addresses(local, remote, true).payload(), 1300, "the peer is the same");
    }

    #[test]
    fn an_unspecified_address_is_not_a_change_of_path() {
        let (local, remote) = (address("10.0.0.2:443"), address("10.0.0.1:1"));
        let path = first(Side::Server, local, remote);
        assert!(path.is_between(&local, &remote) && path.is_between(&address("0.0.0.0:443"), &remote));
        assert!(!path.is_between(&address("10.0.0.3:443"), &remote));
        assert!(!path.is_between(&local, &address("10.0.0.1:2")));
        let any = first(Side::Client, address("[::]:5"), remote);
        assert!(any.is_between(&address("[fe80::1]:5"), &remote));
        assert!(path.differs_in_port_only(&path.for_addresses(local, address("10.0.0.1:2"), false)));
        assert!(!path.differs_in_port_only(&path.for_addresses(local, address("10.0.0.2:1"), false)));
        assert!(!any.differs_in_port_only(&any.for_addresses(address("[::]:6"), remote, true)), "who knows");
    }
}
