//! Pages from an HTTP Archive (HAR 1.2), as the developer tools of browsers save it.
//!
//! The archive provides sizes, priorities and dependencies; the page of the model in `docs/` has the rules.

mod entry;
mod graph;
mod json;
mod time;

use super::file::{self, MAX_FILE_BYTES, Replay, TextError};
use super::{Built, Fault, Laws, MAX_OBJECTS, Model, Page};
use entry::Entry;
use json::Node;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use units::Duration;
use units::parameter::{Arguments, Default, Kind, Parameter, Row};

/// A minimal archive of one page with two objects.
const SHORTEST: &str = r#"{"log": {"version": "1.2", "entries": [
{"startedDateTime": "2026-03-01T09:05:00.000Z", "time": 50, "request": {"url": "https://a.example/"}, "response": {"status": 200, "bodySize": 20000}},
{"startedDateTime": "2026-03-01T09:05:00.060Z", "time": 20, "request": {"url": "https://a.example/b"}, "response": {"status": 200, "bodySize": 9000}}
]}}"#;

pub(super) const ROW: Row<Model> = Row {
    name: "har",
    about: "the pages of an HTTP Archive (HAR 1.2), as browsers' developer tools save it, in turn",
    parameters: &[
        Parameter {
            name: "file",
            kind: Kind::File(SHORTEST),
            default: Default::Required,
            about: "the archive, with sizes, priorities and dependencies",
        },
        Parameter {
            name: "gaps",
            kind: Kind::Flag,
            default: Default::Is("true"),
            about: "whether an object is requested as long after its dependency as when it was recorded",
        },
        Parameter {
            name: "think",
            kind: Kind::Duration,
            default: Default::Is("\"0 s\""),
            about: "time from a complete request at the server to the start of its response; archives do not contain it",
        },
        file::READING,
    ],
    build: Model { laws: |_| Ok(Laws::new()), pages },
};

/// The options of the row.
#[derive(Debug, Clone, Copy)]
struct HarOptions {
    gaps: bool,
    think: Duration,
    reading: Duration,
}

fn pages(arguments: &Arguments, _: &mut random::Stream) -> Built {
    let options = HarOptions {
        gaps: arguments.flag("gaps"),
        think: arguments.duration("think"),
        reading: arguments.duration("reading"),
    };
    let file = arguments.file("file");
    let pages = parse(&file.text, options)
        .map_err(|error| -> Fault { ("file", format!("{}, {error}", file.path)) })?;
    Ok(Box::new(Replay::new(pages)))
}

/// Reads an archive, which must have at least one page.
///
/// # Errors
/// The first error, with the number of its entry.
fn parse(text: &str, options: HarOptions) -> Result<Vec<Page>, TextError> {
    if text.len() > MAX_FILE_BYTES {
        return Err(TextError::whole(format!("more than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    // Some tools write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let archive: Json =
        serde_json::from_str(text).map_err(|error| TextError::whole(format!("not JSON: {error}")))?;
    let log = Node::root(&archive).need("log").map_err(TextError::whole)?;
    version(&log).map_err(TextError::whole)?;
    let ids = page_ids(&log).map_err(TextError::whole)?;
    let entries = log.need("entries").and_then(|entries| entries.roots()).map_err(TextError::whole)?;
    let mut of_pages: Vec<Vec<Entry>> = vec![Vec::new(); ids.len().max(1)];
    for (number, node) in (1..).zip(entries) {
        let wrong = |problem| TextError::entry(number, problem);
        let Some(entry) = Entry::read(&node, number).map_err(wrong)? else { continue };
        let page = place(&ids, &entry).map_err(wrong)?;
        if of_pages[page].len() == MAX_OBJECTS {
            return Err(wrong(format!("more than {MAX_OBJECTS} objects of a page")));
        }
        of_pages[page].push(entry);
    }
    let pages: Vec<Page> = of_pages
        .into_iter()
        .filter(|entries| !entries.is_empty())
        .map(|entries| graph::page(entries, options))
        .collect();
    if pages.is_empty() {
        return Err(TextError::whole("none of its entries went over the network"));
    }
    for page in &pages {
        page.check().map_err(|error| TextError::whole(error.to_string()))?;
    }
    Ok(pages)
}

fn version(log: &Node<'_>) -> Result<(), String> {
    let version = log.need("version")?.text()?;
    // Version 1.1 has the same form for everything read here; an empty version means 1.1.
    if ["1.2", "1.1", ""].contains(&version) {
        return Ok(());
    }
    Err(format!("log.version is {}; expected \"1.2\"", file::quoted(version)))
}

/// The indices of the pages by their ids.
fn page_ids<'a>(log: &Node<'a>) -> Result<BTreeMap<&'a str, usize>, String> {
    let Some(pages) = log.get("pages") else { return Ok(BTreeMap::new()) };
    let pages = pages.items()?;
    if pages.len() > MAX_OBJECTS {
        return Err(format!("more than {MAX_OBJECTS} pages"));
    }
    let mut ids = BTreeMap::new();
    for (place, page) in pages.iter().enumerate() {
        let id = page.need("id")?.text()?;
        if ids.insert(id, place).is_some() {
            return Err(format!("two pages with the id {}", file::quoted(id)));
        }
    }
    Ok(ids)
}

/// The index of the page of an entry. Entries need not name their page if there is only one.
fn place(ids: &BTreeMap<&str, usize>, entry: &Entry) -> Result<usize, String> {
    match &entry.page {
        Some(page) if !ids.is_empty() => ids
            .get(page.as_str())
            .copied()
            .ok_or_else(|| format!("pageref is {}, and no page has that id", file::quoted(page))),
        None if ids.len() > 1 => Err("no pageref, and there are several pages".to_owned()),
        _ => Ok(0),
    }
}

#[cfg(test)]
mod tests;
