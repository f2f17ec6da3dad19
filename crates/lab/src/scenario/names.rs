//! Names of nodes, carriers and flows. Each name is valid and unique.

use super::error::ScenarioError;
use super::read::{Reader, Section};
use super::source::{Place, one_of, quoted, suggestion};
use super::tree::{Item, Node};
use crate::nearest::nearest;
use std::collections::BTreeMap;
use std::path::Path;
use units::parameter::Key;

/// The maximum length of a name, which becomes the name of a file.
const LONGEST: usize = 64;
/// The maximum number of names in an error.
const LISTED: usize = 20;
const EXPECTED: &str =
    "a name of letters, digits, - _ and . that begins with a letter or digit, at most 64 long";

/// Whether the text can be the name of a file, a key in a path, and a value in a table.
pub(super) fn is_name(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(allowed)
}

/// Returns the text if it is a name.
pub(super) fn checked(
    reader: &Reader<'_>,
    text: String,
    item: &Item,
    path: &str,
) -> Result<String, ScenarioError> {
    if is_name(&text) { Ok(text) } else { Err(reader.wrong(item, path, "not a name", EXPECTED)) }
}

/// The default name of a scenario: that of its file, without the ending, and with `-` for invalid characters.
pub(super) fn of_file(origin: &Path) -> String {
    let stem = origin.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let allowed = |c: char| if is_name(&format!("a{c}")) { c } else { '-' };
    let name: String = stem.chars().map(allowed).take(LONGEST).collect();
    let name = name.trim_matches(['-', '_', '.']);
    if name.is_empty() { "scenario".to_owned() } else { name.to_owned() }
}

/// The names of one kind, in the order of the document.
#[derive(Debug, Default)]
pub(super) struct Names<'i> {
    known: BTreeMap<&'i str, (usize, Place)>,
    order: Vec<&'i str>,
}

impl<'i> Names<'i> {
    /// The name with this number.
    pub(super) fn name(&self, index: usize) -> &'i str {
        self.order[index]
    }

    /// Adds the name of a table, which must be new.
    pub(super) fn add(
        &mut self,
        reader: &Reader<'_>,
        section: &Section<'i>,
        key: Key<String>,
    ) -> Result<(), ScenarioError> {
        let Some(entry) = section.get(key.name) else { return Ok(()) };
        let path = section.at(key.name);
        match self.find_or_add(reader, &entry.item, &path)? {
            (_, true) => Ok(()),
            (index, false) => {
                let (name, (_, first)) = (self.order[index], self.known[self.order[index]]);
                let first = reader.source.error(first, "", "").place;
                let problem = format!(
                    "given twice, found {}; expected another name: {first} has this one",
                    quoted(name)
                );
                Err(reader.source.error(entry.item.place, &path, problem))
            }
        }
    }

    /// The number of a name, and whether it is new.
    pub(super) fn find_or_add(
        &mut self,
        reader: &Reader<'_>,
        item: &'i Item,
        path: &str,
    ) -> Result<(usize, bool), ScenarioError> {
        let name = match &item.node {
            Node::Text(name) if is_name(name) => name.as_str(),
            _ => return Err(reader.wrong(item, path, "not a name", EXPECTED)),
        };
        if let Some((index, _)) = self.known.get(name) {
            return Ok((*index, false));
        }
        self.known.insert(name, (self.order.len(), item.place));
        self.order.push(name);
        Ok((self.order.len() - 1, true))
    }

    /// The number of a name that must be known.
    pub(super) fn find(
        &self,
        reader: &Reader<'_>,
        item: &Item,
        path: &str,
        what: &str,
    ) -> Result<usize, ScenarioError> {
        let text = match &item.node {
            Node::Text(name) => name.as_str(),
            _ => return Err(reader.wrong(item, path, "wrong type", EXPECTED)),
        };
        if let Some((index, _)) = self.known.get(text) {
            return Ok(*index);
        }
        let more = if self.order.len() > LISTED { ", ..." } else { "" };
        let problem = format!(
            "unknown {what}, found {}; expected {}{more}{}",
            quoted(text),
            one_of(self.order.iter().copied().take(LISTED)),
            suggestion(nearest(text, self.order.iter().copied()))
        );
        Err(reader.source.error(item.place, path, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_can_stand_in_names_of_files() {
        for name in ["a", "cell-1", "UE_2.down", "0"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", "-a", "a/b", "a b", "ä", "a\n", &"a".repeat(65)] {
            assert!(!is_name(name), "{name}");
        }
    }

    #[test]
    fn files_give_names() {
        for (path, name) in [
            ("x/cellular.toml", "cellular"),
            ("two hosts.toml", "two-hosts"),
            ("<python>", "python"),
            ("a.b.toml", "a.b"),
            ("..", "scenario"),
            ("", "scenario"),
            ("-.toml", "scenario"),
        ] {
            assert_eq!(of_file(Path::new(path)), name);
            assert!(is_name(&of_file(Path::new(path))));
        }
    }
}
