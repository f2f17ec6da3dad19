//! The numbers of flows: by which the network knows whose packets are whose, and the ports of their ends.

use crate::scenario::{Flow, Scenario};
use wire::Side;

/// The port of the first flow's client; the n-th flow has the n-th port after it. Behind the last flow's come the ports of
/// further TCP connections.
const CLIENT_PORT: u16 = 34_433;
/// The default port of the first flow's server; the n-th flow has the n-th port after it.
const SERVER_PORT: u16 = 4433;

/// The port of the client of the flow at this place.
pub(crate) fn client_port(index: usize) -> u16 {
    CLIENT_PORT.saturating_add(index as u16)
}

/// The port of the server of the flow at this place.
pub(crate) fn server_port(index: usize, flow: &Flow) -> u16 {
    flow.port.unwrap_or(SERVER_PORT.saturating_add(index as u16))
}

/// The number of the packets that one end of a flow sends.
pub(crate) fn end_number(flow: usize, side: Side) -> u32 {
    2 * flow as u32 + u32::from(side == Side::Server)
}

/// The number of the packets that the other end of a flow sends to this one.
pub(crate) fn other_end(flow: usize, side: Side) -> u32 {
    end_number(flow, if side == Side::Client { Side::Server } else { Side::Client })
}

/// The number by which the network knows the packets of the sender of cross traffic at this place: after all ends.
pub(crate) fn cross_number(scenario: &Scenario, index: usize) -> u32 {
    (2 * scenario.flows.len() + index) as u32
}

/// The numbers by which the network knows the packets of flows and of cross traffic, by their names.
pub(crate) fn flow_numbers(scenario: &Scenario) -> Vec<(String, u32)> {
    let flows = scenario.flows.iter().enumerate();
    let ends = flows.flat_map(|(index, flow)| {
        [Side::Client, Side::Server].map(|side| (flow.name.clone(), end_number(index, side)))
    });
    let cross = scenario.cross_traffic.iter().enumerate();
    let cross = cross.map(|(index, cross)| (cross.name.clone(), cross_number(scenario, index)));
    ends.chain(cross).collect()
}
