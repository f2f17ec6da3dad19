//! LTE from a moving car, fitted to what recorded drives have in common.

use super::Model;
use super::parts::{Wandering, scaled, spans, uniform};
use random::Generator;
use units::Duration;

pub(super) const MODEL: Model =
    Model { name: "lte-driving", about: "LTE from a moving car", shortest: Duration::from_secs(30), make };

/// Mean in Mbit/s: between those of the recorded drives (4.6 and 5.0).
const MEAN: f64 = 5.0;

fn make(stream: &mut Generator, steps: usize) -> Vec<f64> {
    let mut slow = Wandering::new(stream, "slow", 0.6, 4.0);
    let mut quick = Wandering::new(stream, "quick", 0.45, 0.4);
    // The cell serves others meanwhile; and the car passes from one cell to the next.
    let others = spans(stream, steps, 0.16, |stream| 0.025 * stream.exponential());
    let leaving = spans(stream, steps, 8.0, |stream| uniform(stream, 0.1, 1.2));
    let rates = others.iter().zip(&leaving).map(|(others, leaving)| {
        let rate = (slow.step() + quick.step()).exp() * stream.exponential();
        if *others || *leaving { 0.0 } else { rate }
    });
    scaled(rates.collect(), MEAN)
}
