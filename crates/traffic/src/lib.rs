//! Applications over streams: what makes the traffic of a run.
//!
//! An application is a pair of state machines, one at each end of a connection. They see a [`transport::Transport`] and its
//! events and nothing else. To add one: write its file, add its line to [`APPLICATIONS`]. Beside them stand [`sources`] of
//! datagrams that have no connection.

mod browse;
mod bulk;
mod changes;
mod http2_options;
mod messages;
mod mix;
mod objects;
mod page_streams;
mod priorities;
mod profile;
mod request_response;
pub mod sources;
#[cfg(test)]
mod testing;

pub use bulk::{BulkClient, BulkServer};
pub use changes::room as changes;
pub use profile::{
    Fit, Misfit, Profile, UNREGISTERED, alpn, build, check, goes_over_quic, needs_datagrams, tcp_connections,
};

use transport::Application;
use units::parameter::{Room, Row};

/// Both ends of an application.
pub struct Ends {
    /// The end that opens the connection.
    pub client: Box<dyn Application>,
    /// The end that accepts it.
    pub server: Box<dyn Application>,
}

/// The applications.
pub static APPLICATIONS: &[Row<Profile>] = &[
    bulk::ROW,
    messages::ROW,
    mix::ROW,
    request_response::ROW,
    objects::HQ,
    objects::HTTP1,
    objects::HTTP2,
    objects::HTTP3,
    browse::ROW,
    page_streams::ROW,
];

/// The room of the applications as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("applications", "what makes the traffic", APPLICATIONS, None)
}
