//! BBRv3 beyond the draft's own cases: probing, bounds, undo, control parameters, pauses.

use crate::hand::{Hand, Round};
use crate::path::{Application, Link, PACKET, Path};
use congestion::{LostPacket, Signal};
use std::rc::Rc;
use units::{Duration, Rate, Time};

fn undisturbed(rate: &str, round_trip: &str, products: f64) -> Path {
    let changed = [("probe_rtt_interval", "60 s"), ("min_rtt_filter_len", "100 s")];
    Path::new("bbr3", &changed, Link::new(rate, round_trip, products))
}

fn mbit(rate: f64) -> Rate {
    Rate::from_bits_per_sec((rate * 1e6) as u64)
}

/// Reports one lost packet with these bytes in flight when it was sent, and lost since.
fn lose(path: &mut Path, in_flight: u64, lost: u64) {
    let packet = LostPacket {
        bytes: PACKET,
        sent_at: path.now - Duration::from_millis(1),
        prior_delivered: path.delivered(),
        in_flight,
        lost,
        delivered: path.delivered(),
        sent: path.delivered() + in_flight,
        app_limited: false,
    };
    path.controller.on_signal(&Signal::Lost {
        now: path.now,
        bytes: PACKET,
        newest_sent_at: packet.sent_at,
        bytes_in_flight: path.in_flight,
        packets: &[packet],
    });
}

/// 5.5.10.2, InflightAtLoss(): losses exceeded 2 % within the packet; each probe responds once.
#[test]
fn inflight_longterm_is_where_losses_passed_the_threshold() {
    let mut path = undisturbed("50 Mbit/s", "40 ms", 4.0);
    path.until_state(60, "probe_bw_up");
    lose(&mut path, 1_000_000, 21_000);
    // (0.02 x 998800 - 19800) / 0.98 = 179.6 bytes of the packet.
    assert_eq!(path.gauge("inflight_longterm_bytes"), 998_979.0);
    assert_eq!(path.state(), "probe_bw_down");
    lose(&mut path, 500_000, 30_000);
    assert_eq!(path.gauge("inflight_longterm_bytes"), 998_979.0);
}

/// 5.5.10.2: not below 0.7 of the target for bytes in flight.
#[test]
fn inflight_longterm_is_bounded_by_beta() {
    let mut path = undisturbed("50 Mbit/s", "40 ms", 4.0);
    path.until_state(60, "probe_bw_up");
    let product = path.gauge("bw_mbps") * 1e3 / 8.0 * path.gauge("model_min_rtt_ms");
    lose(&mut path, 10_000, 5_000);
    let longterm = path.gauge("inflight_longterm_bytes");
    assert!((longterm / (0.7 * product) - 1.0).abs() < 0.001, "{longterm} of {product}");
}

/// 5.3.3.6: after a probe that went too high, the next one stops where that one met loss; if that goes well, another
/// follows at once.
#[test]
fn a_probe_behind_one_that_was_too_high_is_a_precaution() {
    let mut path = undisturbed("50 Mbit/s", "40 ms", 0.5);
    // Until a probe has ended because of loss, not because the rate stopped growing.
    while path.state() != "probe_bw_down" || path.gauge("full_bw_now") == 1.0 {
        path.until_state(60, "probe_bw_up");
        path.until_state(60, "probe_bw_down");
    }
    let longterm = path.gauge("inflight_longterm_bytes");
    path.until_state(60, "probe_bw_cruise");
    path.link.buffer *= 2;
    path.until_state(60, "probe_bw_up");
    let began = path.now;
    path.until(60, |path| path.state() != "probe_bw_up");
    assert!(path.gauge("inflight_longterm_bytes") >= longterm, "it is not loss that ended it");
    assert!(path.gauge("full_bw_count") < 3.0, "it is not the rate that ended it");
    assert!(path.in_flight as f64 >= longterm - PACKET as f64, "{} of {longterm}", path.in_flight);
    path.until_state(60, "probe_bw_up");
    assert!(path.now.since(began) < Duration::from_millis(400), "{}", path.now.since(began));
}

/// 5.3.3.8: with few packets in flight, as many round trips as Reno would need, otherwise two to three seconds.
#[test]
fn probes_come_as_often_as_reno_would_lose() {
    for (rate, round_trip, least, most) in [
        ("10 Mbit/s", "12 ms", 100, 400),
        ("1 Mbit/s", "100 ms", 700, 2500),
        ("100 Mbit/s", "200 ms", 2000, 5000),
    ] {
        let mut path = undisturbed(rate, round_trip, 4.0);
        path.until_state(60, "probe_bw_up");
        path.until_state(60, "probe_bw_down");
        let from = path.now;
        path.until_state(60, "probe_bw_refill");
        let waited = path.now.since(from).as_millis();
        assert!((least..=most).contains(&waited), "{rate}: {waited} ms");
    }
}

