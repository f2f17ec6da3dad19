//! The test bed for whole runs: scenarios, runs, and access to their results.

use crate::own_folder::own_folder;
use lab::{Options, Scenario};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use trace::columns::Table;

/// Reads a scenario from its document and changes to it. Its files are relative to `examples/`.
pub(crate) fn scenario(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Scenario::parse(text, &examples().join("test.toml"), &sets)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The folder of the project's examples.
pub(crate) fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The path of a file with these contents.
pub(crate) fn file_of(contents: &'static str) -> PathBuf {
    static WRITTEN: Mutex<Vec<&str>> = Mutex::new(Vec::new());
    let mut written = WRITTEN.lock().unwrap();
    let known = written.iter().position(|known| *known == contents);
    let number = known.unwrap_or(written.len());
    let path = own_folder().join(format!("example-{number}"));
    if known.is_none() {
        fs::write(&path, contents).unwrap();
        written.push(contents);
    }
    path
}

/// A download of 300 kB over one link of 10 Mbit/s and 20 ms each way.
pub(crate) const ONE_LINK: &str = r#"
seed = 3
duration = "30 s"
[record]
tables = ["connection", "loss", "event", "gauge", "stream", "message", "queue", "drop", "rate"]
packets = true
[[link]]
name = "cell"
from = "server"
to = "client"
both = { rate = "10 Mbit/s", delay = "20 ms", queue = "1 BDP" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "300 kB" }
"#;

/// Kinds of links, with changes to a scenario with a link `cell`.
pub(crate) const LINKS: &[(&str, &[&str])] = &[
    ("clean", &[]),
    ("lossy", &["link.cell.forward.loss=3 %", "link.cell.backward.loss=3 %"]),
    (
        "reordering",
        &["link.cell.both.jitter={ type = \"uniform\", maximum = \"8 ms\" }", "link.cell.both.reorder=true"],
    ),
    ("duplicating", &["link.cell.both.duplicate=10 %"]),
    ("corrupting", &["link.cell.both.corrupt=5 %"]),
];

/// A change to a scenario that records objects.
pub(crate) const OBJECTS: &str = "record.tables=[\"event\", \"object\"]";

/// The outcome of a run.
pub(crate) struct Run {
    /// The summary as text.
    pub(crate) text: String,
    /// The summary.
    pub(crate) summary: Value,
    /// The tables.
    pub(crate) tables: Vec<Table>,
    /// The contents of its files by name.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// The path of its capture, if it has files.
    pub(crate) capture: PathBuf,
}

impl Run {
    /// The connection of a flow in the summary.
    pub(crate) fn connection(&self, name: &str) -> &Value {
        named(&self.summary["connections"], |entry| entry["name"] == name)
    }
    /// A direction of a link in the summary.
    pub(crate) fn link(&self, name: &str, direction: &str) -> &Value {
        named(&self.summary["links"], |entry| entry["name"] == name && entry["direction"] == direction)
    }
    /// An attachment of a medium in the summary.
    pub(crate) fn attachment(&self, medium: &str, node: &str) -> &Value {
        named(&self.summary["media"], |entry| entry["name"] == medium && entry["attachment"] == node)
    }
    /// A middlebox in the summary.
    pub(crate) fn node(&self, name: &str) -> &Value {
        named(&self.summary["nodes"], |entry| entry["name"] == name)
    }
    /// The table with this name.
    pub(crate) fn table(&self, name: &str) -> &Table {
        self.tables.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("no table {name}"))
    }
    /// The rows of a table whose columns in `select` have these words, as text.
    pub(crate) fn rows(&self, table: &str, select: &[(&str, &str)]) -> Vec<Vec<String>> {
        let table = self.table(table);
        let chosen = |row: usize| {
            select.iter().all(|(column, word)| table.column(column).unwrap().text(row) == Some(*word))
        };
        (0..table.rows()).filter(|row| chosen(*row)).map(|row| row_text(table, row)).collect()
    }
    /// The numbers in a column of the rows whose columns in `select` have these words.
    pub(crate) fn numbers(&self, table: &str, column: &str, select: &[(&str, &str)]) -> Vec<f64> {
        let table = self.table(table);
        let column = table.column(column).unwrap();
        let chosen = |row: &usize| {
            select.iter().all(|(column, word)| table.column(column).unwrap().text(*row) == Some(*word))
        };
        (0..table.rows()).filter(chosen).filter_map(|row| column.number(row)).collect()
    }
}

