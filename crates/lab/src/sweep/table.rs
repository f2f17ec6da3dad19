//! The tables of a finished sweep in pieces: the runs, the points of their time series, and the kept tables.

use super::columns::{Column, Table};
use super::engine::{Finished, SweepError};
use super::kept::{Kept, Piece};
use super::record::Record;
use super::schema::{Cell, MAX_ROWS, Names, Row, Type, flatten};
use super::store::Location;
use crate::scenario::Unit;
use serde_json::Value;
use std::io;
use trace::columns::{Bitmap, Data, Text};

/// The start of the line of a summary that has the seed. No text of a summary has line breaks.
const SEED: &[u8] = b"\n  \"seed\": ";

impl Finished {
    /// A row for each run, for at most `most` runs from `first` on.
    ///
    /// Columns: `run` (from 1), `repetition` (from 1), `seed`; one for each varied path, a number with its unit as the last
    /// word if all values have this unit (`link.cell.delay_ms`), or else text; `error`, null for successful runs; and the
    /// values of the summary, null for failed runs.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn runs(&mut self, first: u64, most: usize) -> Result<Table, SweepError> {
        self.read_columns(self.runs.len())?;
        let end = self.runs.len().min((first as usize).saturating_add(most));
        let numbers = (first as usize).min(end)..end;
        let mut columns = self.parameters(numbers.clone());
        let mut names = Names::default();
        let mut results: Vec<Builder> =
            self.schema.columns().map(|(name, of)| Builder::new(name, of)).collect();
        for number in numbers {
            if let Ok(location) = self.runs[number].result {
                let row = match self.rows.remove(&number) {
                    Some(row) => row,
                    None => self.row(location, &mut names)?,
                };
                for (at, (name, value)) in row.into_iter().enumerate() {
                    let place = self.schema.place(&name, at).expect("the columns of all runs are known");
                    results[place].value = value;
                }
            }
            results.iter_mut().for_each(Builder::end_row);
        }
        columns.extend(results.into_iter().map(Builder::finish));
        Ok(Table { columns })
    }

    /// Finds out the columns of at most `most` further runs, and returns the number of runs whose columns are known. The table of
    /// runs needs those of all, and finds them out if they are not known.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn read_columns(&mut self, most: usize) -> Result<u64, SweepError> {
        let mut names = Names::default();
        for number in self.seen..self.runs.len().min(self.seen.saturating_add(most)) {
            if let Ok(location) = self.runs[number].result {
                let row = match self.rows.remove(&number) {
                    Some(row) => row,
                    None => self.row(location, &mut names)?,
                };
                self.schema.add(&row);
                // The first rows are mostly wanted next.
                if number < MAX_ROWS {
                    self.rows.insert(number, row);
                }
            }
            self.seen = number + 1;
        }
        Ok(self.seen as u64)
    }

    /// The time series of runs from `first` on, until there are `most` rows. Also returns the number of the next run.
    ///
    /// Columns: `run` (from 1), `table`, `subject`, `quantity`, `time_s`, `value`.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn series(&mut self, first: u64, most: usize) -> Result<(Table, u64), SweepError> {
        let (mut number, mut piece) = (first, SeriesPiece::default());
        while number < self.runs.len() as u64 && piece.values.len() < most {
            if let Ok(location) = self.runs[number as usize].result {
                piece.add(number as u32 + 1, &self.record(location)?);
            }
            number += 1;
        }
        Ok((piece.into_table(), number))
    }

    /// The rows of a kept table, for the same runs as [`series`](Finished::series): `run` (from 1), and the columns of the
    /// table. A table that the sweep does not keep, or that is missing in all runs, has only the column `run`.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn kept(&mut self, name: &str, first: u64, most: usize) -> Result<(Table, u64), SweepError> {
        let of = |record: &Record| record.tables.iter().find(|table| table.name == name).cloned();
        let some = self.runs.iter().find_map(|run| run.result.as_ref().ok().copied());
        let example: Option<Kept> =
            some.map(|location| self.record(location)).transpose()?.as_ref().and_then(of);
        let (mut number, mut piece) = (first, Piece::like(example.as_ref()));
        while number < self.runs.len() as u64 && piece.rows() < most {
            if let Ok(location) = self.runs[number as usize].result
                && let Some(table) = of(&self.record(location)?)
            {
                let added = piece.add(number as u32 + 1, &table);
                added.ok_or_else(|| SweepError::Folder {
                    path: self.folder.clone(),
                    error: io::ErrorKind::InvalidData.into(),
                })?;
            }
            number += 1;
        }
        Ok((piece.into_table(), number))
    }

    /// The number of combinations of values whose repetitions all have equal records, so that the seeds had no effect; among
    /// `most` combinations from `first` on, counted from 0.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn identical(&mut self, first: u64, most: u64) -> Result<u64, SweepError> {
        let repetitions = self.sweep.plan().repetitions as usize;
        if repetitions < 2 {
            return Ok(0);
        }
        let all = (self.runs.len() / repetitions) as u64;
        let mut identical = 0;
        for combination in first.min(all)..first.saturating_add(most).min(all) {
            let start = combination as usize * repetitions;
            identical += u64::from(self.are_equal(start..start + repetitions)?);
        }
        Ok(identical)
    }

    /// Whether these runs have equal records, apart from their seeds.
    fn are_equal(&mut self, mut numbers: std::ops::Range<usize>) -> Result<bool, SweepError> {
        let Some(Ok(location)) = numbers.next().map(|first| self.runs[first].result.clone()) else {
            return Ok(false);
        };
        let mut names = Names::default();
        let (first, row) = (self.beside_the_summary(location)?, self.row(location, &mut names)?);
        let bytes = self.without_seed(location)?;
        for other in numbers {
            let Ok(location) = self.runs[other].result else { return Ok(false) };
            // Mostly equal runs have equal bytes.
            if bytes.is_some() && self.without_seed(location)? == bytes {
                continue;
            }
            // The row of the summary has no seed. Runs that differ mostly differ there.
            if self.row(location, &mut names)? != row || self.beside_the_summary(location)? != first {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A record without the line of its summary that has the seed: the bytes before that line and those after it. `None` if the
    /// record has no such line.
    fn without_seed(&mut self, location: Location) -> Result<Option<[Vec<u8>; 2]>, SweepError> {
        let read = self.contents.read(location);
        let bytes = read.map_err(|error| SweepError::Folder { path: self.folder.clone(), error })?;
        // The length of the summary, which the digits of the seed change, is in the first bytes.
        let after_length = bytes.get(8..).unwrap_or_default();
        let seed = after_length.windows(SEED.len()).position(|bytes| bytes == SEED);
        Ok(seed.and_then(|start| {
            let (before, rest) = after_length.split_at(start);
            let end = rest.iter().position(|byte| *byte == b',')?;
            Some([before.to_vec(), rest[end..].to_vec()])
        }))
    }

    /// The series and tables of a run as bytes, in which NaN equals NaN.
    fn beside_the_summary(&mut self, location: Location) -> Result<Vec<u8>, SweepError> {
        Ok(Record { summary: String::new(), ..self.record(location)? }.to_bytes())
    }

    fn record(&mut self, location: Location) -> Result<Record, SweepError> {
        let read = self.contents.read(location);
        let record =
            read.and_then(|bytes| Record::from_bytes(&bytes).ok_or(io::ErrorKind::InvalidData.into()));
        record.map_err(|error| SweepError::Folder { path: self.folder.clone(), error })
    }

    fn row(&mut self, location: Location, names: &mut Names) -> Result<Row, SweepError> {
        let read = self.contents.read_first(location);
        let row = read.and_then(|bytes| summary_of(bytes, names).ok_or(io::ErrorKind::InvalidData.into()));
        row.map_err(|error| SweepError::Folder { path: self.folder.clone(), error })
    }
}

fn summary_of(bytes: Vec<u8>, names: &mut Names) -> Option<Row> {
    flatten(&String::from_utf8(bytes).ok()?, names)
}

impl Finished {
    /// The columns of runs that do not depend on their results.
    fn parameters(&self, numbers: std::ops::Range<usize>) -> Vec<Column> {
        let sweep = self.sweep();
        let planned: Vec<_> = numbers.clone().map(|number| sweep.planned(number as u64)).collect();
        let mut columns = vec![
            whole("run", planned.iter().map(|planned| planned.number as i64 + 1)),
            whole("repetition", planned.iter().map(|planned| i64::from(planned.repetition) + 1)),
            whole("seed", numbers.clone().map(|number| self.runs[number].seed as i64)),
        ];
        for (place, group) in sweep.plan().groups.iter().enumerate() {
            for axis in &group.axes {
                let at = planned.iter().map(|planned| planned.choice[place]);
                columns.push(match &axis.numbers {
                    Some((Unit::Whole, values)) => {
                        whole(&axis.column(), at.map(|index| values[index] as i64))
                    }
                    Some((_, values)) => Column {
                        name: axis.column(),
                        data: Data::F64(at.map(|index| values[index]).collect()),
                        validity: None,
                    },
                    None => words(&axis.column(), at.map(|index| Some(axis.labels[index].as_str()))),
                });
            }
        }
        let errors = numbers.map(|number| self.runs[number].result.as_ref().err().map(String::as_str));
        columns.push(words("error", errors));
        columns
    }
}

fn whole(name: &str, values: impl Iterator<Item = i64>) -> Column {
    Column { name: name.to_owned(), data: Data::I64(values.collect()), validity: None }
}

fn words<'w>(name: &str, values: impl Iterator<Item = Option<&'w str>>) -> Column {
    let (mut text, mut validity) = (Text::default(), Bitmap::default());
    for word in values {
        validity.push(word.is_some());
        let code = text.words.code(word.unwrap_or_default());
        text.codes.push(code);
    }
    Column { name: name.to_owned(), data: Data::Text(text), validity: Some(validity) }
}

/// A column of results while its rows are added.
struct Builder {
    column: Column,
    validity: Bitmap,
    /// The value in the current row.
    value: Cell,
}

impl Builder {
    fn new(name: &str, of: Type) -> Builder {
        let data = match of {
            Type::Real => Data::F64(Vec::new()),
            Type::Whole => Data::I64(Vec::new()),
            Type::Flag => Data::Bool(Bitmap::default()),
            Type::Text => Data::Text(Text::default()),
        };
        let column = Column { name: name.to_owned(), data, validity: None };
        Builder { column, validity: Bitmap::default(), value: Cell::Null }
    }

    /// Ends a row. A missing value is null.
    fn end_row(&mut self) {
        let value = std::mem::replace(&mut self.value, Cell::Null);
        self.validity.push(value != Cell::Null);
        match &mut self.column.data {
            Data::F64(values) => values.push(match value {
                Cell::Real(number) => number,
                Cell::Whole(number) => number as f64,
                Cell::Null => 0.0,
                other => unreachable!("a column of numbers has no other values: {other:?}"),
            }),
            Data::I64(values) => values.push(match value {
                Cell::Whole(number) => number,
                Cell::Null => 0,
                other => unreachable!("a column of whole numbers has no other values: {other:?}"),
            }),
            Data::Bool(flags) => flags.push(match value {
                Cell::Flag(flag) => flag,
                Cell::Null => false,
                other => unreachable!("a column of flags has no other values: {other:?}"),
            }),
            Data::Text(text) => {
                let word: Box<str> = match value {
                    Cell::Null => "".into(),
                    Cell::Text(word) => word,
                    Cell::Flag(flag) => flag.to_string().into(),
                    Cell::Whole(number) => number.to_string().into(),
                    Cell::Real(number) => Value::from(number).to_string().into(),
                };
                let code = text.words.code(&word);
                text.codes.push(code);
            }
            Data::U64(_) | Data::U32(_) => unreachable!("no column of results has these types"),
        }
    }

    fn finish(mut self) -> Column {
        self.column.validity = Some(self.validity);
        self.column
    }
}

/// Points of series, column by column.
#[derive(Default)]
struct SeriesPiece {
    run: Vec<i64>,
    table: Text,
    subject: Text,
    quantity: Text,
    times: Vec<f64>,
    values: Vec<f64>,
}

impl SeriesPiece {
    fn add(&mut self, run: u32, record: &Record) {
        for series in &record.series {
            let length = series.values.len();
            assert_eq!(series.times.len(), length, "each value of a series has a time");
            self.run.extend(std::iter::repeat_n(i64::from(run), length));
            for (text, word) in [
                (&mut self.table, &series.table),
                (&mut self.subject, &series.subject),
                (&mut self.quantity, &series.quantity),
            ] {
                let code = text.words.code(word);
                text.codes.extend(std::iter::repeat_n(code, length));
            }
            self.times.extend_from_slice(&series.times);
            self.values.extend_from_slice(&series.values);
        }
    }

    fn into_table(self) -> Table {
        let column = |name: &str, data| Column { name: name.to_owned(), data, validity: None };
        Table {
            columns: vec![
                column("run", Data::I64(self.run)),
                column("table", Data::Text(self.table)),
                column("subject", Data::Text(self.subject)),
                column("quantity", Data::Text(self.quantity)),
                column("time_s", Data::F64(self.times)),
                column("value", Data::F64(self.values)),
            ],
        }
    }
}
