//! What is known of a path before anything is sent on it: its two addresses, whether the peer's is proven, and how much may
//! be sent there (RFC 9000 sections 8, 9 and 14).

use super::{EcnPath, MIN_PAYLOAD, Mark, MtuSearch, Validation};
use crate::config::Config;
use std::net::SocketAddr;
use wire::{ConnectionId, Side};

/// In so much room fits every packet with an ACK frame of one range: 54 bytes of header at most, 26 of frame, 16 of
/// tag. In less none is begun, so that what is due never waits for room that it cannot use.
pub(crate) const LEAST_ROOM: usize = 96;
/// In so much room fits every packet with a PATH_CHALLENGE or PATH_RESPONSE and nothing else: 25 bytes of header at
/// most, 9 of frame, 16 of tag.
const CHALLENGE_ROOM: u64 = 50;
/// While an address is being validated, so much of what may be sent there is kept for challenges that have to be
/// repeated: the peer may have no reason to send anything more.
const CHALLENGE_RESERVE: u64 = 5 * CHALLENGE_ROOM;
/// So many times what came from an address may be sent there before it is proven (RFC 9000 section 8.1).
pub(crate) const AMPLIFICATION: u64 = 3;

/// The two ends of a path and what is known of the way between them. A path in use also has estimates of it: see
/// [`Path`](super::Path).
#[derive(Debug)]
pub(crate) struct Route {
    /// The address here; its IP is unspecified where the system chooses it.
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// The id of ours that the peer's packets came to when this path was first seen.
    pub(crate) addressed_to: ConnectionId,
    /// Whether the peer is known to receive at its address.
    validated: bool,
    /// Whether the path is known to carry 1200 bytes each way (RFC 9000 section 8.2.1).
    carries_full: bool,
    received: u64,
    sent: u64,
    peer_max_payload: u64,
    /// The largest UDP payload that the options admit.
    max_payload: u16,
    /// The first packet number that is sent on it since it came into use: what is below went another way.
    pub(crate) since: u64,
    pub(crate) ecn: EcnPath,
    /// Where the options ask for it.
    pub(crate) mtu: Option<Box<MtuSearch>>,
    /// While it is being validated (RFC 9000 section 8.2).
    pub(crate) validation: Option<Box<Validation>>,
}

/// Whether two addresses of this side may be the same: an unspecified IP address stands for any.
#[inline]
pub(crate) fn same_local(one: SocketAddr, other: SocketAddr) -> bool {
    one == other || one.ip().is_unspecified() || other.ip().is_unspecified()
}

