//! The connection as seen by one of the parts.

use super::routes::Routes;
use trace::Event;
use transport::{
    Data, DatagramError, Datagrams, FlowControl, Measurements, PathView, Priority, Read, StreamError,
    Streams, Transport,
};
use wire::{Direction, Side, StreamId, varint};

/// The connection as seen by one of the parts.
pub(super) struct PartTransport<'a> {
    pub(super) inner: &'a mut dyn Transport,
    pub(super) routes: &'a mut Routes,
    pub(super) side: Side,
    pub(super) part: u32,
    /// The code with which the part closes a connection without an error.
    pub(super) no_error: u64,
}

impl PartTransport<'_> {
    fn real(&self, local: StreamId) -> Result<StreamId, StreamError> {
        self.routes.real(self.part, local).ok_or(StreamError::Unknown)
    }

    /// The end of a stream that came with its label, once.
    fn end(&mut self, real: StreamId) -> Option<Read> {
        self.routes.ended.take_if(|ended| *ended == real).map(|_| Read { bytes: 0, finished: true })
    }

    /// Continues a stream that has room, and ends it if only the label was missing.
    pub(super) fn resume(&mut self, real: StreamId) {
        if self.routes.ending.contains(&real) && self.write_label(real).is_ok() {
            self.routes.ending.remove(&real);
            // An error means that the peer has cancelled the stream, which is fine.
            let _ = self.inner.finish(real);
        }
    }

    /// Writes the unwritten rest of a stream's label.
    fn write_label(&mut self, real: StreamId) -> Result<(), StreamError> {
        let Some(mut label) = self.routes.take_label(real) else { return Ok(()) };
        while !label.is_empty() {
            match self.inner.write(real, Data::Bytes(&label)) {
                Ok(taken) if taken > 0 => {
                    label.drain(..(taken as usize).min(label.len()));
                }
                other => {
                    self.routes.put_label_back(real, label);
                    return Err(other.err().unwrap_or(StreamError::Blocked));
                }
            }
        }
        Ok(())
    }
}

impl Streams for PartTransport<'_> {
    fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
        let real = self.inner.open(direction)?;
        Ok(self.routes.opened(self.part, self.side, real))
    }
    fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
        let real = self.real(stream)?;
        self.write_label(real)?;
        let taken = self.inner.write(real, data)?;
        self.routes.wrote(real, taken);
        Ok(taken)
    }
    fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
        let real = self.real(stream)?;
        if let Err(StreamError::Blocked) = self.write_label(real) {
            self.routes.ending.insert(real);
            return Ok(());
        }
        self.inner.finish(real)
    }
    fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.inner.reset(self.real(stream)?, code)
    }
    fn reset_at(&mut self, stream: StreamId, code: u64, reliable: u64) -> Result<(), StreamError> {
        let real = self.real(stream)?;
        // The label comes first on streams that are opened here.
        let label = varint::size(u64::from(self.part)) + varint::size(stream.index());
        let before = if stream.initiator() == self.side { label as u64 } else { 0 };
        self.inner.reset_at(real, code, reliable.saturating_add(before))
    }
    fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
        self.inner.stop(self.real(stream)?, code)
    }
    fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
        let real = self.real(stream)?;
        self.end(real).map_or_else(|| self.inner.read(real, out), Ok)
    }
    #[inline]
    fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
        let real = self.real(stream)?;
        self.end(real).map_or_else(|| self.inner.skip(real, limit), Ok)
    }
    #[inline]
    fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
        let real = self.real(stream)?;
        self.end(real).map_or_else(|| self.inner.discard(real), Ok)
    }
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
        self.inner.set_priority(self.real(stream)?, priority)
    }
}

