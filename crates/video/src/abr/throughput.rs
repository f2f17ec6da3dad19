//! By throughput, as the ThroughputRule of dash.js: moving averages of past downloads, and a margin.

use super::abandonment::{AbandonOptions, Abandonment, Retry, StableOptions};
use super::estimate::{Estimate, EstimateOptions};
use super::insufficient_buffer::{InsufficientBuffer, InsufficientBufferOptions};
use super::{Abr, Choice, StartOptions, Underway, View, bits, highest_at_most, rate_of};
use units::parameter::{Options, Row};
use units::{Duration, Rate};

/// The options of whatever counts on the throughput of past downloads.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct RateOptions {
    /// share of the estimated throughput that is used (dash.js: bandwidthSafetyFactor)
    #[option(default = 0.9, within = 0.0..=10.0)]
    pub(super) safety_factor: f64,
    #[options]
    pub(super) estimate: EstimateOptions,
    #[options]
    pub(super) start: StartOptions,
    #[options]
    pub(super) insufficient: InsufficientBufferOptions,
}

/// The options of rate adaptation by throughput.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct ThroughputOptions {
    #[options(insufficient_buffer = false)]
    pub(super) rate: RateOptions,
    #[options]
    pub(super) abandon: AbandonOptions,
    #[options]
    pub(super) stable: StableOptions,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "throughput",
    about: "by throughput as in dash.js: the lower of two moving averages, times a safety factor",
    parameters: ThroughputOptions::PARAMETERS,
    build: &|arguments| Box::new(Throughput::new(&ThroughputOptions::of(arguments))),
};

/// The highest representation that a part of the estimated throughput can keep up with.
#[derive(Debug, Clone)]
pub struct Throughput {
    safety_factor: f64,
    initial: Rate,
    estimate: Estimate,
    insufficient: InsufficientBuffer,
    abandonment: Abandonment,
    retry: Retry,
}

impl Throughput {
    pub(super) fn new(options: &ThroughputOptions) -> Throughput {
        let RateOptions { safety_factor, estimate, start, insufficient } = options.rate;
        Throughput {
            safety_factor,
            initial: start.bitrate(),
            estimate: Estimate::new(&estimate),
            insufficient: InsufficientBuffer::new(insufficient),
            abandonment: Abandonment::new(options.abandon, options.stable, safety_factor),
            retry: Retry::default(),
        }
    }
}

impl Abr for Throughput {
    fn choose(&mut self, view: &View<'_>) -> Choice {
        if let Some(choice) = self.retry.take(view) {
            return choice;
        }
        let bitrates = view.line.bitrates(view.segment);
        let representation = match self.estimate.throughput() {
            None => highest_at_most(bitrates, bits(self.initial)),
            Some(rate) => {
                let duration = view.line.duration(view.segment);
                self.estimate.sustainable(bitrates, duration, rate * self.safety_factor)
            }
        };
        let limit = self.insufficient.limit(view, &self.estimate).unwrap_or(usize::MAX);
        Choice { representation: representation.min(limit), wait: Duration::ZERO }
    }
    fn on_download(&mut self, view: &View<'_>) {
        self.insufficient.on_download();
        if let Some(download) = view.downloads.last() {
            self.estimate.add(download);
        }
    }
    fn abandon(&mut self, view: &View<'_>, underway: &Underway) -> Option<usize> {
        let lower = self.abandonment.check(view, underway);
        self.retry.note(underway.segment, lower)
    }
    fn on_seek(&mut self) {
        self.insufficient.on_seek();
        self.abandonment.on_seek();
        self.retry = Retry::default();
    }
    fn estimate(&self) -> Option<Rate> {
        self.estimate.throughput().map(rate_of)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LADDER, Strip, download, rates, view};
    use super::*;
    use units::Time;

    fn throughput(options: &[(&str, &str)]) -> Throughput {
        Throughput::new(&ThroughputOptions::written(options).unwrap())
    }

    fn choice(abr: &mut Throughput, line: &Strip, segment: usize) -> usize {
        abr.choose(&view(line, segment, None, 4000, 30_000)).representation
    }

    #[test]
    fn nine_tenths_of_the_estimate() {
        let mut line = Strip::new(&LADDER, 9, 3);
        line.ladders[8] = rates(&[3000, 4000]);
        let mut abr = throughput(&[]);
        assert_eq!((choice(&mut abr, &line, 0), abr.estimate()), (0, None), "nothing is known");
        assert_eq!(choice(&mut throughput(&[("initial_bitrate", "1 Mbit/s")]), &line, 0), 4);
        let downloads = [download(0, 375_000, [0, 0, 1000])];
        abr.on_download(&View { downloads: &downloads, ..view(&line, 1, Some(0), 4000, 30_000) });
        assert_eq!(abr.estimate(), Some(Rate::from_bits_per_sec(3_000_000)));
        assert_eq!(choice(&mut abr, &line, 1), 6, "2,056 of 2,700 kbit/s");
        assert_eq!(choice(&mut throughput(&[("safety_factor", "1.0")]), &line, 1), 0);
        assert_eq!(choice(&mut abr, &line, 8), 0, "no representation is that low");
    }

    #[test]
    fn one_representation_is_always_chosen() {
        let line = Strip::new(&[1000], 3, 2);
        let mut abr = throughput(&[("insufficient_buffer", "true")]);
        for segment in 0..3 {
            assert_eq!(choice(&mut abr, &line, segment), 0);
            let downloads = [download(segment, 0, [0, 0, 0])];
            abr.on_download(&View { downloads: &downloads, ..view(&line, segment, Some(0), 0, 30_000) });
        }
    }

    /// Half of 3 Mbit/s, for as long as the buffer of 2 s lasts: 1,000 kbit/s for a segment of 3 s.
    #[test]
    fn a_low_buffer_is_a_limit_if_asked_for() {
        let line = Strip::new(&LADDER, 9, 3);
        let mut abr = throughput(&[("insufficient_buffer", "true"), ("insufficient_buffer_ignore", "1")]);
        let downloads = [download(0, 375_000, [0, 0, 1000])];
        abr.on_download(&View { downloads: &downloads, ..view(&line, 1, Some(0), 4000, 30_000) });
        assert_eq!(abr.choose(&view(&line, 1, Some(0), 2000, 30_000)).representation, 4);
        abr.on_seek();
        assert_eq!(abr.choose(&view(&line, 1, Some(0), 2000, 30_000)).representation, 6);
    }

    #[test]
    fn what_was_given_up_is_asked_for_in_the_lower_representation() {
        let line = Strip::new(&LADDER, 9, 3);
        let mut abr = throughput(&[("abandon_samples", "1")]);
        let now = Time::ZERO + Duration::from_secs(1);
        let view = View { now, ..view(&line, 1, Some(9), 4000, 30_000) };
        let underway = Underway {
            segment: 1,
            representation: 9,
            bytes: 50_000,
            total: 2_250_000,
            asked_at: Time::ZERO,
            first_at: Time::ZERO,
        };
        assert_eq!(abr.abandon(&view, &underway), Some(1), "331 of 360 kbit/s");
        assert_eq!(abr.choose(&view).representation, 1);
        assert_eq!(abr.choose(&view).representation, 0, "as before");
    }
}
