//! The options of a direction of a link.

use units::Duration;
use units::parameter::{Component, Options, Parameter};

/// The options of a direction of a link, which `forward` and `backward` accept in a scenario. Each medium has options with the
/// same names for its delay, and for the queues and the MTUs of its attachments.
#[derive(Debug, Clone, Options)]
pub struct DirectionOptions {
    /// bits per second on the wire, IP header included
    #[option(default = "unlimited", room = "rates")]
    pub rate: Component,
    /// propagation delay
    #[option(default = "0 s")]
    pub delay: Duration,
    /// queue of packets that wait for transmission
    #[option(default = "drop-tail", room = "queues")]
    pub queue: Component,
    /// loss of packets after transmission
    #[option(default = "none", room = "losses")]
    pub loss: Component,
    /// delay that changes from packet to packet, on top of the propagation delay
    #[option(default = "none", room = "jitters")]
    pub jitter: Component,
    /// rate, delay and loss over time, on one clock; each one that it sets replaces the option of that name
    #[option(default = "none", room = "series")]
    pub series: Component,
    /// whether jitter or a series may reorder packets; otherwise a packet waits for those before it
    #[option(default = false)]
    pub reorder: bool,
    /// largest IP packet in bytes; larger ones are dropped
    #[option(default = 1500, within = 68..=65_535)]
    pub mtu: u32,
    /// probability that a packet is duplicated, with the copy right behind it
    #[option(default = 0.0, probability)]
    pub duplicate: f64,
    /// probability that one random byte of the UDP payload is altered
    #[option(default = 0.0, probability)]
    pub corrupt: f64,
}

/// The table of the options of a direction of a link.
pub static LINK: &[Parameter] = DirectionOptions::PARAMETERS;
