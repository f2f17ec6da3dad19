//! The timers of a connection.

use super::Connection;
use crate::event::CloseReason;
use crate::state::State;
use units::Time;

impl Connection {
    /// The time at which to call [`Connection::wake`] unless something else happens first.
    #[inline(always)]
    pub fn wake_at(&self) -> Option<Time> {
        let own = [
            self.recovery.wake_at(),
            self.acks.wake_at(),
            self.opening.syn.again_at,
            self.timers.persist.at,
            self.timers.time_wait_until,
            self.timers.paced_until,
        ];
        own.into_iter().flatten().min()
    }

    /// Handles the timers that have expired.
    pub fn wake(&mut self, now: Time) {
        self.now = now;
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(self.timers.time_wait_until) {
            self.finish(now, CloseReason::Finished);
            return self.set_state(now, State::Closed);
        }
        if due(self.timers.paced_until) {
            self.timers.paced_until = None;
        }
        if due(self.opening.syn.again_at) {
            if self.opening.syn.attempts > self.config.syn_retries {
                // RFC 9293 section 3.8.3: R2 of a SYN.
                return self.abort(now, CloseReason::TimedOut);
            }
            self.opening.syn.again_at = None;
            self.opening.syn.due = true;
        }
        if due(self.timers.persist.at) {
            self.probe_window(now);
        }
        if due(self.recovery.wake_at()) {
            self.wake_recovery(now);
        }
    }

    fn wake_recovery(&mut self, now: Time) {
        self.recovery.wake(now);
        self.after_losses(now);
        self.stats.timeouts = self.recovery.timeouts;
        self.stats.loss_probes = self.recovery.probes_sent + u64::from(self.recovery.probe.due);
        // RFC 9293 section 3.8.3: R2.
        if self.recovery.rto.unanswered() > self.config.retries {
            return self.abort(now, CloseReason::TimedOut);
        }
        self.trace_metrics(now);
    }

    /// RFC 9293 section 3.8.6.1: sends a byte beyond the window, at growing intervals, as long as the peer answers.
    fn probe_window(&mut self, now: Time) {
        self.timers.persist.at = None;
        if !self.is_held_by_peer() {
            return;
        }
        // Section 3.8.6.1: "as long as the receiving TCP peer continues to send acknowledgments"; otherwise R2 applies
        // (section 3.8.3).
        if self.timers.persist.unanswered > self.config.retries {
            return self.abort(now, CloseReason::TimedOut);
        }
        self.timers.persist.due = true;
        self.timers.persist.backoffs += 1;
        self.timers.persist.unanswered += 1;
        self.schedule_persist(now);
    }

    pub(super) fn schedule_persist(&mut self, now: Time) {
        let timeout =
            self.recovery.rto.timeout(&self.recovery.rtt) * (1 << self.timers.persist.backoffs.min(16));
        self.timers.persist.at = Some(now + timeout.min(self.config.max_rto));
    }

    /// Starts the persist timer if the peer's window blocks all data. Called after every received or sent segment.
    #[inline]
    pub(super) fn watch_window(&mut self, now: Time) {
        if self.timers.persist.at.is_none() && self.is_held_by_peer() {
            self.schedule_persist(now);
        }
    }
}
