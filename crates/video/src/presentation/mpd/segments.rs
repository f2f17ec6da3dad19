//! The segments of a representation: SegmentTemplate, SegmentList and SegmentBase (ISO/IEC 23009-1, 5.3.9).

use super::element::Element;
use super::indexed::Index;
use super::times::{MAX_GAP, MISSING, ROUNDING, TimeSource, Times, too_many};
use super::{Reading, Window, media, timeline};
use crate::presentation::MAX_SEGMENTS;
use crate::presentation::file::{TextError, quoted};
use units::Duration;

/// The forms that list segments in the MPD. The innermost counts.
const FORMS: [&str; 2] = ["SegmentTemplate", "SegmentList"];

/// A segment that lasts so long is told: nobody makes such.
const LONG: Duration = Duration::from_secs(120);

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
    pub(super) listing: Listing,
    /// The bytes of each segment from the first that is played on, as far as the MPD says them.
    pub(super) sizes: Option<Vec<Option<u64>>>,
    pub(super) initialization: Initialization,
}

/// The segments that the MPD has of a representation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listing {
    /// All of them; those that begin after the end of the period are not played.
    pub(super) count: usize,
    /// How many of them end before the period begins, and are not played.
    pub(super) before: usize,
    /// How much of the first that is played is before the period begins, and is not played.
    pub(super) cut: Duration,
    /// How much of the last that is played is after the end of the period, where its own end is known.
    pub(super) rest: Duration,
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
pub(super) struct Addressing<'a> {
    /// From the representation outwards; at least one.
    pub(super) elements: Vec<Element<'a>>,
}

