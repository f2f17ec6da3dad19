//! The class `Summary`: the summary of a run, which becomes Python values when somebody asks for it.

use lab::Summary as Inner;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

/// The summary of a run.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct Summary {
    inner: Inner,
}

impl Summary {
    pub(crate) fn new(inner: Inner) -> Summary {
        Summary { inner }
    }
}

#[pymethods]
impl Summary {
    /// The values, as those of its JSON: new ones with each call.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        of_json(py, self.inner.value())
    }
}

fn of_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (None, Some(number)) => number.into_pyobject(py)?.into_any(),
            (None, None) => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let values = values.iter().map(|value| of_json(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Object(entries) => {
            let table = PyDict::new(py);
            for (key, value) in entries {
                table.set_item(key, of_json(py, value)?)?;
            }
            table.into_any()
        }
    })
}
