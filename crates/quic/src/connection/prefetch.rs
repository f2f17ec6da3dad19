//! Prefetches a connection into the processor's cache before it is used.
//!
//! Two steps are necessary, because the connection itself must be in the cache before its pointers can be followed. A
//! caller that knows the next connection in advance does the first step, other work, and then the second.

use super::Connection;
use units::cache::ask_for;

impl Connection {
    /// Prefetches the fields that every packet uses, not those that only the handshake or a migration uses.
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

    /// Prefetches what the fields point to, after [`Connection::prefetch`].
    #[inline]
    pub(crate) fn prefetch_parts(&self) {
        self.spaces.data.sent.prefetch();
        self.local_ids.prefetch();
        self.paths.prefetch();
        self.streams.prefetch();
    }
}
