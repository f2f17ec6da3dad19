//! Reads the tables of a document, and arrays of tables.

use super::error::ScenarioError;
use super::names;
use super::read::{Reader, Section};
use super::sections::NAME;
use super::tree::Node as Toml;

/// Reads a table; a missing one is empty.
pub(super) fn table<'i>(
    reader: &Reader<'_>,
    top: &Section<'i>,
    name: &str,
) -> Result<Section<'i>, ScenarioError> {
    match top.get(name) {
        Some(entry) => reader.section(&entry.item, top.at(name)),
        None => Ok(Section::empty(top.place, &top.at(name))),
    }
}

/// Reads an array of at most `most` tables. Paths name a table by its name, or else by its number.
pub(super) fn tables<'i>(
    reader: &Reader<'_>,
    top: &Section<'i>,
    name: &str,
    most: usize,
) -> Result<Vec<Section<'i>>, ScenarioError> {
    let Some(entry) = top.get(name) else { return Ok(Vec::new()) };
    let Toml::List(items) = &entry.item.node else {
        let expected = format!("an array of tables, [[{name}]]");
        return Err(reader.wrong(&entry.item, name, "wrong type", &expected));
    };
    if items.len() > most {
        let problem = format!("too many, found {}; expected at most {most}", items.len());
        return Err(reader.source.error(entry.place, name, problem));
    }
    let sections = items.iter().enumerate().map(|(number, item)| {
        let key = match item.get(NAME.name).map(|item| &item.node) {
            Some(Toml::Text(name)) if names::is_name(name) => name.clone(),
            _ => number.to_string(),
        };
        reader.section(item, format!("{name}.{key}"))
    });
    sections.collect()
}
