//! Applications over streams, which generate the traffic of a run.
//!
//! An application is a pair of state machines, one at each end of a connection. They only see a
//! [`transport::Transport`] and its events. To add one, write its file and add its line to [`APPLICATIONS`]; from another crate, call
//! [`plug`]. In
//! addition there are [`sources`] of datagrams without a connection.

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
mod versions;
mod video;

pub use changes::room as changes;
pub use profile::{
    Branch, Build, Many, Misfit, Names, OptionCheck, OptionError, Outline, PlugError, Profile, Property,
    UNREGISTERED, alpn, branch_from, branch_of, build, check, goes_over_quic, keeps_time, many,
    needs_datagrams, needs_partial_resets, outline, plug, room, tcp_connections, uploads_one_way,
};

use transport::Application;
use units::parameter::Row;

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
    browse::ORIGIN,
    page_streams::ROW,
    video::ROW,
];
