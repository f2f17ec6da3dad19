//! A message on its way in: the frames of a request stream, in the order that RFC 9114 section 4.1 gives.

use super::{MAX_FIELD_SECTION, violation};
use http::frame::{self, HeadReader};
use http::{Code, Violation};
use transport::{Read, StreamError, Transport};
use wire::{Side, StreamId};

/// What comes next of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing for now.
    Blocked,
    /// The header section.
    Head(Vec<u8>),
    /// The trailer section.
    Trailers(Vec<u8>),
    /// A header or trailer section too large to be taken.
    TooLarge,
    /// So much content in this frame, to be read off the stream and told by [`Incoming::note_content`].
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

/// Where in a frame the stream is; with how many bytes are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Head,
    Fields(u64),
    Content(u64),
    Skipped(u64),
}

/// A message of which some has come.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Who sends it.
    sender: Side,
    heads: HeadReader,
    inside: Inside,
    stage: Stage,
    /// What has come of a field section; at most [`MAX_FIELD_SECTION`].
    section: Vec<u8>,
    ended: bool,
}

impl Incoming {
    pub(super) fn from(sender: Side) -> Incoming {
        Incoming {
            sender,
            heads: HeadReader::default(),
            inside: Inside::Head,
            stage: Stage::Head,
            section: Vec::new(),
            ended: false,
        }
    }

    /// The header section that came was that of an interim response: another one follows (RFC 9110 section 15.2).
    pub(super) fn expect_another_head(&mut self) {
        self.stage = Stage::Head;
    }

    /// Reads up to the next thing of interest.
    pub(super) fn step(
        &mut self,
        stream: StreamId,
        transport: &mut dyn Transport,
    ) -> Result<Step, Violation> {
        loop {
            match self.inside {
                Inside::Content(0) | Inside::Skipped(0) => self.inside = Inside::Head,
                Inside::Fields(0) => {
                    self.inside = Inside::Head;
                    let section = std::mem::take(&mut self.section);
                    if self.stage == Stage::Head {
                        self.stage = Stage::Content;
                        return Ok(Step::Head(section));
                    }
                    self.stage = Stage::Trailers;
                    return Ok(Step::Trailers(section));
                }
                Inside::Content(left) if !self.ended => return Ok(Step::Content(left)),
                Inside::Head if self.ended && self.heads.is_empty() => return Ok(Step::End),
                // RFC 9114 section 7.1: a stream that ends inside a frame.
                _ if self.ended => return Err(violation(Code::FRAME_ERROR, "a stream ends inside a frame")),
                _ => match self.advance(stream, transport)? {
                    Some(Step::Blocked) if self.ended => {}
                    Some(step) => return Ok(step),
                    None => {}
                },
            }
        }
    }

    /// What was read of the content.
    pub(super) fn note_content(&mut self, read: &Read) {
        if let Inside::Content(left) = &mut self.inside {
            *left -= read.bytes;
        }
        self.ended |= read.finished;
    }

    /// Reads a piece; gives a step if it cannot go on.
    fn advance(
        &mut self,
        stream: StreamId,
        transport: &mut dyn Transport,
    ) -> Result<Option<Step>, Violation> {
        let mut bytes = [0; 1024];
        let result = match self.inside {
            Inside::Skipped(left) => transport.skip(stream, left),
            Inside::Fields(left) => {
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
        match &mut self.inside {
            Inside::Skipped(left) => *left -= read.bytes,
            Inside::Fields(left) => {
                *left -= read.bytes;
                self.section.extend_from_slice(&bytes[..read.bytes as usize]);
            }
            _ => {
                if let Some(head) = self.heads.push(&bytes[..read.bytes as usize]) {
                    self.inside = self.enter(head)?;
                    if matches!(self.inside, Inside::Fields(length) if length > MAX_FIELD_SECTION) {
                        return Ok(Some(Step::TooLarge));
                    }
                }
            }
        }
        Ok(None)
    }

    /// What the payload of a frame is.
    fn enter(&self, head: frame::FrameHead) -> Result<Inside, Violation> {
        let unexpected = |why| Err(violation(Code::FRAME_UNEXPECTED, why));
        match (head.kind, self.stage) {
            // RFC 9114 section 4.1: a header section, content, a trailer section, and no other order.
            (frame::DATA, Stage::Head) => unexpected("DATA before HEADERS"),
            (frame::DATA, Stage::Trailers) => unexpected("DATA behind the trailers"),
            (frame::HEADERS, Stage::Trailers) => unexpected("HEADERS behind the trailers"),
            (frame::DATA, Stage::Content) => Ok(Inside::Content(head.length)),
            (frame::HEADERS, _) => Ok(Inside::Fields(head.length)),
            // RFC 9114 section 7.2.5: no push ID was allowed by a MAX_PUSH_ID frame.
            (frame::PUSH_PROMISE, _) if self.sender == Side::Server => {
                Err(violation(Code::ID_ERROR, "a push that was not allowed"))
            }
            // RFC 9114 sections 7.2.3 to 7.2.8: frames of the control stream, or of HTTP/2; RFC 9218 section 7.2.
            (kind, _) if frame::is_known(kind) => {
                unexpected("a frame that does not belong on a request stream")
            }
            // RFC 9114 section 9: types that nobody knows are skipped.
            _ => Ok(Inside::Skipped(head.length)),
        }
    }
}
