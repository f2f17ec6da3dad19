//! Data on its way from an application or to one.

/// Data that an application writes.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Real bytes; they are copied.
    Bytes(&'a [u8]),
    /// That many virtual bytes: the [`wire::pattern`] at the stream offset where they come to stand.
    Virtual(u64),
}

impl Data<'_> {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Data::Bytes(bytes) => bytes.len() as u64,
            Data::Virtual(length) => *length,
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a read found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// So many bytes were taken off the stream.
    pub bytes: u64,
    /// Whether the end of the stream is reached.
    pub finished: bool,
}
