//! QPACK (RFC 9204) without a dynamic table: this side announces a capacity of 0 and inserts nothing at the peer.
//!
//! So no field section waits for another stream, and neither side needs an encoder or decoder stream (section 4.2).
//! Those of the peer are checked nevertheless.

mod instructions;

mod section;
mod static_table;

pub use instructions::{DecoderStream, EncoderStream};
pub use section::{BadSection, decode, encode};

use std::borrow::Cow;

/// A field line: name and value in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The name; pseudo-header fields begin with `:`.
    pub name: Cow<'static, [u8]>,
    /// The value.
    pub value: Cow<'static, [u8]>,
}

impl Field {
    /// Creates a field.
    pub fn new(name: impl Into<Cow<'static, str>>, value: impl Into<Cow<'static, str>>) -> Field {
        let bytes = |text: Cow<'static, str>| match text {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        };
        Field { name: bytes(name.into()), value: bytes(value.into()) }
    }

    /// Its size against a limit on field sections: name, value and 32 bytes (RFC 9114 section 4.2.2).
    pub fn size(&self) -> u64 {
        (self.name.len() + self.value.len()) as u64 + 32
    }
}
