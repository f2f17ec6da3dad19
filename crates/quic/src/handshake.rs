//! TLS messages in and out: the CRYPTO stream of each level (RFC 9000 section 7.5, RFC 9001 section 4.1.3).

use crate::assemble::Payload;
use crate::error::TransportError;
use crate::ranges::RangeSet;
use crate::sent::SentFrame;
use crate::space::{BySpace, SpaceKind};
use crate::stream::{RecvHalf, Window};
use tls::Session;
use units::Time;
use wire::{Code, Data};

/// The maximum number of unread bytes in one CRYPTO stream. RFC 9000-7.5-1 requires at least 4096; long certificate
/// chains and post-quantum key shares need more.
const MAX_BUFFERED: u64 = 131_072;

/// The CRYPTO stream of one level, both directions.
#[derive(Debug)]
pub(crate) struct CryptoStream {
    /// All bytes written so far: a handshake is short, and all of it may need retransmission.
    written: Vec<u8>,
    next: u64,
    acked: RangeSet,
    lost: RangeSet,
    recv: RecvHalf,
}

impl CryptoStream {
    pub(crate) fn new() -> CryptoStream {
        CryptoStream {
            written: Vec::new(),
            next: 0,
            acked: RangeSet::new(),
            lost: RangeSet::new(),
            recv: RecvHalf::new(Window { size: MAX_BUFFERED, threshold: MAX_BUFFERED }),
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
    }
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        !self.lost.is_empty() || self.next < self.written.len() as u64
    }
    /// The offset of the next CRYPTO frame.
    pub(crate) fn next_offset(&self) -> u64 {
        self.lost.first().map_or(self.next, |lost| lost.start)
    }
    /// The offset and at most `room` bytes for the next CRYPTO frame.
    pub(crate) fn take(&mut self, room: usize) -> Option<(u64, &[u8])> {
        let range = match self.lost.take_front(room as u64) {
            Some(range) => range,
            None => {
                let start = self.next;
                self.next = (self.written.len() as u64).min(start + room as u64);
                start..self.next
            }
        };
        (range.start < range.end)
            .then(|| (range.start, &self.written[range.start as usize..range.end as usize]))
    }
    /// Fills a payload with as much pending data as fits.
    pub(crate) fn fill(&mut self, payload: &mut Payload<'_>) {
        while self.has_pending() {
            let header = wire::frame::crypto_header_size(self.next_offset(), payload.room());
            let Some(room) = payload.room().checked_sub(header).filter(|room| *room > 0) else { break };
            let (offset, data) = self.take(room).expect("pending data gives a piece for any room");
            payload.crypto(offset, data);
        }
    }
    /// Whether part of a CRYPTO frame is unacknowledged.
    pub(crate) fn is_unacked(&self, offset: u64, length: u32) -> bool {
        self.acked.first_missing(offset..offset + u64::from(length)).is_some()
    }
    /// Puts as much of the unacknowledged part of a CRYPTO frame into a probe as fits; returns the rest.
    pub(crate) fn repeat(&self, offset: u64, length: u32, payload: &mut Payload<'_>) -> Option<SentFrame> {
        let end = offset + u64::from(length);
        let part = self.acked.first_missing(offset..end)?;
        let header = wire::frame::crypto_header_size(part.start, payload.room());
        let room = payload.room().saturating_sub(header) as u64;
        let done = part.end.min(part.start + room);
        if done > part.start {
            payload.crypto(part.start, &self.written[part.start as usize..done as usize]);
        }
        let rest = (end - done) as u32;
        self.is_unacked(done, rest).then_some(SentFrame::Crypto { offset: done, length: rest })
    }
    pub(crate) fn on_acked(&mut self, offset: u64, length: u64) {
        self.lost.remove(offset..offset + length);
        self.acked.insert(offset..offset + length);
    }
    pub(crate) fn on_lost(&mut self, offset: u64, length: u64) {
        self.lost.insert(offset..offset + length);
        for known in self.acked.iter() {
            self.lost.remove(known);
        }
    }

