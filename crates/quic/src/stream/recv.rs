//! The receiving half of a stream: reassembly and flow control (RFC 9000 sections 2.2, 3.2, 4).

use crate::delivery::Delivery;
use crate::error::TransportError;
use crate::ranges::RangeSet;
use crate::stream::Window;
use crate::stream::number::OptionalNumber;
use crate::stream::reset::Reset;
use crate::stream::spares::SpareBuffers;
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::ops::Range;
use transport::Read;
use wire::{Code, Data};

/// The maximum number of pieces of out-of-order data, plus one for each [`SPAN_OF_PIECE`] bytes of the stream. Pieces
/// have a memory overhead; with this bound it is, over all streams of a connection, less than the data that the
/// credit permits. A peer that needs more pieces is attacking (RFC 9000 section 21.7).
const MAX_PIECES: NonZeroU32 = NonZeroU32::new(256).unwrap();
/// A tenth of a packet; losses leave longer pieces.
const SPAN_OF_PIECE: u64 = 128;
/// Neighbouring pieces of real bytes are joined up to this size.
const JOIN_BELOW: usize = 65_536;

#[derive(Debug)]
enum Chunk {
    Bytes(Vec<u8>),
    Virtual(u64),
}

impl Chunk {
    fn len(&self) -> u64 {
        match self {
            Chunk::Bytes(bytes) => bytes.len() as u64,
            Chunk::Virtual(length) => *length,
        }
    }
}

/// The receiving half of one stream.
#[derive(Debug)]
pub(crate) struct RecvHalf {
    received: RangeSet,
    /// The chunks with their offsets, ascending.
    chunks: VecDeque<(u64, Chunk)>,
    /// The number of chunks at which neighbours are joined; `None`: the application discards data, so none is kept.
    join_at: Option<NonZeroU32>,
    read: u64,
    highest: u64,
    /// The last MAX_STREAM_DATA sent.
    pub limit: u64,
    window: Window,
    final_size: OptionalNumber,
    reset: Option<Box<Reset>>,
    /// The code of STOP_SENDING, if the application has stopped the stream.
    stopped: OptionalNumber,
    end_was_read: bool,
    /// Whether a readable event was reported since the last read.
    pub is_reported: bool,
    /// Whether the stream counts as one with a gap.
    pub counts_as_gap: bool,
    /// The state of MAX_STREAM_DATA.
    pub update: Delivery,
    /// The state of STOP_SENDING.
    pub stop_delivery: Delivery,
}

impl RecvHalf {
    pub(crate) fn new(window: Window) -> RecvHalf {
        RecvHalf {
            received: RangeSet::new(),
            chunks: VecDeque::new(),
            join_at: Some(MAX_PIECES),
            read: 0,
            highest: 0,
            limit: window.size,
            window,
            final_size: OptionalNumber::NONE,
            reset: None,
            stopped: OptionalNumber::NONE,
            end_was_read: false,
            is_reported: false,
            counts_as_gap: false,
            update: Delivery::default(),
            stop_delivery: Delivery::default(),
        }
    }

    /// The end of the data that can be read now.
    fn contiguous(&self) -> u64 {
        self.received.first().filter(|first| first.start == 0).map_or(0, |first| first.end)
    }
    /// Whether a read would return data, the end, or a reset.
    #[inline]
    pub(crate) fn is_readable(&self) -> bool {
        !self.end_was_read
            && (self.contiguous() > self.read
                || self.final_size.get() == Some(self.read)
                || self.reset_code().is_some())
    }
    /// The code with which the peer reset the stream, once what is delivered before was read.
    #[inline]
    pub(crate) fn reset_code(&self) -> Option<u64> {
        self.reset.as_ref().filter(|reset| self.read >= reset.reliable).map(|reset| reset.code)
    }
    /// The highest offset received.
    pub(crate) fn highest(&self) -> u64 {
        self.highest
    }
    /// Whether the application has stopped the stream.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }
    /// The code of STOP_SENDING.
    pub(crate) fn stop_code(&self) -> Option<u64> {
        self.stopped.get()
    }

