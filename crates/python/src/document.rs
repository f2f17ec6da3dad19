//! Python values as a TOML document, and as the values that its reader would find in it.

use crate::error::ScenarioError;
use lab::scenario::values::{Entry, Item, MAX_BRACKETS, MAX_DOCUMENT, Node};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

/// The maximum depth of tables and lists, as in the reader of scenarios. A value that contains itself would never end.
const MOST_LEVELS: usize = 32;
/// Characters of a long path in an error.
const SHOWN: usize = 40;

/// A document as text, and its values unless only the text can be read.
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) values: Option<Vec<Entry>>,
}

/// Reads a document: mappings become tables, lists of mappings become arrays of tables, and keys with None are missing.
pub(crate) fn document(table: &Bound<'_, PyDict>) -> PyResult<Document> {
    let mut writer = Writer { text: String::new(), deepest: 0 };
    let entries = writer.table(table, &mut Vec::new())?;
    if writer.text.is_empty() {
        writer.text.push('\n');
    }
    let readable = writer.deepest <= MAX_BRACKETS as usize && writer.text.len() <= MAX_DOCUMENT;
    Ok(Document { text: writer.text, values: readable.then_some(entries) })
}

/// The document as TOML. See `quiclab.values.toml_text.to_toml`.
#[pyfunction]
pub(crate) fn document_to_toml(document: &Bound<'_, PyDict>) -> PyResult<String> {
    self::document(document).map(|document| document.text)
}

/// One value as it stands in TOML after the equals sign. `key` names it in errors.
#[pyfunction]
pub(crate) fn value_to_toml(value: &Bound<'_, PyAny>, key: &str) -> PyResult<String> {
    let mut writer = Writer { text: String::new(), deepest: 0 };
    writer.value(value, &|| key.to_owned(), 0)?;
    Ok(writer.text)
}

/// The path of a key, which only errors need.
type Path<'p> = &'p dyn Fn() -> String;

struct Writer {
    text: String,
    /// The depth of the deepest value.
    deepest: usize,
}

impl Writer {
    /// Writes the keys of a table, and then the tables in it. `path`: the keys of its header.
    fn table(&mut self, table: &Bound<'_, PyDict>, path: &mut Vec<String>) -> PyResult<Vec<Entry>> {
        self.deepest = self.deepest.max(path.len());
        if path.len() > MOST_LEVELS {
            return Err(too_deep(&path.join(".")));
        }
        let (mut entries, mut nested) = (Vec::with_capacity(table.len()), Vec::new());
        // A key after a header belongs to that header, so plain values come first.
        for (key, value) in table {
            if value.is_none() {
                continue;
            }
            let name = || joined(path, &key);
            if is_section(&value)? {
                nested.push((text_of(&key, &name)?, value));
                continue;
            }
            let key = text_of(&key, &name)?;
            self.key(&key);
            self.text.push_str(" = ");
            let node =
                self.value(&value, &|| [&path[..], std::slice::from_ref(&key)].concat().join("."), 0)?;
            self.text.push('\n');
            entries.push(Entry::new(key, node));
        }
        for (key, value) in nested {
            path.push(shown(&key));
            let node = if is_mapping(&value) {
                self.header(path, "[", "]");
                Node::Table(self.table(&dict(&value)?, path)?)
            } else {
                let items = value.try_iter()?.map(|item| {
                    self.header(path, "[[", "]]");
                    Ok(Item::from(Node::Table(self.table(&dict(&item?)?, path)?)))
                });
                Node::List(items.collect::<PyResult<_>>()?)
            };
            path.pop();
            entries.push(Entry::new(key, node));
        }
        Ok(entries)
    }

    fn header(&mut self, path: &[String], open: &str, close: &str) {
        self.text.push('\n');
        self.text.push_str(open);
        for (number, key) in path.iter().enumerate() {
            if number > 0 {
                self.text.push('.');
            }
            self.text.push_str(key);
        }
        self.text.push_str(close);
        self.text.push('\n');
    }

    /// Writes a value in one line.
    fn value(&mut self, value: &Bound<'_, PyAny>, path: Path<'_>, level: usize) -> PyResult<Node> {
        self.deepest = self.deepest.max(level);
        if level > MOST_LEVELS {
            return Err(too_deep(&path()));
        }
        if let Some(node) = self.plain(value, path, level)? {
            return Ok(node);
        }
        let value = plain_of(value, &path())?;
        let node = self.plain(&value, path, level)?;
        node.ok_or_else(|| ScenarioError::new_err(format!("{}: cannot be used in a scenario", path())))
    }

