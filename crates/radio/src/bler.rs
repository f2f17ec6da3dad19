//! Block error probability over SINR.
//!
//! A code of rate `r` bits per symbol over `n` symbols fails with probability Q((s - s50) / sigma) at an SINR of `s`
//! dB. The threshold, where it is 10 %, belongs to the MCS; the slope follows from the block length by the normal
//! approximation (Polyanskiy, Poor and Verdu, "Channel coding rate in the finite blocklength regime", 2010): the
//! dispersion of the Gaussian channel divided by the derivative of its capacity by dB is
//! sigma = 10 / ln 10 sqrt((1 + 2 / x) / n) dB, with x = 2^r - 1.

use crate::{decibel, gaussian, lte};

/// Where Q is 0.1.
const TENTH: f64 = 1.281_551_565_544_6;

/// The block error probability of one MCS and block size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    median_db: f64,
    sigma_db: f64,
}

impl Curve {
    /// The curve of a code whose block error probability is 10 % at `threshold_db`, which carries `efficiency` bits
    /// per symbol (positive), in blocks of `bits`.
    pub fn new(threshold_db: f64, efficiency: f64, bits: u32) -> Curve {
        let symbols = f64::from(bits.max(1)) / efficiency;
        let shannon = efficiency.exp2() - 1.0;
        let sigma_db = decibel::from_ratio(std::f64::consts::E) * ((1.0 + 2.0 / shannon) / symbols).sqrt();
        Curve { median_db: threshold_db - TENTH * sigma_db, sigma_db }
    }

    /// The curve of a code whose threshold lies above Shannon's bound by the gap of [`lte::gap`], as that of the CQI.
    pub fn with_gap(efficiency: f64, bits: u32) -> Curve {
        Curve::new(decibel::from_ratio(lte::gap() * (efficiency.exp2() - 1.0)), efficiency, bits)
    }

    /// The curve of an LTE MCS for a block of `bits`.
    pub fn lte(mcs: u8, bits: u32) -> Curve {
        Curve::with_gap(lte::mcs_efficiency(mcs), bits)
    }

    /// The SINR in dB at which one block in ten fails.
    pub fn threshold_db(&self) -> f64 {
        self.median_db + TENTH * self.sigma_db
    }

    /// The standard deviation of the transition in dB: small for long blocks.
    pub fn sigma_db(&self) -> f64 {
        self.sigma_db
    }

    /// The probability that a block fails at `sinr_db`, 0 to 1. For a retransmitted block, this is the SINR of
    /// [`combine`].
    pub fn error_probability(&self, sinr_db: f64) -> f64 {
        gaussian::q((sinr_db - self.median_db) / self.sigma_db)
    }
}

/// The SINR in dB after chase combining: the ratios of the attempts add up (Chase 1985).
pub fn combine(accumulated_db: f64, attempt_db: f64) -> f64 {
    decibel::from_ratio(decibel::to_ratio(accumulated_db) + decibel::to_ratio(attempt_db))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_in_ten_fails_at_the_threshold_and_fewer_above() {
        for mcs in 0..=lte::MAX_MCS {
            for bits in [16, 1_000, 75_376] {
                let curve = Curve::lte(mcs, bits);
                assert!((curve.error_probability(curve.threshold_db()) - 0.1).abs() < 1e-6);
                let mut last = 1.0;
                for step in -200..200 {
                    let error = curve.error_probability(curve.threshold_db() + f64::from(step) / 10.0);
                    assert!((0.0..=1.0).contains(&error) && error <= last, "{mcs} {bits} {step}");
                    last = error;
                }
                assert!(last < 1e-6);
            }
        }
    }

    #[test]
    fn the_threshold_of_an_even_mcs_is_that_of_its_cqi() {
        for cqi in 1..=15 {
            let curve = Curve::lte(lte::mcs_of_cqi(cqi), 1_000);
            assert!((curve.threshold_db() - lte::threshold_db(cqi)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_block_four_times_as_long_is_twice_as_steep() {
        // One bit per symbol: x = 1, 100 symbols, sigma = 4.3429 sqrt(3 / 100) = 0.7522 dB.
        let short = Curve::new(0.0, 1.0, 100);
        assert!((short.sigma_db() - 0.752_2).abs() < 1e-4, "{short:?}");
        assert!((short.sigma_db() / Curve::new(0.0, 1.0, 400).sigma_db() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn two_equal_attempts_gain_3_db() {
        assert!((combine(5.0, 5.0) - 8.010_3).abs() < 1e-4);
        assert_eq!(combine(f64::NEG_INFINITY, 5.0), 5.0);
    }
}
