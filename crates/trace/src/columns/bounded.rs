//! Tables with a maximum size: a series is thinned, other tables keep their first rows.

use super::data::Data;
use super::schema::{self, SIDE};
use super::store::Parts;
use super::table::{Row, Table};
use std::marker::PhantomData;

/// A table that keeps its first rows.
#[derive(Debug, Clone)]
pub(super) struct FirstRows<R> {
    pub(super) table: Table,
    limit: usize,
    rows: PhantomData<R>,
}

impl<R: Row> FirstRows<R> {
    pub(super) fn new(limit: usize) -> FirstRows<R> {
        FirstRows { table: R::table(), limit, rows: PhantomData }
    }
    /// Adds a row, if there is room for it. Returns whether there was; omitted rows are counted.
    pub(super) fn push(&mut self, row: R) -> bool {
        self.push_with(|_| row)
    }
    /// Adds a row that is only made if there is room for it.
    pub(super) fn push_with(&mut self, row: impl FnOnce(&mut Table) -> R) -> bool {
        let has_room = self.room() > 0;
        if has_room {
            let row = row(&mut self.table);
            self.table.append(&[row]);
        } else {
            self.table.left_out += 1;
        }
        has_room
    }
    /// Counts rows that were omitted without a call of `push`.
    pub(super) fn leave_out(&mut self, rows: u64) {
        self.table.left_out += rows;
    }
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(self.table.all_rows() as usize)
    }
}

/// The number of rows that are written to the columns at once.
const BATCH: usize = 256;

/// A table of values over time that drops every second row of each subject when it is full.
#[derive(Debug, Clone)]
pub(super) struct Series<R> {
    table: Table,
    limit: usize,
    /// The number of values of each subject so far, including omitted ones.
    seen: Vec<u64>,
    /// The newest rows, which are not in the table yet.
    newest: Vec<R>,
    /// The number of rows, with the newest ones.
    rows: usize,
}

impl<R: Row> Series<R> {
    pub(super) fn new(limit: usize) -> Series<R> {
        Series { table: R::table(), limit, seen: Vec::new(), newest: Vec::new(), rows: 0 }
    }
    pub(super) fn into_table(mut self) -> Table {
        self.write();
        self.table
    }
    /// The rows in the columns, without the newest ones.
    pub(super) fn written(&mut self) -> &mut Table {
        &mut self.table
    }
    /// Adds the next value of `subject`, if this value is to be kept. Omitted rows are counted, and not even made.
    #[inline]
    pub(super) fn add(&mut self, subject: u32, parts: &mut Parts<'_>, row: impl FnOnce() -> R) {
        let ordinal = self.ordinal(subject as usize);
        if self.is_due(ordinal) && self.rows >= self.limit {
            self.halve(parts);
        }
        if !self.is_due(ordinal) || self.rows >= self.limit {
            self.table.left_out += 1;
            return;
        }
        self.rows += 1;
        self.newest.push(row());
        if self.newest.len() >= BATCH {
            self.write();
        }
    }
    /// The number of values of a subject before this one.
    #[inline]
    fn ordinal(&mut self, subject: usize) -> u64 {
        match self.seen.get_mut(subject) {
            Some(seen) => {
                *seen += 1;
                *seen - 1
            }
            None => {
                self.seen.resize(subject + 1, 0);
                self.seen[subject] = 1;
                0
            }
        }
    }
    /// Moves the newest rows to the table.
    fn write(&mut self) {
        self.table.append(&self.newest);
        self.newest.clear();
    }
    /// The stride is a power of two, so a row that is due now was due with every smaller stride.
    fn is_due(&self, ordinal: u64) -> bool {
        ordinal & (self.table.stride - 1) == 0
    }
    #[cold]
    fn halve(&mut self, parts: &mut Parts<'_>) {
        self.write();
        if self.table.stored > 0 {
            // Those in memory follow those in the store.
            parts.append(&mut self.table);
            self.table.stored = parts.thin(&self.table);
        } else {
            let kept = every_second(&self.table);
            self.table.pick(&kept);
        }
        let before = std::mem::replace(&mut self.rows, self.table.all_rows() as usize);
        self.table.left_out += (before - self.rows) as u64;
        // With more subjects than rows, the stride would otherwise double at every value.
        self.table.stride = (self.table.stride * 2).min(1 << 62);
    }
}