    /// Writes a value of one of Python's own types; `None` for others.
    fn plain(&mut self, value: &Bound<'_, PyAny>, path: Path<'_>, level: usize) -> PyResult<Option<Node>> {
        let node = if let Ok(text) = value.cast_exact::<PyString>() {
            let text = text.to_str()?;
            self.string(text);
            Node::Text(text.to_owned())
        } else if let Ok(flag) = value.cast_exact::<PyBool>() {
            self.text.push_str(if flag.is_true() { "true" } else { "false" });
            Node::Flag(flag.is_true())
        } else if let Ok(number) = value.cast_exact::<PyInt>() {
            let digits = number.str()?;
            let digits = digits.to_str()?;
            self.text.push_str(digits);
            let limit = if digits.starts_with('-') { i128::MIN } else { i128::MAX };
            Node::Integer(digits.parse().unwrap_or(limit))
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            self.text.push_str(number.repr()?.to_str()?);
            Node::Float(number.value())
        } else if let Ok(table) = value.cast_exact::<PyDict>() {
            self.inline_table(table, path, level)?
        } else if let Ok(list) = value.cast_exact::<PyList>() {
            self.list(list.iter(), path, level)?
        } else if let Ok(list) = value.cast_exact::<PyTuple>() {
            self.list(list.iter(), path, level)?
        } else {
            return Ok(None);
        };
        Ok(Some(node))
    }

    fn inline_table(&mut self, table: &Bound<'_, PyDict>, path: Path<'_>, level: usize) -> PyResult<Node> {
        let mut entries = Vec::with_capacity(table.len());
        self.text.push_str("{ ");
        for (key, value) in table {
            if value.is_none() {
                continue;
            }
            if !entries.is_empty() {
                self.text.push_str(", ");
            }
            let key = text_of(&key, path)?;
            self.key(&key);
            self.text.push_str(" = ");
            let node = self.value(&value, &|| format!("{}.{key}", path()), level + 1)?;
            entries.push(Entry::new(key, node));
        }
        self.text.push_str(" }");
        Ok(Node::Table(entries))
    }

    fn list<'py>(
        &mut self,
        values: impl Iterator<Item = Bound<'py, PyAny>>,
        path: Path<'_>,
        level: usize,
    ) -> PyResult<Node> {
        let mut items: Vec<Item> = Vec::new();
        self.text.push('[');
        for value in values {
            if !items.is_empty() {
                self.text.push_str(", ");
            }
            items.push(self.value(&value, path, level + 1)?.into());
        }
        self.text.push(']');
        Ok(Node::List(items))
    }

    fn key(&mut self, key: &str) {
        if is_bare(key) { self.text.push_str(key) } else { self.string(key) }
    }

    /// Writes a basic string of TOML.
    fn string(&mut self, text: &str) {
        self.text.push('"');
        for c in text.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\u{8}' => self.text.push_str("\\b"),
                '\t' => self.text.push_str("\\t"),
                '\n' => self.text.push_str("\\n"),
                '\u{c}' => self.text.push_str("\\f"),
                '\r' => self.text.push_str("\\r"),
                '\0'..='\u{1f}' | '\u{7f}' => self.text.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }
}

/// A key as it stands in a header.
fn shown(key: &str) -> String {
    if is_bare(key) {
        return key.to_owned();
    }
    let mut writer = Writer { text: String::new(), deepest: 0 };
    writer.string(key);
    writer.text
}

fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The text of a key. `path` names it in the error.
fn text_of(key: &Bound<'_, PyAny>, path: Path<'_>) -> PyResult<String> {
    match key.cast::<PyString>() {
        Ok(text) => Ok(text.to_str()?.to_owned()),
        Err(_) => {
            let kind = key.get_type().name()?;
            Err(ScenarioError::new_err(format!("{}: a key is text, not a {kind}", path())))
        }
    }
}

fn joined(path: &[String], key: &Bound<'_, PyAny>) -> String {
    let key = key.str().map(|key| key.to_string_lossy().into_owned()).unwrap_or_default();
    [path, &[key]].concat().join(".")
}

fn is_mapping(value: &Bound<'_, PyAny>) -> bool {
    if value.is_exact_instance_of::<PyDict>() {
        return true;
    }
    let plain = value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>();
    !plain && value.cast::<PyMapping>().is_ok()
}

/// Whether it becomes a table with a header, or several ones.
fn is_section(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if is_mapping(value) {
        return Ok(true);
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        return Ok(!list.is_empty() && list.iter().all(|item| is_mapping(&item)));
    }
    if value.is_exact_instance_of::<PyString>() || value.is_exact_instance_of::<PyInt>() {
        return Ok(false);
    }
    glue(value.py())?.getattr("is_tables")?.call1((value,))?.extract()
}

fn dict<'py>(mapping: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    match mapping.cast_exact::<PyDict>() {
        Ok(dict) => Ok(dict.clone()),
        Err(_) => Ok(mapping.py().get_type::<PyDict>().call1((mapping,))?.cast_into::<PyDict>()?),
    }
}

/// A value of another type as one of Python's own.
fn plain_of<'py>(value: &Bound<'py, PyAny>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    glue(value.py())?.getattr("plain")?.call1((value, key))
}

/// The module quiclab.values.toml_text, which knows other types.
fn glue(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("quiclab.values.toml_text").map(Bound::unbind))?;
    Ok(module.bind(py))
}

fn too_deep(key: &str) -> PyErr {
    let cut = key.char_indices().nth(SHOWN).map(|(at, _)| format!("{}...", &key[..at]));
    let key = cut.as_deref().unwrap_or(key);
    ScenarioError::new_err(format!("{key}: nested too deeply; expected at most {MOST_LEVELS} levels"))
}
