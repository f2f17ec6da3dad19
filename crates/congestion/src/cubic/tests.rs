//! CUBIC fed by hand with acknowledgements and losses.

use super::*;
use crate::Limit;
use crate::testing::{Ack, SETUP, arguments, at, lose, mark, ms};
use units::parameter::Value;

fn sender(changes: &[(&'static str, Value)]) -> Cubic {
    let mut all = vec![("slow_start", Value::Text("standard".to_owned()))];
    all.extend_from_slice(changes);
    Cubic::new(&arguments(CubicOptions::PARAMETERS, &all), SETUP)
}
/// A sender in slow start whose window is this number of packets.
fn grown(packets: u64, changes: &[(&'static str, Value)]) -> Cubic {
    let mut s = sender(changes);
    Ack::new(at(100), packets * 1000 - 10_000).tell(&mut s);
    assert_eq!(s.allowance().window, packets * 1000);
    s
}

/// RFC 9438 section 4.2, figures 1, 2 and 4, compared with a second implementation of the formulas, acknowledgement
/// by acknowledgement: 1000 packets at the loss, 700 after it, so that K = cbrt(300 / 0.4) = 9.0856 s.
#[test]
fn the_window_follows_the_curve_sample_by_sample() {
    let mut s = grown(1000, &[]);
    lose(&mut s, at(200), at(150), 1);
    assert_eq!((s.allowance().window, s.ssthresh()), (700_000, Some(700_000)));
    let k = (300.0_f64 / 0.4).cbrt();
    assert!((k - 9.0856).abs() < 1e-4);
    let mut expected = 700.0_f64;
    let begin = 301;
    for i in 0..180_000_u64 {
        // Some 1000 acknowledgements per round trip of 100 ms.
        let now = Time::from_nanos(begin * 1_000_000 + i * 100_000);
        Ack::new(now, 1000).tell(&mut s);
        let t = i as f64 * 1e-4;
        let w_cubic = |t: f64| 0.4 * (t - k).powi(3) + 1000.0;
        let target = w_cubic(t + 0.1).clamp(expected, 1.5 * expected);
        expected += (target - expected) / expected;
        let window = s.allowance().window as f64 / 1000.0;
        assert!((window - expected).abs() < 0.002, "{t} s: {window}, by the formula {expected}");
        if t > 1.0 && t < 17.0 {
            // The window also stays within a round trip of the curve itself.
            let near = w_cubic(t - 0.1) - 1.0..w_cubic(t + 0.1) + 1.0;
            assert!(near.contains(&window), "{t} s: {window}, on the curve {}", w_cubic(t));
        }
    }
    assert!((s.allowance().window / 1000).abs_diff(1283) < 10, "past the plateau the window is convex");
}

/// RFC 9438 section 4.3: alpha = 3 (1 - 0.7) / (1 + 0.7) = 0.529 packets per window, and 1 once the earlier window is
/// reached, but not by RFC 8312 section 4.2.
#[test]
fn where_the_curve_is_slow_the_window_grows_as_reno_does() {
    let rfc_9438 = growth_of_reno("rfc9438", 1.0);
    let rfc_8312 = growth_of_reno("rfc8312", 9.0 / 17.0);
    assert!(20.0 < rfc_8312 && rfc_8312 + 0.5 < rfc_9438, "{rfc_8312}, {rfc_9438}");
    let mut alone = grown(20, &[("reno_friendly", Value::Flag(false))]);
    lose(&mut alone, at(200), at(150), 1);
    (0..400).for_each(|i| Ack { rtt: ms(10), ..Ack::new(at(301 + i), 1000) }.tell(&mut alone));
    assert!((alone.allowance().window as f64) < 1000.0 * rfc_8312);
}

/// The window in packets after 40 round trips from 14 packets, in steps that are those of the formulas. `later`: alpha once the
/// window of 20 before the loss is reached.
fn growth_of_reno(option: &'static str, later: f64) -> f64 {
    let mut s = grown(20, &[("reno_growth", Value::Text(option.into()))]);
    lose(&mut s, at(200), at(150), 1);
    let mut expected = 14.0_f64;
    let mut window = 14.0_f64;
    for round in 0..40_u64 {
        for _ in 0..10 {
            let now = at(301 + 10 * round);
            Ack { rtt: ms(10), ..Ack::new(now, 1000) }.tell(&mut s);
            let alpha = if expected < 20.0 { 9.0 / 17.0 } else { later };
            expected += alpha / window;
            let t = (10 * round) as f64 * 1e-3;
            let k = (6.0_f64 / 0.4).cbrt();
            let w_cubic = |t: f64| 0.4 * (t - k).powi(3) + 20.0;
            let target = w_cubic(t + 0.01).clamp(window, 1.5 * window);
            let concave = window + (target - window) / window;
            window = if w_cubic(t) < expected { concave.max(expected) } else { concave };
            let told = s.allowance().window as f64 / 1000.0;
            assert!((told - window).abs() < 0.002, "{round}: {told}, by the formula {window}");
        }
    }
    window
}

/// RFC 9438 section 4.2: "if W_cubic(t + RTT) > 1.5 * cwnd".
#[test]
fn the_window_grows_by_half_in_a_round_trip_at_most() {
    let mut s = grown(10, &[("c", Value::Number(100.0)), ("reno_friendly", Value::Flag(false))]);
    lose(&mut s, at(200), at(150), 1);
    Ack::new(at(301), 1000).tell(&mut s);
    let before = s.allowance().window;
    Ack::new(at(60_000), 1000).tell(&mut s);
    let step = s.allowance().window - before;
    assert!((400..=500).contains(&step), "a packet acknowledged adds half a packet, not {step}");
    Ack::new(at(60_001), 1_000_000).tell(&mut s);
    assert!(s.allowance().window <= (before + step) * 3 / 2);
}

/// RFC 9438 section 4.7.
#[test]
fn a_second_loss_below_the_plateau_leaves_room_for_others() {
    for (fast, w_max) in [(true, 595.0), (false, 700.0)] {
        let mut s = grown(1000, &[("fast_convergence", Value::Flag(fast))]);
        lose(&mut s, at(200), at(150), 1);
        lose(&mut s, at(400), at(350), 1);
        assert_eq!(s.allowance().window, 490_000);
        assert!((s.curve.w_max.unwrap() - w_max * 1000.0).abs() < 1e-6);
    }
}

/// RFC 9438 section 4.2: time with an underused window is not part of the epoch.
#[test]
fn an_idle_sender_does_not_leap_along_the_curve() {
    let busy = |pause: u64| {
        let mut s = grown(1000, &[]);
        lose(&mut s, at(200), at(150), 1);
        (0..1000).for_each(|i| Ack::new(at(301 + i), 1000).tell(&mut s));
        Ack { limit: Limit::Application, ..Ack::new(at(1301), 1000) }.tell(&mut s);
        Ack { limit: Limit::Application, ..Ack::new(at(1302 + pause / 2), 1000) }.tell(&mut s);
        (0..1000).for_each(|i| Ack::new(at(1302 + pause + i), 1000).tell(&mut s));
        s.allowance().window
    };
    assert_eq!(busy(0).abs_diff(busy(20_000)), 0);
    assert!(busy(0) > 700_000);
}

/// RFC 9438 section 4.9: a spurious loss restores the window, the plateau and the epoch.
#[test]
fn a_spurious_loss_is_undone() {
    let mut s = grown(1000, &[]);
    lose(&mut s, at(200), at(150), 1);
    (0..1000).for_each(|i| Ack::new(at(301 + i), 1000).tell(&mut s));
    let (before, curve) = (s.allowance().window, format!("{:?}", s.curve));
    lose(&mut s, at(2000), at(1950), 2);
    lose(&mut s, at(2001), at(1951), 1);
    assert!(s.allowance().window.abs_diff(before * 7 / 10) <= 1);
    let reduced = s.allowance().window;
    let spurious = |sent, packets| Signal::Spurious {
        now: at(2050),
        packets,
        bytes: packets * 1000,
        newest_sent_at: at(sent),
    };
    s.on_signal(&spurious(140, 5));
    s.on_signal(&spurious(1950, 2));
    assert_eq!(s.allowance().window, reduced, "one is still missing, those of long ago do not count");
    s.on_signal(&spurious(1951, 1));
    assert_eq!(format!("{:?}", s.curve), curve);
    s.on_signal(&spurious(1951, 1));
    assert_eq!(s.allowance().window, before, "once");
}

/// RFC 9438 section 4.9: not after an additional mark, nor if disabled.
#[test]
fn a_mark_is_never_spurious() {
    let spurious = Signal::Spurious { now: at(300), packets: 1, bytes: 1000, newest_sent_at: at(150) };
    let mut s = grown(100, &[]);
    lose(&mut s, at(200), at(150), 1);
    mark(&mut s, at(201), at(151));
    s.on_signal(&spurious);
    assert_eq!(s.allowance().window, 70_000);
    let mut s = grown(100, &[("spurious_undo", Value::Flag(false))]);
    lose(&mut s, at(200), at(150), 1);
    s.on_signal(&spurious);
    assert_eq!(s.allowance().window, 70_000);
}

/// RFC 9438 section 4.6; RFC 8511 section 3.
#[test]
fn a_mark_counts_as_a_loss_unless_the_options_say_less() {
    for (changes, left) in [(vec![], 70_000), (vec![("beta_ecn", Value::Number(0.85))], 85_000)] {
        let mut s = grown(100, &changes);
        mark(&mut s, at(200), at(150));
        assert_eq!((s.allowance().window, s.state()), (left, "recovery"));
        mark(&mut s, at(210), at(199));
        assert_eq!(s.allowance().window, left);
    }
}

/// RFC 9438 section 4.8: K is 0 and the plateau is where congestion avoidance begins.
#[test]
fn after_persistent_congestion_the_curve_begins_on_its_plateau() {
    let mut s = grown(100, &[]);
    lose(&mut s, at(200), at(150), 1);
    s.on_signal(&Signal::PersistentCongestion);
    assert_eq!((s.allowance().window, s.ssthresh(), s.state()), (2_000, Some(70_000), "slow_start"));
    Ack::new(at(400), 68_000).tell(&mut s);
    assert_eq!((s.allowance().window, s.state()), (70_000, "congestion_avoidance"));
    let epoch = s.curve.epoch.unwrap();
    assert_eq!((epoch.k, epoch.w_max), (0.0, 70_000.0));
}

/// RFC 9000 section 9.4.
#[test]
fn another_path_is_begun_anew() {
    let mut s = grown(100, &[]);
    lose(&mut s, at(200), at(150), 1);
    s.on_signal(&Signal::PathChanged);
    assert_eq!((s.allowance().window, s.ssthresh(), s.state()), (10_000, None, "slow_start"));
}
