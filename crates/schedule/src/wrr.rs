//! Weighted round robin by packets, called WFQ by Fernández et al., "Exploiting stream scheduling in QUIC: Performance
//! assessment over wireless connectivity scenarios", 2024.

use super::ring::Ring;
use super::{PathView, Priority, Scheduler, SchedulerOptions, StreamKey, entry};
use units::Time;
use units::parameter::{Options, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "wrr",
    about: "weighted round robin: as many turns in a row as the stream's weight, one packet's worth each",
    parameters: SchedulerOptions::PARAMETERS,
    build: &|_| Box::new(WeightedRoundRobin::default()),
};

/// The state of a stream.
#[derive(Debug)]
struct State {
    weight: u16,
    /// Turns left before the next stream.
    left: u16,
}

impl Default for State {
    fn default() -> State {
        State { weight: 1, left: 1 }
    }
}

/// The ring of ready streams. Each has as many consecutive turns as its weight, as if it were queued that often. A new
/// or unblocked stream comes last with all its turns; one that has sent everything, including its FIN, leaves.
#[derive(Debug, Default)]
pub struct WeightedRoundRobin {
    ring: Ring,
    states: Vec<State>,
}

impl Scheduler for WeightedRoundRobin {
    fn on_ready(&mut self, stream: StreamKey, _now: Time) {
        let state = entry(&mut self.states, stream.slot);
        state.left = state.weight;
        self.ring.join(stream);
    }
    fn on_sent(&mut self, stream: StreamKey, _bytes: u64) {
        if self.ring.is_front(stream) {
            let state = entry(&mut self.states, stream.slot);
            state.left -= 1;
            if state.left == 0 {
                state.left = state.weight;
                self.ring.rotate();
            }
        }
    }
    fn on_idle(&mut self, stream: StreamKey) {
        self.ring.leave(stream);
    }
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        let state = entry(&mut self.states, stream.slot);
        state.weight = priority.weight.max(1);
        state.left = if self.ring.is_front(stream) { state.left.min(state.weight) } else { state.weight };
    }
    fn on_closed(&mut self, stream: StreamKey) {
        self.ring.leave(stream);
        *entry(&mut self.states, stream.slot) = State::default();
    }
    fn next(&mut self, _view: &PathView) -> Option<StreamKey> {
        self.ring.front()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{key, turns, weight};
    use super::*;

    #[test]
    fn turns_in_a_row_by_weight() {
        let mut wrr = WeightedRoundRobin::default();
        wrr.on_priority(key(0), weight(3));
        wrr.on_ready(key(0), Time::ZERO);
        wrr.on_ready(key(1), Time::ZERO);
        assert_eq!(turns(&mut wrr, 8), [0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(turns(&mut wrr, 1), [0]);
        wrr.on_idle(key(0));
        wrr.on_ready(key(0), Time::ZERO);
        assert_eq!(turns(&mut wrr, 5), [1, 0, 0, 0, 1], "all its turns, behind the others");
        assert_eq!(turns(&mut wrr, 1), [0]);
        wrr.on_priority(key(0), weight(0));
        assert_eq!(turns(&mut wrr, 4), [0, 1, 0, 1], "0 counts as 1");
    }
}
