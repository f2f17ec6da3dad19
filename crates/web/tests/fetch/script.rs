//! A transport with a scripted peer: received data is given by the test, sent data is recorded.

use std::collections::BTreeMap;
use transport::{
    Application, Data, Event, FlowControl, Measurements, PathView, Priority, Read, StreamError, Streams,
    Transport, WithoutDatagrams,
};
use units::Time;
use wire::{Direction, Side, StreamId};

#[derive(Debug, Default)]
struct Incoming {
    bytes: Vec<u8>,
    finished: bool,
    reset: Option<u64>,
}

/// The actions of one side, and the data of its peer.
#[derive(Debug)]
pub(crate) struct Script {
    side: Side,
    opened: [u64; 2],
    incoming: BTreeMap<StreamId, Incoming>,
    pub(crate) written: BTreeMap<StreamId, Vec<u8>>,
    pub(crate) finished: Vec<StreamId>,
    pub(crate) resets: BTreeMap<StreamId, u64>,
    pub(crate) stops: BTreeMap<StreamId, u64>,
    pub(crate) closed: Option<u64>,
    pub(crate) priorities: Vec<(StreamId, Priority)>,
    /// The number of request streams that the peer may open.
    pub(crate) stream_limit: Option<u64>,
    /// The negotiated protocol.
    pub(crate) alpn: &'static [u8],
}

impl Script {
    /// The transport of this side.
    pub(crate) fn of(side: Side) -> Script {
        Script {
            side,
            opened: [0; 2],
            incoming: BTreeMap::new(),
            written: BTreeMap::new(),
            finished: Vec::new(),
            resets: BTreeMap::new(),
            stops: BTreeMap::new(),
            closed: None,
            priorities: Vec::new(),
            stream_limit: None,
            alpn: b"h3",
        }
    }

    /// The peer sends these bytes, and optionally the end.
    pub(crate) fn send(&mut self, to: &mut dyn Application, stream: u64, bytes: &[u8], finished: bool) {
        let stream = StreamId::from_value(stream);
        let incoming = self.incoming.entry(stream).or_default();
        incoming.bytes.extend_from_slice(bytes);
        incoming.finished |= finished;
        to.on_event(Time::ZERO, &Event::Readable(stream), self);
    }

    /// The peer resets a stream.
    pub(crate) fn reset_by_peer(&mut self, to: &mut dyn Application, stream: u64, code: u64) {
        let stream = StreamId::from_value(stream);
        self.incoming.entry(stream).or_default().reset = Some(code);
        to.on_event(Time::ZERO, &Event::Reset { stream, code }, self);
    }

    fn take(&mut self, stream: StreamId, limit: usize) -> Result<(Vec<u8>, bool), StreamError> {
        if self.stops.contains_key(&stream) {
            return Err(StreamError::Finished);
        }
        let incoming = self.incoming.get_mut(&stream).ok_or(StreamError::Unknown)?;
        if let Some(code) = incoming.reset {
            return Err(StreamError::Reset(code));
        }
        let bytes: Vec<u8> = incoming.bytes.drain(..limit.min(incoming.bytes.len())).collect();
        Ok((bytes, incoming.finished && incoming.bytes.is_empty()))
    }
}

impl Streams for Script {
    fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        let count = &mut self.opened[usize::from(direction == Direction::Unidirectional)];
        *count += 1;
        Ok(StreamId::new(self.side, direction, *count - 1))
    }
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        let Data::Bytes(bytes) = data else { panic!("no virtual bytes here") };
        self.written.entry(stream).or_default().extend_from_slice(bytes);
        Ok(bytes.len() as u64)
    }
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        self.finished.push(stream);
        Ok(())
    }
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.resets.entry(stream).or_insert(code);
        Ok(())
    }
    fn reset_at(&mut self, stream: StreamId, code: u64, _: u64) -> Result<(), StreamError> {
        self.reset(stream, code)
    }
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.stops.entry(stream).or_insert(code);
        Ok(())
    }
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        let (bytes, finished) = self.take(stream, out.len())?;
        out[..bytes.len()].copy_from_slice(&bytes);
        Ok(Read { bytes: bytes.len() as u64, finished })
    }
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        let (bytes, finished) = self.take(stream, usize::try_from(limit).unwrap_or(usize::MAX))?;
        Ok(Read { bytes: bytes.len() as u64, finished })
    }
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        self.skip(stream, u64::MAX)
    }
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
        self.priorities.push((stream, priority));
        Ok(())
    }
}

impl FlowControl for Script {
    fn room(&mut self, _: StreamId) -> Result<Option<u64>, StreamError> {
        Ok(None)
    }
    fn unsent(&mut self, _: StreamId) -> Result<Option<u64>, StreamError> {
        Ok(None)
    }
    fn limit_unsent(&mut self, _: StreamId, _: u64) {}
    fn peer_stream_limit(&self, _: Direction) -> Option<u64> {
        self.stream_limit
    }
}

impl Measurements for Script {
    fn path(&mut self, _: StreamId) -> Option<PathView> {
        None
    }
    fn acked_bytes(&self) -> u64 {
        0
    }
    fn record(&mut self, _: trace::Event) {}
}

impl Transport for Script {
    fn alpn(&self) -> Option<&[u8]> {
        Some(self.alpn)
    }
    fn close(&mut self, code: u64, _reason: &str) {
        self.closed.get_or_insert(code);
    }
}

impl WithoutDatagrams for Script {}