/// Reads the segments of the innermost of these elements, of which each is within the next. `index` has what else is known
/// of a representation whose segments the MPD does not list.
pub(super) fn read(
    levels: &[Element<'_>],
    index: &Index<'_>,
    window: Window,
    reading: &mut Reading,
) -> Result<Segments, TextError> {
    let Some(addressing) = Addressing::of(levels)? else {
        let (durations, listed) = index.durations(levels, window, reading)?;
        take(&levels[0], durations.len(), reading)?;
        let listing = Listing { count: listed, before: 0, cut: Duration::ZERO, rest: Duration::ZERO };
        return Ok(Segments { listing, sizes: None, initialization: base(levels)?, durations });
    };
    let element = addressing.elements[0];
    let times = Times::of(&addressing, window)?;
    let (mut ticks, mut sizes) = match element.name() {
        "SegmentTemplate" => {
            media::check(&element, addressing.with("media"))?;
            let end_number = addressing.number("endNumber", 0, u64::MAX)?;
            let first = addressing.number("startNumber", 0, u64::MAX)?.unwrap_or(1);
            let most = match end_number {
                Some(end) if end < first => {
                    return Err(element.wrong(format!("endNumber is {end}, and the first number is {first}")));
                }
                Some(end) => Count::AtMost((end - first).saturating_add(1)),
                None => Count::Any,
            };
            (addressing.ticks(&times, most, reading)?, None)
        }
        _ => {
            let ranges = addressing.ranges(reading)?;
            let ticks = addressing.ticks(&times, Count::Exactly(ranges.count as u64), reading)?;
            if ticks.len() != ranges.count {
                let problem =
                    format!("{} SegmentURL for {} segments of its timeline", ranges.count, ticks.len());
                return Err(element.wrong(problem));
            }
            (ticks, ranges.sizes)
        }
    };
    take(&element, ticks.len(), reading)?;
    let count = ticks.len();
    let (before, cut) = times.begin(&mut ticks, reading);
    if let Some(sizes) = &mut sizes {
        sizes.drain(..before);
    }
    let durations = times.durations(&ticks, &element, reading)?;
    let rest = times.rest(&ticks, &durations);
    let listing = Listing { count, before, cut, rest };
    Ok(Segments { durations, listing, sizes, initialization: addressing.initialization()? })
}

/// Counts segments.
fn take(element: &Element<'_>, segments: usize, reading: &mut Reading) -> Result<(), TextError> {
    if reading.take(segments) {
        return Ok(());
    }
    let most = crate::presentation::MAX_SIZES;
    Err(element.wrong(format!("more than {most} segments of all representations together")))
}

/// The initialization segment of a SegmentBase: its range, or what is before the index.
fn base(levels: &[Element<'_>]) -> Result<Initialization, TextError> {
    let mut elements = Vec::new();
    for level in levels {
        elements.extend(level.child("SegmentBase")?);
    }
    let base = Addressing { elements };
    match base.initialization()? {
        Initialization::None => {}
        known => return Ok(known),
    }
    let Some(element) = base.with("indexRange") else { return Ok(Initialization::Unknown) };
    let text = element.attribute("indexRange").unwrap_or("");
    range(element, "indexRange", text)?;
    let before = text.trim().split('-').next().and_then(|first| first.parse().ok());
    Ok(before.map_or(Initialization::Unknown, Initialization::Bytes))
}

impl<'a> Addressing<'a> {
    /// The elements of the innermost form that lists segments; none if there is no such form.
    fn of(levels: &[Element<'a>]) -> Result<Option<Addressing<'a>>, TextError> {
        let mut elements: Vec<Element<'a>> = Vec::new();
        for level in levels {
            let mut found = Vec::new();
            for form in FORMS {
                found.extend(level.child(form)?);
            }
            if let [first, second] = found[..] {
                let (name, line) = (first.name(), first.line());
                return Err(second.wrong(format!("there is {name} in line {line}, too; expected one form")));
            }
            let of_form =
                |element: &Element<'_>| elements.first().is_none_or(|inner| inner.name() == element.name());
            if let Some(element) = found.pop().filter(of_form) {
                element.check_local()?;
                elements.push(element);
            }
        }
        Ok((!elements.is_empty()).then_some(Addressing { elements }))
    }

    /// The innermost element with this attribute.
    pub(super) fn with(&self, name: &str) -> Option<&Element<'a>> {
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
    fn ticks(
        &self,
        times: &Times<'a>,
        stated: Count,
        reading: &mut Reading,
    ) -> Result<Vec<(u64, u64)>, TextError> {
        match times.source {
            TimeSource::Timeline(timeline) => timeline::ticks(&timeline, times, reading),
            TimeSource::Duration(duration) => equal_ticks(&self.elements[0], times, duration, stated),
        }
    }

    /// How long before its period a timeline begins, in ticks, if the offset is stated; negative if it begins later.
    fn early(&self, timeline: &Element<'a>) -> Result<i128, TextError> {
        let offset = self.number("presentationTimeOffset", 0, u64::MAX)?;
        let first = timeline.children("S").next().map_or(Ok(None), |run| run.number("t", 0, u64::MAX))?;
        Ok(offset.map_or(0, |offset| i128::from(offset) - i128::from(first.unwrap_or(0))))
    }

    /// The segments of a SegmentList.
    fn ranges(&self, reading: &mut Reading) -> Result<Ranges, TextError> {
        let owner = self.elements.iter().find(|element| element.children("SegmentURL").next().is_some());
        let Some(owner) = owner else {
            return Err(self.elements[0].wrong("no SegmentURL; expected one for each segment"));
        };
        let mut sizes = Vec::new();
        // The file and the last byte of the range before.
        let (mut file, mut before) = (None, None);
        for url in owner.children("SegmentURL") {
            if sizes.len() == MAX_SEGMENTS {
                return Err(too_many(&url));
            }
            // `1000-` is a range to the end of a file, whose size nobody knows here.
            let text = url.attribute("mediaRange").filter(|text| !is_open(text));
            sizes.push(text.map(|text| range(&url, "mediaRange", text)).transpose()?);
            let mut ends = text.unwrap_or("").trim().split('-').map(|end| end.parse::<u64>().ok());
            let (first, last) = (ends.next().flatten(), ends.next().flatten());
            if file == Some(url.attribute("media"))
                && first.zip(before).is_some_and(|(one, before)| one <= before)
            {
                let text = quoted(text.unwrap_or(""));
                reading.note(url.wrong(format!("mediaRange {text} has bytes of the range before it")));
            }
            (file, before) = (Some(url.attribute("media")), last);
        }
        let (count, unknown) = (sizes.len(), sizes.iter().filter(|size| size.is_none()).count());
        if unknown > 0 && unknown < count {
            reading.note(owner.wrong(format!(
                "{unknown} of {count} SegmentURL have no mediaRange, or one without an end: the bandwidth gives their sizes"
            )));
        }
        Ok(Ranges { count, sizes: (unknown < count).then_some(sizes) })
    }
}

/// The segments of a SegmentList: how many, and their sizes if they are ranges of bytes.
#[derive(Debug)]
struct Ranges {
    count: usize,
    sizes: Option<Vec<Option<u64>>>,
}

impl<'a> Times<'a> {
    fn of(addressing: &Addressing<'a>, window: Window) -> Result<Times<'a>, TextError> {
        let most = u64::from(u32::MAX);
        let timescale = addressing.number("timescale", 1, most)?.unwrap_or(1);
        let elements = addressing.elements.iter();
        let mut source = None;
        // The innermost of both counts, and at one level the timeline, which says more.
        for element in elements {
            let timeline = element.child("SegmentTimeline")?.map(TimeSource::Timeline);
            let of_level = match timeline {
                Some(timeline) => Some(timeline),
                None => element.number("duration", 1, most)?.map(TimeSource::Duration),
            };
            source = source.or(of_level);
        }
        let source = source.ok_or_else(|| {
            addressing.elements[0]
                .wrong("no duration of its segments; expected the attribute duration, or a SegmentTimeline")
        })?;
        let mut times = Times { timescale, source, window, early: 0 };
        if let (TimeSource::Timeline(timeline), true) = (&source, window.is_static) {
            let early = addressing.early(timeline)?;
            // The difference of two numbers below 2^64.
            let is_rounded = times.exact(early.unsigned_abs() as u64).is_some_and(|early| early <= MAX_GAP);
            times.early = if is_rounded { 0 } else { early };
        }
        Ok(times)
    }

    /// Leaves out the segments that end before the period begins, and cuts the one in which it does: what is there is not
    /// presented (ISO/IEC 23009-1, 5.3.9.2: the time in a period is that of the media less `presentationTimeOffset`).
    /// Returns how many are left out, and how much of the next. If nothing would be left, all are played.
    fn begin(&self, ticks: &mut Vec<(u64, u64)>, reading: &mut Reading) -> (usize, Duration) {
        let TimeSource::Timeline(timeline) = &self.source else { return (0, Duration::ZERO) };
        let off = u64::try_from(self.early.unsigned_abs()).unwrap_or(u64::MAX);
        let time = self.exact(off).unwrap_or(Duration::MAX);
        if self.early < 0 {
            reading.note(timeline.wrong(format!(
                "by presentationTimeOffset its first segment begins {time} after its period; it is played at once"
            )));
        }
        if self.early <= 0 {
            return (0, Duration::ZERO);
        }
        let is_before = |end: u64| end <= off || self.exact(end - off).is_some_and(|left| left <= ROUNDING);
        let before = ticks.iter().take_while(|(_, end)| is_before(*end)).count();
        if before == ticks.len() {
            reading.note(timeline.wrong(format!(
                "by presentationTimeOffset all its segments end before its period begins, {time} after the first begins; \
                 they are played from the first one on"
            )));
            return (0, Duration::ZERO);
        }
        ticks.drain(..before);
        let cut = self.exact(off.saturating_sub(ticks[0].0)).unwrap_or(Duration::MAX);
        for (begin, end) in ticks {
            (*begin, *end) = (begin.saturating_sub(off), *end - off);
        }
        let left_out = match before {
            0 => String::new(),
            1 => " (1 segment)".to_owned(),
            _ => format!(" ({before} segments)"),
        };
        reading.note(timeline.wrong(format!(
            "by presentationTimeOffset its first segment begins {time} before its period: what is before it is not \
             played{left_out}"
        )));
        (before, cut)
    }

    /// How much of the last segment is after the end of the period. Segments of equal duration are shorter there.
    fn rest(&self, ticks: &[(u64, u64)], durations: &[Duration]) -> Duration {
        let (Some(last), TimeSource::Timeline(_)) = (durations.last(), self.source) else {
            return Duration::ZERO;
        };
        let (begin, end) = ticks[durations.len() - 1];
        let whole = self.exact(end).zip(self.exact(begin)).map_or(*last, |(end, begin)| end - begin);
        whole - whole.min(*last)
    }

    /// The durations of segments, cut at the end of the period.
    fn durations(
        &self,
        ticks: &[(u64, u64)],
        element: &Element<'_>,
        reading: &mut Reading,
    ) -> Result<Vec<Duration>, TextError> {
        let last = ticks.last().map_or(0, |(_, end)| *end);
        if self.exact(last).is_none_or(|end| end > crate::presentation::MAX_DURATION) {
            return Err(
                element.wrong(format!("its segments last longer than {}", crate::presentation::MAX_DURATION))
            );
        }
        let late =
            u64::try_from(-self.shift()).ok().and_then(|late| self.exact(late)).unwrap_or(Duration::ZERO);
        let end = self.window.span.map_or(Duration::MAX, |span| span - late.min(span));
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
        let begins = ticks.last().and_then(|(begin, _)| self.exact(*begin)).unwrap_or(Duration::ZERO);
        if self.window.is_static && self.window.span.is_some() && begins >= end + MISSING {
            let beyond = self.exact(last).unwrap_or(begins);
            reading.note(element.wrong(format!(
                "its segments end after {beyond}, and its period after {end}; what is behind it is not played"
            )));
        }
        if let TimeSource::Duration(ticks) = self.source
            && let Some(each) = self.exact(ticks).filter(|each| *each >= LONG)
        {
            reading
                .note(element.wrong(format!("its segments last {each} each; is their timescale missing?")));
        }
        if self.window.span.is_some() && self.window.is_static && covered + longest.min(MISSING) <= end {
            reading
                .note(element.wrong(format!("its segments end after {covered}, and its period after {end}")));
        }
        Ok(durations)
    }
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

/// Whether a range has a first byte alone.
fn is_open(text: &str) -> bool {
    let first = text.trim().strip_suffix('-');
    first.is_some_and(|first| !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit()))
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
