//! The classes `Sweep`, `SweepSession` and `FinishedSweep`: many runs, executed here or elsewhere, and their tables.

use crate::error::{self, OutputError};
use crate::table::Table;
use lab::sweep::{self, Finished, Keep, Maker, OngoingSweep, Order, Progress, SweepError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A valid scenario with its varied parameters.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct Sweep {
    inner: sweep::Sweep,
}

#[pymethods]
impl Sweep {
    /// Reads a TOML document, as `Scenario.parse` does.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, origin: PathBuf, sets: Vec<String>) -> PyResult<Sweep> {
        let inner = py.detach(|| sweep::Sweep::parse(text, &origin, &sets)).map_err(error::scenario)?;
        Ok(Sweep { inner })
    }

    /// The name of the scenario.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.base().name
    }

    /// The names of the scenario's gates, which need real time.
    #[getter]
    fn gates(&self) -> Vec<String> {
        lab::emulation::gates(self.inner.base()).into_iter().map(|gate| gate.name).collect()
    }

    /// The number of runs.
    #[getter]
    fn runs(&self) -> u64 {
        self.inner.runs()
    }

    /// The number of repetitions of each combination of values.
    #[getter]
    fn repetitions(&self) -> u32 {
        self.inner.plan().repetitions
    }

    /// Whether the seed affects any run, that is, whether anything is random.
    #[getter]
    fn draws(&self, py: Python<'_>) -> bool {
        py.detach(|| self.inner.draws())
    }

    /// The tables whose time series are kept.
    #[getter]
    fn series(&self) -> Vec<String> {
        self.inner.plan().keep.series.clone()
    }

    /// The tables that are kept completely.
    #[getter]
    fn keep(&self) -> Vec<String> {
        self.inner.plan().keep.tables.clone()
    }

    /// The varied parameters in the order of the file: path, values as text, and column name.
    #[getter]
    fn parameters(&self) -> Vec<(String, Vec<String>, String)> {
        let axes = self.inner.plan().axes();
        axes.map(|axis| (axis.name.clone(), axis.labels.clone(), axis.column())).collect()
    }

    /// A note for each value of the document that no run uses because the sweep replaces it.
    #[getter]
    fn notes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.inner.notes())
    }

    /// A sentence for each thing that was left out of a file of a run.
    fn file_notes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.inner.file_notes())
    }

    /// The columns of the table of runs; None if determining them would take too long.
    fn columns(&self, py: Python<'_>) -> Option<Vec<String>> {
        py.detach(|| self.inner.columns())
    }

    /// Executes the runs that are missing in the folder, on `jobs` threads, without holding the GIL. `progress` is
    /// called every few milliseconds with (done, reused, failed, total); an exception from it ends the sweep, like a
    /// signal.
    fn run(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        jobs: usize,
        progress: Py<PyAny>,
    ) -> PyResult<FinishedSweep> {
        let mut stopped = None;
        let mut watch = |far: Progress| {
            let called = Python::attach(|py| {
                py.check_signals()?;
                progress.call1(py, (far.done, far.reused, far.failed, far.total)).map(drop)
            });
            match called {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    stopped = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let finished = py.detach(|| sweep::run(&self.inner, &folder, jobs, &mut watch));
        match (stopped, finished) {
            (Some(stopped), _) => Err(stopped),
            (None, Ok(finished)) => Ok(FinishedSweep { inner: Mutex::new(finished) }),
            (None, Err(error)) => Err(failed(&error)),
        }
    }

    /// Opens a session in a folder for runs that are executed elsewhere.
    fn session(&self, py: Python<'_>, folder: PathBuf) -> PyResult<SweepSession> {
        let session =
            py.detach(|| OngoingSweep::open(&self.inner, &folder)).map_err(|error| failed(&error))?;
        Ok(SweepSession { inner: Mutex::new(Some(session)), text: Mutex::new(None) })
    }
}

/// A sweep in a folder whose runs are executed elsewhere.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct SweepSession {
    inner: Mutex<Option<OngoingSweep>>,
    /// The text of the latest order, which most orders share: one object in Python, so that it is sent once with them.
    text: Mutex<Option<(Arc<str>, Py<PyString>)>>,
}

impl SweepSession {
    fn with<T>(&self, call: impl FnOnce(&mut OngoingSweep) -> T) -> PyResult<T> {
        // A panic cannot leave it in an inconsistent state.
        let mut session = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        session.as_mut().map(call).ok_or_else(|| OutputError::new_err("the sweep is finished"))
    }
}

#[pymethods]
impl SweepSession {
    /// The next run that is missing in the folder: its number from 0, its resolved scenario, its seed, which is not that
    /// of the text, and its files by path.
    /// None if all were returned.
    #[allow(clippy::type_complexity, reason = "a row of a table")]
    fn order(&self, py: Python<'_>) -> PyResult<Option<(u64, Py<PyString>, u64, BTreeMap<PathBuf, String>)>> {
        let order = py.detach(|| self.with(OngoingSweep::order))?;
        Ok(order.map(|order| {
            let files = order.files.into_iter().map(|(path, text)| (path, text.to_string())).collect();
            let mut latest = self.text.lock().unwrap_or_else(PoisonError::into_inner);
            let text = match latest.take() {
                Some((text, object)) if Arc::ptr_eq(&text, &order.scenario) => (text, object),
                _ => (Arc::clone(&order.scenario), PyString::new(py, &order.scenario).unbind()),
            };
            let object = text.1.clone_ref(py);
            *latest = Some(text);
            (order.number, object, order.seed, files)
        }))
    }

