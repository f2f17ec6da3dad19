//! HPACK (RFC 7541): the fields of HTTP/2, with a dynamic table on each side.

mod decoder;
mod encoder;
mod static_table;
mod table;

pub use decoder::{BadBlock, Decoder};
pub use encoder::Encoder;

/// The initial size of both dynamic tables (RFC 9113 section 6.5.2, SETTINGS_HEADER_TABLE_SIZE).
pub const DEFAULT_TABLE: u64 = 4096;

#[cfg(test)]
mod tests;
