//! The TCP connections of a flow as its application sees them: each is a stream.

use crate::event::{self, NO_CODE};
use crate::{CloseReason, Connection};
use transport::{Data, Event, MAX_CONNECTIONS, PathView, Priority, Read, StreamError, Transport};
use units::Time;
use wire::{Direction, Side, StreamId};

/// The stream of the first TCP connection of a flow: bidirectional, opened by the client.
pub const TCP_STREAM: StreamId = tcp_stream(0);

/// The stream of a flow's TCP connection with this index.
const fn tcp_stream(index: usize) -> StreamId {
    StreamId::new(Side::Client, Direction::Bidirectional, index as u64)
}

/// Makes the TCP connection with an index: at the client one that opens, at the server one that listens. `None` if its
/// options cannot be used.
pub type MakeTcp = Box<dyn Fn(Time, usize) -> Option<Connection>>;

/// One TCP connection of a flow.
struct Slot {
    connection: Connection,
    /// Whether it waits in `TcpConnections::touched`.
    touched: bool,
    /// When it is to be woken.
    due: Time,
}

/// The TCP connections of a flow, at one end.
///
/// An application that opens several streams gets a connection for each: the stream with index k is connection k, with
/// ports, handshake and controller of its own. The first one is opened by the host, and the first stream that the
/// application opens is that one; each further stream opens a connection, up to the flow's limit, which counts the closed
/// ones too. What is written before the handshake is complete waits for it.
///
/// What the connections tell is told in the words of streams: [`Event::Connected`] once, for the first that is
/// established; at the server [`Event::Opened`] for each that is; at the client [`Event::Writable`] for each behind the
/// first. One that ends otherwise than by both ends' finishing is told as [`Event::Reset`]. [`Event::Ended`] comes once:
/// at the client when all that were opened are over, at the server when as many are as the flow may have.
pub struct TcpConnections {
    side: Side,
    limit: usize,
    alpn: &'static [u8],
    make: MakeTcp,
    slots: Vec<Option<Slot>>,
    /// Those that may have something to tell or to send, each once.
    touched: Vec<usize>,
    /// Streams that the client has opened.
    opened: usize,
    /// Connections that are over.
    over: usize,
    pending: Option<Event>,
    told_connected: bool,
    told_ended: bool,
    closed: bool,
}

impl TcpConnections {
    /// None yet, of at most `limit` (1 to [`MAX_CONNECTIONS`]), whose application protocol is agreed on to be `alpn`.
    pub fn new(side: Side, limit: usize, alpn: &'static [u8], make: MakeTcp) -> TcpConnections {
        TcpConnections {
            side,
            limit: limit.clamp(1, MAX_CONNECTIONS),
            alpn,
            make,
            slots: Vec::new(),
            touched: Vec::new(),
            opened: 0,
            over: 0,
            pending: None,
            told_connected: false,
            told_ended: false,
            closed: false,
        }
    }

    /// The connection with an index, made now unless it is there; `None` above the limit, or if it cannot be made.
    pub fn get_or_make(&mut self, now: Time, index: usize) -> Option<&mut Connection> {
        if index >= self.limit {
            return None;
        }
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        if self.slots[index].is_none() {
            let connection = (self.make)(now, index)?;
            self.slots[index] = Some(Slot { connection, touched: false, due: Time::NEVER });
        }
        self.get(index)
    }

