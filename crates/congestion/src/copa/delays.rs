//! The delays that Copa uses (sections 2.1 and 2.2): minimum RTTs over several periods, and the maximum.

use crate::filter::WindowedMax;
use units::{Duration, Time};

/// The number of round trips for the maximum RTT (section 2.2).
const GREATEST_ROUNDS: u64 = 4;

/// The minimum and maximum RTTs of a short and a long period.
#[derive(Debug, Clone, Copy, std::default::Default)]
pub(super) struct Delays {
    standing: Least,
    least: Least,
    greatest: WindowedMax,
    /// The minimum of a round trip.
    settled: Least,
    /// The maximum of those over a long period.
    highest: WindowedMax,
}

/// The minimum of a window, as the maximum of the complement.
#[derive(Debug, Clone, Copy, std::default::Default)]
struct Least(WindowedMax);

impl Least {
    fn update(&mut self, now: Time, value: Duration, window: Duration) {
        self.0.update(window.as_nanos(), now.as_nanos(), u64::MAX - value.as_nanos());
    }
    fn get(&self) -> Duration {
        Duration::from_nanos(u64::MAX - self.0.get())
    }
}

impl Delays {
    /// Section 2.1: RTTstanding over half a smoothed RTT, RTTmin over ten seconds. The maximum is taken of minimum
    /// RTTs of whole round trips, because half a round trip may contain only an acknowledgement that was delayed by
    /// itself.
    pub(super) fn update(&mut self, now: Time, latest: Duration, smoothed: Duration, long: Duration) {
        self.standing.update(now, latest, smoothed / 2);
        self.least.update(now, latest, long);
        self.settled.update(now, latest, smoothed);
        self.highest.update(long.as_nanos(), now.as_nanos(), self.settled.get().as_nanos());
        let window = (smoothed * GREATEST_ROUNDS).as_nanos();
        self.greatest.update(window, now.as_nanos(), latest.as_nanos());
    }
    /// Whether there was a sample.
    pub(super) fn known(&self) -> bool {
        self.standing.0.get() > 0
    }
    /// RTTstanding.
    pub(super) fn standing(&self) -> Duration {
        self.standing.get()
    }
    /// d_q = RTTstanding - RTTmin.
    pub(super) fn queueing(&self) -> Duration {
        self.standing.get() - self.least.get()
    }
    /// The longest delay common to all packets of a round trip, over the period of RTTmin.
    pub(super) fn highest(&self) -> Duration {
        Duration::from_nanos(self.highest.get())
    }
    /// Section 2.2: whether the queueing delay is below this share of its range.
    pub(super) fn nearly_empty(&self, share: f64) -> bool {
        let swing = Duration::from_nanos(self.greatest.get()) - self.least.get();
        self.queueing().as_nanos() as f64 <= swing.as_nanos() as f64 * share
    }
    /// Whether packets wait within this share of the longest wait.
    pub(super) fn nearly_full(&self, share: f64) -> bool {
        let most = self.highest() - self.least.get();
        self.queueing().as_nanos() as f64 >= most.as_nanos() as f64 * (1.0 - share)
    }
    /// Whether all packets of a round trip waited longer than ever before, by this share.
    pub(super) fn above_highest(&self, share: f64) -> Duration {
        let most = (self.highest() - self.least.get()).as_nanos() as f64;
        self.highest() + Duration::from_nanos((most * share) as u64)
    }
}
