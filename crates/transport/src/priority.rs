//! The priority of a stream.

use units::{Duration, Time};

/// The priority of a stream, which its sender can change at any time. Each scheduler uses the fields that its definition
/// names, and ignores the others.
///
/// Write `Priority { urgency: 1, ..Priority::default() }`: the default value applies to streams without a priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority {
    /// The urgency: 0 is the most urgent, 3 the default. RFC 9218 section 4.1 defines 0 to 7; larger values are even
    /// less urgent.
    pub urgency: u8,
    /// Whether the reader can use parts of the stream, so that streams of the same urgency may share the connection
    /// (RFC 9218 section 4.2; default: no).
    pub incremental: bool,
    /// The share of the connection in relation to the weights of the other streams: 1 (the default) to 65,535. 0 counts
    /// as 1.
    pub weight: u16,
    /// The time by which all of the stream should have been sent (default: none).
    pub deadline: Option<Time>,
    /// The latency budget: the time within which written data should be sent (default: none). If there is also a
    /// [`Priority::deadline`], the earlier of the two counts. It applies to all data that is not yet sent.
    pub latency: Option<Duration>,
}

impl Default for Priority {
    /// Urgency 3 and not incremental (RFC 9218 sections 4.1 and 4.2), weight 1, no deadline.
    fn default() -> Priority {
        Priority { urgency: 3, incremental: false, weight: 1, deadline: None, latency: None }
    }
}
