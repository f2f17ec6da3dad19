//! Checks for Python signals during a run, and reports its progress.

use pyo3::prelude::*;
use std::ops::ControlFlow;

/// Watches a run.
///
/// The simulator takes a step after every few milliseconds of work, which bounds the reaction time to Ctrl-C. It needs
/// no clock; a caller that wants fewer reports measures time in Python.
pub(crate) struct Watch {
    report: Option<Py<PyAny>>,
    /// The exception that ended the run: KeyboardInterrupt, or one raised by the progress function.
    stopped: Option<PyErr>,
}

impl Watch {
    /// `report` is called with (now_s, end_s, done_bytes, total_bytes or None).
    pub(crate) fn new(report: Option<Py<PyAny>>) -> Watch {
        Watch { report, stopped: None }
    }

    /// A step of the run; called without the GIL.
    pub(crate) fn step(&mut self, progress: &lab::Progress) -> ControlFlow<()> {
        match Python::attach(|py| self.check(py, progress)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.stopped = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// The exception that ended the run, if any.
    pub(crate) fn into_stopped(self) -> Option<PyErr> {
        self.stopped
    }

    fn check(&self, py: Python<'_>, progress: &lab::Progress) -> PyResult<()> {
        py.check_signals()?;
        if let Some(report) = &self.report {
            let now = progress.now.as_secs_f64();
            let end = progress.end.as_secs_f64();
            report.call1(py, (now, end, progress.done_bytes, progress.total_bytes))?;
        }
        Ok(())
    }
}
