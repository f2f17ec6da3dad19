//! The tail of the normal distribution, and draws from it.

use random::Generator;

/// The probability that a standard normal value exceeds `x`, with an error below 7.5e-8 (Abramowitz and Stegun 1964,
/// formula 26.2.17).
pub(crate) fn q(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - q(-x);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * x);
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt() * series
}

/// A standard normal value; two draws from `stream` (Box and Muller 1958, the cosine alone).
pub(crate) fn draw(stream: &mut Generator) -> f64 {
    let radius = (2.0 * stream.exponential()).sqrt();
    radius * (std::f64::consts::TAU * stream.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_has_the_values_of_printed_tables() {
        for (x, tail) in [(0.0, 0.5), (1.0, 0.158_655_3), (1.281_551_6, 0.1), (3.0, 0.001_349_9)] {
            assert!((q(x) - tail).abs() < 1e-7, "{x}");
            assert!((q(-x) - (1.0 - tail)).abs() < 1e-7, "-{x}");
        }
    }

    #[test]
    fn draws_have_mean_0_and_variance_1() {
        let mut stream = Generator::new(1, "normal");
        let values: Vec<f64> = (0..100_000).map(|_| draw(&mut stream)).collect();
        let mean = values.iter().sum::<f64>() / 1e5;
        let variance = values.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.015, "{mean} {variance}");
    }
}
