//! The segments of a representation: SegmentTemplate, SegmentTimeline and SegmentList (ISO/IEC 23009-1, 5.3.9).

use super::element::Element;
use super::{Budget, Window};
use crate::presentation::MAX_SEGMENTS;
use crate::presentation::file::{TextError, quoted};
use units::Duration;

/// The longest gap between two segments, or two periods, that is taken for rounding: the segment before it lasts longer.
pub(super) const MAX_GAP: Duration = Duration::from_millis(100);

/// Times that differ by so much are the same: they are rounded, each in its own time scale.
pub(super) const ROUNDING: Duration = Duration::from_millis(1);

/// The forms that are read, and those that are not.
const FORMS: [&str; 3] = ["SegmentTemplate", "SegmentList", "SegmentBase"];

/// How many segments a representation has, beside what follows from the duration of its period.
#[derive(Debug, Clone, Copy)]
enum Count {
    Any,
    AtMost(u64),
    Exactly(u64),
}

/// The segments of a representation.
#[derive(Debug)]
pub(super) struct Segments {
    pub(super) durations: Vec<Duration>,
    /// The number of segments in the MPD; those that begin after the end of the period are not in `durations`.
    pub(super) listed: usize,
    /// The bytes of each listed segment, if the MPD says them.
    pub(super) sizes: Option<Vec<u64>>,
    pub(super) initialization: Initialization,
}

/// The initialization segment of a representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Initialization {
    None,
    /// There is one, and its size is not known.
    Unknown,
    Bytes(u64),
}

/// The elements of one form that apply to a representation: its own, those of its adaptation set and of its period.
#[derive(Debug)]
struct Addressing<'a> {
    /// From the representation outwards; at least one.
    elements: Vec<Element<'a>>,
}

