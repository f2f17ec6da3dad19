//! The state of a path, for those who divide it between streams.

use units::{Duration, Time};

/// What a stream scheduler, or an application that schedules within one stream, may know of the path.
#[derive(Debug, Clone, Copy)]
pub struct PathView {
    /// The current time.
    pub now: Time,
    /// The congestion window in bytes.
    pub window: u64,
    /// The smoothed RTT; before the first sample the option `initial_rtt`.
    pub smoothed_rtt: Duration,
}
