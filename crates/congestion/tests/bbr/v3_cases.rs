//! The 22 test cases of draft-ietf-ccwg-bbr-06, appendix A, by their numbers and titles.

use crate::hand::{Hand, Round};
use crate::path::{Application, Link, PACKET, Path};
use std::rc::Rc;
use units::{Duration, Rate};

/// "A variety of RTTs and bandwidths": the paths of the steady-state cases.
const PATHS: [(&str, &str); 5] = [
    ("1 Mbit/s", "200 ms"),
    ("10 Mbit/s", "40 ms"),
    ("50 Mbit/s", "10 ms"),
    ("100 Mbit/s", "50 ms"),
    ("500 Mbit/s", "2 ms"),
];

fn deep(rate: &str, round_trip: &str) -> Path {
    Path::new("bbr3", &[], Link::new(rate, round_trip, 4.0))
}

/// Postpones probing for the RTT where it would interfere.
fn undisturbed(link: Link) -> Path {
    Path::new("bbr3", &[("probe_rtt_interval", "60 s"), ("min_rtt_filter_len", "100 s")], link)
}

fn mbit(rate: f64) -> Rate {
    Rate::from_bits_per_sec((rate * 1e6) as u64)
}

/// The estimated BDP in bytes.
fn bdp(path: &Path) -> f64 {
    path.gauge("bw_mbps") * 1e3 / 8.0 * path.gauge("model_min_rtt_ms")
}

/// `Inflight(1.0)`: the BDP, but at least a send quantum and four packets.
fn inflight(path: &Path) -> f64 {
    let quantum = path.controller.allowance().quantum.unwrap() as f64;
    bdp(path).max(quantum).max(4.0 * PACKET as f64)
}

/// The states that follow the first of this name.
fn after<'a>(path: &'a Path, state: &str) -> Vec<&'a str> {
    path.states.iter().map(|(_, name)| *name).skip_while(|name| *name != state).collect()
}

#[test]
fn a_01_exiting_startup_on_bandwidth_plateau() {
    for (rate, round_trip) in PATHS {
        let mut path = deep(rate, round_trip);
        let bits = path.link.rate.as_bits_per_sec() as f64;
        let mut counts = vec![(0.0, 0.0)];
        path.until(60, |path| {
            let count = (path.gauge("full_bw_count"), path.gauge("round_count"));
            if counts.last().is_some_and(|last| last.0 != count.0) {
                counts.push(count);
            }
            path.state() != "startup"
        });
        assert_eq!(path.state(), "drain");
        let estimated = path.gauge("max_bw_mbps") * 1e6;
        assert!((estimated / bits - 1.0).abs() < 0.02, "{rate}: {estimated}");
        let [.., one, two, three] = counts[..] else { panic!("{counts:?}") };
        assert_eq!([one.0, two.0, three.0], [1.0, 2.0, 3.0], "{rate}");
        assert_eq!([two.1 - one.1, three.1 - two.1], [1.0, 1.0], "{rate}: round by round");
        assert_eq!((path.gauge("full_bw_now"), path.gauge("full_bw_reached")), (1.0, 1.0));
    }
}

#[test]
fn a_02_exiting_startup_on_loss_when_application_limited() {
    let mut path = deep("100 Mbit/s", "40 ms");
    path.application = Application::Limited(mbit(40.0));
    path.run(Duration::from_secs(2));
    assert_eq!((path.state(), path.gauge("full_bw_count")), ("startup", 0.0));
    path.link.loss = 0.1;
    path.until(1, |path| path.state() != "startup");
    // Nothing is queued, so Drain may end with the same acknowledgement.
    assert!(["drain", "probe_bw_down"].contains(&path.state()));
    assert_eq!((path.gauge("full_bw_now"), path.gauge("full_bw_reached")), (1.0, 1.0));
    assert!(path.gauge("inflight_longterm_bytes") >= bdp(&path) * 0.99);
}

