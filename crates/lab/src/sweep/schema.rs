//! The columns of the summaries of a sweep's runs, and their types.

use super::bytes::text;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Real,
    Whole,
    Flag,
    Text,
}

/// The maximum number of rows in memory beside the table: some tens of megabytes.
pub(super) const MAX_ROWS: usize = 4096;

/// A value of a row. It is small, since a summary has hundreds of values, and thousands of rows wait for the table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Flag(bool),
    Whole(i64),
    Real(f64),
    /// A word, or a list as JSON.
    Text(Box<str>),
}

impl From<Value> for Cell {
    fn from(value: Value) -> Cell {
        match value {
            Value::Null => Cell::Null,
            Value::Bool(flag) => Cell::Flag(flag),
            Value::Number(number) => match number.as_i64() {
                Some(number) => Cell::Whole(number),
                None => Cell::Real(number.as_f64().expect("a number of JSON is a real number")),
            },
            Value::String(word) => Cell::Text(word.into()),
            other => Cell::Text(other.to_string().into()),
        }
    }
}

/// The names of columns, which the rows of runs share.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<Arc<str>>);

impl Names {
    /// The name of a column of a row, in the memory of that of the row before, if that had the same name at this place.
    fn share(&mut self, at: usize, name: String) -> Arc<str> {
        match self.0.get_mut(at) {
            Some(known) if **known == *name => {}
            Some(known) => *known = name.into(),
            None => self.0.push(name.into()),
        }
        Arc::clone(&self.0[at])
    }
}

/// The summary of a run as a row.
pub(super) type Row = Vec<(Arc<str>, Cell)>;
/// The summaries of runs as rows, by the numbers of the runs.
pub(super) type Rows = BTreeMap<usize, Row>;

/// The columns in the order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Schema {
    columns: Vec<(String, Option<Type>)>,
    places: BTreeMap<String, usize>,
}

impl Schema {
    /// Adds the columns of a run.
    pub(super) fn add(&mut self, row: &[(Arc<str>, Cell)]) {
        for (at, (name, value)) in row.iter().enumerate() {
            let place = self.place(name, at).unwrap_or_else(|| {
                self.columns.push((name.to_string(), None));
                self.places.insert(name.to_string(), self.columns.len() - 1);
                self.columns.len() - 1
            });
            let known = &mut self.columns[place].1;
            *known = match (*known, type_of(value)) {
                (known, None) => known,
                (None, new) => new,
                (Some(known), Some(new)) if known == new => Some(known),
                (Some(Type::Real | Type::Whole), Some(Type::Real | Type::Whole)) => Some(Type::Real),
                _ => Some(Type::Text),
            };
        }
    }

    /// Names and types. A column that is null in every run is a number.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&str, Type)> {
        self.columns.iter().map(|(name, known)| (name.as_str(), known.unwrap_or(Type::Real)))
    }

    /// The place of a column, which is that in the row if the rows of all runs have the same columns.
    pub(super) fn place(&self, name: &str, in_row: usize) -> Option<usize> {
        match self.columns.get(in_row) {
            Some((known, _)) if known == name => Some(in_row),
            _ => self.places.get(name).copied(),
        }
    }
}

fn type_of(value: &Cell) -> Option<Type> {
    match value {
        Cell::Null => None,
        Cell::Flag(_) => Some(Type::Flag),
        Cell::Whole(_) => Some(Type::Whole),
        Cell::Real(_) => Some(Type::Real),
        Cell::Text(_) => Some(Type::Text),
    }
}

/// A row to which values are added, with names that rows share.
struct Filling<'a> {
    values: Row,
    names: &'a mut Names,
}

/// The values of a summary by name: `duration_s`, `connection.get.goodput_mbps`, `link.cell.forward.drops.queue`. `None` if
/// it is no summary.
pub(super) fn flatten(summary: &str, names: &mut Names) -> Option<Row> {
    let Ok(Value::Object(summary)) = serde_json::from_str(summary) else { return None };
    let mut row = Filling { values: Vec::with_capacity(names.0.len()), names };
    for (key, value) in summary {
        match (key.as_str(), value) {
            // Name and version are the same for all runs, and the seed has its own column. Which paths a host knows at the
            // end is not known before the run, as columns are.
            ("scenario" | "version" | "seed" | "memory", _) => {}
            ("connections", Value::Array(list)) => entries("connection", list, &mut row),
            ("links", Value::Array(list)) => entries("link", list, &mut row),
            ("media", Value::Array(list)) => entries("medium", list, &mut row),
            ("processing", Value::Array(list)) => entries("processing", list, &mut row),
            ("nodes", Value::Array(list)) => entries("node", list, &mut row),
            (_, value) => put(key, value, &mut row),
        }
    }
    row.values.shrink_to_fit();
    Some(row.values)
}