impl Route {
    /// The path of the handshake. A client trusts the address that it chose; a server must see the client's proven.
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
            // The datagrams of the handshake have that size (14.1).
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
    /// The path with what the options of the connection ask for; `l4s`: the controller answers to CE as an L4S sender.
    pub(crate) fn with_options(self, config: &Config, l4s: bool) -> Route {
        let mark = if l4s { Some(Mark::Ect1) } else { config.ecn.then_some(Mark::Ect0) };
        let mtu = config.mtu_discovery.then(|| Box::new(MtuSearch::new(config.max_udp_payload)));
        Route { ecn: EcnPath::new(mark), mtu, max_payload: config.max_udp_payload, ..self }
    }
    /// A path between other addresses, to the same peer. `trusted`: the peer's address need not be proven.
    pub(crate) fn beside(&self, local: SocketAddr, remote: SocketAddr, trusted: bool) -> Route {
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
            // RFC 9000 section 13.4.2: validated for each path anew.
            ecn: self.ecn.anew(),
            // RFC 9000 section 14.3: so is its size.
            mtu: self.mtu.as_deref().map(|search| Box::new(search.anew())),
            validation: None,
        }
    }

    /// Whether datagrams between these addresses are of this path.
    #[inline]
    pub(crate) fn is_between(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        self.remote == remote && same_local(self.local, local)
    }
    /// Whether a move to the other path changes nothing but a port: most often a NAT has chosen another one
    /// (RFC 9000 section 9.4).
    pub(crate) fn differs_in_port_only(&self, other: &Route) -> bool {
        self.remote.ip() == other.remote.ip()
            && self.local.ip() == other.local.ip()
            && !self.local.ip().is_unspecified()
    }
    /// RFC 9000-8.1-2: a datagram counts with all its bytes, whether its packets open or not.
    #[inline]
    pub(crate) fn on_received(&mut self, bytes: u64) {
        self.received += bytes;
    }
    #[inline]
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }
    /// The peer has shown that it receives what is sent to its address.
    #[inline]
    pub(crate) fn validate(&mut self) {
        self.validated = true;
    }
    /// A datagram of 1200 bytes was answered by one.
    pub(crate) fn validate_full(&mut self) {
        self.carries_full = true;
    }
    /// Whether the peer is known to receive at its address.
    pub(crate) fn is_validated(&self) -> bool {
        self.validated
    }
    /// Whether the path is good for everything: the peer's address is proven, and 1200 bytes pass.
    pub(crate) fn is_proven(&self) -> bool {
        self.validated && self.carries_full
    }
    /// The bytes that may be sent now.
    #[inline]
    pub(crate) fn allowance(&self) -> u64 {
        if self.validated {
            return u64::MAX;
        }
        let reserve = if self.validation.is_some() { CHALLENGE_RESERVE } else { 0 };
        self.credit().saturating_sub(reserve)
    }
    /// RFC 9000-8-1, 9000-8.1-1, 9000-14.1-4, 9000-9.3-2: the bytes that the amplification limit admits.
    fn credit(&self) -> u64 {
        if self.validated { u64::MAX } else { (self.received * AMPLIFICATION).saturating_sub(self.sent) }
    }
    /// Whether nothing that is worth a header may be sent until more has arrived.
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        self.allowance() < LEAST_ROOM as u64
    }
    /// Whether a datagram of the size that some Initial packets demand may be sent (RFC 9000 section 14.1).
    pub(crate) fn admits_full(&self) -> bool {
        self.allowance() >= u64::from(MIN_PAYLOAD)
    }
    /// The largest datagram for the validation of the path; `None`: none may be sent. It has 1200 bytes or is as small as
    /// it can be, so that what the limit admits lasts.
    pub(crate) fn validation_payload(&self) -> Option<usize> {
        match self.credit() {
            0..CHALLENGE_ROOM => None,
            credit if credit < u64::from(MIN_PAYLOAD) => Some(CHALLENGE_ROOM as usize),
            _ => Some(usize::from(MIN_PAYLOAD)),
        }
    }
    /// The peer takes no larger payloads: max_udp_payload_size.
    pub(crate) fn limit_payload(&mut self, maximum: u64) {
        self.peer_max_payload = maximum;
        if let Some(search) = &mut self.mtu {
            search.limit(maximum);
        }
    }
    /// The largest payload that the path is known to carry, or, where nobody asks the path, what is configured.
    #[inline]
    fn known_to_pass(&self) -> u16 {
        self.mtu.as_deref().map_or(self.max_payload, MtuSearch::current)
    }
    /// How far the search for a larger size is: the largest payload that is known to pass, and whether it is over for a
    /// while.
    #[inline]
    pub(crate) fn searched(&self) -> Option<(u16, bool)> {
        self.mtu.as_deref().map(|search| (search.current(), search.is_done()))
    }
    /// The largest payload that the path carries, whatever may be sent now.
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
    fn a_server_sends_no_more_than_three_times_until_the_address_is_proven() {
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
        let other = path.beside(local, address("10.0.0.9:1"), false);
        assert!(other.is_blocked() && !other.is_proven(), "nothing is known of another address");
        assert_eq!(path.beside(local, remote, true).payload(), 1300, "the peer is the same");
    }

    #[test]
    fn an_unspecified_address_is_no_change_of_path() {
        let (local, remote) = (address("10.0.0.2:443"), address("10.0.0.1:1"));
        let path = first(Side::Server, local, remote);
        assert!(path.is_between(local, remote) && path.is_between(address("0.0.0.0:443"), remote));
        assert!(!path.is_between(address("10.0.0.3:443"), remote));
        assert!(!path.is_between(local, address("10.0.0.1:2")));
        let any = first(Side::Client, address("[::]:5"), remote);
        assert!(any.is_between(address("[fe80::1]:5"), remote));
        assert!(path.differs_in_port_only(&path.beside(local, address("10.0.0.1:2"), false)));
        assert!(!path.differs_in_port_only(&path.beside(local, address("10.0.0.2:1"), false)));
        assert!(!any.differs_in_port_only(&any.beside(address("[::]:6"), remote, true)), "who knows");
    }
}
