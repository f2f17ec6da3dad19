//! When to acknowledge (RFC 9000 section 13.2).

use crate::config::{AckOptions, AckRequest};
use units::Duration;

/// A packet that was received, as the policy sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Received {
    /// Whether it arrived out of order, below the largest or leaving a gap, by as much as the policy's threshold.
    pub(crate) out_of_order: bool,
    /// Whether it carried the CE mark.
    pub(crate) congestion_experienced: bool,
    /// Ack-eliciting packets that wait for an acknowledgement, with this one.
    pub(crate) waiting: u64,
}

/// When an acknowledgement is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// At once.
    Now,
    /// Not later than this, or with the next packet that leaves anyway.
    Within(Duration),
}

/// Decides, for each ack-eliciting 1-RTT packet, when it is acknowledged: every `ratio`th, at once on reordering and
/// congestion marks, never later than `max_delay` (RFC 9000 sections 13.2.1 and 13.2.2).
#[derive(Debug, Clone)]
pub(crate) struct AckPolicy {
    ratio: u64,
    max_delay: Duration,
    reordering_threshold: u64,
    /// Whether the peer has asked for fewer than every second, so that of marked packets the first one alone matters.
    spares_marks: bool,
    /// Whether the packet before was marked.
    was_marked: bool,
}

impl AckPolicy {
    /// The policy with these options.
    pub(crate) fn new(options: &AckOptions) -> AckPolicy {
        AckPolicy {
            ratio: options.ratio,
            max_delay: options.max_delay,
            reordering_threshold: 1,
            spares_marks: false,
            was_marked: false,
        }
    }

    /// An ack-eliciting packet arrived.
    #[inline]
    pub(crate) fn on_received(&mut self, received: &Received) -> When {
        // Section 6.3 of the draft.
        let marked = received.congestion_experienced;
        let news = marked && !(self.spares_marks && self.was_marked);
        self.was_marked = marked;
        if received.out_of_order || news || received.waiting >= self.ratio {
            When::Now
        } else {
            When::Within(self.max_delay)
        }
    }
    /// The peer asks for this.
    pub(crate) fn on_request(&mut self, request: &AckRequest) {
        self.ratio = request.ratio;
        self.max_delay = request.max_delay;
        self.reordering_threshold = request.reordering_threshold;
        self.spares_marks = request.ratio > 2;
    }
    /// How far packets may be out of order before that is told: [`Received::out_of_order`]; 0: however far.
    #[inline]
    pub(crate) fn reordering_threshold(&self) -> u64 {
        self.reordering_threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_packet_and_all_that_is_out_of_order() {
        let mut policy =
            AckPolicy::new(&AckOptions { ratio: 2, max_delay: Duration::from_millis(25), bundling: false });
        let packet = Received { out_of_order: false, congestion_experienced: false, waiting: 1 };
        assert_eq!(policy.on_received(&packet), When::Within(Duration::from_millis(25)));
        assert_eq!(policy.on_received(&Received { waiting: 2, ..packet }), When::Now);
        assert_eq!(policy.on_received(&Received { out_of_order: true, ..packet }), When::Now);
        assert_eq!(policy.on_received(&Received { congestion_experienced: true, ..packet }), When::Now);
    }

    /// draft-ietf-quic-ack-frequency section 6.3: of marked packets in a row the first is reported at once, where fewer
    /// acknowledgements were asked for than for every second packet.
    #[test]
    fn marks_in_a_row_are_told_once_where_few_acknowledgements_are_asked_for() {
        let options = AckOptions { ratio: 2, max_delay: Duration::from_millis(25), bundling: false };
        for (ratio, second) in [(2, When::Now), (10, When::Within(Duration::from_millis(25)))] {
            let mut policy = AckPolicy::new(&options);
            let max_delay = options.max_delay;
            policy.on_request(&AckRequest { ratio, max_delay, reordering_threshold: 1 });
            let marked = Received { out_of_order: false, congestion_experienced: true, waiting: 1 };
            assert_eq!(policy.on_received(&marked), When::Now);
            assert_eq!(policy.on_received(&marked), second, "{ratio}");
            policy.on_received(&Received { congestion_experienced: false, ..marked });
            assert_eq!(policy.on_received(&marked), When::Now);
        }
    }
}
