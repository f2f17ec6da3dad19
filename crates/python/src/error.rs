//! The exception hierarchy of the package, and the mapping of errors of `lab` to it.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    quiclab,
    Error,
    PyException,
    "What went wrong and what to change, in one line. The base of all others."
);
create_exception!(
    quiclab,
    ScenarioError,
    Error,
    "The scenario is not valid: file, line, key, what was found, what is allowed."
);
create_exception!(quiclab, RunError, Error, "The run could not continue.");
create_exception!(quiclab, OutputError, Error, "Results could not be written or read back.");

/// The exception for an invalid scenario.
pub(crate) fn scenario(error: lab::ScenarioError) -> PyErr {
    ScenarioError::new_err(error.to_string())
}

/// The exception for a run of the scenario of results.
pub(crate) fn recorded() -> PyErr {
    RunError::new_err(
        "the scenario was read from results, without the code that it names; expected Scenario.from_file",
    )
}

/// The exception for a failed run.
pub(crate) fn run(error: lab::RunError) -> PyErr {
    let message = error.to_string();
    match error {
        lab::RunError::Output { .. } => OutputError::new_err(message),
        _ => RunError::new_err(message),
    }
}
