//! The class `Summary`: the summary of a run, which becomes Python values when somebody asks for it.

use lab::{Summary as Inner, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

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
        to_python(py, self.inner.value())
    }
}

fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Flag(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
        Value::Count(count) => count.into_pyobject(py)?.into_any(),
        Value::Number(number) => number.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
        Value::List(values) => {
            let values = values.iter().map(|value| to_python(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Table(entries) => {
            let table = PyDict::new(py);
            for (name, value) in entries {
                table.set_item(name, to_python(py, value)?)?;
            }
            table.into_any()
        }
    })
}
