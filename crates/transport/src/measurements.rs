//! What is measured of a connection, and noted in its records.

use crate::PathView;
use wire::StreamId;

/// What an application learns of its connection, and adds to its records.
pub trait Measurements {
    /// The state of the path of a stream, for an application that schedules within the stream (HTTP/2); `None` if the
    /// transport schedules streams itself.
    fn path(&mut self, stream: StreamId) -> Option<PathView>;
    /// Acknowledged bytes of all streams.
    fn acked_bytes(&self) -> u64;
    /// Adds a trace event of the application to the records of the connection, if a sink is interested. A stack that keeps no
    /// records of events drops it.
    fn record(&mut self, event: trace::Event);
}
