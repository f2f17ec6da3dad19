//! The pacing rate of window-based controllers: a gain times the window per smoothed RTT (RFC 9002 section 7.7), or per
//! minimum RTT of a window of time.

use crate::filter::WindowedMax;
use units::parameter::{Choice, Options};
use units::{Duration, Rate, Size, Time};

/// The options of pacing.
#[derive(Debug, Clone, Options)]
pub(crate) struct PacingOptions {
    /// spread packets over the round trip (RFC 9002 section 7.7)
    #[option(default = true)]
    pacing: bool,
    /// pacing rate in slow start, in windows per smoothed RTT
    #[option(default = 2.0, within = 1.0..=100.0)]
    pacing_gain_slow_start: f64,
    /// pacing rate afterwards, in windows per smoothed RTT (RFC 9002 section 7.7: N = 1.25)
    #[option(default = 1.25, within = 1.0..=100.0)]
    pacing_gain: f64,
    /// RTT of the pacing rate: the smoothed one (RFC 9002 section 7.7), or the minimum of pacing_rtt_window, in which
    /// a late acknowledgement does not lower the rate
    #[option(default = "smoothed")]
    pacing_rtt: PacingRtt,
    /// window of pacing_rtt = "windowed-min" (the window of min_rtt in draft-ietf-ccwg-bbr-06)
    #[option(default = "10 s")]
    pacing_rtt_window: Duration,
}

/// The RTT of the pacing rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Choice)]
enum PacingRtt {
    Smoothed,
    WindowedMin,
}

/// The minimum RTT of a window of time: the maximum of the complement.
#[derive(Debug, Clone)]
pub(crate) struct MinimumRtt {
    window: Duration,
    complements: WindowedMax,
}

impl MinimumRtt {
    /// Creates the state from the options; `None` if pacing follows the smoothed RTT.
    pub(crate) fn new(options: &PacingOptions) -> Option<MinimumRtt> {
        (options.pacing_rtt == PacingRtt::WindowedMin)
            .then(|| MinimumRtt { window: options.pacing_rtt_window, complements: WindowedMax::default() })
    }
    /// Adds a sample. Returns whether the minimum has changed.
    pub(crate) fn update(&mut self, now: Time, sample: Duration) -> bool {
        let before = self.complements.get();
        let complement = u64::MAX - sample.as_nanos();
        self.complements.update(self.window.as_nanos(), now.as_nanos(), complement) != before
    }
    /// The minimum; `None` before the first sample.
    pub(crate) fn get(&self) -> Option<Duration> {
        let complement = self.complements.get();
        (complement > 0).then(|| Duration::from_nanos(u64::MAX - complement))
    }
    /// Forgets the samples, on a new path.
    pub(crate) fn restart(&mut self) {
        self.complements = WindowedMax::default();
    }
}

/// Gains in slow start and afterwards, in thousandths; `None` for no pacing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WindowPacing(Option<(u64, u64)>);

impl WindowPacing {
    /// Creates the state from the options.
    pub(crate) fn new(options: &PacingOptions) -> WindowPacing {
        let gain = |gain: f64| (gain * 1000.0).round() as u64;
        WindowPacing(
            options.pacing.then(|| (gain(options.pacing_gain_slow_start), gain(options.pacing_gain))),
        )
    }
    /// No pacing.
    pub(crate) const fn off() -> WindowPacing {
        WindowPacing(None)
    }
    /// Whether packets are paced.
    pub(crate) fn is_on(self) -> bool {
        self.0.is_some()
    }
    /// The rate for this window in bytes and this RTT; never zero.
    #[inline]
    pub(crate) fn rate(self, window: u64, rtt: Duration, slow_start: bool) -> Option<Rate> {
        let (start, later) = self.0?;
        let gain = if slow_start { start } else { later };
        let base = Rate::of(Size::from_bytes(window), rtt).as_bits_per_sec();
        let bits = (u128::from(base) * u128::from(gain) / 1000).min(u64::MAX.into()) as u64;
        Some(Rate::from_bits_per_sec(bits.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::arguments;
    use crate::{AckSample, Controller, Limit, NewReno, RttEstimate, Setup};
    use units::parameter::Value;

    const SETUP: Setup = Setup {
        max_datagram_size: 1000,
        initial_window: 10_000,
        initial_packets: Some(10),
        initial_rtt: Duration::from_millis(333),
        seed: 0,
    };

    /// The pacing rate in kbit/s after each RTT sample (time in ms, RTT in ms) with an unchanged window of 10,000 bytes.
    fn rates(options: &[(&'static str, Value)], samples: &[(u64, u64)]) -> Vec<u64> {
        let row = crate::CONTROLLERS.iter().find(|row| row.name == "newreno").unwrap();
        let mut sender = NewReno::new(&arguments(row.parameters, options), SETUP);
        let mut rtt = RttEstimate::new(SETUP.initial_rtt);
        let mut rate = |(now, sample): &(u64, u64)| {
            let sample = Duration::from_millis(*sample);
            rtt.update(sample, Duration::ZERO);
            let now = Time::from_nanos(now * 1_000_000);
            sender.on_ack(&AckSample {
                now,
                acked_bytes: 0,
                newest_sent_at: now,
                oldest_sent_at: now,
                bytes_in_flight: 0,
                prior_in_flight: 0,
                lost_bytes: 0,
                acked_packets: 0,
                marked_packets: 0,
                delivered: 0,
                limit: Limit::Application,
                rtt: &rtt,
                rtt_sample: Some(sample),
                rate: None,
            });
            sender.allowance().pacing.unwrap().as_bits_per_sec() / 1000
        };
        samples.iter().map(&mut rate).collect()
    }

    /// In slow start, 2 x 80,000 bit / 100 ms = 1,600 kbit/s. A sample of 180 ms makes the smoothed RTT 110 ms:
    /// 160,000 bit / 110 ms = 1,454 kbit/s.
    #[test]
    fn a_late_sample_lowers_the_rate_unless_pacing_follows_the_minimum() {
        let samples = [(100, 100), (300, 180)];
        assert_eq!(rates(&[], &samples), [1600, 1454]);
        let minimum = ("pacing_rtt", Value::Text("windowed-min".to_owned()));
        assert_eq!(rates(std::slice::from_ref(&minimum), &samples), [1600, 1600]);
        // A lower sample counts at once: 160,000 bit / 80 ms. After the window, the late ones are the minimum:
        // 160,000 bit / 160 ms.
        let window = ("pacing_rtt_window", Value::Duration(Duration::from_secs(1)));
        let samples = [(100, 100), (200, 80), (1200, 160), (1201, 160)];
        assert_eq!(rates(&[minimum, window], &samples), [1600, 2000, 2000, 1000]);
    }
}
