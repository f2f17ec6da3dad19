//! The constants of BBRv3 as options (draft-ietf-ccwg-bbr-06 section 2).

use units::Duration;
use units::parameter::Options;

/// The options of BBRv3.
#[derive(Debug, Clone, Options)]
pub(super) struct Bbr3Options {
    /// StartupPacingGain: 4 ln(2), the least that lets the rate double in a round trip
    #[option(default = 2.772588722239781, within = 1.0..=10.0)]
    pub(super) startup_pacing_gain: f64,
    /// DrainPacingGain
    #[option(default = 0.5, within = 0.01..=1.0)]
    pub(super) drain_pacing_gain: f64,
    /// pacing gain of ProbeBW_DOWN
    #[option(default = 0.9, within = 0.01..=1.0)]
    pub(super) probe_down_pacing_gain: f64,
    /// pacing gain of ProbeBW_UP
    #[option(default = 1.25, within = 1.0..=10.0)]
    pub(super) probe_up_pacing_gain: f64,
    /// DefaultCwndGain: window of most states, in estimated bandwidth-delay products
    #[option(default = 2, within = 1.0..=10.0)]
    pub(super) default_cwnd_gain: f64,
    /// window in ProbeBW_UP, in estimated bandwidth-delay products
    #[option(default = 2.25, within = 1.0..=10.0)]
    pub(super) probe_up_cwnd_gain: f64,
    /// PacingMarginPercent: how far below the estimated bandwidth packets are paced
    #[option(default = "1 %", probability)]
    pub(super) pacing_margin: f64,
    /// LossThresh: loss rate per round trip that is tolerated while probing for bandwidth
    #[option(default = "2 %", probability)]
    pub(super) loss_thresh: f64,
    /// Beta: smallest factor of a short-term bound after a round trip with loss
    #[option(default = 0.7, within = 0.1..=1.0)]
    pub(super) beta: f64,
    /// Headroom: share of inflight_longterm left to others while cruising
    #[option(default = 0.15, probability)]
    pub(super) headroom: f64,
    /// MinPipeCwnd: minimum window in packets
    #[option(default = 4, within = 2..=1000)]
    pub(super) min_pipe_cwnd: u64,
    /// the pipe is not full while the delivery rate grows by this factor (section 5.3.1.2)
    #[option(default = 1.25, within = 1.0..=10.0)]
    pub(super) full_bw_growth: f64,
    /// round trips without that growth that show a full pipe
    #[option(default = 3, within = 1..=100)]
    pub(super) full_bw_rounds: u64,
    /// BBRStartupFullLossCnt: separate losses in a round trip that end Startup, if loss_thresh is passed too
    #[option(default = 6, within = 1..=1000)]
    pub(super) startup_full_loss_count: u64,
    /// ExtraAckedFilterLen: round trips over which aggregation is remembered
    #[option(default = 10, within = 1..=1000)]
    pub(super) extra_acked_filter_len: u64,
    /// offload_budget in send quanta: 1 in QUIC (section 5.5.8.2), 3 in a TCP that segments in hardware (5.5.8.1)
    #[option(default = 1, within = 0..=100)]
    pub(super) offload_quanta: u64,
    /// minimum time between probes for bandwidth (section 5.3.3.8)
    #[option(default = "2 s")]
    pub(super) bw_probe_wait: Duration,
    /// maximum of the random time added to it
    #[option(default = "1 s")]
    pub(super) bw_probe_wait_spread: Duration,
    /// maximum number of round trips between probes for bandwidth, to leave room for Reno and CUBIC (section
    /// 5.3.3.8.2)
    #[option(default = 63, within = 1..=1_000_000)]
    pub(super) bw_probe_max_rounds: u64,
    /// MinRTTFilterLen
    #[option(default = "10 s")]
    pub(super) min_rtt_filter_len: Duration,
    /// ProbeRTTInterval
    #[option(default = "5 s")]
    pub(super) probe_rtt_interval: Duration,
    /// ProbeRTTDuration
    #[option(default = "200 ms")]
    pub(super) probe_rtt_duration: Duration,
    /// ProbeRTTCwndGain
    #[option(default = 0.5, within = 0.01..=1.0)]
    pub(super) probe_rtt_cwnd_gain: f64,
}
