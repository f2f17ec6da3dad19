//! Copa's mode (section 2.2): whether others fill the buffer, told from delays and losses, and how hard it competes then.

use super::delays::Delays;
use units::{Duration, Time};

/// For so many round trips without a nearly empty queue there must be others that fill it (section 2.2).
const FULL_ROUNDS: u64 = 5;
/// "Nearly empty" is a queueing delay below this share of its swing (section 2.2).
const EMPTY_SHARE: f64 = 0.1;
/// A sender's largest share of the queue in packets, times delta, in the default mode (figure 1).
const SWING: f64 = 2.5;

/// Which mode a sender is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mode {
    /// That of the default mode.
    delta: f64,
    /// Whether there is a competitive mode.
    allowed: bool,
    /// For so long a loss is remembered.
    memory: Duration,
    /// When the queue was nearly empty last.
    emptied_at: Option<Time>,
    /// 1/delta in the competitive mode; `None` in the default mode.
    competing: Option<f64>,
    /// The last loss.
    lost_at: Option<Time>,
}

impl Mode {
    pub(super) fn new(delta: f64, allowed: bool, memory: Duration) -> Mode {
        Mode { delta, allowed, memory, emptied_at: None, competing: None, lost_at: None }
    }

    pub(super) fn competes(&self) -> bool {
        self.competing.is_some()
    }

    /// 1/delta as it is now, in packets.
    pub(super) fn inverse_delta(&self) -> f64 {
        self.competing.unwrap_or(1.0 / self.delta)
    }

    /// Whether it competes with senders that fill the buffer.
    pub(super) fn among_fillers(&self, now: Time) -> bool {
        self.competes() && self.saw_full_buffer(now)
    }

    /// Whether a loss within `min_rtt_window` suggests a full buffer.
    fn saw_full_buffer(&self, now: Time) -> bool {
        self.lost_at.is_some_and(|at| now.since(at) < self.memory)
    }

    /// Below what share of its swing a queueing delay counts as that of an empty queue. A sender puts whole packets into
    /// the queue, and so cannot tell less than one of its own from none: with the default of delta one is a fifth of the
    /// swing, and the paper's tenth is half a packet.
    pub(super) fn empty_share(&self, now: Time) -> f64 {
        if self.saw_full_buffer(now) { EMPTY_SHARE } else { EMPTY_SHARE.max(self.delta / SWING) }
    }

    /// Section 2.2: which mode it is, and 1/delta in the competitive one, which grows by one in each round trip.
    pub(super) fn on_ack(&mut self, now: Time, delays: &Delays, smoothed: Duration, round: bool) {
        let emptied_at = *self.emptied_at.get_or_insert(now);
        if delays.nearly_empty(self.empty_share(now)) {
            self.emptied_at = Some(now);
            self.competing = None;
        } else if self.allowed && now.since(emptied_at) > smoothed * FULL_ROUNDS {
            let inverse = self.inverse_delta();
            self.competing = Some(if round { (inverse + 1.0).min(1e9) } else { inverse });
        }
    }

    pub(super) fn on_loss(&mut self, now: Time) {
        self.lost_at = Some(now);
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
        self.lost_at = None;
    }
}
