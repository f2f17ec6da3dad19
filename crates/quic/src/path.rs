//! The path to the peer: whose address is proven, and how much may be sent there (RFC 9000 sections 8 and 14).

use std::net::SocketAddr;
use wire::Side;

/// The smallest UDP payload that every path must carry (RFC 9000 section 14).
pub const MIN_PAYLOAD: u16 = 1200;
/// In so much room fits every packet with an ACK frame of one range: 54 bytes of header at most, 26 of frame, 16 of
/// tag. In less none is begun, so that what is due never waits for room that it cannot use.
pub(crate) const LEAST_ROOM: usize = 96;
/// A server may send so many times what it received before the client's address is proven (RFC 9000 section 8.1).
const AMPLIFICATION: u64 = 3;

/// The path of a connection.
#[derive(Debug)]
pub(crate) struct Path {
    /// The address here; unspecified where the system chooses it.
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    validated: bool,
    received: u64,
    sent: u64,
    peer_max_payload: u64,
}

impl Path {
    /// A client trusts the address that it chose; a server must see the client's proven.
    pub(crate) fn new(side: Side, local: SocketAddr, remote: SocketAddr) -> Path {
        let validated = side == Side::Client;
        Path { local, remote, validated, received: 0, sent: 0, peer_max_payload: u64::MAX }
    }
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
    /// The bytes that may be sent now.
    #[inline]
    pub(crate) fn allowance(&self) -> u64 {
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
    /// The peer takes no larger payloads: max_udp_payload_size.
    pub(crate) fn limit_payload(&mut self, maximum: u64) {
        self.peer_max_payload = maximum;
    }
    /// The largest payload that the path carries, given what is configured, whatever may be sent now.
    pub(crate) fn size(&self, configured: u16) -> usize {
        u64::from(configured).min(self.peer_max_payload) as usize
    }
    /// The largest payload to send, given what is configured.
    #[inline]
    pub(crate) fn payload(&self, configured: u16) -> usize {
        u64::from(configured).min(self.peer_max_payload).min(self.allowance()) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_sends_no_more_than_three_times_until_the_address_is_proven() {
        let (local, remote) = ("10.0.0.2:443".parse().unwrap(), "10.0.0.1:1".parse().unwrap());
        let mut path = Path::new(Side::Server, local, remote);
        assert!(path.is_blocked());
        path.on_received(1200);
        assert_eq!((path.allowance(), path.payload(1472)), (3600, 1472));
        path.on_sent(2944);
        assert_eq!(path.payload(1472), 656);
        path.on_sent(656);
        assert!(path.is_blocked());
        path.validate();
        path.limit_payload(1300);
        assert_eq!(path.payload(1472), 1300);
        assert!(!Path::new(Side::Client, remote, local).is_blocked());
    }
}
