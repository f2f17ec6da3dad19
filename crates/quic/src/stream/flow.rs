//! Flow control of the connection in both directions (RFC 9000 section 4.1).

use super::notices::NEVER_SENT;
use crate::delivery::Delivery;
use crate::error::TransportError;
use wire::Code;

/// The divisor of the credit for a stream that already has data to send, which leaves credit for streams that start
/// later.
const SHARE_DIVISOR: u64 = 8;

/// The credit that the peer has granted.
#[derive(Debug, Default)]
pub(crate) struct Credit {
    limit: u64,
    spent: u64,
    /// New bytes that wait only for this credit or for their turn.
    waiting: u64,
    blocked_at: Option<u64>,
    blocked: Delivery,
}

impl Credit {
    /// The number of new bytes that may still be sent.
    #[inline]
    pub(crate) fn available(&self) -> u64 {
        self.limit - self.spent
    }
    /// The credit that is left beyond the waiting bytes.
    pub(crate) fn left(&self) -> u64 {
        self.available().saturating_sub(self.waiting)
    }
    /// The credit left for a stream that already has data to send. Most of the credit is reserved for streams that
    /// have none, so that urgent data does not wait for earlier data.
    pub(crate) fn left_for_more(&self) -> u64 {
        (self.available() / SHARE_DIVISOR).saturating_sub(self.waiting)
    }
    /// The credit left for a stream with nothing to send, with an allowance of `ahead` bytes: the waiting data of
    /// less urgent streams must not prevent its turn when credit arrives in small pieces.
    pub(crate) fn left_for_none(&self, ahead: u64) -> u64 {
        (self.available() + ahead).saturating_sub(self.waiting).min(self.available())
    }
    /// Updates the waiting bytes after a change of one stream's [`super::send::SendHalf::waiting`].
    #[inline]
    pub(crate) fn note_waiting(&mut self, before: u64, after: u64) {
        debug_assert!(
            before <= self.waiting,
            "the bytes of each stream that wait are among those of all streams"
        );
        self.waiting = self.waiting - before + after;
    }
    /// Notes that waiting bytes were sent.
    #[inline]
    pub(crate) fn spend(&mut self, bytes: u64) {
        self.spent += bytes;
        debug_assert!(self.spent <= self.limit, "new data is taken within the credit of the connection");
        debug_assert!(bytes <= self.waiting, "data waits for its turn before it is sent");
        self.waiting -= bytes;
    }
    /// Raises the limit, which never falls (RFC 9000-4.1-3, 9000-13.3-3). Returns whether it rose.
    pub(crate) fn raise(&mut self, limit: u64) -> bool {
        let rises = limit > self.limit;
        self.limit = self.limit.max(limit);
        rises
    }
    /// Whether DATA_BLOCKED is due; it is sent once for each limit.
    pub(crate) fn note_blocked(&mut self) -> bool {
        let new = self.blocked_at != Some(self.limit);
        if new {
            self.blocked_at = Some(self.limit);
            self.blocked.renew();
        }
        new
    }
    /// The state of DATA_BLOCKED and the limit that it reports.
    pub(super) fn delivery(&mut self) -> (&mut Delivery, u64) {
        (&mut self.blocked, self.blocked_at.unwrap_or(NEVER_SENT))
    }
    /// Stops unless the streams wait for this many bytes, and no more was spent than granted.
    pub(super) fn check(&self, waiting: u64) {
        assert_eq!(self.waiting, waiting, "the waiting bytes are those of the streams");
        assert!(self.spent <= self.limit, "no more is sent than the peer permits");
    }
    /// Resets the state to nothing sent and no limit.
    pub(super) fn rewind(&mut self) {
        (self.limit, self.spent, self.waiting, self.blocked_at) = (0, 0, 0, None);
    }
    /// The limit for DATA_BLOCKED, if the connection is still blocked at it.
    pub(crate) fn blocked_limit(&self) -> Option<u64> {
        self.blocked_at.filter(|limit| *limit == self.limit && self.spent == self.limit)
    }
}

/// The size of a flow-control window, and the rest at which more credit is granted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) size: u64,
    pub(crate) threshold: u64,
}

