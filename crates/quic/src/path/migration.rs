//! How a client changes the address that it sends from (RFC 9000 section 9.2), why it cannot, and where a server would
//! rather have it send to (section 9.6).

use crate::ids::NumberedId;
use std::fmt;
use std::net::{SocketAddrV4, SocketAddrV6};
use wire::PreferredAddress;

/// How a client moves to another address of its own: see [`crate::Connection::migrate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    /// The new path is validated first; then everything moves there (RFC 9000 section 9.1). If the validation fails,
    /// nothing has changed but an [`Event::PathFailed`](crate::Event::PathFailed).
    Probe,
    /// Everything moves at once, and the new path is validated meanwhile. If the validation fails, everything moves
    /// back.
    AtOnce,
    /// The old address is gone. Everything moves at once; there is no way back.
    Rebound,
    /// The address changes and the connection takes no notice: the same connection id, no validation, the same window. To
    /// the peer it looks as if a NAT on the way had changed its binding (RFC 9000 section 9.3). For tests and experiments;
    /// it lets observers link the paths (section 9.5).
    Silent,
}

impl Migration {
    /// All of them by the words that scenarios use.
    pub const ALL: [(&'static str, Migration); 4] = [
        ("probe", Migration::Probe),
        ("at_once", Migration::AtOnce),
        ("rebound", Migration::Rebound),
        ("silent", Migration::Silent),
    ];
}

/// Why a connection cannot move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrateError {
    /// Only clients move (RFC 9000 section 9).
    NotAClient,
    /// The handshake is not confirmed yet (RFC 9000 section 9).
    NotConfirmed,
    /// The server does not want it: disable_active_migration (RFC 9000 section 18.2).
    Disabled,
    /// The server has given no connection id that was not used before (RFC 9000 section 9.5). After a move it gives
    /// another, one round trip later; a server with empty ids never does.
    NoConnectionId,
    /// That is where packets leave from already.
    SameAddress,
    /// The connection is closing or closed.
    Closed,
}

impl fmt::Display for MigrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MigrateError::NotAClient => "only clients migrate",
            MigrateError::NotConfirmed => "the handshake is not confirmed",
            MigrateError::Disabled => "the server has disabled active migration",
            MigrateError::NoConnectionId => "the server has given no unused connection id",
            MigrateError::SameAddress => "the address is in use already",
            MigrateError::Closed => "the connection is closed",
        })
    }
}
impl std::error::Error for MigrateError {}

/// Where a server would rather be sent to (RFC 9000 section 9.6).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Preferred {
    pub(crate) ipv4: Option<SocketAddrV4>,
    pub(crate) ipv6: Option<SocketAddrV6>,
}

impl Preferred {
    /// The transport parameter, with the id that `issue` gives; `None` if there is no preference.
    pub(crate) fn parameter(self, issue: impl FnOnce() -> NumberedId) -> Option<PreferredAddress> {
        let Preferred { ipv4, ipv6 } = self;
        (ipv4.is_some() || ipv6.is_some()).then(|| {
            // RFC 9000-9.6.2-4: an id of one connection.
            let NumberedId { id, token, .. } = issue();
            PreferredAddress { ipv4, ipv6, id, token }
        })
    }
}
