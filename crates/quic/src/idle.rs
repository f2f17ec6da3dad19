//! The idle timeout and keep-alive of a connection (RFC 9000 section 10.1).

use crate::config::Config;
use units::{Duration, Time};

/// The idle time of a connection.
#[derive(Debug)]
pub(crate) struct Idle {
    /// The connection ends after this idle time.
    timeout: Option<Duration>,
    /// A PING is sent after this idle time.
    keep_alive: Option<Duration>,
    /// The start of the idle time.
    from: Time,
    /// Whether an ack-eliciting packet was sent since the last packet arrived: only the first one restarts the timer.
    eliciting_since_receipt: bool,
}

impl Idle {
    /// Starts now, with the options of a connection.
    pub(crate) fn new(now: Time, config: &Config) -> Idle {
        let timeout = (!config.max_idle_timeout.is_zero()).then_some(config.max_idle_timeout);
        Idle { timeout, keep_alive: config.keep_alive, from: now, eliciting_since_receipt: false }
    }
    /// Takes the peer's max_idle_timeout; 0: none. The shorter of both timeouts applies.
    pub(crate) fn on_peer_parameters(&mut self, max_idle_timeout_ms: u64) {
        if max_idle_timeout_ms > 0 {
            let theirs = Duration::from_millis(max_idle_timeout_ms);
            self.timeout = Some(self.timeout.map_or(theirs, |ours| ours.min(theirs)));
        }
    }
    /// Restarts the timer: a packet of the peer was decrypted.
    #[inline]
    pub(crate) fn on_received(&mut self, now: Time) {
        self.from = now;
        self.eliciting_since_receipt = false;
    }
    /// Notes that an ack-eliciting packet was sent.
    #[inline]
    pub(crate) fn on_eliciting_sent(&mut self, now: Time) {
        if !std::mem::replace(&mut self.eliciting_since_receipt, true) {
            // RFC 9000 section 10.1: the first ack-eliciting packet after one received restarts the idle timer.
            self.from = now;
        }
    }
    /// The time at which the connection ends, given the probe timeout.
    #[inline]
    pub(crate) fn deadline(&self, pto: Duration) -> Option<Time> {
        // RFC 9000-10.1-1: "at least three times the current Probe Timeout".
        self.timeout.map(|timeout| self.from + timeout.max(pto * 3))
    }
    /// The time of the next keep-alive PING, if the options ask for one.
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
    fn the_shorter_timeout_runs_from_the_last_packet_received_or_first_sent_after_it() {
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
