//! Counts round trips: one ends with the acknowledgement of a packet that was sent after it began.

use crate::AckSample;

/// The count of one sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    /// The round ends when a packet is acknowledged that was sent after this many bytes had been delivered.
    end: u64,
}

impl Rounds {
    /// The first round, which ends with the first packet sent after any acknowledgement.
    pub(crate) fn new() -> Rounds {
        Rounds { end: 1 }
    }
    /// Starts a new round in place of the current one.
    pub(crate) fn restart(&mut self, delivered: u64) {
        self.end = delivered.max(1);
    }
    /// Whether this acknowledgement ends the round; if so, the next one begins.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &AckSample<'_>) -> bool {
        let over = ack.rate.is_some_and(|sample| sample.prior_delivered >= self.end);
        if over {
            debug_assert!(ack.delivered >= self.end, "the count of delivered bytes does not fall");
            self.end = ack.delivered;
        }
        over
    }
}
