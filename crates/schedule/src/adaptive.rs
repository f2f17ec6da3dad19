//! Absolute priority while the path is slow, round robin while it is fast: Algorithm 4 of Fernández et al., "Exploiting
//! stream scheduling in QUIC: Performance assessment over wireless connectivity scenarios", 2024.

use super::{Absolute, PathView, Priority, Ranked, RoundRobin, Scheduler, SchedulerOptions, StreamKey};
use units::parameter::{Options, Row};
use units::{Rate, Time};

/// The options of the adaptive scheduler.
#[derive(Debug, Clone, Options)]
struct AdaptiveOptions {
    /// rate up to which the most urgent stream gets everything (the paper tries 10 to 500 Mbit/s)
    #[option(default = "50 Mbit/s")]
    target: Rate,
    #[options]
    #[expect(dead_code, reason = "`super::build` reads it, for all rows")]
    common: SchedulerOptions,
}

pub(crate) const ROW: Row<super::Build> = Row {
    name: "adaptive",
    about: "absolute priority while the estimated rate (5/4 of the window per smoothed RTT) is at or below a target, else round robin",
    parameters: AdaptiveOptions::PARAMETERS,
    build: &|arguments| Box::new(Adaptive::new(AdaptiveOptions::of(arguments).target)),
};

/// [`Absolute`] or [`RoundRobin`], chosen anew for each packet. Both track all ready streams, so each continues
/// according to its own definition, which also covers ties, new streams, blocked streams and FIN. Only the chosen one
/// advances its turns.
#[derive(Debug)]
pub struct Adaptive {
    target: Rate,
    absolute: Ranked<Absolute>,
    turns: RoundRobin,
}

impl Adaptive {
    fn new(target: Rate) -> Adaptive {
        Adaptive { target, absolute: Ranked::default(), turns: RoundRobin::default() }
    }

    /// Not (5/4) cwnd 8 / sRTT > target (line 2 of the algorithm: at the target itself it is ABS). Without an RTT the
    /// path is fast.
    fn is_slow(&self, view: &PathView) -> bool {
        let bits = u128::from(view.window) * 8 * 5 * 1_000_000_000;
        bits <= 4 * u128::from(view.smoothed_rtt.as_nanos()) * u128::from(self.target.as_bits_per_sec())
    }
}

impl Scheduler for Adaptive {
    fn on_ready(&mut self, stream: StreamKey, now: Time) {
        self.absolute.on_ready(stream, now);
        self.turns.on_ready(stream, now);
    }
    fn on_sent(&mut self, stream: StreamKey, bytes: u64) {
        self.turns.on_sent(stream, bytes);
    }
    fn on_idle(&mut self, stream: StreamKey) {
        self.absolute.on_idle(stream);
        self.turns.on_idle(stream);
    }
    fn on_priority(&mut self, stream: StreamKey, priority: Priority) {
        self.absolute.on_priority(stream, priority);
    }
    fn on_closed(&mut self, stream: StreamKey) {
        self.absolute.on_closed(stream);
        self.turns.on_idle(stream);
    }
    fn next(&mut self, view: &PathView) -> Option<StreamKey> {
        if self.is_slow(view) { self.absolute.next(view) } else { self.turns.next(view) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{key, urgency};
    use super::*;
    use units::Duration;

    #[test]
    fn the_estimated_rate_decides() {
        let mut adaptive = Adaptive::new("10 Mbit/s".parse().unwrap());
        adaptive.on_priority(key(1), urgency(0));
        for slot in 0..3 {
            adaptive.on_ready(key(slot), Time::ZERO);
        }
        let mut turns = |window| {
            let view = PathView { now: Time::ZERO, window, smoothed_rtt: Duration::from_millis(100) };
            let turn = |_| {
                let stream = adaptive.next(&view).unwrap();
                adaptive.on_sent(stream, 1000);
                stream.slot
            };
            (0..4).map(turn).collect::<Vec<_>>()
        };
        // 5/4 * 100,000 B * 8 / 0.1 s = 10 Mbit/s.
        assert_eq!(turns(99_999), [1, 1, 1, 1]);
        assert_eq!(turns(100_000), [1, 1, 1, 1], "RR only above the target: line 2 of Algorithm 4");
        assert_eq!(turns(100_001), [0, 1, 2, 0]);
    }
}
