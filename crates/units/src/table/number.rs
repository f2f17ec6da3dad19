//! Numbers in cells: the decimal sign of a file, and what is wrong with a cell that is no number.

use super::cells::{Cells, Lines, Separator, unquoted};
use super::{Reader, is_comment, quoted};
use crate::number;
use std::borrow::Cow;

/// What is known of the decimal sign of the numbers of a file, which has one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sign {
    /// That of the numbers so far.
    point: Option<char>,
    /// What the numbers of the file tell; known once it was asked for.
    told: Option<Told>,
}

/// What the numbers of a file tell of their signs.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    /// The sign that one of them has which cannot separate thousands.
    proved: Option<char>,
    /// Whether a column has numbers with one sign before three digits, and others without a sign: 1.000 beside 900.
    is_mixed: bool,
}

impl<'a> Reader<'a> {
    /// A cell that begins with a number with a point as its decimal sign, whatever the file's. `None` if it has a sign that
    /// separates thousands, or one of which nobody can say whether it does: `1.000` where no other number of the file tells.
    pub fn pointed(&mut self, cell: &'a str) -> Option<Cow<'a, str>> {
        let signs = self.signs();
        let Some(sign) = cell.chars().find(|sign| signs.contains(sign)) else { return Some(cell.into()) };
        let number =
            cell.split(|letter: char| letter.is_alphabetic() || letter.is_whitespace()).next().unwrap_or("");
        if is_grouped(number) {
            let is_open = sign == ',' || self.separator == Separator::Sign(';') || self.told().is_mixed;
            if is_open && self.told().proved != Some(sign) {
                return None;
            }
        }
        if *self.sign.point.get_or_insert(sign) != sign {
            return None;
        }
        Some(if sign == ',' { cell.replacen(',', ".", 1).into() } else { cell.into() })
    }

    /// A number from zero on, times ten to the `power`, rounded to a whole number; and whether it was rounded.
    pub fn scaled(&mut self, cell: &'a str, power: u32) -> Option<(u64, bool)> {
        number::scaled(&self.pointed(cell)?, power)
    }

    /// A whole number from zero on, however it is written: `12`, `12.0`, `1.2e1`. Not `1.000`, unless another number of the
    /// file tells that its sign is a decimal one.
    pub fn whole(&mut self, cell: &'a str) -> Option<u64> {
        if is_grouped(cell) && cell.chars().find(|sign| self.signs().contains(sign)) != self.told().proved {
            return None;
        }
        self.scaled(cell, 0).filter(|(_, is_rounded)| !is_rounded).map(|(value, _)| value)
    }

    /// A finite number.
    pub fn real(&mut self, cell: &'a str) -> Option<f64> {
        let text = self.pointed(cell)?;
        let value: f64 = is_decimal(&text).then(|| text.parse().ok()).flatten()?;
        value.is_finite().then_some(value)
    }

    /// What is wrong with a cell in the place of a number from zero on, for errors; `None` if it is a number, which may be
    /// out of range.
    pub fn fault(&mut self, cell: &'a str) -> Option<String> {
        if cell.is_empty() {
            return Some("an empty cell".to_owned());
        }
        let found = quoted(cell);
        let unsigned = cell.trim_start_matches(['-', '+', '\u{2212}']);
        if unsigned.len() < cell.len()
            && !cell.starts_with('+')
            && unsigned.starts_with(|sign: char| sign.is_ascii_digit() || sign == '.')
        {
            return Some(format!("{found} is below zero"));
        }
        if self.pointed(cell).is_some_and(|text| is_decimal(&text)) {
            return None;
        }
        if is_grouped(unsigned) {
            let either = self.either(unsigned);
            return Some(
                either.unwrap_or_else(|| format!("{found} has a separator of thousands; write it without")),
            );
        }
        let digits =
            unsigned.chars().take_while(|sign| sign.is_ascii_digit() || ".,".contains(*sign)).count();
        let (number, behind) = unsigned.split_at(digits);
        let signs = number.matches(['.', ',']).count();
        Some(match behind.trim() {
            "" if signs > 1 || (signs == 1 && self.separator == Separator::Sign(',')) => {
                format!("{found} has a separator of thousands, or a decimal sign that is not a point")
            }
            "" if signs == 1 => format!("{found} has another decimal sign than the numbers before it"),
            unit if digits > 0
                && unit.starts_with(|sign: char| sign.is_alphabetic() || sign == '%')
                && !unit.starts_with(['e', 'E', 'x']) =>
            {
                format!("{found} has a unit; write the number alone")
            }
            _ => format!("{found} is not a number"),
        })
    }

    /// As [`Reader::fault`] in the place of a whole number.
    pub fn whole_fault(&mut self, cell: &'a str) -> Option<String> {
        if let Some(fault) = self.fault(cell) {
            return Some(fault);
        }
        if self.whole(cell).is_some() {
            return None;
        }
        let is_fraction = self.scaled(cell, 0).is_some_and(|(_, is_rounded)| is_rounded);
        self.either(cell).or_else(|| is_fraction.then(|| format!("{} is not a whole number", quoted(cell))))
    }

    /// That a cell can be two numbers, if nothing tells whether its sign separates thousands.
    fn either(&mut self, cell: &str) -> Option<String> {
        let signs = self.signs();
        let mut others = cell.chars().filter(|sign| !sign.is_ascii_digit());
        let is_one_sign = others.next().is_some_and(|sign| signs.contains(&sign)) && others.next().is_none();
        (is_one_sign && is_grouped(cell) && self.told().proved.is_none()).then(|| {
            let found = quoted(cell);
            format!("{found} can have three decimals or a separator of thousands; write it like 1.0 or 1000")
        })
    }

    /// The decimal signs that a number can have.
    fn signs(&self) -> &'static [char] {
        if self.separator == Separator::Sign(',') { &['.'] } else { &['.', ','] }
    }

