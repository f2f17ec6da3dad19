//! A connection as an application sees it, whatever the protocol: the words that stacks and applications share.
//!
//! A stack (crates `quic`, `tcp`) shows its connections as [`Transport`], and tells [`Event`]s. An [`Application`] sees these and
//! nothing else, so that one application runs over any stack. A host sees an endpoint as [`Stack`], and [`serve`]s it, whoever wrote
//! it.

mod application;
mod counters;
mod data;
mod datagram;
mod error;
mod event;
mod path;
mod priority;
mod report;
mod serve;
mod stack;
mod tally;

pub use application::Application;
pub use counters::Counters;
pub use data::{Data, Read};
pub use datagram::{Datagram, Transmit};
pub use error::{DatagramError, StreamError};
pub use event::Event;
pub use path::PathView;
pub use priority::Priority;
pub use report::{Load, ObjectLoad, PageLoad, Part, Progress, Report};
pub use serve::{Host, serve};
pub use stack::{Connection, Handle, Heard, Snapshot, Stack};
pub use tally::Tally;

use wire::{Direction, StreamId};

/// The most connections of a flow where each of its streams is a connection, as over TCP.
pub const MAX_CONNECTIONS: usize = 256;

/// A connection with streams, whatever the protocol.
pub trait Transport {
    /// Opens a stream.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError>;
    /// Writes; gives how many bytes were taken.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError>;
    /// How many bytes of data that lies elsewhere, in a file say, are worth writing now: see the `room` of a QUIC connection. 0:
    /// [`Event::Writable`] tells when there is more. A transport that does not know what its peer takes sets no limit.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn room(&mut self, stream: StreamId) -> Result<u64, StreamError> {
        let _ = stream;
        Ok(u64::MAX)
    }
    /// Ends the stream behind what was written.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError>;
    /// Gives up sending.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError>;
    /// Gives up receiving.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError>;
    /// Reads into `out`.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError>;
    /// Takes what is there, but no more than `limit` bytes, without looking at it.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError>;
    /// Takes what is there without looking at it; from the first call on, nothing of the stream is kept to be read.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError>;
    /// Sends a datagram, which arrives whole or not at all; gives its number for the events about it. A transport without
    /// datagrams refuses.
    ///
    /// # Errors
    /// See [`DatagramError`].
    fn send_datagram(&mut self, data: Data<'_>) -> Result<u64, DatagramError> {
        let _ = data;
        Err(DatagramError::NotNegotiated)
    }
    /// Takes the oldest datagram that has come, its bytes to the end of `into`, or unseen; gives its length.
    fn read_datagram(&mut self, into: Option<&mut Vec<u8>>) -> Option<u64> {
        let _ = into;
        None
    }
    /// The longest datagram in bytes that can be sent now; `None` where there are none.
    fn max_datagram_size(&self) -> Option<usize> {
        None
    }
    /// Says what is to be known of a stream that this side sends on when the next one is chosen, from now on: see
    /// [`Priority`]. A scheduler reads of it what its definition names; TCP, which has one stream, nothing.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError>;
    /// Lets no more of a stream be written while so many bytes of it wait to be sent: a write is then refused as blocked, and
    /// [`Event::Writable`] follows (TCP_NOTSENT_LOWAT of sockets). A transport that chooses between streams when it fills a
    /// packet has no use for it.
    fn limit_unsent(&mut self, stream: StreamId, bytes: u64) {
        let _ = (stream, bytes);
    }
    /// What is known of the path of a stream, for an application that shares the stream out itself (HTTP/2); nothing where the
    /// transport chooses between streams.
    fn path(&mut self, stream: StreamId) -> Option<PathView> {
        let _ = stream;
        None
    }
    /// How many streams of a direction the peer may open so far, those that are over among them; `None` where that has no
    /// limit that is known.
    fn peer_stream_limit(&self, direction: Direction) -> Option<u64> {
        let _ = direction;
        None
    }
    /// The application protocol that was agreed on, once it is (RFC 7301).
    fn alpn(&self) -> Option<&[u8]>;
    /// Closes the connection with a code of the application.
    fn close(&mut self, code: u64, reason: &str);
    /// Bytes that the peer has acknowledged, over all streams.
    fn acked_bytes(&self) -> u64;
    /// Writes what an application has to tell beside the connection's own records, if anybody listens.
    fn tell(&mut self, event: trace::Event) {
        let _ = event;
    }
}
