//! The classes `Sweep`, `SweepSession` and `FinishedSweep`: many runs, here or elsewhere, and the tables of them.

use crate::error::{self, OutputError};
use crate::table::Table;
use lab::sweep::{self, Finished, Keep, Maker, Progress, Session, SweepError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A scenario with what is varied in it, read and found right.
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

    /// The name of its scenario.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.base().name
    }

    /// How many runs there are.
    #[getter]
    fn runs(&self) -> u64 {
        self.inner.runs()
    }

    /// How often each combination of values is run.
    #[getter]
    fn repetitions(&self) -> u32 {
        self.inner.plan().repetitions
    }

    /// Whether the seed makes a difference to any run: whether anything draws at random.
    #[getter]
    fn draws(&self, py: Python<'_>) -> bool {
        py.detach(|| self.inner.draws())
    }

    /// The tables of which the time series are kept.
    #[getter]
    fn series(&self) -> Vec<String> {
        self.inner.plan().keep.series.clone()
    }

    /// The tables that are kept whole.
    #[getter]
    fn keep(&self) -> Vec<String> {
        self.inner.plan().keep.tables.clone()
    }

    /// What is varied: for each path its values as text and the name of its column, in the order of the file.
    #[getter]
    fn parameters(&self) -> Vec<(String, Vec<String>, String)> {
        let axes = self.inner.plan().axes();
        axes.map(|axis| (axis.name.clone(), axis.labels.clone(), axis.column())).collect()
    }

    /// A line for each value of the document that no run has, because the sweep replaces it by others.
    #[getter]
    fn notes(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.inner.notes())
    }

    /// The columns that the table of runs will have; None where that takes too long to find out before.
    fn columns(&self, py: Python<'_>) -> Option<Vec<String>> {
        py.detach(|| self.inner.columns())
    }

    /// Makes the runs that the folder does not have, on `jobs` threads, without holding the GIL. `progress` is called
    /// every few milliseconds with (done, reused, failed, total); what it raises ends the sweep, as a signal does.
    fn run(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        jobs: usize,
        progress: Py<PyAny>,
    ) -> PyResult<FinishedSweep> {
        let mut stopped = None;
        let mut watch = |far: Progress| {
            let told = Python::attach(|py| {
                py.check_signals()?;
                progress.call1(py, (far.done, far.reused, far.failed, far.total)).map(drop)
            });
            match told {
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

    /// Begins it in a folder for runs that are made elsewhere.
    fn session(&self, py: Python<'_>, folder: PathBuf) -> PyResult<SweepSession> {
        let session = py.detach(|| Session::open(&self.inner, &folder)).map_err(|error| failed(&error))?;
        Ok(SweepSession { inner: Mutex::new(Some(session)) })
    }
}

/// A sweep in a folder whose runs are made elsewhere.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct SweepSession {
    inner: Mutex<Option<Session>>,
}

impl SweepSession {
    fn with<T>(&self, what: impl FnOnce(&mut Session) -> T) -> PyResult<T> {
        // A panic leaves nothing half-changed in it.
        let mut session = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        session.as_mut().map(what).ok_or_else(|| OutputError::new_err("the sweep is finished"))
    }
}

#[pymethods]
impl SweepSession {
    /// The next run that the folder does not have: its number from 0, its resolved scenario, and the files in it by
    /// path. None when all were handed out.
    #[allow(clippy::type_complexity, reason = "a row of a table")]
    fn order(&self, py: Python<'_>) -> PyResult<Option<(u64, String, BTreeMap<PathBuf, String>)>> {
        let order = py.detach(|| self.with(Session::order))?;
        Ok(order.map(|order| {
            let files = order.files.into_iter().map(|(path, text)| (path, text.to_string())).collect();
            (order.number, order.scenario, files)
        }))
    }

    /// Keeps what `carry_out` gave for a run, or why nothing came.
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

    /// The tables, when all came back.
    fn finish(&self, py: Python<'_>) -> PyResult<FinishedSweep> {
        let session = self.inner.lock().unwrap_or_else(PoisonError::into_inner).take();
        let session = session.ok_or_else(|| OutputError::new_err("the sweep is finished"))?;
        let finished = py.detach(|| session.finish()).map_err(|error| failed(&error))?;
        Ok(FinishedSweep { inner: Mutex::new(finished) })
    }
}

/// Makes the runs of orders, one after the other: for each (what is kept of it, None), or (None, why it failed). An order
/// is a resolved scenario and the files in it by path; `series` and `keep` are as
/// in `Sweep`.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "rows of a table")]
pub(crate) fn carry_out<'py>(
    py: Python<'py>,
    orders: Vec<(String, BTreeMap<PathBuf, String>)>,
    series: Vec<String>,
    keep: Vec<String>,
) -> Vec<(Option<Bound<'py, PyBytes>>, Option<String>)> {
    let made = py.detach(|| {
        let (mut maker, keep) = (Maker::default(), Keep { series, tables: keep });
        let make = |(scenario, files): (String, BTreeMap<PathBuf, String>)| {
            let files = files.into_iter().map(|(path, text)| (path, Arc::from(text))).collect();
            maker.make(&scenario, &files, &keep)
        };
        orders.into_iter().map(make).collect::<Vec<_>>()
    });
    let told = made.into_iter().map(|result| match result {
        Ok(contents) => (Some(PyBytes::new(py, &contents)), None),
        Err(error) => (None, Some(error)),
    });
    told.collect()
}