/// 5.5.11: a Startup that ended because of spurious losses resumes.
#[test]
fn a_startup_that_ended_for_nothing_begins_again() {
    let mut path = undisturbed("100 Mbit/s", "40 ms", 4.0);
    path.application = Application::Limited(mbit(40.0));
    path.run(Duration::from_secs(1));
    let next = path.next_number;
    let late = move |number: u64| (next..next + 150).contains(&number) && number.is_multiple_of(10);
    path.link.late = Some((Rc::new(late), Duration::from_millis(90)));
    path.until(1, |path| path.state() != "startup");
    assert_eq!(path.gauge("full_bw_reached"), 1.0);
    path.until(1, |path| path.spurious == path.lost);
    assert_eq!((path.state(), path.gauge("full_bw_reached")), ("startup", 0.0));
    assert_eq!(path.gauge("inflight_longterm_bytes"), f64::INFINITY);
}

/// 5.5.11: bounds set by losses while cruising are reverted, as far as the losses were spurious.
#[test]
fn short_term_bounds_for_nothing_are_taken_back() {
    let mut path = undisturbed("50 Mbit/s", "40 ms", 4.0);
    path.until_state(60, "probe_bw_cruise");
    let next = path.next_number;
    let late = move |number: u64| (next..next + 10).contains(&number);
    path.link.late = Some((Rc::new(late), Duration::from_millis(90)));
    path.until(1, |path| path.gauge("bw_shortterm_mbps").is_finite());
    assert!(path.gauge("inflight_shortterm_bytes").is_finite());
    path.until(1, |path| path.spurious == 10);
    for bound in ["bw_shortterm_mbps", "inflight_shortterm_bytes"] {
        assert_eq!(path.gauge(bound), f64::INFINITY, "{bound}");
    }
}

/// 5.3.4.4, ExitProbeRTT(): "BBR.ResetShortTermModel()": earlier bounds from losses no longer apply.
#[test]
fn probe_rtt_ends_without_short_term_bounds() {
    let mut path = Path::new("bbr3", &[], Link::new("50 Mbit/s", "40 ms", 4.0));
    path.until_state(60, "probe_rtt");
    let next = path.next_number;
    path.link.dropped = Some(Rc::new(move |number: u64| (next..next + 10).contains(&number)));
    path.until(1, |path| path.gauge("bw_shortterm_mbps").is_finite());
    assert_eq!(path.state(), "probe_rtt");
    assert!(path.gauge("inflight_shortterm_bytes").is_finite());
    path.until_state(1, "probe_bw_cruise");
    for bound in ["bw_shortterm_mbps", "inflight_shortterm_bytes"] {
        assert_eq!(path.gauge(bound), f64::INFINITY, "{bound}");
    }
}

/// 5.6.4.7, BoundCwndForModel(): the window of a cruise leaves 15 % of inflight_longterm to other flows.
#[test]
fn a_cruise_leaves_headroom() {
    let mut path = undisturbed("50 Mbit/s", "40 ms", 4.0);
    path.until_state(60, "probe_bw_up");
    lose(&mut path, 300_000, 10_000);
    assert_eq!(path.state(), "probe_bw_down");
    path.until_state(10, "probe_bw_cruise");
    path.run(Duration::from_millis(10));
    assert_eq!(path.state(), "probe_bw_cruise");
    let longterm = path.gauge("inflight_longterm_bytes") as u64;
    let headroom = (0.15 * longterm as f64) as u64;
    assert_eq!(path.controller.allowance().window, longterm - headroom, "of {longterm}");
}

/// 5.6.4.2: window gain, aggregation, and two extra packets in ProbeBW_UP.
#[test]
fn the_window_of_a_probe_has_room_for_two_packets_more() {
    let mut path = undisturbed("50 Mbit/s", "40 ms", 4.0);
    path.until_state(60, "probe_bw_up");
    path.run(Duration::from_millis(30));
    let product = path.gauge("bw_mbps") * 1e3 / 8.0 * path.gauge("model_min_rtt_ms");
    let expected = 2.25 * product + path.gauge("extra_acked_bytes") + 2.0 * PACKET as f64;
    assert!((path.gauge("max_inflight_bytes") - expected).abs() < 4.0, "{expected}");
}

/// 5.5.7: a longer path is recognized when the filter's ten seconds are over.
#[test]
fn a_longer_path_is_known_after_ten_seconds() {
    let mut path = Path::new("bbr3", &[], Link::new("20 Mbit/s", "20 ms", 8.0));
    path.run(Duration::from_secs(6));
    path.link.round_trip = Duration::from_millis(40);
    path.run(Duration::from_secs(3));
    assert!(path.gauge("model_min_rtt_ms") < 22.0);
    path.run(Duration::from_secs(14));
    assert!((40.0..42.0).contains(&path.gauge("model_min_rtt_ms")), "{}", path.gauge("model_min_rtt_ms"));
}

