//! The connection as seen by one of the parts.

use super::routes::Routes;
use trace::Event;
use transport::{Data, DatagramError, Priority, Read, StreamError, Transport};
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
        self.routes.real((self.part, local)).ok_or(StreamError::Unknown)
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

impl Transport for PartTransport<'_> {
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
    fn unsent(&mut self, stream: StreamId) -> Result<u64, StreamError> {
        self.inner.unsent(self.real(stream)?)
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
    fn set_priority(&mut self, stream: StreamId, priority: Priority) -> Result<(), StreamError> {
        self.inner.set_priority(self.real(stream)?, priority)
    }
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
