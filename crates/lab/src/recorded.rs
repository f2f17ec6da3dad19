//! The tables of a run that its scenario asks for.

use crate::scenario::Scenario;
use std::io;
use trace::columns::{Store, Table};
use units::parameter::Value;

/// The tables that the scenario records.
pub(crate) fn select(scenario: &Scenario, mut tables: Vec<Table>) -> Vec<Table> {
    tables.retain(|table| is_recorded(scenario, table.name));
    tables
}

fn is_recorded(scenario: &Scenario, table: &str) -> bool {
    // These two are there only if they were asked for.
    ["packet", "block"].contains(&table)
        || scenario.record.list("tables").contains(&Value::Text(table.to_owned()))
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
