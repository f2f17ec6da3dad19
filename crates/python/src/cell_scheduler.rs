//! Schedulers of cells written in Python: the scheduler of `network` that calls them, once for each slot in which a terminal
//! has something to send.

use crate::outside::{Code, Object, fail, nonsense};
use lab::outside::PlugError;
use network::medium::cell_scheduler::{self, Candidate, Scheduler};
use pyo3::intern;
use pyo3::prelude::*;
use units::parameter::{Arguments, Row};

/// Adds a class to the schedulers of cells.
pub(crate) fn plug(code: Code, face: Row<()>) -> Result<(), PlugError> {
    let build = move |arguments: &Arguments, terminals, slot_ns| -> Box<dyn Scheduler> {
        Python::attach(|py| Box::new(PythonScheduler::new(py, &code, arguments, (terminals, slot_ns))))
    };
    cell_scheduler::plug(face.built_by(Box::leak(Box::new(build))))
}

/// A scheduler of a cell that calls a Python object.
struct PythonScheduler {
    object: Object,
    /// Whether the class wants to know who got what.
    notes: bool,
}

impl PythonScheduler {
    fn new(
        py: Python<'_>,
        code: &Code,
        arguments: &Arguments,
        (terminals, slot_ns): (usize, u64),
    ) -> PythonScheduler {
        let made = code.make(py, arguments).and_then(|(object, own)| {
            object.setattr(intern!(py, "terminals"), terminals)?;
            object.setattr(intern!(py, "slot_s"), slot_ns as f64 / 1e9)?;
            object.call_method0(intern!(py, "start"))?;
            Ok((object, own.contains("on_served")))
        });
        match made {
            Ok((object, notes)) => PythonScheduler { object: Object::of(object), notes },
            Err(error) => {
                fail(error, None);
                PythonScheduler { object: Object::failed(), notes: false }
            }
        }
    }
}

impl Scheduler for PythonScheduler {
    fn rank(&mut self, slot: u64, candidates: &mut [Candidate]) {
        if candidates.is_empty() {
            return;
        }
        let given: Vec<(u16, f64)> =
            candidates.iter().map(|candidate| (candidate.terminal, candidate.bits)).collect();
        let priorities = self.object.call(|py, object| {
            let answer = object.call_method1(intern!(py, "rank"), (given, slot))?;
            let priorities = answer.extract::<Vec<f64>>().ok();
            let is_right =
                |all: &Vec<f64>| all.len() == candidates.len() && all.iter().all(|one| one.is_finite());
            let expected = || format!("a list of {} finite numbers", candidates.len());
            priorities.filter(is_right).ok_or_else(|| nonsense(object, "rank", &answer, &expected()))
        });
        // After an error all are equal, until the run ends.
        for (at, candidate) in candidates.iter_mut().enumerate() {
            candidate.priority = priorities.as_ref().map_or(0.0, |priorities| priorities[at]);
        }
    }

    fn note(&mut self, slot: u64, terminal: u16, bits: u32) {
        if self.notes {
            self.object.call(|py, object| {
                object.call_method1(intern!(py, "on_served"), (terminal, bits, slot)).map(drop)
            });
        }
    }
}
