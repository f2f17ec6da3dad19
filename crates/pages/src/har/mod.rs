//! Pages from an HTTP Archive (HAR 1.2), as the developer tools of browsers save it.
//!
//! The archive provides sizes, priorities and dependencies; the page of the model in `docs/` has the rules.

mod entry;
mod graph;
mod json;
mod left_out;
mod priority;
mod sizes;
mod time;

use super::file::{self, MAX_FILE_BYTES, Replay, TextError};
use super::{Built, Fault, Laws, MAX_OBJECTS, Model, Page};
use entry::Entry;
use json::Node;
use left_out::LeftOut;
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
    build: Model { laws: |_| Ok(Laws::new()), pages, notes },
};

/// The options of the row.
#[derive(Debug, Clone, Copy)]
struct HarOptions {
    gaps: bool,
    think: Duration,
    reading: Duration,
}

fn pages(arguments: &Arguments, _: &mut random::Stream) -> Built {
    let file = arguments.file("file");
    let archive = parse(&file.text, HarOptions::of(arguments))
        .map_err(|error| -> Fault { ("file", format!("{}, {error}", file.path)) })?;
    Ok(Box::new(Replay::new(archive.pages)))
}

/// What is left out of an archive; nothing if it cannot be read.
fn notes(arguments: &Arguments) -> Vec<String> {
    let file = arguments.file("file");
    let archive = parse(&file.text, HarOptions::of(arguments)).ok();
    let given = archive.filter(|archive| archive.left_out.count() > 0);
    given
        .map(|Archive { entries, left_out, .. }| {
            format!("{}: {} of {entries} entries are left out: {left_out}", file.path, left_out.count())
        })
        .into_iter()
        .collect()
}

impl HarOptions {
    fn of(arguments: &Arguments) -> HarOptions {
        HarOptions {
            gaps: arguments.flag("gaps"),
            think: arguments.duration("think"),
            reading: arguments.duration("reading"),
        }
    }
}

/// What an archive has.
#[derive(Debug)]
struct Archive {
    /// At least one.
    pages: Vec<Page>,
    /// The number of entries.
    entries: usize,
    left_out: LeftOut,
}

/// Reads an archive, which must have at least one page.
///
/// # Errors
/// The first error, with the number of its entry.
fn parse(text: &str, options: HarOptions) -> Result<Archive, TextError> {
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
    let (mut count, mut left_out) = (0, LeftOut::default());
    for (number, node) in (1..).zip(entries) {
        count = number;
        let wrong = |problem| TextError::entry(number, problem);
        let entry = match Entry::read(&node, number).map_err(wrong)? {
            Ok(entry) => entry,
            Err(why) => {
                left_out.add(why, number);
                continue;
            }
        };
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
        let why = if count > 0 { format!(": {left_out}") } else { String::new() };
        return Err(TextError::whole(format!("none of its entries went over the network{why}")));
    }
    for page in &pages {
        page.check().map_err(|error| TextError::whole(error.to_string()))?;
    }
    Ok(Archive { pages, entries: count, left_out })
}

fn version(log: &Node<'_>) -> Result<(), String> {
    let version = log.need("version")?.text()?;
    // Versions 1.1 and 1.3 have the same form for everything read here; an empty version means 1.1.
    if ["1.3", "1.2", "1.1", ""].contains(&version) {
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
