//! The credit of the whole connection, in both directions (RFC 9000 section 4.1).

use super::notices::NEVER_TOLD;
use crate::delivery::Delivery;
use crate::error::TransportError;
use wire::Code;

/// A stream that has something to send gets no more than one part in this many of the credit: the others find some when they
/// begin.
const SHARE: u64 = 8;

/// What the peer lets this side send.
#[derive(Debug, Default)]
pub(crate) struct Credit {
    limit: u64,
    spent: u64,
    /// Bytes that wait to be sent for the first time and that only this credit, or their turn, holds back.
    waiting: u64,
    blocked_at: Option<u64>,
    blocked: Delivery,
}

impl Credit {
    /// New bytes that may still be sent.
    #[inline]
    pub(crate) fn available(&self) -> u64 {
        self.limit - self.spent
    }
    /// The same beyond what waits to be sent already.
    pub(crate) fn left(&self) -> u64 {
        self.available().saturating_sub(self.waiting)
    }
    /// The same for a stream that has something to send already. Most of the credit stays for those that have nothing, so that what
    /// is urgent does not wait for what came before it.
    pub(crate) fn left_for_more(&self) -> u64 {
        (self.available() / SHARE).saturating_sub(self.waiting)
    }
    /// The same for a stream that has nothing to send: `ahead` bytes more, so that what less urgent streams wait with does not keep
    /// it from its turn when credit comes in small pieces.
    pub(crate) fn left_for_none(&self, ahead: u64) -> u64 {
        (self.available() + ahead).saturating_sub(self.waiting).min(self.available())
    }
    /// The waiting bytes of one stream have changed, as [`super::send::SendHalf::waiting`] tells.
    #[inline]
    pub(crate) fn note_waiting(&mut self, before: u64, after: u64) {
        self.waiting = self.waiting - before + after;
    }
    /// Bytes that waited are sent.
    #[inline]
    pub(crate) fn spend(&mut self, bytes: u64) {
        self.spent += bytes;
        self.waiting -= bytes;
    }
    /// The limit never falls (RFC 9000-4.1-3, 9000-13.3-3). Gives whether it rose.
    pub(crate) fn raise(&mut self, limit: u64) -> bool {
        let rises = limit > self.limit;
        self.limit = self.limit.max(limit);
        rises
    }
    /// Whether DATA_BLOCKED is to be sent, once for each limit.
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
        (&mut self.blocked, self.blocked_at.unwrap_or(NEVER_TOLD))
    }
    /// Nothing was sent, and no limit is known.
    pub(super) fn rewind(&mut self) {
        (self.limit, self.spent, self.waiting, self.blocked_at) = (0, 0, 0, None);
    }
    /// What DATA_BLOCKED tells, if it still holds.
    pub(crate) fn blocked_limit(&self) -> Option<u64> {
        self.blocked_at.filter(|limit| *limit == self.limit && self.spent == self.limit)
    }
}

/// How much credit there is at a time, and how little of it is left when more is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub(crate) size: u64,
    pub(crate) threshold: u64,
}

impl Window {
    /// More is given when no more than this share is left.
    pub(crate) fn new(size: units::Size, share: f64) -> Window {
        let size = size.as_bytes();
        Window { size, threshold: (size as f64 * share) as u64 }
    }
}

/// What this side lets the peer send.
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
    /// So many more bytes have come.
    #[inline]
    pub(crate) fn receive(&mut self, bytes: u64) -> Result<(), TransportError> {
        self.received += bytes;
        // RFC 9000-4.1-2, 9000-19.9-2.
        match self.received <= self.limit {
            true => Ok(()),
            false => Err(TransportError::new(Code::FLOW_CONTROL_ERROR, "data beyond MAX_DATA")),
        }
    }
    /// So many bytes were read or given up. Gives whether so little of the window is left that MAX_DATA is to be sent.
    #[inline]
    pub(crate) fn consume(&mut self, bytes: u64) -> bool {
        self.consumed += bytes;
        // What broke the limit, and with that ended the connection, can still be read.
        self.limit.saturating_sub(self.consumed) <= self.window.threshold && self.ask()
    }
    /// The state of MAX_DATA and the newest value that was sent.
    pub(super) fn delivery(&mut self) -> (&mut Delivery, u64) {
        (&mut self.update, self.limit)
    }
    /// Asks for MAX_DATA to be sent; `false` if that was asked already.
    fn ask(&mut self) -> bool {
        self.update.ask()
    }
    /// Whether MAX_DATA would tell of any more credit.
    pub(crate) fn has_more_to_give(&self) -> bool {
        self.next_limit() > self.limit
    }
    /// What MAX_DATA is to tell.
    pub(crate) fn next_limit(&self) -> u64 {
        self.limit.max(self.consumed + self.window.size).min(wire::varint::MAX)
    }
    /// MAX_DATA was sent.
    pub(crate) fn raise(&mut self) {
        self.limit = self.next_limit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_granted_anew_when_half_of_it_is_used() {
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
    fn the_threshold_says_how_little_is_left() {
        for (share, left) in [(0.0, 0), (0.25, 25), (0.9, 90), (1.0, 100)] {
            let mut grant = Grant::new(Window::new(units::Size::from_bytes(100), share));
            grant.receive(100).unwrap();
            let asked = (0..=100).find(|read| grant.consume(u64::from(*read > 0))).map(|read| 100 - read);
            assert_eq!(asked, Some(left), "{share}");
        }
    }

    #[test]
    fn blocked_is_told_once_for_each_limit() {
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
