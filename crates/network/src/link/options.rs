//! The options of a direction of a link.

use trace::Interest;
use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter};

/// The options of a direction of a link, which `forward` and `backward` accept in a scenario.
pub static LINK: &[Parameter] = &[
    Parameter {
        name: "rate",
        kind: Kind::Component("rates"),
        default: Default::Is("\"unlimited\""),
        about: "bits per second on the wire, IP header included",
    },
    Parameter {
        name: "delay",
        kind: Kind::Duration,
        default: Default::Is("\"0 s\""),
        about: "propagation delay",
    },
    Parameter {
        name: "queue",
        kind: Kind::Component("queues"),
        default: Default::Is("\"drop-tail\""),
        about: "queue of packets that wait for transmission",
    },
    Parameter {
        name: "loss",
        kind: Kind::Component("losses"),
        default: Default::Is("\"none\""),
        about: "loss of packets after transmission",
    },
    Parameter {
        name: "jitter",
        kind: Kind::Component("jitters"),
        default: Default::Is("\"none\""),
        about: "delay that changes from packet to packet, on top of the propagation delay",
    },
    Parameter {
        name: "series",
        kind: Kind::Component("series"),
        default: Default::Is("\"none\""),
        about: "rate, delay and loss over time, on one clock; each one that it sets replaces the option of \
                that name",
    },
    Parameter {
        name: "reorder",
        kind: Kind::Flag,
        default: Default::Is("false"),
        about: "whether jitter or a series may reorder packets; otherwise a packet waits for those before it",
    },
    Parameter {
        name: "mtu",
        kind: Kind::Integer(68, 65_535),
        default: Default::Is("1500"),
        about: "largest IP packet in bytes; larger ones are dropped",
    },
    Parameter {
        name: "duplicate",
        kind: Kind::Probability,
        default: Default::Is("0.0"),
        about: "probability that a packet is duplicated, with the copy right behind it",
    },
    Parameter {
        name: "corrupt",
        kind: Kind::Probability,
        default: Default::Is("0.0"),
        about: "probability that one random byte of the UDP payload is altered",
    },
];

/// The inputs for building a direction of a link.
#[derive(Debug, Clone)]
pub struct LinkOptions<'a> {
    /// The values of [`LINK`].
    pub arguments: &'a Arguments,
    /// The base RTT for queue limits in BDP: propagation both ways, as the scenario defines it.
    pub round_trip: Duration,
    /// The seed of the run.
    pub seed: u64,
    /// The name for random streams and errors, unique in the run: `"link cell forward"`.
    pub name: &'a str,
    /// The name for random streams that both directions share: `"link cell"`.
    pub shared: &'a str,
    /// The numbers of flows by name, for queues with options about flows.
    pub flows: &'a [(String, u32)],
    /// Whether the delay of each packet in the queue is counted: see [`Link::delays`](super::Link::delays).
    pub delays: bool,
    /// The interest of the log.
    pub interest: Interest,
}
