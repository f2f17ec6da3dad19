//! The options of a direction of a link.

use trace::Interest;
use units::Duration;
use units::parameter::{Arguments, Component, Options, Parameter};

/// The options of a direction of a link, which `forward` and `backward` accept in a scenario.
#[derive(Debug, Clone, Options)]
pub(crate) struct DirectionOptions {
    /// bits per second on the wire, IP header included
    #[option(default = "unlimited", room = "rates")]
    pub(crate) rate: Component,
    /// propagation delay
    #[option(default = "0 s")]
    pub(crate) delay: Duration,
    /// queue of packets that wait for transmission
    #[option(default = "drop-tail", room = "queues")]
    pub(crate) queue: Component,
    /// loss of packets after transmission
    #[option(default = "none", room = "losses")]
    pub(crate) loss: Component,
    /// delay that changes from packet to packet, on top of the propagation delay
    #[option(default = "none", room = "jitters")]
    pub(crate) jitter: Component,
    /// rate, delay and loss over time, on one clock; each one that it sets replaces the option of that name
    #[option(default = "none", room = "series")]
    pub(crate) series: Component,
    /// whether jitter or a series may reorder packets; otherwise a packet waits for those before it
    #[option(default = false)]
    pub(crate) reorder: bool,
    /// largest IP packet in bytes; larger ones are dropped
    #[option(default = 1500, within = 68..=65_535)]
    pub(crate) mtu: u32,
    /// probability that a packet is duplicated, with the copy right behind it
    #[option(default = 0.0, probability)]
    pub(crate) duplicate: f64,
    /// probability that one random byte of the UDP payload is altered
    #[option(default = 0.0, probability)]
    pub(crate) corrupt: f64,
}

/// The table of the options of a direction of a link.
pub static LINK: &[Parameter] = DirectionOptions::PARAMETERS;

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
