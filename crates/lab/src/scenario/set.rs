//! Changes from the command line: `link.cell.forward.rate=10 Mbit/s`.
//!
//! The path is that of a key in TOML; an array of tables (`[[link]]`) is indexed by the `name` of its tables or by their
//! number from zero. Missing tables of the path are added. The value is TOML, or else text, unless it begins like a list, a
//! table or a quoted text. A bare word on the path, which stands for a component, becomes the `type` of the component.

use super::error::ScenarioError;
use super::sections::NAME;
use super::source::{Place, Source, listed, quoted, suggestion};
use super::tree::{Entry, Item, Node, parse_value};
use crate::nearest::nearest;

/// The maximum number of keys in a path.
const MAX_STEPS: usize = 16;

/// Applies all changes of the source in order.
pub(super) fn apply(document: &mut Item, source: &Source<'_>) -> Result<(), ScenarioError> {
    for (number, set) in source.sets.iter().enumerate() {
        let place = Place::Set(number);
        let change = Change::read(set, place).map_err(|problem| source.error(place, "", problem))?;
        put(document, &change.path, change.value, place)
            .map_err(|(depth, problem)| source.error(place, &change.path[..depth].join("."), problem))?;
    }
    Ok(())
}

struct Change {
    path: Vec<String>,
    value: Item,
}

impl Change {
    fn read(set: &str, place: Place) -> Result<Change, String> {
        const EXPECTED: &str = "expected KEY.PATH=VALUE, like link.cell.forward.rate=\"10 Mbit/s\"";
        let (path, value) = split(set).ok_or_else(|| format!("no value; {EXPECTED}"))?;
        if path.iter().any(String::is_empty) {
            return Err(format!("a key is empty; {EXPECTED}"));
        }
        if path.len() > MAX_STEPS {
            return Err(format!("{} keys; expected at most {MAX_STEPS}", path.len()));
        }
        let value = value.trim();
        let value = match parse_value(value, place) {
            Ok(item) => item,
            Err(error) if value.starts_with(['{', '[', '"', '\'']) => {
                return Err(format!("the value is not TOML: {}", error.problem));
            }
            Err(_) => Item { place, node: Node::Text(value.to_owned()) },
        };
        Ok(Change { path, value })
    }
}

/// The keys before the equals sign and the text after it. Keys may have quotation marks.
fn split(set: &str) -> Option<(Vec<String>, &str)> {
    let (mut path, mut key, mut quote) = (Vec::new(), String::new(), None);
    for (at, c) in set.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => key.push(c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '.') => path.push(std::mem::take(&mut key).trim().to_owned()),
            (None, '=') => {
                path.push(key.trim().to_owned());
                return Some((path, &set[at + 1..]));
            }
            (None, _) => key.push(c),
        }
    }
    None
}

/// The keys of a change.
pub(super) fn path_of(set: &str) -> Option<Vec<String>> {
    split(set).map(|(keys, _)| keys)
}

/// The keys of a path.
pub(super) fn path(path: &str) -> Option<Vec<String>> {
    split(&format!("{path}=")).map(|(keys, _)| keys)
}

/// Sets the value at the path. An error has the number of keys up to the mistake.
pub(super) fn put(
    document: &mut Item,
    path: &[String],
    value: Item,
    place: Place,
) -> Result<(), (usize, String)> {
    let mut at = document;
    for (depth, key) in path.iter().enumerate() {
        at = step(at, key, place).map_err(|problem| (depth + 1, problem))?;
    }
    *at = value;
    Ok(())
}

/// The value of a key, which is added if it is missing.
fn step<'a>(item: &'a mut Item, key: &str, place: Place) -> Result<&'a mut Item, String> {
    if let Node::Text(word) = &item.node {
        let word = Item { place: item.place, node: Node::Text(word.clone()) };
        item.node = Node::Table(vec![Entry { key: "type".to_owned(), place: item.place, item: word }]);
    }
    match &mut item.node {
        Node::List(items) => {
            let index = index(items, key)?;
            Ok(&mut items[index])
        }
        Node::Table(entries) => {
            let index = entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
                let item = Item { place, node: Node::Table(Vec::new()) };
                entries.push(Entry { key: key.to_owned(), place, item });
                entries.len() - 1
            });
            Ok(&mut entries[index].item)
        }
        _ => Err("the value before it is not a table, so it has no keys to set".to_owned()),
    }
}

