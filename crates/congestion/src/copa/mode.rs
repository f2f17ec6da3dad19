//! Copa's mode (section 2.2): detects buffer-filling competitors from delays and losses, and sets how hard to
//! compete.

use super::delays::Delays;
use units::{Duration, Time};

/// The number of round trips without a nearly empty queue after which other senders must be filling it (section 2.2),
/// if a full buffer was seen.
const FULL_ROUNDS: u64 = 5;
/// The same number if no full buffer was seen. The paper's five is the period of senders that oscillate in step. Copa
/// senders out of step leave some packets in the queue for longer, ten of them for up to 16 round trips (measured in
/// docs/model/copa.md).
const UNSEEN_ROUNDS: u64 = 16;
/// "Nearly empty" is a queueing delay below this share of its range (section 2.2); "nearly full" is one as close to
/// its maximum.
const NEARLY: f64 = 0.1;
/// The largest share of the queue, in packets times delta, of a sender in the default mode (figure 1).
const SWING: f64 = 2.5;

/// The current mode of a sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mode {
    /// The value of the default mode.
    delta: f64,
    /// Whether the competitive mode is enabled.
    allowed: bool,
    /// How long a full buffer is remembered.
    memory: Duration,
    /// When the queue was last nearly empty.
    emptied_at: Option<Time>,
    /// 1/delta in the competitive mode; `None` in the default mode.
    competing: Option<f64>,
    full: Option<FullBuffer>,
}

/// A loss explained by a full buffer.
#[derive(Debug, Clone, Copy)]
struct FullBuffer {
    at: Time,
    /// A longer RTT shows that the buffer was not full.
    highest: Duration,
}

impl Mode {
    pub(super) fn new(delta: f64, allowed: bool, memory: Duration) -> Mode {
        Mode { delta, allowed, memory, emptied_at: None, competing: None, full: None }
    }

    pub(super) fn competes(&self) -> bool {
        self.competing.is_some()
    }

    /// The current 1/delta, in packets.
    pub(super) fn inverse_delta(&self) -> f64 {
        self.competing.unwrap_or(1.0 / self.delta)
    }

    /// Whether the sender competes with buffer-filling senders.
    pub(super) fn among_fillers(&self, now: Time, delays: &Delays) -> bool {
        self.competes() && self.saw_full_buffer(now, delays)
    }

    /// Whether a loss within `min_rtt_window` suggests a full buffer, and no packet has waited longer than that
    /// allows.
    fn saw_full_buffer(&self, now: Time, delays: &Delays) -> bool {
        let still = |full: FullBuffer| now.since(full.at) < self.memory && delays.highest() <= full.highest;
        self.full.is_some_and(still)
    }

    /// The share of the range below which a queueing delay counts as an empty queue. A sender adds whole packets to
    /// the queue, so it cannot distinguish less than one of its own from none. With the default delta, one packet is
    /// a fifth of the range; the paper's tenth is half a packet.
    fn empty_share(&self, full: bool) -> f64 {
        if full { NEARLY } else { NEARLY.max(self.delta / SWING) }
    }

    /// Section 2.2: selects the mode and, in the competitive one, increases 1/delta by one per round trip.
    pub(super) fn on_ack(&mut self, now: Time, delays: &Delays, smoothed: Duration, round: bool) {
        let emptied_at = *self.emptied_at.get_or_insert(now);
        let full = self.saw_full_buffer(now, delays);
        let rounds = if full { FULL_ROUNDS } else { UNSEEN_ROUNDS };
        if delays.nearly_empty(self.empty_share(full)) {
            self.emptied_at = Some(now);
            self.competing = None;
        } else if self.allowed && now.since(emptied_at) > smoothed * rounds {
            let inverse = self.inverse_delta();
            self.competing = Some(if round { (inverse + 1.0).min(1e9) } else { inverse });
        }
    }

    /// Whether a loss indicates a full buffer, which drops packets only at its maximum delay. A loss at a shorter
    /// delay is random, and so may be the one before it. In the default mode no buffer-filling sender is assumed.
    pub(super) fn on_loss(&mut self, now: Time, delays: &Delays) {
        if !delays.nearly_full(NEARLY) {
            self.full = None;
        } else if self.competes() {
            self.full = Some(FullBuffer { at: now, highest: delays.above_highest(NEARLY) });
        }
    }

    /// Section 2.2: multiplicative decrease of 1/delta, down to the value of the default mode. The default mode
    /// itself ignores losses.
    pub(super) fn on_congestion(&mut self) {
        let least = 1.0 / self.delta;
        self.competing = self.competing.map(|inverse| (inverse / 2.0).max(least));
    }

