//! Applications over streams: what makes the traffic of a run.
//!
//! An application is a pair of state machines, one at each end of a connection. They see a [`Transport`] and its
//! events and nothing else. To add one: write its file, add its line to [`APPLICATIONS`]. Beside them stand [`sources`] of
//! datagrams that have no connection.

mod browse;
mod bulk;
mod changes;
pub mod fuzz;
mod hq;
mod http1;
mod http2;
mod http3;
mod messages;
mod mix;
mod negotiated;
mod objects;
pub mod page;
mod priorities;
mod profile;
mod request_response;
pub mod sources;
mod tally;
mod tcp_transport;
#[cfg(test)]
mod testing;
mod transport;
pub mod web;

pub use bulk::{BulkClient, BulkServer};
pub use changes::room as changes;
pub use negotiated::{WebClient, WebServer};
pub use objects::VirtualSite;
pub use profile::{
    Fit, Misfit, Profile, UNREGISTERED, alpn, build, check, goes_over_quic, needs_datagrams, tcp_connections,
};
pub use tally::Tally;
pub use tcp_transport::{MAX_TCP_CONNECTIONS, MakeTcp, TCP_STREAM, TcpConnections, TcpTransport};
pub use transport::{QuicTransport, Transport};

use quic::Event;
use units::Time;
use units::parameter::{Room, Row};

/// How far an application is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Application bytes that came to their reader, at this end; for an upload, those that were acknowledged.
    pub bytes: u64,
    /// How many there will be, where that is known.
    pub total: Option<u64>,
    /// When the first of them came.
    pub first_at: Option<Time>,
    /// When the last of them came.
    pub last_at: Option<Time>,
    /// When the application had all that it wanted.
    pub finished_at: Option<Time>,
}

/// What became of one end of an application, at the end of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// How far it came.
    pub progress: Progress,
    /// What it has counted of what it begins and waits for, if it counts anything. The two ends know different halves of it.
    pub tally: Option<Tally>,
    /// What became of the objects that it loads, if it loads any.
    pub load: Option<web::Load>,
    /// The applications that share its connection, if it is made of several.
    pub parts: Vec<Part>,
}

/// What became of one of the applications that share a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name among them: `"messages"`, `"bulk"`, `"bulk-2"`.
    pub name: String,
    /// How far it came.
    pub progress: Progress,
    /// What it has counted.
    pub tally: Option<Tally>,
}

/// One end of an application. It reacts to the events of its connection and to its own timer.
pub trait Application {
    /// Something happened; [`Event::Connected`] is the first.
    fn on_event(&mut self, now: Time, event: &Event, transport: &mut dyn Transport);
    /// Its time has come.
    fn on_wake(&mut self, now: Time, transport: &mut dyn Transport) {
        let _ = (now, transport);
    }
    /// When it wants to be woken.
    fn wake_at(&self) -> Option<Time> {
        None
    }
    /// How far it is. It costs little: a run that is being watched asks again and again.
    fn progress(&self) -> Progress;
    /// What became of it. Asked once, when the run is over, at this time: what was due by then counts as begun.
    fn report(&mut self, now: Time) -> Report {
        let _ = now;
        Report { progress: self.progress(), ..Report::default() }
    }
    /// The code with which this application closes a connection when nothing is wrong.
    fn no_error(&self) -> u64 {
        0
    }
}

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
    page::streams::ROW,
];

/// The room of the applications as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("applications", "what makes the traffic", APPLICATIONS, None)
}
