//! The network of the simulator: the clock, nodes, links, media, middleboxes, queues, losses, topology and
//! routes.
//!
//! A [`World`] holds nodes, carriers and a clock. A node is a host, which the user of this crate provides as a
//! [`Node`], a middlebox, a gate to the outside, or a router. A carrier is a [`Link`] with two directions, or a [`medium::Medium`]
//! with any number of attached nodes. Each has one timer.
//!
//! The components of scenarios are in tables, one row for each: [`rate::RATES`], [`queue::QUEUES`],
//! [`loss::LOSSES`], [`jitter::JITTERS`], [`series::MODELS`], [`medium::MEDIA`], [`middlebox::MIDDLEBOXES`], and the options of a
//! direction of a link in [`LINK`].

mod address;
mod books;
mod bucket;
mod buffer;
mod count;
mod course;
mod direction;
mod error;
mod exits;
mod front;
#[cfg(feature = "fuzz")]
pub mod fuzz;
pub mod gate;
pub mod jitter;
mod link;
pub mod loss;
pub mod medium;
pub mod middlebox;
mod node;
mod packet;
pub mod processing;
pub mod queue;
pub mod rate;
mod routes;
pub mod series;
mod topology;
mod world;

pub use address::{
    MAX_ADDRESSED_PORTS, MAX_NODES, NodeId, Port, node_address, node_of, port_address, port_of,
};
pub use books::{Books, Ledger, NodeBooks, PacketBooks};
pub use buffer::{CarrierStats, DropReason, Overflow, QueueDelays};
pub use count::Count;
pub use course::CourseError;
pub use direction::{DirectionOptions, LINK};
pub use error::BuildError;
pub use exits::Exits;
pub use front::Front;
pub use link::{Link, LinkOptions};
pub use node::Node;
pub use packet::{Packet, Protocol};
pub use routes::Routes;
pub use topology::{Hop, MAX_ATTACHMENTS, MAX_LINKS, MAX_MEDIA, Topology, TopologyError};
pub use world::{
    AnswerCounts, Carriers, MAX_AT_ONE_INSTANT, Occupant, Prefetch, RunError, Step, Watch, World,
};

use units::parameter::{Component, Room};

/// What a user should know about the file of a valid component of these rooms: what was skipped and rounded in it.
pub fn notes(component: &Component) -> Vec<String> {
    let told = |notes: Vec<String>| -> Vec<String> {
        let path = component.arguments.value(series::FILE_OPTION).path;
        notes.into_iter().map(|note| format!("{path}, {note}")).collect()
    };
    let kind = match (component.room, component.name) {
        ("channels", "series") => {
            let text = component.arguments.value(series::FILE_OPTION).text;
            return told(radio::channel::Series::notes(&text));
        }
        ("rates", "series") => rate::SERIES_TABLE,
        ("series", "file") => series::TABLE,
        ("losses", "trace") => loss::TABLE,
        ("jitters", "trace") => jitter::TABLE,
        _ => return Vec::new(),
    };
    let table = rate::Table::parse(&component.arguments.value(series::FILE_OPTION).text, kind);
    told(table.map(|table| table.notes()).unwrap_or_default())
}

/// The tables of this crate as scenarios and `quiclab list` see them.
pub fn rooms() -> Vec<Room> {
    let mut rooms = vec![
        rate::room(),
        rate::offsets(),
        queue::room(),
        loss::room(),
        jitter::room(),
        series::room(),
        medium::room(),
        middlebox::room(),
        processing::room(),
    ];
    rooms.extend(medium::parts());
    rooms
}
