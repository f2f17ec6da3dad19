//! The options of large-delay ACK discarding.

use super::estimate::Limits;
use crate::error::BuildError;
use crate::middlebox::MiddleboxOptions;
use crate::middlebox::quic_flows::{self, AckOnly, Ends, problem};
use random::Stream;
use units::Duration;
use units::parameter::{Default, Kind, Parameter};

const OWN: [Parameter; 12] = [
    Parameter {
        name: "fixed_rtt",
        kind: Kind::Duration,
        default: Default::Is("\"0 s\""),
        about: "RTT between the node and the servers, which the node cannot measure (Zhao et al. 2020 section 4: \"fixed RTT\")",
    },
    Parameter {
        name: "ack_every",
        kind: Kind::Integer(1, 100),
        default: Default::Is("2"),
        about: "downlink packets per acknowledgement (section 3.2 leaves it open; RFC 9000 section 13.2.2: 2)",
    },
    Parameter {
        name: "table",
        kind: Kind::Integer(1, 100_000),
        default: Default::Is("4096"),
        about: "maximum number of downlink packets of a flow in the mapping table (section 3.2); the oldest are forgotten",
    },
    Parameter {
        name: "lifetime",
        kind: Kind::Duration,
        default: Default::Is("\"1 s\""),
        about: "age at which a downlink packet in the mapping table counts as lost; above zero",
    },
    Parameter {
        name: "samples",
        kind: Kind::Integer(1, 10_000),
        default: Default::Is("8"),
        about: "RTT samples before anything is held, at the start of a flow and after lasting congestion",
    },
    Parameter {
        name: "tolerance",
        kind: Kind::Number(0.0, 1000.0),
        default: Default::Is("4.0"),
        about: "an RTT is abnormal above the usual one plus this many mean deviations (section 3.2: \"abnormally large\"; 4 as in the probe timeout of RFC 9002 section 6.2.1)",
    },
    Parameter {
        name: "least_excess",
        kind: Kind::Duration,
        default: Default::Is("\"10 ms\""),
        about: "and at least this far above the usual one",
    },
    Parameter {
        name: "congestion_after",
        kind: Kind::Duration,
        default: Default::Absent,
        about: "time for which all acknowledgements are late in lasting congestion (section 3.2: Sender Congestion Judgment Timer; default: the usual RTT)",
    },
    Parameter {
        name: "max_ack_delay",
        kind: Kind::Duration,
        default: Default::Is("\"25 ms\""),
        about: "max_ack_delay of the terminals, a part of the sender's probe timeout (RFC 9000 section 18.2)",
    },
    Parameter {
        name: "margin",
        kind: Kind::Duration,
        default: Default::Is("\"10 ms\""),
        about: "how long before the sender's probe timeout a held acknowledgement arrives (section 3.2: Sender Timeout Determination Timer)",
    },
    Parameter {
        name: "error_probability",
        kind: Kind::Probability,
        default: Default::Is("0.0"),
        about: "probability that the current RTT is taken as too long (section 4, third experiment: 20 %)",
    },
    Parameter {
        name: "error_size",
        kind: Kind::Number(0.0, 10.0),
        default: Default::Is("0.2"),
        about: "share by which it is taken as too long (section 4, third experiment: 0.2)",
    },
];

pub(super) const PARAMETERS: [Parameter; 16] = quic_flows::parameters(&OWN);

/// The options, read.
#[derive(Debug)]
pub(super) struct Options {
    /// The state of a flow of which nothing is known.
    pub ack_only: AckOnly,
    pub fixed_rtt: Duration,
    pub ack_every: u64,
    pub table: usize,
    pub lifetime: Duration,
    pub limits: Limits,
    /// `None`: the usual RTT.
    pub lasting: Option<Duration>,
    pub margin: Duration,
    pub error_probability: f64,
    pub error_thousandths: u64,
    /// The seed of the flows' estimation errors, if there are any.
    errors: Option<u64>,
}

impl Options {
    pub(super) fn new(options: &MiddleboxOptions<'_>) -> Result<Options, BuildError> {
        let arguments = options.arguments;
        let lifetime = arguments.duration("lifetime");
        if lifetime.is_zero() {
            return Err(problem("lifetime", "zero; expected a duration above zero".to_owned()));
        }
        let error_probability = arguments.number("error_probability");
        let lasting = arguments.has("congestion_after").then(|| arguments.duration("congestion_after"));
        let thousandths = |name| (arguments.number(name) * 1000.0).round() as u64;
        Ok(Options {
            ack_only: AckOnly::new(options),
            fixed_rtt: arguments.duration("fixed_rtt"),
            ack_every: arguments.integer("ack_every"),
            table: arguments.integer("table") as usize,
            lifetime,
            limits: Limits {
                samples: arguments.integer("samples"),
                tolerance: thousandths("tolerance"),
                least_excess: arguments.duration("least_excess"),
                max_ack_delay: arguments.duration("max_ack_delay"),
            },
            lasting,
            margin: arguments.duration("margin"),
            error_probability,
            error_thousandths: thousandths("error_size"),
            errors: (error_probability > 0.0).then(|| options.stream("estimation error").bits()),
        })
    }
    /// The stream of a flow's estimation errors. It depends on the ends of the flow, not on other flows.
    pub(super) fn errors(&self, (terminal, server): Ends) -> Option<Stream> {
        self.errors.map(|seed| Stream::new(seed, &format!("{terminal} {server}")))
    }
}