    /// What the numbers in the columns that are read tell, up to the first that proves the sign.
    fn told(&mut self) -> Told {
        if let Some(told) = self.sign.told {
            return told;
        }
        let (signs, separator, kept) = (self.signs(), self.separator, &self.kept);
        let mut told = Told::default();
        // Of each column, whether it has numbers that may be grouped, and numbers without a sign.
        let mut columns = vec![(false, false); self.count];
        let mut lines = Lines::new(self.text);
        let lines = std::iter::from_fn(|| lines.next(Some(separator)));
        'file: for (_, line) in lines.filter(|(_, line)| !is_comment(line.trim_start())) {
            for (at, cell) in Cells::new(line, separator).map(unquoted).enumerate() {
                if !kept.is_empty() && !kept.contains(&at) {
                    continue;
                }
                told.proved = proof(cell, signs);
                if told.proved.is_some() {
                    break 'file;
                }
                if let Some((grouped, bare)) = columns.get_mut(at) {
                    *grouped |= is_grouped(cell);
                    *bare |= !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
                }
            }
        }
        told.is_mixed = columns.iter().any(|(grouped, bare)| *grouped && *bare);
        *self.sign.told.insert(told)
    }

    /// Whether a cell of the first line is not the name of a column.
    pub(super) fn is_number(&self, cell: &str) -> bool {
        let with_comma = self.signs().contains(&',');
        is_decimal(&if with_comma { cell.replacen(',', ".", 1).into() } else { Cow::from(cell) })
    }
}

/// The decimal sign of a number with one sign that cannot separate thousands.
fn proof(cell: &str, signs: &[char]) -> Option<char> {
    let mut found = cell.chars().filter(|sign| ".,".contains(*sign));
    let sign = found.next().filter(|sign| signs.contains(sign) && !is_grouped(cell))?;
    (found.next().is_none() && is_decimal(&cell.replacen(',', ".", 1))).then_some(sign)
}

/// Whether the sign of a number can separate thousands: groups of three digits, of which the first may be shorter, and is not
/// zero.
pub(super) fn is_grouped(cell: &str) -> bool {
    let cell = cell.trim_start_matches(['-', '+']);
    let mut groups = cell.split(|sign: char| ".,'’_".contains(sign) || sign.is_whitespace());
    let first = groups.next().unwrap_or("");
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let mut rest = groups.peekable();
    rest.peek().is_some()
        && (1..=3).contains(&first.len())
        && is_digits(first)
        && !first.starts_with('0')
        && rest.all(|group| group.len() == 3 && is_digits(group))
}

/// Whether a text is a number in digits: with a sign, a point and an exponent, or without.
fn is_decimal(text: &str) -> bool {
    number::scaled(text.strip_prefix('-').unwrap_or(text).split(['e', 'E']).next().unwrap_or(""), 0).is_some()
        && text.parse::<f64>().is_ok()
}
