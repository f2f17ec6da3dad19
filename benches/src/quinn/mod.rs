//! The yardstick: quinn-proto in the smallest virtual-time loop that still has a network in it.
//!
//! A user who wants QUIC in virtual time without quiclab would write this: two endpoints, two links, and the
//! earliest of four times is next. It is kept as lean as quinn-proto allows, so that the comparison is with
//! quinn-proto and not with this loop: buffers are reused, the application's bytes are shared slices, nothing
//! is recorded, and the links need no event queue because a first-in-first-out link knows the arrival time of a
//! packet when it accepts it. In the simulated network, quinn-proto runs by way of the crate `foreign`; the
//! case `quinn-simulated` measures that, and a test compares the two.

mod host;
mod link;
mod null;
mod pair;
mod tls;

pub(crate) use pair::{Contexts, transfer};