    /// Whether a CRYPTO frame extends beyond the data received so far.
    pub(crate) fn is_new(&self, offset: u64, length: usize) -> bool {
        offset + length as u64 > self.recv.highest()
    }
    /// Receives a CRYPTO frame (RFC 9000 section 19.6).
    pub(crate) fn receive(&mut self, offset: u64, bytes: &[u8]) -> Result<(), TransportError> {
        match self.recv.on_data(offset, Data::Bytes(bytes), false) {
            Ok(_) => Ok(()),
            // RFC 9000-7.5-2: "it MUST close the connection with a CRYPTO_BUFFER_EXCEEDED error code".
            Err(_) => Err(TransportError::new(Code::CRYPTO_BUFFER_EXCEEDED, "too much handshake data")),
        }
    }

    /// Passes the contiguous data to TLS.
    pub(crate) fn feed(
        &mut self,
        now: Time,
        level: tls::Level,
        session: &mut Session,
    ) -> Result<(), TransportError> {
        let mut buffer = [0; 2048];
        loop {
            let read = self.recv.read(&mut buffer);
            if read.bytes == 0 {
                return Ok(());
            }
            self.recv.raise_limit();
            session.read(now, level, &buffer[..read.bytes as usize]).map_err(|alert| TransportError {
                frame_type: Some(0x06),
                ..TransportError::new(Code::crypto(alert.code), alert.reason)
            })?;
        }
    }

    /// Stops if what is acknowledged or lost was not sent.
    pub(crate) fn check(&self) {
        self.acked.check();
        self.lost.check();
        self.recv.check();
        assert!(self.next <= self.written.len() as u64, "what is sent was written");
        let newest = self.acked.max().max(self.lost.max());
        assert!(newest.is_none_or(|newest| newest < self.next), "what is acknowledged or lost was sent");
    }

    /// Whether there is received data after a gap, which TLS has not read.
    pub(crate) fn has_gap(&self) -> bool {
        self.recv.has_gap()
    }
}

/// The CRYPTO streams of a connection, and the level at which TLS writes.
#[derive(Debug)]
pub(crate) struct Crypto {
    pub(crate) streams: BySpace<CryptoStream>,
    level: SpaceKind,
}

impl Crypto {
    pub(crate) fn new() -> Crypto {
        let streams = BySpace::new(CryptoStream::new(), CryptoStream::new(), CryptoStream::new());
        Crypto { streams, level: SpaceKind::Initial }
    }
    /// The space of the newest keys, whose CRYPTO stream receives what TLS writes next.
    #[inline]
    pub(crate) fn level(&self) -> SpaceKind {
        self.level
    }
    /// Switches to this space, for which TLS has provided keys.
    pub(crate) fn enter(&mut self, level: SpaceKind) {
        assert!(level > self.level, "TLS provides the keys of the levels in their order, each once");
        self.level = level;
    }
    /// Queues handshake data from TLS.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stream = self.streams.get_mut(self.level);
        stream.expect("TLS writes with its newest keys, whose space is not discarded").write(bytes);
    }
    /// Whether a space has handshake data to send.
    #[inline]
    pub(crate) fn has_pending(&self, kind: SpaceKind) -> bool {
        self.streams.get(kind).is_some_and(CryptoStream::has_pending)
    }
    /// Restarts a client's handshake with an empty Initial stream.
    pub(crate) fn restart(&mut self) {
        let stream = self.streams.get_mut(SpaceKind::Initial);
        *stream.expect("a handshake restarts before the first answer") = CryptoStream::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_parts_are_sent_again_unless_acknowledged() {
        let mut crypto = CryptoStream::new();
        crypto.write(&[1; 1000]);
        assert_eq!(crypto.take(600).map(|(o, b)| (o, b.len())), Some((0, 600)));
        assert_eq!(crypto.take(600).map(|(o, b)| (o, b.len())), Some((600, 400)));
        assert!(!crypto.has_pending() && crypto.take(600).is_none());
        crypto.on_acked(0, 100);
        crypto.on_lost(0, 600);
        assert!(crypto.has_pending());
        assert_eq!(crypto.take(2000).map(|(o, b)| (o, b.len())), Some((100, 500)));
        assert!(!crypto.has_pending());
    }

    #[test]
    fn a_flood_is_refused() {
        let mut crypto = CryptoStream::new();
        assert!(crypto.receive(MAX_BUFFERED - 10, &[0; 10]).is_ok());
        let error = crypto.receive(MAX_BUFFERED, &[0; 1]).unwrap_err();
        assert_eq!(error.code, Code::CRYPTO_BUFFER_EXCEEDED);
    }
}
