//! Continuous laws of chance with bounds: the sizes, counts and times of traffic models are drawn from them.
//!
//! A law says how values are spread; a [`Bounded`] law is drawn from inside of bounds. What lies beyond a bound is drawn
//! again ([`Beyond::Redraw`], which gives the law conditioned on the bounds, called truncated in the literature), or
//! becomes the bound itself ([`Beyond::Clamp`], which gives the bound a probability of its own).

use crate::Stream;
use rand_distr::{Distribution, Exp, LogNormal, Pareto, Weibull};
use std::fmt;

/// How values are spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Law {
    /// Always this value.
    Constant(f64),
    /// Exponential with this rate: `1 - exp(-rate x)`, mean `1 / rate`.
    Exponential {
        /// Inverse of the mean, above 0.
        rate: f64,
    },
    /// The logarithm is normal.
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
        /// Above 0; 1 is the exponential law.
        shape: f64,
    },
    /// `1 - (scale / x)^shape` from `scale` on.
    Pareto {
        /// The least value, above 0.
        scale: f64,
        /// Above 0; the mean is finite above 1.
        shape: f64,
    },
}

/// Why there is no such law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LawError {
    /// A parameter is not finite, or not above 0 where it must be.
    Parameter(Law),
    /// The least value is above the largest, or one of them is no number.
    Bounds(f64, f64),
    /// So small a share of the law lies inside of the bounds: drawing again would not end soon.
    Share(f64),
}

impl fmt::Display for LawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LawError::Parameter(law) => write!(f, "{law:?}: a parameter is out of range"),
            LawError::Bounds(least, most) => write!(f, "the least value {least} is above the largest {most}"),
            LawError::Share(share) => {
                write!(f, "{share:.1e} of the law lies inside of its bounds, less than {LEAST_SHARE}")
            }
        }
    }
}

impl std::error::Error for LawError {}

/// What becomes of a draw beyond a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// It is forgotten, and the next one counts: the truncated law.
    Redraw,
    /// It becomes the bound.
    Clamp,
}

/// The least share of a law that must lie inside of the bounds for [`Beyond::Redraw`]: a draw takes ten tries on the
/// average where it is one in ten.
pub const LEAST_SHARE: f64 = 0.001;

/// A law that is drawn from inside of bounds, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    law: Law,
    least: f64,
    most: f64,
    beyond: Beyond,
    drawn: Drawn,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Drawn {
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

    /// The law without bounds.
    ///
    /// # Errors
    /// [`LawError::Parameter`].
    pub fn unbounded(self) -> Result<Bounded, LawError> {
        self.within(f64::NEG_INFINITY, f64::INFINITY, Beyond::Redraw)
    }

    /// The law inside of these bounds.
    ///
    /// # Errors
    /// See [`LawError`].
    pub fn within(self, least: f64, most: f64, beyond: Beyond) -> Result<Bounded, LawError> {
        // Not `least > most`: a bound that is no number is none.
        if !matches!(least.partial_cmp(&most), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)) {
            return Err(LawError::Bounds(least, most));
        }
        let drawn = self.checked().ok_or(LawError::Parameter(self))?;
        let inside = match self {
            Law::Constant(value) => f64::from(u8::from((least..=most).contains(&value))),
            _ => self.cdf(most) - self.cdf(least),
        };
        // Also where the share is no number.
        if beyond == Beyond::Redraw && !matches!(inside, LEAST_SHARE..) {
            return Err(LawError::Share(inside));
        }
        Ok(Bounded { law: self, least, most, beyond, drawn })
    }

    fn checked(&self) -> Option<Drawn> {
        let positive = |x: f64| x.is_finite() && x > 0.0;
        match *self {
            Law::Constant(value) => value.is_finite().then_some(Drawn::Constant(value)),
            Law::Exponential { rate } if positive(rate) => Exp::new(rate).ok().map(Drawn::Exponential),
            Law::LogNormal { mu, sigma } if positive(sigma) && mu.is_finite() => {
                LogNormal::new(mu, sigma).ok().map(Drawn::LogNormal)
            }
            Law::Weibull { scale, shape } if positive(scale) && positive(shape) => {
                Weibull::new(scale, shape).ok().map(Drawn::Weibull)
            }
            Law::Pareto { scale, shape } if positive(scale) && positive(shape) => {
                Pareto::new(scale, shape).ok().map(Drawn::Pareto)
            }
            _ => None,
        }
    }
}

impl Bounded {
    /// The law.
    pub fn law(&self) -> Law {
        self.law
    }
    /// The bounds.
    pub fn bounds(&self) -> (f64, f64) {
        (self.least, self.most)
    }

    /// The next value. With [`Beyond::Redraw`] it takes as many draws of the law as it needs.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        loop {
            let value = self.drawn.sample(stream);
            match self.beyond {
                Beyond::Clamp => return value.clamp(self.least, self.most),
                Beyond::Redraw if (self.least..=self.most).contains(&value) => return value,
                Beyond::Redraw => {}
            }
        }
    }
}

impl Drawn {
    fn sample(&self, stream: &mut Stream) -> f64 {
        match self {
            Drawn::Constant(value) => *value,
            Drawn::Exponential(law) => law.sample(stream),
            Drawn::LogNormal(law) => law.sample(stream),
            Drawn::Weibull(law) => law.sample(stream),
            Drawn::Pareto(law) => law.sample(stream),
        }
    }
}

/// The standard normal law. Abramowitz and Stegun 26.2.17, off by less than 7.5e-8.
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
        let mut stream = Stream::new(3, "law");
        let mut values: Vec<f64> = (0..N).map(|_| law.draw(&mut stream)).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The largest distance between the draws and the law conditioned on its bounds (Kolmogorov and Smirnov).
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
    fn draws_follow_their_law() {
        for law in LAWS {
            let values = draws(&law.unbounded().unwrap());
            // 1.63 / sqrt(n) is exceeded by one sample in a hundred.
            let distance = distance(&values, law, (f64::NEG_INFINITY, f64::INFINITY));
            assert!(distance < 1.63 / (N as f64).sqrt(), "{law:?}: {distance}");
        }
    }

    #[test]
    fn a_redrawn_law_is_the_law_inside_of_its_bounds() {
        for law in LAWS {
            let values = draws(&law.within(1.5, 6.0, Beyond::Redraw).unwrap());
            assert!(values[0] >= 1.5 && values[N - 1] <= 6.0, "{law:?}");
            let distance = distance(&values, law, (1.5, 6.0));
            assert!(distance < 1.63 / (N as f64).sqrt(), "{law:?}: {distance}");
        }
    }

    #[test]
    fn a_clamped_law_has_what_lies_beyond_at_its_bound() {
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
    fn what_is_no_law_is_refused() {
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
            // Some of them are not even equal to themselves.
            assert!(matches!(law.unbounded(), Err(LawError::Parameter(_))), "{law:?}");
        }
    }

    #[test]
    fn equal_streams_give_equal_draws() {
        let law = LAWS[2].within(0.0, 10.0, Beyond::Redraw).unwrap();
        assert_eq!(draws(&law), draws(&law));
    }
}
