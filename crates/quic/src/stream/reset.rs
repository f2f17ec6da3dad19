//! A reset: the end of a stream before all its data.

/// RESET_STREAM, or RESET_STREAM_AT (draft-ietf-quic-reliable-stream-reset-09). Few streams have one, which is why they keep
/// it in a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reset {
    /// The code of the application.
    pub(super) code: u64,
    /// The bytes that are delivered nevertheless: the least reliable size so far.
    pub(super) reliable: u64,
}
