//! The constants of BBRv1 as options.

use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter, Value};

const GAINS: Kind = Kind::Number(0.01, 10.0);

pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "high_gain",
        kind: Kind::Number(1.0, 10.0),
        default: Default::Is("2.885390081777927"),
        about: "pacing gain and window gain of STARTUP: BBRHighGain, 2/ln(2)",
    },
    Parameter {
        name: "drain_gain",
        kind: Kind::Number(0.01, 1.0),
        default: Default::Is("0.34657359027997264"),
        about: "pacing gain of DRAIN: the inverse of BBRHighGain",
    },
    Parameter {
        name: "cycle_gains",
        kind: Kind::List(&GAINS),
        default: Default::Is("[1.25, 0.75, 1, 1, 1, 1, 1, 1]"),
        about: "pacing gains of PROBE_BW, one for each phase of a min RTT",
    },
    Parameter {
        name: "cwnd_gain",
        kind: Kind::Number(1.0, 10.0),
        default: Default::Is("2"),
        about: "window of DRAIN's end and of PROBE_BW, in estimated bandwidth-delay products",
    },
    Parameter {
        name: "bandwidth_window",
        kind: Kind::Integer(1, 1000),
        default: Default::Is("10"),
        about: "round trips over which the maximum delivery rate is taken: BtlBwFilterLen",
    },
    Parameter {
        name: "min_rtt_window",
        kind: Kind::Duration,
        default: Default::Is("\"10 s\""),
        about: "how long a minimum RTT is valid before PROBE_RTT: RTpropFilterLen",
    },
    Parameter {
        name: "probe_rtt_duration",
        kind: Kind::Duration,
        default: Default::Is("\"200 ms\""),
        about: "minimum time that PROBE_RTT keeps the window down, in addition to one round trip: ProbeRTTDuration",
    },
    Parameter {
        name: "min_pipe_cwnd",
        kind: Kind::Integer(2, 1000),
        default: Default::Is("4"),
        about: "window of PROBE_RTT, and minimum window outside of recovery, in packets: BBRMinPipeCwnd",
    },
    Parameter {
        name: "full_pipe_growth",
        kind: Kind::Number(1.0, 10.0),
        default: Default::Is("1.25"),
        about: "STARTUP goes on while the bandwidth grows by this factor",
    },
    Parameter {
        name: "full_pipe_rounds",
        kind: Kind::Integer(1, 100),
        default: Default::Is("3"),
        about: "round trips without that growth that end STARTUP",
    },
    Parameter {
        name: "quanta",
        kind: Kind::Integer(0, 10),
        default: Default::Is("3"),
        about: "send quanta that the window holds beyond the bandwidth-delay product",
    },
];

#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) high_gain: f64,
    pub(super) drain_gain: f64,
    pub(super) cycle_gains: Vec<f64>,
    pub(super) cwnd_gain: f64,
    pub(super) bandwidth_window: u64,
    pub(super) min_rtt_window: Duration,
    pub(super) probe_rtt_duration: Duration,
    pub(super) min_pipe_cwnd: u64,
    pub(super) full_pipe_growth: f64,
    pub(super) full_pipe_rounds: u64,
    pub(super) quanta: u64,
}

impl Options {
    pub(super) fn of(arguments: &Arguments) -> Options {
        let number = |value: &Value| if let Value::Number(gain) = value { Some(*gain) } else { None };
        let mut cycle_gains: Vec<f64> = arguments.list("cycle_gains").iter().filter_map(number).collect();
        if cycle_gains.is_empty() {
            cycle_gains.push(1.0);
        }
        Options {
            high_gain: arguments.number("high_gain"),
            drain_gain: arguments.number("drain_gain"),
            cycle_gains,
            cwnd_gain: arguments.number("cwnd_gain"),
            bandwidth_window: arguments.integer("bandwidth_window"),
            min_rtt_window: arguments.duration("min_rtt_window"),
            probe_rtt_duration: arguments.duration("probe_rtt_duration"),
            min_pipe_cwnd: arguments.integer("min_pipe_cwnd"),
            full_pipe_growth: arguments.number("full_pipe_growth"),
            full_pipe_rounds: arguments.integer("full_pipe_rounds"),
            quanta: arguments.integer("quanta"),
        }
    }
}