/// Neither less than 2 % loss in many places nor more than 2 % in five ends Startup.
#[test]
fn a_02_little_loss_or_loss_in_few_places_does_not_end_startup() {
    let far_apart: fn(u64) -> bool = |number| number > 2000 && number.is_multiple_of(90);
    let five: fn(u64) -> bool = |number| (2000..2500).contains(&number) && number % 100 < 6;
    for (dropped, lost) in [(far_apart, 20), (five, 30)] {
        let mut path = undisturbed(Link::new("100 Mbit/s", "100 ms", 4.0));
        path.application = Application::Limited(mbit(80.0));
        path.link.dropped = Some(Rc::new(dropped));
        path.run(Duration::from_secs(2));
        assert!(path.lost >= lost, "{}", path.lost);
        assert_eq!(path.state(), "startup");
        // 5.5.10.3: the short-term model applies only while bandwidth is not probed.
        assert_eq!(path.gauge("bw_shortterm_mbps"), f64::INFINITY);
    }
}

#[test]
fn a_03_exiting_drain_based_on_inflight() {
    for (rate, round_trip) in PATHS {
        let mut path = deep(rate, round_trip);
        path.until_state(60, "drain");
        assert_eq!(path.gauge("pacing_gain"), 0.5);
        let mut above = 0;
        path.until(60, |path| {
            let drained = path.in_flight as f64 <= inflight(path);
            above += u64::from(!drained && path.state() == "drain");
            path.state() != "drain"
        });
        assert!(above > 0 && path.in_flight as f64 <= inflight(&path), "{rate}: {above}");
        assert!(path.state().starts_with("probe_bw"));
    }
}

/// With an overestimated bandwidth, the volume stays above the estimate. Driven by hand, because on a path of one
/// sender a pacing gain of 0.5 drains whatever a tenth less bandwidth leaves.
#[test]
fn a_04_exiting_drain_based_on_time() {
    let mut hand = Hand::new("bbr3", Duration::from_millis(50));
    let full = Round { rate: mbit(10.0), in_flight: 125_000, app_limited: false };
    for rate in [1.0, 2.0, 4.0, 8.0, 10.0, 10.0, 10.0, 10.0] {
        assert_eq!(hand.controller.state(), "startup", "{rate}");
        hand.round(Round { rate: mbit(rate), ..full });
    }
    assert_eq!(hand.controller.state(), "drain");
    let slower = Round { rate: mbit(9.0), ..full };
    for _ in 0..3 {
        hand.round(slower);
        assert_eq!(hand.controller.state(), "drain");
    }
    hand.round(slower);
    assert!(hand.controller.state().starts_with("probe_bw"), "{}", hand.controller.state());
}

#[test]
fn a_05_exiting_probe_up_on_bandwidth_plateau() {
    for (rate, round_trip) in PATHS {
        let mut path = undisturbed(Link::new(rate, round_trip, 4.0));
        path.until_state(60, "probe_bw_up");
        assert_eq!((path.gauge("pacing_gain"), path.gauge("cwnd_gain")), (1.25, 2.25));
        assert_eq!(path.gauge("full_bw_count"), 0.0);
        let rounds = path.gauge("round_count");
        path.until(60, |path| path.state() != "probe_bw_up");
        assert_eq!((path.state(), path.lost), ("probe_bw_down", 0), "{rate}");
        assert_eq!((path.gauge("full_bw_now"), path.gauge("full_bw_count")), (1.0, 3.0));
        assert!((3.0..=6.0).contains(&(path.gauge("round_count") - rounds)), "{rate}");
    }
}

/// The pseudocode (5.5.10.2) keeps inflight_longterm while the application limits the sender.
#[test]
fn a_06_exiting_probe_up_on_loss_when_application_limited() {
    let mut path = undisturbed(Link::new("50 Mbit/s", "50 ms", 4.0));
    path.until_state(60, "probe_bw_up");
    path.application = Application::Limited(mbit(10.0));
    path.run(Duration::from_millis(400));
    assert_eq!(path.state(), "probe_bw_up");
    let before = path.gauge("inflight_longterm_bytes");
    path.link.loss = 0.3;
    path.until(1, |path| path.state() != "probe_bw_up");
    assert_eq!(after(&path, "probe_bw_up")[1], "probe_bw_down");
    assert_eq!(path.gauge("inflight_longterm_bytes"), before);
}

