//! The class `Scenario`: reads, prints and runs.

use crate::error;
use crate::outside;
use crate::table::Table;
use crate::watch::Watch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

/// A scenario that was read and found right.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct Scenario {
    inner: lab::Scenario,
}

impl Scenario {
    pub(crate) fn inner(&self) -> &lab::Scenario {
        &self.inner
    }
}

#[pymethods]
impl Scenario {
    /// Reads a TOML document. `origin` is the file that it came from, for messages and for the paths in it;
    /// `sets` are changes to it, "key.path=value" each.
    #[staticmethod]
    fn parse(text: &str, origin: PathBuf, sets: Vec<String>) -> PyResult<Scenario> {
        let inner = lab::Scenario::parse(text, &origin, &sets).map_err(error::scenario)?;
        Ok(Scenario { inner })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// The seed of its random streams.
    #[getter]
    fn seed(&self) -> u64 {
        self.inner.seed
    }

    /// The document with every default filled in.
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// What the scenario is, for people: pairs of what and how. All that a run needs is built first, so that what a
    /// run would refuse is refused here.
    fn describe(&self) -> PyResult<Vec<(String, String)>> {
        lab::check(&self.inner).map_err(error::run)?;
        Ok(lab::describe(&self.inner))
    }

    /// The first numbers of each quantity that the web pages of a flow are drawn from, by its name: doubles as bytes, in the
    /// order of this machine.
    fn page_draws<'py>(&self, py: Python<'py>, flow: &str, count: usize) -> PyResult<Bound<'py, PyDict>> {
        let drawn = py.detach(|| lab::page_draws(&self.inner, flow, count)).map_err(error::run)?;
        let told = PyDict::new(py);
        for (name, numbers) in drawn {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            told.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok(told)
    }

    /// Runs it with its own seed, without holding the GIL: the summary as JSON, and the tables if asked for.
    ///
    /// `qlog` is a folder for one .sqlog per end of a connection, `pcap` the capture file. `progress` is called every
    /// few milliseconds with (now_s, end_s, done_bytes, total_bytes or None); what it raises ends the run.
    #[pyo3(signature = (*, tables=true, qlog=None, pcap=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        tables: bool,
        qlog: Option<PathBuf>,
        pcap: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, Vec<Table>)> {
        let options = lab::Options { seed: None, tables, qlog, pcap };
        let mut watch = Watch::new(progress);
        let result = py.detach(|| lab::run(&self.inner, &options, &mut |progress| watch.step(&progress)));
        if let Some(stopped) = watch.into_stopped() {
            return Err(stopped);
        }
        let outcome = result.map_err(|error| outside::with_cause(py, error))?;
        Ok((outcome.summary, outcome.tables.into_iter().map(Table::new).collect()))
    }
}