fn named(list: &Value, which: impl Fn(&Value) -> bool) -> &Value {
    list.as_array().unwrap().iter().find(|entry| which(entry)).unwrap_or_else(|| panic!("not in {list}"))
}

fn row_text(table: &Table, row: usize) -> Vec<String> {
    let cell = |column: &trace::columns::Column| match (column.text(row), column.number(row)) {
        (Some(text), _) => text.to_owned(),
        (None, Some(number)) => format!("{number:?}"),
        (None, None) => "null".to_owned(),
    };
    table.columns.iter().map(cell).collect()
}

/// Runs a scenario with tables and without files.
pub(crate) fn run(scenario: &Scenario) -> Run {
    run_with(scenario, &Options { tables: true, ..Options::default() })
}

/// Runs a scenario with tables, qlog and capture, written to a folder with this name, which no other test uses.
pub(crate) fn run_into(scenario: &Scenario, folder: &str) -> Run {
    let folder = new_folder(folder);
    let options = Options {
        seed: None,
        tables: true,
        qlog: Some(folder.clone()),
        pcap: Some(folder.join("capture.pcapng")),
    };
    let mut run = run_with(scenario, &options);
    run.capture = folder.join("capture.pcapng");
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        run.files.insert(name, fs::read(&path).unwrap());
    }
    run
}

/// An empty folder for a test.
pub(crate) fn new_folder(name: &str) -> PathBuf {
    let folder = own_folder().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a scenario with options.
pub(crate) fn run_with(scenario: &Scenario, options: &Options) -> Run {
    let outcome = lab::run(scenario, options, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("{error}\n{}", scenario.to_toml()));
    let summary = serde_json::from_str(&outcome.summary).unwrap();
    Run {
        text: outcome.summary.to_string(),
        summary,
        tables: outcome.tables,
        files: BTreeMap::new(),
        capture: PathBuf::new(),
    }
}

/// Asserts that a connection of the summary has completed without errors.
#[track_caller]
pub(crate) fn assert_clean(connection: &Value, what: &str) {
    let (completed, clean) = (&connection["completed"], &connection["clean"]);
    assert_eq!((completed, clean), (&true.into(), &true.into()), "{what}: {connection}");
}

/// Asserts that two runs are equal.
#[track_caller]
pub(crate) fn assert_equal(first: &Run, second: &Run, what: &str) {
    for (a, b) in first.text.lines().zip(second.text.lines()) {
        assert_eq!(a, b, "{what}: summary");
    }
    assert_eq!(first.text, second.text, "{what}: summary");
    assert_equal_tables(&first.tables, &second.tables, what);
    let names = |run: &Run| run.files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(first), names(second), "{what}: files");
    for (name, bytes) in &first.files {
        assert!(*bytes == second.files[name], "{what}: {name} differs");
    }
}

/// Asserts that all rows and columns are equal.
#[track_caller]
pub(crate) fn assert_equal_tables(first: &[Table], second: &[Table], what: &str) {
    assert_eq!(first.len(), second.len(), "{what}: tables");
    for (a, b) in first.iter().zip(second) {
        assert_eq!(a.name, b.name, "{what}: tables");
        for row in 0..a.rows().min(b.rows()) {
            assert_eq!(row_text(a, row), row_text(b, row), "{what}: table {} row {row}", a.name);
        }
        assert_eq!((a.rows(), a.left_out), (b.rows(), b.left_out), "{what}: table {}", a.name);
        let names = |table: &Table| table.columns.iter().map(|column| column.name).collect::<Vec<_>>();
        assert_eq!(names(a), names(b), "{what}: table {}", a.name);
    }
}
