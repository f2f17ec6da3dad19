//! How far the peer has heard of something that is sent until it is acknowledged (RFC 9000 section 13.3): it is to be sent,
//! underway, or done.

/// How far the peer has been told the newest value of a notice, or a control frame, which has but one value. It is one byte:
/// every stream has four of these.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Delivery(u8);

/// It is queued.
const QUEUED: u8 = 0x80;
/// A copy was acknowledged.
const DONE: u8 = 0x40;
/// Copies underway. (Beyond 63 they are not counted, and it may be told once too often.)
const COPIES: u8 = 0x3f;

impl Delivery {
    /// Asks for it to be sent; `false` if that was asked already.
    #[inline]
    pub(crate) fn ask(&mut self) -> bool {
        let new = self.0 & QUEUED == 0;
        self.0 |= QUEUED;
        new
    }
    /// There is another value, which the peer has not heard of.
    pub(crate) fn renew(&mut self) {
        self.0 &= QUEUED;
    }
    /// Whether the peer has the newest value.
    pub(crate) fn is_done(self) -> bool {
        self.0 & DONE != 0
    }
    /// A copy was acknowledged.
    pub(crate) fn finish(&mut self) {
        self.0 |= DONE;
    }
    /// A copy was lost; gives whether that was the only one, so that it is to be sent again.
    pub(crate) fn lose(&mut self) -> bool {
        self.0 -= u8::from(self.0 & COPIES > 0);
        self.0 == 0
    }
    /// A copy was sent.
    pub(crate) fn add(&mut self) {
        self.0 += u8::from(self.0 & COPIES < COPIES);
    }
    /// It does not stand among those that are to be sent any more; `false` if it did not before.
    pub(crate) fn dequeue(&mut self) -> bool {
        let queued = self.is_queued();
        self.0 &= !QUEUED;
        queued
    }
    /// Whether it stands among those that are to be sent.
    #[inline]
    pub(crate) fn is_queued(self) -> bool {
        self.0 & QUEUED != 0
    }
}