    /// RFC 9000 sections 4.1 and 4.5: checks the limit and the final size. Returns the increase of the highest
    /// offset, which counts for connection flow control.
    #[inline]
    fn admit(&mut self, end: u64, fin: bool) -> Result<u64, TransportError> {
        // RFC 9000-4.1-2, 9000-19.10-4: "receives more data than the largest maximum stream data that it has
        // sent".
        if end > self.limit {
            return Err(TransportError::new(Code::FLOW_CONTROL_ERROR, "stream data beyond MAX_STREAM_DATA"));
        }
        if let Some(size) = self.final_size.get() {
            if end > size || fin && end != size {
                return Err(TransportError::new(Code::FINAL_SIZE_ERROR, "data beyond the final size"));
            }
        } else if fin {
            if end < self.highest {
                return Err(TransportError::new(
                    Code::FINAL_SIZE_ERROR,
                    "final size below the data received",
                ));
            }
            self.final_size = end.into();
        }
        let fresh = end.saturating_sub(self.highest);
        self.highest += fresh;
        Ok(fresh)
    }

    /// Receives the data of a STREAM or CRYPTO frame.
    pub(crate) fn on_data(&mut self, offset: u64, data: Data<'_>, fin: bool) -> Result<u64, TransportError> {
        self.on_data_with(offset, data, fin, &mut SpareBuffers::default())
    }

    /// Receives data, reusing spare buffers.
    #[inline]
    pub(super) fn on_data_with(
        &mut self,
        offset: u64,
        data: Data<'_>,
        fin: bool,
        spares: &mut SpareBuffers,
    ) -> Result<u64, TransportError> {
        let length = data.len() as u64;
        let fresh = self.admit(offset + length, fin)?;
        if length == 0 || self.reset_code().is_some() {
            return Ok(fresh);
        }
        if self.join_at.is_some() && self.stopped.is_none() {
            self.keep(offset..offset + length, data, spares);
        }
        self.received.insert(offset..offset + length);
        let most = MAX_PIECES.get() as usize + (self.highest / SPAN_OF_PIECE) as usize;
        if self.received.len() > most
            || self.join_at.is_some_and(|count| self.chunks.len() > count.get() as usize)
                && self.join_chunks() > most
        {
            // RFC 9000 section 20.1 has no specific code for the attack of section 21.7. The peer is at fault, so it
            // is not INTERNAL_ERROR; it respects its credit, so it is not FLOW_CONTROL_ERROR. PROTOCOL_VIOLATION is
            // for errors "not covered by more specific error codes". (For CRYPTO frames the caller uses
            // CRYPTO_BUFFER_EXCEEDED.)
            return Err(TransportError::new(Code::PROTOCOL_VIOLATION, "stream data in too many fragments"));
        }
        Ok(fresh)
    }

    /// Stores the new bytes of a frame.
    fn keep(&mut self, range: Range<u64>, data: Data<'_>, spares: &mut SpareBuffers) {
        let mut start = range.start;
        let overlapping: Vec<Range<u64>> = match self.received.max() {
            Some(max) if max >= start => {
                self.received.iter().filter(|known| known.end > start && known.start < range.end).collect()
            }
            _ => Vec::new(),
        };
        for known in overlapping {
            if known.start > start {
                self.keep_piece(start..known.start, range.start, data, spares);
            }
            start = start.max(known.end);
        }
        if start < range.end {
            self.keep_piece(start..range.end, range.start, data, spares);
        }
    }

    fn keep_piece(&mut self, piece: Range<u64>, frame_start: u64, data: Data<'_>, spares: &mut SpareBuffers) {
        let length = piece.end - piece.start;
        let at = match self.chunks.back() {
            Some((start, _)) if *start > piece.start => {
                self.chunks.partition_point(|(start, _)| *start < piece.start)
            }
            _ => self.chunks.len(),
        };
        let before = at.checked_sub(1).and_then(|before| self.chunks.get_mut(before));
        let touching = before.filter(|(start, chunk)| *start + chunk.len() == piece.start);
        let chunk = match (data, touching) {
            (Data::Virtual { .. }, Some((_, Chunk::Virtual(known)))) => {
                *known += length;
                return;
            }
            (Data::Virtual { .. }, _) => Chunk::Virtual(length),
            (Data::Bytes(bytes), touching) => {
                let bytes = &bytes[(piece.start - frame_start) as usize..(piece.end - frame_start) as usize];
                match touching {
                    Some((_, Chunk::Bytes(kept))) if kept.len() + bytes.len() <= JOIN_BELOW => {
                        kept.extend_from_slice(bytes);
                        return;
                    }
                    _ => {
                        let mut kept = spares.take();
                        kept.extend_from_slice(bytes);
                        Chunk::Bytes(kept)
                    }
                }
            }
        };
        if self.chunks.capacity() == 0 {
            // Most streams have at most one chunk at a time.
            self.chunks.reserve_exact(1);
        }
        self.chunks.insert(at, (piece.start, chunk));
    }

