//! The endpoint under test, and its application, which follows the script.

use crate::options::Options;
use crate::peer::{Injected, Values};
use crate::shape::Shape;
use crate::value::Value;
use quic::{
    CloseReason, Connection, Data, Datagram, DatagramError, Endpoint, EndpointOptions, Handle, Migration,
    Opening, StreamError, Transmit,
};
use random::Generator;
use std::net::SocketAddr;
use std::sync::Arc;
use transport::Outgoing;
use units::Time;
use wire::{Ecn, Side, StreamId};

const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 1], 50_000);
const SERVER: ([u8; 4], u16) = ([10, 0, 0, 2], 443);

/// A datagram sent by the endpoint.
pub(crate) struct SentDatagram {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ecn: Ecn,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

/// The host of the endpoint while it is served.
struct Stage<'s> {
    handle: &'s mut Option<Handle>,
    events: &'s mut Vec<Shape>,
    sent: Vec<SentDatagram>,
    /// The maximum number of datagrams.
    limit: usize,
}

impl transport::Environment<Endpoint> for Stage<'_> {
    type Key = ();
    type Buffer = Vec<u8>;

    fn attend(&mut self, _: Time, handle: Handle, connection: &mut Connection) {
        self.handle.get_or_insert(handle);
        while let Some(event) = connection.poll_event() {
            self.events.extend(Shape::of_event(&event));
        }
    }
    fn buffer(&mut self) -> Option<Vec<u8>> {
        (self.sent.len() < self.limit).then(Vec::new)
    }
    fn outgoing(buffer: &mut Vec<u8>) -> Outgoing<'_> {
        Outgoing::bytes(buffer)
    }
    fn recycle(&mut self, _: Vec<u8>) {}
    fn sender(&mut self, _: Option<Handle>) {}
    fn send(&mut self, _: Time, (): (), transmit: &Transmit, mut bytes: Vec<u8>) {
        if let Some(hole) = transmit.hole {
            hole.write_out(&mut bytes);
        }
        let Transmit { ecn, local: from, remote: to, .. } = *transmit;
        self.sent.push(SentDatagram { bytes, ecn, from, to });
    }
}

/// The endpoint under test with its single connection.
pub(crate) struct Subject {
    endpoint: Endpoint,
    handle: Option<Handle>,
    config: Arc<quic::Config>,
    role: Side,
    local: SocketAddr,
    remote: SocketAddr,
    /// Events of the connection that no line has consumed yet.
    pub(crate) events: Vec<Shape>,
}

impl Subject {
    pub(crate) fn new(options: &Options, context: tls::Context) -> Subject {
        let (client, server) = (SocketAddr::from(CLIENT), SocketAddr::from(SERVER));
        let is_client = options.role == Side::Client;
        let (local, remote) = if is_client { (client, server) } else { (server, client) };
        let config = Arc::new(options.transport.clone());
        let made = EndpointOptions {
            accept: (!is_client).then(|| config.clone()),
            max_connections: 100,
            ..EndpointOptions::new(local, context)
        };
        Subject {
            endpoint: Endpoint::new(made, Generator::new(options.seed, "endpoint")),
            handle: None,
            config,
            role: options.role,
            local,
            remote,
            events: Vec::new(),
        }
    }

