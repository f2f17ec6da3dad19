//! Times of segments in the time scale of their representation (ISO/IEC 23009-1, 5.3.9.2).

use super::Window;
use super::element::Element;
use crate::presentation::MAX_SEGMENTS;
use crate::presentation::file::TextError;
use units::Duration;

/// The longest gap between two segments, or two periods, that is taken for rounding: the segment before it lasts longer.
pub(super) const MAX_GAP: Duration = Duration::from_millis(100);

/// A period that has so much less than it says is told.
pub(super) const MISSING: Duration = Duration::from_secs(1);

/// Times that differ by so much are the same: they are rounded, each in its own time scale.
pub(super) const ROUNDING: Duration = Duration::from_millis(1);

/// The time scale of a representation, and where the durations of its segments come from.
#[derive(Debug)]
pub(super) struct Times<'a> {
    pub(super) timescale: u64,
    pub(super) source: TimeSource<'a>,
    pub(super) window: Window,
    /// How long before its period the first segment begins, in ticks; negative if it begins later.
    pub(super) early: i128,
}

/// Where the durations of segments come from.
#[derive(Debug, Clone, Copy)]
pub(super) enum TimeSource<'a> {
    Timeline(Element<'a>),
    /// The same for all, in ticks.
    Duration(u64),
}

const NANOS: u128 = 1_000_000_000;

impl Times<'_> {
    /// A time in ticks as a duration, rounded down; `None` if it is too long.
    pub(super) fn exact(&self, ticks: u64) -> Option<Duration> {
        let nanos = u128::from(ticks) * NANOS / u128::from(self.timescale);
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }

    /// How long before its period the first segment begins, in ticks, as `early`; 0 if that is after the end of the period:
    /// then it is not meant so.
    pub(super) fn shift(&self) -> i128 {
        let late = u64::try_from(-self.early).ok().map(|late| self.exact(late).unwrap_or(Duration::MAX));
        let is_beyond = late.zip(self.window.span).is_some_and(|(late, span)| late >= span);
        if is_beyond { 0 } else { self.early }
    }

    /// The number of segments of this duration from the time `begin` to the end of the period, if that is known; of
    /// a live one that is open, as many as are played. What
    /// the rounding of the end may have added is no segment.
    pub(super) fn needed(&self, begin: u64, duration: u64) -> Option<u64> {
        let span = u128::from(self.window.span.or(self.window.open)?.as_nanos()) * u128::from(self.timescale);
        // Both are below 2^127.
        let left = span.div_ceil(NANOS) as i128 + self.shift() - i128::from(begin);
        let left = u128::try_from(left).unwrap_or(0);
        let (whole, rest) = (left / u128::from(duration), left % u128::from(duration));
        let is_rounding =
            whole > 0 && rest * NANOS <= u128::from(ROUNDING.as_nanos()) * u128::from(self.timescale);
        let count = if rest == 0 || is_rounding { whole } else { whole + 1 };
        Some(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

pub(super) fn too_many(element: &Element<'_>) -> TextError {
    element.wrong(format!("more than {MAX_SEGMENTS} segments"))
}
