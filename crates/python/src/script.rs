//! The function `run_script`: one packet-level script, run by the crate `script`.

use pyo3::create_exception;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use script::{Script, Verdict};

use crate::error::Error;

create_exception!(
    quiclab,
    ScriptError,
    Error,
    "The script is not one: file, line, column, what was found, what is allowed."
);

/// Runs a script and gives its verdict: `passed`, and then `statements` and `packets`, or `line`, `at`, `reason` and the
/// `report` with both traces side by side.
///
/// # Errors
/// `ScriptError` for the first mistake in it.
#[pyfunction]
#[pyo3(signature = (origin, text))]
pub(crate) fn run_script<'py>(py: Python<'py>, origin: &str, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let verdict = py.detach(|| Script::parse(origin, text).and_then(|script| script.run()));
    let told = PyDict::new(py);
    match verdict.map_err(|error| ScriptError::new_err(error.to_string()))? {
        Verdict::Passed { statements, packets } => {
            told.set_item("passed", true)?;
            told.set_item("statements", statements)?;
            told.set_item("packets", packets)?;
        }
        Verdict::Failed(failure) => {
            told.set_item("passed", false)?;
            told.set_item("line", failure.line)?;
            told.set_item("at", &failure.at)?;
            told.set_item("reason", &failure.reason)?;
            told.set_item("report", failure.to_string())?;
        }
    }
    Ok(told)
}