    /// The connection with an index, which counts as touched: it may have something to tell or to send.
    #[inline]
    pub fn get(&mut self, index: usize) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(index)?.as_mut()?;
        if !slot.touched {
            slot.touched = true;
            self.touched.push(index);
        }
        Some(&mut slot.connection)
    }

    /// All that there are, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Connection)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(index, slot)| Some((index, &slot.as_ref()?.connection)))
    }

    /// The next connection that may have something to tell or to send, if one does. It is attended to until
    /// [`TcpConnections::put_back`].
    #[inline]
    pub fn next_touched(&self) -> Option<usize> {
        self.touched.first().copied()
    }
    /// The connection that is being attended to.
    #[inline]
    pub fn attended(&mut self, index: usize) -> Option<&mut Connection> {
        self.slots.get_mut(index)?.as_mut().map(|slot| &mut slot.connection)
    }
    /// The connection that [`TcpConnections::next_touched`] named has told all and sent what it may.
    #[inline]
    pub fn put_back(&mut self, index: usize) {
        self.touched.retain(|other| *other != index);
        if let Some(Some(slot)) = self.slots.get_mut(index) {
            slot.touched = false;
            slot.due = slot.connection.wake_at().unwrap_or(Time::NEVER);
        }
    }

    /// When one of them is to be woken; [`Time::NEVER`] if none is.
    #[inline]
    pub fn wake_at(&self) -> Time {
        self.slots.iter().flatten().map(|slot| slot.due).min().unwrap_or(Time::NEVER)
    }
    /// Lets those do what is due whose time it is.
    pub fn wake(&mut self, now: Time) {
        for index in 0..self.slots.len() {
            if self.slots[index].as_ref().is_some_and(|slot| slot.due <= now)
                && let Some(connection) = self.get(index)
            {
                connection.wake(now);
            }
        }
    }

    /// Closes all of them: see [`Connection::close`]. No more can be opened.
    pub fn close(&mut self, now: Time, code: u64, reason: &str) {
        self.closed = true;
        for index in 0..self.slots.len() {
            if let Some(connection) = self.get(index) {
                connection.close(now, code, reason);
            }
        }
    }

    /// What a connection tells next, in the words of streams.
    pub fn poll_event(&mut self, index: usize) -> Option<Event> {
        if let Some(event) = self.pending.take() {
            return Some(event);
        }
        let stream = tcp_stream(index);
        while let Some(event) = self.attended(index)?.poll_event() {
            match event {
                event::Event::Connected => return Some(self.on_connected(index)),
                event::Event::Readable => return Some(Event::Readable(stream)),
                event::Event::Writable => return Some(Event::Writable(stream)),
                event::Event::Delivered => return Some(Event::Delivered(stream)),
                event::Event::Ended => {
                    self.over += 1;
                    let reason = self.attended(index)?.close_reason();
                    if reason.is_some_and(CloseReason::is_broken) {
                        return Some(Event::Reset { stream, code: NO_CODE });
                    }
                }
            }
        }
        let all = if self.side == Side::Client { self.slots.len() } else { self.limit };
        let ended = self.over == all && !self.told_ended;
        self.told_ended |= ended;
        ended.then_some(Event::Ended)
    }

    fn on_connected(&mut self, index: usize) -> Event {
        let stream = tcp_stream(index);
        let event = match self.side {
            // The server is not told what was opened: each connection is there for one stream.
            Side::Server => Event::Opened(stream),
            Side::Client => Event::Writable(stream),
        };
        if std::mem::replace(&mut self.told_connected, true) {
            return event;
        }
        self.pending = Some(event).filter(|_| self.side == Side::Server);
        Event::Connected
    }
}

/// The TCP connections of a flow at a point in time. A stream is a connection, of whatever direction it is asked for; there
/// are no datagrams. Neither codes nor reasons reach the peer.
pub struct TcpTransport<'a> {
    /// The connections.
    pub connections: &'a mut TcpConnections,
    /// Now.
    pub now: Time,
}

impl TcpTransport<'_> {
    #[inline]
    fn connection(&mut self, stream: StreamId) -> Result<&mut Connection, StreamError> {
        if stream.initiator() != Side::Client || stream.direction() != Direction::Bidirectional {
            return Err(StreamError::Unknown);
        }
        let index = usize::try_from(stream.index()).unwrap_or(usize::MAX);
        self.connections.get(index).ok_or(StreamError::Unknown)
    }
}

