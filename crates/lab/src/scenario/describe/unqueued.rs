//! The round-trip time of a path without queues: what a run can know of it before a packet is sent.

use super::outlook_of;
use crate::scenario::model::{Flow, IpVersion, Protocol, Scenario};
use network::Hop;
use units::{Duration, Rate, Size};

/// Bytes of a QUIC packet with nothing but an acknowledgement, without the headers of UDP and IP: a short header, an ACK
/// frame of one range, and the tag of the AEAD.
const QUIC_ACK: u64 = 34;
/// The same of TCP: its header, with timestamps.
const TCP_ACK: u64 = 32;

/// The sizes of the packets of a flow on the wire, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct WireSizes {
    /// A full-sized packet of data.
    pub(super) data: u64,
    /// A packet with nothing but an acknowledgement.
    pub(super) ack: u64,
}

impl WireSizes {
    pub(super) fn of(flow: &Flow) -> WireSizes {
        let ip = if flow.ip == IpVersion::V6 { 40 } else { 20 };
        match flow.protocol {
            Protocol::Quic => WireSizes {
                data: ip + 8 + u64::from(flow.transport.value(quic::Config::MAX_UDP_PAYLOAD)),
                ack: ip + 8 + QUIC_ACK,
            },
            Protocol::Tcp => {
                WireSizes { data: ip + 20 + u64::from(flow.tcp.value(tcp::Config::MSS)), ack: ip + TCP_ACK }
            }
        }
    }
}

/// The round-trip time of a full-sized packet of a flow and of its acknowledgement over empty hops: their propagation, and
/// their transmission at the mean rate of each hop, or the least time of a link layer. Jitter and a delayed acknowledgement are
/// not in it.
///
/// The hops are those of the data, and those of the way back.
pub(crate) fn unqueued_rtt(scenario: &Scenario, flow: &Flow, [data, back]: [&[Hop]; 2]) -> Duration {
    let sizes = WireSizes::of(flow);
    let over = |hops: &[Hop], size: u64| {
        let times = hops.iter().map(|hop| over_hop(scenario, *hop, size));
        times.fold(Duration::ZERO, |sum, time| sum + time)
    };
    over(data, sizes.data) + over(back, sizes.ack)
}

/// The least time of a packet over a hop.
fn over_hop(scenario: &Scenario, hop: Hop, size: u64) -> Duration {
    let view = scenario.hop(hop);
    if let Some(outlook) = outlook_of(scenario, hop) {
        return view.delay() + outlook.least;
    }
    let size = Size::from_bytes(size.min(view.mtu()));
    let sent = view.mean_rate().filter(|rate| *rate > Rate::ZERO).map(|rate| rate.time_for(size));
    view.delay() + sent.unwrap_or(Duration::ZERO)
}