    /// Joins adjacent chunks, which data in reverse order leaves. Returns the number left; the next time is when
    /// there are twice as many, so that the amortised cost is low.
    #[cold]
    fn join_chunks(&mut self) -> usize {
        let mut joined: VecDeque<(u64, Chunk)> = VecDeque::new();
        for (start, chunk) in std::mem::take(&mut self.chunks) {
            match (joined.back_mut().filter(|(at, last)| at + last.len() == start), chunk) {
                (Some((_, Chunk::Bytes(kept))), Chunk::Bytes(bytes))
                    if kept.len() + bytes.len() <= JOIN_BELOW =>
                {
                    kept.extend_from_slice(&bytes);
                }
                (Some((_, Chunk::Virtual(known))), Chunk::Virtual(length)) => *known += length,
                (_, chunk) => joined.push_back((start, chunk)),
            }
        }
        self.chunks = joined;
        self.join_at = NonZeroU32::new(2 * self.chunks.len() as u32).max(Some(MAX_PIECES));
        self.chunks.len()
    }

    /// Handles RESET_STREAM, whose reliable size is 0, or RESET_STREAM_AT. Returns the increase of the highest offset.
    pub(crate) fn on_reset(
        &mut self,
        code: u64,
        final_size: u64,
        reliable: u64,
    ) -> Result<u64, TransportError> {
        // RFC 9000 section 3.2: a reset has no effect once all data, including the end, has arrived.
        let complete = self.reset.is_none() && self.has_all();
        // RFC 9000-4.5-1: "to account for all bytes sent on the stream".
        let fresh = self.admit(final_size, true)?;
        match &mut self.reset {
            None if complete => {}
            None => self.reset = Some(Box::new(Reset { code, reliable })),
            // draft-ietf-quic-reliable-stream-reset-09 section 5.2: "detects a change in those fields".
            Some(reset) if reset.code != code && reset.reliable.max(reliable) > 0 => {
                return Err(TransportError::new(
                    Code::STREAM_STATE_ERROR,
                    "RESET_STREAM_AT changes the error code",
                ));
            }
            // The same section: "MUST ignore any RESET_STREAM_AT frame that increases the Reliable Size."
            Some(reset) => reset.reliable = reset.reliable.min(reliable),
        }
        if self.reset_code().is_some() {
            self.forget_chunks();
        }
        Ok(fresh)
    }

    fn forget_chunks(&mut self) {
        self.chunks = VecDeque::new();
    }

