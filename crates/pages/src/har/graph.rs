//! From the entries of a page to its objects: what waits for what.

use super::Manner;
use super::entry::Entry;
use crate::{After, Object, Page};
use std::collections::BTreeMap;
use units::Duration;

/// Times of an archive are whole milliseconds in part: an object that is asked for so many nanoseconds before another one
/// ends is asked for after it.
const TOLERANCE: u64 = 1_000_000;
/// Of objects with one URL, so many are looked at.
const MOST_SAME: usize = 16;

/// The page of these entries, of which there is at least one.
pub(super) fn page(mut entries: Vec<Entry>, manner: Manner) -> Page {
    entries.sort_by_key(|entry| (entry.start, entry.number));
    let start = entries[0].start;
    let mut known = Known::default();
    let mut objects = Vec::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        let earlier = &entries[..place];
        let after = known
            .redirector(entry)
            .or_else(|| known.named_by(entry, earlier))
            .or_else(|| last_before(entry, earlier));
        let since = after.map_or(start, |after| {
            let other = &entries[after.object as usize];
            if after.begun { other.begun } else { other.end }
        });
        let gap = if manner.gaps { entry.start.saturating_sub(since) } else { 0 };
        objects.push(Object {
            header_bytes: entry.header_bytes,
            request_bytes: entry.request_bytes,
            think: manner.think,
            priority: entry.priority,
            after: after.into_iter().collect(),
            parsing: Duration::from_nanos(gap),
            ..Object::new(entry.kind, entry.bytes)
        });
        known.add(place, entry);
    }
    Page { objects, reading: manner.reading }
}

/// Where URLs were met so far.
#[derive(Default)]
struct Known<'a> {
    /// Which objects have this URL, ascending.
    places: BTreeMap<&'a str, Vec<usize>>,
    /// The last response that sent the client there.
    redirects: BTreeMap<&'a str, usize>,
}

impl<'a> Known<'a> {
    fn add(&mut self, place: usize, entry: &'a Entry) {
        self.places.entry(&entry.url).or_default().push(place);
        if let Some(target) = &entry.redirects_to {
            self.redirects.insert(target, place);
        }
    }

    /// The response that sent the client to this object.
    fn redirector(&self, entry: &Entry) -> Option<After> {
        self.redirects.get(entry.url.as_str()).map(|place| After::complete(*place as u32))
    }

    /// What named it, if that had begun to arrive: complete if it was then, else its first byte suffices.
    fn named_by(&self, entry: &Entry, earlier: &[Entry]) -> Option<After> {
        entry.initiators.iter().find_map(|url| {
            let places = self.places.get(url.as_str())?;
            let begun = |place: &&usize| earlier[**place].begun <= entry.start + TOLERANCE;
            let place = *places.iter().rev().take(MOST_SAME).find(begun)?;
            let begun = earlier[place].end > entry.start + TOLERANCE;
            Some(After { object: place as u32, begun })
        })
    }
}

/// What was the last to be complete before it was asked for.
fn last_before(entry: &Entry, earlier: &[Entry]) -> Option<After> {
    let ended = earlier.iter().enumerate().filter(|(_, other)| other.end <= entry.start + TOLERANCE);
    ended.max_by_key(|(place, other)| (other.end, *place)).map(|(place, _)| After::complete(place as u32))
}