/// Reads the segments of the innermost of these elements, of which each is within the next.
pub(super) fn read(
    levels: &[Element<'_>],
    window: Window,
    budget: &mut Budget,
) -> Result<Segments, TextError> {
    let addressing = Addressing::of(levels)?;
    let element = addressing.elements[0];
    let times = Times::of(&addressing, window)?;
    let (ticks, sizes) = match element.name() {
        "SegmentTemplate" => {
            check_media(&addressing)?;
            let end_number = addressing.number("endNumber", 0, u64::MAX)?;
            let first = addressing.number("startNumber", 0, u64::MAX)?.unwrap_or(1);
            let most = match end_number {
                Some(end) if end < first => {
                    return Err(element.wrong(format!("endNumber is {end}, and the first number is {first}")));
                }
                Some(end) => Count::AtMost((end - first).saturating_add(1)),
                None => Count::Any,
            };
            (addressing.ticks(&times, most)?, None)
        }
        _ => {
            let ranges = addressing.ranges()?;
            let ticks = addressing.ticks(&times, Count::Exactly(ranges.count as u64))?;
            if ticks.len() != ranges.count {
                let problem =
                    format!("{} SegmentURL for {} segments of its timeline", ranges.count, ticks.len());
                return Err(element.wrong(problem));
            }
            (ticks, ranges.sizes)
        }
    };
    if !budget.take(ticks.len()) {
        let most = crate::presentation::MAX_SIZES;
        return Err(element.wrong(format!("more than {most} segments of all representations together")));
    }
    let durations = times.durations(&ticks, &element)?;
    Ok(Segments { durations, listed: ticks.len(), sizes, initialization: addressing.initialization()? })
}

impl<'a> Addressing<'a> {
    fn of(levels: &[Element<'a>]) -> Result<Addressing<'a>, TextError> {
        let mut elements: Vec<Element<'a>> = Vec::new();
        for level in levels {
            for form in FORMS {
                let Some(element) = level.child(form)? else { continue };
                if let Some(other) = elements.first()
                    && other.name() != form
                {
                    let problem =
                        format!("there is {} in line {}, too; expected one form", other.name(), other.line());
                    return Err(element.wrong(problem));
                }
                element.check_local()?;
                elements.push(element);
            }
        }
        match elements.first() {
            None => Err(levels[0].wrong("no segments; expected a SegmentTemplate or a SegmentList")),
            Some(element) if element.name() == "SegmentBase" => Err(element.wrong(
                "its segments are listed inside of the media file, which is not read; expected a SegmentTemplate or a SegmentList",
            )),
            Some(_) => Ok(Addressing { elements }),
        }
    }

    /// The innermost element with this attribute.
    fn with(&self, name: &str) -> Option<&Element<'a>> {
        self.elements.iter().find(|element| element.attribute(name).is_some())
    }
    fn number(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>, TextError> {
        self.with(name).map_or(Ok(None), |element| element.number(name, least, most))
    }
    fn child(&self, name: &'static str) -> Result<Option<Element<'a>>, TextError> {
        for element in &self.elements {
            if let Some(child) = element.child(name)? {
                return Ok(Some(child));
            }
        }
        Ok(None)
    }

    fn initialization(&self) -> Result<Initialization, TextError> {
        let Some(element) = self.child("Initialization")? else {
            let is_named = self.with("initialization").is_some();
            return Ok(if is_named { Initialization::Unknown } else { Initialization::None });
        };
        match element.attribute("range") {
            Some(text) => range(&element, "range", text).map(Initialization::Bytes),
            None => Ok(Initialization::Unknown),
        }
    }

    /// Where segments begin and end, in ticks from the beginning of the first.
    fn ticks(&self, times: &Times<'a>, stated: Count) -> Result<Vec<(u64, u64)>, TextError> {
        match times.source {
            TimeSource::Timeline(timeline) => timeline_ticks(&timeline, times),
            TimeSource::Duration(duration) => equal_ticks(&self.elements[0], times, duration, stated),
        }
    }

    /// The segments of a SegmentList.
    fn ranges(&self) -> Result<Ranges, TextError> {
        let owner = self.elements.iter().find(|element| element.children("SegmentURL").next().is_some());
        let Some(owner) = owner else {
            return Err(self.elements[0].wrong("no SegmentURL; expected one for each segment"));
        };
        let mut sizes = Vec::new();
        let mut count = 0;
        for url in owner.children("SegmentURL") {
            if count == MAX_SEGMENTS {
                return Err(too_many(&url));
            }
            let size = url.attribute("mediaRange").map(|text| range(&url, "mediaRange", text)).transpose()?;
            if count > 0 && size.is_some() == sizes.is_empty() {
                return Err(url.wrong("expected a mediaRange in each SegmentURL of the list, or in none"));
            }
            sizes.extend(size);
            count += 1;
        }
        Ok(Ranges { count, sizes: (!sizes.is_empty()).then_some(sizes) })
    }
}

/// The segments of a SegmentList: how many, and their sizes if they are ranges of bytes.
#[derive(Debug)]
struct Ranges {
    count: usize,
    sizes: Option<Vec<u64>>,
}

/// The time scale of a representation, and where the durations of its segments come from.
#[derive(Debug)]
struct Times<'a> {
    timescale: u64,
    source: TimeSource<'a>,
    window: Window,
}

#[derive(Debug, Clone, Copy)]
enum TimeSource<'a> {
    Timeline(Element<'a>),
    /// The same for all, in ticks.
    Duration(u64),
}

const NANOS: u128 = 1_000_000_000;

impl<'a> Times<'a> {
    fn of(addressing: &Addressing<'a>, window: Window) -> Result<Times<'a>, TextError> {
        let most = u64::from(u32::MAX);
        let timescale = addressing.number("timescale", 1, most)?.unwrap_or(1);
        let duration = addressing.number("duration", 1, most)?;
        let source = match (addressing.child("SegmentTimeline")?, duration) {
            (Some(timeline), None) => TimeSource::Timeline(timeline),
            (None, Some(duration)) => TimeSource::Duration(duration),
            (Some(timeline), Some(_)) => {
                return Err(timeline.wrong("there is an attribute duration, too; expected one of them"));
            }
            (None, None) => {
                return Err(addressing.elements[0].wrong(
                    "no duration of its segments; expected the attribute duration, or a SegmentTimeline",
                ));
            }
        };
        Ok(Times { timescale, source, window })
    }

    /// A time in ticks as a duration, rounded down; `None` if it is too long.
    fn exact(&self, ticks: u64) -> Option<Duration> {
        let nanos = u128::from(ticks) * NANOS / u128::from(self.timescale);
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }

    /// The number of segments of this duration from the time `begin` to the end of the period, if that is known. What
    /// the rounding of the end may have added is no segment.
    fn needed(&self, begin: u64, duration: u64) -> Option<u64> {
        let span = u128::from(self.window.span?.as_nanos()) * u128::from(self.timescale);
        let left = span.div_ceil(NANOS).saturating_sub(u128::from(begin));
        let (whole, rest) = (left / u128::from(duration), left % u128::from(duration));
        let is_rounding =
            whole > 0 && rest * NANOS <= u128::from(ROUNDING.as_nanos()) * u128::from(self.timescale);
        let count = if rest == 0 || is_rounding { whole } else { whole + 1 };
        Some(u64::try_from(count).unwrap_or(u64::MAX))
    }

    /// The durations of segments, cut at the end of the period.
    fn durations(&self, ticks: &[(u64, u64)], element: &Element<'_>) -> Result<Vec<Duration>, TextError> {
        let last = ticks.last().map_or(0, |(_, end)| *end);
        if self.exact(last).is_none_or(|end| end > crate::presentation::MAX_DURATION) {
            return Err(
                element.wrong(format!("its segments last longer than {}", crate::presentation::MAX_DURATION))
            );
        }
        let end = self.window.span.unwrap_or(Duration::MAX);
        let at = |ticks| self.exact(ticks).unwrap_or(Duration::MAX).min(end);
        let all: Vec<Duration> = ticks.iter().map(|(begin, end)| at(*end) - at(*begin)).collect();
        if let Some(short) =
            all.iter().zip(ticks).position(|(duration, (begin, _))| duration.is_zero() && at(*begin) < end)
        {
            return Err(element.wrong(format!("segment {} is shorter than a nanosecond", short + 1)));
        }
        let durations: Vec<Duration> = all.into_iter().filter(|duration| !duration.is_zero()).collect();
        let longest = durations.iter().max().copied().unwrap_or(Duration::ZERO);
        let covered = at(last);
        match self.window.span {
            Some(span) if self.window.is_static && covered + longest <= span => {
                Err(element.wrong(format!("its segments end after {covered}, and its period after {span}")))
            }
            _ => Ok(durations),
        }
    }
}

fn too_many(element: &Element<'_>) -> TextError {
    element.wrong(format!("more than {MAX_SEGMENTS} segments"))
}

/// Segments of equal duration. What a list has after the end of its period is counted, too.
fn equal_ticks(
    element: &Element<'_>,
    times: &Times<'_>,
    duration: u64,
    stated: Count,
) -> Result<Vec<(u64, u64)>, TextError> {
    let count = match (times.needed(0, duration), stated) {
        (_, Count::Exactly(count)) => count,
        (Some(needed), Count::AtMost(most)) => needed.min(most),
        (Some(needed), Count::Any) => needed,
        (None, Count::AtMost(most)) => most,
        (None, Count::Any) => {
            return Err(element.wrong(
                "the duration of its period is not known; expected it in Period, or mediaPresentationDuration in MPD",
            ));
        }
    };
    if count > MAX_SEGMENTS as u64 {
        return Err(element.wrong(format!("{count} segments; expected at most {MAX_SEGMENTS}")));
    }
    // Both factors are below 2^32.
    Ok((0..count).map(|at| (at * duration, (at + 1) * duration)).collect())
}

/// The segments of a SegmentTimeline, in ticks from the beginning of the first one.
fn timeline_ticks(timeline: &Element<'_>, times: &Times<'_>) -> Result<Vec<(u64, u64)>, TextError> {
    let mut ticks: Vec<(u64, u64)> = Vec::new();
    let mut origin = None;
    let mut runs = timeline.children("S").peekable();
    while let Some(run) = runs.next() {
        let end = ticks.last().map_or(0, |(_, end)| *end);
        let stated = run.number("t", 0, u64::MAX)?;
        let origin = *origin.get_or_insert(stated.unwrap_or(0));
        let begin = match stated {
            Some(stated) => follow(&run, stated, origin, &mut ticks, times)?,
            None => end,
        };
        let duration = run
            .number("d", 1, u64::MAX)?
            .ok_or_else(|| run.wrong("no duration; expected the attribute d, in ticks"))?;
        if run.attribute("k").is_some_and(|partial| partial != "1") {
            return Err(
                run.wrong("sequences of segments (k) are not read; expected a number for each segment")
            );
        }
        let fitting = match runs.peek() {
            Some(next) => {
                let until = next.number("t", 0, u64::MAX)?.and_then(|next| next.checked_sub(origin));
                until.map(|until| until.saturating_sub(begin) / duration)
            }
            None => times.needed(begin, duration),
        };
        let count = repetitions(&run, fitting)?;
        if count > (MAX_SEGMENTS - ticks.len()) as u64 {
            return Err(too_many(&run));
        }
        for at in 0..count {
            let of = |at: u64| duration.checked_mul(at).and_then(|after| begin.checked_add(after));
            let (Some(from), Some(to)) = (of(at), of(at + 1)) else {
                return Err(run.wrong("a time beyond 2^64 ticks"));
            };
            ticks.push((from, to));
        }
    }
    if ticks.is_empty() {
        return Err(timeline.wrong("no segment; expected at least one S"));
    }
    Ok(ticks)
}

/// Where a run of segments begins that states its time. A small gap before it is added to the segment before.
fn follow(
    run: &Element<'_>,
    stated: u64,
    origin: u64,
    ticks: &mut [(u64, u64)],
    times: &Times<'_>,
) -> Result<u64, TextError> {
    let end = ticks.last().map_or(0, |(_, end)| *end);
    let begin = stated.checked_sub(origin).filter(|begin| *begin >= end);
    let Some(begin) = begin else {
        let expected = u128::from(origin) + u128::from(end);
        return Err(run.wrong(format!("t is {stated}, and the segments before it end at {expected}")));
    };
    if times.exact(begin - end).is_none_or(|gap| gap > MAX_GAP) {
        let expected = u128::from(origin) + u128::from(end);
        return Err(run.wrong(format!(
            "a gap: t is {stated}, and the segments before it end at {expected}; expected at most {MAX_GAP} between them"
        )));
    }
    if let Some(last) = ticks.last_mut() {
        last.1 = begin;
    }
    Ok(begin)
}

/// How many segments a run has: one and its repetitions (`r`), or those that fit before the next run or the end of the
/// period.
fn repetitions(run: &Element<'_>, fitting: Option<u64>) -> Result<u64, TextError> {
    let Some(text) = run.attribute("r") else { return Ok(1) };
    let repeats: i64 = text.trim().parse().map_err(|_| {
        run.expected("r", text, "a number of repetitions, or -1 until the next S or the end of the period")
    })?;
    match (u64::try_from(repeats), fitting) {
        (Ok(repeats), _) => Ok(repeats.saturating_add(1)),
        (Err(_), None) => {
            Err(run.wrong("r is negative, and neither the next S has a t nor is the end of the period known"))
        }
        (Err(_), Some(0)) => Err(run.wrong("r is negative, and no time is left for a segment")),
        (Err(_), Some(fitting)) => Ok(fitting),
    }
}

/// The bytes of a range: `0-499` has 500.
fn range(element: &Element<'_>, name: &str, text: &str) -> Result<u64, TextError> {
    let number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten()
    };
    let bytes = text
        .trim()
        .split_once('-')
        .and_then(|(first, last)| number(last)?.checked_sub(number(first)?)?.checked_add(1))
        .filter(|bytes| *bytes <= crate::presentation::MAX_SEGMENT_BYTES);
    bytes.ok_or_else(|| element.expected(name, text, "the first and the last byte, as \"0-499\""))
}

/// Checks the names of segments: each segment must have one of its own.
fn check_media(addressing: &Addressing<'_>) -> Result<(), TextError> {
    let Some(element) = addressing.with("media") else {
        return Err(addressing.elements[0]
            .wrong("no media; expected the names of its segments, with $Number$ or $Time$"));
    };
    let media = element.attribute("media").unwrap_or("");
    let wrong = |problem: &str| element.wrong(format!("media is {}; {problem}", quoted(media)));
    let mut pieces = media.split('$');
    pieces.next();
    let (mut numbers, mut times) = (false, false);
    while let Some(piece) = pieces.next() {
        // Identifiers are between two signs.
        if pieces.next().is_none() {
            return Err(wrong("expected $ in pairs, and $$ for the sign itself"));
        }
        let (name, format) =
            piece.split_once('%').map_or((piece, None), |(name, format)| (name, Some(format)));
        let is_format = |format: &str| {
            let width = format.strip_prefix('0').and_then(|rest| rest.strip_suffix('d'));
            width.is_some_and(|width| !width.is_empty() && width.bytes().all(|byte| byte.is_ascii_digit()))
        };
        match name {
            "Number" | "Time" | "Bandwidth" | "SubNumber" if format.is_none_or(is_format) => {
                numbers |= name == "Number";
                times |= name == "Time";
            }
            "RepresentationID" | "" if format.is_none() => {}
            _ => {
                return Err(wrong(
                    "expected $RepresentationID$, $Bandwidth$, $Number$, $Number%05d$ or $Time$",
                ));
            }
        }
    }
    match (numbers, times) {
        (true, true) => Err(wrong("expected $Number$ or $Time$, not both")),
        (false, false) => Err(wrong("expected $Number$ or $Time$, so that each segment has a name")),
        _ => Ok(()),
    }
}
