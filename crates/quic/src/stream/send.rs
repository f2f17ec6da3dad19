//! The sending half of a stream (RFC 9000 sections 2.2, 3.1, 4.1).

use super::buffer::SendBuffer;
use crate::assemble::Piece;
use crate::delivery::Delivery;
use crate::ranges::RangeSet;
use crate::stream::lists::{List, Lists};
use crate::stream::notices::NEVER_SENT;
use crate::stream::number::OptionalNumber;
use crate::stream::reset::Reset;
use std::ops::Range;
use transport::Data;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The stream is not finished.
    Open,
    /// It must be sent.
    Pending,
    /// It was lost and must be sent again.
    Lost,
    Sent,
    Acked,
}

/// What an application waits for after it could not write all its data. It takes one byte, because every stream has
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitingFor {
    Nothing,
    /// Room in the send buffer.
    Buffer,
    /// Room as reported by [`super::Streams::room`].
    Room,
}

/// The effect of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acked {
    /// The number of newly acknowledged bytes.
    pub fresh: u64,
    /// Whether everything, including the end, is acknowledged now and was not before.
    pub delivered: bool,
}

/// The sending half of one stream.
#[derive(Debug)]
pub(crate) struct SendHalf {
    buffer: SendBuffer,
    /// The end of the data written by the application.
    written: u64,
    /// The end of the data sent at least once.
    next: u64,
    acked: RangeSet,
    lost: RangeSet,
    fin: Progress,
    reset: Option<Box<Reset>>,
    /// The state of RESET_STREAM or RESET_STREAM_AT.
    reset_delivery: Delivery,
    stopped: OptionalNumber,
    /// The peer's limit (MAX_STREAM_DATA).
    pub credit: u64,
    /// The limit for which STREAM_DATA_BLOCKED was last sent.
    blocked_at: OptionalNumber,
    blocked: Delivery,
    /// Whether the scheduler has this stream.
    pub scheduled: bool,
    /// Whether lost data was reported to the scheduler.
    pub lost_reported: bool,
    /// The lists of the connection that contain it.
    pub lists: Lists,
    /// What the application waits for.
    pub awaited: WaitingFor,
}

impl SendHalf {
    pub(crate) fn new(credit: u64) -> SendHalf {
        SendHalf {
            buffer: SendBuffer::default(),
            written: 0,
            next: 0,
            acked: RangeSet::new(),
            lost: RangeSet::new(),
            fin: Progress::Open,
            reset: None,
            reset_delivery: Delivery::default(),
            stopped: OptionalNumber::NONE,
            credit,
            blocked_at: OptionalNumber::NONE,
            blocked: Delivery::default(),
            scheduled: false,
            lost_reported: false,
            lists: Lists::default(),
            awaited: WaitingFor::Nothing,
        }
    }

    /// Whether the application may still write: neither finished nor reset nor stopped by the peer.
    pub(crate) fn is_writable(&self) -> bool {
        // RFC 9000-4.5-2: not "at or beyond the final size".
        self.fin == Progress::Open && self.reset.is_none() && self.stopped.is_none()
    }
    /// The code of the peer's STOP_SENDING, if any.
    pub(crate) fn stopped(&self) -> Option<u64> {
        self.stopped.get()
    }
    /// The code with which it was reset, if any.
    pub(crate) fn reset_code(&self) -> Option<u64> {
        self.reset.as_ref().map(|reset| reset.code)
    }
    /// Whether it was reset and no data is sent any more.
    #[inline]
    pub(crate) fn is_cut_off(&self) -> bool {
        self.reset.is_some() && !self.delivers_part()
    }
    /// Whether it was reset and its beginning is still delivered.
    #[inline]
    pub(crate) fn delivers_part(&self) -> bool {
        self.reset.as_ref().is_some_and(|reset| reset.reliable > 0)
    }
    /// The end of the data that is delivered.
    fn end(&self) -> u64 {
        self.reset.as_ref().map_or(self.written, |reset| reset.reliable)
    }

