//! Where the body of a message ends (RFC 9112 section 6.3).

use http::http1::{ChunkReader, Next};
use http::message::Malformed;

/// What is left of a body.
#[derive(Debug)]
pub(super) enum Body {
    /// So much content.
    Told(u64),
    /// Chunks.
    Chunked(Box<ChunkReader>),
    /// All up to the end of the connection: of responses only.
    UpToEnd,
}

impl Body {
    pub(super) fn chunked() -> Body {
        Body::Chunked(Box::default())
    }

    /// What comes next.
    pub(super) fn next(&self) -> Next {
        match self {
            Body::Told(0) => Next::End,
            Body::Told(left) => Next::Content(*left),
            Body::Chunked(chunks) => chunks.next(),
            Body::UpToEnd => Next::Content(u64::MAX),
        }
    }

    /// So much of the content that was next was read.
    pub(super) fn note_content(&mut self, bytes: u64) {
        match self {
            Body::Told(left) => *left -= bytes,
            Body::Chunked(chunks) => chunks.note_content(bytes),
            Body::UpToEnd => {}
        }
    }

    /// Takes bytes, with the content to `take`; gives how many of them are the body's.
    pub(super) fn push<E: From<Malformed>>(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut used = 0;
        while used < bytes.len() {
            let rest = &bytes[used..];
            used += match (self.next(), &mut *self) {
                (Next::Framing, Body::Chunked(chunks)) => chunks.push(rest)?,
                (Next::Content(left), _) => {
                    let content = &rest[..usize::try_from(left).unwrap_or(usize::MAX).min(rest.len())];
                    take(content)?;
                    self.note_content(content.len() as u64);
                    content.len()
                }
                _ => break,
            };
        }
        Ok(used)
    }
}
