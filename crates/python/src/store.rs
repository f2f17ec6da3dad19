//! Hands the parts of tables to Python while a run goes on.

use crate::table::{Finished, Table};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::io;
use std::mem;
use std::sync::Arc;
use trace::columns;

/// A store that calls an object of Python: `append(table)` with the next rows of a table, and `thin(name, subject)`, which
/// returns the number of rows that are left.
pub(crate) struct Store<'a> {
    target: Py<PyAny>,
    /// The exception that ended the run.
    raised: &'a mut Option<PyErr>,
}

impl<'a> Store<'a> {
    /// The first exception of `target` is kept in `raised`.
    pub(crate) fn new(target: Py<PyAny>, raised: &'a mut Option<PyErr>) -> Store<'a> {
        Store { target, raised }
    }

    /// Calls Python; the run does not hold the GIL.
    fn call<T>(&mut self, call: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<T>) -> io::Result<T> {
        Python::attach(|py| call(py, &self.target)).map_err(|error| {
            *self.raised = Some(error);
            io::Error::other("the table was not stored")
        })
    }
}

impl columns::Store for Store<'_> {
    fn append(&mut self, part: &mut columns::Table) -> io::Result<()> {
        let name = part.name;
        let shared = Arc::new(Finished::new(mem::replace(part, columns::Table::empty(name))));
        let result = self.call(|py, target| {
            let table = Py::new(py, Table::shared(&shared))?;
            target.call_method1(py, "append", (table,)).map(drop)
        });
        // Python may have kept the rows.
        *part = Arc::try_unwrap(shared).map_or_else(|kept| kept.without_rows(), Finished::into_table);
        result
    }

    fn thin(&mut self, table: &'static str, subject: &[&'static str]) -> io::Result<u64> {
        self.call(|py, target| {
            let subject = PyTuple::new(py, subject)?;
            target.call_method1(py, "thin", (table, subject))?.extract(py)
        })
    }
}
