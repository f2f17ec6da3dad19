//! The values of a summary: those of JSON, in a fixed order, with names that are mostly constants.

use std::borrow::Cow;
use std::io;

/// A value of a summary.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not known.
    Null,
    /// A flag.
    Flag(bool),
    /// A count.
    Count(u64),
    /// A finite number.
    Number(f64),
    /// Text.
    Text(Cow<'static, str>),
    /// A list.
    List(Vec<Value>),
    /// Named values. No name is there twice.
    Table(Vec<(Cow<'static, str>, Value)>),
}

/// A table of values that are converted by [`Value::from`]: `table! { "name": value, ... }`.
macro_rules! table {
    ($($name:literal: $value:expr),* $(,)?) => {
        $crate::summary::value::Value::Table(vec![
            $((std::borrow::Cow::Borrowed($name), $crate::summary::value::Value::from($value))),*
        ])
    };
}
pub(crate) use table;

impl Value {
    /// Adds a named value to a table. Other values stay as they are.
    pub(crate) fn add(&mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Value>) {
        if let Value::Table(entries) = self {
            entries.push((name.into(), value.into()));
        }
    }

    /// Adds the values of another table to a table.
    pub(crate) fn extend(&mut self, other: Value) {
        if let (Value::Table(entries), Value::Table(more)) = (self, other) {
            entries.extend(more);
        }
    }

    /// Writes it as JSON with line breaks. `level`: the number of tables and lists around it.
    pub(crate) fn write(&self, out: &mut Vec<u8>, level: usize) -> io::Result<()> {
        match self {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Flag(flag) => serde_json::to_writer(out, flag)?,
            Value::Count(count) => serde_json::to_writer(out, count)?,
            Value::Number(number) => serde_json::to_writer(out, number)?,
            Value::Text(text) => serde_json::to_writer(out, text.as_ref())?,
            Value::List(values) => {
                write_all(out, level, b"[]", values, |out, value| value.write(out, level + 1))?
            }
            Value::Table(entries) => write_all(out, level, b"{}", entries, |out, (name, value)| {
                serde_json::to_writer(&mut *out, name.as_ref())?;
                out.extend_from_slice(b": ");
                value.write(out, level + 1)
            })?,
        }
        Ok(())
    }
}

/// Writes the members of a list or a table, each on a line.
fn write_all<T>(
    out: &mut Vec<u8>,
    level: usize,
    [open, close]: &[u8; 2],
    members: &[T],
    write: impl Fn(&mut Vec<u8>, &T) -> io::Result<()>,
) -> io::Result<()> {
    let line = |out: &mut Vec<u8>, level: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * level, b' ');
    };
    out.push(*open);
    for (at, member) in members.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        line(out, level + 1);
        write(out, member)?;
    }
    if !members.is_empty() {
        line(out, level);
    }
    out.push(*close);
    Ok(())
}

impl From<f64> for Value {
    /// Null, unless the number is finite.
    fn from(number: f64) -> Value {
        if number.is_finite() { Value::Number(number) } else { Value::Null }
    }
}
impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}
impl From<u64> for Value {
    fn from(count: u64) -> Value {
        Value::Count(count)
    }
}
impl From<usize> for Value {
    fn from(count: usize) -> Value {
        Value::Count(count as u64)
    }
}
impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text.into())
    }
}
impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned().into())
    }
}
impl From<&String> for Value {
    fn from(text: &String) -> Value {
        Value::from(text.as_str())
    }
}
impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        Value::List(values.into_iter().map(Into::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_that_of_serde_json() {
        let value = table! {
            "text": "a \"b\"\n\u{1}ä",
            "numbers": vec![1.0, -0.0, 1e300, 0.1, f64::NAN, 123_456.789_012],
            "count": u64::MAX,
            "flag": true,
            "nothing": Value::Null,
            "empty": Vec::<u64>::new(),
            "table": table! { "inner": vec![vec![1_u64], vec![]], "none": table! {} },
        };
        let mut text = Vec::new();
        value.write(&mut text, 0).unwrap();
        let theirs = serde_json::json!({
            "text": "a \"b\"\n\u{1}ä",
            "numbers": [1.0, -0.0, 1e300, 0.1, null, 123_456.789_012],
            "count": u64::MAX,
            "flag": true,
            "nothing": null,
            "empty": [],
            "table": { "inner": [[1], []], "none": {} },
        });
        assert_eq!(String::from_utf8(text).unwrap(), serde_json::to_string_pretty(&theirs).unwrap());
    }
}
