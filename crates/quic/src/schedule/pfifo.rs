//! First in, first out within levels of urgency: PFIFO, as the ns-3 QUIC module has it for levels that are stream ids.

use super::heap::{Heap, rank};
use super::{Head, PathView, Priority, RETRANSMISSIONS, Scheduler, StreamKey, entry};
use units::Time;
use units::parameter::Row;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "pfifo",
    about: "first in, first out within each urgency, the most urgent first",
    parameters: &[RETRANSMISSIONS],
    build: &|_| Box::new(Pfifo::default()),
};

/// What is known of a stream.
#[derive(Debug)]
struct State {
    urgency: u8,
    /// The order of what it would send next.
    order: u64,
}

impl Default for State {
    fn default() -> State {
        State { urgency: Priority::default().urgency, order: 0 }
    }
}

/// Ready streams by urgency, and within one urgency in the order in which the data was written that each would send next.
/// No two writes are equal, so there are no ties. A stream that was blocked comes back at the place of its data; a FIN
/// goes with the data before it. A stream starves as long as more urgent ones have data.
#[derive(Debug, Default)]
pub struct Pfifo {
    ready: Heap<u128>,
    states: Vec<State>,
}

impl Pfifo {
    fn rank(&mut self, stream: StreamKey, tell: impl FnOnce(&mut State)) -> u128 {
        let state = entry(&mut self.states, stream.slot);
        tell(state);
        rank(u64::from(state.urgency), state.order)
    }
}

impl Scheduler for Pfifo {
    fn wants_heads(&self) -> bool {
        true
    }
    fn on_head(&mut self, stream: StreamKey, head: Head) {
        let rank = self.rank(stream, |state| state.order = head.order);
        self.ready.change(stream, rank);
    }
    fn on_ready(&mut self, stream: StreamKey, _now: Time) {
        let rank = self.rank(stream, |_| {});
        self.ready.join(stream, rank);
    }
    fn on_sent(&mut self, _stream: StreamKey, _bytes: u64) {}
    fn on_idle(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
    }
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        let rank = self.rank(stream, |state| state.urgency = priority.urgency);
        self.ready.change(stream, rank);
    }
    fn on_closed(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
        *entry(&mut self.states, stream.slot) = State::default();
    }
    fn next(&mut self, _view: &PathView) -> Option<StreamKey> {
        self.ready.first()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{head, key, turns, urgency};
    use super::*;

    #[test]
    fn the_most_urgent_data_that_was_written_first() {
        let mut pfifo = Pfifo::default();
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
