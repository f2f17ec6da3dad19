//! A low-orbit constellation that assigns another satellite to each terminal every 15 s.

use super::parts::{STEP_S, Wandering, normal, scaled, uniform};
use super::{Model, STEP};
use random::Generator;
use units::Duration;

pub(super) const MODEL: Model = Model {
    name: "leo",
    about: "a low-orbit constellation, with a hand-over every 15 s",
    shortest: Duration::from_secs(30),
    make,
};

/// Mean in Mbit/s.
const MEAN: f64 = 120.0;
/// The number of steps for which a terminal keeps its satellite.
const SLOT: usize = (Duration::from_secs(15).as_nanos() / STEP.as_nanos()) as usize;

fn make(stream: &mut Generator, steps: usize) -> Vec<f64> {
    let mut inside = Wandering::new(stream, "inside", 0.12, 1.0);
    let (mut level, mut silent_until) = (0.0, 0);
    let rates = (0..steps).map(|at| {
        if at.is_multiple_of(SLOT) {
            level = normal(stream, 0.3);
            // There is no hand-over at the start of the trace.
            let silent = (uniform(stream, 0.02, 0.12) / STEP_S).round() as usize;
            silent_until = if at == 0 { 0 } else { at + silent };
        }
        let rate = (level + inside.step()).exp();
        if at < silent_until { 0.0 } else { rate }
    });
    scaled(rates.collect(), MEAN)
}
