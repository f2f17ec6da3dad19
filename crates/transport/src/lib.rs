//! The vocabulary of stacks, applications and hosts, for any protocol.
//!
//! A stack (crates `quic`, `tcp`, `foreign`) presents its connections as [`Transport`] and reports [`Event`]s. An [`Application`]
//! depends on these alone, so that it runs over any stack. A host sees an endpoint as a [`Stack`] and drives it by [`serve`].

mod application;
mod counters;
mod data;
mod datagram;
mod error;
mod event;
mod path;
mod priority;
mod program;
mod report;
mod serve;
mod stack;
mod tally;

pub use application::{Application, Opening};
pub use counters::{Counters, StreamBooks};
pub use data::{Data, Read};
pub use datagram::{Arrival, Datagram, Outgoing, Transmit};
pub use error::{DatagramError, StreamError};
pub use event::Event;
pub use path::PathView;
pub use priority::Priority;
pub use program::{Owned, Program};
pub use report::{Load, Number, ObjectLoad, PageLoad, Part, Playback, PlaybackBooks, Progress, Report};
pub use serve::{Host, serve};
pub use stack::{Connection, Handle, Notified, Snapshot, Stack};
pub use tally::Tally;

use wire::{Direction, StreamId};

/// The maximum number of connections of a flow over TCP, where each stream is a connection.
pub const MAX_CONNECTIONS: usize = 256;

/// A connection with streams, of any protocol.
pub trait Transport {
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
    /// The number of bytes worth writing now, for data from elsewhere, such as a file: see `room` of a QUIC connection. After 0,
    /// [`Event::Writable`] reports that there is more. A transport that does not know its peer's limits sets none.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn room(&mut self, stream: StreamId) -> Result<u64, StreamError> {
        let _ = stream;
        Ok(u64::MAX)
    }
    /// The number of bytes that were written to a stream and never sent. A transport that does not know says 0.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn unsent(&mut self, stream: StreamId) -> Result<u64, StreamError> {
        let _ = stream;
        Ok(0)
    }
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
    fn reset_at(&mut self, stream: StreamId, code: u64, reliable: u64) -> Result<(), StreamError> {
        let _ = reliable;
        self.reset(stream, code)
    }
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
    /// Sends a datagram, which arrives whole or not at all; returns its number for later events. Fails on a transport
    /// without datagrams.
    ///
    /// # Errors
    /// See [`DatagramError`].
    fn send_datagram(&mut self, data: Data<'_>) -> Result<u64, DatagramError> {
        let _ = data;
        Err(DatagramError::NotNegotiated)
    }
    /// Takes the oldest received datagram and appends its bytes to `into`, if given; returns its length.
    fn read_datagram(&mut self, into: Option<&mut Vec<u8>>) -> Option<u64> {
        let _ = into;
        None
    }
    /// The maximum length in bytes of a datagram now; `None` without datagrams.
    fn max_datagram_size(&self) -> Option<usize> {
        None
    }
    /// Sets the priority of a stream for sending. Schedulers use the fields that their definitions name; it has no effect over
    /// TCP, where each stream is a connection.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError>;
    /// Limits the bytes of a stream that are written but not yet sent: beyond that a write fails with
    /// [`StreamError::Blocked`], and [`Event::Writable`] follows (like TCP_NOTSENT_LOWAT of sockets). It has no effect on a
    /// transport that schedules streams packet by packet.
    fn limit_unsent(&mut self, stream: StreamId, bytes: u64) {
        let _ = (stream, bytes);
    }
    /// The state of the path of a stream, for an application that schedules within the stream (HTTP/2); `None` if the
    /// transport schedules streams itself.
    fn path(&mut self, stream: StreamId) -> Option<PathView> {
        let _ = stream;
        None
    }
    /// The number of streams of a direction that the peer may open so far, closed ones included; `None` if there is no known
    /// limit.
    fn peer_stream_limit(&self, direction: Direction) -> Option<u64> {
        let _ = direction;
        None
    }
    /// The negotiated application protocol (RFC 7301), once it is known.
    fn alpn(&self) -> Option<&[u8]>;
    /// Closes the connection with a code of the application.
    fn close(&mut self, code: u64, reason: &str);
    /// Acknowledged bytes of all streams.
    fn acked_bytes(&self) -> u64;
    /// Adds a trace event of the application to the records of the connection, if a sink is interested.
    fn record(&mut self, event: trace::Event) {
        let _ = event;
    }
}
