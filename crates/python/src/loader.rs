//! The loader of Python code for the lab.

use crate::{abr, controller, outside, scheduler};
use congestion::{Controller, Setup};
use lab::outside::{Described, Loader, Part, Wanted};
use pyo3::prelude::*;
use schedule::Scheduler;
use units::parameter::Arguments;
use video::abr::Abr;

/// Loads Python code.
struct Reader;

/// Registers the loader with the lab.
pub(crate) fn register() {
    lab::outside::set_loader(&Reader);
}

impl Loader for Reader {
    fn describe(&self, part: Part, wanted: &Wanted) -> Result<Described, String> {
        Python::attach(|py| {
            let (about, options) =
                outside::describe(py, part, wanted)?.extract::<(String, Vec<(String, Py<PyAny>)>)>()?;
            let value = |(name, value): (String, Py<PyAny>)| Ok((name, outside::read_value(value.bind(py))?));
            Ok(Described { about, options: options.into_iter().map(value).collect::<PyResult<_>>()? })
        })
        .map_err(|error: PyErr| outside::one_line(&error, None))
    }

    fn controller(&self, wanted: &Wanted, arguments: &Arguments, setup: Setup) -> Box<dyn Controller> {
        Python::attach(|py| Box::new(controller::PythonController::new(py, wanted, arguments, setup)))
    }

    fn scheduler(&self, wanted: &Wanted, arguments: &Arguments) -> Box<dyn Scheduler> {
        Python::attach(|py| Box::new(scheduler::PythonScheduler::new(py, wanted, arguments)))
    }

    fn abr(&self, wanted: &Wanted, arguments: &Arguments) -> Box<dyn Abr> {
        Python::attach(|py| Box::new(abr::PythonAbr::new(py, wanted, arguments)))
    }
}
