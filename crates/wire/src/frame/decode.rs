//! The decoder of packet payloads.

use crate::StreamId;
use crate::frame::ack::{Ack, EcnCounts, Lower, next_range};
use crate::frame::{Data, Frame, FrameError, FrameProblem};
use crate::varint::{self, Reader, UnexpectedEnd};

impl From<UnexpectedEnd> for FrameProblem {
    fn from(_: UnexpectedEnd) -> FrameProblem {
        FrameProblem::Truncated
    }
}

/// An iterator over the frames of a packet's payload. It ends after an error.
///
/// It does not check whether a frame is allowed in the packet: see [`Frame::allowed_in`].
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    reader: Reader<'a>,
    virtual_tail: usize,
    started: bool,
}

impl<'a> Frames<'a> {
    /// The frames of `payload`, a packet without header and tag. `virtual_tail` is the number of virtual bytes that
    /// follow (see [`crate::Hole`]), or 0. They must be exactly the data of the last frame, a STREAM or a DATAGRAM
    /// frame.
    #[inline]
    pub fn new(payload: &'a [u8], virtual_tail: usize) -> Frames<'a> {
        Frames { reader: Reader::new(payload), virtual_tail, started: false }
    }

    /// The number of decoded bytes of the payload, without virtual ones; all of them after an error.
    #[inline]
    pub fn position(&self) -> usize {
        self.reader.position()
    }

    /// The error of a payload that ends where it must not.
    #[cold]
    fn wrong_end(&mut self) -> FrameError {
        let problem = if self.virtual_tail > 0 { FrameProblem::VirtualData } else { FrameProblem::NoFrames };
        self.fail(FrameError { frame_type: 0, problem })
    }

    /// Ends the iteration with this error.
    #[cold]
    fn fail(&mut self, error: FrameError) -> FrameError {
        self.reader.take_rest();
        self.virtual_tail = 0;
        self.started = true;
        error
    }

    /// The data of a frame that may own the virtual tail: `length` bytes, or the rest of the packet.
    #[inline]
    fn data(&mut self, reader: &mut Reader<'a>, length: Option<u64>) -> Result<Data<'a>, FrameProblem> {
        let tail = self.virtual_tail;
        let owns_tail = tail > 0 && reader.is_empty() && length.is_none_or(|length| length == tail as u64);
        if owns_tail {
            self.virtual_tail = 0;
            return Ok(Data::Virtual { length: tail });
        }
        Ok(Data::Bytes(match length {
            Some(length) => {
                let problem = if tail > 0 { FrameProblem::VirtualData } else { FrameProblem::Truncated };
                let length = usize::try_from(length).map_err(|_| problem)?;
                reader.bytes(length).map_err(|UnexpectedEnd| problem)?
            }
            None if tail > 0 => return Err(FrameProblem::VirtualData),
            None => reader.take_rest(),
        }))
    }

    /// The fields of a STREAM frame. Returning them instead of the whole frame lets the caller build it in place.
    #[inline]
    fn stream(&mut self, frame_type: u8) -> Result<(StreamId, u64, Data<'a>), FrameProblem> {
        let mut reader = self.reader;
        let id = StreamId::from_value(reader.varint()?);
        let offset = if frame_type & 0x04 != 0 { reader.varint()? } else { 0 };
        let length = if frame_type & 0x02 != 0 { Some(reader.varint()?) } else { None };
        let data = self.data(&mut reader, length)?;
        within_stream(offset, data.len())?;
        self.reader = reader;
        Ok((id, offset, data))
    }

    /// The fields of an ACK frame. Optional parts are read by functions that take bytes instead of the reader, which
    /// lets the reader stay in registers.
    #[inline]
    fn ack(&mut self, has_ecn: bool) -> Result<Ack<'a>, FrameProblem> {
        let mut reader = self.reader;
        let largest = reader.varint()?;
        let delay = reader.varint()?;
        let more_ranges = reader.varint()?;
        let first_range = reader.varint()?;
        let smallest = largest.checked_sub(first_range).ok_or(FrameProblem::AckRange)?;
        let pairs = match more_ranges {
            0 => 0,
            _ => ack_pairs(reader.rest(), smallest, more_ranges)?,
        };
        let pairs = reader.bytes(pairs)?;
        let ecn = if has_ecn {
            let (counts, length) = ecn_counts(reader.rest())?;
            reader.bytes(length)?;
            Some(counts)
        } else {
            None
        };
        self.reader = reader;
        Ok(Ack { largest, delay, first_range, more_ranges, lower: Lower::Pairs(pairs), ecn })
    }

    /// The data of a DATAGRAM frame, with a Length field or to the end of the packet (RFC 9221 section 4).
    fn datagram(&mut self, to_end: bool) -> Result<Data<'a>, FrameProblem> {
        let mut reader = self.reader;
        let length = if to_end { None } else { Some(reader.varint()?) };
        let data = self.data(&mut reader, length)?;
        self.reader = reader;
        Ok(data)
    }

