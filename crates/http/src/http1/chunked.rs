//! Chunked bodies (RFC 9112 section 7.1).

use super::{MAX_HEAD, MAX_LINES, lines};
use crate::message::Malformed;

/// The maximum length of all chunk extensions in a body (RFC 9112 7.1.1: recipients ought to limit it).
pub const MAX_EXTENSIONS: usize = 4096;
/// The maximum number of digits of a chunk size: enough for 64 bits.
const MAX_DIGITS: u8 = 16;

/// What a body continues with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Framing that [`ChunkReader::push`] consumes.
    Framing,
    /// This many bytes of content, at least one, to be reported with [`ChunkReader::note_content`].
    Content(u64),
    /// The end of the body.
    End,
}

/// The position of the reader in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// A size, and the number of its digits so far.
    Size {
        size: u64,
        digits: u8,
    },
    /// White space after the size, which only an extension may follow.
    Space(u64),
    Extension(u64),
    /// The LF after the size and its extensions.
    SizeEnd(u64),
    Content(u64),
    /// CR and LF after the content of a chunk.
    ContentCr,
    ContentLf,
    Trailers,
    /// The LF of a line of the trailer section.
    TrailerEnd,
    End,
}

/// Locates the content of a chunked body. Extensions and trailers are discarded after a check of their syntax
/// (sections 7.1.1 and 7.1.2).
#[derive(Debug)]
pub struct ChunkReader {
    stage: Stage,
    /// Length of the extensions so far, in bytes.
    extensions: usize,
    /// The current line of the trailer section, and the bytes and lines of the section so far.
    line: Vec<u8>,
    trailer_bytes: usize,
    trailer_lines: usize,
}

impl Default for ChunkReader {
    fn default() -> ChunkReader {
        ChunkReader {
            stage: Stage::Size { size: 0, digits: 0 },
            extensions: 0,
            line: Vec::new(),
            trailer_bytes: 0,
            trailer_lines: 0,
        }
    }
}

impl ChunkReader {
    /// What comes next.
    pub fn next(&self) -> Next {
        match self.stage {
            Stage::Content(left) => Next::Content(left),
            Stage::End => Next::End,
            _ => Next::Framing,
        }
    }

    /// Reports that this much content was read.
    ///
    /// # Panics
    /// If this exceeds the content that was due.
    pub fn note_content(&mut self, bytes: u64) {
        let Stage::Content(left) = self.stage else {
            assert!(bytes == 0, "no content is next");
            return;
        };
        assert!(bytes <= left, "more content than the chunk has");
        self.stage = if bytes == left { Stage::ContentCr } else { Stage::Content(left - bytes) };
    }

    /// Consumes bytes up to the next content or the end of the body, and returns their number.
    ///
    /// # Errors
    /// If they are not valid chunks, or extensions or trailers are too large.
    pub fn push(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        for (at, byte) in bytes.iter().enumerate() {
            if self.next() != Next::Framing {
                return Ok(at);
            }
            self.stage = self.after(*byte)?;
        }
        Ok(bytes.len())
    }

    fn after(&mut self, byte: u8) -> Result<Stage, Malformed> {
        Ok(match (self.stage, byte) {
            (Stage::Size { size, digits }, _) if byte.is_ascii_hexdigit() => {
                if digits == MAX_DIGITS {
                    return Err(Malformed("a chunk whose size has too many digits"));
                }
                let digit = char::from(byte).to_digit(16).unwrap_or_default();
                Stage::Size { size: size << 4 | u64::from(digit), digits: digits + 1 }
            }
            (Stage::Size { digits: 0, .. }, _) => return Err(Malformed("a chunk without a size")),
            (Stage::Size { size, .. }, b'\r') => Stage::SizeEnd(size),
            (Stage::Size { size, .. } | Stage::Space(size), b' ' | b'\t') => {
                self.count_extension()?;
                Stage::Space(size)
            }
            (Stage::Size { size, .. } | Stage::Space(size), b';') => {
                self.count_extension()?;
                Stage::Extension(size)
            }
            (Stage::Extension(size), b'\r') => Stage::SizeEnd(size),
            // RFC 9112 7.1.1: "A recipient MUST ignore unrecognized chunk extensions." They may not contain control
            // characters, LF in particular.
            (Stage::Extension(size), _) if !byte.is_ascii_control() || byte == b'\t' => {
                self.count_extension()?;
                Stage::Extension(size)
            }
            (Stage::SizeEnd(0), b'\n') => Stage::Trailers,
            (Stage::SizeEnd(size), b'\n') => Stage::Content(size),
            (Stage::ContentCr, b'\r') => Stage::ContentLf,
            (Stage::ContentLf, b'\n') => Stage::Size { size: 0, digits: 0 },
            (Stage::Trailers, b'\r') => Stage::TrailerEnd,
            (Stage::Trailers, _) if byte != b'\n' => {
                self.line.push(byte);
                self.trailer_bytes += 1;
                if self.trailer_bytes > MAX_HEAD {
                    return Err(Malformed("trailers longer than the limit"));
                }
                Stage::Trailers
            }
            (Stage::TrailerEnd, b'\n') => return self.end_line(),
            _ => return Err(Malformed("a malformed chunk")),
        })
    }

