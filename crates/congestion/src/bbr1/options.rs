//! The constants of BBRv1 as options.

use units::Duration;
use units::parameter::Options;

/// The options of BBRv1.
#[derive(Debug, Clone, Options)]
pub(super) struct Bbr1Options {
    /// pacing gain and window gain of STARTUP: BBRHighGain, 2/ln(2)
    #[option(default = 2.885390081777927, within = 1.0..=10.0)]
    pub(super) high_gain: f64,
    /// pacing gain of DRAIN: the inverse of BBRHighGain
    #[option(default = 0.34657359027997264, within = 0.01..=1.0)]
    pub(super) drain_gain: f64,
    /// pacing gains of PROBE_BW, one for each phase of a min RTT
    #[option(default = [1.25, 0.75, 1, 1, 1, 1, 1, 1], within = 0.01..=10.0)]
    pub(super) cycle_gains: Vec<f64>,
    /// window of DRAIN's end and of PROBE_BW, in estimated bandwidth-delay products
    #[option(default = 2, within = 1.0..=10.0)]
    pub(super) cwnd_gain: f64,
    /// round trips over which the maximum delivery rate is taken: BtlBwFilterLen
    #[option(default = 10, within = 1..=1000)]
    pub(super) bandwidth_window: u64,
    /// how long a minimum RTT is valid before PROBE_RTT: RTpropFilterLen
    #[option(default = "10 s")]
    pub(super) min_rtt_window: Duration,
    /// minimum time that PROBE_RTT keeps the window down, in addition to one round trip: ProbeRTTDuration
    #[option(default = "200 ms")]
    pub(super) probe_rtt_duration: Duration,
    /// window of PROBE_RTT, and minimum window outside of recovery, in packets: BBRMinPipeCwnd
    #[option(default = 4, within = 2..=1000)]
    pub(super) min_pipe_cwnd: u64,
    /// STARTUP goes on while the bandwidth grows by this factor
    #[option(default = 1.25, within = 1.0..=10.0)]
    pub(super) full_pipe_growth: f64,
    /// round trips without that growth that end STARTUP
    #[option(default = 3, within = 1..=100)]
    pub(super) full_pipe_rounds: u64,
    /// send quanta that the window holds beyond the bandwidth-delay product
    #[option(default = 3, within = 0..=10)]
    pub(super) quanta: u64,
}
