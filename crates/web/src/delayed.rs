//! Responses that wait: for the end of a think time, or for a source that gives nothing for now.

use std::collections::BTreeSet;
use units::{Duration, Time};
use wire::StreamId;

/// Streams whose responses wait, by the time when they go on.
#[derive(Debug, Default)]
pub(crate) struct Delayed(BTreeSet<(Time, StreamId)>);

impl Delayed {
    /// How long a response waits whose source gives nothing for now.
    pub(crate) const AGAIN: Duration = Duration::from_millis(100);

    /// A response waits for so long; `false`: not at all.
    pub(crate) fn begin(&mut self, now: Time, stream: StreamId, span: Duration) -> bool {
        !span.is_zero() && self.0.insert((now + span, stream))
    }
    /// When the next one goes on.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.0.first().map(|(at, _)| *at)
    }
    /// One that goes on now.
    pub(crate) fn next(&mut self, now: Time) -> Option<StreamId> {
        self.wake_at().filter(|at| *at <= now)?;
        self.0.pop_first().map(|(_, stream)| stream)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_when_their_time_does() {
        let mut delayed = Delayed::default();
        let [a, b] = [0, 4].map(StreamId::from_value);
        assert!(!delayed.begin(Time::ZERO, a, Duration::ZERO));
        assert!(delayed.begin(Time::ZERO, a, Duration::from_millis(5)));
        assert!(delayed.begin(Time::ZERO, b, Duration::from_millis(3)));
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        assert_eq!((delayed.wake_at(), delayed.next(at(2))), (Some(at(3)), None));
        assert_eq!((delayed.next(at(5)), delayed.next(at(5)), delayed.next(at(5))), (Some(b), Some(a), None));
    }
}
