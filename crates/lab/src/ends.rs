//! The numbers of the ends of flows, which their packets carry.

use wire::Side;

/// The number of one end of a flow, which its packets carry.
pub(crate) fn end_number(flow: usize, side: Side) -> u32 {
    2 * flow as u32 + u32::from(side == Side::Server)
}

/// The number of the other end of a flow.
pub(crate) fn other_end(flow: usize, side: Side) -> u32 {
    end_number(flow, if side == Side::Client { Side::Server } else { Side::Client })
}

/// The number of the other end of the flow of the end with this number.
pub(crate) fn number_of_other_end(number: u32) -> u32 {
    number ^ 1
}

/// The flow and the side of the end with this number.
pub(crate) fn end_with(number: u32) -> (usize, Side) {
    (number as usize / 2, if number.is_multiple_of(2) { Side::Client } else { Side::Server })
}
