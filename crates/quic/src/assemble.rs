//! Fills the payload of one packet: control frames first, then data that the scheduler selects.

use crate::sent::{Contents, SentFrame};
use std::ops::Range;
use wire::frame::{datagram_header, datagram_header_size, stream_header, stream_header_size};
use wire::header::ShortHeader;
use wire::{Frame, Hole, StreamId, TypedFrame, varint};

/// The stream data for one STREAM frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub offset: u64,
    pub length: u32,
    pub fin: bool,
    /// Whether all bytes are virtual. If some are real, all are written out, because a hole holds all the data of its
    /// frame.
    pub hollow: bool,
    /// The number of bytes sent for the first time, which count for flow control.
    pub fresh: u64,
}

/// The room for a STREAM frame.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamRoom {
    /// The size in bytes of its header without a Length field.
    header: usize,
    /// The number of bytes of data that fit behind it; 0 if not even one does.
    pub(crate) data: u32,
}

/// The part of a packet that may stay typed and is not written yet.
enum Unwritten<'a> {
    Nothing,
    /// A header, with no frame behind it so far.
    Header(&'a ShortHeader),
    /// A packet with one frame.
    Packet(&'a ShortHeader, TypedFrame),
}

/// The payload of one packet while it is filled. Lengths include the hole.
pub(crate) struct Payload<'a> {
    buffer: &'a mut Vec<u8>,
    hole: Option<Hole>,
    unwritten: Unwritten<'a>,
    /// The length in bytes of what is not written: of the hole, or of the packet.
    unwritten_length: usize,
    /// The maximum length of the datagram, including the hole.
    limit: usize,
    contents: &'a mut Contents,
    /// Whether virtual data may remain virtual.
    hollow: bool,
    /// Whether it contains STREAM or DATAGRAM frames.
    pub carries_data: bool,
}

