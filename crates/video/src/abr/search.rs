//! The best plan over a horizon: a search over states, with bounds that leave few of them. Its result is exact.
//!
//! A state is the buffer, the quality of the last segment and the value of a plan so far. It is left out for one of two
//! reasons. (Before that, plans with one representation, and a search that keeps the few best states of each segment, find a
//! good plan.)
//!
//! * It cannot lead to more than a plan that is known. Let T be the time that the remaining downloads take, D the time that
//!   they add to the buffer B before the last of them, and mu the price of a second of stalls. Stalls are at least T - B - D.
//!   For every price p up to mu, the remaining value is therefore at most p (B + D) plus the best sum of qualities and
//!   changes in which each second of a download costs p. That sum has no buffer in it, and is found for all last
//!   representations at once. The prices are found by bisection: where T exceeds B + D, a higher one is closer.
//! * Another state makes it superfluous. A second of buffer avoids at most a second of stalls, and another last quality
//!   changes what follows by at most the weight of the change from one to the other. So a state is left out if it is worth no
//!   more than another one, even after the other one has paid for the difference in buffer and in quality.

/// The weights, and the limit of the buffer in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    /// What a second of stalls costs.
    pub(super) rebuffering: f64,
    /// What a change of quality by one costs.
    pub(super) switching: f64,
    /// The limit of the buffer; a segment waits until it has room, which it always has in an empty one.
    pub(super) max_buffer: f64,
}

/// The best plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plan {
    /// Its quality of experience.
    pub(super) value: f64,
    /// Its first representation.
    pub(super) first: usize,
}

/// The prices that are tried at most, the two ends among them.
const PRICES: usize = 9;
/// The states of a segment in a first search, which finds a good plan.
const BEAM: usize = 6;
/// A plan has to exceed the best one by this: less is rounding.
const SLACK: f64 = 1e-12;

/// The state after a plan.
#[derive(Debug, Clone, Copy)]
struct State {
    value: f64,
    first: usize,
    /// The buffer in seconds.
    buffer: f64,
    /// The quality of the last segment, if there was one.
    quality: Option<f64>,
    /// The most that it can reach.
    most: f64,
}

/// A representation of a segment: its quality, and the seconds that its download takes.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    quality: f64,
    time: f64,
}

/// A segment of the horizon.
#[derive(Debug, Clone, Copy)]
struct Segment {
    duration: f64,
    /// Where its candidates begin and end.
    begin: usize,
    end: usize,
    /// The media that it and those after it add to the buffer before the last download.
    added: f64,
}

/// What follows a candidate at a price: the best sum, and the candidate of the next segment with which it begins.
#[derive(Debug, Clone, Copy)]
struct Rest {
    value: f64,
    next: usize,
}

/// The segments of a horizon, and what is known of their plans. Its memory is used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    segments: Vec<Segment>,
    candidates: Vec<Candidate>,
    prices: Vec<f64>,
    /// What follows each candidate, for each of the prices.
    rests: Vec<Rest>,
    /// The value of each candidate with what follows, for one price.
    worth: Vec<f64>,
    states: Vec<State>,
    next: Vec<State>,
}

impl Search {
    /// Removes all segments.
    pub(super) fn clear(&mut self) {
        self.segments.clear();
        self.candidates.clear();
    }

    /// One more segment: its duration in seconds, and the quality and the seconds of each representation; at least one.
    pub(super) fn add(&mut self, duration: f64, representations: impl Iterator<Item = (f64, f64)>) {
        let begin = self.candidates.len();
        self.candidates.extend(representations.map(|(quality, time)| Candidate { quality, time }));
        self.segments.push(Segment { duration, begin, end: self.candidates.len(), added: 0.0 });
    }

    /// The best plan for the segments, of which there is at least one, from a buffer in seconds and the quality of the segment
    /// before.
    pub(super) fn solve(&mut self, terms: &Terms, buffer: f64, last: Option<f64>) -> Plan {
        let mut added = 0.0;
        for (index, segment) in self.segments.iter_mut().rev().enumerate() {
            added += if index == 0 { 0.0 } else { segment.duration };
            segment.added = added;
        }
        let root = State { value: 0.0, first: 0, buffer, quality: last, most: f64::INFINITY };
        let (best, is_proved) = self.bound(terms, &root);
        if is_proved {
            return best;
        }
        let best = self.constant(terms, &root, best);
        let best = self.explore(terms, &root, best, BEAM);
        self.explore(terms, &root, best, usize::MAX)
    }

    /// Finds prices, and the best of the plans that are best at one of them. The flag says that no plan can be better.
    fn bound(&mut self, terms: &Terms, root: &State) -> (Plan, bool) {
        self.prices.clear();
        self.rests.clear();
        let room = root.buffer + self.segments[0].added;
        let (mut low, mut high) = (0.0, terms.rebuffering);
        let mut best = Plan { value: f64::NEG_INFINITY, first: 0 };
        for round in 0..PRICES {
            let price = match round {
                0 => low,
                1 => high,
                _ => (low + high) / 2.0,
            };
            let (value, first) = self.tabulate(terms, root, price);
            let (plan, time) = self.follow(terms, root, first);
            if plan.value > best.value {
                best = plan;
            }
            if best.value + SLACK >= value + price * room {
                return (best, true);
            }
            // The bound is convex in the price. It is the least where the time is that of the room.
            let is_short = time > room;
            match round {
                0 if !is_short => break,
                1 if is_short => break,
                0 | 1 => {}
                _ if is_short => low = price,
                _ => high = price,
            }
        }
        (best, false)
    }