/// Only the probe for the minimum RTT may interfere, after five seconds.
#[test]
fn a_07_never_exiting_probe_up_or_startup_when_application_limited_with_no_loss() {
    for (rate, round_trip) in [("10 Mbit/s", "40 ms"), ("100 Mbit/s", "10 ms")] {
        let mut path = undisturbed(Link::new(rate, round_trip, 4.0));
        let little = mbit(path.link.rate.as_mbit_per_sec() / 4.0);
        path.application = Application::Limited(little);
        path.run(Duration::from_secs(30));
        assert_eq!(after(&path, "startup"), ["startup"]);
        let mut path = undisturbed(Link::new(rate, round_trip, 4.0));
        path.until_state(60, "probe_bw_up");
        path.application = Application::Limited(little);
        path.run(Duration::from_secs(30));
        assert_eq!(after(&path, "probe_bw_up"), ["probe_bw_up"]);
        assert_eq!(path.lost, 0);
    }
}

#[test]
fn a_08_exiting_probe_down_on_inflight() {
    for (rate, round_trip) in PATHS {
        for products in [0.5, 4.0] {
            let mut path = Path::new("bbr3", &[], Link::new(rate, round_trip, products));
            path.until_state(60, "probe_bw_up");
            path.until_state(60, "probe_bw_down");
            assert_eq!(path.gauge("pacing_gain"), 0.9);
            path.until_state(60, "probe_bw_cruise");
            let longterm = path.gauge("inflight_longterm_bytes");
            let headroom = if longterm.is_finite() { (0.15 * longterm).max(PACKET as f64) } else { 0.0 };
            assert!(
                path.in_flight as f64 <= (longterm - headroom).max(4.0 * PACKET as f64) + 1.0,
                "{rate}, {products}"
            );
            let most = path.gauge("max_bw_mbps") * 1e3 / 8.0 * path.gauge("model_min_rtt_ms");
            assert!(path.in_flight as f64 <= most.max(inflight(&path)) + 1.0, "{rate}, {products}");
            assert_eq!(path.gauge("pacing_gain"), 1.0);
        }
    }
}

#[test]
fn a_09_exiting_probe_down_after_max_time() {
    let mut path = undisturbed(Link::new("20 Mbit/s", "200 ms", 4.0));
    path.until_state(60, "probe_bw_up");
    path.until_state(60, "probe_bw_down");
    let entered = path.now;
    path.set_rate(mbit(18.0));
    path.until(60, |path| path.state() != "probe_bw_down");
    let waited = path.now.since(entered);
    assert_eq!(path.state(), "probe_bw_refill");
    assert!(path.in_flight as f64 > inflight(&path));
    assert!(waited >= Duration::from_secs(2) && waited <= Duration::from_millis(3300), "{waited}");
}

#[test]
fn a_10_entering_and_exiting_probe_rtt() {
    for (rate, round_trip) in PATHS {
        let mut path = deep(rate, round_trip);
        path.until(60, |path| path.state().starts_with("probe_bw"));
        path.until_state(60, "probe_rtt");
        assert_eq!((path.gauge("cwnd_gain"), path.gauge("pacing_gain")), (0.5, 1.0));
        let entered = path.now;
        assert!(entered.as_secs_f64() > 5.0 && entered.as_secs_f64() < 6.5, "{rate}: {entered}");
        path.until(60, |path| path.state() != "probe_rtt");
        let held = path.now.since(entered);
        assert!(held >= path.link.round_trip.max(Duration::from_millis(200)), "{rate}: {held}");
        assert!(held <= Duration::from_millis(250) + path.link.round_trip * 5, "{rate}: {held}");
        assert_eq!(path.state(), "probe_bw_cruise", "{rate}");
        path.run(path.link.round_trip * 2);
        assert!(path.use_over(Duration::from_secs(1)) > 0.9, "{rate}");
    }
}

