//! The segments of a SegmentTimeline (ISO/IEC 23009-1, 5.3.9.6).

use super::Reading;
use super::element::Element;
use super::times::{MAX_GAP, Times, too_many};
use crate::presentation::MAX_SEGMENTS;
use crate::presentation::file::TextError;

/// The segments of a SegmentTimeline, in ticks from the beginning of the first one.
pub(super) fn ticks(
    timeline: &Element<'_>,
    times: &Times<'_>,
    reading: &mut Reading,
) -> Result<Vec<(u64, u64)>, TextError> {
    let mut ticks: Vec<(u64, u64)> = Vec::new();
    let mut origin = None;
    let mut runs = timeline.children("S").peekable();
    while let Some(run) = runs.next() {
        let end = ticks.last().map_or(0, |(_, end)| *end);
        let stated = run.number("t", 0, u64::MAX)?;
        let origin = *origin.get_or_insert(stated.unwrap_or(0));
        let begin = match stated {
            Some(stated) => follow(&run, stated, origin, &mut ticks, times, reading)?,
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

/// Where a run of segments begins that states its time. The segment before it lasts until then: longer over a gap, shorter
/// where times are rounded.
fn follow(
    run: &Element<'_>,
    stated: u64,
    origin: u64,
    ticks: &mut [(u64, u64)],
    times: &Times<'_>,
    reading: &mut Reading,
) -> Result<u64, TextError> {
    let end = ticks.last().map_or(0, |(_, end)| *end);
    let expected = u128::from(origin) + u128::from(end);
    let is_rounded = |early: u64| times.exact(early).is_some_and(|early| early <= MAX_GAP);
    let begins_before = ticks.last().map_or(0, |(begin, _)| *begin);
    let begin = stated
        .checked_sub(origin)
        .filter(|begin| *begin >= end || (*begin > begins_before && is_rounded(end - begin)))
        .ok_or_else(|| run.wrong(format!("t is {stated}, and the segments before it end at {expected}")))?;
    if begin > end && !is_rounded(begin - end) {
        let gap = times.exact(begin - end).map_or_else(|| "a long time".to_owned(), |gap| gap.to_string());
        reading.note(run.wrong(format!(
            "a gap of {gap}: t is {stated}, and the segments before it end at {expected}; the one before lasts longer"
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
    if repeats < -1 {
        return Err(run.expected(
            "r",
            text,
            "a number of repetitions, or -1 until the next S or the end of the period",
        ));
    }
    match (u64::try_from(repeats), fitting) {
        (Ok(repeats), _) => Ok(repeats.saturating_add(1)),
        (Err(_), None) => {
            Err(run.wrong("r is negative, and neither the next S has a t nor is the end of the period known"))
        }
        (Err(_), Some(0)) => Err(run.wrong("r is negative, and no time is left for a segment")),
        (Err(_), Some(fitting)) => Ok(fitting),
    }
}
