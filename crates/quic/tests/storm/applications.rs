//! The applications of connections, as seen by the world.

use quic::{Config, Connection, Handle};
use units::Time;

/// One end of a connection: a client's, by its number over all clients and their rounds, or the server's, by its
/// number in order of acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Client(usize),
    Server(usize),
}

impl End {
    pub(crate) fn is_client(self) -> bool {
        matches!(self, End::Client(_))
    }
}

/// The applications of all connections. Memory counts as held only if it is allocated inside of counted calls, so all
/// work on a connection belongs there.
pub(crate) trait Applications {
    /// Handles the events of this end.
    fn attend(&mut self, now: Time, end: End, handle: Handle, connection: &mut Connection);
    /// Whether the work of this client's connection is complete; `accepted` is the server's end of it.
    fn is_done(&self, client: usize, accepted: usize) -> bool;
    /// Whether each connection must complete, with the right bytes.
    fn is_strict(&self) -> bool;
    /// The unfinished work, for the message of a failure.
    fn describe(&self, client: usize, accepted: Option<usize>) -> String;
    /// Frees everything they hold.
    fn end(self)
    where
        Self: Sized,
    {
    }
    /// Checks what must hold after each step.
    fn check(&self) {}
    /// Whether this client's connection is counted in the tally: not if it violates the protocol. It must end in any
    /// case.
    fn counts(&self, client: usize) -> bool {
        let _ = client;
        true
    }
    /// The number of bytes that they may hold for a connection with these options.
    fn most_memory(&self, config: &Config) -> i64 {
        let _ = config;
        0
    }
}
