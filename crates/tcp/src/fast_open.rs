//! TCP Fast Open: data in the SYN, for clients with a cookie of the server (RFC 7413).

use random::Generator;
use std::net::IpAddr;
use wire::tcp::Cookie;

/// The cookie that a server with this key issues to a client at this address (section 4.1.2). It is not
/// cryptographically secure: the endpoint runs in simulated networks.
pub(crate) fn cookie(key: u64, client: IpAddr) -> Cookie {
    let bytes = Generator::seed_for(key, &client.to_string()).to_be_bytes();
    Cookie::new(&bytes).unwrap_or_default()
}

/// The Fast Open state of a connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FastOpenState {
    /// The option of a client's SYN, or of a server's SYN-ACK.
    pub(crate) option: Option<Cookie>,
    /// Data may flow before the handshake is complete.
    pub(crate) early: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_bound_to_one_address_and_one_server() {
        let [one, two]: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        assert_eq!(cookie(1, one), cookie(1, one));
        assert_ne!(cookie(1, one), cookie(1, two));
        assert_ne!(cookie(1, one), cookie(2, one));
        assert_eq!(cookie(1, one).as_bytes().len(), 8);
    }
}
