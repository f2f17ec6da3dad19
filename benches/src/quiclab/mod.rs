//! quiclab's side of the comparison: its scenario, and two endpoints without a network.

mod pair;
mod scenario;

pub(crate) use pair::{Contexts, Pair};
pub(crate) use scenario::{Run, Traces, transfer};
