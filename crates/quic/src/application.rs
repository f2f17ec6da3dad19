//! The application's view of a QUIC connection.

use crate::Connection;
use transport::{
    Data, DatagramError, Datagrams, FlowControl, Measurements, PathView, Priority, Read, StreamError,
    Streams, Transport,
};
use units::Time;
use wire::{Direction, StreamId};

/// A QUIC connection at a point in time.
pub struct QuicTransport<'a> {
    /// The connection.
    pub connection: &'a mut Connection,
    /// The current time.
    pub now: Time,
}

impl Streams for QuicTransport<'_> {
    fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        self.connection.open(direction)
    }
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        self.connection.write(self.now, stream, data)
    }
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        self.connection.finish(self.now, stream)
    }
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.connection.reset(stream, code)
    }
    fn reset_at(&mut self, stream: StreamId, code: u64, reliable: u64) -> Result<(), StreamError> {
        self.connection.reset_at(stream, code, reliable)
    }
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.connection.stop(stream, code)
    }
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        self.connection.read(stream, out)
    }
    #[inline]
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        self.connection.skip(stream, limit)
    }
    #[inline]
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.connection.discard(stream)
    }
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
        self.connection.set_priority(stream, priority)
    }
}

impl FlowControl for QuicTransport<'_> {
    fn room(&mut self, stream: StreamId) -> Result<Option<u64>, StreamError> {
        self.connection.room(stream).map(Some)
    }
    fn unsent(&mut self, stream: StreamId) -> Result<Option<u64>, StreamError> {
        self.connection.unsent(stream).map(Some)
    }
    /// Streams are scheduled packet by packet.
    fn limit_unsent(&mut self, _: StreamId, _: u64) {}
    fn peer_stream_limit(&self, direction: Direction) -> Option<u64> {
        Some(self.connection.peer_stream_limit(direction))
    }
}

impl Datagrams for QuicTransport<'_> {
    fn send_datagram(&mut self, data: Data<'_>) -> Result<u64, DatagramError> {
        self.connection.send_datagram(data)
    }
    fn read_datagram(&mut self, into: Option<&mut Vec<u8>>) -> Option<u64> {
        match into {
            Some(into) => self.connection.read_datagram(into),
            None => self.connection.discard_datagram(),
        }
    }
    fn max_datagram_size(&self) -> Option<usize> {
        self.connection.max_datagram_size()
    }
}

impl Measurements for QuicTransport<'_> {
    fn path(&mut self, _: StreamId) -> Option<PathView> {
        None
    }
    fn acked_bytes(&self) -> u64 {
        self.connection.acked_bytes()
    }
    fn record(&mut self, event: trace::Event) {
        self.connection.log().push_if_covered(self.now, event);
    }
}

impl Transport for QuicTransport<'_> {
    fn alpn(&self) -> Option<&[u8]> {
        self.connection.alpn()
    }
    fn close(&mut self, code: u64, reason: &str) {
        self.connection.close(self.now, code, reason);
    }
}
