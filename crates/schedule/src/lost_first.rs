//! Lost data before all new data: the option `retransmissions = "first"` of every scheduler.

use super::ring::Ring;
use super::{Head, PathView, Priority, Scheduler, StreamKey};
use units::Time;

/// Sends streams with lost data first, in the order in which they lost it: one stream retransmits everything, then the
/// next. The inner scheduler chooses among the others. It sees all events, but retransmissions sent first do not count
/// as turns, only as bytes.
pub(super) struct LostFirst {
    inner: Box<dyn Scheduler>,
    lost: Ring,
}

impl LostFirst {
    pub(super) fn new(inner: Box<dyn Scheduler>) -> LostFirst {
        LostFirst { inner, lost: Ring::default() }
    }
}

impl Scheduler for LostFirst {
    fn wants_heads(&self) -> bool {
        self.inner.wants_heads()
    }
    fn on_ready(&mut self, stream: StreamKey, now: Time) {
        self.inner.on_ready(stream, now);
    }
    fn on_head(&mut self, stream: StreamKey, head: Head) {
        self.inner.on_head(stream, head);
    }
    fn on_sent(&mut self, stream: StreamKey, bytes: u64) {
        if self.lost.front() == Some(stream) {
            self.inner.on_sent_out_of_turn(stream, bytes);
        } else {
            self.inner.on_sent(stream, bytes);
        }
    }
    fn on_idle(&mut self, stream: StreamKey) {
        self.lost.leave(stream);
        self.inner.on_idle(stream);
    }
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        self.inner.on_priority(stream, priority);
    }
    fn on_lost(&mut self, stream: StreamKey) {
        self.lost.join(stream);
        self.inner.on_lost(stream);
    }
    fn on_repaired(&mut self, stream: StreamKey) {
        self.lost.leave(stream);
        self.inner.on_repaired(stream);
    }
    fn on_closed(&mut self, stream: StreamKey) {
        self.lost.leave(stream);
        self.inner.on_closed(stream);
    }
    fn next(&mut self, view: &PathView) -> Option<StreamKey> {
        self.lost.front().or_else(|| self.inner.next(view))
    }
}

#[cfg(test)]
mod tests {
    use super::super::RoundRobin;
    use super::super::testing::{VIEW, key, turns};
    use super::*;

    #[test]
    fn lost_data_goes_first_and_takes_no_turn() {
        let mut first = LostFirst::new(Box::new(RoundRobin::default()));
        for slot in 0..3 {
            first.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut first, 2), [0, 1]);
        first.on_lost(key(1));
        first.on_lost(key(0));
        assert_eq!(turns(&mut first, 3), [1, 1, 1], "until all of it was sent");
        first.on_repaired(key(1));
        assert_eq!(turns(&mut first, 2), [0, 0]);
        first.on_repaired(key(0));
        assert_eq!(turns(&mut first, 3), [2, 0, 1], "as if nothing had been lost");
        first.on_lost(key(2));
        assert_eq!(turns(&mut first, 2), [2, 2]);
        first.on_repaired(key(2));
        assert_eq!(turns(&mut first, 3), [2, 0, 1], "it was its turn all the same");
        first.on_lost(key(2));
        first.on_idle(key(2));
        assert_eq!(first.next(&VIEW), Some(key(0)));
    }
}
