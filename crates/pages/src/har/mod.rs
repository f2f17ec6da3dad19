//! Pages from an HTTP Archive (HAR 1.2), as the developer tools of browsers save it.
//!
//! The archive provides sizes, priorities and dependencies; the page of the model in `docs/` has the rules.

mod entry;
mod graph;
mod json;
mod left_out;
mod paging;
mod priority;
mod sizes;
mod surrogates;
mod time;

use super::file::{self, MAX_FILE_BYTES, ReadingOptions, Replay, TextError};
use super::{Built, Fault, Laws, MAX_OBJECTS, Model, Page};
use entry::Entry;
use json::Node;
use left_out::{Doubts, LeftOut};
use paging::Paging;
use serde_json::Value as Json;
use units::Duration;
use units::parameter::{Arguments, File, Options, Row};
use units::table::without_mark;

/// A minimal archive of one page with two objects.
const SHORTEST: &str = r#"{"log": {"version": "1.2", "entries": [
{"startedDateTime": "2026-03-01T09:05:00.000Z", "time": 50, "request": {"url": "https://a.example/"}, "response": {"status": 200, "bodySize": 20000}},
{"startedDateTime": "2026-03-01T09:05:00.060Z", "time": 20, "request": {"url": "https://a.example/b"}, "response": {"status": 200, "bodySize": 9000}}
]}}"#;

/// The options of archives.
#[derive(Debug, Clone, Options)]
struct ArchiveOptions {
    /// the archive, with sizes, priorities and dependencies
    #[option(example = SHORTEST)]
    file: File,
    #[options]
    har: HarOptions,
}

/// How the pages of an archive are loaded.
#[derive(Debug, Clone, Copy, Options)]
struct HarOptions {
    /// whether an object is requested as long after its dependency as when it was recorded
    #[option(default = true)]
    gaps: bool,
    /// time from a complete request at the server to the start of its response; archives do not contain it
    #[option(default = "0 s")]
    think: Duration,
    #[options]
    pages: ReadingOptions,
}

pub(super) const ROW: Row<Model> = Row {
    name: "har",
    about: "the pages of an HTTP Archive (HAR 1.2), as browsers' developer tools save it, in turn",
    parameters: ArchiveOptions::PARAMETERS,
    build: Model { laws: |_| Ok(Laws::new()), pages, notes },
};

fn pages(arguments: &Arguments, _: &mut random::Generator) -> Built {
    let ArchiveOptions { file, har } = ArchiveOptions::of(arguments);
    let archive =
        parse(&file.text, har).map_err(|error| -> Fault { ("file", format!("{}, {error}", file.path)) })?;
    Ok(Box::new(Replay::new(archive.pages)))
}

/// What is left out of an archive, and what was settled in one of several ways; nothing if it cannot be read.
fn notes(arguments: &Arguments) -> Vec<String> {
    let ArchiveOptions { file, har } = ArchiveOptions::of(arguments);
    let archive = parse(&file.text, har).ok();
    let notes = archive.map(|archive| archive.notes()).unwrap_or_default();
    notes.into_iter().map(|note| format!("{}: {note}", file.path)).collect()
}

/// What an archive has.
#[derive(Debug)]
struct Archive {
    /// At least one.
    pages: Vec<Page>,
    /// The number of entries.
    entries: usize,
    left_out: LeftOut,
    doubts: Doubts,
    /// Which pages there are, if there are several.
    paging: Option<String>,
    /// Where the file was cut off, if it was.
    cut: Option<String>,
}

impl Archive {
    fn notes(&self) -> Vec<String> {
        let Archive { entries, left_out, .. } = self;
        let count = left_out.count();
        let are = if count == 1 { "is" } else { "are" };
        let left_out = (count > 0)
            .then(|| format!("{count} of {} {are} left out: {left_out}", left_out::entries(*entries)));
        self.cut
            .clone()
            .into_iter()
            .chain(left_out)
            .chain(self.doubts.notes(*entries))
            .chain(self.paging.clone())
            .collect()
    }
}