    /// Stores the result of `carry_out` for a run, or why there is none.
    #[pyo3(signature = (number, contents, error))]
    fn put(&self, number: u64, contents: Option<&[u8]>, error: Option<String>) -> PyResult<()> {
        let result = contents.map(<[u8]>::to_vec).ok_or(error.unwrap_or_default());
        self.with(|session| session.put(number, result))?.map_err(|error| failed(&error))
    }

    /// (done, reused, failed, total).
    #[getter]
    fn counts(&self) -> PyResult<(u64, u64, u64, u64)> {
        let far = self.with(|session| session.progress())?;
        Ok((far.done, far.reused, far.failed, far.total))
    }

    /// The tables, once all results are stored.
    fn finish(&self, py: Python<'_>) -> PyResult<FinishedSweep> {
        let session = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        let session = session.ok_or_else(|| OutputError::new_err("the sweep is finished"))?;
        let finished = py.detach(|| session.finish()).map_err(|error| failed(&error))?;
        Ok(FinishedSweep { inner: Mutex::new(finished) })
    }
}

/// Executes the runs of orders one after the other. Returns (kept results, None) or (None, error) for each. An order is
/// a resolved scenario, the seed of the run, and its files by path; `series` and `keep` are as in `Sweep`.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "rows of a table")]
pub(crate) fn carry_out<'py>(
    py: Python<'py>,
    orders: Vec<(String, u64, BTreeMap<PathBuf, String>)>,
    series: Vec<String>,
    keep: Vec<String>,
) -> Vec<(Option<Bound<'py, PyBytes>>, Option<String>)> {
    let results = py.detach(|| {
        let (mut maker, keep) = (Maker::default(), Keep { series, tables: keep });
        let make = |(number, (scenario, seed, files)): (u64, (String, u64, BTreeMap<PathBuf, String>))| {
            let files = files.into_iter().map(|(path, text)| (path, Arc::from(text))).collect();
            maker.make(&Order { number, scenario: scenario.into(), seed, files }, &keep)
        };
        (0..).zip(orders).map(make).collect::<Vec<_>>()
    });
    let pairs = results.into_iter().map(|result| match result {
        Ok(contents) => (Some(PyBytes::new(py, &contents)), None),
        Err(error) => (None, Some(error)),
    });
    pairs.collect()
}

/// A sweep whose runs are all finished.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct FinishedSweep {
    inner: Mutex<Finished>,
}

impl FinishedSweep {
    fn with<T>(&self, call: impl FnOnce(&mut Finished) -> T) -> T {
        // A panic cannot leave it in an inconsistent state.
        call(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl FinishedSweep {
    /// (done, reused, failed, total).
    #[getter]
    fn counts(&self) -> (u64, u64, u64, u64) {
        let far = self.with(|finished| finished.progress());
        (far.done, far.reused, far.failed, far.total)
    }

    /// The first `most` failed runs in order: number from 1, repetition from 1, seed, the paths with their values, and the
    /// error.
    #[allow(clippy::type_complexity, reason = "a row of a table")]
    fn failures(&self, most: usize) -> Vec<(u64, u32, u64, Vec<(String, String)>, String)> {
        self.with(|finished| {
            let rows = finished.failures().take(most).map(|failure| {
                let planned = finished.sweep().planned(failure.number);
                let settings = finished.sweep().settings(&planned);
                let settings = settings.into_iter().map(|(path, value)| (path.to_owned(), value.to_owned()));
                let settings = settings.collect();
                (failure.number + 1, planned.repetition + 1, failure.seed, settings, failure.problem)
            });
            rows.collect()
        })
    }

    /// The number of combinations of values whose repetitions all gave the same result, among `most` from `first` on,
    /// counted from 0.
    fn identical(&self, py: Python<'_>, first: u64, most: u64) -> PyResult<u64> {
        py.detach(|| self.with(|finished| finished.identical(first, most))).map_err(|error| failed(&error))
    }

    /// Finds out the columns of at most `most` further runs; returns the number of runs whose columns are known.
    fn read_columns(&self, py: Python<'_>, most: usize) -> PyResult<u64> {
        py.detach(|| self.with(|finished| finished.read_columns(most))).map_err(|error| failed(&error))
    }

    /// The resolved scenario of a run, with its seed. The number counts from 1.
    fn scenario(&self, number: u64) -> PyResult<String> {
        let scenario = self.with(|finished| finished.scenario(number.saturating_sub(1)));
        scenario.map(|scenario| scenario.to_toml_anywhere()).map_err(error::scenario)
    }

    /// At most `most` rows of the table of runs, from row `first` on.
    fn runs(&self, py: Python<'_>, first: u64, most: usize) -> PyResult<Table> {
        let table = py.detach(|| self.with(|finished| finished.runs(first, most)));
        table.map(|table| Table::of_sweep("runs", table)).map_err(|error| failed(&error))
    }

    /// Rows of the table of time series: those of the run `first`, counted from 0, and of further runs up to `most`
    /// rows; and the number of the next run.
    fn series_rows(&self, py: Python<'_>, first: u64, most: usize) -> PyResult<(Table, u64)> {
        let table = py.detach(|| self.with(|finished| finished.series(first, most)));
        table.map(|(table, next)| (Table::of_sweep("series", table), next)).map_err(|error| failed(&error))
    }

    /// Rows of a kept table of the runs, as in `series_rows`.
    fn kept_rows(&self, py: Python<'_>, name: String, first: u64, most: usize) -> PyResult<(Table, u64)> {
        let table = py.detach(|| self.with(|finished| finished.kept(&name, first, most)));
        table.map(|(table, next)| (Table::of_sweep(name, table), next)).map_err(|error| failed(&error))
    }
}

fn failed(error: &SweepError) -> PyErr {
    OutputError::new_err(error.to_string())
}
