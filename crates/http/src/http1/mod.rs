//! Messages of HTTP/1.1 (RFC 9112): heads from bytes to values and back, and bodies in chunks.
//!
//! It is read as strictly as the RFC admits: what could be understood in two ways is refused, since two readers that
//! understand it differently are how requests are smuggled (section 11.2).

mod chunked;
mod head;
mod lines;
mod message;
mod write;

pub use chunked::{ChunkReader, MAX_EXTENSIONS, Next};
pub use head::{BadHead, HeadReader};
pub use message::{Message, Refused, read_request, read_response};
pub use write::{write_request, write_response};

/// The longest head that is taken, in bytes; and the longest trailer section.
pub const MAX_HEAD: usize = 32_768;
/// The most field lines of a head, or of a trailer section.
const MAX_LINES: usize = 256;

#[cfg(test)]
mod tests;
