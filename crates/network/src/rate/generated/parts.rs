//! The common parts of the models of traces.

use super::STEP;
use rand_distr::{Distribution, StandardNormal};
use random::Generator;

/// The duration of a step in seconds.
pub(super) const STEP_S: f64 = STEP.as_nanos() as f64 * 1e-9;

/// A normal draw with mean 0.
pub(crate) fn normal(stream: &mut Generator, deviation: f64) -> f64 {
    let standard: f64 = StandardNormal.sample(stream);
    deviation * standard
}

/// A uniform draw.
pub(crate) fn uniform(stream: &mut Generator, least: f64, most: f64) -> f64 {
    least + (most - least) * stream.unit()
}

/// A value around zero whose correlation decreases by a factor of e in `memory_s` (a first-order
/// autoregression).
pub(crate) struct Wandering {
    stream: Generator,
    keep: f64,
    fresh: f64,
    value: f64,
}

impl Wandering {
    pub(super) fn new(stream: &mut Generator, name: &str, deviation: f64, memory_s: f64) -> Wandering {
        Wandering::in_steps(STEP_S, stream, name, deviation, memory_s)
    }

    /// With steps of this duration.
    pub(crate) fn in_steps(
        step_s: f64,
        stream: &mut Generator,
        name: &str,
        deviation: f64,
        memory_s: f64,
    ) -> Wandering {
        let mut stream = stream.fork(name);
        let keep = (-step_s / memory_s).exp();
        let value = normal(&mut stream, deviation);
        Wandering { stream, keep, fresh: deviation * (1.0 - keep * keep).sqrt(), value }
    }

    pub(crate) fn step(&mut self) -> f64 {
        self.value = self.keep * self.value + normal(&mut self.stream, self.fresh);
        self.value
    }
}

/// Marks the steps of events with exponential gaps and the drawn durations, in seconds.
pub(super) fn spans(
    stream: &mut Generator,
    steps: usize,
    gap_s: f64,
    lasting_s: impl Fn(&mut Generator) -> f64,
) -> Vec<bool> {
    let mut marked = vec![false; steps];
    let mut at = gap_s * stream.exponential();
    loop {
        let first = (at / STEP_S) as usize;
        if first >= steps {
            return marked;
        }
        let lasting = lasting_s(stream);
        let last = first + ((lasting / STEP_S).round() as usize).max(1);
        marked[first..last.min(steps)].fill(true);
        at += lasting + gap_s * stream.exponential();
    }
}

/// Scales the rates so that `mean` is their mean.
pub(crate) fn scaled(mut rates: Vec<f64>, mean: f64) -> Vec<f64> {
    let scale = mean * rates.len() as f64 / rates.iter().sum::<f64>();
    rates.iter_mut().for_each(|rate| *rate *= scale);
    rates
}
