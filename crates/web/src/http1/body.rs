//! The body of a message and its length (RFC 9112 section 6.3).

use http::http1::{ChunkReader, Next};
use http::message::Malformed;

/// The unread rest of a body.
#[derive(Debug)]
pub(super) enum Body {
    /// A body with this many bytes left.
    Length(u64),
    /// A chunked body.
    Chunked(Box<ChunkReader>),
    /// A body that ends with the connection; only in responses.
    UpToEnd,
}

impl Body {
    pub(super) fn chunked() -> Body {
        Body::Chunked(Box::default())
    }

    /// What follows in the stream.
    pub(super) fn next(&self) -> Next {
        match self {
            Body::Length(0) => Next::End,
            Body::Length(left) => Next::Content(*left),
            Body::Chunked(chunks) => chunks.next(),
            Body::UpToEnd => Next::Content(u64::MAX),
        }
    }

    /// Records that `bytes` bytes of content were read.
    pub(super) fn note_content(&mut self, bytes: u64) {
        match self {
            Body::Length(left) => *left -= bytes,
            Body::Chunked(chunks) => chunks.note_content(bytes),
            Body::UpToEnd => {}
        }
    }

    /// Processes bytes, passing content to `take`. Returns how many of them belong to the body.
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
