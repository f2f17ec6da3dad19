//! One end of the path: a quinn-proto endpoint with one connection, and the application at that end.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, ReadError, StreamEvent, StreamId,
    WriteError,
};

use super::link::Link;

/// The address of the client.
pub(super) const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 50_000);
/// The address of the server.
pub(super) const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

/// The maximum number of datagrams that one call of quinn-proto may return. Larger values (segmentation
/// offload) gave the same packets at the same times and were not measurably cheaper.
const SEGMENTS: usize = 1;

/// What the application does.
pub(super) enum Application {
    /// Sends this number of bytes on one stream and finishes it. It sends `chunk` repeatedly, without copying
    /// it.
    Send { left: usize, chunk: Bytes, acknowledged: bool },
    /// Reads one stream to its end.
    Receive { bytes: u64, finished: bool },
}

impl Application {
    /// Whether everything is sent and acknowledged, or everything is received.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Application::Send { acknowledged, .. } => *acknowledged,
            Application::Receive { finished, .. } => *finished,
        }
    }

    fn react(&mut self, event: &Event, connection: &mut Connection) {
        match (self, event) {
            (Application::Send { left, chunk, .. }, Event::Connected) => {
                let id = connection.streams().open(Dir::Uni).expect("the peer allows a stream");
                write(connection, id, left, chunk);
            }
            (Application::Send { left, chunk, .. }, &Event::Stream(StreamEvent::Writable { id })) => {
                write(connection, id, left, chunk);
            }
            (Application::Send { acknowledged, .. }, Event::Stream(StreamEvent::Finished { .. })) => {
                *acknowledged = true;
            }
            (
                Application::Receive { bytes, finished },
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }),
            ) => {
                let id = connection.streams().accept(Dir::Uni).expect("a stream was announced");
                *finished = read(connection, id, bytes);
            }
            (Application::Receive { bytes, finished }, &Event::Stream(StreamEvent::Readable { id })) => {
                *finished = read(connection, id, bytes);
            }
            (_, Event::ConnectionLost { reason }) => panic!("the connection was lost: {reason}"),
            _ => {}
        }
    }
}

/// Writes until nothing is left or the send buffer is full.
fn write(connection: &mut Connection, id: StreamId, left: &mut usize, chunk: &Bytes) {
    let mut stream = connection.send_stream(id);
    while *left > 0 {
        let piece = chunk.slice(..chunk.len().min(*left));
        match stream.write_chunks(&mut [piece]) {
            Ok(written) => *left -= written.bytes,
            Err(WriteError::Blocked) => return,
            Err(error) => panic!("the stream cannot be written: {error}"),
        }
    }
    stream.finish().expect("the stream is open");
}

/// Reads the available data in order; returns true at the end of the stream.
fn read(connection: &mut Connection, id: StreamId, bytes: &mut u64) -> bool {
    let mut stream = connection.recv_stream(id);
    let mut chunks = stream.read(true).expect("the stream is open and read in order");
    let finished = loop {
        match chunks.next(usize::MAX) {
            Ok(Some(chunk)) => *bytes += chunk.bytes.len() as u64,
            Ok(None) => break true,
            Err(ReadError::Blocked) => break false,
            Err(error) => panic!("the stream cannot be read: {error}"),
        }
    };
    // The result only says that there is something to send, for which `pump` asks anyway.
    let _ = chunks.finalize();
    finished
}

/// One end.
pub(super) struct Host {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
    /// The application and its progress.
    pub(super) application: Application,
    /// The time of the connection's next timer.
    pub(super) timeout: Option<Instant>,
}

impl Host {
    /// An end without a connection yet.
    pub(super) fn new(endpoint: Endpoint, peer: SocketAddr, application: Application) -> Host {
        Host { endpoint, connection: None, peer, application, timeout: None }
    }

    /// Starts a connection to the peer.
    pub(super) fn connect(&mut self, now: Instant, config: quinn_proto::ClientConfig) {
        let connection = self.endpoint.connect(now, config, self.peer, super::tls::NAME);
        self.connection = Some(connection.expect("the configuration allows a connection"));
    }

    /// The connection, once there is one.
    pub(super) fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref().map(|(_, connection)| connection)
    }

    /// Takes one datagram from the network.
    pub(super) fn receive(&mut self, now: Instant, datagram: BytesMut, buffer: &mut Vec<u8>) {
        match self.endpoint.handle(now, self.peer, None, None, datagram, buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                let (_, connection) = self.connection.as_mut().expect("an event is for a connection");
                connection.handle_event(event);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, buffer, None);
                self.connection =
                    Some(accepted.unwrap_or_else(|error| panic!("not accepted: {}", error.cause)));
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
        buffer.clear();
    }

    /// Handles the connection's expired timers.
    pub(super) fn wake(&mut self, now: Instant) {
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
    }

    /// Processes the consequences of received datagrams and expired timers: runs the application, and sends.
    pub(super) fn pump(&mut self, now: Instant, link: &mut Link, buffer: &mut Vec<u8>) {
        let Some((handle, connection)) = &mut self.connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            self.application.react(&event, connection);
        }
        while connection.poll_transmit(now, SEGMENTS, buffer).is_some() {
            link.send(now, buffer);
            buffer.clear();
        }
        self.timeout = connection.poll_timeout();
    }
}
