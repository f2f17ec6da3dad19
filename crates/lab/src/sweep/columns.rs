//! Columns of the tables of a sweep, whose names are not known before it was run.

use trace::columns::{Bitmap, Data};

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, with the unit last.
    pub name: String,
    /// Its values.
    pub data: Data,
    /// For a column that can be null: 1 where it is not.
    pub validity: Option<Bitmap>,
}

/// Some rows of a table; all its pieces have the same columns.
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
    /// The column of a name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}
