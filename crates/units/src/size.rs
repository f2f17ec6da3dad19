//! Sizes in whole bytes.

use crate::number::{self, ParseError, Unit};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

const UNITS: &[Unit] = &[
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("kB", 1_000),
    ("KiB", 1 << 10),
    ("B", 1),
    ("bytes", 1),
];
const PRINTED: &[Unit] = &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)];
const EXPECTED: &str = "a size with its unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), like \"10 MB\"";

/// A number of bytes. Arithmetic saturates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Size(u64);

impl Size {
    /// A regular expression for the texts that are read as a size, for JSON schemas.
    pub fn pattern() -> String {
        number::pattern(UNITS)
    }

    /// Zero bytes.
    pub const ZERO: Size = Size(0);

    /// A size of `bytes`.
    pub const fn from_bytes(bytes: u64) -> Size {
        Size(bytes)
    }
    /// The number of bytes.
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

impl Add for Size {
    type Output = Size;
    fn add(self, other: Size) -> Size {
        Size(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        *self = *self + other;
    }
}
impl Sub for Size {
    type Output = Size;
    fn sub(self, other: Size) -> Size {
        Size(self.0.saturating_sub(other.0))
    }
}

impl FromStr for Size {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Size, ParseError> {
        number::parse(text, UNITS, EXPECTED).map(Size)
    }
}
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        number::print(self.0, PRINTED, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units() {
        assert_eq!("1 kB".parse::<Size>().unwrap().as_bytes(), 1000);
        assert_eq!("1KiB".parse::<Size>().unwrap().as_bytes(), 1024);
        assert_eq!("1.5 MiB".parse::<Size>().unwrap().as_bytes(), 1_572_864);
        assert_eq!("12".parse::<Size>().unwrap_err().problem, "the unit is missing");
    }

    #[test]
    fn printing_and_reading_gives_the_same_value() {
        for bytes in [0, 1, 1200, 1452, 1_048_576, 375_000_000, u64::MAX] {
            let size = Size::from_bytes(bytes);
            assert_eq!(size.to_string().parse::<Size>().unwrap(), size, "{size}");
        }
    }
}