impl<'a> Payload<'a> {
    /// A payload at the end of `buffer`, up to a datagram of `limit` bytes.
    #[inline]
    pub(crate) fn new(
        buffer: &'a mut Vec<u8>,
        contents: &'a mut Contents,
        limit: usize,
        hollow: bool,
    ) -> Payload<'a> {
        Payload {
            buffer,
            hole: None,
            unwritten: Unwritten::Nothing,
            unwritten_length: 0,
            limit,
            contents,
            hollow,
            carries_data: false,
        }
    }

    /// The payload of a packet that stays typed if it gets one frame of those that [`TypedFrame`] knows; otherwise it is
    /// written into `buffer`, which is empty, from the header on.
    #[inline]
    pub(crate) fn typed(
        buffer: &'a mut Vec<u8>,
        contents: &'a mut Contents,
        limit: usize,
        header: &'a ShortHeader,
    ) -> Payload<'a> {
        let mut payload = Payload::new(buffer, contents, limit, true);
        payload.unwritten_length = header.size();
        payload.unwritten = Unwritten::Header(header);
        payload
    }

    /// Takes the frame of a packet that stayed typed.
    #[inline]
    pub(crate) fn take_typed(&mut self) -> Option<TypedFrame> {
        match std::mem::replace(&mut self.unwritten, Unwritten::Nothing) {
            Unwritten::Packet(_, frame) => Some(frame),
            _ => None,
        }
    }

    /// Whether no frame was added yet and the packet may stay typed.
    #[inline]
    pub(crate) fn may_be_typed(&self) -> bool {
        matches!(self.unwritten, Unwritten::Header(_))
    }

    /// Makes this the frame of a packet that stays typed, of this size. The caller has checked that it fits, and that the packet
    /// may be typed.
    #[inline]
    fn stay_typed(&mut self, frame: TypedFrame, size: usize) {
        debug_assert_eq!(size, frame.size(), "the room for a frame was measured by its encoded size");
        let Unwritten::Header(header) = self.unwritten else {
            unreachable!("only a packet without any frame so far takes one that stays typed");
        };
        self.unwritten = Unwritten::Packet(header, frame);
        self.unwritten_length += size;
    }

    /// Writes out a packet that does not stay typed, and the hole.
    #[cold]
    fn write_out(&mut self) {
        self.unwritten_length = 0;
        match std::mem::replace(&mut self.unwritten, Unwritten::Nothing) {
            Unwritten::Nothing => {}
            Unwritten::Header(header) => {
                header.write(self.buffer);
            }
            Unwritten::Packet(header, frame) => {
                header.write(self.buffer);
                self.hole = frame.write(self.buffer);
            }
        }
        if let Some(hole) = self.hole.take() {
            hole.write_out(self.buffer);
        }
    }
    /// Leaves virtual bytes at the end of the buffer.
    #[inline]
    fn leave(&mut self, hole: Hole) {
        debug_assert!(self.hole.is_none(), "a hole is written out before another one is left");
        self.hole = Some(hole);
        self.unwritten_length = hole.length as usize;
    }

    /// The length of the datagram so far.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.buffer.len() + self.unwritten_length
    }
    /// The number of bytes that still fit.
    #[inline]
    pub(crate) fn room(&self) -> usize {
        debug_assert!(self.length() <= self.limit, "a frame is added only where it fits");
        self.limit.saturating_sub(self.length())
    }
    /// The record of the frames that were added.
    pub(crate) fn contents(&mut self) -> &mut Contents {
        self.contents
    }
    /// The hole, once all frames are added.
    pub(crate) fn hole(&self) -> Option<Hole> {
        self.hole
    }

    /// The buffer for appending; every frame passes here. A hole must be the last part of its packet, so its bytes
    /// are written out before anything follows.
    #[inline]
    fn end(&mut self) -> &mut Vec<u8> {
        if self.unwritten_length > 0 {
            self.write_out();
        }
        self.buffer
    }

    /// Appends a frame and records it as `sent`. The caller has checked that it fits.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>, sent: SentFrame) {
        frame.encode(self.end());
        self.contents.push(sent);
    }

    /// Appends a frame without recording it: it is not retransmitted.
    pub(crate) fn untracked_frame(&mut self, frame: &Frame<'_>, ack_eliciting: bool) {
        frame.encode(self.end());
        self.contents.ack_eliciting |= ack_eliciting;
        self.contents.in_flight |= ack_eliciting;
    }

    /// Appends by `write`, which returns whether it wrote an ACK frame up to `largest`.
    pub(crate) fn ack(&mut self, largest: u64, write: impl FnOnce(&mut Vec<u8>, usize) -> bool) {
        let room = self.room();
        if write(self.end(), room) {
            self.contents.acked = Some(largest);
        }
    }

    /// Appends an ACK frame up to `largest` to a packet that may stay typed, if it fits.
    #[inline]
    pub(crate) fn typed_ack(&mut self, largest: u64, frame: TypedFrame) -> bool {
        let size = frame.size();
        let fits = size <= self.room();
        if fits {
            self.stay_typed(frame, size);
            self.contents.acked = Some(largest);
        }
        fits
    }

    /// Appends PADDING up to a datagram of `length` bytes (RFC 9000 section 14.1).
    pub(crate) fn pad_to(&mut self, length: usize) {
        let missing = length.min(self.limit).saturating_sub(self.length());
        if missing > 0 {
            self.untracked_frame(&Frame::Padding { length: missing }, false);
            self.contents.in_flight = true;
        }
    }

    /// The room for a STREAM frame at this offset.
    #[inline]
    pub(crate) fn stream_room(&self, id: StreamId, offset: u64) -> StreamRoom {
        let header = stream_header_size(id, offset, None);
        StreamRoom { header, data: self.room().saturating_sub(header).min(u32::MAX as usize) as u32 }
    }

    /// Appends a STREAM frame, without a Length field if it ends the packet. `room`: that at the offset of the piece.
    #[inline]
    pub(crate) fn stream(
        &mut self,
        id: StreamId,
        piece: &Piece,
        room: StreamRoom,
        copy: impl FnOnce(Range<u64>, &mut Vec<u8>),
    ) {
        let Piece { offset, fin, .. } = *piece;
        let typed = self.may_be_typed() && piece.hollow && piece.length > 0;
        if !typed {
            self.end();
        }
        debug_assert!(
            piece.length <= room.data,
            "a piece of a stream is no longer than the room it was taken for"
        );
        let (length, left) = (piece.length as usize, (room.data - piece.length) as usize);
        debug_assert_eq!(
            room.header + length + left,
            self.room(),
            "nothing is added between the look for room and the frame"
        );
        // If the Length field does not fit beside the data, the frame ends the packet, after padding for the
        // remaining bytes.
        let explicit = left > 0 && varint::size(length as u64) <= left;
        self.contents.push(SentFrame::Stream { id, offset, length: piece.length, fin });
        self.carries_data = true;
        if typed && (explicit || left == 0) {
            let field = if explicit { varint::size(length as u64) } else { 0 };
            let frame = TypedFrame::Stream { id, offset, length: piece.length, explicit, fin };
            return self.stay_typed(frame, room.header + field + length);
        }
        self.end();
        if !explicit {
            self.buffer.resize(self.buffer.len() + left, 0);
        }
        stream_header(self.buffer, id, offset, explicit.then_some(length), fin);
        if piece.hollow && self.hollow && length > 0 {
            let at = self.buffer.len() as u32;
            self.leave(Hole { at, length: piece.length, offset: piece.offset });
        } else if length > 0 {
            copy(offset..offset + length as u64, self.buffer);
        }
    }

    /// The length of the longest datagram that fits; below 0 if not even an empty DATAGRAM frame fits.
    pub(crate) fn datagram_room(&self) -> isize {
        self.room() as isize - datagram_header_size(None) as isize
    }

    /// Appends a DATAGRAM frame of at most `frame` bytes, without a Length field if it ends the packet. The caller
    /// has checked that it fits.
    pub(crate) fn datagram(&mut self, number: u64, data: wire::Data<'_>, frame: usize) {
        self.end();
        let (length, room) = (data.len(), self.room());
        let bare = datagram_header_size(None) + length;
        debug_assert!(bare <= room, "a datagram that does not fit waits for the next packet");
        let written = datagram_header_size(Some(length)) + length;
        // As with STREAM frames: if the Length field does not fit, the frame ends the packet, after padding.
        let explicit = written <= room.min(frame) && bare != room;
        if !explicit {
            self.buffer.resize(self.buffer.len() + room - bare, 0);
        }
        datagram_header(self.buffer, explicit.then_some(length));
        match data {
            wire::Data::Bytes(bytes) => self.buffer.extend_from_slice(bytes),
            wire::Data::Virtual { length: 0 } => {}
            wire::Data::Virtual { .. } if self.hollow => {
                self.leave(Hole { at: self.buffer.len() as u32, length: length as u32, offset: 0 });
            }
            wire::Data::Virtual { .. } => {
                let at = self.buffer.len();
                self.buffer.resize(at + length, 0);
                wire::pattern::fill(0, &mut self.buffer[at..]);
            }
        }
        self.contents.push(SentFrame::Datagram { number });
        self.carries_data = true;
    }

    /// Appends a CRYPTO frame. The caller has checked that it fits.
    pub(crate) fn crypto(&mut self, offset: u64, data: &[u8]) {
        Frame::Crypto { offset, data }.encode(self.end());
        self.contents.push(SentFrame::Crypto { offset, length: data.len() as u32 });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Data, Frames};

    fn decode(buffer: &[u8], tail: usize) -> Vec<Frame<'_>> {
        Frames::new(buffer, tail).map(Result::unwrap).collect()
    }

    fn piece(offset: u64, length: u32, hollow: bool) -> Piece {
        Piece { offset, length, fin: false, hollow, fresh: 0 }
    }

    fn fill(range: Range<u64>, out: &mut Vec<u8>) {
        let at = out.len();
        out.resize(at + (range.end - range.start) as usize, 0);
        wire::pattern::fill(range.start, &mut out[at..]);
    }

    fn put(payload: &mut Payload<'_>, id: StreamId, piece: &Piece) {
        let room = payload.stream_room(id, piece.offset);
        payload.stream(id, piece, room, fill);
    }

    #[test]
    fn packets_decode_and_respect_the_limit_for_any_room() {
        let id = StreamId::from_value(4);
        for limit in 10..200 {
            for length in 0..limit as u32 {
                let (mut buffer, mut contents) = (Vec::new(), Contents::default());
                let mut payload = Payload::new(&mut buffer, &mut contents, limit, true);
                if payload.stream_room(id, 100).data < length {
                    continue;
                }
                put(&mut payload, id, &piece(100, length, true));
                assert!(payload.length() <= limit);
                let hole = payload.hole();
                let frames = decode(&buffer, hole.map_or(0, |h| h.length as usize));
                let expected = match length {
                    0 => Data::Bytes(&[]),
                    _ => Data::Virtual { length: length as usize },
                };
                assert_eq!(
                    frames.last(),
                    Some(&Frame::Stream { id, offset: 100, data: expected, fin: false })
                );
            }
        }
    }

    #[test]
    fn a_second_frame_makes_the_first_hole_real() {
        let (mut buffer, mut contents) = (Vec::new(), Contents::default());
        let mut payload = Payload::new(&mut buffer, &mut contents, 1000, true);
        put(&mut payload, StreamId::from_value(0), &piece(0, 100, true));
        put(&mut payload, StreamId::from_value(4), &piece(7, 200, true));
        let hole = payload.hole().unwrap();
        assert_eq!((hole.length, hole.offset, payload.length()), (200, 7, buffer.len() + 200));
        let frames = decode(&buffer, 200);
        assert!(matches!(frames[0], Frame::Stream { data: Data::Bytes(bytes), .. } if bytes.len() == 100));
        assert!(matches!(frames[1], Frame::Stream { data: Data::Virtual { length: 200 }, .. }));
        assert_eq!(contents.frames().len(), 2);
    }

    #[test]
    fn any_frame_after_a_hole_makes_it_real() {
        type Append = fn(&mut Payload<'_>);
        let ways: [Append; 6] = [
            |payload| payload.frame(&Frame::HandshakeDone, SentFrame::HandshakeDone),
            |payload| payload.untracked_frame(&Frame::Ping, true),
            |payload| payload.pad_to(400),
            |payload| payload.crypto(9, b"ticket"),
            |payload| payload.datagram(0, Data::Bytes(b"datagram"), 100),
            |payload| {
                payload.ack(1, |buffer, _| {
                    Frame::Ping.encode(buffer);
                    true
                });
            },
        ];
        for (way, append) in ways.iter().enumerate() {
            let (mut buffer, mut contents) = (Vec::new(), Contents::default());
            let mut payload = Payload::new(&mut buffer, &mut contents, 1000, true);
            put(&mut payload, StreamId::from_value(0), &piece(0, 100, true));
            append(&mut payload);
            assert_eq!((payload.hole(), payload.length()), (None, buffer.len()), "{way}");
            let frames = decode(&buffer, 0);
            assert!(
                matches!(frames[0], Frame::Stream { data: Data::Bytes(bytes), .. } if bytes.len() == 100),
                "{way}"
            );
            assert!(frames.len() > 1, "{way}");
        }
    }

    /// A frame with real and virtual bytes is written out entirely, without a hole.
    #[test]
    fn a_frame_with_real_and_virtual_bytes_is_written_out() {
        let (mut buffer, mut contents) = (Vec::new(), Contents::default());
        let mut payload = Payload::new(&mut buffer, &mut contents, 1000, true);
        let id = StreamId::from_value(0);
        put(&mut payload, id, &piece(8, 500, false));
        assert_eq!((payload.hole(), payload.length()), (None, buffer.len()));
        let frames = decode(&buffer, 0);
        let Frame::Stream { offset: 8, data: Data::Bytes(bytes), .. } = frames[0] else {
            panic!("{frames:?}")
        };
        assert!(bytes.len() == 500 && wire::pattern::matches(8, bytes));
        let sent = SentFrame::Stream { id, offset: 8, length: 500, fin: false };
        assert_eq!(contents.frames(), [sent]);
    }
}