#[test]
fn a_11_skipping_probe_rtt_due_to_application_limited_sending() {
    let mut path = deep("10 Mbit/s", "40 ms");
    path.until_state(60, "probe_bw_cruise");
    path.application = Application::Silent;
    path.run(Duration::from_secs(6));
    assert_eq!(path.in_flight, 0);
    let (from, bandwidth) = (path.now, path.gauge("bw_mbps"));
    path.application = Application::Bulk;
    path.run(Duration::from_millis(1));
    assert_eq!(path.gauge("idle_restart"), 1.0);
    // 5.4.1: paced at the estimated bandwidth.
    assert!((path.pacing() / 1e6 / bandwidth - 0.99).abs() < 1e-3);
    path.run(Duration::from_secs(4));
    let visited: Vec<_> = path.states.iter().filter(|(at, _)| *at > from).collect();
    assert!(visited.iter().all(|(_, state)| *state != "probe_rtt"), "{visited:?}");
}

#[test]
fn a_12_achieving_expected_startup_bandwidth_on_a_link_with_aggregation() {
    let mut path = deep("20 Mbit/s", "20 ms");
    path.link.batch = Duration::from_millis(20);
    let mut most = (0u64, 0.0f64);
    path.until(60, |path| {
        most = (most.0.max(path.window()), most.1.max(path.gauge("extra_acked_bytes")));
        path.state() != "startup"
    });
    let batch = path.link.rate.bytes_in(path.link.batch).as_bytes() as f64;
    assert!(most.1 >= batch * 0.5, "{} bytes of aggregation", most.1);
    assert!(most.0 > 2 * path.link.product(), "a window of {}", most.0);
    let estimated = path.gauge("max_bw_mbps") / 20.0;
    assert!((0.95..1.3).contains(&estimated), "{estimated}");
}

#[test]
fn a_13_achieving_expected_cruise_bandwidth_on_a_link_with_aggregation() {
    let mut path = deep("20 Mbit/s", "20 ms");
    path.until_state(60, "probe_bw_cruise");
    let before = path.gauge("extra_acked_bytes");
    path.link.batch = Duration::from_millis(30);
    path.run(Duration::from_millis(400));
    let batch = path.link.rate.bytes_in(path.link.batch).as_bytes() as f64;
    let extra = path.gauge("extra_acked_bytes");
    assert!(extra > before && extra >= batch * 0.8 && extra <= batch * 2.0, "{extra} of {batch}");
    assert!(path.gauge("max_inflight_bytes") >= 2.0 * bdp(&path) * 0.99 + extra);
    assert!(path.use_over(Duration::from_secs(2)) > 0.95);
}

/// By default the minimum RTT is forgotten after ten seconds, and from then on the BDP is half of the four packets
/// that ProbeRTT leaves in flight; here it is remembered.
#[test]
fn a_14_correctly_managing_sub_packet_bdps() {
    for (rate, round_trip) in [("64 kbit/s", "1 ms"), ("256 kbit/s", "10 ms")] {
        let mut path = undisturbed(Link::new(rate, round_trip, 4.0));
        assert!(path.link.product() < PACKET);
        path.until_state(120, "probe_bw_cruise");
        assert_eq!(path.window(), 4 * PACKET, "{rate}");
        let estimated = path.gauge("bw_mbps") * 1e6;
        assert!((path.pacing() / estimated - 0.99).abs() < 1e-6);
        assert!((estimated / path.link.rate.as_bits_per_sec() as f64 - 1.0).abs() < 0.05, "{estimated}");
        let mut path = deep(rate, round_trip);
        path.until_state(120, "probe_bw_cruise");
        assert!(path.use_over(Duration::from_secs(20)) > 0.95, "{rate}");
        path.until_state(120, "probe_rtt");
        path.run(Duration::from_millis(10));
        assert_eq!(path.window(), 4 * PACKET, "{rate}");
    }
}

