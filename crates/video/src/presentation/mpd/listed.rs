//! The sizes of an MPD's segments, listed in a file (CSV): columns representation, segment, bytes, period, and seconds.

use super::Draft;
use super::indexed::Listed;
use super::segments::Listing;
use super::times::ROUNDING;
use super::tracks::PeriodDraft;
use crate::presentation::file::{self, TextError, quoted};
use crate::presentation::{MAX_DURATION, MAX_SIZES, Track};
use std::collections::BTreeMap;
use units::Duration;
use units::table::{Reader, plain};

/// The columns. That of the period may be missing if there is one, that of seconds if the MPD lists the segments.
const COLUMNS: [&str; 5] = ["representation", "segment", "bytes", "period", "seconds"];
const BYTES: usize = 2;
const PERIOD: usize = 3;
const SECONDS: usize = 4;

/// The word for an initialization segment.
const INITIALIZATION: &str = "init";

/// Replaces the sizes of all representations by those in the file, which must be complete. Returns which columns were
/// skipped, and which seconds were not used.
///
/// # Errors
/// The first invalid line, with a description; or the first segment without a line.
pub(super) fn apply(text: &str, draft: &mut Draft) -> Result<Vec<String>, TextError> {
    let mut reader = file::csv(text)?;
    let header = reader.first().number;
    let columns = Columns::read(&mut reader, draft.periods.len())
        .map_err(|problem| TextError::line(header, problem))?;
    let skipped = reader.skipped(&COLUMNS);
    let mut slots = Slots::of(draft);
    let mut cells = Vec::new();
    while let Some(line) = reader.next(&mut cells) {
        columns
            .entry(&mut reader, &cells)
            .and_then(|entry| slots.set(&mut draft.periods, &entry, line.number))
            .map_err(|problem| TextError::line(line.number, problem))?;
    }
    check_complete(&draft.periods)?;
    let (count, first) = slots.others;
    let others = (count > 0).then(|| {
        let segments = if count == 1 { "segment" } else { "segments" };
        format!(
            "line {first}: the seconds of {count} {segments}, of which this is the first, are not those of the MPD, which are taken"
        )
    });
    Ok(skipped.into_iter().chain(others).collect())
}

/// The index of each column in a line.
struct Columns(Vec<Option<usize>>);

/// A line.
struct Entry<'a> {
    period: usize,
    representation: &'a str,
    /// Counted from 1; `None` for the initialization segment.
    segment: Option<usize>,
    bytes: u64,
    seconds: Option<Duration>,
}

/// The durations of the segments in a file.
///
/// # Errors
/// The first invalid line: without its durations an MPD that needs them would seem to be wrong.
pub(super) fn durations(text: &str) -> Result<Listed, TextError> {
    let mut listed = Listed::new();
    let mut reader = file::csv(text)?;
    let header = reader.first().number;
    let columns = Columns::read(&mut reader, 1).map_err(|problem| TextError::line(header, problem))?;
    let mut cells = Vec::new();
    let mut left = MAX_SIZES;
    while let Some(line) = reader.next(&mut cells) {
        let entry =
            columns.entry(&mut reader, &cells).map_err(|problem| TextError::line(line.number, problem))?;
        left = match left.checked_sub(1) {
            Some(left) => left,
            None => break,
        };
        if let Some(segment) = entry.segment {
            let place = (entry.period, entry.representation.to_owned());
            listed.entry(place).or_default().insert(segment, entry.seconds);
        }
    }
    Ok(listed)
}

impl Columns {
    fn read(reader: &mut Reader<'_>, periods: usize) -> Result<Columns, String> {
        reader.settle(&COLUMNS, &[])?;
        if reader.names().is_empty() {
            let first = reader.first().quoted();
            return Err(format!("found {first}; expected the names of columns: {}", COLUMNS.join(", ")));
        }
        let places = reader.columns(&COLUMNS)?;
        let needed = if periods > 1 { PERIOD + 1 } else { PERIOD };
        if let Some((line, unit)) = reader.size_unit_in_comment() {
            let unit = quoted(unit);
            return Err(format!("the comment in line {line} has {unit}; expected bytes, and no other unit"));
        }
        // A column in another unit would be skipped, and what it says be missing.
        for at in [BYTES, SECONDS].into_iter().filter(|at| places[*at].is_none()) {
            let behind =
                |name: &str| plain(name).strip_prefix(COLUMNS[at]).is_some_and(|end| end.starts_with('_'));
            if let Some(name) = reader.names().iter().find(|name| behind(name)) {
                let (name, column) = (quoted(name), COLUMNS[at]);
                return Err(format!(
                    "column {name} is not read; expected {column} alone, without another unit"
                ));
            }
        }
        match places[..needed].iter().position(Option::is_none) {
            Some(PERIOD) => Err(format!("no column \"period\"; expected it for {periods} periods")),
            Some(missing) => {
                Err(format!("no column {:?}; expected {}", COLUMNS[missing], COLUMNS.join(", ")))
            }
            None => Ok(Columns(places)),
        }
    }