/// 5.6.2: before the pipe is full, samples of an application with little data do not slow the sender down.
#[test]
fn startup_does_not_slow_down() {
    let mut path = undisturbed("100 Mbit/s", "40 ms", 4.0);
    path.application = Application::Limited(mbit(1.0));
    path.run(Duration::from_millis(100));
    let first = path.pacing();
    assert!(
        (first * path.gauge("model_min_rtt_ms") / (2.7726 * 12_000.0 * 8.0 * 1e3) - 1.0).abs() < 0.01,
        "{first}"
    );
    path.run(Duration::from_secs(2));
    assert!(path.pacing() >= first);
}

/// 5.6.3: the bytes of a millisecond, at least two packets and at most 64 KiB.
#[test]
fn the_send_quantum_has_its_bounds() {
    for (rate, quantum) in [(1.0, 2 * PACKET), (10_000.0, 64 * 1024)] {
        let mut hand = Hand::new("bbr3", Duration::from_millis(100));
        for _ in 0..8 {
            hand.round(Round { rate: mbit(rate), in_flight: 10_000, app_limited: false });
        }
        assert_eq!(hand.controller.allowance().quantum, Some(quantum), "{rate} Mbit/s");
    }
}

/// 5.4.1: after a pause in a probe, packets are paced at the estimated bandwidth, not above it.
#[test]
fn a_pause_in_a_probe_ends_at_the_estimated_bandwidth() {
    let mut path = undisturbed("50 Mbit/s", "40 ms", 4.0);
    path.until_state(60, "probe_bw_up");
    path.application = Application::Silent;
    path.run(Duration::from_secs(1));
    assert_eq!((path.state(), path.in_flight), ("probe_bw_up", 0));
    let bandwidth = path.gauge("bw_mbps");
    path.application = Application::Bulk;
    path.run(Duration::from_millis(1));
    assert!((path.pacing() / 1e6 / bandwidth - 0.99).abs() < 1e-3, "{}", path.pacing());
}

/// 5.4.1: a sufficiently long pause in ProbeRTT ends it before the first packet's acknowledgement.
#[test]
fn a_pause_ends_probe_rtt() {
    let mut path = Path::new("bbr3", &[], Link::new("50 Mbit/s", "40 ms", 4.0));
    path.until_state(60, "probe_rtt");
    path.run(Duration::from_millis(60));
    path.application = Application::Silent;
    path.run(Duration::from_secs(1));
    assert_eq!((path.state(), path.in_flight), ("probe_rtt", 0));
    path.application = Application::Bulk;
    path.run(Duration::from_millis(1));
    assert_eq!(path.state(), "probe_bw_cruise");
    assert_ne!(path.now, Time::ZERO);
}

/// 5.5.9: after Startup, the extra acknowledged data is remembered for ten round trips.
#[test]
fn aggregation_is_remembered_for_ten_round_trips() {
    let mut hand = Hand::new("bbr3", Duration::from_millis(50));
    for rate in [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0, 10.0, 10.0] {
        hand.round(Round { rate: mbit(rate), in_flight: 60_000, app_limited: false });
    }
    assert!(hand.controller.state().starts_with("probe_bw"));
    let extra = |hand: &Hand| {
        let mut found = 0.0;
        hand.controller.gauges(&mut |name, value| {
            if name == "extra_acked_bytes" {
                found = value;
            }
        });
        found
    };
    // A whole round trip in one acknowledgement.
    assert_eq!(extra(&hand), 62_500.0);
    for _ in 0..9 {
        hand.round(Round { rate: mbit(1.0), in_flight: 6_000, app_limited: true });
    }
    assert_eq!(extra(&hand), 62_500.0);
    for _ in 0..5 {
        hand.round(Round { rate: mbit(1.0), in_flight: 6_000, app_limited: true });
    }
    assert!(extra(&hand) < 10_000.0, "{}", extra(&hand));
}

/// 5.5.5 and 5.3.4.3 as written: the bandwidth filter advances a round trip after a probe; ProbeRTT, which comes
/// every five seconds and marks its samples as application-limited, takes up that round trip. If the queue of the old
/// bandwidth makes round trips so long that no probe ends in between, that bandwidth is never forgotten.
#[test]
fn a_halved_bandwidth_is_forgotten_only_where_a_probe_fits_between_two_probe_rtts() {
    let estimated = |round_trip: &str, interval: &str| {
        let changed = [("probe_rtt_interval", interval)];
        let mut path = Path::new("bbr3", &changed, Link::new("20 Mbit/s", round_trip, 50.0));
        path.until_state(60, "probe_bw_cruise");
        path.set_rate(mbit(10.0));
        path.run(Duration::from_secs(60));
        assert_eq!(path.lost, 0);
        path.gauge("max_bw_mbps")
    };
    assert!(estimated("100 ms", "5 s") < 10.5);
    assert!(estimated("200 ms", "60 s") < 10.5);
    assert!(estimated("200 ms", "5 s") > 19.0);
}
