//! The limit for a low buffer (InsufficientBufferRule of dash.js): a segment has to come before the buffer is empty.

use super::View;
use super::estimate::Estimate;
use units::parameter::Options;

/// The options of the rule.
#[derive(Debug, Clone, Copy, Options)]
pub(super) struct InsufficientBufferOptions {
    /// choose no segment that takes longer than the buffer lasts (dash.js: InsufficientBufferRule)
    #[option(default = true)]
    insufficient_buffer: bool,
    /// share of the throughput that it counts on (dash.js 4; throughputSafetyFactor is 0.7 in 5)
    #[option(default = 0.5, within = 0.0..=1.0)]
    insufficient_buffer_factor: f64,
    /// downloads after the start or a seek before it acts (dash.js: segmentIgnoreCount)
    #[option(default = 2, within = 0..=1000)]
    insufficient_buffer_ignore: u64,
}

/// The rule, and how many downloads it waits for.
#[derive(Debug, Clone)]
pub(super) struct InsufficientBuffer {
    options: InsufficientBufferOptions,
    downloads: u64,
}

impl InsufficientBuffer {
    pub(super) fn new(options: InsufficientBufferOptions) -> InsufficientBuffer {
        InsufficientBuffer { options, downloads: 0 }
    }

    pub(super) fn on_download(&mut self) {
        self.downloads += 1;
    }
    pub(super) fn on_seek(&mut self) {
        self.downloads = 0;
    }

    /// The highest representation that it allows; `None` if it says nothing.
    pub(super) fn limit(&self, view: &View<'_>, estimate: &Estimate) -> Option<usize> {
        if !self.options.insufficient_buffer || self.downloads < self.options.insufficient_buffer_ignore {
            return None;
        }
        let throughput = estimate.throughput()?;
        let duration = view.line.duration(view.segment);
        let lasts = view.buffer.as_secs_f64() / duration.as_secs_f64().max(1e-9);
        let bitrates = view.line.bitrates(view.segment);
        Some(estimate.sustainable(
            bitrates,
            duration,
            throughput * self.options.insufficient_buffer_factor * lasts,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::estimate::EstimateOptions;
    use super::super::testing::{LADDER, Strip, download, view};
    use super::*;

    /// 2 Mbit/s, of which half is counted on, and 3 s of buffer for a segment of 3 s: 991 kbit/s.
    #[test]
    fn a_segment_comes_before_the_buffer_is_empty() {
        let mut rule = InsufficientBuffer::new(InsufficientBufferOptions::written(&[]).unwrap());
        let mut estimate = Estimate::new(&EstimateOptions::written(&[]).unwrap());
        let line = Strip::new(&LADDER, 9, 3);
        let limit = |rule: &InsufficientBuffer, estimate: &Estimate, buffer| {
            rule.limit(&view(&line, 2, Some(0), buffer, 25_000), estimate)
        };
        estimate.add(&download(0, 250_001, [0, 0, 1000]));
        rule.on_download();
        assert_eq!(limit(&rule, &estimate, 3000), None, "the second segment");
        rule.on_download();
        assert_eq!(limit(&rule, &estimate, 3000), Some(4));
        assert_eq!(limit(&rule, &estimate, 0), Some(0), "an empty buffer");
        assert_eq!(limit(&rule, &estimate, 18_000), Some(9), "6 Mbit/s");
        rule.on_seek();
        assert_eq!(limit(&rule, &estimate, 3000), None);
    }
}
