//! Copa's mode (section 2.2): whether others fill the buffer, told from delays and losses, and how hard it competes then.

use super::delays::Delays;
use units::{Duration, Time};

/// After this many round trips without a nearly empty queue, other senders must be filling it (section 2.2): where a full
/// buffer was seen.
const FULL_ROUNDS: u64 = 5;
/// The same where none was seen. The paper's five is the swing of senders that move in step. Those of one kind that do not
/// leave some packets in the queue for longer, ten of them for up to 16 round trips (docs/model/copa.md has the measure).
const UNSEEN_ROUNDS: u64 = 16;
/// "Nearly empty" is a queueing delay below this share of its swing (section 2.2); nearly full is one as near to its top.
const NEARLY: f64 = 0.1;
/// A sender's largest share of the queue in packets, times delta, in the default mode (figure 1).
const SWING: f64 = 2.5;

/// Which mode a sender is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mode {
    /// That of the default mode.
    delta: f64,
    /// Whether there is a competitive mode.
    allowed: bool,
    /// For so long a full buffer is remembered.
    memory: Duration,
    /// When the queue was nearly empty last.
    emptied_at: Option<Time>,
    /// 1/delta in the competitive mode; `None` in the default mode.
    competing: Option<f64>,
    full: Option<FullBuffer>,
}

/// A loss that a full buffer explains.
#[derive(Debug, Clone, Copy)]
struct FullBuffer {
    at: Time,
    /// Above this RTT the buffer had room.
    highest: Duration,
}

impl Mode {
    pub(super) fn new(delta: f64, allowed: bool, memory: Duration) -> Mode {
        Mode { delta, allowed, memory, emptied_at: None, competing: None, full: None }
    }

    pub(super) fn competes(&self) -> bool {
        self.competing.is_some()
    }

    /// 1/delta as it is now, in packets.
    pub(super) fn inverse_delta(&self) -> f64 {
        self.competing.unwrap_or(1.0 / self.delta)
    }

    /// Whether it competes with senders that fill the buffer.
    pub(super) fn among_fillers(&self, now: Time, delays: &Delays) -> bool {
        self.competes() && self.saw_full_buffer(now, delays)
    }

    /// Whether a loss within `min_rtt_window` suggests a full buffer, and no packet has waited longer than one can there.
    fn saw_full_buffer(&self, now: Time, delays: &Delays) -> bool {
        let still = |full: FullBuffer| now.since(full.at) < self.memory && delays.highest() <= full.highest;
        self.full.is_some_and(still)
    }

    /// Below what share of its swing a queueing delay counts as that of an empty queue. A sender puts whole packets into
    /// the queue, and so cannot tell less than one of its own from none: with the default of delta one is a fifth of the
    /// swing, and the paper's tenth is half a packet.
    fn empty_share(&self, full: bool) -> f64 {
        if full { NEARLY } else { NEARLY.max(self.delta / SWING) }
    }

    /// Section 2.2: which mode it is, and 1/delta in the competitive one, which grows by one in each round trip.
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

    /// Whether the loss tells of a full buffer: one loses packets at its greatest delay and at no other. A loss while the
    /// delay is less is chance, and so may be the one before it. In the default mode it knows of no
    /// sender that fills the buffer.
    pub(super) fn on_loss(&mut self, now: Time, delays: &Delays) {
        if !delays.nearly_full(NEARLY) {
            self.full = None;
        } else if self.competes() {
            self.full = Some(FullBuffer { at: now, highest: delays.above_highest(NEARLY) });
        }
    }

    /// Section 2.2: multiplicative decrease of 1/delta, not below the default mode's. That mode itself does not answer to
    /// losses.
    pub(super) fn on_congestion(&mut self) {
        let least = 1.0 / self.delta;
        self.competing = self.competing.map(|inverse| (inverse / 2.0).max(least));
    }

    /// Back to the default mode, as at the start.
    pub(super) fn restart(&mut self) {
        (self.competing, self.emptied_at) = (None, None);
    }

    /// On another path, of whose buffer nothing is known.
    pub(super) fn forget(&mut self) {
        self.full = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Copa, PARAMETERS};
    use crate::testing::{Ack, SETUP, arguments, at, lose, mark, ms};
    use crate::{Controller, Signal};

    /// A sender of the defaults on a path of 100 ms, hand-fed: one acknowledgement for each ten milliseconds, with this RTT.
    struct Fed(Copa, u64);

    impl Fed {
        fn new() -> Fed {
            let mut fed = Fed(Copa::new(&arguments(&PARAMETERS, &[]), SETUP), 1_000);
            fed.acknowledge(100);
            fed
        }
        fn acknowledge(&mut self, rtt: u64) {
            self.1 += 10;
            let ack = Ack { rtt: ms(rtt), ..Ack::new(at(self.1), 1000) };
            ack.tell(&mut self.0);
        }
        /// For more than a round trip.
        fn stand(&mut self, rtt: u64) {
            for _ in 0..24 {
                self.acknowledge(rtt);
            }
        }
        /// Until it competes, in ms.
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

    /// Section 2.2: 5 round trips of 200 ms, and 16 before it saw a full buffer. The first 100 ms more are those in which
    /// RTTstanding still is that of the empty queue.
    #[test]
    fn without_a_full_buffer_it_waits_longer_for_an_empty_queue() {
        let mut fed = Fed::new();
        assert_eq!(fed.compete(200), 100 + 16 * 200 + 10);
        fed.lose();
        fed.acknowledge(100);
        assert!(!fed.0.mode.competes());
        assert_eq!(fed.compete(200), 100 + 5 * 200 + 10);
    }

    /// For as long as RTTmin is remembered; then "nearly empty" is a tenth of the swing, as in the paper.
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

    /// Its buffer is another one.
    #[test]
    fn on_another_path_no_full_buffer_was_seen() {
        let mut fed = Fed::new();
        fed.compete(200);
        fed.lose();
        assert!(fed.saw_full_buffer());
        fed.0.on_signal(&Signal::PathChanged);
        assert!(fed.0.mode.full.is_none() && !fed.0.mode.competes());
    }

    /// A loss with room in the buffer is chance: below nine tenths of the greatest delay, of 100 ms.
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

    /// Who waits longer than a packet that found the buffer full has shown that it was not.
    #[test]
    fn a_longer_delay_shows_that_the_buffer_was_not_full() {
        let mut fed = Fed::new();
        fed.compete(200);
        fed.lose();
        for (rtt, full) in [(150, true), (210, true), (211, false), (200, false)] {
            // A late acknowledgement is no delay of the queue.
            fed.acknowledge(rtt + 25);
            fed.stand(rtt);
            assert_eq!(fed.saw_full_buffer(), full, "{rtt} ms");
        }
    }
}
