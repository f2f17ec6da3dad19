//! What is known of a path by those that share it out.

use units::{Duration, Time};

/// What a scheduler of streams, or an application that shares one stream out itself, may know of the path.
#[derive(Debug, Clone, Copy)]
pub struct PathView {
    /// Now.
    pub now: Time,
    /// The congestion window in bytes.
    pub window: u64,
    /// The smoothed RTT; before the first sample what `initial_rtt` assumes.
    pub smoothed_rtt: Duration,
}
