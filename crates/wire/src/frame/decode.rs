//! The decoder of packet payloads.

use crate::frame::ack::{Ack, EcnCounts, next_range};
use crate::frame::{ACK_FREQUENCY, Data, Frame, FrameError, FrameProblem};
use crate::varint::{self, Reader, UnexpectedEnd};
use crate::{Code, ConnectionId, Direction, StreamId};

impl From<UnexpectedEnd> for FrameProblem {
    fn from(_: UnexpectedEnd) -> FrameProblem {
        FrameProblem::Truncated
    }
}

/// The frames of a packet's payload, in order, decoded one by one. After an error there is nothing more.
///
/// Whether a frame is allowed in the packet is asked of the frame: [`Frame::allowed_in`].
#[derive(Debug, Clone)]
pub struct Frames<'a> {
    reader: Reader<'a>,
    virtual_tail: usize,
    started: bool,
}

impl<'a> Frames<'a> {
    /// The frames of `payload`: a packet without header and tag. `virtual_tail` is the number of virtual bytes that
    /// logically follow (see [`crate::Hole`]), 0 for none; they must be exactly the data of the last frame, which is a
    /// STREAM or a DATAGRAM frame.
    #[inline]
    pub fn new(payload: &'a [u8], virtual_tail: usize) -> Frames<'a> {
        Frames { reader: Reader::new(payload), virtual_tail, started: false }
    }

    /// The bytes of the payload that were decoded so far, without virtual ones; all of them after an error.
    #[inline]
    pub fn position(&self) -> usize {
        self.reader.position()
    }

    /// What is wrong at the end of the bytes, which is not where the payload may end.
    #[cold]
    fn wrong_end(&mut self) -> FrameError {
        let problem = if self.virtual_tail > 0 { FrameProblem::VirtualData } else { FrameProblem::NoFrames };
        self.fail(FrameError { frame_type: 0, problem })
    }

    /// Makes this error the last thing that is seen.
    #[cold]
    fn fail(&mut self, error: FrameError) -> FrameError {
        self.reader.take_rest();
        self.virtual_tail = 0;
        self.started = true;
        error
    }

    /// The data of a frame that may own the virtual tail: `length` bytes, or all that is left.
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

    /// The fields of a STREAM frame: a part of the frame and not the whole, so that it is built once and in its place.
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

    /// The fields of an ACK frame. What is not in every one is read by functions that get bytes and not the reader, for
    /// that then stays in registers.
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
        Ok(Ack { largest, delay, first_range, more_ranges, pairs, ecn })
    }

    /// The data of a DATAGRAM frame, with a Length field or to the end of the packet (RFC 9221 section 4).
    fn datagram(&mut self, to_end: bool) -> Result<Data<'a>, FrameProblem> {
        let mut reader = self.reader;
        let length = if to_end { None } else { Some(reader.varint()?) };
        let data = self.data(&mut reader, length)?;
        self.reader = reader;
        Ok(data)
    }

    /// A frame whose type has more than one byte.
    #[cold]
    fn of_long_type(&mut self, mut reader: Reader<'a>) -> Result<Frame<'a>, FrameError> {
        let start = reader.position();
        match reader.varint() {
            Err(UnexpectedEnd) => Err(FrameError { frame_type: 0, problem: FrameProblem::Truncated }),
            // RFC 9000-12.4-5: in as few bytes as it takes.
            Ok(frame_type) if reader.position() - start != varint::size(frame_type) => {
                Err(FrameError { frame_type, problem: FrameProblem::LongType })
            }
            Ok(ACK_FREQUENCY) => {
                let truncated =
                    |_| FrameError { frame_type: ACK_FREQUENCY, problem: FrameProblem::Truncated };
                let mut field = || reader.varint().map_err(truncated);
                let frame = Frame::AckFrequency {
                    sequence: field()?,
                    threshold: field()?,
                    max_ack_delay_us: field()?,
                    reordering_threshold: field()?,
                };
                self.reader = reader;
                Ok(frame)
            }
            Ok(frame_type) => Err(FrameError { frame_type, problem: FrameProblem::UnknownType }),
        }
    }

    #[inline(never)]
    fn rare(&mut self, frame_type: u8) -> Result<Frame<'a>, FrameProblem> {
        let reader = &mut self.reader;
        Ok(match frame_type {
            0x00 => {
                let rest = reader.rest();
                let more = rest.iter().position(|byte| *byte != 0).unwrap_or(rest.len());
                reader.bytes(more)?;
                Frame::Padding { length: 1 + more }
            }
            0x01 => Frame::Ping,
            0x04 => Frame::ResetStream {
                id: StreamId::from_value(reader.varint()?),
                code: reader.varint()?,
                final_size: reader.varint()?,
            },
            0x05 => Frame::StopSending { id: StreamId::from_value(reader.varint()?), code: reader.varint()? },
            0x06 => {
                let offset = reader.varint()?;
                let data = reader.prefixed()?;
                within_stream(offset, data.len())?;
                Frame::Crypto { offset, data }
            }
            // RFC 9000-19.7-2.
            0x07 => match reader.prefixed()? {
                [] => return Err(FrameProblem::EmptyToken),
                token => Frame::NewToken { token },
            },
            0x10 => Frame::MaxData { maximum: reader.varint()? },
            0x11 => {
                Frame::MaxStreamData { id: StreamId::from_value(reader.varint()?), maximum: reader.varint()? }
            }
            0x12 | 0x13 => {
                Frame::MaxStreams { direction: direction(frame_type), maximum: stream_count(reader)? }
            }
            0x14 => Frame::DataBlocked { limit: reader.varint()? },
            0x15 => Frame::StreamDataBlocked {
                id: StreamId::from_value(reader.varint()?),
                limit: reader.varint()?,
            },
            0x16 | 0x17 => {
                Frame::StreamsBlocked { direction: direction(frame_type), limit: stream_count(reader)? }
            }
            0x18 => new_connection_id(reader)?,
            0x19 => Frame::RetireConnectionId { sequence: reader.varint()? },
            0x1a => Frame::PathChallenge { data: reader.array()? },
            0x1b => Frame::PathResponse { data: reader.array()? },
            0x1c => Frame::ConnectionClose {
                code: Code(reader.varint()?),
                frame_type: reader.varint()?,
                reason: reader.prefixed()?,
            },
            0x1d => Frame::ApplicationClose { code: reader.varint()?, reason: reader.prefixed()? },
            0x1e => Frame::HandshakeDone,
            0x1f => Frame::ImmediateAck,
            0x30 | 0x31 => {
                let to_end = frame_type == 0x30;
                return Ok(Frame::Datagram { data: self.datagram(to_end)?, to_end });
            }
            // RFC 9000-12.4-4.
            _ => return Err(FrameProblem::UnknownType),
        })
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
                let frame = self.of_long_type(at_type);
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
            // RFC 9000-19.3-1.
            0x02 | 0x03 => match self.ack(frame_type == 0x03) {
                Ok(ack) => return Some(Ok(Frame::Ack(ack))),
                Err(problem) => problem,
            },
            _ => match self.rare(frame_type) {
                Ok(frame) => return Some(Ok(frame)),
                Err(problem) => problem,
            },
        };
        Some(Err(self.fail(FrameError { frame_type: u64::from(frame_type), problem })))
    }
}

