//! What downloads say of the throughput: moving averages as in dash.js, and the harmonic mean of RobustMPC.

use super::{Download, highest_at_most};
use std::collections::VecDeque;
use units::parameter::Options;
use units::{Duration, Rate};

/// The shortest time that a download is taken to last, so that rates are finite (dash.js: 1 ms).
const SHORTEST: Duration = Duration::from_millis(1);

/// The options of the estimate of dash.js.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct EstimateOptions {
    /// half-life of the fast average of throughput, in download time (dash.js: throughputFastHalfLifeSeconds)
    #[option(default = "3 s")]
    half_life_fast: Duration,
    /// half-life of the slow average (dash.js: throughputSlowHalfLifeSeconds)
    #[option(default = "8 s")]
    half_life_slow: Duration,
    /// half-life of the fast average of the time to the first byte, in downloads (dash.js: latencyFastHalfLifeCount)
    #[option(default = 1.0, within = 0.01..=1e6)]
    latency_half_life_fast: f64,
    /// half-life of the slow average (dash.js: latencySlowHalfLifeCount)
    #[option(default = 2.0, within = 0.01..=1e6)]
    latency_half_life_slow: f64,
    /// measure throughput from the first byte, and take the time to it off each segment; else measure it from the
    /// request (dash.js: useDeadTimeLatency)
    #[option(default = true)]
    dead_time_latency: bool,
}

/// The time from one moment to another in seconds, at least [`SHORTEST`].
fn seconds(span: Duration) -> f64 {
    span.max(SHORTEST).as_secs_f64()
}

/// The throughput of a download from its request to its last byte, in bit/s; `None` if it had no bytes.
pub(super) fn from_request(download: &Download) -> Option<f64> {
    let rate = download.bytes as f64 * 8.0 / seconds(download.last_at.since(download.asked_at));
    (download.bytes > 0).then_some(rate)
}

/// A fast and a slow exponentially weighted moving average of the same values.
#[derive(Debug, Clone, Copy)]
struct Averages {
    half_lives: [f64; 2],
    /// They begin at 0 ...
    values: [f64; 2],
    /// ... which is corrected by the sum of all weights.
    weight: f64,
}

impl Averages {
    fn new(fast: f64, slow: f64) -> Averages {
        let half_lives = [fast.max(1e-3), slow.max(1e-3)];
        Averages { half_lives, values: [0.0; 2], weight: 0.0 }
    }
    fn add(&mut self, value: f64, weight: f64) {
        for (average, half_life) in self.values.iter_mut().zip(self.half_lives) {
            let kept = 0.5_f64.powf(weight / half_life);
            *average = kept * *average + (1.0 - kept) * value;
        }
        self.weight += weight;
    }
    /// The fast and the slow average.
    fn corrected(&self) -> Option<[f64; 2]> {
        let of = |at: usize| self.values[at] / (1.0 - 0.5_f64.powf(self.weight / self.half_lives[at]));
        (self.weight > 0.0).then(|| [of(0), of(1)])
    }
}

/// The estimate of throughput and latency of dash.js.
#[derive(Debug, Clone)]
pub(super) struct Estimate {
    throughput: Averages,
    latency: Averages,
    has_dead_time: bool,
}

impl Estimate {
    pub(super) fn new(options: &EstimateOptions) -> Estimate {
        let [fast, slow] = [options.half_life_fast, options.half_life_slow].map(Duration::as_secs_f64);
        Estimate {
            throughput: Averages::new(fast, slow),
            latency: Averages::new(options.latency_half_life_fast, options.latency_half_life_slow),
            has_dead_time: options.dead_time_latency,
        }
    }

    /// A download is complete. It counts by its time.
    pub(super) fn add(&mut self, download: &Download) {
        let weight = seconds(download.last_at.since(download.first_at));
        let rate = if self.has_dead_time {
            (download.bytes > 0).then(|| download.bytes as f64 * 8.0 / weight)
        } else {
            from_request(download)
        };
        let Some(rate) = rate else { return };
        self.throughput.add(rate, weight);
        self.latency.add(download.first_at.since(download.asked_at).as_secs_f64(), 1.0);
    }

    /// The throughput in bit/s: the lower average.
    pub(super) fn throughput(&self) -> Option<f64> {
        self.throughput.corrected().map(|[fast, slow]| fast.min(slow))
    }

    /// The highest representation that a throughput in bit/s can keep up with: of each segment's duration, the latency (the
    /// higher average) is lost.
    pub(super) fn sustainable(&self, bitrates: &[Rate], segment: Duration, throughput: f64) -> usize {
        let latency = match self.latency.corrected() {
            Some([fast, slow]) if self.has_dead_time => fast.max(slow),
            _ => 0.0,
        };
        let duration = segment.as_secs_f64();
        if latency > duration {
            return 0;
        }
        let left = if latency > 0.0 { 1.0 - latency / duration } else { 1.0 };
        highest_at_most(bitrates, throughput * left)
    }
}

/// The prediction of RobustMPC: the harmonic mean of the last throughputs, less what it was wrong by.
#[derive(Debug, Clone)]
pub(super) struct Harmonic {
    samples: usize,
    errors: usize,
    throughputs: VecDeque<f64>,
    /// The relative errors of the predictions.
    wrong_by: VecDeque<f64>,
}

impl Harmonic {
    /// The mean of this many throughputs, and the maximum of this many errors; 0 errors for none.
    pub(super) fn new(samples: usize, errors: usize) -> Harmonic {
        Harmonic { samples, errors, throughputs: VecDeque::new(), wrong_by: VecDeque::new() }
    }

