//! The numbers by which the network knows whose packets are whose.

use crate::scenario::Scenario;
use wire::Side;

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
