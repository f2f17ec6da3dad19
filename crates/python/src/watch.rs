//! What happens while a run goes on: Python's signals are looked at, and the progress is told, not too often.

use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Between two looks at Python's signals: Ctrl-C stops a run within about this time.
const SIGNALS: Duration = Duration::from_millis(20);
/// Between two calls of the progress function: ten times a second is enough for eyes.
const REPORTS: Duration = Duration::from_millis(100);

/// Watches one run.
pub(crate) struct Watch {
    report: Option<Py<PyAny>>,
    next_signals: Instant,
    next_report: Instant,
    /// The exception that ended the run: KeyboardInterrupt, or what the progress function raised.
    stopped: Option<PyErr>,
}

impl Watch {
    /// `report` is called with (now_s, end_s, done_bytes, total_bytes or None).
    pub(crate) fn new(report: Option<Py<PyAny>>) -> Watch {
        let now = wall_clock();
        Watch { report, next_signals: now, next_report: now, stopped: None }
    }

    /// One step of the run; called without the GIL.
    pub(crate) fn step(&mut self, progress: &lab::Progress) -> ControlFlow<()> {
        let now = wall_clock();
        if now < self.next_signals {
            return ControlFlow::Continue(());
        }
        self.next_signals = now + SIGNALS;
        let due = now >= self.next_report;
        if due {
            self.next_report = now + REPORTS;
        }
        match Python::attach(|py| self.ask(py, due.then_some(progress))) {
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

    fn ask(&self, py: Python<'_>, progress: Option<&lab::Progress>) -> PyResult<()> {
        py.check_signals()?;
        if let (Some(report), Some(progress)) = (&self.report, progress) {
            let now = progress.now.as_secs_f64();
            let end = progress.end.as_secs_f64();
            report.call1(py, (now, end, progress.done_bytes, progress.total_bytes))?;
        }
        Ok(())
    }
}

/// The wall clock says when to look up from the work; the work itself never sees it.
#[allow(
    clippy::disallowed_methods,
    reason = "how often Python is asked has no influence on what a run computes"
)]
fn wall_clock() -> Instant {
    Instant::now()
}
