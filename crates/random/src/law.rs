//! Continuous probability distributions with bounds, from which traffic models draw sizes, counts and times.
//!
//! A [`Law`] is a distribution; a [`Bounded`] law restricts it to a range. A value outside of the range is either
//! drawn again ([`Beyond::Redraw`], the distribution conditioned on the range, called truncated in the literature),
//! or replaced by the nearest bound ([`Beyond::Clamp`], which gives the bounds a probability of their own).

use crate::Generator;
use rand_distr::{Distribution, Exp, LogNormal, Pareto, Weibull};
use std::fmt;

/// A distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// This value, with certainty.
    Constant(f64),
    /// Exponential with this rate: `1 - exp(-rate x)`, mean `1 / rate`.
    Exponential {
        /// Inverse of the mean, above 0.
        rate: f64,
    },
    /// The logarithm of the value is normal.
    LogNormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm, above 0.
        sigma: f64,
    },
    /// `1 - exp(-(x / scale)^shape)`.
    Weibull {
        /// Above 0, in the unit of the values.
        scale: f64,
        /// Above 0; with 1 this is the exponential distribution.
        shape: f64,
    },
    /// `1 - (scale / x)^shape` from `scale` on.
    Pareto {
        /// The minimum, above 0.
        scale: f64,
        /// Above 0; the mean is finite above 1.
        shape: f64,
    },
}

/// Why a distribution cannot be sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LawError {
    /// A parameter is not finite, or not above 0 where it must be.
    Parameter(Law),
    /// The lower bound is above the upper one, or one of them is NaN.
    Bounds(f64, f64),
    /// Only this share of the distribution lies within the bounds: redrawing would take too long.
    Share(f64),
}

impl fmt::Display for LawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LawError::Parameter(law) => write!(f, "{law:?}: a parameter is out of range"),
            LawError::Bounds(least, most) => write!(f, "the least value {least} is above the largest {most}"),
            LawError::Share(share) => {
                write!(f, "{share:.1e} of the law lies inside of its bounds, less than {MIN_SHARE}")
            }
        }
    }
}

impl std::error::Error for LawError {}

/// What happens to a draw outside of the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// It is discarded and drawn again: the truncated distribution.
    Redraw,
    /// It is replaced by the nearest bound.
    Clamp,
}

/// The minimum share of a distribution that must lie within the bounds for [`Beyond::Redraw`]. The mean number of
/// tries per draw is the inverse of that share.
pub const MIN_SHARE: f64 = 0.001;

/// A distribution restricted to an inclusive range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    law: Law,
    least: f64,
    most: f64,
    beyond: Beyond,
    sampler: Sampler,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Sampler {
    Constant(f64),
    Exponential(Exp<f64>),
    LogNormal(LogNormal<f64>),
    Weibull(Weibull<f64>),
    Pareto(Pareto<f64>),
}

impl Law {
    /// The probability of a value not above `x`.
    pub fn cdf(&self, x: f64) -> f64 {
        match *self {
            Law::Constant(value) => f64::from(u8::from(x >= value)),
            _ if x <= 0.0 => 0.0,
            Law::Exponential { rate } => -(-rate * x).exp_m1(),
            Law::LogNormal { mu, sigma } => normal_cdf((x.ln() - mu) / sigma),
            Law::Weibull { scale, shape } => -(-(x / scale).powf(shape)).exp_m1(),
            Law::Pareto { scale, shape } => (1.0 - (scale / x).powf(shape)).max(0.0),
        }
    }

    /// The distribution without bounds.
    ///
    /// # Errors
    /// [`LawError::Parameter`].
    pub fn unbounded(self) -> Result<Bounded, LawError> {
        self.within(f64::NEG_INFINITY, f64::INFINITY, Beyond::Redraw)
    }

    /// The distribution restricted to these bounds.
    ///
    /// # Errors
    /// See [`LawError`].
    pub fn within(self, least: f64, most: f64, beyond: Beyond) -> Result<Bounded, LawError> {
        // Not `least > most`, which is false for NaN.
        if !matches!(least.partial_cmp(&most), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)) {
            return Err(LawError::Bounds(least, most));
        }
        let sampler = self.checked().ok_or(LawError::Parameter(self))?;
        let inside = match self {
            Law::Constant(value) => f64::from(u8::from((least..=most).contains(&value))),
            _ => self.cdf(most) - self.cdf(least),
        };
        // Also rejects a share that is NaN.
        if beyond == Beyond::Redraw && !matches!(inside, MIN_SHARE..) {
            return Err(LawError::Share(inside));
        }
        Ok(Bounded { law: self, least, most, beyond, sampler })
    }

    fn checked(&self) -> Option<Sampler> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        match *self {
            Law::Constant(value) => value.is_finite().then_some(Sampler::Constant(value)),
            Law::Exponential { rate } if positive(rate) => Exp::new(rate).ok().map(Sampler::Exponential),
            Law::LogNormal { mu, sigma } if positive(sigma) && mu.is_finite() => {
                LogNormal::new(mu, sigma).ok().map(Sampler::LogNormal)
            }
            Law::Weibull { scale, shape } if positive(scale) && positive(shape) => {
                Weibull::new(scale, shape).ok().map(Sampler::Weibull)
            }
            Law::Pareto { scale, shape } if positive(scale) && positive(shape) => {
                Pareto::new(scale, shape).ok().map(Sampler::Pareto)
            }
            _ => None,
        }
    }
}

impl Bounded {
    /// The distribution.
    pub fn law(&self) -> Law {
        self.law
    }
    /// The bounds.
    pub fn bounds(&self) -> (f64, f64) {
        (self.least, self.most)
    }

