//! Values over time from a text: CSV as people, tools and spreadsheets write it. The only reader of such files.
//!
//! The first line names the columns, or has two numbers: then the columns are seconds and Mbit/s, as in the traces of
//! Pensieve and its successors. Cells are separated by commas, by semicolons (then a comma is a decimal point), or by
//! blanks; quotes around cells, empty lines, comments (`#`) and a byte order mark are allowed. Times count from the first
//! one. Lines of the same time become their mean.

use super::error::SeriesError;
use super::without_mark;
use units::{Duration, Rate, Time};

/// The most lines that are taken.
pub const MAX_LINES: usize = 10_000_000;

/// The maximum delay of a line.
pub const LONGEST_DELAY: Duration = Duration::from_secs(3600);

/// What a column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// In bit/s.
    Rate,
    /// In nanoseconds.
    Delay,
    /// A probability.
    Loss,
}

/// The units of time by the names of the first column.
const TIMES: [(&str, &str); 2] = [("time_ms", "ms"), ("time_s", "s")];

/// The other columns by their names, with their units.
const COLUMNS: [(&str, Column, &str); 5] = [
    ("rate_mbps", Column::Rate, "Mbit/s"),
    ("rate_kbps", Column::Rate, "kbit/s"),
    ("rate_bps", Column::Rate, "bit/s"),
    ("delay_ms", Column::Delay, "ms"),
    ("loss", Column::Loss, ""),
];

/// The columns of a file without names.
const UNNAMED: [&str; 2] = ["time_s", "rate_mbps"];

/// Times, which rise from zero on, and the values of each column.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) times: Vec<Time>,
    pub(crate) columns: Vec<(Column, Vec<f64>)>,
    /// The number of the last line.
    pub(crate) last_line: usize,
    /// The number of lines with the last time.
    same: usize,
}

/// How the lines of a file are written.
#[derive(Debug)]
struct Form {
    /// `None` for blanks.
    separator: Option<char>,
    time_unit: &'static str,
    columns: Vec<(Column, &'static str)>,
}

impl Table {
    /// Reads a file with these columns, of which at least one must be there.
    ///
    /// # Errors
    /// The first line that is not one, with what would be right; or if there is none, or more than [`MAX_LINES`].
    pub(crate) fn parse(text: &str, allowed: &[Column]) -> Result<Table, SeriesError> {
        let mut lines = (1..)
            .zip(without_mark(text).lines().map(str::trim))
            .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
            .peekable();
        let (number, first) = lines.peek().copied().unwrap_or((1, ""));
        let (form, is_named) = Form::of(first, allowed).map_err(|problem| fail(number, problem))?;
        if is_named {
            lines.next();
        }
        let columns = form.columns.iter().map(|(column, _)| (*column, Vec::new())).collect();
        let mut table = Table { columns, last_line: number, ..Table::default() };
        let mut origin = None;
        for (number, line) in lines {
            let wrong = || fail(number, format!("found {:?}, expected {}", beginning(line), form.expected()));
            let (time, values) = form.values(line).ok_or_else(wrong)?;
            let origin = *origin.get_or_insert(time);
            if time < origin || table.times.len() >= MAX_LINES {
                let problem = format!("{time} comes after {origin}; times must not decrease");
                let many = format!("more than {MAX_LINES} lines");
                return Err(fail(number, if time < origin { problem } else { many }));
            }
            table.push(time - origin, &values).map_err(|problem| fail(number, problem))?;
            table.last_line = number;
        }
        if table.times.is_empty() {
            return Err(fail(number + 1, "there is no line after the header".to_owned()));
        }
        Ok(table)
    }

