//! The state of a frame that is sent until it is acknowledged (RFC 9000 section 13.3): queued, in flight, or done.

/// The delivery state of the newest value of a notice, or of a control frame, which has only one value. It takes one
/// byte, because every stream has four of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Delivery(u8);

/// The frame is queued.
const QUEUED: u8 = 0x80;
/// A copy was acknowledged.
const DONE: u8 = 0x40;
/// The number of copies in flight. (Copies beyond 63 are not counted, so the frame may be sent once too often.)
const COPIES: u8 = 0x3f;

impl Delivery {
    /// Queues the frame; returns `false` if it already was.
    #[inline]
    pub(crate) fn ask(&mut self) -> bool {
        let new = self.0 & QUEUED == 0;
        self.0 |= QUEUED;
        new
    }
    /// Notes a new value, of which the peer has no copy.
    pub(crate) fn renew(&mut self) {
        self.0 &= QUEUED;
    }
    /// Whether the newest value is acknowledged.
    pub(crate) fn is_done(self) -> bool {
        self.0 & DONE != 0
    }
    /// Notes that a copy was acknowledged.
    pub(crate) fn finish(&mut self) {
        self.0 |= DONE;
    }
    /// Notes a lost copy; returns whether no copy is left, so that the frame must be sent again.
    pub(crate) fn lose(&mut self) -> bool {
        self.0 -= u8::from(self.0 & COPIES > 0);
        self.0 == 0
    }
    /// Notes that a copy was sent.
    pub(crate) fn add(&mut self) {
        self.0 += u8::from(self.0 & COPIES < COPIES);
    }
    /// Removes the frame from the queue; returns whether it was queued.
    pub(crate) fn dequeue(&mut self) -> bool {
        let queued = self.is_queued();
        self.0 &= !QUEUED;
        queued
    }
    /// Whether the frame is queued.
    #[inline]
    pub(crate) fn is_queued(self) -> bool {
        self.0 & QUEUED != 0
    }
}