/// The row of the summary in the contents of a record.
pub(super) fn row_of(mut contents: &[u8], names: &mut Names) -> Option<Row> {
    flatten(&text(&mut contents)?, names)
}

/// Adds the entries of a list. Their paths contain their names, and their directions, or the nodes of their lanes.
fn entries(kind: &str, list: Vec<Value>, row: &mut Filling<'_>) {
    for entry in list {
        let Value::Object(mut entry) = entry else { continue };
        let mut path = kind.to_owned();
        for key in ["name", "direction", "attachment", "to"] {
            if let Some(Value::String(word)) = entry.shift_remove(key) {
                path.push('.');
                path.push_str(&word);
            }
        }
        if kind == "node" {
            // A sweep can have a column of this name: `node.NAME.kind` as the scenario has it.
            entry.shift_remove("kind");
        }
        put(path, Value::Object(entry), row);
    }
}

fn put(path: String, value: Value, row: &mut Filling<'_>) {
    match value {
        Value::Object(inner) => {
            inner.into_iter().for_each(|(key, value)| put(format!("{path}.{key}"), value, row));
        }
        value => {
            let name = row.names.share(row.values.len(), path);
            row.values.push((name, value.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_a_row() {
        let row = flatten(
            r#"{"scenario": "a", "seed": 1, "version": "0", "duration_s": 2.0,
                "connections": [{"name": "get", "clean": true, "completion_s": null}],
                "links": [{"name": "cell", "direction": "forward", "drops": {"queue": 3}}],
                "media": [{"name": "air", "attachment": "phone", "received_packets": 2}],
                "nodes": [{"name": "ap", "kind": "nat", "mappings_made": 1}],
                "memory": [{"node": "s", "peer": "c", "protocol": "quic", "ip": 4, "rtt_ms": 600.0}]}"#,
            &mut Names::default(),
        )
        .unwrap();
        let names: Vec<&str> = row.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            names,
            [
                "duration_s",
                "connection.get.clean",
                "connection.get.completion_s",
                "link.cell.forward.drops.queue",
                "medium.air.phone.received_packets",
                "node.ap.mappings_made",
            ]
        );
        assert_eq!(row[3].1, Cell::Whole(3));
        assert_eq!(flatten("[]", &mut Names::default()), None);
        assert_eq!(flatten("{", &mut Names::default()), None);
    }

    #[test]
    fn rows_share_their_names() {
        let mut names = Names::default();
        let mut row = |text| flatten(text, &mut names).unwrap();
        let [first, second, third] = [
            row(r#"{"a": 1, "b": [1, "x"], "c": 1.5}"#),
            row(r#"{"a": null, "b": "[1,\"x\"]", "c": true}"#),
            row(r#"{"a": 2, "other": 2}"#),
        ];
        let shared = |one: &Row, other: &Row, at: usize| Arc::ptr_eq(&one[at].0, &other[at].0);
        assert!((0..3).all(|at| shared(&first, &second, at)) && shared(&first, &third, 0));
        assert_eq!((&*third[1].0, first[1].1 == second[1].1), ("other", true));
        assert_eq!(
            [&second[0].1, &first[2].1, &second[2].1],
            [&Cell::Null, &Cell::Real(1.5), &Cell::Flag(true)]
        );
    }

    #[test]
    fn types_of_columns_are_those_of_all_rows() {
        let mut schema = Schema::default();
        for text in [
            r#"{"a": null, "b": 1, "c": 1, "d": null, "e": true}"#,
            r#"{"a": 1.5, "b": 2.5, "c": 2, "d": null, "e": "x", "f": false}"#,
        ] {
            schema.add(&flatten(text, &mut Names::default()).unwrap());
        }
        let columns: Vec<(&str, Type)> = schema.columns().collect();
        assert_eq!(
            columns,
            [
                ("a", Type::Real),
                ("b", Type::Real),
                ("c", Type::Whole),
                ("d", Type::Real),
                ("e", Type::Text),
                ("f", Type::Flag)
            ]
        );
        assert_eq!(
            (schema.place("c", 2), schema.place("c", 1), schema.place("g", 2)),
            (Some(2), Some(2), None)
        );
    }
}
