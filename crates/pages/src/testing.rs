//! Helpers for tests of the models: options and pages.

use super::{Model, Page};
use random::Generator;
use units::parameter::{Arguments, Default, File, Kind, Row, Value};

/// The options of a row: those in `set`, and the defaults of the others.
pub(super) fn arguments(row: &Row<Model>, set: &[(&str, &str)]) -> Arguments {
    let mut values = Vec::new();
    for parameter in row.parameters {
        let given = set.iter().find(|(name, _)| *name == parameter.name).map(|(_, text)| *text);
        let text = match (given, parameter.default) {
            (Some(text), _) | (None, Default::Is(text)) => text,
            (None, Default::Required | Default::Absent) => continue,
        };
        values.push((parameter.name, value(parameter.kind, text)));
    }
    Arguments(values)
}

fn value(kind: Kind, text: &str) -> Value {
    let bare = text.trim_matches('"');
    match kind {
        Kind::Size => Value::Size(bare.parse().unwrap()),
        Kind::Duration => Value::Duration(bare.parse().unwrap()),
        Kind::Integer(..) => Value::Integer(bare.parse().unwrap()),
        Kind::Number(..) => Value::Number(bare.parse().unwrap()),
        Kind::Flag => Value::Flag(bare.parse().unwrap()),
        // A file option contains the text.
        Kind::File(_) => Value::File(File { path: "the-file".to_owned(), text: text.into() }),
        other => panic!("no test has an option of kind {other:?}"),
    }
}

/// The first `count` pages of a model.
pub(super) fn pages_of(row: &Row<Model>, set: &[(&str, &str)], seed: u64, count: usize) -> Vec<Page> {
    let mut pages = (row.build.pages)(&arguments(row, set), &mut Generator::new(seed, "pages")).unwrap();
    (0..count).map(|_| pages.next()).collect()
}
