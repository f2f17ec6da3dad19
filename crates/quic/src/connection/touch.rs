//! One look at all parts of a connection that a packet needs.
//!
//! Where many connections take turns, what one of them needs is not in the processor's cache when its turn comes, and each part
//! would be waited for when it is first used, one after the other. Loads that do not depend on one another are waited for
//! together: so all parts are read once before the work begins. Where they are in the cache already this costs next to
//! nothing. What is read does not matter.

use super::Connection;

impl Connection {
    /// Reads a word of each part.
    #[inline]
    pub(crate) fn touch(&self) {
        let words = [
            self.local_ids.touch(),
            self.data.sent.touch(),
            self.data.received.touch(),
            self.data.largest_acked.unwrap_or(0),
            self.data.last_eliciting_at.as_nanos(),
            self.data.keys.is_some().into(),
            self.streams.touch(),
            self.recovery.touch(),
            self.path.since,
            self.control.len() as u64,
            self.peer.is_some().into(),
            self.peer_max_ack_delay.as_nanos(),
            self.idle_from.as_nanos(),
            self.probe_base.as_nanos(),
            self.events.len() as u64,
            self.contents.frames.len() as u64,
            self.losses.len() as u64,
            self.zero_rtt.is_some().into(),
            self.now.as_nanos(),
            self.stats.packets_received,
            self.stats.bytes_sent,
            u64::from(self.epochs),
            self.key_phases.updates,
        ];
        std::hint::black_box(words.iter().fold(0, |all, word| all ^ word));
    }
}
