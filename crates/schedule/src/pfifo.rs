//! First in, first out within each urgency: PFIFO as in the ns-3 QUIC module, where the levels are stream ids.

use super::heap::rank;
use super::{Discipline, Head, Priority, Ranked, SchedulerOptions, StreamKey};
use units::parameter::{Options, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "pfifo",
    about: "first in, first out within each urgency, the most urgent first",
    parameters: SchedulerOptions::PARAMETERS,
    build: &|_| Box::new(Ranked::<Pfifo>::default()),
};

/// The state of a stream.
#[derive(Debug)]
pub struct State {
    urgency: u8,
    /// The order of the stream's next data.
    order: u64,
}

impl Default for State {
    fn default() -> State {
        State { urgency: Priority::default().urgency, order: 0 }
    }
}

/// Orders ready streams by urgency, and within an urgency by the time at which their next data was written. No two
/// writes are equal, so there are no ties. An unblocked stream returns at the position of its data; a FIN goes with the
/// data before it. A stream starves as long as more urgent ones have data.
#[derive(Debug)]
pub struct Pfifo;

impl Discipline for Pfifo {
    type State = State;
    type Rank = u128;
    const BY_DATA: bool = true;

    #[inline]
    fn rank(_: StreamKey, state: &State) -> u128 {
        rank(u64::from(state.urgency), state.order)
    }
    fn set_priority(state: &mut State, priority: Priority) {
        state.urgency = priority.urgency;
    }
    fn set_head(state: &mut State, head: Head) {
        state.order = head.order;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scheduler;
    use super::super::testing::{head, key, turns, urgency};
    use super::*;
    use units::Time;

    #[test]
    fn the_most_urgent_and_then_the_oldest_data_goes_first() {
        let mut pfifo = Ranked::<Pfifo>::default();
        pfifo.on_priority(key(2), urgency(0));
        for (slot, order) in [(0, 1), (1, 2), (2, 3)] {
            pfifo.on_head(key(slot), head(0, order));
            pfifo.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut pfifo, 1), [2]);
        pfifo.on_idle(key(2));
        assert_eq!(turns(&mut pfifo, 1), [0]);
        pfifo.on_head(key(0), head(0, 4));
        assert_eq!(turns(&mut pfifo, 1), [1]);
        pfifo.on_priority(key(0), urgency(1));
        assert_eq!(turns(&mut pfifo, 1), [0], "at any time");
        pfifo.on_closed(key(0));
        pfifo.on_head(key(0), head(0, 5));
        pfifo.on_ready(key(0), Time::ZERO);
        assert_eq!(turns(&mut pfifo, 1), [1], "the slot's next stream is as urgent as any");
    }
}