#[test]
fn a_15_increasing_bandwidth_10x_and_ensuring_full_bandwidth_is_reached() {
    let mut path = undisturbed(Link::new("10 Mbit/s", "40 ms", 0.5));
    // Until a probe has found the bound.
    path.until(60, |path| {
        path.state() == "probe_bw_cruise" && path.gauge("inflight_longterm_bytes").is_finite()
    });
    path.set_rate(mbit(100.0));
    path.link.buffer *= 10;
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let round = path.gauge("round_count");
    path.until(60, |path| {
        if path.state() == "probe_bw_up" {
            let here = (path.gauge("round_count"), path.gauge("inflight_longterm_bytes"));
            if steps.last().is_none_or(|last| last.0 != here.0) {
                steps.push(here);
            }
        }
        path.gauge("max_bw_mbps") > 98.0
    });
    let rounds = path.gauge("round_count") - round;
    assert!(rounds < 150.0, "{rounds} rounds");
    let grown: Vec<f64> = steps.windows(2).map(|pair| (pair[1].1 - pair[0].1) / PACKET as f64).collect();
    let doubled = grown.windows(2).filter(|pair| pair[0] >= 1.0 && pair[1] >= 1.7 * pair[0]).count();
    assert!(doubled >= 4, "{grown:?}");
    path.run(Duration::from_secs(1));
    assert!(path.use_over(Duration::from_secs(5)) > 0.9);
}

#[test]
fn a_16_decreasing_bandwidth_10x_and_ensuring_max_bandwidth_adapts_down() {
    let mut path = undisturbed(Link::new("100 Mbit/s", "40 ms", 1.0));
    path.until_state(60, "probe_bw_cruise");
    path.set_rate(mbit(10.0));
    path.link.buffer /= 10;
    let (from, probes) = (path.now, path.states.len());
    path.until(2, |path| path.gauge("bw_shortterm_mbps") < 50.0);
    assert!(path.lost > 0);
    path.until(30, |path| path.gauge("max_bw_mbps") < 11.0);
    let ups = path.states[probes..].iter().filter(|(_, state)| *state == "probe_bw_up").count();
    assert!((1..=3).contains(&ups), "{ups} probes, {}", path.now.since(from));
    path.run(Duration::from_secs(5));
    assert!(path.use_over(Duration::from_secs(5)) > 0.85);
    let estimated = path.gauge("max_bw_mbps");
    assert!((9.0..11.0).contains(&estimated), "{estimated}");
}

#[test]
fn a_17_handling_token_bucket_policers() {
    let mut path = deep("100 Mbit/s", "40 ms");
    path.link.policer = Some((mbit(10.0), 200_000));
    path.until(60, |path| path.state().starts_with("probe_bw"));
    path.until(60, |path| {
        path.gauge("bw_shortterm_mbps").is_finite() && path.gauge("inflight_shortterm_bytes").is_finite()
    });
    path.run(Duration::from_secs(10));
    let delivered = path.delivered();
    // Over five round trips, probes lose more than LossThresh, and the periods between them do not.
    let mut calm = 0;
    for _ in 0..100 {
        let (lost, sent) = (path.lost, path.next_number);
        path.run(Duration::from_millis(200));
        calm += u64::from((path.lost - lost) * 50 <= path.next_number - sent);
    }
    let rate = (path.delivered() - delivered) as f64 * 8.0 / 20.0 / 1e6;
    assert!((8.5..=10.1).contains(&rate), "{rate} Mbit/s");
    assert!(calm >= 75, "{calm} of 100 without excessive loss");
}