    /// Draws a value. With [`Beyond::Redraw`] this draws from the distribution until a value fits.
    pub fn draw(&self, stream: &mut Generator) -> f64 {
        loop {
            let value = self.sampler.sample(stream);
            match self.beyond {
                Beyond::Clamp => return value.clamp(self.least, self.most),
                Beyond::Redraw if (self.least..=self.most).contains(&value) => return value,
                Beyond::Redraw => {}
            }
        }
    }
}

impl Sampler {
    fn sample(&self, stream: &mut Generator) -> f64 {
        match self {
            Sampler::Constant(value) => *value,
            Sampler::Exponential(law) => law.sample(stream),
            Sampler::LogNormal(law) => law.sample(stream),
            Sampler::Weibull(law) => law.sample(stream),
            Sampler::Pareto(law) => law.sample(stream),
        }
    }
}

/// The cumulative standard normal distribution: Abramowitz and Stegun 26.2.17, with an error below 7.5e-8.
fn normal_cdf(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - normal_cdf(-x);
    }
    if x > 40.0 {
        return 1.0;
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * x);
    let density = (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let steps = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    1.0 - density * steps.iter().rev().fold(0.0, |sum, step| (sum + step) * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 100_000;

    fn draws(law: &Bounded) -> Vec<f64> {
        let mut stream = Generator::new(3, "law");
        let mut values: Vec<f64> = (0..N).map(|_| law.draw(&mut stream)).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The largest distance between the draws and the distribution conditioned on its bounds (Kolmogorov and
    /// Smirnov).
    fn distance(values: &[f64], law: Law, bounds: (f64, f64)) -> f64 {
        let (low, high) = (law.cdf(bounds.0), law.cdf(bounds.1));
        let of = |x: f64| (law.cdf(x) - low) / (high - low);
        let n = values.len() as f64;
        values.iter().enumerate().fold(0.0, |worst, (index, value)| {
            let expected = of(*value);
            worst.max((expected - index as f64 / n).abs()).max((expected - (index + 1) as f64 / n).abs())
        })
    }

    const LAWS: [Law; 4] = [
        Law::Exponential { rate: 0.25 },
        Law::LogNormal { mu: 1.0, sigma: 0.8 },
        Law::Weibull { scale: 4.0, shape: 0.8 },
        Law::Pareto { scale: 1.0, shape: 1.1 },
    ];

    #[test]
    fn draws_follow_their_distribution() {
        for law in LAWS {
            let values = draws(&law.unbounded().unwrap());
            // One sample in a hundred exceeds 1.63 / sqrt(n).
            let distance = distance(&values, law, (f64::NEG_INFINITY, f64::INFINITY));
            assert!(distance < 1.63 / (N as f64).sqrt(), "{law:?}: {distance}");
        }
    }

    #[test]
    fn redrawing_conditions_the_law_on_its_bounds() {
        for law in LAWS {
            let values = draws(&law.within(1.5, 6.0, Beyond::Redraw).unwrap());
            assert!(values[0] >= 1.5 && values[N - 1] <= 6.0, "{law:?}");
            let distance = distance(&values, law, (1.5, 6.0));
            assert!(distance < 1.63 / (N as f64).sqrt(), "{law:?}: {distance}");
        }
    }

    #[test]
    fn a_clamped_law_collects_excess_at_its_bound() {
        let law = Law::Exponential { rate: 0.5 };
        let values = draws(&law.within(0.0, 2.0, Beyond::Clamp).unwrap());
        let at_bound = values.iter().filter(|value| **value == 2.0).count() as f64 / N as f64;
        // exp(-1); six standard deviations.
        assert!((at_bound - (-1f64).exp()).abs() < 0.0092, "{at_bound}");
    }

    #[test]
    fn the_normal_law_has_its_known_values() {
        for (x, expected) in [(0.0, 0.5), (1.0, 0.841_344_746), (-1.96, 0.024_997_895), (4.0, 0.999_968_329)]
        {
            assert!((normal_cdf(x) - expected).abs() < 1e-7, "{x}");
        }
        assert_eq!((normal_cdf(f64::INFINITY), normal_cdf(f64::NEG_INFINITY)), (1.0, 0.0));
    }

    #[test]
    fn invalid_laws_are_refused() {
        let law = Law::Exponential { rate: 1.0 };
        assert_eq!(law.within(2.0, 1.0, Beyond::Clamp), Err(LawError::Bounds(2.0, 1.0)));
        assert!(matches!(law.within(f64::NAN, 1.0, Beyond::Clamp), Err(LawError::Bounds(..))));
        assert!(matches!(law.within(100.0, 200.0, Beyond::Redraw), Err(LawError::Share(_))));
        assert!(matches!(Law::Constant(3.0).within(4.0, 5.0, Beyond::Redraw), Err(LawError::Share(_))));
        for law in [
            Law::Constant(f64::INFINITY),
            Law::Exponential { rate: 0.0 },
            Law::LogNormal { mu: 0.0, sigma: f64::NAN },
            Law::Weibull { scale: -1.0, shape: 1.0 },
            Law::Pareto { scale: 1.0, shape: 0.0 },
        ] {
            // NaN is not equal to itself, so `assert_eq` would fail.
            assert!(matches!(law.unbounded(), Err(LawError::Parameter(_))), "{law:?}");
        }
    }

    #[test]
    fn equal_streams_give_equal_draws() {
        let law = LAWS[2].within(0.0, 10.0, Beyond::Redraw).unwrap();
        assert_eq!(draws(&law), draws(&law));
    }
}
