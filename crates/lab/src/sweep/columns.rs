//! Columns of the tables of a sweep, whose names are known only after it has run.

use trace::columns::{Bitmap, Data};

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, which ends with the unit.
    pub name: String,
    /// Its values.
    pub data: Data,
    /// For a column with null values: 1 for all others.
    pub validity: Option<Bitmap>,
}

/// A piece of a table. All pieces have the same columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The columns, of equal length.
    pub columns: Vec<Column>,
}

impl Table {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.data.len())
    }
    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}