    /// A download is complete.
    pub(super) fn add(&mut self, download: &Download) {
        let Some(rate) = from_request(download) else { return };
        let error = self.mean().map_or(0.0, |predicted| (predicted - rate).abs() / rate);
        self.wrong_by.push_back(error);
        if self.wrong_by.len() > self.errors {
            self.wrong_by.pop_front();
        }
        self.throughputs.push_back(rate);
        if self.throughputs.len() > self.samples {
            self.throughputs.pop_front();
        }
    }

    fn mean(&self) -> Option<f64> {
        let inverse: f64 = self.throughputs.iter().map(|rate| 1.0 / rate).sum();
        (!self.throughputs.is_empty()).then(|| self.throughputs.len() as f64 / inverse)
    }

    /// The throughput to count on, in bit/s.
    pub(super) fn throughput(&self) -> Option<f64> {
        let worst = self.wrong_by.iter().copied().fold(0.0, f64::max);
        self.mean().map(|mean| mean / (1.0 + worst))
    }
}

/// The mean rate of a download so far, from its first byte, in bit/s.
pub(super) fn progress(bytes: u64, elapsed: Duration) -> f64 {
    bytes as f64 * 8.0 / seconds(elapsed)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{download, rates};
    use super::*;

    fn estimate(options: &[(&str, &str)]) -> Estimate {
        Estimate::new(&EstimateOptions::written(options).unwrap())
    }

    /// 3 s at 1 Mbit/s, then 3 s at 4 Mbit/s. The fast average, whose half-life is 3 s: (0.5 x 0.5 x 1 + 0.5 x 4) / (1 -
    /// 0.25) = 3. The slow one, with k = 2^(-3/8): (k (1 - k) 1 + (1 - k) 4) / (1 - k^2) = (k + 4) / (1 + k) = 2.695...
    #[test]
    fn the_averages_count_by_time_and_the_lower_one_is_believed() {
        let mut estimate = estimate(&[]);
        assert_eq!(estimate.throughput(), None);
        estimate.add(&download(0, 375_000, [0, 0, 3000]));
        assert!((estimate.throughput().unwrap() - 1e6).abs() < 1e-3, "the start at zero is corrected");
        estimate.add(&download(1, 1_500_000, [3000, 3000, 6000]));
        let k = 0.5_f64.powf(3.0 / 8.0);
        assert!((estimate.throughput().unwrap() - 1e6 * (k + 4.0) / (1.0 + k)).abs() < 1e-3);
        assert!((estimate.throughput.corrected().unwrap()[0] - 3e6).abs() < 1e-3);
        estimate.add(&download(2, 125_000, [6000, 6000, 8000]));
        let [fast, slow] = estimate.throughput.corrected().unwrap();
        assert!(fast < slow && estimate.throughput() == Some(fast), "a fall is seen at once");
    }

    /// 100 ms to the first byte of segments of 1 s: a tenth of the time is lost.
    #[test]
    fn latency_is_dead_time() {
        let ladder = rates(&[500, 900, 1000]);
        let mut from_first = estimate(&[]);
        from_first.add(&download(0, 125_000, [0, 100, 1100]));
        assert_eq!(from_first.throughput().map(f64::round), Some(1e6));
        let second = Duration::from_secs(1);
        assert_eq!(from_first.sustainable(&ladder, second, 1e6 + 1e-3), 1);
        assert_eq!(from_first.sustainable(&ladder, second, 1.12e6), 2);
        assert_eq!(from_first.sustainable(&ladder, Duration::from_millis(99), 1e9), 0, "all time is lost");
        let mut from_asked = estimate(&[("dead_time_latency", "false")]);
        from_asked.add(&download(0, 125_000, [0, 100, 1100]));
        assert_eq!(from_asked.throughput().map(f64::round), Some(909_091.0));
        assert_eq!(from_asked.sustainable(&ladder, second, 1e6), 2);
    }

    #[test]
    fn downloads_without_time_or_bytes_are_no_trouble() {
        let mut estimate = estimate(&[]);
        estimate.add(&download(0, 0, [0, 0, 0]));
        assert_eq!(estimate.throughput(), None);
        estimate.add(&download(0, 1000, [5, 5, 5]));
        assert!((estimate.throughput().unwrap() - 8e6).abs() < 1.0, "as if it took a millisecond");
        let mut harmonic = Harmonic::new(5, 5);
        harmonic.add(&download(0, 0, [0, 0, 0]));
        assert_eq!(harmonic.throughput(), None);
        harmonic.add(&download(0, 1000, [5, 5, 5]));
        assert!((harmonic.throughput().unwrap() - 8e6).abs() < 1.0);
    }

    /// Yin et al. section 4.3: throughputs of 2, 1 and 4 Mbit/s. The harmonic means before each were none, 2 and 1.333, the
    /// errors 0, 1 and 2/3. The mean of the three is 3 / (0.5 + 1 + 0.25) = 1.714, halved by the worst error.
    #[test]
    fn the_harmonic_mean_is_reduced_by_the_worst_error() {
        let mut robust = Harmonic::new(5, 5);
        let mut plain = Harmonic::new(5, 0);
        let mut short = Harmonic::new(2, 1);
        for (at, bytes) in [(0, 250_000), (1000, 125_000), (2000, 500_000)] {
            for harmonic in [&mut robust, &mut plain, &mut short] {
                harmonic.add(&download(0, bytes, [at, at, at + 1000]));
            }
        }
        let near = |harmonic: &Harmonic, expected: f64| {
            assert!((harmonic.throughput().unwrap() - expected).abs() < 1.0, "{harmonic:?}");
        };
        near(&plain, 12e6 / 7.0);
        near(&robust, 6e6 / 7.0);
        near(&short, 1.6e6 / (1.0 + 2.0 / 3.0));
    }
}
