//! Values over time from a text: rates, delays, losses.
//!
//! [`units::table`] reads the lines. Without names of columns, a file has those that its caller says, such as seconds and
//! Mbit/s in the traces of Pensieve and its successors. Times count from the first one. Lines of the same time become
//! their mean. Values that are finer than the simulator's are rounded.

use super::columns::{Column, Form, Kind, Values, names};
use super::error::SeriesError;
use units::table::{Line, Reader};
use units::{Duration, Time};

/// The most lines that are taken.
pub const MAX_LINES: usize = 10_000_000;

/// How many lines have something, and the first of them.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    count: usize,
    first: usize,
}

impl Tally {
    fn add(&mut self, line: usize) {
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
    }

    fn note(self, of: usize, words: &str) -> Option<String> {
        let Tally { count, first } = self;
        (count > 0).then(|| format!("{count} of {of} lines {words}; the first is line {first}"))
    }
}

/// Times, which rise from zero on, and the values of each column.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) times: Vec<Time>,
    pub(crate) columns: Vec<(Column, Vec<f64>)>,
    /// The number of the last line.
    pub(crate) last_line: usize,
    /// The number of lines with the last time.
    same: usize,
    lines: usize,
    assumed: Option<String>,
    absurd: Option<String>,
    skipped: Option<String>,
    rounded: Tally,
    joined: Tally,
}

impl Table {
    /// Reads a file of this kind.
    ///
    /// # Errors
    /// The first line that is not one, with what would be right; or if there is none, or more than [`MAX_LINES`].
    pub(crate) fn parse(text: &str, kind: Kind) -> Result<Table, SeriesError> {
        let mut reader = Reader::new(text);
        let first = reader.first();
        let form = Form::of(&mut reader, kind).map_err(|problem| fail(first.number, problem))?;
        let columns = form.columns.iter().map(|(_, column, _)| (*column, Vec::new())).collect();
        let skipped = reader.skipped(&names(kind).collect::<Vec<_>>());
        let assumed = reader.assumed(&kind.unnamed.join(" and "));
        let mut table = Table { columns, last_line: first.number, assumed, skipped, ..Table::default() };
        let (mut origin, mut cells) = (None, Vec::new());
        while let Some(line) = reader.next(&mut cells) {
            let values = form.values(&mut reader, &cells).map_err(|fault| {
                let (found, expected) = (line.quoted(), form.expected());
                fail(line.number, format!("found {found}: {fault}; expected {expected}"))
            })?;
            if let Some(why) = form.absurd(&values).filter(|_| table.absurd.is_none()) {
                if table.assumed.is_some() {
                    let (found, names) = (line.quoted(), kind.unnamed.join(","));
                    let expected = format!("expected a first line with names and units, like {names}");
                    return Err(fail(line.number, format!("found {found}: {why}; {expected}")));
                }
                table.absurd = Some(format!("line {}: {why}", line.number));
            }
            let (time, origin) = (values.time, *origin.get_or_insert(values.time));
            if table.lines >= MAX_LINES {
                return Err(fail(line.number, format!("more than {MAX_LINES} lines")));
            }
            if time < origin {
                let problem = format!("{time} comes after {origin}; times must not decrease");
                return Err(fail(line.number, problem));
            }
            table.push(line, time - origin, &values)?;
        }
        if table.lines > 1 && table.times.len() == 1 {
            let (lines, last) = (table.lines, table.last_line);
            return Err(fail(
                last,
                format!("all {lines} lines have the same time; expected times that rise"),
            ));
        }
        if table.times.is_empty() {
            return Err(fail(first.number + 1, "there is no line after the header".to_owned()));
        }
        Ok(table)
    }

    /// What was assumed, skipped, joined and rounded, and what is absurd.
    pub(crate) fn notes(&self) -> Vec<String> {
        let joined = self.joined.note(self.lines, "with the time of the line before: the mean is taken");
        let rounded = self.rounded.note(self.lines, "rounded to 1 bit/s and 1 ns");
        let told = [&self.assumed, &self.skipped, &self.absurd].map(Option::clone);
        told.into_iter().chain([joined, rounded]).flatten().collect()
    }

    /// Adds a line.
    fn push(&mut self, line: Line<'_>, after: Duration, values: &Values) -> Result<(), SeriesError> {
        let time = Time::ZERO + after;
        self.lines += 1;
        self.last_line = line.number;
        if values.is_rounded {
            self.rounded.add(line.number);
        }
        match self.times.last() {
            Some(before) if time < *before => {
                let problem = format!("{time} comes after {before}; times must not decrease");
                return Err(fail(line.number, problem));
            }
            Some(before) if time == *before => {
                self.same += 1;
                self.joined.add(line.number);
                let count = self.same as f64;
                for ((column, known), value) in self.columns.iter_mut().zip(&values.values) {
                    if let Some(last) = known.last_mut() {
                        let mean = *last + (value - *last) / count;
                        *last = if *column == Column::Loss { mean } else { mean.round() };
                    }
                }
            }
            _ => {
                self.same = 1;
                self.times.push(time);
                self.columns
                    .iter_mut()
                    .zip(&values.values)
                    .for_each(|((_, known), value)| known.push(*value));
            }
        }
        Ok(())
    }
}

fn fail(line: usize, problem: String) -> SeriesError {
    SeriesError { line, problem }
}

#[cfg(test)]
mod tests;