    /// Adds a line.
    fn push(&mut self, after: Duration, values: &[f64]) -> Result<(), String> {
        let time = Time::ZERO + after;
        match self.times.last() {
            Some(before) if time < *before => {
                return Err(format!("{time} comes after {before}; times must not decrease"));
            }
            Some(before) if time == *before => {
                self.same += 1;
                let count = self.same as f64;
                for ((column, known), value) in self.columns.iter_mut().zip(values) {
                    if let Some(last) = known.last_mut() {
                        let mean = *last + (value - *last) / count;
                        *last = if *column == Column::Loss { mean } else { mean.round() };
                    }
                }
            }
            _ => {
                self.same = 1;
                self.times.push(time);
                self.columns.iter_mut().zip(values).for_each(|((_, known), value)| known.push(*value));
            }
        }
        Ok(())
    }
}

fn fail(line: usize, problem: String) -> SeriesError {
    SeriesError { line, problem }
}

impl Form {
    /// The form of a file by its first line, and whether that names the columns.
    fn of(first: &str, allowed: &[Column]) -> Result<(Form, bool), String> {
        let separator = [';', ','].into_iter().find(|sign| first.contains(*sign));
        let cells = cells(first, separator);
        let is_named = !cells.iter().all(|cell| number(cell, separator).is_some()) || cells.is_empty();
        let names = match cells.len() {
            2 if !is_named => UNNAMED.to_vec(),
            _ => cells.iter().map(|cell| cell.trim_matches('"')).collect(),
        };
        let form = Form::named(&names, separator, allowed).ok_or_else(|| {
            let known: Vec<&str> = COLUMNS
                .iter()
                .filter(|(_, column, _)| allowed.contains(column))
                .map(|(name, ..)| *name)
                .collect();
            let only = if known.len() > 3 { "one or more of " } else { "one of " };
            // One number alone: a Mahimahi trace in the place of CSV.
            let hint = if cells.len() == 1 && !is_named { "; Mahimahi is for type = \"trace\"" } else { "" };
            format!(
                "found {:?}, expected the names of columns: \"time_ms\" or \"time_s\", then {only}{}{hint}",
                beginning(first),
                known.join(", ")
            )
        })?;
        Ok((form, is_named))
    }

    fn named(names: &[&str], separator: Option<char>, allowed: &[Column]) -> Option<Form> {
        let (time, others) = names.split_first()?;
        let (_, time_unit) = TIMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(time))?;
        let mut columns: Vec<(Column, &'static str)> = Vec::new();
        for name in others {
            let (_, column, unit) = COLUMNS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name))?;
            if columns.iter().any(|(known, _)| known == column) || !allowed.contains(column) {
                return None;
            }
            columns.push((*column, unit));
        }
        (!columns.is_empty()).then_some(Form { separator, time_unit, columns })
    }

    /// The time of a line, and its values.
    fn values(&self, line: &str) -> Option<(Duration, Vec<f64>)> {
        let mut cells = cells(line, self.separator);
        // Spreadsheets end lines with empty cells.
        while cells.len() > self.columns.len() + 1 && cells.last() == Some(&"") {
            cells.pop();
        }
        let (time, others) = cells.split_first()?;
        if others.len() != self.columns.len() {
            return None;
        }
        let read = |cell: &str, unit: &str| Some(format!("{} {unit}", number(cell, self.separator)?));
        let time: Duration = read(time, self.time_unit)?.parse().ok()?;
        let mut values = Vec::with_capacity(others.len());
        for ((column, unit), cell) in self.columns.iter().zip(others) {
            values.push(match column {
                Column::Rate => read(cell, unit)?.parse::<Rate>().ok()?.as_bits_per_sec() as f64,
                Column::Delay => {
                    let delay: Duration = read(cell, unit)?.parse().ok()?;
                    Some(delay).filter(|delay| *delay <= LONGEST_DELAY)?.as_nanos() as f64
                }
                Column::Loss => number(cell, self.separator)?.parse().ok().filter(|loss| *loss <= 1.0)?,
            });
        }
        Some((time, values))
    }

    /// What a line should be.
    fn expected(&self) -> String {
        let words = |(column, unit): &(Column, &str)| match column {
            Column::Rate => format!("a rate in {unit}"),
            Column::Delay => format!("a delay in {unit}, at most 3600000"),
            Column::Loss => "a loss from 0 to 1".to_owned(),
        };
        let values: Vec<String> = self.columns.iter().map(words).collect();
        format!("a time in {}, {}", self.time_unit, values.join(", "))
    }
}

