//! The window of controllers that grow as Reno does: slow start up to a threshold, additive increase above it, the
//! minimum window after persistent congestion (RFC 9002 section 7).

use crate::additive::Additive;
use crate::basis::Basis;
use crate::recovery_period::RecoveryPeriod;
use crate::slow_start::SlowStart;
use crate::{AckSample, Allowance, MAX_WINDOW, Signal};

/// The window of one sender in bytes, and what it depends on.
#[derive(Debug)]
pub(crate) struct Reno {
    pub(crate) basis: Basis,
    pub(crate) window: u64,
    /// `u64::MAX` before the first reduction.
    pub(crate) ssthresh: u64,
    slow_start: SlowStart,
    increase: Additive,
    allowance: Allowance,
}

impl Reno {
    /// Creates the window of a new connection, which is in slow start.
    pub(crate) fn new(basis: Basis, slow_start: SlowStart, increase: Additive) -> Reno {
        let window = basis.initial();
        let allowance = Allowance::new(0, None);
        let mut reno = Reno { basis, window, ssthresh: u64::MAX, slow_start, increase, allowance };
        reno.allow();
        reno
    }

    #[inline]
    pub(crate) fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Computes the allowance anew, after a change of the window or of the RTT.
    #[inline]
    pub(crate) fn allow(&mut self) {
        self.window = self.window.min(MAX_WINDOW);
        self.allowance = self.basis.allow(self.window, self.in_slow_start());
    }

    /// Grows the window for this acknowledgement, in slow start and then in congestion avoidance.
    #[inline]
    pub(crate) fn grow(&mut self, ack: &AckSample<'_>) {
        let mut acked = ack.acked_bytes;
        if self.in_slow_start() {
            acked = self.grow_in_slow_start(ack);
        }
        if !self.in_slow_start() {
            // RFC 9002 section 7.3.3: one datagram per acknowledged window.
            self.window = self.increase.grow(self.window, acked, self.basis.datagram());
        }
    }

    /// RFC 9002 section 7.3.1: grows the window up to the threshold. Returns the bytes that are left, which count
    /// towards congestion avoidance.
    #[inline]
    pub(crate) fn grow_in_slow_start(&mut self, ack: &AckSample<'_>) -> u64 {
        debug_assert!(self.window < self.ssthresh, "slow start ends at the threshold");
        let growth = self.slow_start.on_ack(ack, self.basis.datagram());
        let grown = growth.bytes.min(self.ssthresh - self.window);
        self.window += grown;
        if growth.done {
            self.slow_start.stop();
            self.ssthresh = self.window;
        }
        growth.bytes - grown
    }

    /// Responds to congestion by this threshold in bytes, or the minimum window if that is more. The window is not
    /// above it afterwards.
    pub(crate) fn reduce(&mut self, ssthresh: u64) {
        self.slow_start.stop();
        self.ssthresh = ssthresh.max(self.basis.minimum());
        self.window = self.window.min(self.ssthresh);
        self.increase.restart();
    }

    /// Responds to the signals that are not congestion of a round trip, and computes the allowance.
    pub(crate) fn on_signal(&mut self, signal: &Signal<'_>) {
        match *signal {
            Signal::Lost { .. } | Signal::Marked { .. } | Signal::Spurious { .. } => {}
            Signal::PersistentCongestion => {
                // RFC 9002 section 7.6.2: back to the minimum and to slow start; the recovery period ends.
                self.window = self.basis.minimum();
                self.increase.restart();
                self.basis.recovery = RecoveryPeriod::default();
            }
            // RFC 9002 section 7.2: limits in datagrams follow the new size.
            Signal::DatagramSize { bytes } => self.window = self.basis.resize(self.window, bytes),
            Signal::PathChanged => {
                // RFC 9000 section 9.4: as at the start.
                self.window = self.basis.restart();
                self.ssthresh = u64::MAX;
                self.increase.restart();
                self.slow_start.restart(self.basis.delivered);
            }
            Signal::Resume { adjustment, .. } => {
                self.increase.restart();
                self.basis.resume(adjustment, &mut self.window, &mut self.ssthresh);
            }
        }
        self.allow();
    }

    #[inline]
    pub(crate) fn allowance(&self) -> Allowance {
        self.allowance
    }

    /// The threshold in bytes; `None` before the first reduction.
    pub(crate) fn ssthresh(&self) -> Option<u64> {
        (self.ssthresh != u64::MAX).then_some(self.ssthresh)
    }

    /// The name of the state in traces.
    pub(crate) fn state(&self) -> &'static str {
        if self.basis.recovery.is_active() {
            "recovery"
        } else if self.in_slow_start() {
            self.slow_start.state()
        } else {
            "congestion_avoidance"
        }
    }
}
