//! Giving up a download that takes too long: the rule of dash.js (AbandonRequestsRule), and what follows.

use super::{Choice, Underway, View, estimate, highest_at_most};
use units::parameter::Options;
use units::{Duration, Time};

/// The options of the rule of dash.js without its buffer.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct AbandonOptions {
    /// give up a download that takes too long for a lower representation (dash.js: AbandonRequestsRule)
    #[option(default = true)]
    pub(super) abandon: bool,
    /// time after the first byte in which no download is given up (dash.js: minSegmentDownloadTimeThresholdInMs)
    #[option(default = "500 ms")]
    abandon_grace: Duration,
    /// a download is given up if its whole time would be this many durations of its segment (dash.js:
    /// abandonDurationMultiplier)
    #[option(default = 1.8, within = 0.0..=1e6)]
    abandon_multiplier: f64,
    /// progress reports of a download before it is given up (dash.js 4; minThroughputSamplesThreshold is 6 in 5)
    #[option(default = 5, within = 1..=1_000_000)]
    abandon_samples: u64,
}

/// The option that says when the buffer is stable.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct StableOptions {
    /// buffer with which nothing is given up (dash.js 4: stableBufferTime; 18 s in 5: bufferTimeDefault)
    #[option(default = "12 s")]
    pub(super) stable_buffer: Duration,
}

/// The rule of dash.js. It takes the mean of the rates that the download had at each report.
#[derive(Debug, Clone)]
pub(super) struct Abandonment {
    options: AbandonOptions,
    stable_buffer: Duration,
    safety_factor: f64,
    /// The download that is watched: its segment and when it was asked for.
    watched: Option<(usize, Time)>,
    /// The rates at its reports: their sum and their number.
    rates: (f64, u64),
    /// The last segment whose download was given up. It happens once for a segment.
    given_up: Option<usize>,
}

impl Abandonment {
    pub(super) fn new(options: AbandonOptions, stable: StableOptions, safety_factor: f64) -> Abandonment {
        Abandonment {
            options,
            stable_buffer: stable.stable_buffer,
            safety_factor,
            watched: None,
            rates: (0.0, 0),
            given_up: None,
        }
    }

    /// More of a download came: the representation for which to give it up.
    pub(super) fn check(&mut self, view: &View<'_>, underway: &Underway) -> Option<usize> {
        let is_on = self.options.abandon;
        if !is_on || self.given_up == Some(underway.segment) || view.buffer > self.stable_buffer {
            return None;
        }
        let download = (underway.segment, underway.asked_at);
        if self.watched != Some(download) {
            (self.watched, self.rates) = (Some(download), (0.0, 0));
        }
        let elapsed = view.now.since(underway.first_at);
        if underway.bytes > 0 && !elapsed.is_zero() {
            self.rates.0 += estimate::progress(underway.bytes, elapsed);
            self.rates.1 += 1;
        }
        let is_soon = self.rates.1 < self.options.abandon_samples || elapsed <= self.options.abandon_grace;
        if is_soon || underway.bytes >= underway.total || underway.representation == 0 {
            return None;
        }
        let rate = self.rates.0 / self.rates.1 as f64;
        let whole = underway.total as f64 * 8.0 / rate;
        if whole < self.options.abandon_multiplier * view.line.duration(underway.segment).as_secs_f64() {
            return None;
        }
        let bitrates = view.line.bitrates(underway.segment);
        let lower = highest_at_most(bitrates, rate * self.safety_factor);
        let now = underway.representation.min(bitrates.len() - 1);
        let expected =
            underway.total as f64 * super::bits(bitrates[lower]) / super::bits(bitrates[now]).max(1.0);
        let is_less = lower < now && ((underway.total - underway.bytes) as f64) > expected;
        is_less.then(|| {
            self.given_up = Some(underway.segment);
            lower
        })
    }

    pub(super) fn on_seek(&mut self) {
        (self.watched, self.given_up) = (None, None);
    }
}

/// The representation for which a download was given up: the next choice for its segment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Retry(Option<(usize, usize)>);

