//! Which stream next: one file per scheduler.

mod rr;

pub use rr::RoundRobin;

use units::parameter::{Arguments, Room, Row};
use units::{Duration, Time};
use wire::StreamId;

/// What a scheduler may know of the path.
#[derive(Debug, Clone, Copy)]
pub struct PathView {
    /// Now.
    pub now: Time,
    /// The congestion window in bytes.
    pub window: u64,
    /// The smoothed RTT.
    pub smoothed_rtt: Duration,
}

/// How urgent a stream is among those of its connection, as its application says (RFC 9218 section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority {
    /// From 0, the most urgent, to 7.
    pub urgency: u8,
    /// Whether the reader can use parts of the stream, so that it may share the connection with others of its urgency.
    pub incremental: bool,
}

impl Default for Priority {
    /// What RFC 9218 sections 4.1 and 4.2 assume: urgency 3, not incremental.
    fn default() -> Priority {
        Priority { urgency: 3, incremental: false }
    }
}

/// Chooses the stream whose data goes into a packet next. It knows streams that have something to send, and nothing
/// of what that is.
pub trait Scheduler: Send {
    /// The stream has something to send; called once until [`Scheduler::on_idle`].
    fn on_ready(&mut self, stream: StreamId, now: Time);
    /// So many bytes of the stream went into a packet.
    fn on_sent(&mut self, stream: StreamId, bytes: u64);
    /// The stream has nothing to send any more, or may not send.
    fn on_idle(&mut self, stream: StreamId);
    /// The application has given the stream another priority, whether or not it has something to send. Without a call
    /// it has the default one.
    fn on_priority(&mut self, stream: StreamId, priority: Priority) {
        let _ = (stream, priority);
    }
    /// The stream is over: nothing more will be heard of it.
    fn on_closed(&mut self, stream: StreamId) {
        let _ = stream;
    }
    /// The stream to take from next; the same one until something changes. `None` if none is ready.
    fn next(&mut self, view: &PathView) -> Option<StreamId>;
}

/// How a scheduler is made.
pub type Build = fn(&Arguments) -> Box<dyn Scheduler>;

/// The schedulers.
pub static SCHEDULERS: &[Row<Build>] = &[rr::ROW];

/// The room of the schedulers as scenarios and `quiclab list` see it.
pub fn room() -> Room {
    Room::of("schedulers", "stream schedulers", SCHEDULERS, None)
}

/// Makes the scheduler of this name; `None` if the table has no such row.
pub fn build(name: &str, arguments: &Arguments) -> Option<Box<dyn Scheduler>> {
    SCHEDULERS.iter().find(|row| row.name == name).map(|row| (row.build)(arguments))
}
