//! The best plan over a horizon: dynamic programming over the states that no other state makes superfluous.
//!
//! A state is the buffer, the quality of the last segment and the value of a plan so far. Two facts make one state superfluous
//! beside another. A second of buffer avoids at most a second of stalls. Another last quality changes what follows by at
//! most the weight of the change from one to the other. So a state can be left out if it is worth no more than another one,
//! even after the other one has paid for the difference in buffer and in quality. The result is exact.

/// The state after a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    /// The quality of experience so far.
    pub(super) value: f64,
    /// The first representation of the plan.
    pub(super) first: usize,
    /// The buffer in seconds.
    buffer: f64,
    /// The quality of the last segment, if there was one.
    quality: Option<f64>,
}

/// What holds for all representations of a segment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The duration of the segment in seconds.
    pub(super) duration: f64,
    /// The limit of the buffer in seconds.
    pub(super) max_buffer: f64,
    /// What a second of stalls costs.
    pub(super) rebuffering: f64,
    /// What a change of quality costs.
    pub(super) switching: f64,
    /// Whether the plan ends with it.
    pub(super) is_last: bool,
}

/// The states so far. Its memory is used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    states: Vec<State>,
    next: Vec<State>,
    is_begun: bool,
}

impl Search {
    /// Begins with a buffer in seconds and the quality of the last segment.
    pub(super) fn begin(&mut self, buffer: f64, quality: Option<f64>) {
        self.states.clear();
        self.states.push(State { value: 0.0, first: 0, buffer, quality });
        self.is_begun = false;
    }

    /// One more segment. Each option is the quality of a representation, and the seconds that its download takes.
    pub(super) fn advance(&mut self, step: &Step, options: impl Iterator<Item = (f64, f64)>) {
        self.next.clear();
        for (representation, (quality, time)) in options.enumerate() {
            for state in &self.states {
                let stall = (time - state.buffer).max(0.0);
                let change = state.quality.map_or(0.0, |last| (quality - last).abs());
                let gained = quality - step.rebuffering * stall - step.switching * change;
                let filled = (state.buffer - time).max(0.0) + step.duration;
                let state = State {
                    value: state.value + gained,
                    first: if self.is_begun { state.first } else { representation },
                    buffer: filled.min(step.max_buffer.max(step.duration)),
                    quality: Some(quality),
                };
                keep(&mut self.next, state, step);
            }
        }
        std::mem::swap(&mut self.states, &mut self.next);
        self.is_begun = true;
    }

    /// The state with the best value.
    pub(super) fn best(&self) -> State {
        let better = |best: State, state: &State| if state.value > best.value { *state } else { best };
        self.states.iter().fold(self.states[0], better)
    }
}

/// Adds a state, unless it is superfluous, and removes those that it makes superfluous.
fn keep(states: &mut Vec<State>, state: State, step: &Step) {
    if step.is_last {
        // Only the value counts.
        match states.first_mut() {
            Some(best) if best.value >= state.value => {}
            Some(best) => *best = state,
            None => states.push(state),
        }
        return;
    }
    let covers = |one: &State, other: &State| {
        let buffer = step.rebuffering * (other.buffer - one.buffer).max(0.0);
        let quality = match (one.quality, other.quality) {
            (Some(a), Some(b)) => step.switching * (a - b).abs(),
            _ => 0.0,
        };
        one.value - buffer - quality >= other.value
    };
    if states.iter().any(|other| covers(other, &state)) {
        return;
    }
    states.retain(|other| !covers(&state, other));
    states.push(state);
}
