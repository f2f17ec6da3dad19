//! Live presentations: when segments exist, and how playback keeps its distance from what is filmed.

use super::clock::UNIT;
use super::lane::ahead;
use crate::presentation::Segment;
use units::{Duration, Time};

/// The options of a live presentation.
#[derive(Debug, Clone, PartialEq)]
pub struct Live {
    /// How long it had been filmed at time zero.
    pub since: Duration,
    /// How far playback should be behind what is filmed.
    pub target: Duration,
    /// The chunks of segments: each exists, is sent and can be played when it has been filmed. Without them that holds for
    /// whole segments.
    pub chunk: Option<Duration>,
    /// By how much playback may be faster or slower to reach the target: 0.5 is half as fast to 1.5 times as fast.
    pub catch_up: f64,
    /// From so much over the target on, playback jumps to the target, and what is underway is cancelled.
    pub max_drift: Option<Duration>,
}

/// The chunks of a segment that is filmed while it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunks {
    /// How many of them exist.
    pub ready: u64,
    /// The time from which on there is one more.
    pub next: Time,
    /// The time between two.
    pub every: Duration,
    /// Their number.
    pub count: u64,
}

/// The distance from the target that is left alone.
const NEAR: Duration = Duration::from_millis(20);
/// The least change of the rate, in millionths.
const LEAST_CHANGE: u64 = 20_000;

impl Live {
    /// What is filmed now.
    pub(super) fn edge(&self, now: Time) -> Duration {
        self.since + now.since(Time::ZERO)
    }
    /// How far a position is behind what is filmed.
    pub(super) fn latency(&self, now: Time, position: Duration) -> Duration {
        ahead(self.edge(now), position)
    }
    /// The time from which on a segment may be asked for: it exists, or its first chunk does.
    pub(super) fn available_at(&self, segment: &Segment) -> Time {
        let filmed = segment.start + self.chunk.map_or(segment.duration, |chunk| chunk.min(segment.duration));
        Time::ZERO + ahead(filmed, self.since)
    }
    /// The chunks of a segment; `None` if it is filmed to its end, or if there are no chunks.
    pub(super) fn chunks(&self, now: Time, segment: &Segment) -> Option<Chunks> {
        let chunk = self.chunk?;
        let count = segment.duration.as_nanos().div_ceil(chunk.as_nanos()).max(1);
        let every = segment.duration.scale(1, count);
        let filmed = ahead(self.edge(now), segment.start);
        let ready = filmed.as_nanos().checked_div(every.as_nanos()).unwrap_or(count);
        let next = segment.start + every.scale(ready + 1, 1);
        (ready < count).then(|| Chunks { ready, next: Time::ZERO + ahead(next, self.since), every, count })
    }

    /// The rate of playback in millionths, by the default of dash.js (CatchupController): a logistic curve over the distance from
    /// the target in seconds, which is steep at zero. Changes below 2 % are left out.
    pub(super) fn rate(&self, latency: Duration, rate: u64) -> u64 {
        let off = latency.as_secs_f64() - self.target.as_secs_f64();
        let wanted = if off.abs() <= NEAR.as_secs_f64() {
            UNIT
        } else {
            let share = 1.0 - self.catch_up + 2.0 * self.catch_up / (1.0 + (-5.0 * off).exp());
            (share * UNIT as f64).round() as u64
        };
        if wanted.abs_diff(rate) < LEAST_CHANGE && wanted != UNIT { rate } else { wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(chunk: Option<Duration>) -> Live {
        let target = Duration::from_secs(4);
        Live { since: Duration::from_secs(30), target, chunk, catch_up: 0.5, max_drift: None }
    }
    fn segment(number: u64) -> Segment {
        let duration = Duration::from_secs(2);
        Segment { start: Duration::from_secs(2 * number), duration, period: 0, number: number as usize }
    }

    #[test]
    fn segments_exist_when_they_are_filmed() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        assert_eq!(live(None).edge(at(500)), Duration::from_millis(30_500));
        assert_eq!([14, 15, 16].map(|n| live(None).available_at(&segment(n))), [at(0), at(2000), at(4000)]);
        let chunked = live(Some(Duration::from_millis(500)));
        assert_eq!([14, 15, 16].map(|n| chunked.available_at(&segment(n))), [at(0), at(500), at(2500)]);
        let every = Duration::from_millis(500);
        let chunks = |ready, ms| Some(Chunks { ready, next: at(ms), every, count: 4 });
        let of = |ms, number| chunked.chunks(at(ms), &segment(number));
        assert_eq!([of(2500, 16), of(3999, 16), of(4000, 16)], [chunks(1, 3000), chunks(3, 4000), None]);
        // Filmed before the time zero, and in part before it.
        assert_eq!(of(0, 14), None);
        let earlier = Live { since: Duration::from_millis(29_300), ..chunked.clone() };
        assert_eq!(earlier.chunks(at(0), &segment(14)), chunks(2, 200));
    }

    #[test]
    fn playback_catches_up_with_its_target() {
        let live = live(None);
        let rate = |ms, before| live.rate(Duration::from_millis(ms), before);
        assert_eq!([rate(4000, UNIT), rate(4019, UNIT), rate(3990, 1_200_000)], [UNIT; 3]);
        // A second over the target: 0.5 + 1 / (1 + e^-5); 0.4 s under it: 0.5 + 1 / (1 + e^2).
        assert_eq!([rate(5000, UNIT), rate(3600, UNIT)], [1_493_307, 619_203]);
        assert_eq!(rate(4021, UNIT), 1_026_226);
        assert_eq!(rate(4021, 1_030_000), 1_030_000);
    }
}
