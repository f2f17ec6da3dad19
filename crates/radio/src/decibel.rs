//! Ratios of powers in decibels, and back.

/// The ratio that `db` decibels stand for.
pub(crate) fn to_ratio(db: f64) -> f64 {
    (db * (std::f64::consts::LN_10 / 10.0)).exp()
}

/// A positive ratio in decibels.
pub(crate) fn from_ratio(ratio: f64) -> f64 {
    10.0 * ratio.log10()
}
