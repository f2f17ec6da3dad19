//! What clients can make a server keep, at most.

use units::Size;

/// The limits of a server. Each applies no matter what clients request and announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many clients there may be at a time; others are refused with CONNECTION_REFUSED.
    pub connections: usize,
    /// How many of them may be in their handshakes; from a tenth of that on they must show their address (Retry), unless
    /// the option `retry` says otherwise.
    pub half_open: usize,
    /// How many of the clients may come from one network: see [`quic::EndpointOptions::max_connections_of_source`].
    pub connections_of_source: usize,
    /// How many of those in their handshakes.
    pub half_open_of_source: usize,
    /// What is read of files and not acknowledged by clients, for all connections together.
    pub memory: Size,
    /// The same for one connection.
    pub memory_of_connection: Size,
    /// Files that are open at a time. More can be on their way: one whose client takes nothing is closed, and opened again.
    pub files: usize,
    /// The same for one connection.
    pub files_of_connection: usize,
}

impl Limits {
    /// The limits of a server for this many clients at a time. A tenth of them may be in their handshakes, and a tenth, but no
    /// fewer than 16, may come from one network. 512 MB for all connections together and 16 MB for each; 256 open files in all,
    /// 16 per connection.
    pub fn of(connections: usize) -> Limits {
        let half_open = (connections / 10).clamp(1, 10_000);
        let share = |all: usize| (all / 10).max(16).min(all);
        Limits {
            connections,
            half_open,
            connections_of_source: share(connections),
            half_open_of_source: share(half_open),
            memory: Size::from_bytes(512_000_000),
            memory_of_connection: Size::from_bytes(16_000_000),
            files: 256,
            files_of_connection: 16,
        }
    }
}