/// Every second row of each subject, beginning with the first one.
fn every_second(table: &Table) -> Vec<u32> {
    let codes = |name: &str| match &table.column(name)?.data {
        Data::Text(text) => Some(&*text.codes),
        _ => None,
    };
    let owners = schema::subject(table);
    // A connection has two ends; links and nodes have no sides.
    let (names, sides) = (owners.first().and_then(|name| codes(name)), codes(SIDE));
    let mut is_odd = Vec::new();
    let mut is_kept = |row: &u32| {
        let row = *row as usize;
        let subject =
            2 * names.map_or(0, |names| names[row] as usize) + sides.map_or(0, |sides| sides[row] as usize);
        if is_odd.len() <= subject {
            is_odd.resize(subject + 1, true);
        }
        is_odd[subject] = !is_odd[subject];
        !is_odd[subject]
    };
    (0..table.rows() as u32).filter(|row| is_kept(row)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::schema::queue;
    use super::super::value::Code;
    use super::*;
    use proptest::prelude::*;

    fn put(series: &mut Series<queue::Row>, subject: u32, value: u64) {
        let parts = &mut Parts::default();
        series.add(subject, parts, || row(subject, value));
    }

    fn row(subject: u32, bytes: u64) -> queue::Row {
        queue::Row { time_s: 0.0, link: Code(subject), packets: 0, bytes }
    }

    #[test]
    fn both_of_two_alternating_subjects_survive_thinning() {
        let mut series = Series::new(8);
        (0..40).for_each(|value| put(&mut series, value as u32 % 2, value / 2));
        let table = series.into_table();
        let values = table.column("bytes").unwrap();
        let of = |code: u32| -> Vec<f64> {
            let rows = (0..table.rows()).filter(|row| table.columns[1].data_code(*row) == code);
            rows.map(|row| values.number(row).unwrap()).collect()
        };
        assert_eq!((of(0), of(1)), (vec![0.0, 8.0, 16.0], vec![0.0, 8.0, 16.0]));
        assert_eq!((table.stride, table.left_out), (8, 34));
        assert_eq!(
            table.note().unwrap(),
            "table \"queue\" is thinned: it has one row in 8 of each subject and omits 34"
        );
    }

    impl super::super::data::Column {
        fn data_code(&self, row: usize) -> u32 {
            match &self.data {
                super::super::data::Data::Text(text) => text.codes[row],
                _ => panic!("no text"),
            }
        }
    }

    #[test]
    fn a_limit_of_zero_keeps_no_rows() {
        let mut series = Series::new(0);
        (0..200).for_each(|value| put(&mut series, value as u32, value));
        assert_eq!((series.rows, series.table.left_out), (0, 200));
        let mut first = FirstRows::new(1);
        assert!(first.push(row(0, 0)));
        assert!(!first.push(row(0, 0)));
        assert_eq!(
            first.table.note().unwrap(),
            "table \"queue\" is full: it has the first 1 rows and omits 1"
        );
    }

    proptest! {
        #[test]
        fn every_row_is_kept_or_counted(subjects in prop::collection::vec(0u32..4, 0..300), limit in 0usize..40) {
            let mut series = Series::new(limit);
            for (value, subject) in subjects.iter().enumerate() {
                put(&mut series, *subject, value as u64);
                prop_assert!(series.rows <= limit);
            }
            let table = series.into_table();
            prop_assert!(table.columns.iter().all(|column| column.data.len() == table.rows()));
            prop_assert_eq!(table.rows() as u64 + table.left_out, subjects.len() as u64);
        }
    }
}