impl Window {
    /// A window that is renewed when no more than this share is left.
    pub(crate) fn new(size: units::Size, share: f64) -> Window {
        let size = size.as_bytes();
        Window { size, threshold: (size as f64 * share) as u64 }
    }
}

/// The credit granted to the peer.
#[derive(Debug)]
pub(crate) struct Grant {
    limit: u64,
    window: Window,
    received: u64,
    consumed: u64,
    update: Delivery,
}

impl Grant {
    pub(crate) fn new(window: Window) -> Grant {
        Grant { limit: window.size, window, received: 0, consumed: 0, update: Delivery::default() }
    }
    /// Counts newly received bytes.
    #[inline]
    pub(crate) fn receive(&mut self, bytes: u64) -> Result<(), TransportError> {
        self.received += bytes;
        // RFC 9000-4.1-2, 9000-19.9-2: "receives more data than the maximum data value that it has sent".
        match self.received <= self.limit {
            true => Ok(()),
            false => Err(TransportError::new(Code::FLOW_CONTROL_ERROR, "data beyond MAX_DATA")),
        }
    }
    /// Counts bytes that were read or dropped. Returns whether MAX_DATA must be queued, because little of the window
    /// is left.
    #[inline]
    pub(crate) fn consume(&mut self, bytes: u64) -> bool {
        self.consumed += bytes;
        // Data beyond the limit, which closes the connection, can still be read.
        self.limit.saturating_sub(self.consumed) <= self.window.threshold && self.ask()
    }
    /// Stops if the peer has got past its credit, or more was read than received.
    pub(super) fn check(&self) {
        assert!(self.received <= self.limit, "no more is received than was permitted");
        assert!(self.consumed <= self.received, "what is read was received");
    }
    /// The bytes that were received, and those that were read or dropped.
    pub(super) fn books(&self) -> (u64, u64) {
        (self.received, self.consumed)
    }
    /// The state of MAX_DATA and the last value sent.
    pub(super) fn delivery(&mut self) -> (&mut Delivery, u64) {
        (&mut self.update, self.limit)
    }
    /// Queues MAX_DATA; returns `false` if it already was.
    fn ask(&mut self) -> bool {
        self.update.ask()
    }
    /// Whether MAX_DATA would grant more credit.
    pub(crate) fn has_more_to_give(&self) -> bool {
        self.next_limit() > self.limit
    }
    /// The value for MAX_DATA.
    pub(crate) fn next_limit(&self) -> u64 {
        self.limit.max(self.consumed + self.window.size).min(wire::varint::MAX)
    }
    /// Notes that MAX_DATA was sent.
    pub(crate) fn raise(&mut self) {
        self.limit = self.next_limit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_renewed_when_half_of_it_is_used() {
        let mut grant = Grant::new(Window::new(units::Size::from_bytes(100), 0.5));
        grant.receive(100).unwrap();
        assert!(!grant.consume(49));
        assert!(grant.consume(1) && !grant.consume(0), "asked once");
        assert_eq!(grant.next_limit(), 150);
        grant.raise();
        grant.receive(50).unwrap();
        assert_eq!(grant.receive(1).unwrap_err().code, Code::FLOW_CONTROL_ERROR);
        grant.consume(101);
    }

    #[test]
    fn the_threshold_is_the_share_that_is_left() {
        for (share, left) in [(0.0, 0), (0.25, 25), (0.9, 90), (1.0, 100)] {
            let mut grant = Grant::new(Window::new(units::Size::from_bytes(100), share));
            grant.receive(100).unwrap();
            let asked = (0..=100).find(|read| grant.consume(u64::from(*read > 0))).map(|read| 100 - read);
            assert_eq!(asked, Some(left), "{share}");
        }
    }

    #[test]
    fn blocked_is_sent_once_for_each_limit() {
        let mut credit = Credit::default();
        assert!(credit.raise(10) && !credit.raise(5));
        credit.note_waiting(0, 10);
        credit.spend(10);
        assert!(credit.note_blocked() && !credit.note_blocked());
        assert_eq!(credit.blocked_limit(), Some(10));
        credit.raise(20);
        assert_eq!((credit.blocked_limit(), credit.available()), (None, 10));
    }
}
