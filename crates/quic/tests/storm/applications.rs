//! The applications at the ends of connections, as the world sees them.

use quic::{Config, Connection, Handle};
use units::Time;

/// One end of a connection: that of a client, by its number over all clients and their rounds, or one of the server's,
/// by its number in the order in which they came.
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

/// The applications of all connections. Memory counts as held only if it is allocated inside of the calls that are counted:
/// all work on a connection belongs there.
pub(crate) trait Applications {
    /// Something may have happened at this end: its events are theirs to poll.
    fn attend(&mut self, now: Time, end: End, handle: Handle, connection: &mut Connection);
    /// Whether all that this client's connection is for has come to its end; `accepted` is the server's end of it.
    fn is_done(&self, client: usize, accepted: usize) -> bool;
    /// Whether each connection must come to its end, and with the right bytes.
    fn is_strict(&self) -> bool;
    /// What is not over, for the message of a failure.
    fn describe(&self, client: usize, accepted: Option<usize>) -> String;
    /// Gives back what they hold.
    fn end(self)
    where
        Self: Sized,
    {
    }
    /// What must hold after each step.
    fn check(&self) {}
    /// Whether this client's connection is counted in the tally: not that of one that breaks the rules. An end it must come to, too.
    fn counts(&self, client: usize) -> bool {
        let _ = client;
        true
    }
    /// What they may hold of a connection with these options, in bytes.
    fn most_memory(&self, config: &Config) -> i64 {
        let _ = config;
        0
    }
}
