//! The tables of a run that its scenario asks for.

use crate::scenario::{RecordOptions, Scenario, TableName};
use std::io;
use trace::columns::{Store, Table};
use units::parameter::Choice;

/// The tables that the scenario records.
pub(crate) fn select(scenario: &Scenario, mut tables: Vec<Table>) -> Vec<Table> {
    tables.retain(|table| is_recorded(scenario, table.name));
    tables
}

fn is_recorded(scenario: &Scenario, table: &str) -> bool {
    match TableName::of_word(table) {
        Some(table) => scenario.record.value(RecordOptions::TABLES).contains(&table),
        None => {
            // They are there only if they were asked for.
            assert!(["packet", "block"].contains(&table), "`tables` has the word of the table {table}");
            true
        }
    }
}

/// A store that gets the rows of these tables; those of others are dropped.
pub(crate) struct Recorded<'a> {
    scenario: &'a Scenario,
    store: Box<dyn Store + 'a>,
}

impl<'a> Recorded<'a> {
    pub(crate) fn new(scenario: &'a Scenario, store: Box<dyn Store + 'a>) -> Recorded<'a> {
        Recorded { scenario, store }
    }
}

impl Store for Recorded<'_> {
    fn append(&mut self, part: &mut Table) -> io::Result<()> {
        if is_recorded(self.scenario, part.name) { self.store.append(part) } else { Ok(()) }
    }
    fn thin(&mut self, table: &'static str, subject: &[&'static str]) -> io::Result<u64> {
        if is_recorded(self.scenario, table) { self.store.thin(table, subject) } else { Ok(0) }
    }
}
