//! The priorities of HTTP: urgency and incremental (RFC 9218 section 10).

use super::heap::{Heap, rank};
use super::{PathView, Priority, RETRANSMISSIONS, Scheduler, StreamKey, entry};
use units::Time;
use units::parameter::Row;

pub(crate) const ROW: Row<super::Build> = Row {
    name: "rfc9218",
    about: "by urgency; within one urgency first the streams that are not incremental, by id, then the others in turns",
    parameters: &[RETRANSMISSIONS],
    build: &|_| Box::new(Rfc9218::default()),
};

/// What is known of a stream.
#[derive(Debug)]
struct State {
    urgency: u8,
    incremental: bool,
}

impl Default for State {
    fn default() -> State {
        let Priority { urgency, incremental, .. } = Priority::default();
        State { urgency, incremental }
    }
}

/// Ready streams by urgency (RFC 9218 section 10: "it is RECOMMENDED that, when possible, servers send higher urgency
/// responses before lower urgency responses"). Within one urgency those that are not incremental go first, each until it
/// has no data left, by ascending id; then the incremental ones share by taking turns, a packet each. The RFC leaves open
/// how both share one urgency. There are no ties. A new stream, or one that was blocked, takes the place of its id, or
/// comes last of the incremental ones. A stream starves as long as others go before it.
#[derive(Debug, Default)]
pub struct Rfc9218 {
    ready: Heap<u128>,
    states: Vec<State>,
    /// How often an incremental stream was put last.
    turns: u64,
}

impl Rfc9218 {
    fn rank(&mut self, stream: StreamKey) -> u128 {
        let state = entry(&mut self.states, stream.slot);
        // An urgency has two levels: the incremental streams of one come behind the others.
        let level = u64::from(state.urgency) * 2 + u64::from(state.incremental);
        if !state.incremental {
            return rank(level, stream.id.value());
        }
        self.turns += 1;
        rank(level, self.turns)
    }
}

impl Scheduler for Rfc9218 {
    fn on_ready(&mut self, stream: StreamKey, _now: Time) {
        let rank = self.rank(stream);
        self.ready.join(stream, rank);
    }
    #[inline]
    fn on_sent(&mut self, stream: StreamKey, _bytes: u64) {
        if entry(&mut self.states, stream.slot).incremental {
            let rank = self.rank(stream);
            self.ready.change(stream, rank);
        }
    }
    fn on_idle(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
    }
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        let state = entry(&mut self.states, stream.slot);
        let Priority { urgency, incremental, .. } = priority;
        if (state.urgency, state.incremental) != (urgency, incremental) {
            *state = State { urgency, incremental };
            let rank = self.rank(stream);
            self.ready.change(stream, rank);
        }
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
    use super::super::testing::{key, turns};
    use super::*;

    fn tell(scheduler: &mut Rfc9218, slot: u32, urgency: u8, incremental: bool) {
        scheduler.on_priority(key(slot), Priority { urgency, incremental, ..Priority::default() });
    }

    #[test]
    fn urgency_then_whole_ones_by_id_then_turns() {
        let mut scheduler = Rfc9218::default();
        tell(&mut scheduler, 0, 3, true);
        tell(&mut scheduler, 1, 3, true);
        tell(&mut scheduler, 4, 0, false);
        for slot in [4, 3, 2, 1, 0] {
            scheduler.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut scheduler, 2), [4, 4]);
        scheduler.on_idle(key(4));
        assert_eq!(turns(&mut scheduler, 2), [2, 2], "the lower id");
        scheduler.on_idle(key(2));
        assert_eq!(turns(&mut scheduler, 2), [3, 3]);
        scheduler.on_idle(key(3));
        assert_eq!(turns(&mut scheduler, 4), [1, 0, 1, 0]);
        tell(&mut scheduler, 0, 2, true);
        assert_eq!(turns(&mut scheduler, 2), [0, 0], "at any time");
        tell(&mut scheduler, 0, 3, true);
        assert_eq!(turns(&mut scheduler, 3), [1, 0, 1]);
    }
}
