//! The ways of migrating a client (RFC 9000 section 9.2), the errors, and a server's preferred address (section 9.6).

use crate::ids::NumberedId;
use std::fmt;
use std::net::{SocketAddrV4, SocketAddrV6};
use units::parameter::Choice;
use wire::PreferredAddress;

/// The way in which a client migrates to another local address: see [`crate::Connection::migrate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
pub enum Migration {
    /// Validates the new path first, then migrates (RFC 9000 section 9.1). If validation fails, the connection
    /// remains on its path and reports [`Event::PathFailed`](crate::Event::PathFailed).
    Probe,
    /// Migrates immediately and validates the new path meanwhile. If validation fails, the connection returns to the
    /// old path.
    #[word("at_once")]
    AtOnce,
    /// The old address has disappeared: migrates immediately, without a path to return to.
    Rebound,
    /// Changes the address without any reaction of the connection: the same connection id, no validation, the same
    /// window. To the peer this looks like a NAT rebinding (RFC 9000 section 9.3). For tests and experiments;
    /// observers can link the paths (section 9.5).
    Silent,
}

/// The reason why a connection cannot migrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrateError {
    /// Only clients migrate (RFC 9000 section 9).
    NotAClient,
    /// The handshake is not confirmed yet (RFC 9000 section 9).
    NotConfirmed,
    /// The server has sent disable_active_migration (RFC 9000 section 18.2).
    Disabled,
    /// The server has provided no unused connection id (RFC 9000 section 9.5). It replaces a used one within a round
    /// trip; a server with empty ids never provides any.
    NoConnectionId,
    /// The address is already in use.
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
            MigrateError::NoConnectionId => "the server has issued no unused connection ID",
            MigrateError::SameAddress => "the address is already in use",
            MigrateError::Closed => "the connection is closed",
        })
    }
}
impl std::error::Error for MigrateError {}

/// A server's preferred addresses (RFC 9000 section 9.6).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Preferred {
    pub(crate) ipv4: Option<SocketAddrV4>,
    pub(crate) ipv6: Option<SocketAddrV6>,
}

impl Preferred {
    /// The transport parameter, with the id that `issue` returns; `None` without a preferred address.
    pub(crate) fn parameter(self, issue: impl FnOnce() -> NumberedId) -> Option<PreferredAddress> {
        let Preferred { ipv4, ipv6 } = self;
        (ipv4.is_some() || ipv6.is_some()).then(|| {
            // RFC 9000-9.6.2-4: "MUST NOT use these for other connections".
            let NumberedId { id, token, .. } = issue();
            PreferredAddress { ipv4, ipv6, id, token }
        })
    }
}
