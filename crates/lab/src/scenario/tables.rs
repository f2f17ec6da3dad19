//! Tables of a document, and arrays of tables.

use super::error::ScenarioError;
use super::names;
use super::read::{Reader, Section};
use super::tree::Node as Toml;

/// A table of the document, or an empty one.
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

/// The tables of an array with their paths: by name where they have one, by number elsewhere.
pub(super) fn tables<'i>(
    reader: &Reader<'_>,
    top: &Section<'i>,
    name: &str,
    most: usize,
) -> Result<Vec<Section<'i>>, ScenarioError> {
    let Some(entry) = top.get(name) else { return Ok(Vec::new()) };
    let Toml::List(items) = &entry.item.node else {
        return Err(reader.wrong(
            &entry.item,
            name,
            "wrong type",
            &format!("an array of tables, [[{name}]]"),
        ));
    };
    if items.len() > most {
        let problem = format!("too many, found {}; expected at most {most}", items.len());
        return Err(reader.source.error(entry.place, name, problem));
    }
    let sections = items.iter().enumerate().map(|(number, item)| {
        let known = item.get("name").and_then(|item| match &item.node {
            Toml::Text(name) if names::is_name(name) => Some(name.clone()),
            _ => None,
        });
        let key = known.unwrap_or_else(|| number.to_string());
        reader.section(item, format!("{name}.{key}"))
    });
    sections.collect()
}
