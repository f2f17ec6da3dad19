//! The class `Stepper`: a run that is executed step by step.

use crate::outside::with_cause;
use crate::scenario::Scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use units::{Duration, Time};

/// A run without tables or traces that advances on request.
#[pyclass(unsendable, module = "quiclab._quiclab")]
pub(crate) struct Stepper {
    inner: lab::Stepper,
}

#[pymethods]
impl Stepper {
    /// Creates a run of a scenario with this seed, at time zero.
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64) -> PyResult<Stepper> {
        let inner = lab::Stepper::new(&scenario.inner(), seed).map_err(|error| with_cause(py, error))?;
        Ok(Stepper { inner })
    }

    /// The virtual time in seconds.
    #[getter]
    fn now_s(&self) -> f64 {
        self.inner.now().as_secs_f64()
    }

    /// The latest end of the run in seconds.
    #[getter]
    fn end_s(&self) -> f64 {
        self.inner.end().as_secs_f64()
    }

    /// Whether all flows are finished.
    #[getter]
    fn over(&self) -> bool {
        self.inner.is_over()
    }

    /// Runs up to a time in seconds, to the end of the run, or until all flows are finished.
    fn run_until(&mut self, py: Python<'_>, until_s: f64) -> PyResult<()> {
        if !until_s.is_finite() || until_s < 0.0 {
            return Err(PyValueError::new_err(format!("{until_s} s is not a time; expected 0 or more")));
        }
        let mut stopped = None;
        let until = Time::ZERO + Duration::from_secs_f64(until_s);
        let result = self.inner.run_until(until, || match py.check_signals() {
            Ok(()) => true,
            Err(error) => {
                stopped = Some(error);
                false
            }
        });
        match stopped {
            Some(error) => Err(error),
            None => result.map_err(|error| with_cause(py, error)),
        }
    }
}