impl FlowControl for PartTransport<'_> {
    /// That of the stream once its label is written, for which it waits like for room.
    fn room(&mut self, stream: StreamId) -> Result<Option<u64>, StreamError> {
        let real = self.real(stream)?;
        match self.write_label(real) {
            Ok(()) => self.inner.room(real),
            Err(StreamError::Blocked) => Ok(Some(0)),
            Err(error) => Err(error),
        }
    }
    fn unsent(&mut self, stream: StreamId) -> Result<Option<u64>, StreamError> {
        self.inner.unsent(self.real(stream)?)
    }
    fn limit_unsent(&mut self, stream: StreamId, bytes: u64) {
        if let Ok(real) = self.real(stream) {
            self.inner.limit_unsent(real, bytes);
        }
    }
    /// What the peer may open if no other part of it opens another stream.
    fn peer_stream_limit(&self, direction: Direction) -> Option<u64> {
        let limit = self.inner.peer_stream_limit(direction)?;
        let others = self.routes.opened_by_peer(direction, |part| part != self.part);
        Some(limit.checked_sub(others).expect("the peer opens no more streams than it may"))
    }
}

impl Datagrams for PartTransport<'_> {
    fn send_datagram(&mut self, data: Data<'_>) -> Result<u64, DatagramError> {
        let mut bytes = Vec::new();
        varint::encode(&mut bytes, u64::from(self.part));
        match data {
            Data::Bytes(given) => bytes.extend_from_slice(given),
            // Do not allocate virtual bytes that exceed any datagram.
            Data::Virtual(length) => bytes.resize(bytes.len() + length.min(u16::MAX.into()) as usize, 0),
        }
        let number = self.inner.send_datagram(Data::Bytes(&bytes))?;
        self.routes.datagrams.insert(number, self.part);
        Ok(number)
    }
    fn read_datagram(&mut self, into: Option<&mut Vec<u8>>) -> Option<u64> {
        let arrived = self.routes.arrived.take()?;
        if let Some(into) = into {
            into.extend_from_slice(&arrived);
        }
        Some(arrived.len() as u64)
    }
    fn max_datagram_size(&self) -> Option<usize> {
        Some(self.inner.max_datagram_size()?.saturating_sub(varint::size(u64::from(self.part))))
    }
}

impl Measurements for PartTransport<'_> {
    fn path(&mut self, stream: StreamId) -> Option<PathView> {
        self.inner.path(self.real(stream).ok()?)
    }
    /// The bytes of its streams that are completely acknowledged.
    fn acked_bytes(&self) -> u64 {
        self.routes.parts[self.part as usize].acked
    }
    fn record(&mut self, mut event: Event) {
        if let Event::MessageWritten(message) | Event::MessageDelivered(message) = &mut event {
            message.part = self.part;
            let real = message.stream.and_then(|local| self.real(StreamId::from_value(local)).ok());
            message.stream = real.map(StreamId::value);
        }
        self.inner.record(event);
    }
}

