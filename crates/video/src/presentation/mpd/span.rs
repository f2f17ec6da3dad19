//! The durations of the periods of an MPD (ISO/IEC 23009-1, 5.3.2).

use super::element::Element;
use super::segments::MAX_GAP;
use crate::presentation::MAX_PERIODS;
use crate::presentation::file::TextError;
use units::Duration;

/// The periods, each with its duration if the MPD says it.
///
/// # Errors
/// If there is no period or too many, or if one does not begin where the one before it ends.
pub(super) fn spans<'a>(mpd: &Element<'a>) -> Result<Vec<(Element<'a>, Option<Duration>)>, TextError> {
    let periods: Vec<Element<'a>> = mpd.children("Period").take(MAX_PERIODS + 1).collect();
    if periods.is_empty() {
        return Err(mpd.wrong("no Period; expected at least one"));
    }
    if periods.len() > MAX_PERIODS {
        return Err(mpd.wrong(format!("more than {MAX_PERIODS} periods")));
    }
    let whole = mpd.duration("mediaPresentationDuration")?;
    let mut spans = Vec::with_capacity(periods.len());
    // Where the next period begins, if that is known.
    let mut begin = Some(Duration::ZERO);
    for (at, period) in periods.iter().enumerate() {
        period.check_local()?;
        let stated = period.duration("start")?;
        if let (Some(stated), Some(expected)) = (stated, begin)
            && at > 0
            && difference(stated, expected) > MAX_GAP
        {
            return Err(
                period.wrong(format!("start is {stated}, and the period before it ends at {expected}"))
            );
        }
        let start = stated.or(begin);
        let next = match periods.get(at + 1) {
            Some(next) => next.duration("start")?,
            None => whole,
        };
        let span = match (period.duration("duration")?, start, next) {
            (Some(duration), ..) => Some(duration),
            (None, Some(start), Some(next)) if next <= start => {
                return Err(period.wrong(format!("it begins at {start}, and ends at {next}")));
            }
            (None, Some(start), Some(next)) => Some(next - start),
            _ => None,
        };
        if span.is_some_and(Duration::is_zero) {
            return Err(period.wrong("its duration is zero"));
        }
        begin = start.zip(span).map(|(start, span)| start + span);
        spans.push((*period, span));
    }
    Ok(spans)
}

fn difference(one: Duration, other: Duration) -> Duration {
    one.max(other) - one.min(other)
}