impl Transport for TcpTransport<'_> {
    fn open(&mut self, _: Direction) -> Result<StreamId, StreamError> {
        let TcpConnections { side, closed, told_ended, opened, .. } = *self.connections;
        if side == Side::Server || closed || told_ended {
            return Err(StreamError::LimitReached);
        }
        self.connections.get_or_make(self.now, opened).ok_or(StreamError::LimitReached)?;
        self.connections.opened += 1;
        Ok(tcp_stream(opened))
    }
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        self.connection(stream)?.write(data)
    }
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        self.connection(stream)?.finish_writing()
    }
    /// There is no other way to give up than to end the connection.
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        let now = self.now;
        self.connection(stream)?.close(now, code, "the stream was reset");
        Ok(())
    }
    /// There is no other way to give up than to end the connection.
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        let now = self.now;
        self.connection(stream)?.close(now, code, "the stream was stopped");
        Ok(())
    }
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        let now = self.now;
        self.connection(stream)?.read(now, out)
    }
    #[inline]
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        let now = self.now;
        self.connection(stream)?.skip(now, limit)
    }
    #[inline]
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.skip(stream, u64::MAX)
    }
    /// Streams that do not share a connection have no use for it.
    fn set_priority(&mut self, stream: StreamId, _: Priority) -> Result<(), StreamError> {
        self.connection(stream).map(drop)
    }
    fn limit_unsent(&mut self, stream: StreamId, bytes: u64) {
        if let Ok(connection) = self.connection(stream) {
            connection.limit_unsent(bytes);
        }
    }
    fn path(&mut self, stream: StreamId) -> Option<PathView> {
        let now = self.now;
        let connection = self.connection(stream).ok()?;
        let (window, _) = connection.flight();
        Some(PathView { now, window, smoothed_rtt: connection.smoothed_rtt() })
    }
    fn alpn(&self) -> Option<&[u8]> {
        self.connections.told_connected.then_some(self.connections.alpn)
    }
    fn close(&mut self, code: u64, reason: &str) {
        self.connections.close(self.now, code, reason);
    }
    fn acked_bytes(&self) -> u64 {
        self.connections.iter().map(|(_, connection)| connection.acked_bytes()).sum()
    }
    /// Into the log of the first connection.
    fn tell(&mut self, event: trace::Event) {
        let now = self.now;
        if let Some(first) = self.connections.get(0) {
            first.log().tell(now, event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn connections(limit: usize) -> TcpConnections {
        let make = |now: Time, index: usize| {
            let setup = crate::Setup {
                local: ([10, 0, 0, 1], 1 + index as u16).into(),
                config: Arc::default(),
                random: random::Stream::new(1, "test"),
                interest: trace::Interest::NONE,
                tls: crate::TlsSizes {
                    server_name: String::new(),
                    certificate_chain: 0,
                    alpn: b"",
                    hybrid: false,
                },
                cookie_key: 0,
                initial_sequence: None,
            };
            Connection::connect(now, setup, ([10, 0, 0, 2], 2).into())
        };
        TcpConnections::new(Side::Client, limit, b"test", Box::new(make))
    }

    #[test]
    fn there_is_a_stream_for_each_connection() {
        let mut connections = connections(2);
        assert!(connections.get_or_make(Time::ZERO, 0).is_some());
        let mut transport = TcpTransport { connections: &mut connections, now: Time::ZERO };
        let second = StreamId::from_value(4);
        assert_eq!(transport.open(Direction::Unidirectional), Ok(TCP_STREAM));
        assert_eq!(transport.write(second, Data::Virtual(7)), Err(StreamError::Unknown));
        assert_eq!(transport.open(Direction::Bidirectional), Ok(second));
        assert_eq!(transport.open(Direction::Bidirectional), Err(StreamError::LimitReached));
        assert_eq!(transport.write(TCP_STREAM, Data::Virtual(7)), Ok(7));
        assert_eq!(transport.write(second, Data::Virtual(7)), Ok(7));
        for unknown in [1, 2, 8] {
            let unknown = StreamId::from_value(unknown);
            assert_eq!(transport.write(unknown, Data::Virtual(7)), Err(StreamError::Unknown));
        }
        assert_eq!(transport.finish(TCP_STREAM), Ok(()));
        assert_eq!(transport.write(TCP_STREAM, Data::Virtual(7)), Err(StreamError::Finished));
        assert_eq!(transport.write(second, Data::Virtual(7)), Ok(7));
        assert_eq!((transport.max_datagram_size(), transport.alpn()), (None, None));
    }

    #[test]
    fn a_flow_has_ended_when_all_its_connections_have() {
        let mut connections = connections(3);
        connections.get_or_make(Time::ZERO, 0).unwrap();
        let mut transport = TcpTransport { connections: &mut connections, now: Time::ZERO };
        transport.open(Direction::Bidirectional).unwrap();
        let second = transport.open(Direction::Bidirectional).unwrap();
        transport.reset(second, 0).unwrap();
        assert_eq!(connections.poll_event(1), None);
        let mut transport = TcpTransport { connections: &mut connections, now: Time::ZERO };
        transport.close(0, "done");
        assert_eq!(transport.open(Direction::Bidirectional), Err(StreamError::LimitReached));
        assert_eq!(connections.poll_event(0), Some(Event::Ended));
        assert_eq!((connections.poll_event(0), connections.poll_event(1)), (None, None));
    }
}
