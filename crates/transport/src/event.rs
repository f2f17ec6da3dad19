//! The events that a connection reports to its application.

use std::net::SocketAddr;
use wire::{Direction, StreamId};

/// An event of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// At a client, before [`Event::Connected`]: streams can be opened and written to. The data is sent in 0-RTT packets,
    /// under the remembered limits (RFC 9001 section 4.6). An attacker can replay it (section 9.2).
    EarlyDataReady,
    /// The server has accepted the data in 0-RTT packets (RFC 9001 section 4.6.2). Precedes [`Event::Connected`]. At a
    /// server, data before [`Event::Connected`] may be a replay (section 9.2).
    EarlyDataAccepted,
    /// At a client: the server has rejected the data in 0-RTT packets (RFC 9001 section 4.6.2). Precedes
    /// [`Event::Connected`].
    EarlyDataRejected {
        /// Whether the data is sent again on the same streams, as it is if the application protocol is unchanged.
        /// Otherwise all streams are gone (RFC 8446 section 4.2.10).
        resent: bool,
    },
    /// The handshake is complete: the peer is authenticated, and 1-RTT data flows.
    Connected,
    /// The peer opened a stream.
    Opened(StreamId),
    /// There is data to read, or the end. Not repeated before a read.
    Readable(StreamId),
    /// A write that was refused or cut short can continue.
    Writable(StreamId),
    /// All written data and the end of the stream were acknowledged.
    Delivered(StreamId),
    /// The peer asked to stop sending, and the stream was reset in response. Not reported for a stream that had been
    /// reset or delivered.
    Stopped {
        /// The stream.
        stream: StreamId,
        /// The peer's code.
        code: u64,
    },
    /// The peer reset the stream. A read, which then fails with the same code, or [`crate::Streams::stop`] releases the
    /// stream and its flow-control credit.
    Reset {
        /// The stream.
        stream: StreamId,
        /// The peer's code.
        code: u64,
    },
    /// Both halves of a stream have ended, and its id is no longer known.
    Closed {
        /// The stream.
        stream: StreamId,
        /// Bytes sent on it, each counted once.
        sent: u64,
        /// Bytes received on it.
        received: u64,
    },
    /// There are datagrams to read. Not repeated before all were read.
    DatagramReadable,
    /// The queue of datagrams has room again.
    DatagramWritable,
    /// The peer has received this datagram, numbered by [`crate::Datagrams::send_datagram`]. Whether its application has
    /// processed it is unknown (RFC 9221 section 5.2).
    DatagramAcked(u64),
    /// This datagram was declared lost, or the path no longer carries datagrams of its size; it is not sent again. If it
    /// was only late, [`Event::DatagramAcked`] follows.
    DatagramLost(u64),
    /// More streams of this direction can be opened.
    StreamsAvailable(Direction),
    /// Packets take another path from now on, because one side has migrated (RFC 9000 section 9).
    Migrated {
        /// The local address.
        local: SocketAddr,
        /// The address of the peer.
        remote: SocketAddr,
    },
    /// The validation of a path failed (RFC 9000 section 8.2.4). If the path was in use, [`Event::Migrated`] reports the
    /// return to the previous one, if there is one.
    PathFailed {
        /// The local address.
        local: SocketAddr,
        /// The address of the peer.
        remote: SocketAddr,
    },
    /// The connection has ended for the application. This is the last event.
    Ended,
}