    /// Copies readable data into `out`.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Read {
        self.read_with(out, &mut SpareBuffers::default())
    }

    /// Copies readable data into `out`, keeping empty buffers as spares.
    pub(super) fn read_with(&mut self, out: &mut [u8], spares: &mut SpareBuffers) -> Read {
        let mut done = 0;
        // RFC 9000-2.2-1: "as an ordered byte stream": up to the first gap.
        while done < out.len() {
            let Some((start, chunk)) = self.chunks.front().filter(|(start, _)| *start <= self.read) else {
                break;
            };
            let skip = (self.read - start) as usize;
            let count = (chunk.len() - skip as u64).min((out.len() - done) as u64) as usize;
            let into = &mut out[done..done + count];
            match chunk {
                Chunk::Bytes(bytes) => into.copy_from_slice(&bytes[skip..skip + count]),
                Chunk::Virtual(_) => wire::pattern::fill(self.read, into),
            }
            if (skip + count) as u64 == chunk.len()
                && let Some((_, Chunk::Bytes(bytes))) = self.chunks.pop_front()
            {
                spares.give(bytes);
            }
            done += count;
            self.read += count as u64;
        }
        self.note_end(done as u64)
    }

    /// Discards at most `limit` bytes of readable data.
    pub(super) fn skip(&mut self, limit: u64, spares: &mut SpareBuffers) -> Read {
        let bytes = self.contiguous().saturating_sub(self.read).min(limit);
        self.read += bytes;
        while self.chunks.front().is_some_and(|(start, chunk)| start + chunk.len() <= self.read) {
            if let Some((_, Chunk::Bytes(bytes))) = self.chunks.pop_front() {
                spares.give(bytes);
            }
        }
        self.note_end(bytes)
    }

    /// Discards all readable data; from now on data is not stored.
    #[inline]
    pub(crate) fn discard(&mut self) -> Read {
        if self.join_at.take().is_some() {
            self.forget_chunks();
        }
        let bytes = self.contiguous().saturating_sub(self.read);
        self.read += bytes;
        self.note_end(bytes)
    }

    #[inline]
    fn note_end(&mut self, bytes: u64) -> Read {
        // After a stop, dropped data counts as read, but the end was not read.
        let finished =
            self.final_size.get() == Some(self.read) && self.stopped.is_none() && self.reset.is_none();
        self.end_was_read |= finished;
        Read { bytes, finished }
    }

    /// Notes that the application has seen the reset.
    pub(crate) fn note_reset_seen(&mut self) {
        self.end_was_read = true;
    }

    /// Stops the stream for the application; returns whether STOP_SENDING must be sent.
    pub(crate) fn stop(&mut self, code: u64) -> bool {
        let notify_peer = self.stopped.is_none() && self.reset.is_none() && !self.has_all();
        if self.stopped.is_none() {
            self.stopped = code.into();
        }
        self.forget_chunks();
        notify_peer
    }

    /// Whether the final size is known.
    pub(crate) fn has_final_size(&self) -> bool {
        self.final_size.is_some()
    }

    /// Whether all data up to the final size has arrived.
    pub(crate) fn has_all(&self) -> bool {
        self.final_size.get().is_some_and(|size| self.contiguous() >= size)
    }

    /// Whether there is data after a gap, which cannot be read yet.
    pub(crate) fn has_gap(&self) -> bool {
        self.highest > self.contiguous()
    }
    /// The received bytes that will never be read, if the application has stopped the stream or seen its reset or
    /// end. They count as read from now on, so that connection credit for them is granted even while the other half
    /// continues.
    pub(crate) fn drop_unread(&mut self) -> u64 {
        if self.stopped.is_none() && !self.end_was_read {
            return 0;
        }
        self.highest - std::mem::replace(&mut self.read, self.highest)
    }

    /// The bytes up to the highest one that were neither read nor dropped.
    pub(super) fn unread(&self) -> u64 {
        self.highest - self.read
    }

    /// Whether little of the window is left, so that more credit is due.
    #[inline]
    pub(crate) fn wants_update(&self) -> bool {
        self.final_size.is_none() && self.stopped.is_none() && self.limit - self.read <= self.window.threshold
    }
    /// Whether MAX_STREAM_DATA would grant more credit.
    pub(crate) fn has_more_to_give(&self) -> bool {
        self.final_size.is_none() && self.stopped.is_none() && self.next_limit() > self.limit
    }
    /// The value for MAX_STREAM_DATA: a window beyond the data read.
    pub(crate) fn next_limit(&self) -> u64 {
        self.limit.max(self.read + self.window.size).min(wire::varint::MAX)
    }
    /// Notes that MAX_STREAM_DATA was sent.
    pub(crate) fn raise_limit(&mut self) {
        self.limit = self.next_limit();
    }

    /// Stops if what is read, kept or limited contradicts what has arrived.
    pub(crate) fn check(&self) {
        self.received.check();
        assert!(self.read <= self.highest, "what is read has arrived");
        assert!(self.highest <= self.limit, "nothing is taken beyond the credit");
        assert!(
            self.received.max().is_none_or(|max| max < self.highest),
            "the highest offset is above all data"
        );
        assert!(
            self.final_size.get().is_none_or(|size| self.highest <= size),
            "nothing arrives beyond the final size"
        );
        let mut end = 0;
        for (start, chunk) in &self.chunks {
            assert!(*start >= end, "kept data is in order, and each byte kept once");
            end = start + chunk.len();
        }
        assert!(end <= self.highest, "what is kept has arrived");
    }

    /// Whether the half is in a terminal state (RFC 9000 figure 3: "Data Read" or "Reset Read").
    pub(crate) fn is_over(&self) -> bool {
        self.end_was_read || self.stopped.is_some() && (self.reset.is_some() || self.has_all())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn window(bytes: u64) -> Window {
        Window::new(units::Size::from_bytes(bytes), 0.5)
    }
    fn text(start: u64, end: u64) -> Vec<u8> {
        (start..end).map(|i| (i * 7 + i / 256) as u8).collect()
    }

    proptest! {
        #[test]
        fn pieces_in_any_order_are_reassembled(
            pieces in prop::collection::vec((0u64..200, 1u64..40), 1..60),
            reads in prop::collection::vec(1usize..50, 60),
        ) {
            let mut half = RecvHalf::new(window(1000));
            let mut out = Vec::new();
            let mut buffer = [0; 64];
            for ((start, length), read) in pieces.into_iter().zip(reads) {
                half.on_data(start, Data::Bytes(&text(start, start + length)), false).unwrap();
                let n = half.read(&mut buffer[..read]).bytes as usize;
                out.extend_from_slice(&buffer[..n]);
            }
            half.on_data(0, Data::Bytes(&text(0, 300)), true).unwrap();
            loop {
                let read = half.read(&mut buffer);
                out.extend_from_slice(&buffer[..read.bytes as usize]);
                if read.finished {
                    break;
                }
                prop_assert!(read.bytes > 0);
            }
            prop_assert_eq!(out, text(0, 300));
            prop_assert!(half.is_over());
        }
    }

    #[test]
    fn virtual_and_real_bytes_mix() {
        let mut half = RecvHalf::new(window(1000));
        let mut real = vec![0; 10];
        wire::pattern::fill(10, &mut real);
        half.on_data(0, Data::Virtual { length: 10 }, false).unwrap();
        half.on_data(10, Data::Bytes(&real), false).unwrap();
        half.on_data(20, Data::Virtual { length: 5 }, true).unwrap();
        let mut out = [0; 25];
        assert_eq!(half.read(&mut out), Read { bytes: 25, finished: true });
        assert!(wire::pattern::matches(0, &out));
    }

    #[test]
    fn skipped_bytes_count_as_read() {
        let mut half = RecvHalf::new(window(1000));
        half.on_data(0, Data::Bytes(&text(0, 30)), false).unwrap();
        half.on_data(30, Data::Virtual { length: 100 }, false).unwrap();
        half.on_data(140, Data::Bytes(&text(140, 150)), true).unwrap();
        assert_eq!(half.skip(10, &mut SpareBuffers::default()), Read { bytes: 10, finished: false });
        let mut out = [0; 5];
        assert_eq!(half.read(&mut out).bytes, 5);
        assert_eq!(out, text(10, 15)[..]);
        assert_eq!(half.skip(1000, &mut SpareBuffers::default()), Read { bytes: 115, finished: false });
        assert_eq!(half.skip(1000, &mut SpareBuffers::default()), Read { bytes: 0, finished: false });
        half.on_data(130, Data::Bytes(&text(130, 140)), false).unwrap();
        assert_eq!(half.skip(15, &mut SpareBuffers::default()), Read { bytes: 15, finished: false });
        assert_eq!(half.read(&mut out), Read { bytes: 5, finished: true });
        assert_eq!(out, text(145, 150)[..]);
    }

    #[test]
    fn credits_and_final_sizes_are_enforced() {
        let mut half = RecvHalf::new(window(100));
        let code = |result: Result<u64, TransportError>| result.unwrap_err().code;
        assert_eq!(code(half.on_data(90, Data::Bytes(&[0; 11]), false)), Code::FLOW_CONTROL_ERROR);
        assert_eq!(half.on_data(0, Data::Bytes(&[0; 50]), false).unwrap(), 50);
        assert_eq!(half.on_data(0, Data::Bytes(&[0; 50]), false).unwrap(), 0);
        assert_eq!(code(half.on_data(0, Data::Bytes(&[0; 40]), true)), Code::FINAL_SIZE_ERROR);
        assert_eq!(half.on_data(50, Data::Bytes(&[0; 10]), true).unwrap(), 10);
        assert_eq!(code(half.on_data(60, Data::Bytes(&[0; 1]), false)), Code::FINAL_SIZE_ERROR);
        assert_eq!(code(half.on_reset(1, 59, 0)), Code::FINAL_SIZE_ERROR);
        assert_eq!(half.on_reset(1, 60, 0).unwrap(), 0);
        assert_eq!(half.reset_code(), None, "all data was there");
        assert_eq!(half.discard(), Read { bytes: 60, finished: true });
    }

    #[test]
    fn a_reset_has_no_effect_only_once_the_end_has_arrived() {
        let mut half = RecvHalf::new(window(100));
        half.on_data(0, Data::Bytes(&[0; 50]), false).unwrap();
        assert_eq!(half.on_reset(7, 50, 0).unwrap(), 0);
        assert_eq!(half.reset_code(), Some(7));
    }

    #[test]
    fn more_credit_is_due_after_half_of_the_window() {
        let mut half = RecvHalf::new(window(100));
        half.on_data(0, Data::Virtual { length: 49 }, false).unwrap();
        half.discard();
        assert!(!half.wants_update());
        half.on_data(49, Data::Virtual { length: 1 }, false).unwrap();
        half.discard();
        assert!(half.wants_update());
        half.raise_limit();
        assert_eq!(half.limit, 150);
    }
}
