//! The record of a finished run as bytes: its summary, its time series and its tables.

use super::bytes::{count, put_count, put_text, take, text};
use super::kept::Kept;
use crate::Outcome;
use crate::scenario::Keep;
use trace::columns::{Column, Data, Table};

/// The record of a finished run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// The summary, as JSON.
    pub(crate) summary: String,
    /// The series, in the order of the run's tables.
    pub(crate) series: Vec<Series>,
    /// The tables that are kept whole.
    pub(crate) tables: Vec<Kept>,
}

/// One quantity of one subject over time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Its table: `queue`.
    pub(crate) table: String,
    /// Its subject: `download server`, `cell forward`.
    pub(crate) subject: String,
    /// The measured quantity, with its unit: `cwnd_bytes`.
    pub(crate) quantity: String,
    /// Seconds of virtual time.
    pub(crate) times: Vec<f64>,
    /// The values at these times.
    pub(crate) values: Vec<f64>,
}

impl Record {
    /// The record of an outcome.
    pub(crate) fn of(outcome: Outcome, keep: &Keep) -> Record {
        let is_in = |names: &[String], table: &Table| names.iter().any(|name| *name == table.name);
        let series = outcome.tables.iter().filter(|table| is_in(&keep.series, table));
        let series = series.flat_map(series_of).collect();
        let tables = outcome.tables.into_iter().filter(|table| is_in(&keep.tables, table));
        Record { summary: outcome.summary.into_text(), series, tables: tables.map(Kept::of).collect() }
    }

    /// The record as bytes; the summary first, so that it can be read alone.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.summary.len() + 16);
        put_text(&mut out, &self.summary);
        put_count(&mut out, self.series.len());
        for series in &self.series {
            put_text(&mut out, &series.table);
            put_text(&mut out, &series.subject);
            put_text(&mut out, &series.quantity);
            assert_eq!(series.times.len(), series.values.len(), "each value of a series has a time");
            put_count(&mut out, series.times.len());
            for number in series.times.iter().chain(&series.values) {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
        // The tables have no count: they continue to the end.
        self.tables.iter().for_each(|table| table.put(&mut out));
        out
    }

    /// Reads a record; `None` if the bytes are invalid.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Option<Record> {
        let input = &mut bytes;
        let summary = text(input)?;
        let series = (0..count(input)?).map(|_| series(input)).collect::<Option<_>>()?;
        let mut tables = Vec::new();
        while !input.is_empty() {
            tables.push(Kept::take(input)?);
        }
        Some(Record { summary, series, tables })
    }
}

fn series(input: &mut &[u8]) -> Option<Series> {
    let (table, subject, quantity) = (text(input)?, text(input)?, text(input)?);
    let length = count(input)?;
    Some(Series { table, subject, quantity, times: numbers(input, length)?, values: numbers(input, length)? })
}

fn numbers(input: &mut &[u8], length: usize) -> Option<Vec<f64>> {
    let bytes = take(input, length.checked_mul(8)?)?;
    let number =
        |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("a chunk has the size of a number"));
    Some(bytes.chunks_exact(8).map(number).collect())
}

/// The series of a table: one for each column of numbers and each combination of its columns of text.
fn series_of(table: &Table) -> Vec<Series> {
    let Some(times) = table.column("time_s") else { return Vec::new() };
    let (texts, numbers): (Vec<&Column>, Vec<&Column>) = table
        .columns
        .iter()
        .filter(|column| column.name != times.name)
        .partition(|column| matches!(column.data, Data::Text(_)));
    let mut found: Vec<Series> = Vec::new();
    // A linear search is fast enough, since there are few subjects.
    for row in 0..table.rows() {
        let (subject, prefix) = subject_of(&texts, row);
        for column in &numbers {
            let Some((time, value)) = times.number(row).zip(column.number(row)) else { continue };
            let quantity = quantity(prefix, column.name);
            let at = found.iter().position(|s| s.subject == subject && s.quantity == quantity);
            let at = at.unwrap_or_else(|| {
                let table = table.name.to_owned();
                let subject = subject.clone();
                found.push(Series { table, subject, quantity, times: Vec::new(), values: Vec::new() });
                found.len() - 1
            });
            found[at].times.push(time);
            found[at].values.push(value);
        }
    }
    found.sort_by(|a, b| (&a.subject, &a.quantity).cmp(&(&b.subject, &b.quantity)));
    found
}

/// The subject of a row, and its gauge or kind, if the table has several.
fn subject_of<'t>(texts: &[&'t Column], row: usize) -> (String, Option<&'t str>) {
    let (mut subject, mut prefix) = (String::new(), None);
    for column in texts {
        match (column.name, column.text(row)) {
            ("gauge" | "kind", word) => prefix = word,
            (_, Some(word)) => {
                if !subject.is_empty() {
                    subject.push(' ');
                }
                subject.push_str(word);
            }
            (_, None) => {}
        }
    }
    (subject, prefix)
}

/// The name of a quantity: `cwnd_bytes`; with a kind `sent_mbps`, and for gauges the name of the gauge.
fn quantity(prefix: Option<&str>, column: &str) -> String {
    match (prefix, column) {
        (None, column) => column.to_owned(),
        (Some(gauge), "value") => gauge.to_owned(),
        (Some(kind), column) => format!("{kind}_{column}"),
    }
}
