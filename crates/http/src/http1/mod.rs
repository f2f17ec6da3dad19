//! HTTP/1.1 messages (RFC 9112): parsing and writing of heads, and chunked bodies.
//!
//! Parsing is as strict as the RFC permits: anything ambiguous is rejected, because requests are smuggled through
//! readers that interpret it differently (section 11.2).

mod chunked;
mod head;
mod lines;
mod message;
mod write;

pub use chunked::{ChunkReader, MAX_EXTENSIONS, Next};
pub use head::{BadHead, HeadReader};
pub use message::{Message, Refused, read_request, read_response};
pub use write::{write_request, write_response};

/// The maximum length of a head, and of a trailer section, in bytes.
pub const MAX_HEAD: usize = 32_768;
/// The maximum number of field lines of a head, or of a trailer section.
const MAX_LINES: usize = 256;

#[cfg(test)]
mod tests;