/// The index of the table with this name or number.
pub(super) fn index(items: &[Item], key: &str) -> Result<usize, String> {
    let names: Vec<&str> = items.iter().filter_map(name).collect();
    if let Some(index) = items.iter().position(|item| name(item) == Some(key)) {
        return Ok(index);
    }
    match key.parse::<usize>() {
        Ok(index) if index < items.len() => Ok(index),
        _ if items.is_empty() => Err(format!("unknown, found {}; the list is empty", quoted(key))),
        _ => Err(format!(
            "unknown, found {}; expected {}a number from 0 to {}{}",
            quoted(key),
            if names.is_empty() {
                String::new()
            } else {
                format!("one of {}, or ", listed(names.iter().copied()))
            },
            items.len() - 1,
            suggestion(nearest(key, names))
        )),
    }
}

fn name(item: &Item) -> Option<&str> {
    match &item.get(NAME.name)?.node {
        Node::Text(name) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;
    use std::path::Path;

    fn changed(text: &str, sets: &[&str]) -> Result<Item, String> {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let source = Source { origin: Path::new("a.toml"), text, sets: &sets, loads_code: true };
        let mut document = tree::document(&source).unwrap();
        apply(&mut document, &source).map_err(|error| error.to_string())?;
        Ok(document)
    }

    fn at<'a>(item: &'a Item, path: &[&str]) -> &'a Node {
        &path.iter().fold(item, |item, key| item.get(key).unwrap()).node
    }

    #[test]
    fn values_are_toml_or_text() {
        for (set, node) in [
            ("a.b=10 Mbit/s", Node::Text("10 Mbit/s".into())),
            ("a.b = \"10 Mbit/s\"", Node::Text("10 Mbit/s".into())),
            ("a.b=7", Node::Integer(7)),
            ("a.b=0.5", Node::Float(0.5)),
            ("a.b=true", Node::Flag(true)),
            ("a.b=newreno", Node::Text("newreno".into())),
            ("a.b=../x=y.down", Node::Text("../x=y.down".into())),
            ("a.b=1 %", Node::Text("1 %".into())),
            ("a.'b'=1\n[c]", Node::Text("1\n[c]".into())),
        ] {
            assert_eq!(at(&changed("", &[set]).unwrap(), &["a", "b"]), &node, "{set}");
        }
    }

    #[test]
    fn arrays_are_indexed_by_name_and_by_number() {
        let text = "[[link]]\nname = 'a.b'\n[[link]]\nname = 'c'\nrate = 'fast'\n";
        let document =
            changed(text, &["link.\"a.b\".x=1", "link.1.x=2", "link.c.rate.factor=3", "link.0.name=d"])
                .unwrap();
        let Node::List(links) = at(&document, &["link"]) else { panic!() };
        assert_eq!(at(&links[0], &["x"]), &Node::Integer(1));
        assert_eq!(at(&links[0], &["name"]), &Node::Text("d".into()));
        assert_eq!(at(&links[1], &["x"]), &Node::Integer(2));
        assert_eq!(at(&links[1], &["rate", "type"]), &Node::Text("fast".into()));
        assert_eq!(at(&links[1], &["rate", "factor"]), &Node::Integer(3));
    }

    #[test]
    fn mistakes_name_the_change() {
        let text = "seed = 1\nnone = []\n[[link]]\nname = 'cell'\n";
        for (set, line) in [
            (
                "seed",
                "--set seed: no value; expected KEY.PATH=VALUE, like link.cell.forward.rate=\"10 Mbit/s\"",
            ),
            (
                "a..b=1",
                "--set a..b=1: a key is empty; expected KEY.PATH=VALUE, like link.cell.forward.rate=\"10 Mbit/s\"",
            ),
            (
                "link.cel.x=1",
                "--set link.cel.x=1: link.cel: unknown, found \"cel\"; expected one of cell, or a number from 0 to 0 (did you mean \"cell\"?)",
            ),
            ("none.0.x=1", "--set none.0.x=1: none.0: unknown, found \"0\"; the list is empty"),
            (
                "seed.x=1",
                "--set seed.x=1: seed.x: the value before it is not a table, so it has no keys to set",
            ),
            ("a=[1", "--set a=[1: the value is not TOML: unclosed array, expected `]`"),
        ] {
            assert_eq!(changed(text, &[set]).unwrap_err(), line);
        }
        assert!(changed("", &[&("a.".repeat(1000) + "a=1")]).is_err());
    }
}
