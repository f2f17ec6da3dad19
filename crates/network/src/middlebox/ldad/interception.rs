//! The acknowledgement of a flow that is held back.

use crate::packet::Packet;
use units::{Duration, Time};

/// The cache of intercepted acknowledgements: "to store the ACK-only packet currently intercepted" (section 3.2), which is the
/// newest. A newer one acknowledges what those before it did (RFC 9000 section 13.2.3), and supersedes them.
#[derive(Debug, Default)]
pub(super) struct Cache(Option<(Time, Box<Packet>)>);

impl Cache {
    /// Keeps an acknowledgement. Returns the one that it supersedes, with the time for which it was held.
    pub(super) fn keep(&mut self, now: Time, packet: Box<Packet>) -> Option<(Duration, Box<Packet>)> {
        let before = self.take(now);
        self.0 = Some((now, packet));
        before
    }
    /// Takes out what is kept, with the time for which it was held.
    pub(super) fn take(&mut self, now: Time) -> Option<(Duration, Box<Packet>)> {
        self.0.take().map(|(since, packet)| (now.since(since), packet))
    }
    /// What is kept.
    pub(super) fn packet(&self) -> Option<&Packet> {
        self.0.as_ref().map(|(_, packet)| &**packet)
    }
    /// Whether anything is kept.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}
