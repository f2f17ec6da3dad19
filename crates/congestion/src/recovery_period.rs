//! The recovery period: one response to congestion per round trip (RFC 9002 section 7.3.2).

use units::Time;

/// The state of a sender relative to its last reduction.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecoveryPeriod {
    /// The period covers packets sent up to here; `None` before the first loss.
    start: Option<Time>,
    active: bool,
}

impl RecoveryPeriod {
    /// Whether congestion experienced by a packet sent at this time begins a new period and must be responded to.
    pub(crate) fn begin(&mut self, now: Time, sent_at: Time) -> bool {
        if self.covers(sent_at) {
            return false;
        }
        debug_assert!(sent_at <= now, "congestion is noticed after the packet was sent");
        *self = RecoveryPeriod { start: Some(now), active: true };
        true
    }
    /// Whether a packet sent at this time was sent before the last reduction.
    #[inline]
    pub(crate) fn covers(&self, sent_at: Time) -> bool {
        self.start.is_some_and(|start| sent_at <= start)
    }
    /// When the last reduction was.
    pub(crate) fn start(&self) -> Option<Time> {
        self.start
    }
    /// A packet sent after the reduction was acknowledged.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.active = false;
    }
    /// Whether no such packet was acknowledged yet.
    pub(crate) fn is_active(&self) -> bool {
        self.active
    }
}