impl Retry {
    /// A download of this segment was given up for this representation, if there is one.
    pub(super) fn note(&mut self, segment: usize, lower: Option<usize>) -> Option<usize> {
        if let Some(representation) = lower {
            self.0 = Some((segment, representation));
        }
        lower
    }

    /// The choice, if the view's segment was given up.
    pub(super) fn take(&mut self, view: &View<'_>) -> Option<Choice> {
        let (segment, representation) = self.0.take()?;
        let most = view.line.bitrates(view.segment).len() - 1;
        let choice = Choice { representation: representation.min(most), wait: Duration::ZERO };
        (segment == view.segment).then_some(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LADDER, Strip, view};
    use super::*;

    /// A download of a segment of 3 s at 6 Mbit/s (2.25 MB), of which so much has come at this many ms.
    fn report(rule: &mut Abandonment, line: &Strip, ms: u64, bytes: u64, buffer: u64) -> Option<usize> {
        let now = Time::ZERO + Duration::from_millis(ms);
        let view = View { now, ..view(line, 1, Some(9), buffer, 30_000) };
        let (asked_at, total) = (Time::ZERO, 2_250_000);
        rule.check(
            &view,
            &Underway { segment: 1, representation: 9, bytes, total, asked_at, first_at: asked_at },
        )
    }

    fn rule(options: &[(&str, &str)]) -> Abandonment {
        let (options, stable) = (AbandonOptions::written(options), StableOptions::written(&[]));
        Abandonment::new(options.unwrap(), stable.unwrap(), 0.9)
    }

    /// 3 Mbit/s: the whole download would take 6 s, more than 1.8 x 3 s. 2.7 Mbit/s are left with the safety factor.
    #[test]
    fn a_slow_download_is_given_up_after_the_grace_time() {
        let line = Strip::new(&LADDER, 4, 3);
        let mut dash = rule(&[]);
        for ms in [100, 200, 300, 400, 500] {
            assert_eq!(report(&mut dash, &line, ms, ms * 375, 5000), None, "{ms} ms");
        }
        assert_eq!(report(&mut dash, &line, 501, 501 * 375, 5000), Some(6), "2,056 kbit/s");
        assert_eq!(report(&mut dash, &line, 600, 600 * 375, 5000), None, "once");
    }

    #[test]
    fn reasons_not_to_give_up() {
        let line = Strip::new(&LADDER, 4, 3);
        let all = |rule: &mut Abandonment, per_ms: u64, buffer: u64| {
            (1..=10)
                .filter_map(|tenth| report(rule, &line, tenth * 100, tenth * 100 * per_ms, buffer))
                .count()
        };
        assert_eq!(all(&mut rule(&[]), 375, 5000), 1);
        assert_eq!(all(&mut rule(&[]), 375, 12_001), 0, "much buffer");
        assert_eq!(all(&mut rule(&[("abandon", "false")]), 375, 5000), 0);
        assert_eq!(all(&mut rule(&[]), 417, 5000), 0, "5.396 s are less than 5.4 s");
        assert_eq!(all(&mut rule(&[("abandon_samples", "11")]), 375, 5000), 0, "too few reports");
        assert_eq!(all(&mut rule(&[("abandon_grace", "1 s")]), 375, 5000), 0);
        assert_eq!(all(&mut rule(&[]), 0, 5000), 0, "nothing came");
        // 1.6 MB of 2.25 MB have come after 5 s: what is missing is less than another segment (771,000 B).
        let mut late = rule(&[]);
        assert_eq!((1..=5).filter_map(|s| report(&mut late, &line, s * 1000, s * 320_000, 5000)).count(), 0);
    }

    #[test]
    fn the_next_choice_is_what_it_was_given_up_for() {
        let line = Strip::new(&LADDER, 4, 3);
        let mut retry = Retry::default();
        assert_eq!(retry.note(1, Some(4)), Some(4));
        assert_eq!(retry.take(&view(&line, 1, None, 0, 1000)).map(|choice| choice.representation), Some(4));
        assert_eq!(retry.take(&view(&line, 1, None, 0, 1000)), None);
        retry.note(1, Some(4));
        assert_eq!(retry.note(1, None), None);
        assert_eq!(retry.take(&view(&line, 2, None, 0, 1000)), None, "it was not asked for again");
    }
}