    /// The real bytes kept for sending or retransmission.
    pub(crate) fn buffered(&self) -> u64 {
        self.buffer.stored()
    }
    /// The number of bytes written but never sent.
    #[inline]
    pub(crate) fn unsent(&self) -> u64 {
        self.written - self.next
    }
    /// Those of them that the stream credit permits.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        if self.is_cut_off() { 0 } else { self.written.min(self.credit).saturating_sub(self.next) }
    }
    /// The number of bytes written by the application.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }
    /// The number of bytes, real or virtual, that were written and are to be acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        let end = self.end();
        end - self.acked.iter().map(|range| range.end.min(end).saturating_sub(range.start)).sum::<u64>()
    }
    /// The number of bytes sent: the final size in RESET_STREAM.
    pub(crate) fn sent_to(&self) -> u64 {
        self.next
    }

    /// Accepts data from the application. The caller has checked that the stream is writable and the buffer has room.
    pub(crate) fn write(&mut self, data: Data<'_>) {
        self.buffer.push(self.written, data);
        self.written += data.len();
    }

    /// Finishes the stream: no more data will be written.
    pub(crate) fn finish(&mut self) {
        if self.fin == Progress::Open {
            self.fin = Progress::Pending;
        }
    }

    /// Resets the stream: data beyond the first `reliable` bytes is neither sent nor sent again. A stream that was reset
    /// before keeps its code, and delivers no more than it would have. Returns whether anything has changed.
    pub(crate) fn reset(&mut self, code: u64, reliable: u64) -> bool {
        let (reliable, is_delivered) = (reliable.min(self.written), self.is_delivered());
        match &mut self.reset {
            None if is_delivered => return false,
            None => self.reset = Some(Box::new(Reset { code, reliable })),
            Some(reset) if reliable >= reset.reliable => return false,
            Some(reset) => {
                reset.reliable = reliable;
                self.reset_delivery.renew();
            }
        }
        if reliable > 0 {
            // What was not sent and is not to be delivered is not a part of the final size.
            self.written = self.next.max(reliable);
        }
        self.buffer.truncate(reliable);
        self.lost.remove(reliable..u64::MAX);
        true
    }

    /// Handles STOP_SENDING: resets the stream with the peer's code (RFC 9000 section 3.5). Returns whether it had an
    /// effect.
    pub(crate) fn on_stop_sending(&mut self, code: u64) -> bool {
        // draft-ietf-quic-reliable-stream-reset-09 section 5.4: RESET_STREAM, with the code of the first reset.
        self.give_up_part();
        // It has no effect in state "Reset Sent" and in terminal states.
        if self.reset.is_some() || self.is_delivered() {
            return false;
        }
        self.stopped = code.into();
        self.reset(code, 0);
        true
    }

    /// Whether a STREAM frame can be sent, given the available connection credit.
    #[inline]
    pub(crate) fn is_ready(&self, connection_credit: u64) -> bool {
        // RFC 9000-3.3-2: not "after sending a RESET_STREAM frame".
        if self.is_cut_off() {
            return false;
        }
        !self.lost.is_empty()
            || self.next < self.written && self.next < self.credit && connection_credit > 0
            || self.fin_waits() && self.next == self.written
    }

    /// Whether the FIN must be sent, for the first time or again.
    #[inline]
    fn fin_waits(&self) -> bool {
        matches!(self.fin, Progress::Pending | Progress::Lost) && self.reset.is_none()
    }

    /// Whether data or the FIN must be retransmitted.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
            || self.fin == Progress::Lost && self.next == self.written && self.reset.is_none()
    }

    /// The offset below which everything is acknowledged.
    pub(crate) fn acked_to(&self) -> u64 {
        self.acked.first().filter(|front| front.start == 0).map_or(0, |front| front.end)
    }

    /// The offset of the next STREAM frame's data.
    #[inline]
    pub(crate) fn next_offset(&self) -> u64 {
        self.lost.first().map_or(self.next, |lost| lost.start)
    }

    /// Whether there is new data, here or at the application, that only the stream credit blocks.
    pub(crate) fn is_blocked(&self) -> bool {
        let open = self.fin == Progress::Open && self.reset.is_none();
        let more = self.next < self.written || self.awaited == WaitingFor::Room && open;
        !self.is_cut_off() && more && self.next >= self.credit
    }
    /// Records that the stream is blocked. Returns whether STREAM_DATA_BLOCKED was not sent for this limit yet.
    pub(crate) fn note_blocked(&mut self) -> bool {
        let new = self.blocked_at.get() != Some(self.credit);
        if new {
            self.blocked_at = self.credit.into();
            self.blocked.renew();
        }
        new
    }
    /// The state of STREAM_DATA_BLOCKED and the limit that it reports.
    pub(super) fn blocked_delivery(&mut self) -> (&mut Delivery, u64) {
        (&mut self.blocked, self.blocked_at.get().unwrap_or(NEVER_SENT))
    }
    /// The limit for STREAM_DATA_BLOCKED, if the stream is still blocked at it.
    pub(crate) fn blocked_limit(&self) -> Option<u64> {
        self.blocked_at.get().filter(|limit| *limit == self.credit && self.is_blocked())
    }
    /// Whether there is new data to send.
    pub(crate) fn has_unsent(&self) -> bool {
        !self.is_cut_off() && self.next < self.written
    }

    /// Takes the data for the next STREAM frame, at most `room` bytes: lost data first, then new data within both
    /// credits.
    #[inline]
    pub(crate) fn take(&mut self, room: u32, connection_credit: u64) -> Option<Piece> {
        if !self.lost.is_empty() {
            return Some(self.take_lost(room));
        }
        // RFC 9000-2.2-3, 9000-4.1-1, 9000-19.9-1, 9000-19.10-3: "within the flow control limits set by its
        // peer", of stream and connection.
        let end = self.written.min(self.credit).min(self.next.saturating_add(connection_credit));
        debug_assert!(self.next <= end, "nothing was sent beyond what is written and the credits permit");
        let available = (end - self.next).min(u64::from(room));
        let offset = self.next;
        self.next += available;
        let fin = self.fin_waits() && self.next == self.written;
        if available == 0 && !fin {
            return None;
        }
        if fin {
            self.fin = Progress::Sent;
        }
        let hollow = self.buffer.is_virtual(offset..self.next);
        Some(Piece { offset, length: available as u32, fin, hollow, fresh: available })
    }

    fn take_lost(&mut self, room: u32) -> Piece {
        let first = self.lost.first().expect("data is taken again only after a loss");
        // RFC 9000-2.2-2: "MUST NOT change if it is sent multiple times": the buffer keeps sent data until it
        // is acknowledged.
        let length = (first.end - first.start).min(u64::from(room));
        let end = first.start + length;
        self.lost.remove(first.start..end);
        let fin = self.fin_waits() && end == self.written && self.next == self.written;
        if fin {
            self.fin = Progress::Sent;
        }
        let hollow = self.buffer.is_virtual(first.start..end);
        Piece { offset: first.start, length: length as u32, fin, hollow, fresh: 0 }
    }

    /// Appends the bytes of a range, writing virtual ones out.
    #[inline]
    pub(crate) fn copy(&self, range: Range<u64>, out: &mut Vec<u8>) {
        self.buffer.copy(range, out);
    }

    /// Notes that a STREAM frame was acknowledged.
    #[inline]
    pub(crate) fn on_acked(&mut self, range: Range<u64>, fin: bool) -> Acked {
        if !self.lost.is_empty() {
            self.lost.remove(range.clone());
        }
        debug_assert!(range.end <= self.next, "the peer acknowledges only what was sent");
        let before = self.is_delivered();
        let fresh = self.acked.insert(range);
        if fin {
            self.fin = Progress::Acked;
        }
        if let Some(front) = self.acked.first().filter(|front| front.start == 0) {
            self.buffer.release_to(front.end);
        }
        Acked { fresh, delivered: !before && self.is_delivered() }
    }

    /// Notes that a STREAM frame was lost: its unacknowledged part must be sent again.
    pub(crate) fn on_lost(&mut self, mut range: Range<u64>, fin: bool) {
        if self.reset.is_some() {
            range.end = range.end.min(self.end());
            if range.is_empty() {
                return;
            }
        } else if fin && self.fin == Progress::Sent {
            self.fin = Progress::Lost;
        }
        debug_assert!(range.end <= self.next, "only what was sent is lost");
        self.lost.insert(range.clone());
        if self.acked.max().is_some_and(|max| max >= range.start) {
            for known in self.acked.iter().rev().take_while(|known| known.end > range.start) {
                self.lost.remove(known);
            }
        }
    }

    /// The first unacknowledged part of a STREAM frame with this range, for a probe.
    pub(crate) fn missing(&self, mut range: Range<u64>, fin: bool) -> Option<Piece> {
        if self.reset.is_some() {
            range.end = range.end.min(self.end());
            if range.is_empty() {
                return None;
            }
        }
        let fin = fin && self.fin != Progress::Acked && self.reset.is_none();
        let part = self.acked.first_missing(range.clone());
        let part = part.or_else(|| fin.then_some(range.end..range.end))?;
        let hollow = self.buffer.is_virtual(part.clone());
        let length = (part.end - part.start) as u32;
        Some(Piece { offset: part.start, length, fin: fin && part.end == range.end, hollow, fresh: 0 })
    }

    /// Delivers nothing of a stream that was reset.
    pub(crate) fn give_up_part(&mut self) {
        if self.delivers_part() {
            self.reset(0, 0);
        }
    }
    /// The state of RESET_STREAM or RESET_STREAM_AT, and the reliable size.
    pub(super) fn reset_delivery(&mut self) -> (&mut Delivery, u64) {
        let reliable = self.end();
        (&mut self.reset_delivery, reliable)
    }

    /// Resets the half to nothing sent and no credit. Returns the number of bytes that had been sent.
    pub(crate) fn rewind(&mut self) -> u64 {
        if self.fin != Progress::Open {
            self.fin = Progress::Pending;
        }
        if self.delivers_part() {
            self.written = self.end();
        }
        self.lost.clear();
        self.acked.clear();
        (self.credit, self.blocked_at, self.scheduled) = (0, OptionalNumber::NONE, false);
        self.lost_reported = false;
        self.lists.leave(List::Starved);
        std::mem::take(&mut self.next)
    }

    /// The code, the final size and the reliable size for RESET_STREAM or RESET_STREAM_AT, if it must be sent.
    pub(crate) fn pending_reset(&self) -> Option<(u64, u64, u64)> {
        // RFC 9000-13.3-1: "MUST NOT change when it is sent again". Section 13.3: not after all data is
        // acknowledged.
        let Reset { code, reliable } =
            self.reset.as_deref().filter(|_| !self.reset_delivery.is_done() && !self.is_delivered())?;
        // draft-ietf-quic-reliable-stream-reset-09 section 4: the final size is "subject to stream and connection-level
        // flow control", so that the data below it comes first.
        (self.is_cut_off() || self.next == self.written).then_some((*code, self.next, *reliable))
    }
    /// Whether everything below an offset is acknowledged.
    fn is_acked_to(&self, end: u64) -> bool {
        end == 0 || self.acked_to() >= end
    }
    fn is_delivered(&self) -> bool {
        self.fin == Progress::Acked && self.is_acked_to(self.written)
    }

    /// Stops if what is sent, acknowledged or lost contradicts what is written and permitted.
    pub(crate) fn check(&self) {
        self.acked.check();
        self.lost.check();
        self.buffer.check();
        assert!(self.next <= self.written, "what is sent was written");
        assert!(self.next <= self.credit, "nothing is sent beyond the credit of the stream");
        assert!(self.acked.max().is_none_or(|max| max < self.next), "what is acknowledged was sent");
        assert!(self.lost.max().is_none_or(|max| max < self.next), "what is lost was sent");
        let mut acked = self.acked.iter().peekable();
        for lost in self.lost.iter() {
            while acked.next_if(|known| known.end <= lost.start).is_some() {}
            let apart = acked.peek().is_none_or(|known| known.start >= lost.end);
            assert!(apart, "what is acknowledged is not sent again: {lost:?}");
        }
        let ended = matches!(self.fin, Progress::Sent | Progress::Acked);
        assert!(
            !ended || self.reset.is_some() || self.next == self.written,
            "the end is sent with the last byte"
        );
    }

    /// Whether the half is in a terminal state (RFC 9000 figure 2: "Data Recvd" or "Reset Recvd").
    pub(crate) fn is_over(&self) -> bool {
        self.reset_delivery.is_done() && self.is_acked_to(self.end()) || self.is_delivered()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half(length: u64) -> SendHalf {
        let mut half = SendHalf::new(u64::MAX);
        half.write(Data::Virtual(length));
        half.finish();
        half
    }

    #[test]
    fn only_unacknowledged_lost_data_is_sent_again_first() {
        let mut half = half(3000);
        for offset in [0, 1000, 2000] {
            let piece = half.take(1000, u64::MAX).unwrap();
            assert_eq!((piece.offset, piece.fin, piece.fresh), (offset, offset == 2000, 1000));
        }
        assert!(!half.is_ready(u64::MAX));
        half.on_acked(1000..1500, false);
        half.on_lost(1000..2000, false);
        half.on_lost(2000..3000, true);
        let piece = half.take(700, u64::MAX).unwrap();
        assert_eq!((piece.offset, piece.length, piece.fin, piece.fresh), (1500, 700, false, 0));
        let piece = half.take(5000, u64::MAX).unwrap();
        assert_eq!((piece.offset, piece.length, piece.fin), (2200, 800, true));
        assert!(!half.on_acked(0..1000, false).delivered);
        assert!(!half.on_acked(1500..2200, false).delivered);
        assert_eq!(half.on_acked(2200..3000, true), Acked { fresh: 800, delivered: true });
        assert!(half.is_over());
    }

    #[test]
    fn a_fin_alone_is_sent_and_sent_again() {
        let mut half = half(0);
        assert!(half.is_ready(0));
        let piece = half.take(100, 0).unwrap();
        assert_eq!((piece.length, piece.fin), (0, true));
        half.on_lost(0..0, true);
        assert!(half.take(100, 0).unwrap().fin);
        assert!(half.on_acked(0..0, true).delivered);
    }

    /// 16 real bytes, 3,000 virtual ones, 10 real ones and the end.
    fn mixed() -> SendHalf {
        let mut half = SendHalf::new(u64::MAX);
        half.write(Data::Bytes(&[7; 16]));
        half.write(Data::Virtual(3000));
        half.write(Data::Bytes(&[8; 10]));
        half.finish();
        half
    }

    /// (offset, length, virtual, FIN).
    fn shape(piece: Piece) -> (u64, u32, bool, bool) {
        (piece.offset, piece.length, piece.hollow, piece.fin)
    }

    #[test]
    fn a_frame_goes_across_the_border_of_real_and_virtual_bytes() {
        let mut half = mixed();
        assert_eq!(shape(half.take(1200, u64::MAX).unwrap()), (0, 1200, false, false));
        assert_eq!(shape(half.take(1200, u64::MAX).unwrap()), (1200, 1200, true, false));
        assert_eq!(shape(half.take(1200, u64::MAX).unwrap()), (2400, 626, false, true));
        assert!(!half.is_ready(u64::MAX));
        let mut out = Vec::new();
        half.copy(0..3026, &mut out);
        assert!(out[..16] == [7; 16] && out[3016..] == [8; 10]);
        assert!(wire::pattern::matches(16, &out[16..3016]));
        // Acknowledged real bytes before the border are released, those after it are kept.
        half.on_acked(0..1200, false);
        assert_eq!(half.buffered(), 10);
        assert_eq!(half.on_acked(2400..3026, true), Acked { fresh: 626, delivered: false });
        assert!(half.on_acked(1200..2400, false).delivered);
    }

    #[test]
    fn a_lost_frame_across_the_border_is_sent_again_whole_or_split_by_the_room() {
        let mut half = mixed();
        while half.take(1200, u64::MAX).is_some() {}
        half.on_lost(0..1200, false);
        assert_eq!(shape(half.take(1200, 0).unwrap()), (0, 1200, false, false));
        half.on_lost(0..1200, false);
        half.on_lost(2400..3026, true);
        for (room, expected) in [
            (10, (0, 10, false, false)),
            (6, (10, 6, false, false)),
            (500, (16, 500, true, false)),
            (1000, (516, 684, true, false)),
            (616, (2400, 616, true, false)),
            (1000, (3016, 10, false, true)),
        ] {
            assert_eq!(shape(half.take(room, 0).unwrap()), expected);
        }
        assert!(!half.is_ready(u64::MAX));
    }

    #[test]
    fn credit_that_ends_near_the_border_cuts_the_frame_there() {
        for (credit, rest) in
            [(15, (15, 1200, false, false)), (16, (16, 1200, true, false)), (17, (17, 1200, true, false))]
        {
            let mut half = mixed();
            half.credit = credit;
            assert_eq!(shape(half.take(1200, u64::MAX).unwrap()), (0, credit as u32, false, false));
            assert!(half.is_blocked() && half.take(1200, u64::MAX).is_none());
            half.credit = u64::MAX;
            assert_eq!(shape(half.take(1200, u64::MAX).unwrap()), rest);
            let mut other = mixed();
            assert_eq!(shape(other.take(1200, credit).unwrap()), (0, credit as u32, false, false));
            assert!(!other.is_ready(0) && !other.is_blocked());
            assert_eq!(shape(other.take(1200, u64::MAX).unwrap()), rest);
        }
    }

    #[test]
    fn credits_hold_new_data_back_but_not_lost_data() {
        let mut half = half(3000);
        half.credit = 1500;
        assert_eq!(half.take(1000, 10_000).unwrap().length, 1000);
        assert_eq!(half.take(1000, 10_000).unwrap().length, 500);
        assert!(half.take(1000, 10_000).is_none() && half.is_blocked());
        half.on_lost(0..1000, false);
        assert!(half.is_ready(0));
        assert_eq!(half.take(2000, 0).unwrap().length, 1000);
    }

    /// RFC 9000-3.3-2, 9000-4.5-2, 9000-13.3-1.
    #[test]
    fn a_reset_ends_all_sending() {
        let mut half = half(3000);
        half.take(1000, 10_000);
        assert!(half.on_stop_sending(7) && !half.on_stop_sending(7));
        half.on_lost(0..1000, false);
        assert!(!half.is_ready(u64::MAX) && !half.is_writable());
        assert_eq!(half.pending_reset(), Some((7, 1000, 0)));
        half.reset_delivery.finish();
        assert_eq!(half.pending_reset(), None, "it was acknowledged");
        assert!(half.is_over());
    }

    /// RFC 9000-3.3-1, and section 13.3: a queued reset is not needed once all data is acknowledged.
    #[test]
    fn a_reset_is_not_sent_once_all_data_is_acknowledged() {
        let mut half = half(1000);
        half.take(1000, u64::MAX).unwrap();
        half.reset(5, 0);
        assert_eq!(half.pending_reset(), Some((5, 1000, 0)));
        assert!(half.on_acked(0..1000, true).delivered && half.is_over());
        assert_eq!(half.pending_reset(), None);
    }
}
