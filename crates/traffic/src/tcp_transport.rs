//! A TCP connection as applications see it: one stream.

use crate::Transport;
use quic::{Data, Priority, Read, StreamError};
use units::Time;
use wire::{Direction, Side, StreamId};

/// The only stream of a TCP connection: bidirectional, opened by the client.
pub const TCP_STREAM: StreamId = StreamId::new(Side::Client, Direction::Bidirectional, 0);

/// The code of a reset that carries none.
const NO_CODE: u64 = 0;

/// A TCP connection at a point in time. There is one stream, of whatever direction it is asked for; a second one is
/// refused, and there are no datagrams. Neither codes nor reasons reach the peer.
pub struct TcpTransport<'a> {
    /// The connection.
    pub connection: &'a mut tcp::Connection,
    /// Now.
    pub now: Time,
}

/// What an event of a TCP connection means in the words of streams, in order.
pub fn tcp_events(event: tcp::Event, side: Side) -> impl Iterator<Item = quic::Event> {
    let (first, second) = match event {
        tcp::Event::Connected => {
            // The server is not told what was opened: there is only one thing to open.
            let opened = (side == Side::Server).then_some(quic::Event::Opened(TCP_STREAM));
            (quic::Event::Connected, opened)
        }
        tcp::Event::Readable => (quic::Event::Readable(TCP_STREAM), None),
        tcp::Event::Writable => (quic::Event::Writable(TCP_STREAM), None),
        tcp::Event::Delivered => (quic::Event::Delivered(TCP_STREAM), None),
        tcp::Event::Ended => (quic::Event::Ended, None),
    };
    [Some(first), second].into_iter().flatten()
}

fn known(stream: StreamId) -> Result<(), StreamError> {
    if stream == TCP_STREAM { Ok(()) } else { Err(StreamError::Unknown) }
}

fn error(error: tcp::StreamError) -> StreamError {
    match error {
        tcp::StreamError::Finished => StreamError::Finished,
        tcp::StreamError::Blocked => StreamError::Blocked,
        tcp::StreamError::Reset => StreamError::Reset(NO_CODE),
    }
}

fn read(read: Result<tcp::Read, tcp::StreamError>) -> Result<Read, StreamError> {
    read.map(|read| Read { bytes: read.bytes, finished: read.finished }).map_err(error)
}

impl Transport for TcpTransport<'_> {
    fn open(&mut self, _: Direction) -> Result<StreamId, StreamError> {
        if self.connection.claim() { Ok(TCP_STREAM) } else { Err(StreamError::LimitReached) }
    }
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        known(stream)?;
        let data = match data {
            Data::Bytes(bytes) => tcp::Data::Bytes(bytes),
            Data::Virtual(length) => tcp::Data::Virtual(length),
        };
        self.connection.write(data).map_err(error)
    }
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        known(stream)?;
        self.connection.finish_writing().map_err(error)
    }
    /// There is no other way to give up than to end the connection.
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        known(stream)?;
        self.connection.close(self.now, code, "the stream was reset");
        Ok(())
    }
    /// There is no other way to give up than to end the connection.
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        known(stream)?;
        self.connection.close(self.now, code, "the stream was stopped");
        Ok(())
    }
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        known(stream)?;
        read(self.connection.read(self.now, out))
    }
    #[inline]
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        known(stream)?;
        read(self.connection.skip(self.now, limit))
    }
    #[inline]
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.skip(stream, u64::MAX)
    }
    /// One stream alone has no use for it.
    fn set_priority(&mut self, stream: StreamId, _: Priority) -> Result<(), StreamError> {
        known(stream)
    }
    fn alpn(&self) -> Option<&[u8]> {
        None
    }
    fn close(&mut self, code: u64, reason: &str) {
        self.connection.close(self.now, code, reason);
    }
    fn acked_bytes(&self) -> u64 {
        self.connection.acked_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn there_is_one_stream() {
        let setup = tcp::Setup {
            local: ([10, 0, 0, 1], 1).into(),
            config: Arc::default(),
            random: random::Stream::new(1, "test"),
            interest: trace::Interest::NONE,
            tls: tcp::TlsSizes { server_name: String::new(), certificate_chain: 0, hybrid: false },
            cookie_key: 0,
            initial_sequence: None,
        };
        let remote = ([10, 0, 0, 2], 2).into();
        let mut connection = tcp::Connection::connect(Time::ZERO, setup, remote).unwrap();
        let mut transport = TcpTransport { connection: &mut connection, now: Time::ZERO };
        assert_eq!(transport.open(Direction::Unidirectional), Ok(TCP_STREAM));
        assert_eq!(transport.open(Direction::Bidirectional), Err(StreamError::LimitReached));
        assert_eq!(transport.write(TCP_STREAM, Data::Virtual(7)), Ok(7));
        assert_eq!(transport.write(StreamId::from_value(4), Data::Virtual(7)), Err(StreamError::Unknown));
        assert_eq!(transport.finish(TCP_STREAM), Ok(()));
        assert_eq!(transport.write(TCP_STREAM, Data::Virtual(7)), Err(StreamError::Finished));
        assert_eq!(transport.max_datagram_size(), None);
        assert_eq!(tcp_events(tcp::Event::Connected, Side::Server).count(), 2);
    }
}
