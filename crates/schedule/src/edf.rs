//! Earliest deadline first.

use super::heap::rank;
use super::{Discipline, Head, Priority, Ranked, SchedulerOptions, StreamKey};
use units::parameter::{Options, Row};
use units::{Duration, Time};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "edf",
    about: "earliest deadline first, of a stream or of its data by a latency budget; streams without a deadline last",
    parameters: SchedulerOptions::PARAMETERS,
    build: &|_| Box::new(Ranked::<Edf>::default()),
};

/// The state of a stream.
#[derive(Debug)]
pub struct State {
    head: Head,
    deadline: Time,
    latency: Duration,
}

impl Default for State {
    fn default() -> State {
        State { head: Head::default(), deadline: Time::NEVER, latency: Duration::MAX }
    }
}

/// Orders ready streams by the deadline of their next data: the deadline of the stream, or the time of writing plus the
/// latency budget, whichever is earlier. Ties, and streams without a deadline, which come last, are in the order of
/// writing. Late data goes first, since its deadline is the earliest. An unblocked stream returns with the deadline of
/// its data; a FIN has that of the data before it. Lost data keeps its deadline.
#[derive(Debug)]
pub struct Edf;

impl Discipline for Edf {
    type State = State;
    type Rank = u128;
    const BY_DATA: bool = true;

    #[inline]
    fn rank(_: StreamKey, state: &State) -> u128 {
        // Time addition saturates: without a budget the deadline is infinite.
        let deadline = state.deadline.min(state.head.written + state.latency);
        rank(deadline.as_nanos(), state.head.order)
    }
    fn set_priority(state: &mut State, priority: Priority) {
        state.deadline = priority.deadline.unwrap_or(Time::NEVER);
        state.latency = priority.latency.unwrap_or(Duration::MAX);
    }
    fn set_head(state: &mut State, head: Head) {
        state.head = head;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scheduler;
    use super::super::testing::{head, key, turns};
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_earliest_deadline_goes_first() {
        let mut edf = Ranked::<Edf>::default();
        let latency = |ms| Priority { latency: Some(Duration::from_millis(ms)), ..Priority::default() };
        edf.on_priority(key(1), latency(50));
        edf.on_priority(key(2), Priority { deadline: Some(at(40)), ..latency(100) });
        for (slot, written, order) in [(0, 0, 1), (1, 0, 2), (2, 0, 3), (3, 0, 4)] {
            edf.on_head(key(slot), head(written, order));
            edf.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut edf, 1), [2]);
        edf.on_priority(key(2), latency(100));
        assert_eq!(turns(&mut edf, 1), [1], "a budget of 50 ms against one of 100 ms");
        edf.on_head(key(1), head(60, 5));
        assert_eq!(turns(&mut edf, 1), [2], "110 ms against 100 ms");
        edf.on_idle(key(1));
        edf.on_idle(key(2));
        assert_eq!(turns(&mut edf, 1), [0], "without a deadline: the first that was written");
        edf.on_priority(key(3), latency(10_000));
        assert_eq!(turns(&mut edf, 1), [3], "any deadline is earlier than none");
    }
}
