//! The network of the simulator: the clock, links, queues, losses, topology and routes.
//!
//! A [`World`] holds nodes and links and a clock. A direction of a link is one element: a queue, a server at some
//! rate, losses, and a delay line, with one timer for all of it. Hosts come from outside, as [`Element`]s.
//!
//! What can stand in a scenario is in tables, one row for each component: [`rate::RATES`], [`queue::QUEUES`],
//! [`loss::LOSSES`], [`jitter::JITTERS`], and the options of a direction in [`LINK`].

mod bucket;
mod count;
mod course;
mod element;
mod error;
pub mod fuzz;
pub mod jitter;
mod link;
pub mod loss;
mod packet;
pub mod queue;
pub mod rate;
mod topology;
mod world;

pub use count::Count;
pub use course::{CourseError, MAX_STEPS};
pub use element::{Element, Exits};
pub use error::BuildError;
pub use link::{DropReason, LINK, Link, LinkOptions, LinkStats, Overflow, QueueDelays};
pub use packet::{Packet, Protocol};
pub use topology::{MAX_LINKS, MAX_NODES, NodeId, Topology, TopologyError, node_address, node_of};
pub use world::{MAX_AT_ONE_INSTANT, RunError, Step, World};

use units::parameter::Room;

/// The rooms of this crate as scenarios and `quiclab list` see them.
pub fn rooms() -> Vec<Room> {
    vec![rate::room(), rate::offsets(), queue::room(), loss::room(), jitter::room()]
}
