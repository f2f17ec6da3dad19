//! The options of TCP that are known here.

/// The bytes of a Fast Open cookie: 4 to 16, an even number; none asks for one (RFC 7413 section 4.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cookie {
    length: u8,
    bytes: [u8; Cookie::MOST],
}

impl Cookie {
    /// The longest.
    pub const MOST: usize = 16;

    /// The option without a cookie, which asks for one.
    pub const REQUEST: Cookie = Cookie { length: 0, bytes: [0; Cookie::MOST] };

    /// A cookie of these bytes; `None` if there cannot be one of their number.
    pub fn new(bytes: &[u8]) -> Option<Cookie> {
        let legal =
            bytes.is_empty() || (4..=Cookie::MOST).contains(&bytes.len()) && bytes.len().is_multiple_of(2);
        legal.then(|| {
            let mut cookie = Cookie { length: bytes.len() as u8, ..Cookie::default() };
            cookie.bytes[..bytes.len()].copy_from_slice(bytes);
            cookie
        })
    }
    /// Its bytes; none: a request.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// The timestamps option (RFC 7323 section 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the last TSval that it got.
    pub echo: u32,
}

/// The blocks of a SACK option in their order: the edges of what was received (RFC 2018 section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    count: u8,
    edges: [(u32, u32); SackBlocks::MOST],
}

impl SackBlocks {
    /// As many as there is room for: 3 beside timestamps (RFC 2018 section 3).
    pub const MOST: usize = 4;

    /// Adds a block; one too many is left out.
    pub fn push(&mut self, left: u32, right: u32) {
        if let Some(edge) = self.edges.get_mut(usize::from(self.count)) {
            *edge = (left, right);
            self.count += 1;
        }
    }
    /// The blocks: left edge, and the number behind the last byte.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.edges[..usize::from(self.count)]
    }
    /// Leaves out all blocks but the first ones.
    pub fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count as u8);
        self.edges[usize::from(self.count)..].fill((0, 0));
    }
}

/// The options of one segment. Others are skipped in reading (RFC 9293 section 3.1: a TCP ignores without error any
/// option that it does not implement).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum Segment Size, in a SYN (RFC 9293 section 3.2).
    pub mss: Option<u16>,
    /// The shift of the window fields that follow, in a SYN (RFC 7323 section 2.2).
    pub window_scale: Option<u8>,
    /// SACK-Permitted, in a SYN (RFC 2018 section 2).
    pub sack_permitted: bool,
    /// The timestamps.
    pub timestamps: Option<Timestamps>,
    /// The blocks of SACK.
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
