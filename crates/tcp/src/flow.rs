//! The TCP connections of a flow, presented to its application as streams.

use crate::event::{self, NO_CODE};
use crate::{CloseReason, Connection, Transmit};
use std::net::SocketAddr;
use transport::{
    Application, Counters, Data, Event, FlowControl, MAX_CONNECTIONS, Measurements, PathView, Priority, Read,
    Snapshot, StreamError, Streams, Transport, WithoutDatagrams,
};
use units::Time;
use wire::{Direction, Side, StreamId};

/// The stream of a flow's first TCP connection: bidirectional, opened by the client.
pub const TCP_STREAM: StreamId = tcp_stream(0);

/// The stream of the flow's TCP connection with this index.
const fn tcp_stream(index: usize) -> StreamId {
    StreamId::new(Side::Client, Direction::Bidirectional, index as u64)
}

/// Creates the TCP connection with an index: an active open to the given address, or a passive open without one. Returns
/// `None` if its options cannot be used.
pub type ConnectionFactory = Box<dyn Fn(Time, usize, Option<SocketAddr>) -> Option<Connection>>;

/// One TCP connection of a flow.
struct Slot {
    connection: Connection,
    /// Whether it is listed in `TcpConnections::touched`.
    touched: bool,
    /// The time of its next timer.
    due: Time,
    /// What its steps since the last [`Connection::check`] have paid for; only counted with debug assertions.
    unchecked: usize,
}

/// The number of segments that a step of a connection pays to have checked.
const CHECKED_PER_STEP: usize = 4;

/// The TCP connections of a flow at one end.
///
/// Each stream that an application opens is a connection: the stream with index k is connection k, with its own ports,
/// handshake and controller. The host opens the first connection, which becomes the first stream of the application.
/// Each further stream opens a connection, up to the limit of the flow, which includes closed connections. Data written
/// before the handshake is complete waits for it.
///
/// Events of the connections become stream events: [`Event::Connected`] once, when the first connection is established;
/// at the server [`Event::Opened`] for each connection; at the client [`Event::Writable`] for each but the first. A
/// connection that ends before both ends have finished is reported as [`Event::Reset`]. [`Event::Ended`] is reported
/// once: at the client when all opened connections are over, at the server when as many are over as the flow may have.
pub struct TcpConnections {
    side: Side,
    limit: usize,
    alpn: &'static [u8],
    make: ConnectionFactory,
    /// At the client: the address of the server, once the host has opened the first connection.
    remote: Option<SocketAddr>,
    slots: Vec<Option<Slot>>,
    /// Connections that may have events or segments to send, each listed once.
    touched: Vec<usize>,
    /// Streams opened by the client.
    opened: usize,
    /// Connections that are over.
    over: usize,
    pending: Option<Event>,
    connected_reported: bool,
    ended_reported: bool,
    closed: bool,
}

impl Slot {
    /// Checks the connection, if its steps since the last time have paid for that: see [`Connection::check`].
    fn check(&mut self) {
        self.unchecked += CHECKED_PER_STEP;
        if self.unchecked >= self.connection.books() {
            self.unchecked = 0;
            self.connection.check();
        }
    }
}

impl TcpConnections {
    /// Creates an empty set of up to `limit` connections (1 to [`MAX_CONNECTIONS`]), with the negotiated application
    /// protocol `alpn`.
    pub fn new(side: Side, limit: usize, alpn: &'static [u8], make: ConnectionFactory) -> TcpConnections {
        TcpConnections {
            side,
            limit: limit.clamp(1, MAX_CONNECTIONS),
            alpn,
            make,
            remote: None,
            slots: Vec::new(),
            touched: Vec::new(),
            opened: 0,
            over: 0,
            pending: None,
            connected_reported: false,
            ended_reported: false,
            closed: false,
        }
    }

    /// Opens the first connection: to this address at the client. `None` if it cannot be created.
    pub(crate) fn open_first(&mut self, now: Time, remote: Option<SocketAddr>) -> Option<&mut Connection> {
        self.remote = remote;
        self.get_or_create(now, 0)
    }

    /// The connection with an index, created now if necessary. `None` if the index exceeds the limit, or if it cannot
    /// be created.
    pub(crate) fn get_or_create(&mut self, now: Time, index: usize) -> Option<&mut Connection> {
        if index >= self.limit {
            return None;
        }
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        if self.slots[index].is_none() {
            let connection = (self.make)(now, index, self.remote)?;
            self.slots[index] = Some(Slot { connection, touched: false, due: Time::NEVER, unchecked: 0 });
        }
        self.get(index)
    }

