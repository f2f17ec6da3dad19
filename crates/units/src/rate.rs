//! Rates in whole bits per second.

use crate::number::{self, ParseError, Unit};
use crate::{Duration, Size};
use std::fmt;
use std::str::FromStr;

const UNITS: &[Unit] = &[
    ("Tbit/s", 1_000_000_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Mbit/s", 1_000_000),
    ("kbit/s", 1_000),
    ("bit/s", 1),
];
const EXPECTED: &str = "a rate with its unit (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s), like \"10 Mbit/s\"";

/// A rate in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// A regular expression for the texts that are read as a rate, for JSON schemas.
    pub fn pattern() -> String {
        number::pattern(UNITS)
    }

    /// A rate of zero.
    pub const ZERO: Rate = Rate(0);

    /// A rate of `bits` per second.
    pub const fn from_bits_per_sec(bits: u64) -> Rate {
        Rate(bits)
    }
    /// The rate at which `size` moves in `span`; the maximum rate if `span` is zero.
    pub const fn of(size: Size, span: Duration) -> Rate {
        if span.is_zero() {
            return Rate(u64::MAX);
        }
        let bits = size.as_bytes() as u128 * 8_000_000_000 / span.as_nanos() as u128;
        Rate(if bits > u64::MAX as u128 { u64::MAX } else { bits as u64 })
    }
    /// Bits per second.
    pub const fn as_bits_per_sec(self) -> u64 {
        self.0
    }
    /// Megabits per second, for tables and figures.
    pub fn as_mbit_per_sec(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// The time that `size` takes, rounded up; [`Duration::MAX`] at rate zero.
    pub const fn time_for(self, size: Size) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let bits = size.as_bytes() as u128 * 8_000_000_000;
        let ns = bits.div_ceil(self.0 as u128);
        Duration::from_nanos(if ns > u64::MAX as u128 { u64::MAX } else { ns as u64 })
    }
    /// The bytes that move in `span`, rounded down.
    pub const fn bytes_in(self, span: Duration) -> Size {
        let bytes = self.0 as u128 * span.as_nanos() as u128 / 8_000_000_000;
        Size::from_bytes(if bytes > u64::MAX as u128 { u64::MAX } else { bytes as u64 })
    }
}

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Rate, ParseError> {
        number::parse(text, UNITS, EXPECTED).map(Rate)
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        number::print(self.0, UNITS, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_times() {
        let rate: Rate = "12 Mbit/s".parse().unwrap();
        assert_eq!(rate.time_for(Size::from_bytes(1500)), Duration::from_millis(1));
        assert_eq!(rate.bytes_in(Duration::from_millis(1)), Size::from_bytes(1500));
        assert_eq!(Rate::ZERO.time_for(Size::from_bytes(1)), Duration::MAX);
        assert_eq!(Rate::of(Size::from_bytes(1500), Duration::from_millis(1)), rate);
    }

    #[test]
    fn printing_and_reading_gives_the_same_value() {
        for bits in [0, 1, 999, 1_000, 1_234, 10_000_000, 1_234_567, 244_600_000, 100_000_000_000, u64::MAX] {
            let rate = Rate::from_bits_per_sec(bits);
            assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate, "{rate}");
        }
        assert_eq!(Rate::from_bits_per_sec(10_000_000).to_string(), "10 Mbit/s");
        assert!("10 MB".parse::<Rate>().is_err());
    }
}