    /// Opens the connection of a client, if necessary.
    pub(crate) fn connect(&mut self, now: Time) -> Result<(), &'static str> {
        if self.role == Side::Server || self.handle.is_some() {
            return Err("refused");
        }
        let opening = Opening::new(self.remote, self.config.clone());
        self.handle = Some(self.endpoint.connect(now, opening).map_err(|_| "refused")?);
        Ok(())
    }
    pub(crate) fn is_open(&self) -> bool {
        self.handle.is_some()
    }

    fn connection(&mut self) -> Option<&mut Connection> {
        self.endpoint.get_mut(self.handle?)
    }

    /// Delivers a datagram.
    ///
    /// # Errors
    /// If one of its addresses is invalid.
    pub(crate) fn receive(&mut self, now: Time, injected: &mut Injected) -> Result<(), String> {
        let address = |text: &Option<String>, usual: SocketAddr| match text {
            Some(text) => text.parse().map_err(|_| format!("{text:?} is no address, like \"10.0.0.9:443\"")),
            None => Ok(usual),
        };
        let datagram = Datagram {
            local: address(&injected.to, self.local)?,
            remote: address(&injected.from, self.remote)?,
            ecn: injected.ecn,
            bytes: &mut injected.bytes,
            hole: None,
            damage: None,
        };
        self.endpoint.receive(now, datagram);
        Ok(())
    }

    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.endpoint.wake_at()
    }
    pub(crate) fn wake(&mut self, now: Time) {
        self.endpoint.wake(now);
    }

    /// Up to `limit` datagrams that the endpoint sends at `now`. Collects the connection's events on the way.
    pub(crate) fn drain(&mut self, now: Time, limit: usize) -> Vec<SentDatagram> {
        let mut stage = Stage { handle: &mut self.handle, events: &mut self.events, sent: Vec::new(), limit };
        transport::serve(&mut self.endpoint, &mut stage, now);
        stage.sent
    }

    /// Executes a call of the application: the result, or the name of its error.
    pub(crate) fn call(&mut self, now: Time, word: &str, values: &Values) -> Result<u64, &'static str> {
        if word == "connect" {
            return self.connect(now).map(|()| 0);
        }
        let stream = StreamId::from_value(values.int("stream"));
        let (code, length) = (values.int("code"), values.int("length"));
        if word == "migrate" {
            let local = values.text("local").and_then(|text| text.parse().ok()).ok_or("refused")?;
            return self.migrate(now, local, values.word("how"));
        }
        let connection = self.connection().ok_or("closed")?;
        let result = match word {
            "open" => connection.open(values.direction()).map(StreamId::value),
            "write" => connection.write(now, stream, Data::Virtual(length)),
            "finish" => connection.finish(now, stream).map(|()| 0),
            "reset" => connection.reset_at(stream, code, values.int("reliable")).map(|()| 0),
            "stop" => connection.stop(stream, code).map(|()| 0),
            "read" => connection.skip(stream, length).map(|read| read.bytes),
            "send_datagram" => return connection.send_datagram(Data::Virtual(length)).map_err(refused),
            "close" => {
                connection.close(now, code, values.text("reason").unwrap_or_default());
                Ok(0)
            }
            "update_keys" => {
                connection.update_keys();
                Ok(0)
            }
            _ => return Err("refused"),
        };
        result.map_err(error_word)
    }

    fn migrate(&mut self, now: Time, local: SocketAddr, how: &str) -> Result<u64, &'static str> {
        let how = match how {
            "probe" => Migration::Probe,
            "at_once" => Migration::AtOnce,
            "rebound" => Migration::Rebound,
            _ => Migration::Silent,
        };
        let connection = self.connection().ok_or("closed")?;
        connection.migrate(now, local, how).map(|()| 0).map_err(|_| "refused")
    }

    /// A gauge of [`crate::words::GAUGES`].
    pub(crate) fn gauge(&mut self, name: &str) -> Option<Value> {
        let Some(connection) = self.connection() else {
            let state = if self.handle.is_some() { "gone" } else { "none" };
            return (name == "state").then_some(Value::Word(state));
        };
        let (stats, rtt) = (connection.stats(), connection.rtt());
        let (cwnd, bytes_in_flight) = connection.flight();
        Some(match name {
            "cwnd" => Value::Int(cwnd),
            "bytes_in_flight" => Value::Int(bytes_in_flight),
            "latest_rtt" => Value::Span(rtt.latest()),
            "min_rtt" => Value::Span(rtt.min()),
            "smoothed_rtt" => Value::Span(rtt.smoothed()),
            "rtt_variance" => Value::Span(rtt.variance()),
            "packets_lost" => Value::Int(stats.packets_declared_lost),
            "packets_spuriously_lost" => Value::Int(stats.packets_spuriously_lost),
            "packets_dropped" => Value::Int(stats.packets_dropped),
            "probe_timeouts" => Value::Int(stats.probe_timeouts),
            "key_updates" => Value::Int(stats.key_updates),
            "ce_reported" => Value::Int(stats.ce_packets_reported),
            "open_streams" => Value::Int(connection.open_streams() as u64),
            "state" => Value::Word(state(connection)),
            "reason" => Value::Word(reason(connection.close_reason()).0),
            "code" => Value::Int(reason(connection.close_reason()).1),
            _ => return None,
        })
    }
}

fn state(connection: &Connection) -> &'static str {
    if connection.is_gone() {
        "gone"
    } else if connection.is_over() {
        "closing"
    } else if connection.is_established() {
        "established"
    } else {
        "handshake"
    }
}

/// Why a connection was closed, and with which code.
fn reason(reason: Option<&CloseReason>) -> (&'static str, u64) {
    match reason {
        None => ("none", 0),
        Some(CloseReason::Local { code, .. }) => ("local", *code),
        Some(CloseReason::Transport(error)) => ("transport_error", error.code.0),
        Some(CloseReason::PeerApplication { code, .. }) => ("peer_application", *code),
        Some(CloseReason::PeerTransport { code, .. }) => ("peer_transport", code.0),
        Some(CloseReason::IdleTimeout) => ("idle_timeout", 0),
        Some(CloseReason::VersionMismatch) => ("version_mismatch", 0),
        Some(CloseReason::StatelessReset) => ("stateless_reset", 0),
        Some(_) => ("other", 0),
    }
}

fn error_word(error: StreamError) -> &'static str {
    match error {
        StreamError::Unknown => "unknown",
        StreamError::WrongDirection => "wrong_direction",
        StreamError::Finished => "finished",
        StreamError::Stopped(_) => "stopped",
        StreamError::Reset(_) => "reset",
        StreamError::LimitReached => "limit_reached",
        StreamError::Blocked => "blocked",
        StreamError::Closed => "closed",
    }
}

fn refused(_: DatagramError) -> &'static str {
    "refused"
}
