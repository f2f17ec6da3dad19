//! The delays that Copa looks at (section 2.1 and 2.2): the least RTTs of spans, and the greatest.

use crate::filter::WindowedMax;
use units::{Duration, Time};

/// Round trips over which the greatest RTT is taken (section 2.2).
const GREATEST_ROUNDS: u64 = 4;

/// The least RTTs of a short and of a long time, and the greatest of a few round trips.
#[derive(Debug, Clone, Copy, std::default::Default)]
pub(super) struct Delays {
    standing: Least,
    least: Least,
    greatest: WindowedMax,
}

/// The least value of a window: the largest of what is missing to all there is.
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
    /// Section 2.1: RTTstanding over half a smoothed RTT, RTTmin over ten seconds.
    pub(super) fn update(&mut self, now: Time, latest: Duration, smoothed: Duration, long: Duration) {
        self.standing.update(now, latest, smoothed / 2);
        self.least.update(now, latest, long);
        let window = (smoothed * GREATEST_ROUNDS).as_nanos();
        self.greatest.update(window, now.as_nanos(), latest.as_nanos());
    }
    /// Whether there was any.
    pub(super) fn known(&self) -> bool {
        self.standing.0.get() > 0
    }
    pub(super) fn standing(&self) -> Duration {
        self.standing.get()
    }
    /// d_q = RTTstanding - RTTmin.
    pub(super) fn queueing(&self) -> Duration {
        let (standing, least) = (self.standing.get(), self.least.get());
        if standing > least { standing - least } else { Duration::ZERO }
    }
    /// Section 2.2: below this share of how much the delay swings.
    pub(super) fn nearly_empty(&self, share: f64) -> bool {
        let swing = self.greatest.get().saturating_sub(self.least.get().as_nanos());
        self.queueing().as_nanos() as f64 <= swing as f64 * share
    }
}
