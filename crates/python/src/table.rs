//! The class `Table`: the columns of a run, readable in place by any Arrow consumer.

use arrow::{Field, Source, Values, Words};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::borrow::Cow;
use std::sync::Arc;
use trace::columns::{Bitmap, Data};

/// A finished table, or a part of one.
pub(crate) struct Finished(trace::columns::Table);

impl Finished {
    pub(crate) fn new(table: trace::columns::Table) -> Finished {
        Finished(table)
    }
    pub(crate) fn into_table(self) -> trace::columns::Table {
        self.0
    }
    pub(crate) fn without_rows(&self) -> trace::columns::Table {
        self.0.without_rows()
    }
}

impl Source for Finished {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn fields(&self) -> Vec<Field<'_>> {
        self.0
            .columns
            .iter()
            .map(|column| field(column.name, &column.data, column.validity.as_ref()))
            .collect()
    }
}

/// Rows of a table of a sweep.
struct Piece(lab::sweep::Table);

impl Source for Piece {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn fields(&self) -> Vec<Field<'_>> {
        self.0
            .columns
            .iter()
            .map(|column| field(&column.name, &column.data, column.validity.as_ref()))
            .collect()
    }
}

fn field<'a>(name: &'a str, data: &'a Data, validity: Option<&'a Bitmap>) -> Field<'a> {
    let values = match data {
        Data::F64(values) => Values::F64(values),
        Data::U64(values) => Values::U64(values),
        Data::U32(values) => Values::U32(values),
        Data::I64(values) => Values::I64(values),
        Data::Bool(bits) => Values::Bool(bits.as_bytes(), bits.len()),
        Data::Text(text) => {
            Values::Text(&text.codes, Words { offsets: text.words.offsets(), bytes: text.words.bytes() })
        }
    };
    Field { name, values, validity: validity.map(Bitmap::as_bytes) }
}

/// A table of a run. Any Arrow reader can use it without copying: `pyarrow.table(table)`.
#[pyclass(frozen, module = "quiclab._quiclab")]
pub(crate) struct Table {
    name: Cow<'static, str>,
    note: Option<String>,
    source: Arc<dyn Source>,
}

impl Table {
    /// Wraps a finished table.
    pub(crate) fn new(table: trace::columns::Table) -> Table {
        Table::shared(&Arc::new(Finished(table)))
    }

    /// Wraps a table that others have, too.
    pub(crate) fn shared(table: &Arc<Finished>) -> Table {
        Table { name: table.0.name.into(), note: table.0.note(), source: Arc::<Finished>::clone(table) }
    }

    /// Wraps rows of a table of a sweep.
    pub(crate) fn of_sweep(name: impl Into<Cow<'static, str>>, table: lab::sweep::Table) -> Table {
        Table { name: name.into(), note: None, source: Arc::new(Piece(table)) }
    }

    /// A capsule named `arrow_schema`.
    fn schema_capsule<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, arrow::schema(&*self.source), c"arrow_schema")
    }
}

#[pymethods]
impl Table {
    /// The name of the table.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// A sentence if rows are missing because of the size limit; otherwise None.
    #[getter]
    fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.source.rows()
    }

    /// The column names in order.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.source.fields().iter().map(|field| field.name).collect()
    }

    /// The memory address of each column's values, in order, for tests that nothing is copied.
    fn addresses(&self) -> Vec<usize> {
        self.source.fields().iter().map(|field| field.values.address().addr()).collect()
    }

    /// The schema as a capsule of the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        self.schema_capsule(py)
    }

    /// Schema and rows as capsules of the Arrow PyCapsule interface. A requested schema is ignored.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface permits the producer to ignore the request; the consumer then casts.
        drop(requested_schema);
        let array = PyCapsule::new_with_value(py, arrow::array(&self.source), c"arrow_array")?;
        Ok((self.schema_capsule(py)?, array))
    }

    /// The rows as a stream of one batch, in a capsule of the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        PyCapsule::new_with_value(py, arrow::stream(&self.source), c"arrow_array_stream")
    }
}
