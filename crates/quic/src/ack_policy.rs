//! When to acknowledge (RFC 9000 section 13.2).

use crate::config::AckOptions;
use units::{Duration, Time};

/// A packet that was received, as an acknowledgement policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct Received {
    /// When it arrived.
    pub now: Time,
    /// Whether it arrived out of order: below the largest, or leaving a gap.
    pub out_of_order: bool,
    /// Whether it carried the CE mark.
    pub congestion_experienced: bool,
    /// Ack-eliciting packets that wait for an acknowledgement, with this one.
    pub waiting: u64,
}

/// When an acknowledgement is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At once.
    Now,
    /// Not later than this, or with the next packet that leaves anyway.
    Within(Duration),
}

/// Decides, for each ack-eliciting 1-RTT packet, when it is acknowledged.
pub trait AckPolicy: Send {
    /// An ack-eliciting packet arrived.
    fn on_received(&mut self, received: &Received) -> When;
}

/// One acknowledgement for every `ratio` packets, at once on reordering and congestion marks, never later than
/// `max_delay` (RFC 9000 sections 13.2.1 and 13.2.2).
#[derive(Debug, Clone)]
pub struct EveryNth {
    ratio: u64,
    max_delay: Duration,
}

impl EveryNth {
    /// The policy with these options.
    pub fn new(options: &AckOptions) -> EveryNth {
        EveryNth { ratio: options.ratio, max_delay: options.max_delay }
    }
}

impl AckPolicy for EveryNth {
    #[inline]
    fn on_received(&mut self, received: &Received) -> When {
        if received.out_of_order || received.congestion_experienced || received.waiting >= self.ratio {
            When::Now
        } else {
            When::Within(self.max_delay)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_packet_and_all_that_is_out_of_order() {
        let mut policy =
            EveryNth::new(&AckOptions { ratio: 2, max_delay: Duration::from_millis(25), bundling: false });
        let packet =
            Received { now: Time::ZERO, out_of_order: false, congestion_experienced: false, waiting: 1 };
        assert_eq!(policy.on_received(&packet), When::Within(Duration::from_millis(25)));
        assert_eq!(policy.on_received(&Received { waiting: 2, ..packet }), When::Now);
        assert_eq!(policy.on_received(&Received { out_of_order: true, ..packet }), When::Now);
        assert_eq!(policy.on_received(&Received { congestion_experienced: true, ..packet }), When::Now);
    }
}
