//! The priorities of HTTP: urgency and incremental (RFC 9218 section 10).

use super::heap::rank;
use super::{Discipline, Priority, Ranked, SchedulerOptions, StreamKey};
use units::parameter::{Options, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "rfc9218",
    about: "by urgency; within one urgency first the streams that are not incremental, by id, then the others in turn",
    parameters: SchedulerOptions::PARAMETERS,
    build: &|_| Box::new(Ranked::<Rfc9218>::default()),
};

/// The state of a stream.
#[derive(Debug)]
pub struct State {
    urgency: u8,
    incremental: bool,
    /// A counter value of when it became ready, or had its last turn as an incremental stream.
    place: u64,
}

impl Default for State {
    fn default() -> State {
        // RFC 9218 sections 4.1 and 4.2: urgency 3, not incremental.
        let Priority { urgency, incremental, .. } = Priority::default();
        State { urgency, incremental, place: 0 }
    }
}

/// Orders ready streams by urgency (RFC 9218 section 10: "it is RECOMMENDED that, when possible, servers send higher
/// urgency responses before lower urgency responses"). Within an urgency the non-incremental streams go first, each
/// until its data is sent, by ascending id; then the incremental ones take turns of a packet each. The RFC does not
/// specify how both share an urgency. There are no ties. A new or unblocked stream takes the position of its id, or
/// comes last of the incremental ones; a stream whose urgency changes is placed among these by its last turn. A stream
/// starves as long as others go before it.
#[derive(Debug)]
pub struct Rfc9218;

impl Discipline for Rfc9218 {
    type State = State;
    type Rank = u128;

    #[inline]
    fn rank(stream: StreamKey, state: &State) -> u128 {
        // An urgency has two levels: incremental streams come after the others.
        let level = u64::from(state.urgency) * 2 + u64::from(state.incremental);
        rank(level, if state.incremental { state.place } else { stream.id.value() })
    }
    fn set_priority(state: &mut State, Priority { urgency, incremental, .. }: Priority) {
        (state.urgency, state.incremental) = (urgency, incremental);
    }
    fn set_place(state: &mut State, place: u64) {
        state.place = place;
    }
    #[inline]
    fn passes(state: &State) -> bool {
        state.incremental
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scheduler;
    use super::super::testing::{key, turns};
    use super::*;
    use units::Time;

    fn set(scheduler: &mut Ranked<Rfc9218>, slot: u32, urgency: u8, incremental: bool) {
        scheduler.on_priority(key(slot), Priority { urgency, incremental, ..Priority::default() });
    }

    #[test]
    fn urgency_then_whole_ones_by_id_then_turns() {
        let mut scheduler = Ranked::<Rfc9218>::default();
        set(&mut scheduler, 0, 3, true);
        set(&mut scheduler, 1, 3, true);
        set(&mut scheduler, 4, 0, false);
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
        set(&mut scheduler, 0, 2, true);
        assert_eq!(turns(&mut scheduler, 2), [0, 0], "at any time");
        set(&mut scheduler, 0, 3, true);
        assert_eq!(turns(&mut scheduler, 3), [1, 0, 1]);
    }

    /// RFC 9218 sections 4.1 and 4.2: the default is urgency 3, not incremental. Section 10: non-incremental responses
    /// go in the order of their stream ids, whenever they become ready.
    #[test]
    fn without_priorities_the_ids_decide() {
        let mut scheduler = Ranked::<Rfc9218>::default();
        set(&mut scheduler, 1, 2, true);
        set(&mut scheduler, 2, 3, true);
        set(&mut scheduler, 3, 4, false);
        for slot in [3, 2, 1] {
            scheduler.on_ready(key(slot), Time::ZERO);
        }
        scheduler.on_ready(key(6), Time::ZERO);
        assert_eq!(turns(&mut scheduler, 1), [1]);
        scheduler.on_idle(key(1));
        assert_eq!(turns(&mut scheduler, 2), [6, 6], "urgency 3 and not incremental");
        scheduler.on_ready(key(5), Time::ZERO);
        assert_eq!(turns(&mut scheduler, 2), [5, 5], "a lower id that comes late");
        scheduler.on_closed(key(5));
        scheduler.on_closed(key(6));
        assert_eq!(turns(&mut scheduler, 1), [2]);
        scheduler.on_idle(key(2));
        assert_eq!(turns(&mut scheduler, 1), [3]);
    }

    /// A response that changes its urgency and back takes only the turn that it has missed.
    #[test]
    fn changing_the_urgency_neither_costs_nor_gains_turns() {
        let mut scheduler = Ranked::<Rfc9218>::default();
        for slot in 0..3 {
            set(&mut scheduler, slot, 3, true);
            scheduler.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut scheduler, 2), [0, 1]);
        set(&mut scheduler, 2, 7, true);
        assert_eq!(turns(&mut scheduler, 2), [0, 1]);
        set(&mut scheduler, 2, 3, true);
        set(&mut scheduler, 2, 3, true);
        assert_eq!(turns(&mut scheduler, 4), [2, 0, 1, 2]);
    }
}
