//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1, "Delivery Rate Samples").

use units::{Duration, Rate, Size, Time};

/// The state recorded with each sent packet, for the sample at its acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SentState {
    /// Bytes delivered when it was sent.
    pub delivered: u64,
    /// When those bytes had been delivered.
    pub delivered_at: Time,
    /// When the first packet of its flight was sent.
    pub first_sent_at: Time,
    /// Bytes declared lost when it was sent, modulo 2^32: only the later increase matters.
    lost: u32,
    /// Bytes in flight when it was sent, including it; the highest bit tells whether the application was the limit.
    in_flight: u32,
}

/// It is stored with every packet, so it has four words.
const _: () = assert!(size_of::<SentState>() == 32, "a small state");

const APP_LIMITED: u32 = 1 << 31;

impl SentState {
    /// Bytes in flight when the packet was sent, including it, limited to 2 GiB.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        u64::from(self.in_flight & !APP_LIMITED)
    }
    /// Whether the application limited the sender at that time.
    #[inline]
    pub fn app_limited(&self) -> bool {
        self.in_flight & APP_LIMITED != 0
    }
    /// Bytes sent up to and including this packet, whatever became of them. `lost`: the total lost so far.
    #[inline]
    fn sent(&self, lost: u64) -> u64 {
        self.delivered + lost - self.lost_since(lost) + self.in_flight()
    }
    /// Bytes declared lost since then, given the total `lost`.
    #[inline]
    fn lost_since(&self, lost: u64) -> u64 {
        u64::from((lost as u32).wrapping_sub(self.lost))
    }
}

/// Network measurements from the flight of one packet, between its sending and its acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered over the interval.
    pub delivered: u64,
    /// The longer of the time to send them and the time to acknowledge them.
    pub interval: Duration,
    /// `delivered / interval`; `None` if the interval is zero or below the minimum RTT and so not trustworthy.
    pub rate: Option<Rate>,
    /// Bytes delivered when the packet was sent; identifies the round.
    pub prior_delivered: u64,
    /// Bytes in flight when the packet was sent, including it.
    pub in_flight: u64,
    /// Bytes declared lost since the packet was sent.
    pub lost: u64,
    /// Whether the application, not the network, limited the rate.
    pub app_limited: bool,
}

impl RateSample {
    /// Bytes sent up to and including the packet. `lost`: the total lost so far.
    pub(crate) fn sent(&self, lost: u64) -> u64 {
        self.prior_delivered + lost - self.lost + self.in_flight
    }
}

/// A packet that was declared lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostPacket {
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was sent.
    pub sent_at: Time,
    /// Bytes delivered when it was sent.
    pub prior_delivered: u64,
    /// Bytes in flight when it was sent, including it.
    pub in_flight: u64,
    /// Bytes declared lost since it was sent, including it.
    pub lost: u64,
    /// Bytes delivered when it was declared lost.
    pub delivered: u64,
    /// Bytes sent up to and including it: where one packet ends, the next one begins.
    pub sent: u64,
    /// Whether the application limited the sender when it was sent.
    pub app_limited: bool,
}

/// The estimator of one connection.
#[derive(Debug, Clone, Default)]
pub struct DeliveryRate {
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    /// While `delivered` is below this, samples are application-limited; 0 if they are not.
    app_limited_until: u64,
    newest: Option<(SentState, Time)>,
}

