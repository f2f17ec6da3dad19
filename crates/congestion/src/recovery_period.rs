//! The recovery period: one answer to congestion for each round trip (RFC 9002 section 7.3.2).

use units::Time;

/// Where a sender is with respect to its last reduction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecoveryPeriod {
    /// Packets sent up to here belong to the period; `None` before the first loss.
    start: Option<Time>,
    active: bool,
}

impl RecoveryPeriod {
    /// Congestion, told by a packet that was sent then: whether it begins a new period, so that it is to be answered.
    pub(crate) fn begin(&mut self, now: Time, sent_at: Time) -> bool {
        if self.covers(sent_at) {
            return false;
        }
        *self = RecoveryPeriod { start: Some(now), active: true };
        true
    }
    /// Whether a packet that was sent then was sent before the last reduction.
    #[inline]
    pub(crate) fn covers(&self, sent_at: Time) -> bool {
        self.start.is_some_and(|start| sent_at <= start)
    }
    /// When the last reduction was.
    pub(crate) fn start(&self) -> Option<Time> {
        self.start
    }
    /// A packet that was sent after the reduction was acknowledged.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.active = false;
    }
    /// Whether no such packet was acknowledged yet.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }
}
