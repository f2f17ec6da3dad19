//! The loader of Python code for the lab, and the kinds of components that can be written in Python.

use crate::outside::{self, Code};
use crate::{abr, application, cell_scheduler, controller, jitter, loss, middlebox, queue, rate, scheduler};
use lab::outside::{Described, Loader, Part, PlugError, Wanted};
use pyo3::prelude::*;
use units::parameter::Row;

/// Adds a component to the table of its room, as a row with this face.
type Plug = fn(Code, Row<()>) -> Result<(), PlugError>;

/// The kinds of components that can be written in Python, by their rooms.
static KINDS: &[(&str, Plug)] = &[
    ("controllers", controller::plug),
    ("schedulers", scheduler::plug),
    ("abrs", abr::plug),
    ("queues", queue::plug),
    ("losses", loss::plug),
    ("jitters", jitter::plug),
    ("rates", rate::plug),
    ("kinds", middlebox::plug),
    ("cell_schedulers", cell_scheduler::plug),
    ("applications", application::plug),
];

/// Loads Python code.
struct Reader;

/// Registers the loader with the lab.
pub(crate) fn register() {
    lab::outside::set_loader(&Reader);
}

impl Loader for Reader {
    fn describe(&self, part: &'static Part, wanted: &Wanted) -> Result<Described, String> {
        Python::attach(|py| {
            let (about, options) =
                outside::describe(py, part, wanted)?.extract::<(String, Vec<(String, Py<PyAny>)>)>()?;
            let value = |(name, value): (String, Py<PyAny>)| Ok((name, outside::read_value(value.bind(py))?));
            Ok(Described { about, options: options.into_iter().map(value).collect::<PyResult<_>>()? })
        })
        .map_err(|error: PyErr| outside::one_line(&error, None))
    }

    fn plug(&self, part: &'static Part, wanted: &Wanted, face: Row<()>) -> Result<(), PlugError> {
        let kind = KINDS.iter().find(|(room, _)| *room == part.room);
        let (_, plug) = kind.expect("each kind of components from outside can be written in Python");
        plug(Code::new(part, wanted), face)
    }

    /// Python makes a state for each thread that attaches to it and has none. It is made once for the thread, not at each
    /// call of a component.
    fn on_worker(&self, work: &mut (dyn FnMut() + Send)) {
        Python::attach(|py| py.detach(work));
    }
}
