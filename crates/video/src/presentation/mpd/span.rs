//! The durations of the periods of an MPD (ISO/IEC 23009-1, 5.3.2).

use super::Reading;
use super::element::Element;
use super::times::MAX_GAP;
use crate::presentation::MAX_PERIODS;
use crate::presentation::file::TextError;
use units::Duration;

/// A period, and its duration if the MPD says it.
pub(super) type Span<'a> = (Element<'a>, Option<Duration>);

/// The periods that have contents, each with its duration if the MPD says it.
///
/// # Errors
/// If there is no period or too many, or if one begins before the one before it.
pub(super) fn spans<'a>(mpd: &Element<'a>, reading: &mut Reading) -> Result<Vec<Span<'a>>, TextError> {
    let periods = periods(mpd, reading)?;
    let whole = mpd.duration("mediaPresentationDuration")?;
    let mut spans = Vec::with_capacity(periods.len());
    // Where the next period begins, if that is known.
    let mut begin = Some(Duration::ZERO);
    for (at, period) in periods.iter().enumerate() {
        let stated = period.duration("start")?;
        if let (Some(stated), Some(expected)) = (stated, begin)
            && at > 0
            && stated > expected + MAX_GAP
        {
            reading.note(period.wrong(format!(
                "a gap: start is {stated}, and the period before it ends at {expected}; it follows at once"
            )));
        }
        let start = stated.or(begin);
        let next = match periods.get(at + 1) {
            Some(next) => next.duration("start")?,
            None => None,
        };
        let last = whole.filter(|_| at + 1 == periods.len());
        let until = match (start, next.or(last)) {
            (Some(start), Some(until)) if until <= start => {
                return Err(period.wrong(format!("it begins at {start}, and ends at {until}")));
            }
            (Some(start), Some(until)) => Some(until - start),
            _ => None,
        };
        // A period ends where the next one starts (5.3.2.1), and otherwise after its duration.
        let span = match (period.duration("duration")?, until) {
            (Some(duration), Some(until)) if next.is_some() && until + MAX_GAP < duration => Some(until),
            (Some(duration), _) => Some(duration),
            (None, until) => until,
        };
        begin = start.zip(span).map(|(start, span)| start + span);
        if span.is_some_and(Duration::is_zero) {
            reading.note(period.wrong("its duration is zero; left out"));
            continue;
        }
        spans.push((*period, span));
    }
    if spans.is_empty() {
        return Err(mpd.wrong("no Period with a duration; expected at least one"));
    }
    Ok(spans)
}

/// The periods that have contents in the file.
fn periods<'a>(mpd: &Element<'a>, reading: &mut Reading) -> Result<Vec<Element<'a>>, TextError> {
    let all: Vec<Element<'a>> = mpd.children("Period").take(MAX_PERIODS + 1).collect();
    if all.is_empty() {
        return Err(mpd.wrong("no Period; expected at least one"));
    }
    if all.len() > MAX_PERIODS {
        return Err(mpd.wrong(format!("more than {MAX_PERIODS} periods")));
    }
    let count = all.len();
    let mut kept = Vec::with_capacity(count);
    for period in all {
        if period.children("AdaptationSet").next().is_some() {
            kept.push(period);
        } else if period.is_resolved_to_nothing() || (count > 1 && period.check_local().is_ok()) {
            reading.note(period.wrong("no AdaptationSet; left out"));
        } else {
            period.check_local()?;
            kept.push(period);
        }
    }
    if kept.is_empty() {
        return Err(mpd.wrong("no Period with an AdaptationSet; expected at least one"));
    }
    Ok(kept)
}
