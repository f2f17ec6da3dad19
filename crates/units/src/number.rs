//! Decimal numbers with a unit, read and printed without floating point.

use std::fmt;

/// Why a text is not a quantity of the expected kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The text.
    pub found: String,
    /// The expected form, with an example: `a duration with its unit (ns, us, ms, s, min, h), like "20 ms"`.
    pub expected: &'static str,
    /// The specific problem: `the unit is missing`.
    pub problem: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}; expected {}", self.found, self.problem, self.expected)
    }
}

impl std::error::Error for ParseError {}

/// A unit of a quantity: its spelling and its value in the smallest unit.
pub(crate) type Unit = (&'static str, u64);

/// Reads `"1.5 ms"` as an integer number of the smallest unit. The first unit with a matching spelling wins.
pub(crate) fn parse(text: &str, units: &[Unit], expected: &'static str) -> Result<u64, ParseError> {
    let fail = |problem| ParseError { found: text.to_owned(), expected, problem };
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (digits, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim());
    if trimmed.starts_with('-') {
        return Err(fail("negative"));
    }
    if digits.is_empty() {
        return Err(fail("no number"));
    }
    if unit.is_empty() {
        return Err(fail("the unit is missing"));
    }
    if is_exponent(&trimmed[end..]) {
        return Err(fail("a number with an exponent"));
    }
    let scale = units.iter().find(|(name, _)| *name == unit).ok_or_else(|| fail("unknown unit"))?.1;
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(fail("not a decimal number"));
    }
    let fraction = fraction.trim_end_matches('0');
    if whole.len() > 20 || fraction.len() > 18 {
        return Err(fail("too many digits"));
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| fail("not a number"))? };
    let tens = 10u128.pow(fraction.len() as u32);
    let parts: u128 =
        if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| fail("not a number"))? };
    let scaled = parts * u128::from(scale);
    if !scaled.is_multiple_of(tens) {
        return Err(fail("finer than the smallest unit"));
    }
    u64::try_from(whole * u128::from(scale) + scaled / tens).map_err(|_| fail("too large"))
}

/// A number from zero on in digits, with a point and an exponent or without (`12`, `0.5`, `1.25e-3`), times ten to the
/// `power`: rounded to the nearest whole number, halves up, and whether that changed it. Any number of digits is read.
/// `None` for anything else, for numbers below zero, and for those that are too large.
pub fn scaled(text: &str, power: u32) -> Option<(u64, bool)> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, whole_exponent(exponent)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().next().is_none() || !digits().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // How many digits are before the point of the result, of which there may be fewer.
    let mut before = whole.len() as i64 + exponent + i64::from(power);
    let (mut value, mut rest, mut is_rounded) = (0u64, 0, false);
    for digit in digits().map(|byte| u64::from(byte - b'0')) {
        match before {
            1.. => value = value.checked_mul(10)?.checked_add(digit)?,
            0 => rest = digit,
            _ => {}
        }
        is_rounded |= before <= 0 && digit > 0;
        before -= 1;
    }
    while before > 0 && value > 0 {
        value = value.checked_mul(10)?;
        before -= 1;
    }
    let value = value.checked_add(u64::from(rest >= 5))?;
    (!is_negative || (value == 0 && !is_rounded)).then_some((value, is_rounded))
}

/// An exponent; a huge one is as good as any other huge one.
fn whole_exponent(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| sign * digits.parse::<i64>().unwrap_or(i64::MAX).min(1 << 40))
}

/// Whether the text goes on like `e3 Mbit/s`.
fn is_exponent(rest: &str) -> bool {
    rest.strip_prefix(['e', 'E'])
        .is_some_and(|rest| rest.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit()))
}

/// A regular expression, of the kind that JSON schemas have, for the texts that [`parse`] may accept. It does not know how
/// many digits are too many.
pub(crate) fn pattern(units: &[Unit]) -> String {
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
    format!(r"^\s*([0-9_]+\.?[0-9_]*|\.[0-9_]+)\s*({})\s*$", names.join("|"))
}

/// Prints a value in the largest unit that does not exceed it and that represents it exactly with nine decimals.
/// `units` runs from large to small and ends with the smallest, whose scale is 1.
pub(crate) fn print(value: u64, units: &[Unit], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const DECIMALS: u128 = 1_000_000_000;
    let smallest = units[units.len() - 1];
    let (name, scale) = *units
        .iter()
        .find(|(_, scale)| {
            value >= *scale && (u128::from(value) * DECIMALS).is_multiple_of(u128::from(*scale))
        })
        .unwrap_or(&smallest);
    let (whole, rest) = (value / scale, value % scale);
    let fraction = u128::from(rest) * DECIMALS / u128::from(scale);
    if fraction == 0 {
        return write!(f, "{whole} {name}");
    }
    let decimals = format!("{fraction:09}");
    write!(f, "{whole}.{} {name}", decimals.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::scaled;

    #[test]
    fn numbers_are_rounded_and_any_number_of_digits_is_read() {
        for (text, power, value, is_rounded) in [
            ("12", 0, 12, false),
            ("4.03768755221", 6, 4_037_688, true),
            ("0.5", 6, 500_000, false),
            (".5", 0, 1, true),
            ("0.4999999999999999999999999999999999", 0, 0, true),
            ("5.", 1, 50, false),
            ("1.000000000000000000e+01", 6, 10_000_000, false),
            ("2e1", 0, 20, false),
            ("+2E-1", 3, 200, false),
            ("1234567890123456789e-18", 9, 1_234_567_890, true),
            ("000000000000000000000000000012", 0, 12, false),
            ("0e999999999999999999999", 6, 0, false),
            ("1e-999999999999999999999", 6, 0, true),
            ("-0.0", 6, 0, false),
            ("1700000000.123456789", 9, 1_700_000_000_123_456_789, false),
            ("18446744073709551615", 0, u64::MAX, false),
        ] {
            assert_eq!(scaled(text, power), Some((value, is_rounded)), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_from_zero_on_is_refused() {
        for text in [
            "",
            ".",
            "e1",
            "1e",
            "1e+",
            "1e1.5",
            "-1",
            "-1e-9",
            "--0",
            "1e999",
            "18446744073709551616",
            "nan",
            "inf",
            "1.2.3",
            "0x10",
            "1_0",
            " 1",
            "1 ",
            "\u{661}",
            "1,5",
            "%",
        ] {
            assert_eq!(scaled(text, 0), None, "{text}");
        }
        assert_eq!(scaled("1e14", 6), None);
    }
}
