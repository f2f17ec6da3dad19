//! What happens while a run goes on: Python's signals are looked at, and the progress is told.

use pyo3::prelude::*;
use std::ops::ControlFlow;

/// Watches one run.
///
/// The simulator takes a step each time that some milliseconds of work are done, and that is how soon Ctrl-C ends a run.
/// No clock is needed, or read, for it; who wants to be told less often counts time on the side of Python.
pub(crate) struct Watch {
    report: Option<Py<PyAny>>,
    /// The exception that ended the run: KeyboardInterrupt, or what the progress function raised.
    stopped: Option<PyErr>,
}

impl Watch {
    /// `report` is called with (now_s, end_s, done_bytes, total_bytes or None).
    pub(crate) fn new(report: Option<Py<PyAny>>) -> Watch {
        Watch { report, stopped: None }
    }

    /// One step of the run; called without the GIL.
    pub(crate) fn step(&mut self, progress: &lab::Progress) -> ControlFlow<()> {
        match Python::attach(|py| self.ask(py, progress)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.stopped = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    /// The exception that ended the run, if one did.
    pub(crate) fn into_stopped(self) -> Option<PyErr> {
        self.stopped
    }

    fn ask(&self, py: Python<'_>, progress: &lab::Progress) -> PyResult<()> {
        py.check_signals()?;
        if let Some(report) = &self.report {
            let now = progress.now.as_secs_f64();
            let end = progress.end.as_secs_f64();
            report.call1(py, (now, end, progress.done_bytes, progress.total_bytes))?;
        }
        Ok(())
    }
}