    /// Returns to the default mode, as at the start.
    pub(super) fn restart(&mut self) {
        (self.competing, self.emptied_at) = (None, None);
    }

    /// Forgets the buffer, because another path has another one.
    pub(super) fn forget(&mut self) {
        self.full = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Copa, CopaOptions};
    use crate::testing::{Ack, SETUP, arguments, at, lose, mark, ms};
    use crate::{Controller, Signal};
    use units::parameter::Options;

    /// A sender with defaults on a path of 100 ms, fed by hand: one acknowledgement every ten milliseconds, with this
    /// RTT.
    struct Fed(Copa, u64);

    impl Fed {
        fn new() -> Fed {
            let mut fed = Fed(Copa::new(&arguments(CopaOptions::PARAMETERS, &[]), SETUP), 1_000);
            fed.acknowledge(100);
            fed
        }
        fn acknowledge(&mut self, rtt: u64) {
            self.1 += 10;
            let ack = Ack { rtt: ms(rtt), ..Ack::new(at(self.1), 1000) };
            ack.tell(&mut self.0);
        }
        /// Runs for more than a round trip.
        fn stand(&mut self, rtt: u64) {
            for _ in 0..24 {
                self.acknowledge(rtt);
            }
        }
        /// Runs until the sender competes; returns the time in ms.
        fn compete(&mut self, rtt: u64) -> u64 {
            let begin = self.1;
            while !self.0.mode.competes() {
                self.acknowledge(rtt);
            }
            self.1 - begin
        }
        fn lose(&mut self) {
            lose(&mut self.0, at(self.1), at(self.1), 1);
        }
        fn saw_full_buffer(&self) -> bool {
            self.0.mode.saw_full_buffer(at(self.1), &self.0.delays)
        }
    }

    /// Section 2.2: 5 round trips of 200 ms, and 16 before a full buffer was seen. During the first extra 100 ms,
    /// RTTstanding is still that of the empty queue.
    #[test]
    fn without_a_full_buffer_it_waits_longer_for_an_empty_queue() {
        let mut fed = Fed::new();
        assert_eq!(fed.compete(200), 100 + 16 * 200 + 10);
        fed.lose();
        fed.acknowledge(100);
        assert!(!fed.0.mode.competes());
        assert_eq!(fed.compete(200), 100 + 5 * 200 + 10);
    }

    /// A full buffer is remembered as long as RTTmin; then "nearly empty" is a tenth of the range, as in the paper.
    #[test]
    fn a_loss_at_the_greatest_delay_tells_of_a_full_buffer() {
        let mut fed = Fed::new();
        fed.acknowledge(200);
        fed.lose();
        assert!(!fed.saw_full_buffer(), "in the default mode");
        fed.compete(200);
        mark(&mut fed.0, at(fed.1), at(fed.1));
        assert!(!fed.saw_full_buffer(), "a mark");
        fed.lose();
        let lost = fed.1;
        let shares = [false, true].map(|full| fed.0.mode.empty_share(full));
        assert_eq!((fed.saw_full_buffer(), shares), (true, [0.2, 0.1]));
        while fed.1 < lost + 9_990 {
            fed.acknowledge(200);
        }
        assert!(fed.saw_full_buffer());
        fed.acknowledge(200);
        assert!(!fed.saw_full_buffer());
    }

    /// The other path has another buffer.
    #[test]
    fn on_another_path_no_full_buffer_was_seen() {
        let mut fed = Fed::new();
        fed.compete(200);
        fed.lose();
        assert!(fed.saw_full_buffer());
        fed.0.on_signal(&Signal::PathChanged);
        assert!(fed.0.mode.full.is_none() && !fed.0.mode.competes());
    }

    /// A loss with room in the buffer is random: here, below nine tenths of the maximum delay of 100 ms.
    #[test]
    fn a_loss_at_less_than_the_greatest_delay_tells_of_chance() {
        let mut fed = Fed::new();
        fed.compete(200);
        for (rtt, full) in [(190, true), (189, false), (200, true), (150, false), (150, false), (195, true)] {
            fed.stand(rtt);
            fed.lose();
            assert_eq!(fed.saw_full_buffer(), full, "{rtt} ms");
        }
    }

    /// A wait longer than that of the dropped packet shows that the buffer had not been full.
    #[test]
    fn a_longer_delay_shows_that_the_buffer_was_not_full() {
        let mut fed = Fed::new();
        fed.compete(200);
        fed.lose();
        for (rtt, full) in [(150, true), (210, true), (211, false), (200, false)] {
            // A late acknowledgement is not a queueing delay.
            fed.acknowledge(rtt + 25);
            fed.stand(rtt);
            assert_eq!(fed.saw_full_buffer(), full, "{rtt} ms");
        }
    }
}
