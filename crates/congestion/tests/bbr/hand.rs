//! A controller driven by hand, with one acknowledgement per round trip.

use congestion::{AckSample, CONTROLLERS, Controller, Limit, RateSample, RttEstimate, Setup};
use units::{Duration, Rate, Size, Time};

/// The size of each packet in bytes.
const PACKET: u64 = 1200;

/// One round trip, as the sender sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub rate: Rate,
    /// Bytes in flight afterwards.
    pub in_flight: u64,
    pub app_limited: bool,
}

/// A controller and the path it sees.
pub(crate) struct Hand {
    pub controller: Box<dyn Controller>,
    pub now: Time,
    pub round_trip: Duration,
    delivered: u64,
    in_flight: u64,
    rtt: RttEstimate,
}

impl Hand {
    pub(crate) fn new(name: &str, round_trip: Duration) -> Hand {
        let row = CONTROLLERS.iter().find(|row| row.name == name).unwrap();
        let setup = Setup {
            max_datagram_size: PACKET,
            initial_window: 10 * PACKET,
            initial_packets: Some(10),
            initial_rtt: Duration::from_millis(333),
            seed: 1,
        };
        Hand {
            controller: (row.build)(&congestion::fuzz::arguments(row.parameters, &[]), setup),
            now: Time::from_nanos(1_000_000_000),
            round_trip,
            delivered: 0,
            in_flight: 10 * PACKET,
            rtt: RttEstimate::new(round_trip),
        }
    }

    /// A packet is acknowledged whose last transmission was this long ago; it provides no RTT sample.
    pub(crate) fn ambiguous(&mut self, ago: Duration) {
        let sent_at = Time::ZERO + self.now.since(Time::ZERO + ago);
        self.delivered += PACKET;
        self.controller.on_ack(&AckSample {
            now: self.now,
            acked_bytes: PACKET,
            newest_sent_at: sent_at,
            oldest_sent_at: sent_at,
            bytes_in_flight: self.in_flight,
            prior_in_flight: self.in_flight + PACKET,
            lost_bytes: 0,
            acked_packets: 1,
            marked_packets: 0,
            delivered: self.delivered,
            limit: Limit::Pacer,
            rtt: &self.rtt,
            rtt_sample: None,
            rate: None,
        });
    }

    /// Passes a round trip; everything delivered in it is acknowledged at its end.
    pub(crate) fn round(&mut self, round: Round) {
        let bytes = round.rate.bytes_in(self.round_trip).as_bytes();
        let (sent_at, prior_delivered, prior_in_flight) = (self.now, self.delivered, self.in_flight);
        self.now += self.round_trip;
        self.delivered += bytes;
        self.in_flight = round.in_flight;
        self.rtt.update(self.round_trip, Duration::ZERO);
        self.controller.on_ack(&AckSample {
            now: self.now,
            acked_bytes: bytes,
            newest_sent_at: sent_at,
            oldest_sent_at: sent_at,
            bytes_in_flight: round.in_flight,
            prior_in_flight,
            lost_bytes: 0,
            acked_packets: bytes.div_ceil(PACKET),
            marked_packets: 0,
            delivered: self.delivered,
            limit: Limit::Pacer,
            rtt: &self.rtt,
            rtt_sample: Some(self.round_trip),
            rate: Some(RateSample {
                delivered: bytes,
                interval: self.round_trip,
                rate: Some(Rate::of(Size::from_bytes(bytes), self.round_trip)),
                prior_delivered,
                in_flight: prior_in_flight,
                lost: 0,
                app_limited: round.app_limited,
            }),
        });
    }
}

/// RFC 6298 section 3 (Karn): acknowledgements of retransmitted data provide no sample and leave even an expired
/// minimum RTT unchanged; the next sample counts.
#[test]
fn an_acknowledgement_without_a_sample_leaves_the_least_rtt() {
    for name in ["bbr1", "bbr3"] {
        let mut hand = Hand::new(name, Duration::from_millis(204));
        let round =
            Round { rate: Rate::from_bits_per_sec(10_000_000), in_flight: 60_000, app_limited: false };
        let least = |hand: &Hand| {
            let mut found = None;
            hand.controller.gauges(&mut |name, value| {
                if name == "model_min_rtt_ms" {
                    found = Some(value);
                }
            });
            found
        };
        hand.ambiguous(Duration::from_millis(3));
        assert_eq!(least(&hand), None, "{name}: before the first sample");
        hand.round(round);
        hand.ambiguous(Duration::from_millis(3));
        assert_eq!(least(&hand), Some(204.0), "{name}");
        hand.now += Duration::from_secs(11);
        hand.ambiguous(Duration::from_millis(3));
        assert_eq!(least(&hand), Some(204.0), "{name}: out of date");
        hand.round_trip = Duration::from_millis(150);
        hand.round(round);
        assert_eq!(least(&hand), Some(150.0), "{name}");
    }
}
