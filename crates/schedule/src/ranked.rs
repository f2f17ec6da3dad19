//! The common part of all schedulers that order ready streams by a rank.

use super::heap::Heap;
use super::{Head, PathView, Priority, Scheduler, StreamKey, entry};
use std::fmt::Debug;
use units::Time;

/// The rank by which a [`Ranked`] scheduler orders streams, and its state per stream.
pub trait Discipline: Debug + Send {
    /// The state of an open stream, initially the default.
    type State: Debug + Default + Send;
    /// The lowest rank goes first. No two ready streams may have the same rank.
    type Rank: Debug + Ord + Copy + Send;

    /// Whether ranks depend on when data was written (default: no): see [`Scheduler::on_head`].
    const BY_DATA: bool = false;

    /// The rank of a stream with this state.
    fn rank(stream: StreamKey, state: &Self::State) -> Self::Rank;
    /// The application has set the priority of the stream.
    fn set_priority(state: &mut Self::State, priority: Priority) {
        let _ = (state, priority);
    }
    /// The stream's next data has changed. Only called with [`Discipline::BY_DATA`].
    fn set_head(state: &mut Self::State, head: Head) {
        let _ = (state, head);
    }
    /// The stream has become ready or [passes](Discipline::passes) its turn. Its place is behind all earlier ones,
    /// which have lower numbers.
    fn set_place(state: &mut Self::State, place: u64) {
        let _ = (state, place);
    }
    /// Whether a stream gets a new [place](Discipline::set_place) after each turn (default: no, it stays first as long
    /// as its rank is the lowest).
    #[inline]
    fn passes(state: &Self::State) -> bool {
        let _ = state;
        false
    }
}

/// A scheduler by rank: the ready stream with the lowest rank goes next, with updates in O(log n). A stream joins with
/// its rank when it becomes ready, and leaves when it has nothing to send or is blocked; its state remains until it is
/// closed. A new priority takes effect at once.
#[derive(Debug)]
pub struct Ranked<D: Discipline> {
    ready: Heap<D::Rank>,
    /// By slot.
    states: Vec<D::State>,
    /// The number of places given so far.
    places: u64,
}

impl<D: Discipline> Default for Ranked<D> {
    fn default() -> Ranked<D> {
        Ranked { ready: Heap::default(), states: Vec::new(), places: 0 }
    }
}

impl<D: Discipline> Scheduler for Ranked<D> {
    fn wants_heads(&self) -> bool {
        D::BY_DATA
    }
    fn on_ready(&mut self, stream: StreamKey, _now: Time) {
        self.places += 1;
        let state = entry(&mut self.states, stream.slot);
        D::set_place(state, self.places);
        self.ready.join(stream, D::rank(stream, state));
    }
    fn on_head(&mut self, stream: StreamKey, head: Head) {
        let state = entry(&mut self.states, stream.slot);
        D::set_head(state, head);
        self.ready.change(stream, D::rank(stream, state));
    }
    #[inline]
    fn on_sent(&mut self, stream: StreamKey, _bytes: u64) {
        let Some(state) = self.states.get_mut(stream.slot as usize).filter(|state| D::passes(state)) else {
            return;
        };
        self.places += 1;
        D::set_place(state, self.places);
        self.ready.change(stream, D::rank(stream, state));
    }
    fn on_idle(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
    }
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        let state = entry(&mut self.states, stream.slot);
        D::set_priority(state, priority);
        self.ready.change(stream, D::rank(stream, state));
    }
    fn on_closed(&mut self, stream: StreamKey) {
        self.ready.leave(stream);
        if let Some(state) = self.states.get_mut(stream.slot as usize) {
            *state = D::State::default();
        }
    }
    #[inline]
    fn next(&mut self, _view: &PathView) -> Option<StreamKey> {
        self.ready.first()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{VIEW, key, turns, urgency};
    use super::*;

    /// Orders by urgency: streams of urgency 0 keep the turn, the others take turns.
    #[derive(Debug)]
    struct Mixed;

    impl Discipline for Mixed {
        type State = (u8, u64);
        type Rank = (u8, u64);
        fn rank(_: StreamKey, state: &(u8, u64)) -> (u8, u64) {
            *state
        }
        fn set_priority(state: &mut (u8, u64), priority: Priority) {
            state.0 = priority.urgency;
        }
        fn set_place(state: &mut (u8, u64), place: u64) {
            state.1 = place;
        }
        fn passes(state: &(u8, u64)) -> bool {
            state.0 > 0
        }
    }

    #[test]
    fn streams_that_pass_come_last_of_their_rank() {
        let mut ranked = Ranked::<Mixed>::default();
        for slot in 0..3 {
            ranked.on_priority(key(slot), urgency(1));
            ranked.on_ready(key(slot), Time::ZERO);
        }
        assert_eq!(turns(&mut ranked, 4), [0, 1, 2, 0]);
        ranked.on_idle(key(1));
        ranked.on_ready(key(1), Time::ZERO);
        assert_eq!(turns(&mut ranked, 3), [2, 0, 1], "who comes back comes last");
        ranked.on_priority(key(1), urgency(0));
        assert_eq!(turns(&mut ranked, 3), [1, 1, 1]);
        ranked.on_priority(key(1), urgency(1));
        assert_eq!(turns(&mut ranked, 3), [2, 0, 1], "a priority that changes and comes back costs no place");
    }

    #[test]
    fn a_reused_slot_starts_with_the_default_state() {
        let mut ranked = Ranked::<Mixed>::default();
        ranked.on_closed(key(9));
        assert_eq!(ranked.states.len(), 0, "a stream that never sent leaves nothing");
        ranked.on_priority(key(0), urgency(7));
        ranked.on_ready(key(0), Time::ZERO);
        ranked.on_closed(key(0));
        assert_eq!(ranked.next(&VIEW), None);
        assert_eq!(ranked.states, [(0, 0)]);
        assert!(!ranked.wants_heads());
    }
}
