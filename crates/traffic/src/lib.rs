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
pub use tally::Tally;
pub use tcp_transport::{MAX_TCP_CONNECTIONS, MakeTcp, TCP_STREAM, TcpConnections, TcpTransport};
pub use transport::{QuicTransport, Transport};

use quic::Event;
use random::Stream;
use units::Time;
use units::parameter::{Arguments, Room, Row};

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

/// One of the applications that share a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Its name among them: `"messages"`, `"bulk"`, `"bulk-2"`.
    pub name: String,
    /// How far it is.
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
    /// How far it is.
    fn progress(&self) -> Progress;
    /// What became of the objects that it loads, if it does: asked at the end of a run.
    fn load(&self) -> Option<web::Load> {
        None
    }
    /// What it has counted of what it begins and waits for. The two ends know different halves of it.
    fn tally(&self) -> Option<Tally> {
        None
    }
    /// The run is over, at this time: what was due by then counts as begun. Asked before [`Application::tally`].
    fn settle(&mut self, now: Time) {
        let _ = now;
    }
    /// The applications that it is made of, if it is: the name of each in a summary, how far it is, what it has counted.
    fn parts(&self) -> Vec<Part> {
        Vec::new()
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

/// How an application is made. What it draws comes from the stream, which no other application has.
pub type Build = fn(&Arguments, Stream) -> Ends;

/// The applications.
pub static APPLICATIONS: &[Row<Build>] = &[
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

/// What applications agree on whose protocol is registered nowhere.
pub const UNREGISTERED: &[u8] = b"quiclab";

/// The protocol that the application of this name, with these options, agrees on in the handshake (ALPN, RFC 7301).
pub fn alpn(name: &str, arguments: &Arguments) -> &'static [u8] {
    match name {
        "page" => browse::alpn(arguments),
        "hq" => hq::ALPN,
        "http1" => http1::ALPN,
        "http2" => http2::ALPN,
        "http3" => http3::ALPN,
        _ => UNREGISTERED,
    }
}

/// An option, empty if it is the application itself, and a sentence about what is wrong with it.
pub type Misfit = (&'static str, String);

/// How many connections an application with these options opens over TCP at most: one for each of its streams.
///
/// # Errors
/// If it does not go over TCP, or needs more than [`MAX_TCP_CONNECTIONS`].
pub fn tcp_connections(name: &str, arguments: &Arguments) -> Result<usize, Misfit> {
    match name {
        "bulk" => match arguments.integer("streams") as usize {
            streams @ ..=MAX_TCP_CONNECTIONS => Ok(streams),
            streams => Err((
                "streams",
                format!(
                    "found {streams}, each of which is a TCP connection; expected {MAX_TCP_CONNECTIONS} at most, or protocol = \"quic\""
                ),
            )),
        },
        "page" => browse::tcp_connections(arguments),
        "http1" => Ok(arguments.integer("connections") as usize),
        "http2" => Ok(1),
        "messages" | "request-response" => match arguments.text("over").as_str() {
            "stream" => Ok(1),
            over => Err((
                "over",
                format!(
                    "found {over:?}, which does not go over TCP; expected \"stream\", or protocol = \"quic\""
                ),
            )),
        },
        _ => Err(("", format!("{name:?} does not go over TCP; expected protocol = \"quic\""))),
    }
}

/// Whether an application with these options goes over QUIC.
///
/// # Errors
/// If it does not.
pub fn goes_over_quic(name: &str, arguments: &Arguments) -> Result<(), Misfit> {
    match name {
        "page" => browse::goes_over_quic(arguments),
        "http1" | "http2" => {
            Err(("", format!("{name:?} does not go over QUIC; expected protocol = \"tcp\"")))
        }
        _ => Ok(()),
    }
}

/// Whether options fit together: the option that does not, and what is wrong with it.
///
/// # Errors
/// What a single value does not show to be wrong: a message that is shorter than its header, say.
pub fn check(name: &str, arguments: &Arguments) -> Result<(), (&'static str, String)> {
    match name {
        "messages" => messages::check(arguments),
        "page" => browse::check(arguments),
        "http2" => http2::check(arguments),
        "mix" => mix::check(arguments),
        _ => Ok(()),
    }
}

/// Whether an application with these options sends datagrams, which the transport must be told to take.
pub fn needs_datagrams(name: &str, arguments: &Arguments) -> bool {
    match name {
        "messages" => arguments.text("over") == "datagrams",
        "mix" => mix::parts(arguments).iter().any(|part| needs_datagrams(part.name, &part.arguments)),
        _ => false,
    }
}

/// The room of the applications as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("applications", "what makes the traffic", APPLICATIONS, None)
}

/// Makes both ends of the application of this name; `None` if the table has no such row.
pub fn build(name: &str, arguments: &Arguments, stream: Stream) -> Option<Ends> {
    APPLICATIONS.iter().find(|row| row.name == name).map(|row| (row.build)(arguments, stream))
}
