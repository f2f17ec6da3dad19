//! Walking through a street canyon below a mmWave base station, with blockage.

use super::Model;
use super::parts::{STEP_S, Wandering, spans, uniform};
use random::Generator;
use units::Duration;

pub(super) const MODEL: Model = Model {
    name: "mmwave",
    about: "walking through a street canyon below a mmWave base station, with blockage",
    shortest: Duration::from_secs(60),
    make,
};

/// The mean and the extremes over 10 ms in Mbit/s, from the trace of Fernandez et al. 2024, section 4.3.
const MEAN: f64 = 244.6;
const LOWEST: f64 = 0.94;
const HIGHEST: f64 = 3703.79;

/// The bounds in decibels of the search for the gain that meets the mean.
const GAINS: (f64, f64) = (-60.0, 120.0);
/// The number of bisections: far below the rounding.
const HALVINGS: usize = 50;

fn make(stream: &mut Generator, steps: usize) -> Vec<f64> {
    // Buildings block the path for seconds, people and cars for hundreds of milliseconds.
    let hidden = spans(stream, steps, 7.0, |stream| uniform(stream, 1.0, 5.0));
    let mut blocked = vec![false];
    while !blocked.contains(&true) {
        // About one seed in 20,000 would give a minute without any.
        blocked = spans(stream, steps, 6.0, |stream| uniform(stream, 0.2, 0.9));
    }
    let mut shadow = Wandering::new(stream, "shadow", 4.0, 5.0);
    let mut fading = Wandering::new(stream, "fading", 3.0, 0.05);
    let quality: Vec<Option<f64>> = (0..steps)
        .map(|at| {
            // The walk: 1.4 m/s towards a base station from 190 m on, back and forth until the end of the
            // trace.
            let distance = (190.0 - (1.4 * at as f64 * STEP_S) % 380.0).abs().max(15.0);
            // 3GPP TR 38.901 table 7.4.1-1, UMi street canyon: 21 dB a decade in sight, 35.3 out of it; the street's
            // walls keep what is out of sight from falling by more than 12 dB.
            let seen = 32.4 + 21.0 * distance.log10();
            let around = 22.4 + 35.3 * distance.log10();
            let loss = if hidden[at] { around.min(seen + 12.0) } else { seen };
            let shadow = shadow.step() * if hidden[at] { 2.0 } else { 1.0 };
            let decibel = shadow + fading.step() - loss;
            (!blocked[at]).then_some(decibel)
        })
        .collect();
    fitted(&quality)
}

/// Converts decibels to rates: Shannon's law with the gain at which the mean is that of the paper, and the best
/// moment its maximum; `None` is the minimum.
///
/// If the moments are too similar for any gain, those below the best one are stretched.
fn fitted(quality: &[Option<f64>]) -> Vec<f64> {
    let best = quality.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    // The power of each moment as a share of the best one.
    let shares = |stretched: f64| -> Vec<f64> {
        let share = |value: &Option<f64>| value.map_or(0.0, |value| power(stretched * (value - best)));
        quality.iter().map(share).collect()
    };
    let plain = shares(1.0);
    let (low, high) = GAINS;
    if mean(&plain, low) > MEAN {
        // A smaller stretch gives a higher mean.
        let stretch = meeting(0.05, 1.0, |s| mean(&shares(1.0 / s), low));
        return rates(&shares(1.0 / stretch), low).collect();
    }
    let gain = meeting(low, high, |gain| mean(&plain, gain));
    rates(&plain, gain).collect()
}

fn power(decibel: f64) -> f64 {
    10f64.powf(decibel / 10.0)
}

fn rates(shares: &[f64], gain: f64) -> impl Iterator<Item = f64> {
    let gain = power(gain);
    let top = gain.ln_1p();
    shares.iter().map(move |share| LOWEST + (HIGHEST - LOWEST) * (share * gain).ln_1p() / top)
}

fn mean(shares: &[f64], gain: f64) -> f64 {
    rates(shares, gain).sum::<f64>() / shares.len() as f64
}

/// The argument at which a rising mean equals that of the paper.
fn meeting(mut low: f64, mut high: f64, mean: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if mean(middle) < MEAN { low = middle } else { high = middle }
    }
    high
}
