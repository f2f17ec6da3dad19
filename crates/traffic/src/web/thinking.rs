//! Answers that a server has, and does not give yet.

use std::collections::BTreeSet;
use units::{Duration, Time};
use wire::StreamId;

/// Requests that a server thinks about, by the time until which it does.
#[derive(Debug, Default)]
pub(crate) struct Thinking(BTreeSet<(Time, StreamId)>);

impl Thinking {
    /// How long a response waits whose source gives nothing for now.
    pub(crate) const AGAIN: Duration = Duration::from_millis(100);

    /// A request is thought about for so long; `false`: not at all.
    pub(crate) fn begin(&mut self, now: Time, stream: StreamId, span: Duration) -> bool {
        !span.is_zero() && self.0.insert((now + span, stream))
    }
    /// When the next one is to be answered.
    pub(crate) fn wake_at(&self) -> Option<Time> {
        self.0.first().map(|(at, _)| *at)
    }
    /// One that is to be answered now.
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
        let mut thinking = Thinking::default();
        let [a, b] = [0, 4].map(StreamId::from_value);
        assert!(!thinking.begin(Time::ZERO, a, Duration::ZERO));
        assert!(thinking.begin(Time::ZERO, a, Duration::from_millis(5)));
        assert!(thinking.begin(Time::ZERO, b, Duration::from_millis(3)));
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        assert_eq!((thinking.wake_at(), thinking.next(at(2))), (Some(at(3)), None));
        assert_eq!(
            (thinking.next(at(5)), thinking.next(at(5)), thinking.next(at(5))),
            (Some(b), Some(a), None)
        );
    }
}
