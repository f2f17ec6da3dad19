//! TCP Fast Open: data with the SYN, for clients that have a cookie of the server (RFC 7413).

use random::Stream;
use std::net::IpAddr;
use wire::tcp::Cookie;

/// The cookie that a server with this key gives to a client at this address (section 4.1.2). Not fit for cryptography: the
/// endpoint runs in simulated networks.
pub(crate) fn cookie(key: u64, client: IpAddr) -> Cookie {
    let bytes = Stream::seed_for(key, &client.to_string()).to_be_bytes();
    Cookie::new(&bytes).unwrap_or_default()
}

/// What Fast Open is about in one connection.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FastOpenState {
    /// At a client: the option of its SYN. At a server: that of its SYN-ACK.
    pub(crate) option: Option<Cookie>,
    /// Data may flow before the handshake is over.
    pub(crate) early: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_good_for_one_address_and_one_server() {
        let [one, two]: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        assert_eq!(cookie(1, one), cookie(1, one));
        assert_ne!(cookie(1, one), cookie(1, two));
        assert_ne!(cookie(1, one), cookie(2, one));
        assert_eq!(cookie(1, one).as_bytes().len(), 8);
    }
}