impl DeliveryRate {
    /// A packet is sent; `bytes_in_flight` excludes it. The result is stored with the packet.
    #[inline]
    pub fn on_sent(&mut self, now: Time, bytes: u64, bytes_in_flight: u64) -> SentState {
        if bytes_in_flight == 0 {
            // A new flight begins: idle time is not part of a sample.
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SentState {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost as u32,
            in_flight: ((bytes_in_flight + bytes).min(u64::from(APP_LIMITED - 1)) as u32)
                | if self.app_limited_until == 0 { 0 } else { APP_LIMITED },
        }
    }

    /// The sender has neither new data nor lost data to send, although window and pacer have room (4.1.2.4).
    pub fn on_app_limited(&mut self, bytes_in_flight: u64) {
        self.app_limited_until = (self.delivered + bytes_in_flight).max(1);
    }

    /// A packet, sent at `sent_at`, was newly acknowledged.
    #[inline]
    pub fn on_acked(&mut self, now: Time, bytes: u64, sent_at: Time, state: &SentState) {
        debug_assert!(sent_at <= now, "a packet is sent before it is acknowledged");
        debug_assert!(
            state.delivered <= self.delivered,
            "what was delivered at the time of sending still is"
        );
        self.delivered += bytes;
        self.delivered_at = now;
        // 4.1.2.3, IsNewestPacket(): of packets sent at the same time, the last.
        let newer = match &self.newest {
            None => true,
            Some((newest, at)) => (sent_at, state.sent(self.lost)) > (*at, newest.sent(self.lost)),
        };
        if newer {
            self.newest = Some((*state, sent_at));
            self.first_sent_at = sent_at;
        }
    }

    /// A packet sent at `sent_at` was declared lost. The losses of one ACK frame are reported in sending order.
    pub fn on_lost(&mut self, bytes: u64, sent_at: Time, state: &SentState) -> LostPacket {
        debug_assert!(
            state.delivered <= self.delivered,
            "what was delivered at the time of sending still is"
        );
        let lost_before = self.lost;
        self.lost += bytes;
        LostPacket {
            bytes,
            sent_at,
            prior_delivered: state.delivered,
            in_flight: state.in_flight(),
            lost: state.lost_since(self.lost),
            delivered: self.delivered,
            sent: state.sent(lost_before),
            app_limited: state.app_limited(),
        }
    }

    /// The sample of the ACK frame whose packets were all passed to [`DeliveryRate::on_acked`]. The rate over an
    /// interval shorter than `min_rtt` is not trustworthy and is omitted; `None` if the frame acknowledged nothing in
    /// flight.
    #[inline]
    pub fn sample(&mut self, now: Time, min_rtt: Duration) -> Option<RateSample> {
        let (state, sent_at) = self.newest.take()?;
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let interval = sent_at.since(state.first_sent_at).max(now.since(state.delivered_at));
        debug_assert!(state.delivered < self.delivered, "a sample covers the packet itself");
        let delivered = self.delivered - state.delivered;
        let told = !interval.is_zero() && interval >= min_rtt;
        Some(RateSample {
            delivered,
            interval,
            rate: told.then(|| Rate::of(Size::from_bytes(delivered), interval)),
            prior_delivered: state.delivered,
            in_flight: state.in_flight(),
            lost: state.lost_since(self.lost),
            app_limited: state.app_limited(),
        })
    }

    /// Bytes delivered so far.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
    /// Bytes declared lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_steady_flight_is_measured_at_its_rate() {
        // 1000 B per ms, RTT 10 ms, acknowledged one by one.
        let mut rate = DeliveryRate::default();
        let mut states = Vec::new();
        for i in 0..40u64 {
            let in_flight = i.min(10) * 1000;
            if i >= 10 {
                let (sent_at, state) = states[i as usize - 10];
                rate.on_acked(at(i), 1000, sent_at, &state);
                let sample = rate.sample(at(i), Duration::from_millis(10)).unwrap();
                if i >= 20 {
                    assert_eq!(sample.rate, Some(Rate::from_bits_per_sec(8_000_000)));
                    assert!(!sample.app_limited);
                }
            }
            let state = rate.on_sent(at(i), 1000, in_flight);
            states.push((at(i), state));
        }
        assert_eq!(rate.delivered(), 30_000);
    }

