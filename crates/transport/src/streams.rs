//! The streams of a connection: their data, and how much of it can be written.

use crate::{Data, Priority, Read, StreamError};
use wire::{Direction, StreamId};

/// Streams, and the data on them.
pub trait Streams {
    /// Opens a stream.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError>;
    /// Writes data to a stream; returns the number of bytes accepted.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError>;
    /// Ends the stream after the written data.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError>;
    /// Aborts sending with a code of the application.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError>;
    /// Aborts sending with a code of the application, with the first `reliable` written bytes delivered nevertheless. A
    /// transport or a peer that cannot do that delivers any part of them, as after `reset`.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn reset_at(&mut self, stream: StreamId, code: u64, reliable: u64) -> Result<(), StreamError>;
    /// Aborts receiving with a code of the application.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError>;
    /// Reads available data into `out`.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError>;
    /// Consumes up to `limit` bytes of the available data unread.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError>;
    /// Consumes all available data unread. From the first call on, no data of the stream is kept for reading.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError>;
    /// Sets the priority of a stream for sending. Schedulers use the fields that their definitions name; it has no effect over
    /// TCP, where each stream is a connection.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError>;
}

/// How much can be written, what of it waits, and how many streams there may be.
pub trait FlowControl {
    /// The number of bytes worth writing now, for data from elsewhere, such as a file: see `room` of a QUIC connection. After 0,
    /// [`crate::Event::Writable`] reports that there is more. `None` if the transport does not know its peer's limits.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn room(&mut self, stream: StreamId) -> Result<Option<u64>, StreamError>;
    /// The number of bytes that were written to a stream and never sent; `None` if the transport does not know.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn unsent(&mut self, stream: StreamId) -> Result<Option<u64>, StreamError>;
    /// Limits the bytes of a stream that are written but not yet sent: beyond that a write fails with
    /// [`StreamError::Blocked`], and [`crate::Event::Writable`] follows (like TCP_NOTSENT_LOWAT of sockets). It has no effect on a
    /// transport that schedules streams packet by packet.
    fn limit_unsent(&mut self, stream: StreamId, bytes: u64);
    /// The number of streams of a direction that the peer may open so far, closed ones included; `None` if there is no known
    /// limit.
    fn peer_stream_limit(&self, direction: Direction) -> Option<u64>;
}

/// A transport that knows neither its peer's limits nor what waits.
pub trait UnknownLimits {}

impl<T: UnknownLimits> FlowControl for T {
    fn room(&mut self, _: StreamId) -> Result<Option<u64>, StreamError> {
        Ok(None)
    }
    fn unsent(&mut self, _: StreamId) -> Result<Option<u64>, StreamError> {
        Ok(None)
    }
    fn limit_unsent(&mut self, _: StreamId, _: u64) {}
    fn peer_stream_limit(&self, _: Direction) -> Option<u64> {
        None
    }
}
