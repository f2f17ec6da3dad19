//! Points and spans of virtual time in whole nanoseconds.

use crate::number::{self, ParseError, Unit};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

const UNITS: &[Unit] = &[
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];
const PRINTED: &[Unit] = &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
const EXPECTED: &str = "a duration with its unit (ns, us, ms, s, min, h), like \"20 ms\"";

/// A point in time: nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// A span of time in nanoseconds. Arithmetic saturates at zero and at the maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that happens.
    pub const NEVER: Time = Time(u64::MAX);

    /// The point in time `ns` nanoseconds after the start.
    pub const fn from_nanos(ns: u64) -> Time {
        Time(ns)
    }
    /// Nanoseconds since the start of the run.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// Seconds since the start, for tables and figures; the simulation never computes with it.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The span since `earlier`, or zero if `earlier` is the later one.
    pub const fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    /// A regular expression for the texts that are read as a duration, for JSON schemas.
    pub fn pattern() -> String {
        number::pattern(UNITS)
    }

    /// The empty span.
    pub const ZERO: Duration = Duration(0);
    /// The longest span: about 584 years.
    pub const MAX: Duration = Duration(u64::MAX);

    /// A span of whole nanoseconds.
    pub const fn from_nanos(ns: u64) -> Duration {
        Duration(ns)
    }
    /// A span of whole microseconds.
    pub const fn from_micros(us: u64) -> Duration {
        Duration(us.saturating_mul(1_000))
    }
    /// A span of whole milliseconds.
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(ms.saturating_mul(1_000_000))
    }
    /// A span of whole seconds.
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s.saturating_mul(1_000_000_000))
    }
    /// The span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
    /// The span in whole microseconds, rounded down.
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }
    /// The span in whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
    /// The span in seconds, for tables and figures.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// The span of `seconds`, rounded to nanoseconds; zero for negative numbers and NaN.
    pub fn from_secs_f64(seconds: f64) -> Duration {
        Duration((seconds * 1e9).round() as u64)
    }
    /// Whether the span is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
    /// `self * numerator / denominator`, rounded down, without intermediate overflow.
    pub const fn scale(self, numerator: u64, denominator: u64) -> Duration {
        let value = self.0 as u128 * numerator as u128 / denominator as u128;
        Duration(if value > u64::MAX as u128 { u64::MAX } else { value as u64 })
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, span: Duration) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}
impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}
impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, span: Duration) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}
impl Add for Duration {
    type Output = Duration;
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}
impl Sub for Duration {
    type Output = Duration;
    fn sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }
}
impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Duration) {
        *self = *self - other;
    }
}
impl Mul<u64> for Duration {
    type Output = Duration;
    fn mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }
}
impl Div<u64> for Duration {
    type Output = Duration;
    fn div(self, divisor: u64) -> Duration {
        Duration(self.0 / divisor)
    }
}

impl FromStr for Duration {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Duration, ParseError> {
        number::parse(text, UNITS, EXPECTED).map(Duration)
    }
}
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        number::print(self.0, PRINTED, f)
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, ns) in [
            ("20 ms", 20_000_000),
            ("1.5s", 1_500_000_000),
            ("0 s", 0),
            ("250us", 250_000),
            ("2 min", 120_000_000_000),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap().as_nanos(), ns, "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_duration() {
        for (text, problem) in [
            ("20", "the unit is missing"),
            ("-1 s", "negative"),
            ("20 Mbit/s", "unknown unit"),
            ("ms", "no number"),
            ("1.2.3 s", "not a decimal number"),
            ("0.5 ns", "finer than the smallest unit"),
            ("99999999999999 s", "too large"),
        ] {
            assert_eq!(text.parse::<Duration>().unwrap_err().problem, problem, "{text}");
        }
    }

    #[test]
    fn printing_and_reading_gives_the_same_value() {
        for ns in
            [0, 1, 999, 1_000, 1_001, 12_345, 1_500_000, 20_000_000, 1_234_567_891, 61_000_000_000, u64::MAX]
        {
            let span = Duration::from_nanos(ns);
            assert_eq!(span.to_string().parse::<Duration>().unwrap(), span, "{span}");
        }
        assert_eq!(Duration::from_millis(1500).to_string(), "1.5 s");
        assert_eq!(Duration::from_nanos(1_234_567_891).to_string(), "1.234567891 s");
    }
}
