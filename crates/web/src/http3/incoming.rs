//! A received message: the frames of a request stream, in the order required by RFC 9114 section 4.1.

use super::{MAX_FIELD_SECTION, violation};
use http::frame::{self, HeadReader};
use http::{Code, Violation};
use transport::{Read, StreamError, Transport};
use wire::{Side, StreamId};

/// The next event of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing is available.
    Blocked,
    /// The header section.
    Head(Vec<u8>),
    /// The trailer section.
    Trailers(Vec<u8>),
    /// A header or trailer section that exceeds the limit.
    TooLarge,
    /// Content of the current frame, to be read from the stream and reported by [`Incoming::note_content`].
    Content(u64),
    /// The end of the stream.
    End,
    /// The stream was reset with this code.
    Reset(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Head,
    Content,
    Trailers,
}

/// The position within the current frame, with the number of bytes left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Head,
    Fields(u64),
    Content(u64),
    Skipped(u64),
}

/// A message in progress.
#[derive(Debug)]
pub(super) struct Incoming {
    /// The sender.
    sender: Side,
    heads: HeadReader,
    position: Position,
    stage: Stage,
    /// The received part of a field section; at most [`MAX_FIELD_SECTION`].
    section: Vec<u8>,
    ended: bool,
}

impl Incoming {
    pub(super) fn from(sender: Side) -> Incoming {
        Incoming {
            sender,
            heads: HeadReader::default(),
            position: Position::Head,
            stage: Stage::Head,
            section: Vec::new(),
            ended: false,
        }
    }

    /// The header section was that of an interim response: another one follows (RFC 9110 section 15.2).
    pub(super) fn expect_another_head(&mut self) {
        self.stage = Stage::Head;
    }

    /// Reads up to the next event.
    pub(super) fn step(
        &mut self,
        stream: StreamId,
        transport: &mut dyn Transport,
    ) -> Result<Step, Violation> {
        loop {
            match self.position {
                Position::Content(0) | Position::Skipped(0) => self.position = Position::Head,
                Position::Fields(0) => {
                    self.position = Position::Head;
                    let section = std::mem::take(&mut self.section);
                    if self.stage == Stage::Head {
                        self.stage = Stage::Content;
                        return Ok(Step::Head(section));
                    }
                    self.stage = Stage::Trailers;
                    return Ok(Step::Trailers(section));
                }
                Position::Content(left) if !self.ended => return Ok(Step::Content(left)),
                Position::Head if self.ended && self.heads.is_empty() => return Ok(Step::End),
                // RFC 9114 section 7.1: a stream must not end within a frame.
                _ if self.ended => {
                    return Err(violation(Code::FRAME_ERROR, "a stream ends inside a frame"));
                }
                _ => match self.advance(stream, transport)? {
                    Some(Step::Blocked) if self.ended => {}
                    Some(step) => return Ok(step),
                    None => {}
                },
            }
        }
    }

    /// Records that content was read.
    pub(super) fn note_content(&mut self, read: &Read) {
        if let Position::Content(left) = &mut self.position {
            *left -= read.bytes;
        }
        self.ended |= read.finished;
    }

    /// Reads a piece. Returns an event if reading cannot continue.
    fn advance(
        &mut self,
        stream: StreamId,
        transport: &mut dyn Transport,
    ) -> Result<Option<Step>, Violation> {
        let mut bytes = [0; 1024];
        let result = match self.position {
            Position::Skipped(left) => transport.skip(stream, left),
            Position::Fields(left) => {
                let room = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                transport.read(stream, &mut bytes[..room])
            }
            _ => transport.read(stream, &mut bytes[..self.heads.wanted()]),
        };
        let read = match result {
            Ok(read) => read,
            Err(StreamError::Reset(code)) => return Ok(Some(Step::Reset(code))),
            Err(_) => return Ok(Some(Step::Blocked)),
        };
        self.ended |= read.finished;
        if read.bytes == 0 {
            return Ok(Some(Step::Blocked));
        }
        match &mut self.position {
            Position::Skipped(left) => *left -= read.bytes,
            Position::Fields(left) => {
                *left -= read.bytes;
                self.section.extend_from_slice(&bytes[..read.bytes as usize]);
            }
            _ => {
                if let Some(head) = self.heads.push(&bytes[..read.bytes as usize]) {
                    self.position = self.enter(head)?;
                    if matches!(self.position, Position::Fields(length) if length > MAX_FIELD_SECTION) {
                        return Ok(Some(Step::TooLarge));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The position at the start of a frame's payload.
    fn enter(&self, head: frame::FrameHead) -> Result<Position, Violation> {
        let unexpected = |why| Err(violation(Code::FRAME_UNEXPECTED, why));
        match (head.kind, self.stage) {
            // RFC 9114 section 4.1: a header section, content, a trailer section, in this order.
            (frame::DATA, Stage::Head) => unexpected("DATA before HEADERS"),
            (frame::DATA, Stage::Trailers) => unexpected("DATA after the trailers"),
            (frame::HEADERS, Stage::Trailers) => unexpected("HEADERS after the trailers"),
            (frame::DATA, Stage::Content) => Ok(Position::Content(head.length)),
            (frame::HEADERS, _) => Ok(Position::Fields(head.length)),
            // RFC 9114 section 7.2.5: no MAX_PUSH_ID frame permitted a push.
            (frame::PUSH_PROMISE, _) if self.sender == Side::Server => {
                Err(violation(Code::ID_ERROR, "server push is not allowed"))
            }
            // RFC 9114 sections 7.2.3 to 7.2.8: frames of the control stream, or of HTTP/2; RFC 9218 section 7.2.
            (kind, _) if frame::is_known(kind) => {
                unexpected("a frame that is not allowed on a request stream")
            }
            // RFC 9114 section 9: unknown types are skipped.
            _ => Ok(Position::Skipped(head.length)),
        }
    }
}
