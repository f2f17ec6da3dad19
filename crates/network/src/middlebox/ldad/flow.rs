//! One flow: the order in which the modules see its packets (Zhao et al. 2020, figure 5).

use super::estimate::Estimate;
use super::interception::Cache;
use super::mapping::Mapping;
use super::options::Settings;
use super::timers::{Expiry, Judgment};
use crate::middlebox::quic_flows::{AckOnly, Ends};
use crate::packet::Packet;
use random::Generator;
use units::{Duration, Time};

/// What becomes of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is sent on, and what is kept is superseded.
    Pass,
    /// It is held back.
    Hold,
    /// It is late, but sent on, since this timer has expired.
    Expired(Expiry),
}

/// The state of a flow.
#[derive(Debug)]
pub(super) struct Flow {
    pub up: AckOnly,
    down: AckOnly,
    mapping: Mapping,
    /// The least time from a downlink packet to its acknowledgement.
    smallest_age: Option<Duration>,
    pub estimate: Estimate,
    judgment: Judgment,
    pub cache: Cache,
    /// Draws the estimation errors.
    errors: Option<Generator>,
}

impl Flow {
    pub(super) fn new(ends: Ends, options: &Settings) -> Flow {
        Flow {
            up: options.ack_only.clone(),
            down: options.ack_only.clone(),
            mapping: Mapping::new(options.table, options.ack_every, options.lifetime),
            smallest_age: None,
            estimate: Estimate::default(),
            judgment: Judgment::default(),
            cache: Cache::default(),
            errors: options.errors(ends),
        }
    }
    /// Starts another flow with the memory of this one. Its cache is empty.
    pub(super) fn restart(&mut self, ends: Ends, options: &Settings) {
        (self.up, self.down) = (options.ack_only.clone(), options.ack_only.clone());
        self.mapping.clear();
        self.smallest_age = None;
        (self.estimate, self.judgment) = (Estimate::default(), Judgment::default());
        self.errors = options.errors(ends);
    }

    /// Joins a downlink packet to the mapping table, unless it is an acknowledgement itself, which elicits none.
    pub(super) fn on_downlink(&mut self, now: Time, packet: &Packet, options: &Settings) {
        if self.down.judge(packet) {
            return;
        }
        // The longest that a packet waits for its acknowledgement at the node when nothing is in the way.
        let quiet =
            self.smallest_age.map(|age| age + options.limits.max_ack_delay + options.limits.least_excess);
        self.mapping.join(now, quiet.unwrap_or(options.lifetime));
        self.set_timeout(options);
    }

    fn set_timeout(&mut self, options: &Settings) {
        if let (Some(pto), Some(last)) = (self.estimate.pto(&options.limits), self.mapping.last()) {
            self.judgment.set_timeout(last, pto, options.fixed_rtt, options.margin);
        }
    }

    /// The current RTT by an acknowledgement: the time since the packet that it acknowledges passed, and the set RTT of the
    /// wired part. `None` if it acknowledges none that is known.
    pub(super) fn measure(&mut self, now: Time, options: &Settings) -> Option<Duration> {
        let age = self.acknowledge(now, options)?;
        self.smallest_age = Some(self.smallest_age.map_or(age, |smallest| smallest.min(age)));
        let rtt = age + options.fixed_rtt;
        let wrong = self.errors.as_mut().is_some_and(|errors| errors.chance(options.error_probability));
        Some(if wrong { rtt.scale(1000 + options.error_thousandths, 1000) } else { rtt })
    }

    /// Takes the packets out of the table that an uplink packet acknowledges, and returns the age of the newest. A packet
    /// with data most likely acknowledges as many as one without: where it does not, later acknowledgements are mapped to
    /// packets that are too young, which holds nothing back.
    ///
    /// A packet that passed less than half of the usual time in the wireless part ago is not acknowledged yet: the usual RTT
    /// may be too long, but hardly by that much.
    pub(super) fn acknowledge(&mut self, now: Time, options: &Settings) -> Option<Duration> {
        let usual = self.estimate.usual().filter(|usual| *usual > options.fixed_rtt);
        let wireless = usual.map_or(Duration::ZERO, |usual| usual - options.fixed_rtt);
        let passed = self.mapping.map(now, wireless / 2)?;
        Some(now.since(passed))
    }

    /// Decides about an acknowledgement with this current RTT, and updates the estimate and the timers. One that is not
    /// mapped passes.
    pub(super) fn judge(&mut self, now: Time, sample: Option<Duration>, options: &Settings) -> Verdict {
        let Some(rtt) = sample else { return Verdict::Pass };
        if self.estimate.is_abnormal(rtt, &options.limits) {
            self.judgment.late(now);
            let Some((_, expiry)) = self.judged(options).filter(|(at, _)| *at <= now) else {
                return Verdict::Hold;
            };
            if expiry == Expiry::Congestion {
                self.judge_congestion();
                self.estimate.add(rtt);
            }
            return Verdict::Expired(expiry);
        }
        self.judgment.usual();
        self.estimate.add(rtt);
        self.set_timeout(options);
        Verdict::Pass
    }

    /// Lasting congestion: what is late now is the usual from now on, and is learned anew.
    pub(super) fn judge_congestion(&mut self) {
        self.judgment.usual();
        self.estimate = Estimate::default();
    }

    /// Stops unless the parts agree.
    pub(super) fn check(&self) {
        self.mapping.check();
    }
    /// The earlier of the two timers, if anything is kept.
    pub(super) fn next_timer(&self, options: &Settings) -> Option<(Time, Expiry)> {
        if self.cache.is_empty() { None } else { self.judged(options) }
    }

    /// The earlier of the two timers since an acknowledgement was late.
    fn judged(&self, options: &Settings) -> Option<(Time, Expiry)> {
        let lasting = options.lasting.or(self.estimate.usual())?;
        self.judgment.next(lasting)
    }
}
