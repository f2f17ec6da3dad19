//! A table: columns of equal length, filled row by row.

use super::data::{Column, Data};

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
    /// Starts a row. Every column must get a value, in order.
    pub(super) fn row(&mut self) -> Row<'_> {
        if self.rows() == 0 {
            self.columns.iter_mut().for_each(|column| column.data.reserve(FIRST_ROWS));
        }
        Row(self.columns.iter_mut())
    }
    /// Starts rows. Every column must get its values, in order.
    pub(super) fn append<'a, L>(&'a mut self, lines: &'a [L]) -> Rows<'a, L> {
        Rows(self.columns.iter_mut(), lines)
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
            _ => debug_assert!(false, "column {} has another type", column.name),
        }
        if let Some(validity) = &mut column.validity {
            validity.set(row);
        }
    }
}

/// A value for [`Table::fill`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell {
    F64(f64),
    U64(u64),
    Flag(bool),
}

/// A row under construction: each call sets the value of the next column.
pub(super) struct Row<'a>(std::slice::IterMut<'a, Column>);

impl Row<'_> {
    pub(super) fn f64(mut self, value: f64) -> Self {
        match self.0.next() {
            Some(Column { data: Data::F64(values), .. }) => values.push(value),
            other => wrong(other),
        }
        self
    }
    pub(super) fn u64(mut self, value: u64) -> Self {
        match self.0.next() {
            Some(Column { data: Data::U64(values), .. }) => values.push(value),
            other => wrong(other),
        }
        self
    }
    pub(super) fn u32(mut self, value: u32) -> Self {
        match self.0.next() {
            Some(Column { data: Data::U32(values), .. }) => values.push(value),
            other => wrong(other),
        }
        self
    }
    pub(super) fn optional_f64(mut self, value: Option<f64>) -> Self {
        match self.0.next() {
            Some(Column { data: Data::F64(values), validity: Some(validity), .. }) => {
                values.push(value.unwrap_or(f64::NAN));
                validity.push(value.is_some());
            }
            other => wrong(other),
        }
        self
    }
    pub(super) fn optional_u64(mut self, value: Option<u64>) -> Self {
        match self.0.next() {
            Some(Column { data: Data::U64(values), validity: Some(validity), .. }) => {
                values.push(value.unwrap_or(0));
                validity.push(value.is_some());
            }
            other => wrong(other),
        }
        self
    }
    /// A boolean that is not known yet.
    pub(super) fn unknown_flag(mut self) -> Self {
        match self.0.next() {
            Some(Column { data: Data::Bool(values), validity: Some(validity), .. }) => {
                values.push(false);
                validity.push(false);
            }
            other => wrong(other),
        }
        self
    }
    /// Text by its code. The dictionary is fixed, or added at the end.
    pub(super) fn code(mut self, code: u32) -> Self {
        match self.0.next() {
            Some(Column { data: Data::Text(text), .. }) => text.codes.push(code),
            other => wrong(other),
        }
        self
    }
    pub(super) fn word(mut self, word: &str) -> Self {
        match self.0.next() {
            Some(Column { data: Data::Text(text), .. }) => {
                let code = text.words.code(word);
                text.codes.push(code);
            }
            other => wrong(other),
        }
        self
    }
    /// Completes the row.
    pub(super) fn end(mut self) {
        debug_assert!(self.0.next().is_none(), "a row without a value for every column");
    }
}

/// Rows under construction: each call sets the values of the next column.
pub(super) struct Rows<'a, L>(std::slice::IterMut<'a, Column>, &'a [L]);

impl<L> Rows<'_, L> {
    pub(super) fn f64(mut self, value: impl Fn(&L) -> f64) -> Self {
        match self.0.next() {
            Some(Column { data: Data::F64(values), .. }) => values.extend(self.1.iter().map(value)),
            other => wrong(other),
        }
        self
    }
    pub(super) fn u64(mut self, value: impl Fn(&L) -> u64) -> Self {
        match self.0.next() {
            Some(Column { data: Data::U64(values), .. }) => values.extend(self.1.iter().map(value)),
            other => wrong(other),
        }
        self
    }
    pub(super) fn u32(mut self, value: impl Fn(&L) -> u32) -> Self {
        match self.0.next() {
            Some(Column { data: Data::U32(values), .. }) => values.extend(self.1.iter().map(value)),
            other => wrong(other),
        }
        self
    }
    pub(super) fn flag(mut self, value: impl Fn(&L) -> bool) -> Self {
        match self.0.next() {
            Some(Column { data: Data::Bool(bits), .. }) => {
                self.1.iter().for_each(|line| bits.push(value(line)))
            }
            other => wrong(other),
        }
        self
    }
    pub(super) fn optional_f64(mut self, value: impl Fn(&L) -> Option<f64>) -> Self {
        match self.0.next() {
            Some(Column { data: Data::F64(values), validity: Some(validity), .. }) => {
                values.extend(self.1.iter().map(|line| value(line).unwrap_or(f64::NAN)));
                self.1.iter().for_each(|line| validity.push(value(line).is_some()));
            }
            other => wrong(other),
        }
        self
    }
    pub(super) fn optional_u64(mut self, value: impl Fn(&L) -> Option<u64>) -> Self {
        match self.0.next() {
            Some(Column { data: Data::U64(values), validity: Some(validity), .. }) => {
                values.extend(self.1.iter().map(|line| value(line).unwrap_or(0)));
                self.1.iter().for_each(|line| validity.push(value(line).is_some()));
            }
            other => wrong(other),
        }
        self
    }
    /// Text by its codes. The dictionary is fixed, or added at the end.
    pub(super) fn code(mut self, code: impl Fn(&L) -> u32) -> Self {
        match self.0.next() {
            Some(Column { data: Data::Text(text), .. }) => text.codes.extend(self.1.iter().map(code)),
            other => wrong(other),
        }
        self
    }
    pub(super) fn word(mut self, word: impl Fn(&L) -> &str) -> Self {
        match self.0.next() {
            Some(Column { data: Data::Text(text), .. }) => {
                let words = &mut text.words;
                text.codes.extend(self.1.iter().map(|line| words.code(word(line))));
            }
            other => wrong(other),
        }
        self
    }
    /// Completes the rows.
    pub(super) fn end(mut self) {
        debug_assert!(self.0.next().is_none(), "rows without a value for every column");
    }
}

#[cold]
fn wrong(column: Option<&mut Column>) {
    debug_assert!(false, "a value that column {:?} does not take", column.map(|column| column.name));
}
