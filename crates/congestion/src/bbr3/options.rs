//! The constants of BBRv3 as options (draft-ietf-ccwg-bbr-06 section 2).

use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter};

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "startup_pacing_gain",
        kind: Kind::Number(1.0, 10.0),
        default: Default::Is("2.772588722239781"),
        about: "StartupPacingGain: 4 ln(2), the least that lets the rate double in a round trip",
    },
    Parameter {
        name: "drain_pacing_gain",
        kind: Kind::Number(0.01, 1.0),
        default: Default::Is("0.5"),
        about: "DrainPacingGain",
    },
    Parameter {
        name: "probe_down_pacing_gain",
        kind: Kind::Number(0.01, 1.0),
        default: Default::Is("0.9"),
        about: "pacing gain of ProbeBW_DOWN",
    },
    Parameter {
        name: "probe_up_pacing_gain",
        kind: Kind::Number(1.0, 10.0),
        default: Default::Is("1.25"),
        about: "pacing gain of ProbeBW_UP",
    },
    Parameter {
        name: "default_cwnd_gain",
        kind: Kind::Number(1.0, 10.0),
        default: Default::Is("2"),
        about: "DefaultCwndGain: window of most states, in estimated bandwidth-delay products",
    },
    Parameter {
        name: "probe_up_cwnd_gain",
        kind: Kind::Number(1.0, 10.0),
        default: Default::Is("2.25"),
        about: "window in ProbeBW_UP, in estimated bandwidth-delay products",
    },
    Parameter {
        name: "pacing_margin",
        kind: Kind::Probability,
        default: Default::Is("\"1 %\""),
        about: "PacingMarginPercent: how far below the estimated bandwidth packets are paced",
    },
    Parameter {
        name: "loss_thresh",
        kind: Kind::Probability,
        default: Default::Is("\"2 %\""),
        about: "LossThresh: loss rate per round trip that is tolerated while probing for bandwidth",
    },
    Parameter {
        name: "beta",
        kind: Kind::Number(0.1, 1.0),
        default: Default::Is("0.7"),
        about: "Beta: smallest factor of a short-term bound after a round trip with loss",
    },
    Parameter {
        name: "headroom",
        kind: Kind::Probability,
        default: Default::Is("0.15"),
        about: "Headroom: share of inflight_longterm left to others while cruising",
    },
    Parameter {
        name: "min_pipe_cwnd",
        kind: Kind::Integer(2, 1000),
        default: Default::Is("4"),
        about: "MinPipeCwnd: minimum window in packets",
    },
    Parameter {
        name: "full_bw_growth",
        kind: Kind::Number(1.0, 10.0),
        default: Default::Is("1.25"),
        about: "the pipe is not full while the delivery rate grows by this factor (section 5.3.1.2)",
    },
    Parameter {
        name: "full_bw_rounds",
        kind: Kind::Integer(1, 100),
        default: Default::Is("3"),
        about: "round trips without that growth that show a full pipe",
    },
    Parameter {
        name: "startup_full_loss_count",
        kind: Kind::Integer(1, 1000),
        default: Default::Is("6"),
        about: "BBRStartupFullLossCnt: separate losses in a round trip that end Startup, if loss_thresh is passed too",
    },
    Parameter {
        name: "extra_acked_filter_len",
        kind: Kind::Integer(1, 1000),
        default: Default::Is("10"),
        about: "ExtraAckedFilterLen: round trips over which aggregation is remembered",
    },
    Parameter {
        name: "offload_quanta",
        kind: Kind::Integer(0, 100),
        default: Default::Is("1"),
        about: "offload_budget in send quanta: 1 in QUIC (section 5.5.8.2), 3 in a TCP that segments in hardware (5.5.8.1)",
    },
    Parameter {
        name: "bw_probe_wait",
        kind: Kind::Duration,
        default: Default::Is("\"2 s\""),
        about: "minimum time between probes for bandwidth (section 5.3.3.8)",
    },
    Parameter {
        name: "bw_probe_wait_spread",
        kind: Kind::Duration,
        default: Default::Is("\"1 s\""),
        about: "maximum of the random time added to it",
    },
    Parameter {
        name: "bw_probe_max_rounds",
        kind: Kind::Integer(1, 1_000_000),
        default: Default::Is("63"),
        about: "maximum number of round trips between probes for bandwidth, to leave room for Reno and CUBIC (section 5.3.3.8.2)",
    },
    Parameter {
        name: "min_rtt_filter_len",
        kind: Kind::Duration,
        default: Default::Is("\"10 s\""),
        about: "MinRTTFilterLen",
    },
    Parameter {
        name: "probe_rtt_interval",
        kind: Kind::Duration,
        default: Default::Is("\"5 s\""),
        about: "ProbeRTTInterval",
    },
    Parameter {
        name: "probe_rtt_duration",
        kind: Kind::Duration,
        default: Default::Is("\"200 ms\""),
        about: "ProbeRTTDuration",
    },
    Parameter {
        name: "probe_rtt_cwnd_gain",
        kind: Kind::Number(0.01, 1.0),
        default: Default::Is("0.5"),
        about: "ProbeRTTCwndGain",
    },
];

