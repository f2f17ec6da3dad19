//! The pages of an archive: those that `log.pages` lists, and those that only entries name.

use super::entry::Entry;
use super::json::Node;
use super::left_out::{self, Doubt, Doubts};
use super::{MAX_OBJECTS, file};
use std::collections::BTreeMap;

/// The most pages that a note names.
const NAMED: usize = 5;

/// A day in nanoseconds: no page takes so long.
const DAY: u64 = 86_400_000_000_000;

/// The entries of a page, by its id; a page without one is that of entries that name none.
#[derive(Debug)]
struct Group {
    id: Option<String>,
    is_listed: bool,
    entries: Vec<Entry>,
}

/// The pages of an archive while its entries are read.
#[derive(Debug)]
pub(super) struct Paging {
    groups: Vec<Group>,
    by_id: BTreeMap<String, usize>,
    /// The entries that name no page.
    loose: Vec<Entry>,
}

impl Paging {
    /// The pages that the log lists, in their order. Nobody can name a page without an id.
    ///
    /// # Errors
    /// If there are too many, or two with the same id.
    pub(super) fn of(log: &Node<'_>) -> Result<Paging, String> {
        let mut paging = Paging { groups: Vec::new(), by_id: BTreeMap::new(), loose: Vec::new() };
        let Some(pages) = log.get("pages") else { return Ok(paging) };
        for page in pages.items()? {
            let Some(id) = page.get("id").and_then(|id| id.name()) else { continue };
            if paging.by_id.contains_key(&id) {
                return Err(format!("two pages with the id {}", file::quoted(&id)));
            }
            paging.page(id, true)?;
        }
        Ok(paging)
    }

    /// The place of a page, which may be new.
    fn page(&mut self, id: String, is_listed: bool) -> Result<usize, String> {
        if let Some(place) = self.by_id.get(&id) {
            return Ok(*place);
        }
        if self.groups.len() == MAX_OBJECTS {
            return Err(format!("more than {MAX_OBJECTS} pages"));
        }
        self.by_id.insert(id.clone(), self.groups.len());
        self.groups.push(Group { id: Some(id), is_listed, entries: Vec::new() });
        Ok(self.groups.len() - 1)
    }

    /// Adds an entry to the page that it names. Different names are different pages, whether they are listed or not.
    pub(super) fn add(&mut self, entry: Entry) -> Result<(), String> {
        let entries = match entry.page.clone() {
            Some(id) => {
                let place = self.page(id, false)?;
                &mut self.groups[place].entries
            }
            None => &mut self.loose,
        };
        if entries.len() == MAX_OBJECTS {
            return Err(format!("more than {MAX_OBJECTS} objects of a page"));
        }
        entries.push(entry);
        Ok(())
    }

    /// The entries of each page that has some, and a note if there are several pages.
    ///
    /// # Errors
    /// If a page has too many objects.
    pub(super) fn pages(mut self, doubts: &mut Doubts) -> Result<(Vec<Vec<Entry>>, Option<String>), String> {
        self.groups.retain(|group| !group.entries.is_empty());
        if self.groups.is_empty() {
            self.groups.push(Group { id: None, is_listed: false, entries: Vec::new() });
        }
        for group in &mut self.groups {
            settle_dates(&mut group.entries, doubts)?;
        }
        let start = |group: &Group| group.entries.iter().map(|entry| entry.start).min().unwrap_or(0);
        let mut begins: Vec<(u64, usize)> = self.groups.iter().map(start).zip(0..).collect();
        begins.sort_unstable();
        for entry in self.loose {
            let later = begins.partition_point(|(begin, _)| *begin <= entry.start);
            let (_, place) = begins[later.saturating_sub(1)];
            if self.groups.len() > 1 {
                doubts.add(Doubt::Page, entry.number);
            }
            if self.groups[place].entries.len() == MAX_OBJECTS {
                return Err(format!("more than {MAX_OBJECTS} objects of a page"));
            }
            self.groups[place].entries.push(entry);
        }
        // Those without a page may be of another day, too.
        for group in &mut self.groups {
            settle_dates(&mut group.entries, doubts)?;
        }
        let note = note(&self.groups);
        let pages = self.groups.into_iter().map(|group| group.entries);
        Ok((pages.filter(|entries| !entries.is_empty()).collect(), note))
    }
}

/// Gives entries of another day than most of their page the time of the entry before, in the order of the file, or of the
/// first behind that has one.
fn settle_dates(entries: &mut [Entry], doubts: &mut Doubts) -> Result<(), String> {
    let mut starts: Vec<u64> = entries.iter().map(|entry| entry.start).collect();
    starts.sort_unstable();
    let Some(middle) = starts.get(starts.len() / 2).copied() else { return Ok(()) };
    if middle == 0 {
        return Err(
            "most entries of a page have a startedDateTime before 1970; expected the times of the requests"
                .to_owned(),
        );
    }
    let is_off = |entry: &Entry| entry.start.abs_diff(middle) >= DAY;
    let mut near = entries.iter().find(|entry| !is_off(entry)).map_or(middle, |entry| entry.start);
    for entry in entries {
        if is_off(entry) {
            doubts.add(Doubt::Date, entry.number);
            entry.begin_at(near);
        }
        near = entry.start;
    }
    Ok(())
}

/// Which pages there are, if there are several.
fn note(groups: &[Group]) -> Option<String> {
    if groups.len() < 2 {
        return None;
    }
    let words = |group: &Group| {
        let id = file::quoted(group.id.as_deref().unwrap_or(""));
        format!("{id} with {}", left_out::entries(group.entries.len()))
    };
    let mut named: Vec<String> = groups.iter().take(NAMED).map(words).collect();
    if groups.len() > NAMED {
        named.push(format!("{} more", groups.len() - NAMED));
    }
    let unlisted = groups.iter().filter(|group| !group.is_listed).count();
    let listed = match unlisted {
        0 => String::new(),
        count => format!("; log.pages does not list {count} of them"),
    };
    Some(format!(
        "{} pages, which are loaded in turn (the option pages of the application says how many): {}{listed}",
        groups.len(),
        named.join(", ")
    ))
}
