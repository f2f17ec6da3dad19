//! The delays that Copa looks at (section 2.1 and 2.2): the least RTTs of spans, and the greatest.

use crate::filter::WindowedMax;
use units::{Duration, Time};

/// Round trips over which the greatest RTT is taken (section 2.2).
const GREATEST_ROUNDS: u64 = 4;

/// The least and the greatest RTTs of a short and of a long time.
#[derive(Debug, Clone, Copy, std::default::Default)]
pub(super) struct Delays {
    standing: Least,
    least: Least,
    greatest: WindowedMax,
    /// The least of a round trip.
    settled: Least,
    /// The greatest of those in a long time.
    highest: WindowedMax,
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
    /// Section 2.1: RTTstanding over half a smoothed RTT, RTTmin over ten seconds. What is greatest over as long as that is
    /// the least RTT of a whole round trip: half of one may have no other than an acknowledgement that came late by itself.
    pub(super) fn update(&mut self, now: Time, latest: Duration, smoothed: Duration, long: Duration) {
        self.standing.update(now, latest, smoothed / 2);
        self.least.update(now, latest, long);
        self.settled.update(now, latest, smoothed);
        self.highest.update(long.as_nanos(), now.as_nanos(), self.settled.get().as_nanos());
        let window = (smoothed * GREATEST_ROUNDS).as_nanos();
        self.greatest.update(window, now.as_nanos(), latest.as_nanos());
    }
    /// Whether there was any.
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
    /// The longest that all packets of a round trip took, in the time that RTTmin is of.
    pub(super) fn highest(&self) -> Duration {
        Duration::from_nanos(self.highest.get())
    }
    /// Section 2.2: below this share of how much the delay swings.
    pub(super) fn nearly_empty(&self, share: f64) -> bool {
        let swing = Duration::from_nanos(self.greatest.get()) - self.least.get();
        self.queueing().as_nanos() as f64 <= swing.as_nanos() as f64 * share
    }
    /// Whether packets wait as long as any did, but for this share.
    pub(super) fn nearly_full(&self, share: f64) -> bool {
        let most = self.highest() - self.least.get();
        self.queueing().as_nanos() as f64 >= most.as_nanos() as f64 * (1.0 - share)
    }
    /// The least RTT of a round trip in which packets wait longer than in any before, by this share.
    pub(super) fn above_highest(&self, share: f64) -> Duration {
        let most = (self.highest() - self.least.get()).as_nanos() as f64;
        self.highest() + Duration::from_nanos((most * share) as u64)
    }
}
