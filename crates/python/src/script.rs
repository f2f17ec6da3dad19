//! The function `run_script`, which runs a packet-level script with the crate `script`.

use pyo3::create_exception;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use script::{Script, Verdict};

use crate::error::Error;

create_exception!(
    quiclab,
    ScriptError,
    Error,
    "The script is not valid: file, line, column, what was found, what is allowed."
);

/// Runs a script and returns its verdict: `passed`, and then either `statements` and `packets`, or `line`, `at`,
/// `reason` and `report`, which has both traces side by side.
///
/// # Errors
/// `ScriptError` for the first error in it.
#[pyfunction]
#[pyo3(signature = (origin, text))]
pub(crate) fn run_script<'py>(py: Python<'py>, origin: &str, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let verdict = py.detach(|| Script::parse(origin, text).and_then(|script| script.run()));
    let report = PyDict::new(py);
    match verdict.map_err(|error| ScriptError::new_err(error.to_string()))? {
        Verdict::Passed { statements, packets } => {
            report.set_item("passed", true)?;
            report.set_item("statements", statements)?;
            report.set_item("packets", packets)?;
        }
        Verdict::Failed(failure) => {
            report.set_item("passed", false)?;
            report.set_item("line", failure.line)?;
            report.set_item("at", &failure.at)?;
            report.set_item("reason", &failure.reason)?;
            report.set_item("report", failure.to_string())?;
        }
    }
    Ok(report)
}
