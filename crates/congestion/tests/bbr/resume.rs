//! Careful Resume of both BBRs, by hand-made acknowledgements (RFC 9959 appendix B).

use crate::hand::{Hand, Round};
use congestion::{Adjustment, Signal};
use units::{Duration, Rate};

const ROUND_TRIP: Duration = Duration::from_millis(100);

fn gauge(hand: &Hand, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    hand.controller.gauges(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}
fn round(hand: &mut Hand, mbits: u64) {
    let rate = Rate::from_bits_per_sec(mbits * 1_000_000);
    hand.round(Round { rate, in_flight: 600_000, app_limited: false });
}
fn resume(hand: &mut Hand, adjustment: Adjustment) {
    let now = hand.now;
    hand.controller.on_signal(&Signal::Resume { now, adjustment });
}
/// A sender at 1 Mbit/s that tries 600,000 bytes in 100 ms, which is 48 Mbit/s.
fn jumped(name: &str) -> Hand {
    let mut hand = Hand::new(name, ROUND_TRIP);
    round(&mut hand, 1);
    assert_eq!(gauge(&hand, "max_bw_mbps").round(), 1.0, "{name}");
    resume(&mut hand, Adjustment::Jump { window: 600_000, rtt: ROUND_TRIP });
    let pacing = hand.controller.allowance().pacing.unwrap();
    assert!(
        pacing.as_bits_per_sec() >= 48_000_000 && hand.controller.state() == "startup",
        "{name} {pacing:?}"
    );
    hand
}

/// RFC 9959-B.3-1: "any delivery rates measured in the Drain state MUST be discarded if the "carefully-resuming" flag is set to True.
/// This flag is cleared upon exiting the Drain state."
#[test]
fn what_a_retreat_measures_is_discarded() {
    for name in ["bbr1", "bbr3"] {
        let mut hand = jumped(name);
        resume(&mut hand, Adjustment::Retreat { window: 30_000 });
        assert_eq!(hand.controller.state(), "drain", "{name}");
        let pacing = hand.controller.allowance().pacing.unwrap();
        assert!(pacing.as_bits_per_sec() < 1_000_000, "{name} {pacing:?}");
        round(&mut hand, 40);
        assert_eq!((hand.controller.state(), gauge(&hand, "max_bw_mbps").round()), ("drain", 1.0), "{name}");
        // Nothing is in flight any more, so Drain is over, and the next rate counts.
        let rate = Rate::from_bits_per_sec(2_000_000);
        hand.round(Round { rate, in_flight: 0, app_limited: false });
        assert_ne!(hand.controller.state(), "drain", "{name}");
        hand.round(Round { rate, in_flight: 0, app_limited: false });
        assert_eq!(gauge(&hand, "max_bw_mbps").round(), 2.0, "{name}");
    }
}

/// "The "carefully-resuming" flag is reset to False two rounds after it is set", and without congestion the rates count.
#[test]
fn a_jump_ends_after_two_rounds() {
    for name in ["bbr1", "bbr3"] {
        let mut hand = jumped(name);
        round(&mut hand, 2);
        assert_eq!(gauge(&hand, "max_bw_mbps").round(), 2.0, "{name}");
        let pacing = |hand: &Hand| hand.controller.allowance().pacing.unwrap().as_bits_per_sec();
        assert!(pacing(&hand) >= 48_000_000, "{name}");
        round(&mut hand, 2);
        round(&mut hand, 2);
        assert!(pacing(&hand) < 10_000_000, "{name} {}", pacing(&hand));
    }
}