impl Transport for PartTransport<'_> {
    /// The part's protocol, as if the handshake had negotiated it.
    fn alpn(&self) -> Option<&[u8]> {
        Some(self.routes.parts[self.part as usize].alpn)
    }
    /// A close without an error marks the part as done; with an error it closes the connection.
    fn close(&mut self, code: u64, reason: &str) {
        if code == self.no_error {
            self.routes.parts[self.part as usize].done = true;
        } else {
            self.inner.close(code, reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Duration, Time};

    const STREAM: StreamId = StreamId::new(Side::Client, Direction::Bidirectional, 0);
    const REAL: StreamId = StreamId::new(Side::Client, Direction::Bidirectional, 3);
    const PATH: PathView = PathView { now: Time::ZERO, window: 5, smoothed_rtt: Duration::ZERO };

    /// A connection that notes its calls. Its answers are numbers that no other transport gives.
    #[derive(Default)]
    struct Noted(Vec<String>);

    impl Noted {
        fn stream(&mut self, call: &str, stream: StreamId) {
            self.0.push(format!("{call} {}", stream.index()));
        }
    }

    impl Streams for Noted {
        fn open(&mut self, direction: Direction) -> Result<StreamId, StreamError> {
            Ok(StreamId::new(Side::Client, direction, 3))
        }
        fn write(&mut self, stream: StreamId, data: Data<'_>) -> Result<u64, StreamError> {
            self.0.push(format!("write {} {}", stream.index(), data.len()));
            Ok(data.len())
        }
        fn finish(&mut self, stream: StreamId) -> Result<(), StreamError> {
            self.stream("finish", stream);
            Ok(())
        }
        fn reset(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
            self.stream(&format!("reset {code}"), stream);
            Ok(())
        }
        fn reset_at(&mut self, stream: StreamId, code: u64, reliable: u64) -> Result<(), StreamError> {
            self.stream(&format!("reset {code} at {reliable}"), stream);
            Ok(())
        }
        fn stop(&mut self, stream: StreamId, code: u64) -> Result<(), StreamError> {
            self.stream(&format!("stop {code}"), stream);
            Ok(())
        }
        fn read(&mut self, stream: StreamId, out: &mut [u8]) -> Result<Read, StreamError> {
            self.stream("read", stream);
            Ok(Read { bytes: out.len() as u64, finished: false })
        }
        fn skip(&mut self, stream: StreamId, limit: u64) -> Result<Read, StreamError> {
            self.stream("skip", stream);
            Ok(Read { bytes: limit, finished: false })
        }
        fn discard(&mut self, stream: StreamId) -> Result<Read, StreamError> {
            self.stream("discard", stream);
            Ok(Read { bytes: 12, finished: false })
        }
        fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
            self.stream(&format!("urgency {}", priority.urgency), stream);
            Ok(())
        }
    }

    impl FlowControl for Noted {
        fn room(&mut self, stream: StreamId) -> Result<Option<u64>, StreamError> {
            self.stream("room", stream);
            Ok(Some(13))
        }
        fn unsent(&mut self, stream: StreamId) -> Result<Option<u64>, StreamError> {
            self.stream("unsent", stream);
            Ok(Some(14))
        }
        fn limit_unsent(&mut self, stream: StreamId, bytes: u64) {
            self.stream(&format!("limit {bytes}"), stream);
        }
        fn peer_stream_limit(&self, direction: Direction) -> Option<u64> {
            Some(if direction == Direction::Bidirectional { 100 } else { 50 })
        }
    }

    impl Datagrams for Noted {
        fn send_datagram(&mut self, data: Data<'_>) -> Result<u64, DatagramError> {
            let Data::Bytes(bytes) = data else { panic!("a datagram has a label") };
            self.0.push(format!("datagram {bytes:?}"));
            Ok(15)
        }
        fn read_datagram(&mut self, _: Option<&mut Vec<u8>>) -> Option<u64> {
            panic!("the mix reads datagrams, and hands them to their part");
        }
        fn max_datagram_size(&self) -> Option<usize> {
            Some(1000)
        }
    }

    impl Measurements for Noted {
        fn path(&mut self, stream: StreamId) -> Option<PathView> {
            self.stream("path", stream);
            Some(PATH)
        }
        fn acked_bytes(&self) -> u64 {
            panic!("a part is told of its own bytes");
        }
        fn record(&mut self, event: Event) {
            let Event::MessageWritten(message) = event else { panic!("the test records a message") };
            self.0.push(format!("message of part {} on stream {:?}", message.part, message.stream));
        }
    }

    impl Transport for Noted {
        fn alpn(&self) -> Option<&[u8]> {
            panic!("a part has its own protocol");
        }
        fn close(&mut self, code: u64, reason: &str) {
            self.0.push(format!("close {code} {reason}"));
        }
    }

    /// Calls a method as the second of two parts, whose first stream is the connection's fourth and has its label written or not.
    fn call<T>(labelled: bool, act: impl FnOnce(&mut dyn Transport) -> T) -> (T, Vec<String>) {
        let (mut inner, mut routes) = (Noted::default(), Routes::of(vec![b"first", b"second"]));
        assert_eq!(routes.opened(1, Side::Client, REAL), STREAM);
        if labelled {
            routes.take_label(REAL);
        }
        // The peer has opened two streams for the first part, and one for the second.
        for (real, label) in [[0, 0], [0, 1], [1, 0]].iter().enumerate() {
            let real = StreamId::new(Side::Server, Direction::Bidirectional, real as u64);
            assert!(label.iter().all(|byte| routes.take_byte(real, *byte).is_ok()));
        }
        let mut part = PartTransport {
            inner: &mut inner,
            routes: &mut routes,
            side: Side::Client,
            part: 1,
            no_error: 0,
        };
        let answer = act(&mut part);
        (answer, inner.0)
    }

    fn noted<T>(act: impl FnOnce(&mut dyn Transport) -> T) -> (T, String) {
        let (answer, calls) = call(true, act);
        (answer, calls.join(", "))
    }

    #[test]
    fn a_call_on_a_stream_of_a_part_is_the_same_call_on_the_stream_of_the_connection() {
        let read = |bytes| Ok(Read { bytes, finished: false });
        assert_eq!(noted(|part| part.write(STREAM, Data::Virtual(9))), (Ok(9), "write 3 9".to_owned()));
        assert_eq!(noted(|part| part.finish(STREAM)), (Ok(()), "finish 3".to_owned()));
        assert_eq!(noted(|part| part.reset(STREAM, 4)), (Ok(()), "reset 4 3".to_owned()));
        assert_eq!(noted(|part| part.reset_at(STREAM, 4, 10)), (Ok(()), "reset 4 at 12 3".to_owned()));
        assert_eq!(noted(|part| part.stop(STREAM, 4)), (Ok(()), "stop 4 3".to_owned()));
        assert_eq!(noted(|part| part.read(STREAM, &mut [0; 8])), (read(8), "read 3".to_owned()));
        assert_eq!(noted(|part| part.skip(STREAM, 11)), (read(11), "skip 3".to_owned()));
        assert_eq!(noted(|part| part.discard(STREAM)), (read(12), "discard 3".to_owned()));
        let urgent = Priority { urgency: 1, ..Priority::default() };
        assert_eq!(noted(|part| part.set_priority(STREAM, urgent)), (Ok(()), "urgency 1 3".to_owned()));
        assert_eq!(noted(|part| part.room(STREAM)), (Ok(Some(13)), "room 3".to_owned()));
        assert_eq!(noted(|part| part.unsent(STREAM)), (Ok(Some(14)), "unsent 3".to_owned()));
        assert_eq!(noted(|part| part.limit_unsent(STREAM, 16)).1, "limit 16 3");
        let (path, calls) = noted(|part| part.path(STREAM).map(|path| path.window));
        assert_eq!((path, calls.as_str()), (Some(PATH.window), "path 3"));
    }

    #[test]
    fn the_connection_opens_streams_sends_datagrams_keeps_records_and_is_closed() {
        let open = |part: &mut dyn Transport| part.open(Direction::Unidirectional).map(StreamId::index);
        assert_eq!(noted(open), (Ok(0), String::new()));
        let sent = noted(|part| part.send_datagram(Data::Bytes(&[7])));
        assert_eq!(sent, (Ok(15), "datagram [1, 7]".to_owned()));
        assert_eq!(noted(|part| part.max_datagram_size()).0, Some(999));
        let stream = Some(STREAM.value());
        let (written, deadline) = (Time::ZERO, None);
        let message = trace::Message { part: 0, number: 0, stream, bytes: 1, written, deadline };
        let recorded = noted(|part| part.record(Event::MessageWritten(message))).1;
        assert_eq!(recorded, "message of part 1 on stream Some(12)");
        assert_eq!(noted(|part| part.close(6, "no")).1, "close 6 no");
        // Ending without an error ends the part.
        assert_eq!(noted(|part| part.close(0, "done")).1, "");
        // These are answered for the part.
        assert_eq!(noted(|part| part.read_datagram(None)).0, None);
        assert_eq!(noted(|part| part.alpn().map(<[u8]>::to_vec)).0, Some(b"second".to_vec()));
        assert_eq!(noted(|part| part.acked_bytes()).0, 0);
    }

    /// Of 100 streams the peer has opened two for the first part.
    #[test]
    fn streams_of_other_parts_count_against_the_limit() {
        assert_eq!(noted(|part| part.peer_stream_limit(Direction::Bidirectional)).0, Some(98));
        assert_eq!(noted(|part| part.peer_stream_limit(Direction::Unidirectional)).0, Some(50));
    }

    #[test]
    fn there_is_room_once_the_label_is_written() {
        let (room, calls) = call(false, |part| part.room(STREAM));
        assert_eq!((room, calls), (Ok(Some(13)), vec!["write 3 2".to_owned(), "room 3".to_owned()]));
        assert_eq!(call(true, |part| part.room(REAL)).0, Err(StreamError::Unknown));
    }
}