    /// What follows each candidate at a price. Returns the best sum of all segments, and the candidate with which it begins.
    fn tabulate(&mut self, terms: &Terms, root: &State, price: f64) -> (f64, usize) {
        let base = self.rests.len();
        self.rests.resize(base + self.candidates.len(), Rest { value: 0.0, next: 0 });
        self.worth.resize(self.candidates.len(), 0.0);
        self.prices.push(price);
        let mut after: Option<Segment> = None;
        for segment in self.segments.iter().rev() {
            for at in segment.begin..segment.end {
                let Candidate { quality, time } = self.candidates[at];
                if let Some(after) = after {
                    let (value, next) = self.best_next(terms, Some(quality), &after);
                    self.rests[base + at] = Rest { value, next };
                }
                self.worth[at] = quality - price * time + self.rests[base + at].value;
            }
            after = Some(*segment);
        }
        self.best_next(terms, root.quality, &self.segments[0])
    }

    /// The candidate of a segment that is worth most after a quality.
    fn best_next(&self, terms: &Terms, quality: Option<f64>, segment: &Segment) -> (f64, usize) {
        let range = segment.begin..segment.end;
        let (mut best, mut next) = (f64::NEG_INFINITY, segment.begin);
        for (offset, (candidate, worth)) in
            self.candidates[range.clone()].iter().zip(&self.worth[range]).enumerate()
        {
            let change = quality.map_or(0.0, |quality| (candidate.quality - quality).abs());
            let value = worth - terms.switching * change;
            if value > best {
                (best, next) = (value, segment.begin + offset);
            }
        }
        (best, next)
    }

    /// The plan that begins with a candidate and is best at the last price, and the time of its downloads.
    fn follow(&self, terms: &Terms, root: &State, first: usize) -> (Plan, f64) {
        let base = self.rests.len() - self.candidates.len();
        let (mut state, mut at, mut time) = (*root, first, 0.0);
        for segment in &self.segments {
            let candidate = &self.candidates[at];
            state = state.after(terms, segment, candidate);
            time += candidate.time;
            at = self.rests[base + at].next;
        }
        (Plan { value: state.value, first: first - self.segments[0].begin }, time)
    }

    /// The better one of a plan and all those that stay at one representation.
    fn constant(&self, terms: &Terms, root: &State, mut best: Plan) -> Plan {
        let first = self.segments[0];
        for number in 0..first.end - first.begin {
            let mut state = *root;
            for segment in &self.segments {
                let at = (segment.begin + number).min(segment.end - 1);
                state = state.after(terms, segment, &self.candidates[at]);
            }
            if state.value > best.value {
                best = Plan { value: state.value, first: number };
            }
        }
        best
    }

    /// The most that a state can reach after a candidate, `added` being the media of the segments that remain.
    fn most(&self, state: &State, candidate: usize, added: f64) -> f64 {
        let mut least = f64::INFINITY;
        for (price, rests) in self.prices.iter().zip(self.rests.chunks_exact(self.candidates.len())) {
            least = least.min(rests[candidate].value + price * (state.buffer + added));
        }
        state.value + least
    }

    /// Goes through the states, segment by segment, from a plan that is known.
    fn explore(&mut self, terms: &Terms, root: &State, mut best: Plan, beam: usize) -> Plan {
        self.states.clear();
        self.states.push(*root);
        for number in 0..self.segments.len() {
            let segment = self.segments[number];
            let remaining = self.segments.get(number + 1).map(|next| next.added);
            let mut next = std::mem::take(&mut self.next);
            next.clear();
            for at in segment.begin..segment.end {
                for before in &self.states {
                    let mut state = before.after(terms, &segment, &self.candidates[at]);
                    if number == 0 {
                        state.first = at - segment.begin;
                    }
                    match remaining {
                        Some(added) => {
                            state.most = self.most(&state, at, added);
                            if state.most > best.value + SLACK {
                                keep(&mut next, state, terms);
                            }
                        }
                        None if state.value > best.value + SLACK => {
                            best = Plan { value: state.value, first: state.first };
                        }
                        _ => {}
                    }
                }
            }
            if next.len() > beam {
                next.sort_by(|a, b| b.most.total_cmp(&a.most));
                next.truncate(beam);
            }
            self.next = std::mem::replace(&mut self.states, next);
        }
        best
    }
}

impl State {
    /// The state after a download, which begins when the segment has room in the buffer, and the playing of its time.
    fn after(&self, terms: &Terms, segment: &Segment, candidate: &Candidate) -> State {
        let buffer = self.buffer.min((terms.max_buffer - segment.duration).max(0.0));
        let stall = (candidate.time - buffer).max(0.0);
        let change = self.quality.map_or(0.0, |last| (candidate.quality - last).abs());
        State {
            value: self.value + candidate.quality - terms.rebuffering * stall - terms.switching * change,
            first: self.first,
            buffer: (buffer - candidate.time).max(0.0) + segment.duration,
            quality: Some(candidate.quality),
            most: self.most,
        }
    }

    /// Whether this state makes another one superfluous.
    fn covers(&self, other: &State, terms: &Terms) -> bool {
        let buffer = terms.rebuffering * (other.buffer - self.buffer).max(0.0);
        let quality = match (self.quality, other.quality) {
            (Some(a), Some(b)) => terms.switching * (a - b).abs(),
            _ => 0.0,
        };
        self.value - buffer - quality >= other.value
    }
}

/// Adds a state, unless it is superfluous, and removes those that it makes superfluous.
fn keep(states: &mut Vec<State>, state: State, terms: &Terms) {
    if states.iter().any(|other| other.covers(&state, terms)) {
        return;
    }
    states.retain(|other| !state.covers(other, terms));
    states.push(state);
}
