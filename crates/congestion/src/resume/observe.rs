//! Observing the capacity of a path (RFC 9959 sections 3.1 and 4.1): what a later connection may resume from.

use super::careful::Saved;
use crate::RateSample;
use crate::filter::WindowedMax;
use units::{Duration, Rate};

/// The number of round trips over which the largest delivery rate counts.
const ROUNDS: u64 = 10;
/// "If the measured CWND is less than four times the Initial Window (IW) the sender can choose to not save": this many.
const LEAST_WINDOWS: u64 = 4;

/// The observation of one path: the largest delivery rate of the last ten round trips.
///
/// The volume that is acknowledged in one round trip depends on the queue: the capacity saved with the *least* RTT is the volume
/// that the same rate acknowledges in that time, so that a resumed connection, which sends half of it in a round trip, does not
/// exceed the rate that was observed. Round trips in which the application limited the rate count only if they raise it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Observer {
    /// The largest rate in bit/s; the time counts round trips.
    rates: WindowedMax,
    rounds: u64,
    /// The round trip ends when a packet is acknowledged that was sent after this many bytes had been delivered.
    round_end: u64,
}

impl Observer {
    /// Adds the sample of an acknowledgement, after which this many bytes were delivered in all.
    pub(crate) fn on_sample(&mut self, sample: &RateSample, delivered: u64) {
        let limited = sample.app_limited;
        if sample.prior_delivered >= self.round_end {
            self.round_end = delivered;
            self.rounds += u64::from(!limited);
        }
        let rate = sample.rate.map_or(0, Rate::as_bits_per_sec);
        if !limited || rate > self.rates.get() {
            self.rates.update(ROUNDS, self.rounds, rate);
        }
    }

    /// Whether the observation has lasted long enough to replace a larger one: a shorter connection measured how much it had to
    /// send. RFC 9959 section 4.1: "Such observations could be discounted".
    pub(crate) fn is_settled(&self) -> bool {
        self.rounds > ROUNDS
    }

    /// The path's parameters with this least RTT; `None` if the capacity is below four initial windows.
    pub(crate) fn saved(&self, rtt: Duration, initial_window: u64) -> Option<Saved> {
        let bytes = u128::from(self.rates.get()) * u128::from(rtt.as_nanos()) / 8_000_000_000;
        let window = u64::try_from(bytes).ok()?;
        (window >= LEAST_WINDOWS * initial_window).then_some(Saved { window, rtt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(600);

    fn sample(mbits: u64, prior_delivered: u64, app_limited: bool) -> RateSample {
        RateSample {
            delivered: 1,
            interval: RTT,
            rate: Some(Rate::from_bits_per_sec(mbits * 1_000_000)),
            prior_delivered,
            in_flight: 0,
            lost: 0,
            app_limited,
        }
    }

    /// 50 Mbit/s x 600 ms = 3.75 MB, however long the queue was.
    #[test]
    fn the_capacity_is_the_rate_times_the_least_rtt() {
        let mut observer = Observer::default();
        assert_eq!(observer.saved(RTT, 14_720), None);
        observer.on_sample(&sample(50, 0, false), 1000);
        assert_eq!(observer.saved(RTT, 14_720), Some(Saved { window: 3_750_000, rtt: RTT }));
        assert_eq!(observer.saved(RTT, 937_500), Some(Saved { window: 3_750_000, rtt: RTT }));
        assert_eq!(observer.saved(RTT, 937_501), None, "less than four initial windows");
    }

    /// A limited sender measures itself. Ten round trips at a lower rate measure the path.
    #[test]
    fn a_lower_rate_counts_after_ten_round_trips_that_the_path_limited() {
        let mut observer = Observer::default();
        observer.on_sample(&sample(50, 0, false), 1000);
        for round in 1..100 {
            observer.on_sample(&sample(5, round * 1000, true), (round + 1) * 1000);
        }
        assert_eq!(observer.saved(RTT, 1).unwrap().window, 3_750_000);
        observer.on_sample(&sample(60, 100_000, true), 101_000);
        assert_eq!(observer.saved(RTT, 1).unwrap().window, 4_500_000);
        for round in 101..120 {
            let before = observer.saved(RTT, 1).unwrap().window;
            observer.on_sample(&sample(5, round * 1000, false), (round + 1) * 1000);
            assert_eq!(before, if round < 112 { 4_500_000 } else { 375_000 }, "{round}");
            assert_eq!(observer.is_settled(), round > 109, "{round}");
        }
    }
}
