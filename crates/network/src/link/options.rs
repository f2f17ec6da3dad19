//! The inputs for building a direction of a link.

use trace::Interest;
use units::Duration;
use units::parameter::Arguments;

/// The inputs for building a direction of a link.
#[derive(Debug, Clone)]
pub struct LinkOptions<'a> {
    /// The values of [`LINK`](crate::LINK).
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