    /// The connection with an index. It is marked as touched: it may have events or segments to send.
    #[inline]
    pub(crate) fn get(&mut self, index: usize) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(index)?.as_mut()?;
        if !slot.touched {
            slot.touched = true;
            self.touched.push(index);
        }
        Some(&mut slot.connection)
    }

    fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.slots.iter().flatten().map(|slot| &slot.connection)
    }

    /// Whether a connection may have events or segments to send.
    #[inline]
    pub(crate) fn is_touched(&self) -> bool {
        !self.touched.is_empty()
    }
    /// The touched connection being served, with its index.
    #[inline]
    fn first_touched(&mut self) -> Option<(usize, &mut Connection)> {
        let index = *self.touched.first()?;
        let slot = self.slots[index].as_mut().expect("a connection that was touched is in its slot");
        Some((index, &mut slot.connection))
    }

    /// The next segment of the connection being served, with its local address. `None` if it has nothing more to send;
    /// if it has events or records, it is to be served again.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<(SocketAddr, Transmit)> {
        let (index, connection) = self.first_touched()?;
        if let Some(transmit) = connection.transmit(now, out) {
            return Some((connection.local(), transmit));
        }
        if !connection.has_news() {
            let due = connection.wake_at().unwrap_or(Time::NEVER);
            self.touched.remove(0);
            let slot = self.slots[index].as_mut().expect("a connection that was served is in its slot");
            (slot.touched, slot.due) = (false, due);
            if cfg!(debug_assertions) {
                slot.check();
            }
        }
        None
    }

    /// The earliest timer of all connections; [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn wake_at(&self) -> Time {
        self.slots.iter().flatten().map(|slot| slot.due).min().unwrap_or(Time::NEVER)
    }
    /// Wakes the connections whose timers have expired.
    pub(crate) fn wake(&mut self, now: Time) {
        for index in 0..self.slots.len() {
            if self.slots[index].as_ref().is_some_and(|slot| slot.due <= now)
                && let Some(connection) = self.get(index)
            {
                connection.wake(now);
            }
        }
    }

    /// Closes all connections (see [`Connection::close`]). No more can be opened.
    pub fn close(&mut self, now: Time, code: u64, reason: &str) {
        self.closed = true;
        for index in 0..self.slots.len() {
            if let Some(connection) = self.get(index) {
                connection.close(now, code, reason);
            }
        }
    }

    /// The next event of the connection being served, as a stream event.
    fn next_event(&mut self) -> Option<Event> {
        if let Some(event) = self.pending.take() {
            return Some(event);
        }
        while let (index, Some(event)) = self.first_touched().map(|(index, c)| (index, c.poll_event()))? {
            let stream = tcp_stream(index);
            match event {
                event::Event::Connected => return Some(self.on_connected(index)),
                event::Event::Readable => return Some(Event::Readable(stream)),
                event::Event::Writable => return Some(Event::Writable(stream)),
                event::Event::Delivered => return Some(Event::Delivered(stream)),
                event::Event::Ended => {
                    self.over += 1;
                    let (_, connection) = self.first_touched()?;
                    if connection.close_reason().is_some_and(CloseReason::is_broken) {
                        return Some(Event::Reset { stream, code: NO_CODE });
                    }
                }
            }
        }
        let all = if self.side == Side::Client { self.slots.len() } else { self.limit };
        let ended = self.over == all && !self.ended_reported;
        self.ended_reported |= ended;
        ended.then_some(Event::Ended)
    }

    fn on_connected(&mut self, index: usize) -> Event {
        let stream = tcp_stream(index);
        let event = match self.side {
            // The application of the server sees each connection as a new stream.
            Side::Server => Event::Opened(stream),
            Side::Client => Event::Writable(stream),
        };
        if std::mem::replace(&mut self.connected_reported, true) {
            return event;
        }
        self.pending = Some(event).filter(|_| self.side == Side::Server);
        Event::Connected
    }
}

impl transport::Connection for TcpConnections {
    #[inline]
    fn poll_event(&mut self) -> Option<Event> {
        self.next_event()
    }
    #[inline]
    fn notify(&mut self, now: Time, event: &Event, application: &mut dyn Application) {
        application.on_event(now, event, &mut TcpTransport { connections: self, now });
    }
    fn wake(&mut self, now: Time, application: &mut dyn Application) {
        application.on_wake(now, &mut TcpTransport { connections: self, now });
    }
    fn close(&mut self, now: Time, code: u64, reason: &str) {
        TcpConnections::close(self, now, code, reason);
    }
    fn is_over(&self) -> bool {
        self.ended_reported
    }
    /// The sums over all connections, and the first unclean end, or else the last one.
    fn snapshot(&self, no_error: u64) -> Snapshot {
        let (mut counters, mut window, mut close) = (Counters::default(), 0, None);
        let mut streams = transport::StreamBooks::default();
        for connection in self.iter() {
            counters.add(connection.stats().into());
            window += connection.flight().0;
            streams.add(connection.stream_books());
            let unclean = matches!(close, Some((_, false)));
            if let Some(reason) = connection.close_reason().filter(|_| !unclean) {
                close = Some((reason.to_string(), reason.is_clean(no_error)));
            }
        }
        Snapshot { counters, window, close, streams: Some(streams) }
    }
    #[inline]
    fn records(&mut self) -> Option<(usize, &mut trace::Log)> {
        self.first_touched().map(|(index, connection)| (index, connection.log()))
    }
}

/// The TCP connections of a flow at a point in time. Each stream is a bidirectional connection, whatever direction was
/// requested. There are no datagrams, and the peer sees neither codes nor reasons.
pub struct TcpTransport<'a> {
    /// The connections.
    pub connections: &'a mut TcpConnections,
    /// The current time.
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

