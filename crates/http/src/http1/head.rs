//! Finds the end of a message head (RFC 9112 section 2.1).

use super::MAX_HEAD;
use std::fmt;

/// Collects the bytes of a head.
#[derive(Debug, Default)]
pub struct HeadReader {
    head: Vec<u8>,
    /// The end of the first line, if reached.
    first_line: Option<usize>,
    of_responses: bool,
}

/// Why bytes are not a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadHead {
    /// The first line is longer than [`MAX_HEAD`] by itself.
    LongLine,
    /// The head is longer than [`MAX_HEAD`].
    TooLong,
    /// A CR without LF, or a LF without CR.
    LineEnd,
}

impl BadHead {
    /// The status of the answer to a request that begins like this.
    pub fn status(self) -> u16 {
        match self {
            // RFC 9112 3: "A server that receives a request-target longer than any URI it wishes to parse MUST
            // respond with a 414".
            BadHead::LongLine => 414,
            // RFC 6585 section 5.
            BadHead::TooLong => 431,
            BadHead::LineEnd => 400,
        }
    }
}

impl fmt::Display for BadHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.why())
    }
}
impl std::error::Error for BadHead {}

impl BadHead {
    /// A description for humans.
    pub fn why(self) -> &'static str {
        match self {
            BadHead::LongLine => "the first line is longer than the limit",
            BadHead::TooLong => "the head is longer than the limit",
            BadHead::LineEnd => "a line that does not end with CR LF",
        }
    }
}

impl HeadReader {
    /// Creates a reader for responses: unlike for requests, no empty line is skipped before them.
    pub fn of_responses() -> HeadReader {
        HeadReader { of_responses: true, ..HeadReader::default() }
    }

    /// Takes bytes. When the head is complete, returns it without the empty line, along with the number of these
    /// bytes that belong to it. The reader is then ready for the next head.
    ///
    /// # Errors
    /// See [`BadHead`].
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, BadHead> {
        const END: &[u8] = b"\r\n\r\n";
        for (at, byte) in bytes.iter().enumerate() {
            // Section 2.2: a CR without LF is invalid. A LF without CR may end a line, but because readers differ on
            // that, it is rejected.
            if (self.head.last() == Some(&b'\r')) != (*byte == b'\n') {
                return Err(BadHead::LineEnd);
            }
            self.head.push(*byte);
            // Section 2.2: an empty line before a request line is ignored.
            if !self.of_responses && self.head == b"\r\n" {
                self.head.clear();
                continue;
            }
            if *byte == b'\n' {
                self.first_line.get_or_insert(self.head.len());
            }
            if self.head.ends_with(END) {
                let mut head = std::mem::take(&mut self.head);
                head.truncate(head.len() - END.len());
                self.first_line = None;
                return Ok(Some((head, at + 1)));
            }
            if self.head.len() > MAX_HEAD {
                let is_first = self.first_line.is_none();
                return Err(if is_first { BadHead::LongLine } else { BadHead::TooLong });
            }
        }
        Ok(None)
    }

    /// Whether no byte of a head has arrived.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }
}
