//! The options of large-delay ACK discarding.

use super::estimate::Limits;
use crate::error::BuildError;
use crate::middlebox::MiddleboxOptions;
use crate::middlebox::quic_flows::{AckOnly, Ends, FlowOptions, problem};
use random::Generator;
use units::Duration;
use units::parameter::Options;

/// The options of LDAD.
#[derive(Debug, Clone, Options)]
pub(super) struct LdadOptions {
    #[options]
    pub(super) flow: FlowOptions,
    /// RTT between the node and the servers, which the node cannot measure (Zhao et al. 2020 section 4: "fixed
    /// RTT")
    #[option(default = "0 s")]
    fixed_rtt: Duration,
    /// downlink packets per acknowledgement (section 3.2 leaves it open; RFC 9000 section 13.2.2: 2)
    #[option(default = 2, within = 1..=100)]
    ack_every: u64,
    /// maximum number of downlink packets of a flow in the mapping table (section 3.2); the oldest are forgotten
    #[option(default = 4096, within = 1..=100_000)]
    table: usize,
    /// age at which a downlink packet in the mapping table counts as lost; above zero
    #[option(default = "1 s")]
    lifetime: Duration,
    /// RTT samples before anything is held, at the start of a flow and after lasting congestion
    #[option(default = 8, within = 1..=10_000)]
    samples: u64,
    /// an RTT is abnormal above the usual one plus this many mean deviations (section 3.2: "abnormally large"; 4
    /// as in the probe timeout of RFC 9002 section 6.2.1)
    #[option(default = 4.0, within = 0.0..=1000.0)]
    tolerance: f64,
    /// and at least this far above the usual one
    #[option(default = "10 ms")]
    least_excess: Duration,
    /// time for which all acknowledgements are late in lasting congestion (section 3.2: Sender Congestion
    /// Judgment Timer; default: the usual RTT)
    congestion_after: Option<Duration>,
    /// max_ack_delay of the terminals, a part of the sender's probe timeout (RFC 9000 section 18.2)
    #[option(default = "25 ms")]
    max_ack_delay: Duration,
    /// how long before the sender's probe timeout a held acknowledgement arrives (section 3.2: Sender Timeout
    /// Determination Timer)
    #[option(default = "10 ms")]
    margin: Duration,
    /// probability that the current RTT is taken as too long (section 4, third experiment: 20 %)
    #[option(default = 0.0, probability)]
    error_probability: f64,
    /// share by which it is taken as too long (section 4, third experiment: 0.2)
    #[option(default = 0.2, within = 0.0..=10.0)]
    error_size: f64,
}

/// The options, read.
#[derive(Debug)]
pub(super) struct Settings {
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

impl Settings {
    pub(super) fn new(own: &LdadOptions, options: &MiddleboxOptions<'_>) -> Result<Settings, BuildError> {
        let lifetime = own.lifetime;
        if lifetime.is_zero() {
            return Err(problem("lifetime", "zero; expected a duration above zero".to_owned()));
        }
        let error_probability = own.error_probability;
        let lasting = own.congestion_after;
        let thousandths = |share: f64| (share * 1000.0).round() as u64;
        Ok(Settings {
            ack_only: AckOnly::new(&own.flow),
            fixed_rtt: own.fixed_rtt,
            ack_every: own.ack_every,
            table: own.table,
            lifetime,
            limits: Limits {
                samples: own.samples,
                tolerance: thousandths(own.tolerance),
                least_excess: own.least_excess,
                max_ack_delay: own.max_ack_delay,
            },
            lasting,
            margin: own.margin,
            error_probability,
            error_thousandths: thousandths(own.error_size),
            errors: (error_probability > 0.0).then(|| options.stream("estimation error").bits()),
        })
    }
    /// The stream of a flow's estimation errors. It depends on the ends of the flow, not on other flows.
    pub(super) fn errors(&self, Ends { terminal, server }: Ends) -> Option<Generator> {
        self.errors.map(|seed| Generator::new(seed, &format!("{terminal} {server}")))
    }
}