/// Packets of a probe arrive late and are declared lost; when they arrive, the state is restored.
#[test]
fn a_18_handling_spurious_fast_recovery() {
    let mut path = undisturbed(Link::new("50 Mbit/s", "40 ms", 4.0));
    path.until_state(60, "probe_bw_up");
    let next = path.next_number;
    path.link.late =
        Some((Rc::new(move |number| (next + 150..next + 190).contains(&number)), Duration::from_millis(10)));
    let seen = path.states.len() - 1;
    path.until(5, |path| path.lost > 0 && path.state() != "probe_bw_up");
    assert_eq!(path.state(), "probe_bw_down");
    assert!(path.gauge("inflight_longterm_bytes").is_finite());
    path.until(5, |path| path.spurious == 40 && path.state() == "probe_bw_up");
    let states: Vec<_> = path.states[seen..].iter().map(|(_, state)| *state).collect();
    assert_eq!(states, ["probe_bw_up", "probe_bw_down", "probe_bw_refill", "probe_bw_up"]);
    for bound in ["inflight_longterm_bytes", "inflight_shortterm_bytes", "bw_shortterm_mbps"] {
        assert_eq!(path.gauge(bound), f64::INFINITY, "{bound}");
    }
}

#[test]
fn a_19_handling_spurious_rto_recovery() {
    let mut path = undisturbed(Link::new("50 Mbit/s", "40 ms", 4.0));
    path.until_state(60, "probe_bw_up");
    let (window, seen) = (path.window(), path.states.len() - 1);
    path.lose_all();
    assert_eq!((path.state(), path.window()), ("probe_bw_down", 2 * PACKET));
    assert!(path.gauge("inflight_longterm_bytes").is_finite());
    let lost = path.lost;
    path.until(5, |path| path.spurious == lost);
    assert!(path.window() >= window, "{} of {window}", path.window());
    assert_eq!(path.gauge("inflight_longterm_bytes"), f64::INFINITY);
    path.until_state(5, "probe_bw_up");
    let states: Vec<_> = path.states[seen..].iter().map(|(_, state)| *state).collect();
    assert_eq!(states, ["probe_bw_up", "probe_bw_down", "probe_bw_refill", "probe_bw_up"]);
}

#[test]
fn a_20_entering_and_exiting_probe_rtt_during_startup() {
    let mut path = deep("10 Mbit/s", "40 ms");
    path.application = Application::Limited(mbit(3.0));
    path.run(Duration::from_secs(8));
    assert_eq!(after(&path, "startup"), ["startup", "probe_rtt", "startup"]);
    assert_eq!(path.gauge("full_bw_reached"), 0.0);
    path.application = Application::Bulk;
    path.until_state(10, "drain");
    assert!((path.gauge("max_bw_mbps") / 10.0 - 1.0).abs() < 0.02);
}

#[test]
fn a_21_handling_loss_during_probe_up_after_inflight_longterm_is_set() {
    let mut path = undisturbed(Link::new("50 Mbit/s", "40 ms", 0.5));
    path.until(60, |path| {
        path.state() == "probe_bw_cruise" && path.gauge("inflight_longterm_bytes").is_finite()
    });
    path.link.buffer *= 20;
    path.until_state(60, "probe_bw_up");
    let (longterm, target) = (path.gauge("inflight_longterm_bytes"), bdp(&path).min(path.window() as f64));
    path.link.loss = 0.2;
    path.until(1, |path| path.state() != "probe_bw_up");
    assert_eq!((path.state(), path.gauge("full_bw_now")), ("probe_bw_down", 0.0));
    let after = path.gauge("inflight_longterm_bytes");
    assert!(after < longterm && after >= 0.7 * target - PACKET as f64, "{after} of {longterm}, {target}");
}

#[test]
fn a_22_handling_application_limited_sending_during_probe_refill() {
    let mut path = undisturbed(Link::new("50 Mbit/s", "40 ms", 4.0));
    path.until_state(60, "probe_bw_refill");
    let before = path.gauge("max_bw_mbps");
    path.application = Application::Limited(mbit(2.0));
    path.until_state(5, "probe_bw_up");
    assert_eq!(path.gauge("max_bw_mbps"), before);
    path.run(Duration::from_millis(200));
    assert_eq!(path.gauge("max_bw_mbps"), before);
    path.application = Application::Bulk;
    path.until_state(5, "probe_bw_down");
    assert!((path.gauge("max_bw_mbps") / before - 1.0).abs() < 0.02);
    assert!(path.use_over(Duration::from_secs(3)) > 0.9);
}