/// Reads an archive, which must have at least one page.
///
/// # Errors
/// The first error, with the number of its entry.
fn parse(text: &str, options: HarOptions) -> Result<Archive, TextError> {
    if text.len() > MAX_FILE_BYTES {
        return Err(TextError::whole(format!("more than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    let text = surrogates::replaced(without_mark(text));
    let (archive, cut) = json_of(&text)?;
    let log = Node::root(&archive).need("log").map_err(TextError::whole)?;
    version(&log).map_err(TextError::whole)?;
    let mut paging = Paging::of(&log).map_err(TextError::whole)?;
    let entries = || log.need("entries").and_then(|entries| entries.roots()).map_err(TextError::whole);
    let zone = entries()?.find_map(|node| time::zone_of(node.get("startedDateTime")?.text().ok()?));
    let (mut count, mut left_out, mut doubts) = (0, LeftOut::new(), Doubts::new());
    for (number, node) in (1..).zip(entries()?) {
        count = number;
        let wrong = |problem| TextError::entry(number, problem);
        match Entry::read(&node, number, zone).map_err(wrong)? {
            Ok(entry) => {
                entry.doubts.iter().flatten().for_each(|doubt| doubts.add(*doubt, number));
                paging.add(entry).map_err(wrong)?;
            }
            Err(why) => left_out.add(why, number),
        }
    }
    let (pages, paging) = paging.pages(&mut doubts).map_err(TextError::whole)?;
    let pages: Vec<Page> = pages.into_iter().map(|entries| graph::page(entries, options)).collect();
    if pages.is_empty() {
        let why = if count > 0 { format!(": {left_out}") } else { String::new() };
        return Err(TextError::whole(format!("none of its entries went over the network{why}")));
    }
    for page in &pages {
        page.check().map_err(|error| TextError::whole(error.to_string()))?;
    }
    let cut = cut.map(|line| {
        format!("cut off in line {line}, after {}: what is complete is played", left_out::entries(count))
    });
    Ok(Archive { pages, entries: count, left_out, doubts, paging, cut })
}

/// The archive, and the line in which it was cut off, if it was: then it has the entries that are complete.
fn json_of(text: &str) -> Result<(Json, Option<usize>), TextError> {
    let wrong = |error: serde_json::Error| TextError::whole(format!("not JSON: {error}"));
    match serde_json::from_str(text) {
        Ok(archive) => Ok((archive, None)),
        Err(error) if error.is_eof() => {
            let closed = closed(text).ok_or_else(|| wrong(error))?;
            let line = 1 + text.trim_end().matches('\n').count();
            serde_json::from_str(&closed).map(|archive| (archive, Some(line))).map_err(wrong)
        }
        Err(error) => Err(wrong(error)),
    }
}

/// An archive that was cut off, up to its last complete entry or page; `None` if it has none.
fn closed(text: &str) -> Option<String> {
    let (mut open, mut complete) = (Vec::new(), None);
    let (mut is_string, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            _ if is_string => {}
            b'{' | b'[' => open.push(byte),
            b'}' | b']' => {
                open.pop();
                // An item of a list of `log`.
                if open == b"{{[" {
                    complete = Some(at + 1);
                }
            }
            _ => {}
        }
    }
    complete.map(|end| format!("{}]}}}}", &text[..end]))
}

/// Refuses versions that may have another form. Nobody needs to know which of 1.1 to 1.3 it is.
fn version(log: &Node<'_>) -> Result<(), String> {
    let Some(version) = log.get("version").and_then(|version| version.name()) else { return Ok(()) };
    match version.trim().split('.').next().map(str::parse::<u32>) {
        Some(Ok(major)) if major != 1 => {
            Err(format!("log.version is {}; expected \"1.2\"", file::quoted(&version)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
