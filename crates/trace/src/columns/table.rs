//! A table: columns of equal length, filled row by row.

use super::data::{Column, Data};
use super::value::{Code, TableSchema};

/// The rows for which a table has room once it has one.
const FIRST_ROWS: usize = 16;

/// A named list of columns of equal length.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name.
    pub name: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
    /// The number of rows before these, which a [`Store`](super::Store) took.
    pub stored: u64,
    /// The number of rows omitted because the table was full.
    pub left_out: u64,
    /// For a series: the reciprocal of the share of kept rows per subject; 1 if all are kept.
    pub stride: u64,
}

impl Table {
    /// The number of rows in memory.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }
    /// The number of rows, with those that were stored.
    pub fn all_rows(&self) -> u64 {
        self.stored + self.rows() as u64
    }
    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
    /// A sentence for the user if rows are missing.
    pub fn note(&self) -> Option<String> {
        let (name, rows, missing) = (self.name, self.all_rows(), self.left_out);
        match (missing, self.stride) {
            (0, _) => None,
            (_, 1) => {
                Some(format!("table {name:?} is full: it has the first {rows} rows and omits {missing}"))
            }
            (_, stride) => Some(format!(
                "table {name:?} is thinned: it has one row in {stride} of each subject and omits {missing}"
            )),
        }
    }
    /// Appends rows.
    pub(super) fn append<R: Row>(&mut self, rows: &[R]) {
        if self.rows() == 0 {
            self.columns.iter_mut().for_each(|column| column.data.reserve(FIRST_ROWS));
        }
        R::append(rows, self);
    }
    /// The code of a word in a column of texts, for a row that is then appended.
    pub(super) fn word(&mut self, column: usize, word: &str) -> Code {
        match &mut self.columns[column].data {
            Data::Text(text) => Code(text.words.code(word)),
            _ => unreachable!("a column of words is one of texts"),
        }
    }
    /// Removes the rows from `at` on and returns them.
    pub(super) fn split_off(&mut self, at: usize) -> Table {
        let columns = self.columns.iter_mut().map(|column| column.split_off(at)).collect();
        Table { columns, ..Table::empty(self.name) }
    }
    /// Appends the rows of a table with the same columns and words.
    pub(super) fn extend(&mut self, rows: &Table) {
        self.columns.iter_mut().zip(&rows.columns).for_each(|(column, more)| column.extend(more));
    }
    /// Removes all rows, but keeps their memory.
    pub(super) fn clear(&mut self) {
        self.columns.iter_mut().for_each(Column::clear);
    }
    /// A table with the same columns and no rows, which has no memory yet.
    #[must_use]
    pub fn without_rows(&self) -> Table {
        Table { columns: self.columns.iter().map(Column::without_rows).collect(), ..*self }
    }
    /// A table without columns.
    pub fn empty(name: &'static str) -> Table {
        Table { name, columns: Vec::new(), stored: 0, left_out: 0, stride: 1 }
    }
    /// Keeps these rows, in this order.
    pub(super) fn pick(&mut self, rows: &[u32]) {
        self.columns.iter_mut().for_each(|column| column.pick(rows));
    }
    /// Sorts the rows by the first column, a time, and rows of equal times by the codes of the second.
    pub(super) fn sort_by_time_and_code(&mut self) {
        let keys: Vec<(f64, u32)> = match (&self.columns[0].data, &self.columns[1].data) {
            (Data::F64(times), Data::Text(text)) => {
                times.iter().copied().zip(text.codes.iter().copied()).collect()
            }
            _ => Vec::new(),
        };
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by(|a, b| {
            let (a, b) = (keys[*a as usize], keys[*b as usize]);
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
        });
        self.pick(&order);
    }
    /// Sets a cell that is null.
    pub(super) fn fill(&mut self, column: usize, row: usize, value: Cell) {
        let column = &mut self.columns[column];
        match (&mut column.data, value) {
            (Data::F64(values), Cell::F64(value)) => values[row] = value,
            (Data::U64(values), Cell::U64(value)) => values[row] = value,
            // The initial value is `false`.
            (Data::Bool(values), Cell::Flag(true)) => values.set(row),
            (Data::Bool(_), Cell::Flag(false)) => {}
            _ => unreachable!("column {} has the type of its schema", column.name),
        }
        if let Some(validity) = &mut column.validity {
            validity.set(row);
        }
    }
}

/// A row of one of the tables.
pub(super) trait Row: Copy {
    const SCHEMA: TableSchema;
    /// The table without rows.
    fn table() -> Table;
    /// Appends rows to it.
    fn append(rows: &[Self], table: &mut Table);
}

/// A value for [`Table::fill`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell {
    F64(f64),
    U64(u64),
    Flag(bool),
}
