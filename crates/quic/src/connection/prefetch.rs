//! What a connection needs at its turn is asked for before.
//!
//! In two steps, as what pointers lead to can be asked for only when the pointers are there: first the connection itself,
//! then its parts elsewhere. Who knows early enough whose turn comes does the one, then something else, then the other.

use super::Connection;
use units::cache::ask_for;

impl Connection {
    /// Asks for what every packet needs of the connection itself. What only the handshake or a move needs is left out.
    #[inline]
    pub(crate) fn prefetch(&self) {
        ask_for(&self.closing);
        ask_for(&self.spaces);
        ask_for(&self.keys);
        ask_for(&self.streams);
        ask_for(&self.paths);
        ask_for(&self.local_ids);
        ask_for(&self.control);
        ask_for(&self.idle);
        ask_for(&self.acks);
        ask_for(&self.events);
        ask_for(&self.contents);
        ask_for(&self.losses);
        ask_for(&self.log);
        ask_for(&self.now);
        ask_for(&self.stats);
    }

    /// Asks for its parts elsewhere, once the connection itself has come.
    #[inline]
    pub(crate) fn prefetch_parts(&self) {
        self.spaces.data.sent.prefetch();
        self.local_ids.prefetch();
        self.paths.prefetch();
        self.streams.prefetch();
    }
}
