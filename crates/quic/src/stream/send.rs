//! The sending half of a stream (RFC 9000 sections 2.2, 3.1, 4.1).

use super::buffer::SendBuffer;
use crate::assemble::Piece;
use crate::delivery::Delivery;
use crate::ranges::RangeSet;
use crate::stream::lists::{List, Lists};
use crate::stream::notices::NEVER_TOLD;
use crate::stream::number::OptionalNumber;
use std::ops::Range;
use transport::Data;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Not asked for.
    Open,
    /// Must be sent.
    Pending,
    /// Was lost, and must be sent again.
    Lost,
    Sent,
    Acked,
}

/// What an application waits for after it could not write all that it has. One byte, since every stream has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    Nothing,
    /// Room in the send buffer.
    Buffer,
    /// More that is worth writing: see [`super::Streams::room`].
    Room,
}

/// What an acknowledgement brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Acked {
    /// Bytes that were not acknowledged before.
    pub fresh: u64,
    /// Whether the last missing part, the end included, is acknowledged now.
    pub delivered: bool,
}

/// The sending half of one stream.
#[derive(Debug)]
pub(crate) struct SendHalf {
    buffer: SendBuffer,
    /// The application has written up to here.
    written: u64,
    /// Nothing from here on was ever sent.
    next: u64,
    acked: RangeSet,
    lost: RangeSet,
    fin: Progress,
    /// The code of RESET_STREAM, once there is one.
    reset_code: OptionalNumber,
    /// How far the peer has heard of RESET_STREAM.
    pub reset_delivery: Delivery,
    stopped: OptionalNumber,
    /// MAX_STREAM_DATA: the peer takes up to here.
    pub credit: u64,
    /// The limit for which STREAM_DATA_BLOCKED was last sent.
    blocked_at: OptionalNumber,
    blocked: Delivery,
    /// Whether the scheduler has this stream.
    pub scheduled: bool,
    /// Whether the scheduler was told that there is lost data.
    pub lost_told: bool,
    /// The lists of the connection that it stands in.
    pub lists: Lists,
    /// What the application waits for.
    pub awaited: Awaited,
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
            reset_code: OptionalNumber::NONE,
            reset_delivery: Delivery::default(),
            stopped: OptionalNumber::NONE,
            credit,
            blocked_at: OptionalNumber::NONE,
            blocked: Delivery::default(),
            scheduled: false,
            lost_told: false,
            lists: Lists::default(),
            awaited: Awaited::Nothing,
        }
    }

    /// Whether the application may still write: neither finished nor reset nor stopped by the peer.
    pub(crate) fn is_writable(&self) -> bool {
        // RFC 9000-4.5-2: once the final size stands nothing is added.
        self.fin == Progress::Open && self.reset_code.is_none() && self.stopped.is_none()
    }
    /// The code with which the peer asked to stop.
    pub(crate) fn stopped(&self) -> Option<u64> {
        self.stopped.get()
    }
    /// The code with which it was reset, if it was.
    pub(crate) fn reset_code(&self) -> Option<u64> {
        self.reset_code.get()
    }
    /// Real bytes that are kept because they may have to be sent (again).
    pub(crate) fn buffered(&self) -> u64 {
        self.buffer.stored()
    }
    /// Bytes that were written and never sent.
    #[inline]
    pub(crate) fn unsent(&self) -> u64 {
        self.written - self.next
    }
    /// Those of them that the stream's own credit admits.
    #[inline]
    pub(crate) fn waiting(&self) -> u64 {
        if self.reset_code.is_some() { 0 } else { self.written.min(self.credit).saturating_sub(self.next) }
    }
    /// How far the application has written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }
    /// Bytes, real or virtual, that were written and not acknowledged.
    pub(crate) fn outstanding(&self) -> u64 {
        self.written - self.acked.iter().map(|range| range.end - range.start).sum::<u64>()
    }
    /// How far the stream was sent: what RESET_STREAM tells as the final size.
    pub(crate) fn sent_to(&self) -> u64 {
        self.next
    }

    /// Takes data from the application. The caller has checked that it is writable and how much may be kept.
    pub(crate) fn write(&mut self, data: Data<'_>) {
        self.buffer.push(self.written, data);
        self.written += data.len();
    }

    /// No more data will be written.
    pub(crate) fn finish(&mut self) {
        if self.fin == Progress::Open {
            self.fin = Progress::Pending;
        }
    }

    /// Gives up on the stream: what is not sent stays unsent.
    pub(crate) fn reset(&mut self, code: u64) {
        if self.reset_code.is_none() && !self.is_delivered() {
            self.reset_code = code.into();
            self.buffer = SendBuffer::default();
            self.lost.clear();
        }
    }

    /// The peer asks to stop; the answer is a reset with its code (RFC 9000 section 3.5).
    pub(crate) fn on_stop_sending(&mut self, code: u64) -> bool {
        // In "Reset Sent" and in the states that are terminal there is nothing to stop any more.
        if self.reset_code.is_some() || self.is_delivered() {
            return false;
        }
        self.stopped = code.into();
        self.reset(code);
        true
    }

    /// Whether a STREAM frame could be sent, given what the connection's credit still admits.
    #[inline]
    pub(crate) fn is_ready(&self, connection_credit: u64) -> bool {
        // RFC 9000-3.3-2: behind a reset comes no data.
        if self.reset_code.is_some() {
            return false;
        }
        !self.lost.is_empty()
            || self.next < self.written && self.next < self.credit && connection_credit > 0
            || self.fin_waits() && self.next == self.written
    }

    /// Whether the FIN is to be sent, for the first time or again.
    #[inline]
    fn fin_waits(&self) -> bool {
        matches!(self.fin, Progress::Pending | Progress::Lost)
    }

    /// Whether there is anything to send again: data, or the FIN.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.reset_code.is_none()
            && (!self.lost.is_empty() || self.fin == Progress::Lost && self.next == self.written)
    }

    /// All below has been acknowledged.
    pub(crate) fn acked_to(&self) -> u64 {
        self.acked.first().filter(|front| front.start == 0).map_or(0, |front| front.end)
    }

    /// The offset of the next STREAM frame's data.
    #[inline]
    pub(crate) fn next_offset(&self) -> u64 {
        self.lost.first().map_or(self.next, |lost| lost.start)
    }

    /// Whether there is new data, here or still with the application, that only the stream's own credit holds back.
    pub(crate) fn is_blocked(&self) -> bool {
        let more = self.next < self.written || self.awaited == Awaited::Room && self.fin == Progress::Open;
        self.reset_code.is_none() && more && self.next >= self.credit
    }
    /// STREAM_DATA_BLOCKED is to be sent. Gives whether it was not sent for this limit yet.
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
        (&mut self.blocked, self.blocked_at.get().unwrap_or(NEVER_TOLD))
    }
    /// What STREAM_DATA_BLOCKED tells, if it still holds.
    pub(crate) fn blocked_limit(&self) -> Option<u64> {
        self.blocked_at.get().filter(|limit| *limit == self.credit && self.is_blocked())
    }
    /// Whether there is new data to send at all.
    pub(crate) fn has_unsent(&self) -> bool {
        self.reset_code.is_none() && self.next < self.written
    }

    /// What the next STREAM frame may carry: lost data first, then new data up to the credits. `room` is for the data.
    #[inline]
    pub(crate) fn take(&mut self, room: u32, connection_credit: u64) -> Option<Piece> {
        if !self.lost.is_empty() {
            return Some(self.take_lost(room));
        }
        // RFC 9000-2.2-3, 9000-4.1-1, 9000-19.9-1, 9000-19.10-3: both credits bound what is new.
        let end = self.written.min(self.credit).min(self.next.saturating_add(connection_credit));
        let available = end.saturating_sub(self.next).min(u64::from(room));
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
        let first = self.lost.first().unwrap_or(0..0);
        // RFC 9000-2.2-2: the buffer keeps what was sent until it is acknowledged, so the same bytes go out again.
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

    /// Writes the bytes of a range out, virtual ones too.
    #[inline]
    pub(crate) fn copy(&self, range: Range<u64>, out: &mut Vec<u8>) {
        self.buffer.copy(range, out);
    }

    /// A STREAM frame was acknowledged.
    #[inline]
    pub(crate) fn on_acked(&mut self, range: Range<u64>, fin: bool) -> Acked {
        if !self.lost.is_empty() {
            self.lost.remove(range.clone());
        }
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

    /// A STREAM frame was lost: what of it is not acknowledged is to be sent again.
    pub(crate) fn on_lost(&mut self, range: Range<u64>, fin: bool) {
        if self.reset_code.is_some() {
            return;
        }
        if fin && self.fin == Progress::Sent {
            self.fin = Progress::Lost;
        }
        self.lost.insert(range.clone());
        if self.acked.max().is_some_and(|max| max >= range.start) {
            for known in self.acked.iter().rev().take_while(|known| known.end > range.start) {
                self.lost.remove(known);
            }
        }
    }

    /// What a probe repeats of a STREAM frame with this range: the first part of it that is not acknowledged.
    pub(crate) fn missing(&self, range: Range<u64>, fin: bool) -> Option<Piece> {
        if self.reset_code.is_some() {
            return None;
        }
        let fin = fin && self.fin != Progress::Acked;
        let part = self.acked.first_missing(range.clone());
        let part = part.or_else(|| fin.then_some(range.end..range.end))?;
        let hollow = self.buffer.is_virtual(part.clone());
        let length = (part.end - part.start) as u32;
        Some(Piece { offset: part.start, length, fin: fin && part.end == range.end, hollow, fresh: 0 })
    }

    /// Nothing of what was sent has arrived, and the credit is not known any more. Gives how much had been sent.
    pub(crate) fn rewind(&mut self) -> u64 {
        if self.fin != Progress::Open {
            self.fin = Progress::Pending;
        }
        self.lost.clear();
        self.acked.clear();
        (self.credit, self.blocked_at, self.scheduled) = (0, OptionalNumber::NONE, false);
        self.lost_told = false;
        self.lists.leave(List::Starved);
        std::mem::take(&mut self.next)
    }

    /// What RESET_STREAM is to tell, if it is to be sent: (code, final size).
    pub(crate) fn pending_reset(&self) -> Option<(u64, u64)> {
        // RFC 9000-13.3-1: neither changes any more. Section 13.3: not once all data is acknowledged.
        let code =
            self.reset_code.get().filter(|_| !self.reset_delivery.is_done() && !self.is_delivered())?;
        Some((code, self.next))
    }

    fn is_delivered(&self) -> bool {
        self.fin == Progress::Acked
            && (self.written == 0 || self.acked.first().is_some_and(|front| front == (0..self.written)))
    }

    /// Whether nothing more will happen here: all acknowledged (RFC 9000 figure 2: "Data Recvd" or "Reset Recvd").
    pub(crate) fn is_over(&self) -> bool {
        self.reset_delivery.is_done() || self.is_delivered()
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
    fn lost_data_goes_first_and_only_what_is_not_acknowledged() {
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
        // Behind the border all is as it was; in front of it nothing is kept once it is acknowledged.
        half.on_acked(0..1200, false);
        assert_eq!(half.buffered(), 10);
        assert_eq!(half.on_acked(2400..3026, true), Acked { fresh: 626, delivered: false });
        assert!(half.on_acked(1200..2400, false).delivered);
    }

    #[test]
    fn a_lost_frame_across_the_border_goes_again_in_one_frame_or_where_room_cuts_it() {
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
    fn credit_that_ends_at_the_border_or_about_it_cuts_the_frame_there() {
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
        assert_eq!(half.pending_reset(), Some((7, 1000)));
        half.reset_delivery.finish();
        assert_eq!(half.pending_reset(), None, "it was acknowledged");
        assert!(half.is_over());
    }

    /// RFC 9000-3.3-1, and section 13.3: a reset that waits, first or again, is needless once all data is acknowledged.
    #[test]
    fn a_reset_that_all_data_overtook_is_not_sent() {
        let mut half = half(1000);
        half.take(1000, u64::MAX).unwrap();
        half.reset(5);
        assert_eq!(half.pending_reset(), Some((5, 1000)));
        assert!(half.on_acked(0..1000, true).delivered && half.is_over());
        assert_eq!(half.pending_reset(), None);
    }
}
