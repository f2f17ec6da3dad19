//! The class `Scenario`, which reads, prints and runs scenarios.

use crate::document::{self, Document};
use crate::error;
use crate::outside;
use crate::store::Store;
use crate::summary::Summary;
use crate::table::Table;
use crate::watch::Watch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

/// A valid scenario.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct Scenario {
    /// Shared with the same scenario with other seeds.
    inner: Arc<lab::Scenario>,
    /// The seed that counts.
    seed: u64,
    /// Whether it is that of results, without the code that it names: it cannot be run.
    is_recorded: bool,
}

impl Scenario {
    fn new(inner: lab::Scenario) -> Scenario {
        Scenario { seed: inner.seed, inner: Arc::new(inner), is_recorded: false }
    }
    /// The scenario with its seed.
    pub(crate) fn inner(&self) -> Cow<'_, lab::Scenario> {
        if self.seed == self.inner.seed {
            return Cow::Borrowed(&self.inner);
        }
        Cow::Owned(lab::Scenario { seed: self.seed, ..lab::Scenario::clone(&self.inner) })
    }
}

#[pymethods]
impl Scenario {
    /// Reads a TOML document. `origin` is its file, for messages and for relative paths; `sets` are changes,
    /// "key.path=value" each.
    #[staticmethod]
    fn parse(text: &str, origin: PathBuf, sets: Vec<String>) -> PyResult<Scenario> {
        let inner = lab::Scenario::parse(text, &origin, &sets).map_err(error::scenario)?;
        Ok(Scenario::new(inner))
    }

    /// Reads the document of results, to look at it: it is described and written, and cannot be run. Code that it names is
    /// not loaded.
    #[staticmethod]
    #[pyo3(signature = (text, origin, sets=Vec::new()))]
    fn recorded(text: &str, origin: PathBuf, sets: Vec<String>) -> PyResult<Scenario> {
        let inner = lab::Scenario::parse_recorded(text, &origin, &sets).map_err(error::scenario)?;
        Ok(Scenario { is_recorded: true, ..Scenario::new(inner) })
    }

    /// Reads a document of Python values. Returns its text, too.
    #[staticmethod]
    fn of(document: &Bound<'_, PyDict>, origin: PathBuf) -> PyResult<(Scenario, String)> {
        let Document { text, values } = document::document(document)?;
        let read = match values {
            Some(values) => lab::Scenario::of_values(values, &text, &origin),
            None => lab::Scenario::parse(&text, &origin, &[]),
        };
        Ok((Scenario::new(read.map_err(error::scenario)?), text))
    }

    /// The same scenario with another seed, which is not read again.
    fn with_seed(&self, seed: u64) -> Scenario {
        Scenario { inner: Arc::clone(&self.inner), seed, is_recorded: self.is_recorded }
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// The seed of the random streams.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// The document with all defaults filled in. Paths of files are relative to the folder, if one is given, or else absolute;
    /// of files in the user's home they may begin with `~`.
    #[pyo3(signature = (folder=None))]
    fn to_toml(&self, folder: Option<PathBuf>) -> String {
        match folder {
            Some(folder) => self.inner().to_toml_in(&folder),
            None => self.inner().to_toml_anywhere(),
        }
    }

    /// A description of the scenario for humans, as pairs of name and value. It first builds everything that a run
    /// needs, and so detects all errors that a run would; that of results is only described.
    fn describe(&self) -> PyResult<Vec<(String, String)>> {
        if !self.is_recorded {
            lab::check(&self.inner()).map_err(error::run)?;
        }
        Ok(lab::describe(&self.inner()))
    }

    /// A sentence for each thing that was left out of a file.
    fn file_notes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| lab::file_notes(&self.inner()))
    }

    /// The first random numbers of each quantity of a flow's web pages, by name: doubles as bytes, in native byte
    /// order.
    fn page_draws<'py>(&self, py: Python<'py>, flow: &str, count: usize) -> PyResult<Bound<'py, PyDict>> {
        if self.is_recorded {
            return Err(error::recorded());
        }
        let drawn = py.detach(|| lab::page_draws(&self.inner(), flow, count)).map_err(error::run)?;
        let draws = PyDict::new(py);
        for (name, numbers) in drawn {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
            draws.set_item(name, PyBytes::new(py, &bytes))?;
        }
        Ok(draws)
    }

    /// Runs the scenario without holding the GIL. Returns the summary, and the tables if requested.
    ///
    /// `qlog` is a folder for one .sqlog file per connection end, `pcap` the capture file. `progress` is called every
    /// few milliseconds with (now_s, end_s, done_bytes, total_bytes or None); an exception from it ends the run. `seed`
    /// replaces the scenario's own. With `store`, long tables are handed over part by part while the run goes on: it has
    /// `append(table)` and `thin(name, subject) -> rows left`, and an exception from it ends the run. What is returned
    /// then are the last parts.
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    #[pyo3(signature = (*, seed=None, tables=true, qlog=None, pcap=None, progress=None, store=None))]
    fn run(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        tables: bool,
        qlog: Option<PathBuf>,
        pcap: Option<PathBuf>,
        progress: Option<Py<PyAny>>,
        store: Option<Py<PyAny>>,
    ) -> PyResult<(Summary, Vec<Table>)> {
        if self.is_recorded {
            return Err(error::recorded());
        }
        let seed = seed.unwrap_or(self.seed);
        let options = lab::Options { seed: Some(seed), tables, qlog, pcap };
        let mut watch = Watch::new(progress);
        let mut raised = None;
        let result = py.detach(|| {
            let mut progress = |progress| watch.step(&progress);
            match store {
                Some(store) => {
                    let store = Box::new(Store::new(store, &mut raised));
                    let prepared = lab::Prepared::seeded(&self.inner, seed)?;
                    lab::run_storing(&self.inner, &prepared, &options, store, &mut progress)
                }
                None => lab::run(&self.inner, &options, &mut progress),
            }
        });
        if let Some(stopped) = raised.or(watch.into_stopped()) {
            return Err(stopped);
        }
        let outcome = result.map_err(|error| outside::with_cause(py, error))?;
        Ok((Summary::new(outcome.summary), outcome.tables.into_iter().map(Table::new).collect()))
    }
}