    /// A frame with a type of more than one byte.
    #[cold]
    fn long_type(&mut self, mut reader: Reader<'a>) -> Result<Frame<'a>, FrameError> {
        let start = reader.position();
        match reader.varint() {
            Err(UnexpectedEnd) => Err(FrameError { frame_type: 0, problem: FrameProblem::Truncated }),
            // RFC 9000-12.4-5: "a frame type MUST use the shortest possible encoding".
            Ok(frame_type) if reader.position() - start != varint::size(frame_type) => {
                Err(FrameError { frame_type, problem: FrameProblem::LongType })
            }
            Ok(frame_type) => {
                self.reader = reader;
                Frame::read(&mut self.reader, frame_type)
                    .map_err(|problem| FrameError { frame_type, problem })
            }
        }
    }
    #[inline(never)]
    fn other(&mut self, frame_type: u8) -> Result<Frame<'a>, FrameProblem> {
        if let 0x30 | 0x31 = frame_type {
            let to_end = frame_type == 0x30;
            return Ok(Frame::Datagram { data: self.datagram(to_end)?, to_end });
        }
        Frame::read(&mut self.reader, u64::from(frame_type))
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, FrameError>;

    #[inline]
    fn next(&mut self) -> Option<Result<Frame<'a>, FrameError>> {
        if self.reader.is_empty() {
            return if self.started && self.virtual_tail == 0 { None } else { Some(Err(self.wrong_end())) };
        }
        self.started = true;
        let at_type = self.reader;
        let frame_type = match self.reader.u8() {
            Ok(byte @ ..0x40) => byte,
            _ => {
                let frame = self.long_type(at_type);
                return Some(frame.map_err(|error| self.fail(error)));
            }
        };
        let problem = match frame_type {
            0x08..=0x0f => match self.stream(frame_type) {
                Ok((id, offset, data)) => {
                    return Some(Ok(Frame::Stream { id, offset, data, fin: frame_type & 0x01 != 0 }));
                }
                Err(problem) => problem,
            },
            // RFC 9000-19.3-1: "MUST properly handle both types", with and without ECN counts.
            0x02 | 0x03 => match self.ack(frame_type == 0x03) {
                Ok(ack) => return Some(Ok(Frame::Ack(ack))),
                Err(problem) => problem,
            },
            _ => match self.other(frame_type) {
                Ok(frame) => return Some(Ok(frame)),
                Err(problem) => problem,
            },
        };
        Some(Err(self.fail(FrameError { frame_type: u64::from(frame_type), problem })))
    }
}

/// Validates `count` pairs of Gap and ACK Range Length below a range that starts at `smallest`. Returns their size in
/// bytes.
fn ack_pairs(bytes: &[u8], mut smallest: u64, count: u64) -> Result<usize, FrameProblem> {
    let mut reader = Reader::new(bytes);
    for _ in 0..count {
        let before = reader;
        smallest = match next_range(&mut reader, smallest) {
            Some(range) => *range.start(),
            None => return Err(pair_problem(before)),
        };
    }
    Ok(reader.position())
}

/// The ECN counts at the start of `bytes`, and their size in bytes.
#[inline(never)]
fn ecn_counts(bytes: &[u8]) -> Result<(EcnCounts, usize), UnexpectedEnd> {
    let mut reader = Reader::new(bytes);
    let counts = EcnCounts { ect0: reader.varint()?, ect1: reader.varint()?, ce: reader.varint()? };
    Ok((counts, reader.position()))
}

/// The error of a pair of Gap and ACK Range Length: truncated, or below 0.
#[cold]
fn pair_problem(mut reader: Reader<'_>) -> FrameProblem {
    match (reader.varint(), reader.varint()) {
        (Ok(_), Ok(_)) => FrameProblem::AckRange,
        _ => FrameProblem::Truncated,
    }
}

/// "The largest offset delivered on a stream -- the sum of the offset and data length -- cannot exceed 2^62-1"
/// (RFC 9000 section 19.8).
#[inline]
fn within_stream(offset: u64, length: usize) -> Result<(), FrameProblem> {
    // RFC 9000-19.8-2: STREAM beyond offset 2^62 - 1 is an error.
    if offset + length as u64 > varint::MAX { Err(FrameProblem::BeyondLastOffset) } else { Ok(()) }
}
