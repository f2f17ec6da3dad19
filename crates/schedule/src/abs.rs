//! Absolute priority: ABS of Fernández et al., "Exploiting stream scheduling in QUIC: Performance assessment over wireless
//! connectivity scenarios", 2024.

use super::heap::rank;
use super::{Discipline, Priority, Ranked, SchedulerOptions, StreamKey};
use units::parameter::{Options, Row};

pub(crate) const ROW: Row<super::Build> = Row {
    name: "abs",
    about: "absolute priority: the most urgent stream as long as it has data, then the next",
    parameters: SchedulerOptions::PARAMETERS,
    build: &|_| Box::new(Ranked::<Absolute>::default()),
};

/// The state of a stream.
#[derive(Debug)]
pub struct State {
    urgency: u8,
    /// A counter value of when the stream last became ready.
    since: u64,
}

impl Default for State {
    fn default() -> State {
        State { urgency: Priority::default().urgency, since: 0 }
    }
}

/// Orders ready streams by urgency. Among equally urgent streams, the one that has been ready longest sends all its
/// data first: a new or unblocked stream comes last of its urgency. A stream that has sent its FIN leaves. A stream
/// starves as long as more urgent ones have data.
#[derive(Debug)]
pub struct Absolute;

impl Discipline for Absolute {
    type State = State;
    type Rank = u128;

    #[inline]
    fn rank(_: StreamKey, state: &State) -> u128 {
        rank(u64::from(state.urgency), state.since)
    }
    fn set_priority(state: &mut State, priority: Priority) {
        state.urgency = priority.urgency;
    }
    fn set_place(state: &mut State, place: u64) {
        state.since = place;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scheduler;
    use super::super::testing::{key, turns, urgency};
    use super::*;
    use units::Time;

    #[test]
    fn the_most_urgent_stream_gets_everything() {
        let mut abs = Ranked::<Absolute>::default();
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