fn cells(line: &str, separator: Option<char>) -> Vec<&str> {
    match separator {
        Some(separator) => line.split(separator).map(|cell| cell.trim().trim_matches('"').trim()).collect(),
        None => line.split_whitespace().collect(),
    }
}

/// A number without sign and exponent, with a decimal point.
fn number(cell: &str, separator: Option<char>) -> Option<String> {
    let text = if separator == Some(';') { cell.replacen(',', ".", 1) } else { cell.to_owned() };
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_plain.then_some(text)
}

/// The beginning of a line, for errors.
fn beginning(line: &str) -> String {
    line.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Column; 3] = [Column::Rate, Column::Delay, Column::Loss];

    /// Milliseconds and values of a file.
    fn read(text: &str) -> (Vec<u64>, Vec<(Column, Vec<f64>)>) {
        let table = Table::parse(text, &ALL).unwrap_or_else(|error| panic!("{text}: {error}"));
        (table.times.iter().map(|time| time.as_nanos() / 1_000_000).collect(), table.columns)
    }

    /// The same values as people, tools and spreadsheets write them.
    #[test]
    fn the_same_is_read_from_every_form() {
        let expected = (vec![0, 2_000, 5_500], vec![(Column::Rate, vec![20e6, 4_500_000.0, 0.0])]);
        for text in [
            "time_ms,rate_mbps\n0,20\n2000,4.5\n5500,0\n",
            "\u{feff}time_ms,rate_mbps\r\n0,20\r\n2000,4.5\r\n5500,0\r\n",
            "time_ms, rate_mbps \n0, 20\n 2000 ,4.5\n\n5500,0\n\n\n",
            "# what it is\ntime_s,rate_kbps\n0,20000\n# an outage\n2,4500\n5.5,0",
            "Time_s;Rate_Mbps\n0;20\n2;4,5\n5,5;0\n",
            "\"time_s\";\"rate_mbps\"\n\"0\";\"20\"\n\"2\";\"4,5\"\n\"5,5\";\"0\"\n",
            "time_s\trate_bps\n0\t20000000\n2\t4500000\n5.5\t0\n",
            "0 20\n2 4.5\n5.5 0\n",
            "0.0\t20\n2.0\t4.5\n5.5\t0.0\n",
            "0,20\n2,4.5\n5.5,0\n",
            "1583325061.5 20\n1583325063.5 4.5\n1583325067 0\n",
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
        assert_eq!(
            read("time_ms,rate_mbps\n0,20,\n2000,4.5,,\n5500,0\n"),
            expected,
            "empty cells of a spreadsheet"
        );
    }

    #[test]
    fn lines_of_the_same_time_become_their_mean() {
        let (times, columns) =
            read("time_s,rate_mbps,delay_ms,loss\n0,3,10,0\n1,2,10,0\n1,4,20,0.5\n1,9,30,1\n2,1,5,0\n");
        assert_eq!(times, [0, 1_000, 2_000]);
        let values: Vec<&[f64]> = columns.iter().map(|(_, values)| values.as_slice()).collect();
        assert_eq!(values, [&[3e6, 5e6, 1e6], &[10e6, 20e6, 5e6], &[0.0, 0.5, 0.0]]);
    }

    #[test]
    fn the_place_of_a_mistake_is_its_line() {
        let error = |text: &str| Table::parse(text, &ALL).unwrap_err().to_string();
        let expected = "expected a time in s, a rate in Mbit/s";
        assert_eq!(error("# c\n\n0 1\n\n1 x\n"), format!("5: found \"1 x\", {expected}"));
        assert_eq!(error("time_s;rate_mbps\n0;1\n1;1,5,5\n"), format!("3: found \"1;1,5,5\", {expected}"));
        assert_eq!(error("3 1\n2 1\n"), "2: 2 s comes after 3 s; times must not decrease");
        assert!(error("1 2 3\n").starts_with("1: found \"1 2 3\", expected the names of columns"));
    }
}
