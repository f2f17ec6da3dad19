//! A connection of quinn-proto, with the state of its streams.

use super::session::Secrets;
use super::stats::Sent;
use quinn_proto::{ConnectionError, Dir, StreamEvent};
use std::collections::{BTreeMap, VecDeque};
use transport::Event;
use wire::{Direction, Side, StreamId};

/// The state of a stream.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Half {
    pub(crate) written: u64,
    pub(crate) received: u64,
    /// Whether each of its halves has ended.
    pub(crate) sent_all: bool,
    pub(crate) received_all: bool,
}

/// A connection, with the state that quinn-proto leaves to its user.
pub(crate) struct Connection {
    pub(crate) inner: quinn_proto::Connection,
    pub(crate) side: Side,
    /// The events that its application was not notified of.
    pub(crate) events: VecDeque<Event>,
    pub(crate) streams: BTreeMap<StreamId, Half>,
    pub(crate) alpn: Option<Vec<u8>>,
    /// Bytes of completely acknowledged streams.
    pub(crate) acked: u64,
    pub(crate) written: u64,
    pub(crate) sent: Sent,
    /// The reason for its end, and the application's code.
    pub(crate) ended: Option<(String, Option<u64>)>,
    pub(crate) secrets: Secrets,
}

impl Connection {
    pub(crate) fn new(inner: quinn_proto::Connection, secrets: Secrets) -> Connection {
        let side = if inner.side().is_client() { Side::Client } else { Side::Server };
        Connection {
            inner,
            side,
            events: VecDeque::new(),
            streams: BTreeMap::new(),
            alpn: None,
            acked: 0,
            written: 0,
            sent: Sent::default(),
            ended: None,
            secrets,
        }
    }

    /// Collects the events of quinn-proto.
    pub(crate) fn gather(&mut self) {
        while let Some(event) = self.inner.poll() {
            match event {
                quinn_proto::Event::Connected => {
                    let data = self.inner.crypto_session().handshake_data();
                    self.alpn = data.and_then(|data| data.downcast::<Vec<u8>>().ok()).map(|alpn| *alpn);
                    self.events.push_back(Event::Connected);
                }
                quinn_proto::Event::Stream(event) => self.gather_stream(event),
                quinn_proto::Event::ConnectionLost { reason } => {
                    let code = match &reason {
                        ConnectionError::ApplicationClosed(close) => Some(close.error_code.into_inner()),
                        _ => None,
                    };
                    self.end(reason.to_string(), code);
                }
                quinn_proto::Event::HandshakeDataReady
                | quinn_proto::Event::DatagramReceived
                | quinn_proto::Event::DatagramsUnblocked => {}
            }
        }
    }

    fn gather_stream(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Opened { dir } => {
                while let Some(id) = self.inner.streams().accept(dir) {
                    let stream = stream(id);
                    self.add(stream);
                    self.events.push_back(Event::Opened(stream));
                    self.events.push_back(Event::Readable(stream));
                }
            }
            StreamEvent::Readable { id } => self.events.push_back(Event::Readable(stream(id))),
            StreamEvent::Writable { id } => self.events.push_back(Event::Writable(stream(id))),
            StreamEvent::Finished { id } => {
                let stream = stream(id);
                self.acked += self.streams.get(&stream).map_or(0, |half| half.written);
                self.events.push_back(Event::Delivered(stream));
                self.finish_half(stream, true);
            }
            StreamEvent::Stopped { id, error_code } => {
                let stream = stream(id);
                // RFC 9000 section 3.5: the response to STOP_SENDING.
                let _ = self.inner.send_stream(id).reset(error_code);
                self.events.push_back(Event::Stopped { stream, code: error_code.into_inner() });
                self.finish_half(stream, true);
            }
            StreamEvent::Available { dir } => {
                let direction =
                    if dir == Dir::Bi { Direction::Bidirectional } else { Direction::Unidirectional };
                self.events.push_back(Event::StreamsAvailable(direction));
            }
        }
    }

    /// Adds a stream.
    pub(crate) fn add(&mut self, stream: StreamId) {
        let half = Half {
            sent_all: !stream.sends(self.side),
            received_all: !stream.receives(self.side),
            ..Half::default()
        };
        self.streams.insert(stream, half);
    }

    /// Ends one half of a stream; the stream ends with both.
    pub(crate) fn finish_half(&mut self, stream: StreamId, sending: bool) {
        let Some(half) = self.streams.get_mut(&stream) else { return };
        *(if sending { &mut half.sent_all } else { &mut half.received_all }) = true;
        if half.sent_all && half.received_all {
            let event = Event::Closed { stream, sent: half.written, received: half.received };
            self.events.push_back(event);
            self.streams.remove(&stream);
        }
    }

    /// Ends the connection for its application.
    pub(crate) fn end(&mut self, reason: String, code: Option<u64>) {
        if self.ended.is_none() {
            self.ended = Some((reason, code));
            self.events.push_back(Event::Ended);
        }
    }
}

/// Converts the id of a stream, which is the number on the wire on both sides.
pub(crate) fn stream(id: quinn_proto::StreamId) -> StreamId {
    StreamId::from_value(u64::from(id))
}
