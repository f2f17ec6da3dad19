//! The supported TCP options.

/// A Fast Open cookie of 4 to 16 bytes, an even number. An empty one requests a cookie (RFC 7413 section 4.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cookie {
    length: u8,
    bytes: [u8; Cookie::MAX],
}

impl Cookie {
    /// The maximum length.
    pub const MAX: usize = 16;

    /// The option without a cookie, which requests one.
    pub const REQUEST: Cookie = Cookie { length: 0, bytes: [0; Cookie::MAX] };

    /// The cookie with these bytes; `None` if their number is invalid.
    pub fn new(bytes: &[u8]) -> Option<Cookie> {
        let legal =
            bytes.is_empty() || (4..=Cookie::MAX).contains(&bytes.len()) && bytes.len().is_multiple_of(2);
        legal.then(|| {
            let mut cookie = Cookie { length: bytes.len() as u8, ..Cookie::default() };
            cookie.bytes[..bytes.len()].copy_from_slice(bytes);
            cookie
        })
    }
    /// The bytes; empty for a request.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// The timestamps option (RFC 7323 section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the last received TSval.
    pub echo: u32,
}

/// The blocks of a SACK option: the edges of the received data (RFC 2018 section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    count: u8,
    edges: [(u32, u32); SackBlocks::MAX],
}

impl SackBlocks {
    /// The maximum number of blocks; 3 fit beside timestamps (RFC 2018 section 3).
    pub const MAX: usize = 4;

    /// Adds a block. A block too many is ignored.
    pub fn push(&mut self, left: u32, right: u32) {
        if let Some(edge) = self.edges.get_mut(usize::from(self.count)) {
            *edge = (left, right);
            self.count += 1;
        }
    }
    /// The blocks: left edge and right edge.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.edges[..usize::from(self.count)]
    }
    /// Keeps only the first blocks.
    pub fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count as u8);
        self.edges[usize::from(self.count)..].fill((0, 0));
    }
}

/// The options of a segment. Unknown options are skipped (RFC 9293 section 3.1: a TCP implementation "MUST (MUST-6)
/// ignore without error any TCP Option it does not implement").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum Segment Size, in a SYN (RFC 9293 section 3.2).
    pub mss: Option<u16>,
    /// The shift of the following window fields, in a SYN (RFC 7323 section 2.2).
    pub window_scale: Option<u8>,
    /// SACK-Permitted, in a SYN (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// The timestamps.
    pub timestamps: Option<Timestamps>,
    /// The SACK blocks.
    pub sack: SackBlocks,
    /// A Fast Open cookie, or the request for one, in a SYN (RFC 7413 section 4.1.1).
    pub fast_open: Option<Cookie>,
}

/// Option kinds.
pub(super) mod kind {
    pub(in crate::tcp) const END: u8 = 0;
    pub(in crate::tcp) const NO_OPERATION: u8 = 1;
    pub(in crate::tcp) const MSS: u8 = 2;
    pub(in crate::tcp) const WINDOW_SCALE: u8 = 3;
    pub(in crate::tcp) const SACK_PERMITTED: u8 = 4;
    pub(in crate::tcp) const SACK: u8 = 5;
    pub(in crate::tcp) const TIMESTAMPS: u8 = 8;
    pub(in crate::tcp) const FAST_OPEN: u8 = 34;
}