impl Streams for TcpTransport<'_> {
    fn open(&mut self, _: Direction) -> Result<StreamId, StreamError> {
        let TcpConnections { side, closed, ended_reported, opened, .. } = *self.connections;
        if side == Side::Server || closed || ended_reported {
            return Err(StreamError::LimitReached);
        }
        self.connections.get_or_create(self.now, opened).ok_or(StreamError::LimitReached)?;
        self.connections.opened += 1;
        Ok(tcp_stream(opened))
    }
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        self.connection(stream)?.write(data)
    }
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        self.connection(stream)?.finish_writing()
    }
    /// TCP can only give up by ending the connection.
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        let now = self.now;
        self.connection(stream)?.close(now, code, "the stream was reset");
        Ok(())
    }
    /// TCP can only give up by ending the connection.
    fn reset_at(&mut self, stream: StreamId, code: u64, _: u64) -> Result<(), StreamError> {
        self.reset(stream, code)
    }
    /// TCP can only give up by ending the connection.
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
    /// Priorities have no effect: streams do not share a connection.
    fn set_priority(&mut self, stream: StreamId, _: Priority) -> Result<(), StreamError> {
        self.connection(stream).map(drop)
    }
}

impl FlowControl for TcpTransport<'_> {
    fn room(&mut self, _: StreamId) -> Result<Option<u64>, StreamError> {
        Ok(None)
    }
    fn unsent(&mut self, _: StreamId) -> Result<Option<u64>, StreamError> {
        Ok(None)
    }
    fn limit_unsent(&mut self, stream: StreamId, bytes: u64) {
        if let Ok(connection) = self.connection(stream) {
            connection.limit_unsent(bytes);
        }
    }
    fn peer_stream_limit(&self, _: Direction) -> Option<u64> {
        None
    }
}

impl Measurements for TcpTransport<'_> {
    fn path(&mut self, stream: StreamId) -> Option<PathView> {
        let now = self.now;
        let connection = self.connection(stream).ok()?;
        let (window, _) = connection.flight();
        Some(PathView { now, window, smoothed_rtt: connection.smoothed_rtt() })
    }
    fn acked_bytes(&self) -> u64 {
        self.connections.iter().map(Connection::acked_bytes).sum()
    }
    /// Writes into the log of the first connection.
    fn record(&mut self, event: trace::Event) {
        let now = self.now;
        if let Some(first) = self.connections.get(0) {
            first.log().push_if_covered(now, event);
        }
    }
}

impl Transport for TcpTransport<'_> {
    fn alpn(&self) -> Option<&[u8]> {
        self.connections.connected_reported.then_some(self.connections.alpn)
    }
    fn close(&mut self, code: u64, reason: &str) {
        self.connections.close(self.now, code, reason);
    }
}

impl WithoutDatagrams for TcpTransport<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use transport::Datagrams;

    const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 2);

    fn connections(limit: usize) -> TcpConnections {
        let make = |now: Time, index: usize, remote: Option<SocketAddr>| {
            let setup = crate::ConnectionInputs {
                local: ([10, 0, 0, 1], 1 + index as u16).into(),
                config: Arc::default(),
                random: random::Generator::new(1, "test"),
                interest: trace::Interest::NONE,
                tls: crate::TlsSizes {
                    server_name: String::new(),
                    certificate_chain: 0,
                    alpn: b"",
                    hybrid: false,
                },
                cookie_key: 0,
                known_paths: crate::DatedPaths::default(),
                initial_sequence: None,
            };
            Connection::connect(now, setup, remote?)
        };
        TcpConnections::new(Side::Client, limit, b"test", Box::new(make))
    }

    #[test]
    fn there_is_a_stream_for_each_connection() {
        let mut connections = connections(2);
        assert!(connections.open_first(Time::ZERO, Some(SERVER)).is_some());
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

    /// Serves the connections until none is touched; returns their events.
    fn serve(connections: &mut TcpConnections) -> Vec<Event> {
        let mut events = Vec::new();
        while connections.is_touched() {
            events.extend(std::iter::from_fn(|| connections.next_event()));
            while connections.transmit(Time::ZERO, &mut Vec::new()).is_some() {}
        }
        events
    }

    #[test]
    fn a_flow_has_ended_when_all_its_connections_have() {
        let mut connections = connections(3);
        connections.open_first(Time::ZERO, Some(SERVER)).unwrap();
        let mut transport = TcpTransport { connections: &mut connections, now: Time::ZERO };
        transport.open(Direction::Bidirectional).unwrap();
        let second = transport.open(Direction::Bidirectional).unwrap();
        transport.reset(second, 0).unwrap();
        assert_eq!(serve(&mut connections), []);
        let mut transport = TcpTransport { connections: &mut connections, now: Time::ZERO };
        transport.close(0, "done");
        assert_eq!(transport.open(Direction::Bidirectional), Err(StreamError::LimitReached));
        assert_eq!(serve(&mut connections), [Event::Ended]);
        assert_eq!(serve(&mut connections), []);
    }
}
