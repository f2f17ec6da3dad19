//! What a connection tells its application.

use std::net::SocketAddr;
use wire::{Direction, StreamId};

/// Something that the application may want to act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// At a client, before [`Event::Connected`]: streams can be opened and written to, and what is sent goes in 0-RTT
    /// packets, under the limits that are remembered (RFC 9001 section 4.6). An attacker can replay it (section 9.2).
    EarlyDataReady,
    /// The server takes what was sent in 0-RTT packets (RFC 9001 section 4.6.2). Told before [`Event::Connected`]. At a
    /// server: what comes before [`Event::Connected`] may be a replay (section 9.2).
    EarlyDataAccepted,
    /// At a client: the server does not take what was sent in 0-RTT packets (RFC 9001 section 4.6.2). Told before
    /// [`Event::Connected`].
    EarlyDataRejected {
        /// Whether all that was written goes out again, on the same streams: it does if the application protocol is
        /// still the same. If not, no stream exists any more (RFC 8446 section 4.2.10).
        resent: bool,
    },
    /// The handshake is complete: the peer is who it should be, and 1-RTT data flows.
    Connected,
    /// The peer opened a stream.
    Opened(StreamId),
    /// There is data, or the end, to read. Told once; the next time after a read.
    Readable(StreamId),
    /// A write that was refused or cut short can go on.
    Writable(StreamId),
    /// All that was written, and the end, were acknowledged.
    Delivered(StreamId),
    /// The peer asked to stop sending; the stream was reset in answer. Not told of a stream that was reset already, or
    /// delivered.
    Stopped {
        /// The stream.
        stream: StreamId,
        /// The peer's code.
        code: u64,
    },
    /// The peer reset the stream. A read, which then fails with the same code, or [`crate::Transport::stop`] lets go of
    /// it and gives its credit back.
    Reset {
        /// The stream.
        stream: StreamId,
        /// The peer's code.
        code: u64,
    },
    /// Both halves of a stream are over; its id is not known any more.
    Closed {
        /// The stream.
        stream: StreamId,
        /// Bytes that this side sent on it, each counted once.
        sent: u64,
        /// Bytes that this side received on it.
        received: u64,
    },
    /// There are datagrams to read. Told once; the next time after all were read.
    DatagramReadable,
    /// A datagram that was refused because too many waited would be taken now.
    DatagramWritable,
    /// The peer has this datagram, by the number that [`crate::Transport::send_datagram`] gave; whether its application
    /// has it is another question (RFC 9221 section 5.2).
    DatagramAcked(u64),
    /// This datagram seems to be lost, or the path carries nothing of its size any more; it is not sent again. If it was
    /// only late, [`Event::DatagramAcked`] follows.
    DatagramLost(u64),
    /// More streams of this direction can be opened.
    StreamsAvailable(Direction),
    /// From now on packets go over another path: one side has moved (RFC 9000 section 9).
    Migrated {
        /// The address of this side.
        local: SocketAddr,
        /// The address of the other side.
        remote: SocketAddr,
    },
    /// The validation of a path failed (RFC 9000 section 8.2.4). If it was in use, [`Event::Migrated`] tells of the way
    /// back, unless there is none.
    PathFailed {
        /// The address of this side.
        local: SocketAddr,
        /// The address of the other side.
        remote: SocketAddr,
    },
    /// The connection is over for the application. Nothing comes after this.
    Ended,
}