/// The values of [`PARAMETERS`].
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub startup_pacing_gain: f64,
    pub drain_pacing_gain: f64,
    pub probe_down_pacing_gain: f64,
    pub probe_up_pacing_gain: f64,
    pub default_cwnd_gain: f64,
    pub probe_up_cwnd_gain: f64,
    pub pacing_margin: f64,
    pub loss_thresh: f64,
    pub beta: f64,
    pub headroom: f64,
    pub min_pipe_cwnd: u64,
    pub full_bw_growth: f64,
    pub full_bw_rounds: u64,
    pub startup_full_loss_count: u64,
    pub extra_acked_filter_len: u64,
    pub offload_quanta: u64,
    pub bw_probe_wait: Duration,
    pub bw_probe_wait_spread: Duration,
    pub bw_probe_max_rounds: u64,
    pub min_rtt_filter_len: Duration,
    pub probe_rtt_interval: Duration,
    pub probe_rtt_duration: Duration,
    pub probe_rtt_cwnd_gain: f64,
}

impl Options {
    pub(super) fn of(arguments: &Arguments) -> Options {
        let number = |name| arguments.number(name);
        let integer = |name| arguments.integer(name);
        let span = |name| arguments.duration(name);
        Options {
            startup_pacing_gain: number("startup_pacing_gain"),
            drain_pacing_gain: number("drain_pacing_gain"),
            probe_down_pacing_gain: number("probe_down_pacing_gain"),
            probe_up_pacing_gain: number("probe_up_pacing_gain"),
            default_cwnd_gain: number("default_cwnd_gain"),
            probe_up_cwnd_gain: number("probe_up_cwnd_gain"),
            pacing_margin: number("pacing_margin"),
            // The value 1 would move the point of `InflightAtLoss()` to infinity.
            loss_thresh: number("loss_thresh").min(0.99),
            beta: number("beta"),
            headroom: number("headroom"),
            min_pipe_cwnd: integer("min_pipe_cwnd"),
            full_bw_growth: number("full_bw_growth"),
            full_bw_rounds: integer("full_bw_rounds"),
            startup_full_loss_count: integer("startup_full_loss_count"),
            extra_acked_filter_len: integer("extra_acked_filter_len"),
            offload_quanta: integer("offload_quanta"),
            bw_probe_wait: span("bw_probe_wait"),
            bw_probe_wait_spread: span("bw_probe_wait_spread"),
            bw_probe_max_rounds: integer("bw_probe_max_rounds"),
            min_rtt_filter_len: span("min_rtt_filter_len"),
            probe_rtt_interval: span("probe_rtt_interval"),
            probe_rtt_duration: span("probe_rtt_duration"),
            probe_rtt_cwnd_gain: number("probe_rtt_cwnd_gain"),
        }
    }
}
