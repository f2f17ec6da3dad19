//! The two timers of a flow: the judgment of lasting congestion, and the sender's timeout.

use units::{Duration, Time};

/// What ends the time of a held acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expiry {
    /// "Sender Congestion Judgment Timer": acknowledgements have been late for so long that it is no sudden interference.
    Congestion,
    /// "Sender Timeout Determination Timer": the sender would soon time out.
    Timeout,
}

/// The state of both timers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Judgment {
    /// The first late acknowledgement since the last usual one.
    late_since: Option<Time>,
    /// When the sender can be expected to time out, as seen at the node.
    timeout: Option<Time>,
}

impl Judgment {
    /// An acknowledgement of a usual RTT has passed.
    pub(super) fn usual(&mut self) {
        self.late_since = None;
    }
    /// An acknowledgement is late. Keeps the time of the first.
    pub(super) fn late(&mut self, now: Time) {
        self.late_since.get_or_insert(now);
    }
    /// Sets the second timer. A packet that passed the node at `last` left the sender half of `fixed` before, and what the
    /// node sends takes another half: the timeout is the probe timeout after `last`, less `fixed` and `margin`.
    pub(super) fn set_timeout(&mut self, last: Time, pto: Duration, fixed: Duration, margin: Duration) {
        let ahead = fixed + margin;
        self.timeout = Some(if pto > ahead { last + (pto - ahead) } else { last });
    }
    /// The earlier timer, if an acknowledgement is late; of two at the same time, that of congestion. `lasting` is how
    /// long acknowledgements are late in lasting congestion.
    pub(super) fn next(&self, lasting: Duration) -> Option<(Time, Expiry)> {
        let congestion = (self.late_since? + lasting, Expiry::Congestion);
        let timeout = self.timeout.map(|at| (at, Expiry::Timeout));
        Some(timeout.filter(|timeout| timeout.0 < congestion.0).unwrap_or(congestion))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_timer_counts() {
        let ms = Duration::from_millis;
        let at = |n| Time::ZERO + ms(n);
        let mut judgment = Judgment::default();
        assert_eq!(judgment.next(ms(100)), None);
        // Sent at 480, and due at 480 + 225 at the sender; what leaves the node at 675 arrives there at 695.
        judgment.set_timeout(at(500), ms(225), ms(40), ms(10));
        assert_eq!(judgment.next(ms(100)), None, "nothing is late");
        [600, 650].into_iter().for_each(|ms| judgment.late(at(ms)));
        assert_eq!(judgment.next(ms(100)), Some((at(675), Expiry::Timeout)));
        assert_eq!(judgment.next(ms(75)), Some((at(675), Expiry::Congestion)));
        judgment.set_timeout(at(500), ms(20), ms(40), ms(10));
        assert_eq!(judgment.next(ms(75)), Some((at(500), Expiry::Timeout)));
        judgment.usual();
        assert_eq!(judgment.next(ms(75)), None);
    }
}
