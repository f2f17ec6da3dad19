//! TCP headers and their options (RFC 9293 section 3.1).

mod decode;
mod encode;
mod options;

pub use options::{Cookie, Options, SackBlocks, Timestamps};

use std::fmt;

/// The size of a header without options.
pub const HEADER_SIZE: usize = 20;
/// The maximum size of the options: Data Offset counts up to 15 words (RFC 9293 section 3.1).
pub const MAX_OPTIONS: usize = 40;
/// The maximum size of a header with options.
pub const MAX_HEADER: usize = HEADER_SIZE + MAX_OPTIONS;

/// The control bits (RFC 9293 section 3.1, RFC 3168 section 6.1, RFC 9768 section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x001);
    /// Synchronises sequence numbers.
    pub const SYN: Flags = Flags(0x002);
    /// Resets the connection.
    pub const RST: Flags = Flags(0x004);
    /// Pushes what was received to its reader.
    pub const PSH: Flags = Flags(0x008);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(0x010);
    /// The urgent pointer is valid.
    pub const URG: Flags = Flags(0x020);
    /// ECN-Echo.
    pub const ECE: Flags = Flags(0x040);
    /// Congestion Window Reduced.
    pub const CWR: Flags = Flags(0x080);
    /// Accurate ECN.
    pub const AE: Flags = Flags(0x100);

    /// No flags.
    pub const fn none() -> Flags {
        Flags(0)
    }
    /// The union of both sets.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// The union of both sets if the condition holds.
    #[must_use]
    pub const fn with_if(self, condition: bool, other: Flags) -> Flags {
        if condition { self.with(other) } else { self }
    }
    /// Whether this set contains all flags of the other.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Flags {
    /// The names of the flags, such as `SYN,ACK`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 9] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE"];
        let mut first = true;
        for (bit, name) in NAMES.iter().enumerate() {
            if self.0 & 1 << bit != 0 {
                write!(f, "{}{name}", if first { "" } else { "," })?;
                first = false;
            }
        }
        Ok(())
    }
}

/// A header with its options, without the checksum. The checksum covers the addresses and the payload, so it is
/// computed when the segment is put on the wire, as by [`crate::ip::TcpPacket`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Header {
    /// The source port.
    pub source: u16,
    /// The destination port.
    pub destination: u16,
    /// The sequence number of the first byte of the payload, or of the SYN.
    pub sequence: u32,
    /// The next expected sequence number; only valid with ACK.
    pub acknowledgement: u32,
    /// The control bits.
    pub flags: Flags,
    /// The window field, unscaled (RFC 7323 section 2.2).
    pub window: u16,
    /// The urgent pointer.
    pub urgent: u16,
    /// The options.
    pub options: Options,
}

/// Why bytes are not a TCP segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TcpError {
    /// The bytes end before the header does.
    Truncated,
    /// Data Offset is less than five words.
    DataOffset,
    /// An option has an illegal length, or extends past the end of the header (RFC 9293 section 3.1).
    Option,
}

impl fmt::Display for TcpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TcpError::Truncated => "the TCP header is cut off",
            TcpError::DataOffset => "a TCP header of less than 20 bytes",
            TcpError::Option => "a TCP option of an illegal length",
        })
    }
}
impl std::error::Error for TcpError {}

#[cfg(test)]
mod tests;
