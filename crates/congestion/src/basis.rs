//! The common state of window-based controllers: packet sizes, the recovery period, the smoothed RTT, pacing.

use crate::recovery_period::RecoveryPeriod;
use crate::window_pacing::{MinimumRtt, PacingOptions, WindowPacing};
use crate::{AckSample, Adjustment, Allowance, MAX_WINDOW, Setup};
use units::Duration;
use units::parameter::Options;

/// The option that all of them have.
#[derive(Debug, Clone, Options)]
pub(crate) struct WindowOptions {
    /// minimum window in packets: kMinimumWindow (RFC 9002 section 7.2)
    #[option(default = 2, within = 1..=1000)]
    pub(crate) minimum_window: u64,
}

/// The option of controllers that can answer a mark by less than a loss (RFC 8511).
#[derive(Debug, Clone, Options)]
pub(crate) struct MarkOptions {
    /// factor of the window after a CE mark; by default that after a loss (RFC 8511: 0.8 in Reno, 0.85 in CUBIC)
    #[option(within = 0.1..=0.99)]
    beta_ecn: Option<f64>,
}

impl MarkOptions {
    /// The share of the window kept after a mark; `beta`: that after a loss.
    pub(crate) fn beta_ecn(&self, beta: f64) -> f64 {
        self.beta_ecn.unwrap_or(beta)
    }
}

/// The common state of one sender.
#[derive(Debug)]
pub(crate) struct Basis {
    setup: Setup,
    minimum_packets: u64,
    pacing: WindowPacing,
    /// The RTT of the pacing rate, where that is not the smoothed one.
    minimum_rtt: Option<MinimumRtt>,
    pub(crate) recovery: RecoveryPeriod,
    pub(crate) smoothed_rtt: Duration,
    /// Bytes delivered so far.
    pub(crate) delivered: u64,
}

impl Basis {
    /// Creates the state with pacing as the options say.
    pub(crate) fn new(window: &WindowOptions, pacing: &PacingOptions, setup: Setup) -> Basis {
        Basis {
            pacing: WindowPacing::new(pacing),
            minimum_rtt: MinimumRtt::new(pacing),
            ..Basis::unpaced(window, setup)
        }
    }
    /// Creates the state for a controller with its own pacing rate.
    pub(crate) fn unpaced(window: &WindowOptions, setup: Setup) -> Basis {
        Basis {
            setup,
            minimum_packets: window.minimum_window,
            pacing: WindowPacing::off(),
            minimum_rtt: None,
            recovery: RecoveryPeriod::default(),
            smoothed_rtt: setup.initial_rtt,
            delivered: 0,
        }
    }
    /// The size of a full packet in bytes.
    #[inline]
    pub(crate) fn datagram(&self) -> u64 {
        self.setup.max_datagram_size
    }
    /// The minimum window in bytes.
    #[inline]
    pub(crate) fn minimum(&self) -> u64 {
        self.minimum_packets * self.setup.max_datagram_size
    }
    /// The initial window in bytes.
    pub(crate) fn initial(&self) -> u64 {
        self.setup.initial_window.max(self.minimum())
    }
    /// Whether packets are paced.
    pub(crate) fn is_paced(&self) -> bool {
        self.pacing.is_on()
    }

    /// Updates the state that every acknowledgement changes. Returns whether the RTT of the pacing rate may have
    /// changed.
    #[inline]
    pub(crate) fn hear(&mut self, ack: &AckSample<'_>) -> bool {
        let before = std::mem::replace(&mut self.smoothed_rtt, ack.rtt.smoothed());
        self.delivered = ack.delivered;
        let mut changed = before != self.smoothed_rtt;
        if let (Some(minimum), Some(sample)) = (&mut self.minimum_rtt, ack.rtt_sample) {
            changed |= minimum.update(ack.now, sample);
        }
        changed
    }
    /// Updates the state that every acknowledgement changes. Returns whether the window may grow: not in recovery
    /// (RFC 9002 section 7.3.2) nor while underused (section 7.8).
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckSample<'_>) -> bool {
        self.hear(ack);
        if self.recovery.covers(ack.newest_sent_at) {
            return false;
        }
        self.recovery.end();
        !ack.app_limited()
    }
    /// RFC 9002 section 7.2: the datagram size changes. Returns the window, raised to the minimum if necessary.
    pub(crate) fn resize(&mut self, window: u64, bytes: u64) -> u64 {
        self.setup.resize(bytes);
        window.max(self.minimum())
    }
    /// RFC 9000 section 9.4: restarts on a new path. Returns the window.
    pub(crate) fn restart(&mut self) -> u64 {
        self.recovery = RecoveryPeriod::default();
        self.smoothed_rtt = self.setup.initial_rtt;
        if let Some(minimum) = &mut self.minimum_rtt {
            minimum.restart();
        }
        self.initial()
    }
    /// Sets the window and the slow start threshold as Careful Resume asks, not below the minimum.
    pub(crate) fn resume(&self, adjustment: Adjustment, window: &mut u64, ssthresh: &mut u64) {
        if let Some(bytes) = adjustment.window() {
            *window = bytes.max(self.minimum());
        }
        if let Some(bytes) = adjustment.ssthresh() {
            *ssthresh = bytes.max(self.minimum());
        }
    }
    /// The same for a window and a threshold in unrounded bytes.
    pub(crate) fn resume_unrounded(&self, adjustment: Adjustment, window: &mut f64, ssthresh: &mut f64) {
        let (mut bytes, mut threshold) = (*window as u64, u64::MAX);
        self.resume(adjustment, &mut bytes, &mut threshold);
        if adjustment.window().is_some() {
            *window = bytes as f64;
        }
        if adjustment.ssthresh().is_some() {
            *ssthresh = threshold as f64;
        }
    }
    /// The allowance of this window, paced according to the options.
    #[inline]
    pub(crate) fn allow(&self, window: u64, slow_start: bool) -> Allowance {
        debug_assert!(window >= self.minimum(), "every response to congestion leaves the minimum window");
        let window = window.min(MAX_WINDOW);
        let minimum = self.minimum_rtt.as_ref().and_then(MinimumRtt::get);
        let rtt = minimum.unwrap_or(self.smoothed_rtt);
        Allowance::new(window, self.pacing.rate(window, rtt, slow_start))
    }
}
