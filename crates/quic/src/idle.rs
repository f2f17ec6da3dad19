//! When a connection has been silent for too long, and when it breaks its own silence (RFC 9000 section 10.1).

use crate::config::Config;
use units::{Duration, Time};

/// The silence of a connection.
#[derive(Debug)]
pub(crate) struct Idle {
    /// After so long it is over.
    timeout: Option<Duration>,
    /// After so long it says something.
    keep_alive: Option<Duration>,
    /// Since when it lasts.
    from: Time,
    /// Whether something ack-eliciting was sent since the last packet arrived: only the first restarts the timer.
    eliciting_since_receipt: bool,
}

impl Idle {
    /// From now on, with the options of a connection.
    pub(crate) fn new(now: Time, config: &Config) -> Idle {
        let timeout = (!config.max_idle_timeout.is_zero()).then_some(config.max_idle_timeout);
        Idle { timeout, keep_alive: config.keep_alive, from: now, eliciting_since_receipt: false }
    }
    /// The peer's max_idle_timeout; 0: none. The shorter one counts.
    pub(crate) fn on_peer_parameters(&mut self, max_idle_timeout_ms: u64) {
        if max_idle_timeout_ms > 0 {
            let theirs = Duration::from_millis(max_idle_timeout_ms);
            self.timeout = Some(self.timeout.map_or(theirs, |ours| ours.min(theirs)));
        }
    }
    /// A packet of the peer opened.
    #[inline]
    pub(crate) fn on_received(&mut self, now: Time) {
        self.from = now;
        self.eliciting_since_receipt = false;
    }
    /// An ack-eliciting packet was sent.
    #[inline]
    pub(crate) fn on_eliciting_sent(&mut self, now: Time) {
        if !std::mem::replace(&mut self.eliciting_since_receipt, true) {
            // RFC 9000 section 10.1: the first ack-eliciting packet after one received restarts the idle timer.
            self.from = now;
        }
    }
    /// When the connection is over, given the probe timeout.
    #[inline]
    pub(crate) fn deadline(&self, pto: Duration) -> Option<Time> {
        // RFC 9000-10.1-1: at least three times the PTO.
        self.timeout.map(|timeout| self.from + timeout.max(pto * 3))
    }
    /// When something is said only to break the silence, where the options ask for that.
    #[inline]
    pub(crate) fn keep_alive_at(&self) -> Option<Time> {
        self.keep_alive.map(|interval| self.from + interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// RFC 9000-10.1-1.
    #[test]
    fn the_shorter_timeout_counts_from_what_was_received_or_first_sent_behind_it() {
        let config = Config { max_idle_timeout: Duration::from_millis(900), ..Config::default() };
        let mut idle = Idle::new(at(0), &config);
        let pto = Duration::from_millis(100);
        assert_eq!(idle.deadline(pto), Some(at(900)));
        idle.on_peer_parameters(500);
        idle.on_peer_parameters(0);
        assert_eq!(idle.deadline(pto), Some(at(500)));
        assert_eq!(idle.deadline(pto * 2), Some(at(600)), "three probe timeouts at least");
        idle.on_eliciting_sent(at(10));
        idle.on_eliciting_sent(at(20));
        assert_eq!(idle.deadline(pto), Some(at(510)), "the first one counts");
        idle.on_received(at(30));
        idle.on_eliciting_sent(at(40));
        assert_eq!(idle.deadline(pto), Some(at(540)));
    }
}
