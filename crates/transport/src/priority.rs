//! What an application says of a stream.

use units::{Duration, Time};

/// What an application says of a stream that it sends on, in one value and at any time. A scheduler reads of it what its
/// definition names, and passes over the rest.
///
/// Write `Priority { urgency: 1, ..Priority::default() }`: a stream of which nothing was said has the default value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priority {
    /// How urgent the stream is: 0 is the most urgent, 3 the default. RFC 9218 section 4.1 has 0 to 7; larger values
    /// are less urgent still.
    pub urgency: u8,
    /// Whether the reader can use parts of the stream, so that it may share the connection with others of its urgency
    /// (RFC 9218 section 4.2; default: no).
    pub incremental: bool,
    /// Its share of the connection, in relation to the weights of the other streams: 1 (the default) to 65,535. 0 counts
    /// as 1.
    pub weight: u16,
    /// When all of the stream should have been sent (default: no such time).
    pub deadline: Option<Time>,
    /// Latency budget: data should have been sent so long after it was written (default: no such budget). Where there is
    /// a [`Priority::deadline`] too, the earlier of both counts. It holds for all data that is not sent yet.
    pub latency: Option<Duration>,
}

impl Default for Priority {
    /// What RFC 9218 sections 4.1 and 4.2 assume: urgency 3, not incremental. Weight 1, no deadline.
    fn default() -> Priority {
        Priority { urgency: 3, incremental: false, weight: 1, deadline: None, latency: None }
    }
}
