//! Tables that leave memory while they grow: the parts of tables, and who takes them.

use super::data::{Data, Words};
use super::schema::{self, CONNECTION, LINK, NODE};
use super::table::Table;
use std::io;

/// The rows of a part.
pub const PART: usize = 1 << 15;

/// Takes the rows of tables while a run goes on, for example to write them to files. What a run keeps in memory then does
/// not grow with its tables.
///
/// Only tables whose rows never change are taken: `connection`, `loss`, `event`, `gauge`, `packet`, `queue`, `drop`, `node`
/// and `block`. The other tables have a row for a stream, a message, an object or a bin, and stay in memory.
pub trait Store {
    /// Takes the next rows of a table, in their final order. Text that is added later gets higher codes.
    ///
    /// The rows are forgotten after the call, and the memory of the table that is in `part` then is used for the next ones. If
    /// the store keeps the table, it leaves [`Table::without_rows`] of it.
    ///
    /// # Errors
    /// Those of writing. They end the run.
    fn append(&mut self, part: &mut Table) -> io::Result<()>;
    /// Drops every second row of each subject from what was taken of a table, and keeps the first one. Rows belong to the
    /// same subject if they have the same text in the columns `subject`. Returns the number of rows that are left.
    ///
    /// # Errors
    /// Those of reading and writing. They end the run.
    fn thin(&mut self, table: &'static str, subject: &[&'static str]) -> io::Result<u64>;
}

/// What the tables of a run share: the store, and the names of subjects.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) store: Option<Box<dyn Store + 'a>>,
    /// The names in the columns `connection`, `link` and `node` of all tables.
    pub(super) names: Words,
    /// The first error of the store. After it, rows are dropped.
    error: Option<io::Error>,
}

impl Parts<'_> {
    /// Hands over what is more than a part, and at least one row less than all. So the last part has all names.
    pub(super) fn hand_over(&mut self, table: &mut Table) {
        while table.rows() > PART {
            let rest = table.split_off(PART);
            self.append(table);
            table.extend(&rest);
        }
    }
    /// Hands over all rows of a table.
    pub(super) fn append(&mut self, table: &mut Table) {
        let Some(store) = &mut self.store else { return };
        if table.rows() == 0 {
            return;
        }
        for column in &mut table.columns {
            if let Data::Text(text) = &mut column.data
                && [CONNECTION, LINK, NODE].contains(&column.name)
            {
                text.words = self.names.clone();
            }
        }
        table.stored += table.rows() as u64;
        if self.error.is_none() {
            self.error = store.append(table).err();
        }
        table.clear();
    }
    /// Thins the rows of a table that were handed over, and returns how many are left.
    pub(super) fn thin(&mut self, table: &Table) -> u64 {
        let thinned = match &mut self.store {
            Some(store) if self.error.is_none() => store.thin(table.name, &schema::subject(table)),
            _ => Ok(0),
        };
        thinned.unwrap_or_else(|error| {
            self.error = Some(error);
            0
        })
    }
    /// Takes the error of the store.
    pub(super) fn check(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }
}