/// A sweep whose runs are all finished.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct FinishedSweep {
    inner: Mutex<Finished>,
}

impl FinishedSweep {
    fn with<T>(&self, what: impl FnOnce(&mut Finished) -> T) -> T {
        // A panic leaves nothing half-changed in it.
        what(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
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

    /// The runs that failed, in order: number from 1, repetition from 1, seed, the paths with their values, and why.
    #[getter]
    #[allow(clippy::type_complexity, reason = "a row of a table")]
    fn failures(&self) -> Vec<(u64, u32, u64, Vec<(String, String)>, String)> {
        self.with(|finished| {
            let rows = finished.failures().map(|failure| {
                let planned = finished.sweep().planned(failure.number);
                let settings = finished.sweep().settings(&planned);
                let settings = settings.into_iter().map(|(path, value)| (path.to_owned(), value.to_owned()));
                let settings = settings.collect();
                (failure.number + 1, planned.repetition + 1, failure.seed, settings, failure.problem)
            });
            rows.collect()
        })
    }

    /// How many combinations of values have repetitions that all gave the same.
    fn identical(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.with(Finished::identical)).map_err(|error| failed(&error))
    }

    /// The resolved scenario of a run, with its seed; the number counts from 1.
    fn scenario(&self, number: u64) -> PyResult<String> {
        let scenario = self.with(|finished| finished.scenario(number.saturating_sub(1)));
        scenario.map(|scenario| scenario.to_toml()).map_err(error::scenario)
    }

    /// At most `most` rows of the table of runs, from the row `first` on.
    fn runs(&self, py: Python<'_>, first: u64, most: usize) -> PyResult<Table> {
        let table = py.detach(|| self.with(|finished| finished.runs(first, most)));
        table.map(|table| Table::of_sweep("runs", table)).map_err(|error| failed(&error))
    }

    /// Rows of the table of time series: of the run `first`, counted from 0, and of as many after it as make `most`
    /// rows; and the number of the next run.
    fn series_rows(&self, py: Python<'_>, first: u64, most: usize) -> PyResult<(Table, u64)> {
        let table = py.detach(|| self.with(|finished| finished.series(first, most)));
        table.map(|(table, next)| (Table::of_sweep("series", table), next)).map_err(|error| failed(&error))
    }

    /// Rows of a table of the runs that the sweep keeps, as `series_rows`.
    fn kept_rows(&self, py: Python<'_>, name: String, first: u64, most: usize) -> PyResult<(Table, u64)> {
        let table = py.detach(|| self.with(|finished| finished.kept(&name, first, most)));
        table.map(|(table, next)| (Table::of_sweep(name, table), next)).map_err(|error| failed(&error))
    }
}

fn failed(error: &SweepError) -> PyErr {
    OutputError::new_err(error.to_string())
}
