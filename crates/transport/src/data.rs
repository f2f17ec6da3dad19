//! The data of an application, on its way into a stream or out of one.

/// Data that an application writes.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Real bytes, which are copied.
    Bytes(&'a [u8]),
    /// A number of virtual bytes: the [`wire::pattern`] at their offset in the stream.
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
    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// The number of bytes taken from the stream.
    pub bytes: u64,
    /// Whether the end of the stream is reached.
    pub finished: bool,
}
