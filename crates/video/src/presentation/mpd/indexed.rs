//! Segments that an MPD does not list: those of SegmentBase, which are in an index inside of the media file, and those of a
//! representation that has a BaseURL alone (ISO/IEC 23009-1, 5.3.9.2). A list of sizes or an option says what they are.

use super::element::Element;
use super::times::MISSING;
use super::{Reading, Window};
use crate::presentation::file::{TextError, quoted};
use crate::presentation::{MAX_DURATION, MAX_SEGMENTS};
use std::collections::BTreeMap;
use units::Duration;

/// The durations of the segments that a list of sizes has, by period and representation, and by the number of the segment.
/// They are unknown if the list has no column for them.
pub(super) type Listed = BTreeMap<(usize, String), BTreeMap<usize, Option<Duration>>>;

/// What is known of the segments of a representation beside the MPD.
#[derive(Debug, Clone, Copy)]
pub(super) struct Index<'a> {
    pub(super) listed: &'a Listed,
    /// The duration of segments whose duration is not known.
    pub(super) segment: Option<Duration>,
    pub(super) period: usize,
    pub(super) id: &'a str,
}

/// The durations of a list are in another unit than seconds if their sum is at least this many times the period.
const FAR: u64 = 10;

impl Index<'_> {
    /// The durations of the segments of a representation, cut at the end of the period, and how many are known.
    pub(super) fn durations(
        &self,
        levels: &[Element<'_>],
        window: Window,
        reading: &mut Reading,
    ) -> Result<(Vec<Duration>, usize), TextError> {
        let base = levels.iter().find_map(|level| level.children("SegmentBase").next());
        let element = base.unwrap_or(levels[0]);
        let end = window.span.or(window.open).unwrap_or(MAX_DURATION);
        let listed = self.listed.get(&(self.period, self.id.to_owned()));
        let known = listed.map(|listed| listed.values().copied().map(|one| one.or(self.segment)));
        let given: Vec<Duration> = match (known, self.segment) {
            (Some(mut known), _) => {
                known.by_ref().collect::<Option<_>>().ok_or_else(|| element.wrong(unknown(self.id)))?
            }
            (None, Some(segment)) if window.span.or(window.open).is_some() => {
                let count = end.as_nanos().div_ceil(segment.as_nanos().max(1));
                if count > MAX_SEGMENTS as u64 {
                    return Err(element.wrong(format!("{count} segments; expected at most {MAX_SEGMENTS}")));
                }
                vec![segment; count as usize]
            }
            _ => return Err(element.wrong(unlisted(&element, self.id, base.is_some()))),
        };
        let (count, longest) = (given.len(), given.iter().max().copied().unwrap_or(Duration::ZERO));
        let whole = given.iter().fold(Duration::ZERO, |sum, duration| sum + *duration);
        if let Some(span) = window.span.filter(|_| listed.is_some()) {
            let id = quoted(self.id);
            if whole.as_nanos() >= span.as_nanos().saturating_mul(FAR) {
                return Err(element.wrong(format!(
                    "by the list of sizes the segments of representation {id} last {whole}, and their period {span}; expected seconds"
                )));
            }
            let is_end = given.last().is_some_and(|last| (*last).max(span) - (*last).min(span) < MISSING);
            if count > 1 && is_end && given.is_sorted_by(|one, next| one < next) {
                return Err(element.wrong(format!(
                    "in the list of sizes each segment of representation {id} lasts longer than the one before, the last as long \
                     as the period; expected the seconds of each segment, not of all until its end"
                )));
            }
        }
        if let Some(span) = window.span.filter(|_| window.is_static)
            && (whole + longest.min(MISSING) <= span || whole >= span + longest)
        {
            let id = quoted(self.id);
            reading.note(element.wrong(format!(
                "the segments of representation {id} last {whole} together, and their period {span}"
            )));
        }
        let mut before = Duration::ZERO;
        let cut = given.into_iter().map(|duration| {
            let left = if before < end { (end - before).min(duration) } else { Duration::ZERO };
            before += duration;
            left
        });
        Ok((cut.filter(|duration| !duration.is_zero()).collect(), count))
    }
}

fn unknown(id: &str) -> String {
    format!(
        "the list of sizes has no seconds of the segments of representation {}; expected a column seconds, or the option segment",
        quoted(id)
    )
}

/// Why the segments are not known, and what would tell.
fn unlisted(element: &Element<'_>, id: &str, has_base: bool) -> String {
    let place = match element.attribute("indexRange") {
        Some(range) => format!("in bytes {range} of the media file"),
        None if has_base => "inside of the media file".to_owned(),
        None => "nowhere in the MPD: it has no SegmentTemplate, SegmentList or SegmentBase".to_owned(),
    };
    format!(
        "the segments of representation {} are listed {place}; expected a list of sizes with the column seconds (the option \
         sizes; python -m quiclab.sidx makes one of the files beside the MPD), or the option segment",
        quoted(id)
    )
}
