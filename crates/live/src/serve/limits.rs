//! The limits on what clients can make a server keep.

use crate::error::LiveError;
use quic::Places;
use units::{Duration, Size};

/// The minimum memory of a server in bytes for each possible client: with less, a response could stall.
const LEAST_MEMORY: u64 = 4096;

/// The limits of a server. They apply regardless of what clients request and announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The places for clients and for handshakes in progress, and who gives way when they are taken.
    pub places: Places,
    /// The time after which a client without a request in progress is closed, whatever else it sends.
    pub unused: Duration,
    /// The maximum number of bytes read from files and not acknowledged, for all connections together: at least
    /// 4096 for each. Received data is additional: see [`Settings::of_server`](crate::Settings::of_server).
    pub memory: Size,
    /// The same for one connection, at least 4096 bytes.
    pub memory_of_connection: Size,
    /// The maximum number of open files. More can be in transfer: a file whose client does not read is closed,
    /// and opened again.
    pub files: usize,
    /// The same for one connection.
    pub files_of_connection: usize,
}

impl Limits {
    /// The limits of a server for this many clients at a time: the places of [`Places::of`]; 60 s without a request;
    /// 512 MB for all connections together, or 4096 bytes for each if that is more, and 16 MB for one; 256 open
    /// files in all, 16 per connection.
    pub fn of(connections: usize) -> Limits {
        Limits {
            places: Places::of(connections),
            unused: Duration::from_secs(60),
            memory: Size::from_bytes(512_000_000.max(least_memory(connections))),
            memory_of_connection: Size::from_bytes(16_000_000),
            files: 256,
            files_of_connection: 16,
        }
    }

    /// The same limits with this memory for all connections together, and at most this for one.
    ///
    /// # Errors
    /// [`LiveError::Memory`] if it is too small.
    pub fn with_memory(self, memory: Size) -> Result<Limits, LiveError> {
        let limits = Limits { memory, memory_of_connection: self.memory_of_connection.min(memory), ..self };
        limits.check()?;
        Ok(limits)
    }

    /// # Errors
    /// [`LiveError::Memory`] if the memory is so small that a response could stall.
    pub(crate) fn check(&self) -> Result<(), LiveError> {
        let lacks = |memory: Size, connections: usize| {
            let least = Size::from_bytes(least_memory(connections));
            if memory < least { Err(LiveError::Memory { memory, connections, least }) } else { Ok(()) }
        };
        lacks(self.memory, self.places.clients)?;
        lacks(self.memory_of_connection, self.places.clients.min(1))
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