/// Checks `count` pairs of Gap and ACK Range Length below a range that starts at `smallest`, and gives the bytes that
/// they take.
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

/// The ECN counts at the start of `bytes`, and the bytes that they take.
#[inline(never)]
fn ecn_counts(bytes: &[u8]) -> Result<(EcnCounts, usize), UnexpectedEnd> {
    let mut reader = Reader::new(bytes);
    let counts = EcnCounts { ect0: reader.varint()?, ect1: reader.varint()?, ce: reader.varint()? };
    Ok((counts, reader.position()))
}

/// Why a pair of Gap and ACK Range Length could not be read: it is cut off, or goes below 0.
#[cold]
fn pair_problem(mut reader: Reader<'_>) -> FrameProblem {
    match (reader.varint(), reader.varint()) {
        (Ok(_), Ok(_)) => FrameProblem::AckRange,
        _ => FrameProblem::Truncated,
    }
}

/// "The largest offset delivered on a stream -- the sum of the offset and data length -- cannot exceed 2^62-1"
/// (RFC 9000 section 19.8, and 19.6 for CRYPTO).
#[inline]
fn within_stream(offset: u64, length: usize) -> Result<(), FrameProblem> {
    // RFC 9000-19.6-1, 9000-19.8-2.
    if offset + length as u64 > varint::MAX { Err(FrameProblem::BeyondLastOffset) } else { Ok(()) }
}

fn direction(frame_type: u8) -> Direction {
    if frame_type & 1 == 0 { Direction::Bidirectional } else { Direction::Unidirectional }
}

fn stream_count(reader: &mut Reader<'_>) -> Result<u64, FrameProblem> {
    let count = reader.varint()?;
    // RFC 9000-4.6-1, 9000-19.11-1, 9000-19.14-1.
    if count > StreamId::MAX_COUNT { Err(FrameProblem::TooManyStreams) } else { Ok(count) }
}

fn new_connection_id<'a>(reader: &mut Reader<'_>) -> Result<Frame<'a>, FrameProblem> {
    let sequence = reader.varint()?;
    let retire_prior_to = reader.varint()?;
    // RFC 9000-19.15-6.
    if retire_prior_to > sequence {
        return Err(FrameProblem::RetirePriorTo);
    }
    // One byte, not a variable-length integer (RFC 9000 figure 39).
    let length = usize::from(reader.u8()?);
    // RFC 9000-19.15-1.
    if !(1..=ConnectionId::MAX_LENGTH).contains(&length) {
        return Err(FrameProblem::ConnectionIdLength);
    }
    let id = ConnectionId::new(reader.bytes(length)?).ok_or(FrameProblem::ConnectionIdLength)?;
    Ok(Frame::NewConnectionId { sequence, retire_prior_to, id, token: reader.array()? })
}