    #[test]
    fn idle_time_is_no_part_of_a_sample_and_app_limits_are_told() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), 1000, 0);
        rate.on_acked(at(10), 1000, at(0), &first);
        rate.sample(at(10), Duration::ZERO);
        rate.on_app_limited(0);
        let second = rate.on_sent(at(1000), 1000, 0);
        rate.on_acked(at(1010), 1000, at(1000), &second);
        let sample = rate.sample(at(1010), Duration::ZERO).unwrap();
        assert_eq!(sample.interval, Duration::from_millis(10));
        assert!(sample.app_limited);
    }

    /// 4.1.2.4: samples are application-limited until more is delivered than was in flight when the data ran out.
    #[test]
    fn a_limit_by_the_application_lasts_until_what_was_in_flight_is_passed() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_sent(at(0), 1000, 0);
        rate.on_app_limited(1000);
        let second = rate.on_sent(at(1), 1000, 1000);
        rate.on_acked(at(10), 1000, at(0), &first);
        assert!(!rate.sample(at(10), Duration::ZERO).unwrap().app_limited);
        // "if (C.delivered > C.app_limited)": now they are equal.
        assert!(rate.on_sent(at(10), 1000, 1000).app_limited());
        rate.on_acked(at(11), 1000, at(1), &second);
        assert!(rate.sample(at(11), Duration::ZERO).unwrap().app_limited);
        assert!(!rate.on_sent(at(11), 1000, 1000).app_limited());
    }

    /// 4.1.2.3: of packets sent at once the last is the newest, in whatever order an ACK frame lists them.
    #[test]
    fn the_newest_of_a_burst_is_its_last() {
        let mut rate = DeliveryRate::default();
        let states: Vec<_> = (0..3).map(|i| rate.on_sent(at(0), 1000, i * 1000)).collect();
        for i in [2, 0, 1] {
            rate.on_acked(at(20), 1000, at(0), &states[i]);
        }
        assert_eq!(rate.sample(at(20), Duration::ZERO).unwrap().in_flight, 3000);
    }

    #[test]
    fn compressed_acks_do_not_inflate_the_rate() {
        let mut rate = DeliveryRate::default();
        let states: Vec<_> = (0..5).map(|i| (at(i), rate.on_sent(at(i), 1000, i * 1000))).collect();
        for (sent_at, state) in &states {
            rate.on_acked(at(100), 1000, *sent_at, state);
        }
        let sample = rate.sample(at(100), Duration::from_millis(50)).unwrap();
        assert_eq!((sample.delivered, sample.interval), (5000, Duration::from_millis(100)));
    }

    /// 4.1.1.2.4: the rate does not exceed that at which the flight was sent.
    #[test]
    fn a_rate_is_bounded_by_that_of_sending() {
        let mut rate = DeliveryRate::default();
        let mut states: Vec<_> = (0..50).map(|i| (at(i), rate.on_sent(at(i), 1000, i * 1000))).collect();
        rate.on_acked(at(50), 1000, states[0].0, &states[0].1);
        rate.sample(at(50), Duration::ZERO);
        states.push((at(50), rate.on_sent(at(50), 1000, 49_000)));
        for (sent_at, state) in &states[1..] {
            rate.on_acked(at(55), 1000, *sent_at, state);
        }
        // Fifty packets acknowledged within five milliseconds, but sent in fifty.
        let sample = rate.sample(at(55), Duration::ZERO).unwrap();
        assert_eq!((sample.delivered, sample.interval), (50_000, Duration::from_millis(50)));
    }

    #[test]
    fn a_flight_knows_what_was_lost_in_it() {
        let mut rate = DeliveryRate::default();
        let states: Vec<_> = (0..4).map(|i| (at(i), rate.on_sent(at(i), 1000, i * 1000))).collect();
        let lost = rate.on_lost(1000, states[0].0, &states[0].1);
        assert_eq!((lost.in_flight, lost.lost), (1000, 1000));
        let late = rate.on_sent(at(10), 1000, 3000);
        let lost = rate.on_lost(1000, states[1].0, &states[1].1);
        assert_eq!((lost.in_flight, lost.lost), (2000, 2000));
        rate.on_acked(at(20), 1000, at(10), &late);
        let sample = rate.sample(at(20), Duration::from_millis(100)).unwrap();
        assert_eq!((sample.in_flight, sample.lost, sample.rate), (4000, 1000, None));
        assert_eq!(rate.lost(), 2000);
    }
}
