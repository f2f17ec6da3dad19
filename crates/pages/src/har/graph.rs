//! Derives the objects of a page and their dependencies from its entries.

use super::HarOptions;
use super::entry::Entry;
use crate::{After, Object, Page};
use std::collections::BTreeMap;
use units::Duration;

/// Some times in an archive are rounded to milliseconds: a request up to this many nanoseconds before the end of
/// another object counts as after it.
const TOLERANCE: u64 = 1_000_000;
/// The maximum number of objects with the same URL that are considered.
const MAX_SAME: usize = 16;

/// The page with these entries, of which there must be at least one.
pub(super) fn page(mut entries: Vec<Entry>, options: HarOptions) -> Page {
    entries.sort_by_key(|entry| (entry.start, entry.number));
    let start = entries[0].start;
    let mut seen = SeenUrls::default();
    let mut objects = Vec::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        let earlier = &entries[..place];
        let after = seen
            .redirect_to(entry)
            .or_else(|| seen.named_by(entry, earlier))
            .or_else(|| last_before(entry, earlier));
        let since = after.map_or(start, |after| {
            let other = &entries[after.object as usize];
            if after.on_first_byte { other.first_byte } else { other.end }
        });
        let gap = if options.gaps { entry.start.saturating_sub(since) } else { 0 };
        objects.push(Object {
            host: entry.host.clone(),
            header_bytes: entry.header_bytes,
            request_bytes: entry.request_bytes,
            think: options.think,
            priority: entry.priority,
            after: after.into_iter().collect(),
            parsing: Duration::from_nanos(gap),
            ..Object::new(entry.kind, entry.bytes)
        });
        seen.add(place, entry);
    }
    Page { objects, reading: options.pages.reading }
}

/// The URLs seen so far.
#[derive(Default)]
struct SeenUrls<'a> {
    /// The objects with this URL, ascending.
    places: BTreeMap<&'a str, Vec<usize>>,
    /// The last redirect to this URL.
    redirects: BTreeMap<&'a str, usize>,
}

impl<'a> SeenUrls<'a> {
    fn add(&mut self, place: usize, entry: &'a Entry) {
        self.places.entry(&entry.url).or_default().push(place);
        if let Some(target) = &entry.redirects_to {
            self.redirects.insert(target, place);
        }
    }

    /// The redirect that leads to this object.
    fn redirect_to(&self, entry: &Entry) -> Option<After> {
        self.redirects.get(entry.url.as_str()).map(|place| After::complete(*place as u32))
    }

    /// The object that names this one, if it had begun to arrive by then. Its first byte suffices unless it was already
    /// complete.
    fn named_by(&self, entry: &Entry, earlier: &[Entry]) -> Option<After> {
        entry.initiators.iter().find_map(|url| {
            let places = self.places.get(url.as_str())?;
            let has_begun = |place: &&usize| earlier[**place].first_byte <= entry.start + TOLERANCE;
            let place = *places.iter().rev().take(MAX_SAME).find(has_begun)?;
            let on_first_byte = earlier[place].end > entry.start + TOLERANCE;
            Some(After { object: place as u32, on_first_byte })
        })
    }
}

/// The last object that was complete before the request.
fn last_before(entry: &Entry, earlier: &[Entry]) -> Option<After> {
    let ended = earlier.iter().enumerate().filter(|(_, other)| other.end <= entry.start + TOLERANCE);
    ended.max_by_key(|(place, other)| (other.end, *place)).map(|(place, _)| After::complete(place as u32))
}
