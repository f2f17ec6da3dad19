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
