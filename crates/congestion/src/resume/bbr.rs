//! Careful Resume in both BBRs: the flag "carefully-resuming" (RFC 9959 appendix B).

use units::{Duration, Rate, Size};

/// Careful Resume of one sender.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CarefullyResuming(Option<Probe>);

#[derive(Debug, Clone, Copy)]
struct Probe {
    /// The probing rate in bit/s: half of the saved bandwidth.
    rate: f64,
    /// The round that ends it: "The "carefully-resuming" flag is reset to False two rounds after it is set".
    until: u64,
    /// Congestion was detected: it ends with the Drain state.
    retreats: bool,
}

impl CarefullyResuming {
    /// Begins in this round: this window in bytes over this RTT.
    pub(crate) fn begin(&mut self, window: u64, rtt: Duration, round: u64) {
        let rate = Rate::of(Size::from_bytes(window), rtt).as_bits_per_sec() as f64;
        self.0 = Some(Probe { rate, until: round + 2, retreats: false });
    }
    /// Congestion was detected. Returns whether the flag is set: "BBR exits the Startup state and enters the Drain state".
    pub(crate) fn retreat(&mut self) -> bool {
        if let Some(probe) = &mut self.0 {
            probe.retreats = true;
        }
        self.0.is_some()
    }
    /// Ends it after its two rounds, or after the Drain state. Returns whether it ends now.
    #[inline]
    pub(crate) fn ends(&mut self, round: u64, drains: bool) -> bool {
        self.0.take_if(|probe| if probe.retreats { !drains } else { round >= probe.until }).is_some()
    }
    /// The probing rate in bit/s; 0 without one.
    #[inline]
    pub(crate) fn rate(&self) -> f64 {
        self.0.map_or(0.0, |probe| if probe.retreats { 0.0 } else { probe.rate })
    }
    /// RFC 9959-B.3-1: whether measured delivery rates "MUST be discarded", because the sender retreats.
    #[inline]
    pub(crate) fn discards_rates(&self) -> bool {
        self.0.is_some_and(|probe| probe.retreats)
    }
}