    fn count_extension(&mut self) -> Result<(), Malformed> {
        self.extensions += 1;
        if self.extensions > MAX_EXTENSIONS {
            return Err(Malformed("chunk extensions longer than the limit"));
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<Stage, Malformed> {
        if self.line.is_empty() {
            return Ok(Stage::End);
        }
        self.trailer_lines += 1;
        if self.trailer_lines > MAX_LINES {
            return Err(Malformed("too many trailer lines"));
        }
        lines::field(&self.line)?;
        self.line.clear();
        Ok(Stage::Trailers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a body in pieces of this size, and returns its content and its length.
    fn read(body: &[u8], step: usize) -> Result<(Vec<u8>, usize), Malformed> {
        let (mut reader, mut content, mut used) = (ChunkReader::default(), Vec::new(), 0);
        loop {
            let piece = &body[used..body.len().min(used + step)];
            match reader.next() {
                Next::End => return Ok((content, used)),
                _ if piece.is_empty() => return Err(Malformed("cut off")),
                Next::Framing => used += reader.push(piece)?,
                Next::Content(left) => {
                    let taken = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    content.extend_from_slice(&piece[..taken]);
                    reader.note_content(taken as u64);
                    used += taken;
                }
            }
        }
    }

    #[test]
    fn content_is_found_between_sizes() {
        let body = b"4\r\nWiki\r\nA;a=b;c=\"d \\\"e\" \t\r\n0123456789\r\n00b \t ;x\r\n in chunks.\r\n0\r\nExpires: never\r\nx:\r\n\r\nrest";
        for step in 1..body.len() {
            let (content, used) = read(body, step).unwrap();
            assert_eq!(
                (content.as_slice(), &body[used..]),
                (&b"Wiki0123456789 in chunks."[..], &b"rest"[..])
            );
        }
        assert_eq!(read(b"0\r\n\r\n", 9), Ok((Vec::new(), 5)));
        // The largest size is valid; no memory is reserved for it.
        let mut reader = ChunkReader::default();
        reader.push(b"ffffffffffffffff\r\n").unwrap();
        assert_eq!(reader.next(), Next::Content(u64::MAX));
    }

    /// RFC 9112 sections 7.1, 7.1.1, 7.1.2 and 11.2.
    #[test]
    fn invalid_chunks_are_refused() {
        for bad in [
            &b""[..],
            b"\r\n",
            b"g\r\n",
            b" 1\r\na\r\n0\r\n\r\n",
            b"-1\r\n",
            b"0x1\r\na\r\n0\r\n\r\n",
            b"1\na\r\n0\r\n\r\n",
            b"1\r\na\n0\r\n\r\n",
            b"1\r\na0\r\n\r\n",
            b"1\r\nab\r\n0\r\n\r\n",
            b"1 \r\na\r\n0\r\n\r\n",
            b"1 2\r\na\r\n0\r\n\r\n",
            b"1;\n0\r\n\r\n",
            b"1;a\nb\r\na\r\n0\r\n\r\n",
            b"1;a\rb\r\na\r\n0\r\n\r\n",
            b"1;\0\r\na\r\n0\r\n\r\n",
            b"1\r\na\r\n",
            b"1\r\na\r\n0\r\n",
            b"0\r\n\n",
            b"0\r\na\r\n\r\n",
            b"0\r\n a: b\r\n\r\n",
            b"0\r\na : b\r\n\r\n",
            b"0\r\na: b\nc: d\r\n\r\n",
            b"0\r\na: b\rc\r\n\r\n",
            b"0\r\na: \0\r\n\r\n",
            b"00000000000000000\r\n\r\n",
            b"11111111111111111\r\n",
        ] {
            for step in [1, 100] {
                assert!(read(bad, step).is_err(), "{:?}", String::from_utf8_lossy(bad));
            }
        }
    }

    /// RFC 9112 sections 7.1.1 and 7.1.2: discarded data is limited.
    #[test]
    fn extensions_and_trailers_have_limits() {
        let with_extension = |length: usize| [b"0;", "x".repeat(length).as_bytes(), b"\r\n\r\n"].concat();
        assert!(read(&with_extension(MAX_EXTENSIONS - 1), 1000).is_ok());
        assert!(read(&with_extension(MAX_EXTENSIONS), 1000).is_err());
        let small = [b"1;abc\r\na\r\n".repeat(MAX_EXTENSIONS / 4 + 1), b"0\r\n\r\n".to_vec()].concat();
        assert!(read(&small, 1000).is_err(), "over all chunks");
        let lines = |count: usize| [b"0\r\n".to_vec(), b"a: b\r\n".repeat(count), b"\r\n".to_vec()].concat();
        assert!(read(&lines(MAX_LINES), 1000).is_ok());
        assert!(read(&lines(MAX_LINES + 1), 1000).is_err());
        let long = [b"0\r\na: ".to_vec(), vec![b'x'; MAX_HEAD], b"\r\n\r\n".to_vec()].concat();
        assert!(read(&long, 1000).is_err());
    }

    proptest! {
        #[test]
        fn chunks_come_back(chunks: Vec<Vec<u8>>, step in 1usize..50) {
            let mut body = Vec::new();
            for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
                body.extend_from_slice(format!("{:X}\r\n", chunk.len()).as_bytes());
                body.extend_from_slice(chunk);
                body.extend_from_slice(b"\r\n");
            }
            body.extend_from_slice(b"0\r\n\r\n");
            prop_assert_eq!(read(&body, step), Ok((chunks.concat(), body.len())));
        }
    }
}
