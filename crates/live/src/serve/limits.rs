//! What clients can make a server keep, at most.

use crate::error::LiveError;
use units::Size;

/// The least memory of a server for each client that there may be, in bytes: with less a response would stand still.
const LEAST_MEMORY: u64 = 4096;

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
    /// What is read of files and not acknowledged by clients, for all connections together: at least 4096 bytes for each. What
    /// clients send comes beside it: see [`Settings::of_server`](crate::Settings::of_server).
    pub memory: Size,
    /// The same for one connection, at least 4096 bytes.
    pub memory_of_connection: Size,
    /// Files that are open at a time. More can be on their way: one whose client takes nothing is closed, and opened again.
    pub files: usize,
    /// The same for one connection.
    pub files_of_connection: usize,
}

impl Limits {
    /// The limits of a server for this many clients at a time. A tenth of them may be in their handshakes, and a tenth, but no
    /// fewer than 16, may come from one network. 512 MB for all connections together, or 4096 bytes for each if that is more, and
    /// 16 MB for one; 256 open files in all, 16 per connection.
    pub fn of(connections: usize) -> Limits {
        let half_open = (connections / 10).clamp(1, 10_000);
        let share = |all: usize| (all / 10).max(16).min(all);
        Limits {
            connections,
            half_open,
            connections_of_source: share(connections),
            half_open_of_source: share(half_open),
            memory: Size::from_bytes(512_000_000.max(least_memory(connections))),
            memory_of_connection: Size::from_bytes(16_000_000),
            files: 256,
            files_of_connection: 16,
        }
    }

    /// The same with this memory for all connections together, and no more for one.
    ///
    /// # Errors
    /// [`LiveError::Memory`] if it is too little.
    pub fn with_memory(self, memory: Size) -> Result<Limits, LiveError> {
        let limits = Limits { memory, memory_of_connection: self.memory_of_connection.min(memory), ..self };
        limits.check()?;
        Ok(limits)
    }

    /// # Errors
    /// [`LiveError::Memory`] if there is so little memory that a response could stand still.
    pub(crate) fn check(&self) -> Result<(), LiveError> {
        let lacks = |memory: Size, connections: usize| {
            let least = Size::from_bytes(least_memory(connections));
            if memory < least { Err(LiveError::Memory { memory, connections, least }) } else { Ok(()) }
        };
        lacks(self.memory, self.connections)?;
        lacks(self.memory_of_connection, self.connections.min(1))
    }
}

fn least_memory(connections: usize) -> u64 {
    LEAST_MEMORY.saturating_mul(connections as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_with_which_a_response_would_stand_still_is_refused() {
        for connections in [0, 1, 16, 10_000, 1 << 24] {
            assert!(Limits::of(connections).check().is_ok(), "{connections}");
        }
        let limits = Limits::of(10_000);
        for bytes in [0, 1000, 40_959_999] {
            let error = limits.with_memory(Size::from_bytes(bytes)).unwrap_err().to_string();
            assert!(error.contains("10000 clients") && error.contains("at least 40.96 MB"), "{error}");
        }
        let least = limits.with_memory(Size::from_bytes(40_960_000)).unwrap();
        assert_eq!(
            (least.memory, least.memory_of_connection),
            (Size::from_bytes(40_960_000), Size::from_bytes(16_000_000))
        );
        let none = Limits { memory_of_connection: Size::from_bytes(0), ..limits };
        assert!(none.check().unwrap_err().to_string().contains("1 client: expected at least 4.096 kB"));
    }
}
