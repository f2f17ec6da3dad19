//! Delayed responses: for the end of a think time, or for a source that has no data yet.

use std::collections::BTreeSet;
use units::{Duration, Time};
use wire::StreamId;

/// The streams with delayed responses, by the time at which they continue.
#[derive(Debug, Default)]
pub(crate) struct Delayed(BTreeSet<(Time, StreamId)>);

impl Delayed {
    /// The delay of a response whose source has no data yet.
    pub(crate) const RETRY_AFTER: Duration = Duration::from_millis(100);

    /// Delays a response; returns `false` if the delay is zero.
    pub(crate) fn add(&mut self, now: Time, stream: StreamId, span: Duration) -> bool {
        !span.is_zero() && self.0.insert((now + span, stream))
    }
    /// The time at which the next response continues.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.0.first().map(|(at, _)| *at)
    }
    /// Removes and returns a stream whose response continues now.
    pub(crate) fn next(&mut self, now: Time) -> Option<StreamId> {
        self.wake_at().filter(|at| *at <= now)?;
        self.0.pop_first().map(|(_, stream)| stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_continue_at_their_time() {
        let mut delayed = Delayed::default();
        let [a, b] = [0, 4].map(StreamId::from_value);
        assert!(!delayed.add(Time::ZERO, a, Duration::ZERO));
        assert!(delayed.add(Time::ZERO, a, Duration::from_millis(5)));
        assert!(delayed.add(Time::ZERO, b, Duration::from_millis(3)));
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        assert_eq!((delayed.wake_at(), delayed.next(at(2))), (Some(at(3)), None));
        assert_eq!((delayed.next(at(5)), delayed.next(at(5)), delayed.next(at(5))), (Some(b), Some(a), None));
    }
}