    fn entry<'a>(&self, reader: &mut Reader<'a>, cells: &[&'a str]) -> Result<Entry<'a>, String> {
        if let Some(problem) = reader.miscounted(cells.len()) {
            return Err(problem);
        }
        let value = |column: usize| self.0[column].map(|at| cells[at]);
        let wrong = |column: usize, expected: &str| {
            let value = quoted(value(column).unwrap_or_default());
            format!("{} is {value}; expected {expected}", COLUMNS[column])
        };
        let mut counted = |column: usize, expected: &str| {
            let number = value(column).and_then(|cell| file::bytes(reader, cell));
            number.and_then(|number| usize::try_from(number).ok()).ok_or_else(|| wrong(column, expected))
        };
        let segment = match value(1) {
            Some(INITIALIZATION) => None,
            _ => Some(counted(1, "init, or the number of a segment of the period, counted from 1")?),
        };
        let period = match value(PERIOD) {
            Some(_) => counted(PERIOD, "the number of a period, counted from 1")? - 1,
            None => 0,
        };
        let bytes = counted(2, "the bytes of a segment, as 86250")? as u64;
        let seconds = match value(SECONDS) {
            None | Some("") => None,
            Some(cell) => {
                let seconds = seconds(reader, cell);
                Some(seconds.ok_or_else(|| wrong(SECONDS, "the seconds of a segment, as 4.004"))?)
            }
        };
        Ok(Entry { period, seconds, representation: value(0).unwrap_or_default(), segment, bytes })
    }
}

/// A duration above zero, in seconds.
fn seconds<'a>(reader: &mut Reader<'a>, cell: &'a str) -> Option<Duration> {
    let duration = Duration::from_nanos(reader.scaled(cell, 9)?.0);
    (!duration.is_zero() && duration <= MAX_DURATION).then_some(duration)
}

/// Where the sizes of representations are, by period and name.
struct Slots {
    places: BTreeMap<(usize, String), Slot>,
    /// How many lines have other seconds than the MPD, and the first of them.
    others: (usize, usize),
}

struct Slot {
    /// See `ListedRepresentation::taken`.
    taken: Option<(usize, usize, Listing)>,
    /// See `ListedRepresentation::is_twice`.
    is_twice: bool,
    has_initialization: bool,
}

impl Slots {
    /// Marks all sizes as unknown.
    fn of(draft: &mut Draft) -> Slots {
        let mut places = BTreeMap::new();
        for (number, period) in draft.periods.iter_mut().enumerate() {
            let tracks = period.period.tracks.iter_mut();
            tracks.flat_map(|track| &mut track.representations).for_each(|one| one.sizes.fill(0));
            for place in &period.places {
                let slot = Slot { taken: place.taken, is_twice: place.is_twice, has_initialization: false };
                places.insert((number, place.id.clone()), slot);
            }
        }
        Slots { places, others: (0, 0) }
    }

    fn set(&mut self, periods: &mut [PeriodDraft], entry: &Entry<'_>, line: usize) -> Result<(), String> {
        let Some(period) = periods.get_mut(entry.period) else {
            return Err(format!("period is {}; the MPD has {} of them", entry.period + 1, periods.len()));
        };
        let name = quoted(entry.representation);
        let Some(slot) = self.places.get_mut(&(entry.period, entry.representation.to_owned())) else {
            return Err(format!(
                "representation is {name}; the MPD has no such id in period {}",
                entry.period + 1
            ));
        };
        if slot.is_twice {
            return Err(format!(
                "representation is {name}, an id of both video and audio; expected ids of their own for a list of sizes"
            ));
        }
        // A folder has the segments of all languages, and of subtitles.
        let Some((track, number, listing)) = slot.taken else { return Ok(()) };
        let Track { durations, representations, .. } = &mut period.period.tracks[track];
        let representation = &mut representations[number];
        let Some(segment) = entry.segment else {
            if slot.has_initialization && representation.initialization != entry.bytes {
                return Err(format!("the initialization segment of representation {name} twice"));
            }
            slot.has_initialization = true;
            representation.initialization = entry.bytes;
            return Ok(());
        };
        if segment > listing.count {
            return Err(format!("segment is {segment}; representation {name} has {} of them", listing.count));
        }
        // Segments before and after the period are in the MPD, but are not played.
        let at = (segment - 1).checked_sub(listing.before);
        let Some((at, size)) = at.and_then(|at| Some((at, representation.sizes.get_mut(at)?))) else {
            return Ok(());
        };
        if *size > 0 && *size != entry.bytes {
            return Err(format!("segment {segment} of representation {name} twice"));
        }
        *size = entry.bytes;
        // The first and the last one may be cut at the ends of their period.
        let may_be_cut = (at == 0 && !listing.cut.is_zero()) || at + 1 == durations.len();
        let other = |seconds: &Duration| {
            let known = durations[at];
            (*seconds).max(known) - (*seconds).min(known) > ROUNDING && !(may_be_cut && *seconds > known)
        };
        if entry.seconds.as_ref().is_some_and(other) {
            self.others = (self.others.0 + 1, if self.others.0 == 0 { line } else { self.others.1 });
        }
        Ok(())
    }
}

fn check_complete(periods: &[PeriodDraft]) -> Result<(), TextError> {
    for (number, period) in periods.iter().enumerate() {
        for representation in period.period.tracks.iter().flat_map(|track| &track.representations) {
            if let Some(segment) = representation.sizes.iter().position(|size| *size == 0) {
                let name = quoted(&representation.id);
                let place = period.places.iter().find(|place| place.id == representation.id);
                let before = place.and_then(|place| place.taken).map_or(0, |(_, _, listing)| listing.before);
                let segment = before + segment + 1;
                let place = format!("segment {segment} of representation {name} in period {}", number + 1);
                return Err(TextError::whole(format!("no line for {place}")));
            }
        }
    }
    Ok(())
}
