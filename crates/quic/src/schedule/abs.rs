//! Absolute priority: ABS of Fernández et al., "Exploiting stream scheduling in QUIC: Performance assessment over wireless
//! connectivity scenarios", 2024.

use super::heap::{Heap, rank};
use super::{PathView, Priority, RETRANSMISSIONS, Scheduler, StreamKey, entry};
use units::Time;
use units::parameter::Row;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "abs",
    about: "absolute priority: the most urgent stream as long as it has data, then the next",
    parameters: &[RETRANSMISSIONS],
    build: &|_| Box::new(Absolute::default()),
};

/// What is known of a stream.
#[derive(Debug)]
struct State {
    urgency: u8,
    /// When it became ready, among all.
    since: u64,
}

impl Default for State {
    fn default() -> State {
        State { urgency: Priority::default().urgency, since: 0 }
    }
}

/// Ready streams by urgency. Of equally urgent ones that one goes first, and until it has no data left, which has been
/// ready longest: a new stream, or one that was blocked, comes last of its urgency. A stream that has sent its FIN leaves.
/// A stream starves as long as more urgent ones have data.
#[derive(Debug, Default)]
pub struct Absolute {
    ready: Heap<u128>,
    states: Vec<State>,
    /// How many became ready.
    count: u64,
}

impl Scheduler for Absolute {
    fn on_ready(&mut self, stream: StreamKey, _now: Time) {
        self.count += 1;
        let state = entry(&mut self.states, stream.slot);
        if self.ready.rank(stream).is_none() {
            state.since = self.count;
            self.ready.join(stream, rank(u64::from(state.urgency), state.since));
        }
    }
    fn on_sent(&mut self, _stream: StreamKey, _bytes: u64) {}
    fn on_idle(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
    }
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        let state = entry(&mut self.states, stream.slot);
        state.urgency = priority.urgency;
        self.ready.change(stream, rank(u64::from(state.urgency), state.since));
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
    use super::super::testing::{key, turns, urgency};
    use super::*;

    #[test]
    fn the_most_urgent_stream_has_all() {
        let mut abs = Absolute::default();
        for slot in 0..3 {
            abs.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut abs, 3), [0, 0, 0]);
        abs.on_priority(key(2), urgency(1));
        assert_eq!(turns(&mut abs, 3), [2, 2, 2]);
        abs.on_idle(key(2));
        assert_eq!(turns(&mut abs, 2), [0, 0]);
        abs.on_idle(key(0));
        abs.on_ready(key(0), Time::ZERO);
        assert_eq!(turns(&mut abs, 1), [1], "who comes back comes last");
        abs.on_ready(key(2), Time::ZERO);
        assert_eq!(turns(&mut abs, 1), [2], "it is urgent still");
    }
}
