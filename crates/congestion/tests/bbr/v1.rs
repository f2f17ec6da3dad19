//! BBRv1 over a path: its states, its gains, and the queue.

use crate::path::{self, Application, Link, Path};
use units::{Duration, Rate};

fn path(rate: &str, round_trip: &str) -> Path {
    Path::new("bbr1", &[], Link::new(rate, round_trip, 4.0))
}

/// Draft-cardwell section 4.3.2: after three rounds with less than a quarter of growth, the queue is drained, and
/// then the cycle begins.
#[test]
fn startup_fills_the_pipe_and_drain_empties_the_queue() {
    for (rate, round_trip) in [("4 Mbit/s", "180 ms"), ("100 Mbit/s", "20 ms"), ("1 Mbit/s", "10 ms")] {
        let mut path = path(rate, round_trip);
        let bits = path.link.rate.as_bits_per_sec() as f64;
        assert!((path.gauge("pacing_gain") - 2.885).abs() < 1e-3);
        path.until_state(20, "drain");
        assert!((path.gauge("max_bw_mbps") * 1e6 / bits - 1.0).abs() < 0.02, "{rate}");
        assert!((path.gauge("pacing_gain") - 0.3466).abs() < 1e-3);
        let queue = path.queue();
        path.until_state(20, "probe_bw");
        // Three send quanta.
        let slack = 3 * (bits / 8000.0).max(2400.0) as u64;
        assert!(path.in_flight <= path.link.product() + path.link.product() / 50 + slack, "{rate}");
        assert!(path.queue() < queue, "{rate}");
        assert_eq!(path.gauge("cwnd_gain"), 2.0);
    }
}

/// Section 4.3.4: eight phases of a round trip each, one with a higher and one with a lower gain, never beginning
/// with the lower one.
#[test]
fn the_cycle_has_one_phase_above_and_one_below() {
    let mut path = path("10 Mbit/s", "50 ms");
    path.until_state(20, "probe_bw");
    assert_ne!(path.gauge("pacing_gain"), 0.75);
    let mut gains = vec![path.gauge("pacing_gain")];
    path.until(3, |path| {
        let gain = path.gauge("pacing_gain");
        if gains.last() != Some(&gain) {
            gains.push(gain);
        }
        gains.len() == 10
    });
    let from = gains.iter().position(|gain| *gain == 1.25).unwrap();
    for (i, gain) in gains[from..].iter().enumerate() {
        assert_eq!(*gain, [1.25, 0.75, 1.0][i % 3], "{gains:?}");
    }
    assert!(path.use_over(Duration::from_secs(2)) > 0.97);
}

/// The first phase is random: another seed, another phase.
#[test]
fn the_first_phase_is_drawn() {
    use congestion::Setup;
    let row = congestion::CONTROLLERS.iter().find(|row| row.name == "bbr1").unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let mut path = path("10 Mbit/s", "50 ms");
        path.controller = (row.build)(
            &congestion::fuzz::arguments(row.parameters, &[]),
            Setup {
                max_datagram_size: path::PACKET,
                initial_window: 10 * path::PACKET,
                initial_packets: Some(10),
                initial_rtt: Duration::from_millis(333),
                seed,
            },
        );
        path.until_state(20, "probe_bw");
        let entered = path.now;
        path.until(3, |path| path.gauge("pacing_gain") == 1.25);
        // Phases before the higher gain, in steps of a tenth of a round trip.
        seen.insert(path.now.since(entered).as_millis() / 40);
    }
    assert!(seen.len() >= 4, "{seen:?}");
}

/// Section 4.3.5: after ten seconds without a lower RTT, four packets for 200 ms and a round trip.
#[test]
fn probe_rtt_comes_every_ten_seconds_and_leaves_four_packets() {
    let mut path = path("4 Mbit/s", "180 ms");
    path.until_state(20, "probe_rtt");
    let entered = path.now;
    path.until(2, |path| path.in_flight <= 4 * path::PACKET);
    assert_eq!(path.window(), 4 * path::PACKET);
    let low = path.now;
    path.until_state(2, "probe_bw");
    let (held, all) = (path.now.since(low), path.now.since(entered));
    assert!(held >= Duration::from_millis(200) && all < Duration::from_millis(1000), "{held:?} {all:?}");
    // The RTT seen without a queue, plus the transmission of a packet.
    let min_rtt = path.gauge("model_min_rtt_ms");
    assert!((180.0..184.0).contains(&min_rtt), "{min_rtt}");
    path.until_state(20, "probe_rtt");
    let apart = path.now.since(entered).as_secs_f64();
    assert!((9.9..12.0).contains(&apart), "{apart}");
}

/// Section 4.2.3.4: loss changes the window for a round trip, but not the model. At 3 % of the first path a packet is lost in each
/// round trip, at 5 and 10 % of the last one 40 and 80: each prolongs the recovery, and none begins packet conservation again.
#[test]
fn random_loss_does_not_slow_it_down() {
    for (rate, round_trip, loss) in [
        ("10 Mbit/s", "40 ms", 0.03),
        ("40 Mbit/s", "100 ms", 0.03),
        ("100 Mbit/s", "100 ms", 0.05),
        ("100 Mbit/s", "100 ms", 0.1),
    ] {
        let mut path = path(rate, round_trip);
        path.until_state(20, "probe_bw");
        path.link.loss = loss;
        let used = path.use_over(Duration::from_secs(8)) / (1.0 - loss);
        assert!(used > 0.9, "{rate}, {round_trip}, {loss}: {used}");
        assert!(path.lost > 100);
    }
}

/// Sections 4.3.4.4, 4.1.2.4: samples of an application with little data do not lower the estimate.
#[test]
fn an_application_that_has_little_to_send_does_not_lower_the_estimate() {
    let mut path = path("10 Mbit/s", "40 ms");
    path.until_state(20, "probe_bw");
    path.run(Duration::from_secs(1));
    let before = path.gauge("max_bw_mbps");
    path.application = Application::Limited(Rate::from_bits_per_sec(500_000));
    path.run(Duration::from_secs(8));
    assert!(path.gauge("max_bw_mbps") >= before * 0.98, "{}", path.gauge("max_bw_mbps"));
    path.application = Application::Bulk;
    assert!(path.use_over(Duration::from_secs(1)) > 0.9);
}

/// The filter spans ten round trips: then a lower rate is known, and the queue drains.
#[test]
fn a_fall_of_the_rate_is_known_ten_round_trips_later() {
    let mut path = path("4 Mbit/s", "100 ms");
    path.until_state(20, "probe_bw");
    path.run(Duration::from_secs(2));
    path.set_rate(Rate::from_bits_per_sec(2_000_000));
    let round = path.gauge("round_count");
    path.until(20, |path| path.gauge("max_bw_mbps") < 2.1);
    let rounds = path.gauge("round_count") - round;
    assert!((9.0..=14.0).contains(&rounds), "{rounds}");
}

/// Packet conservation lasts a round trip; then the window recovers.
#[test]
fn the_window_is_what_it_was_after_a_recovery() {
    let mut path = path("10 Mbit/s", "40 ms");
    path.until_state(20, "probe_bw");
    path.run(Duration::from_secs(1));
    let before = path.window();
    path.lose_all();
    assert_eq!(path.window(), 2 * path::PACKET);
    path.run(Duration::from_millis(400));
    assert!(path.window() * 10 >= before * 9, "{} of {before}", path.window());
}

/// Section 4.3.2.2: application-limited rounds do not indicate a full pipe.
#[test]
fn an_application_with_little_to_send_stays_in_startup() {
    let mut path = path("10 Mbit/s", "40 ms");
    path.application = Application::Limited(Rate::from_bits_per_sec(2_000_000));
    path.run(Duration::from_secs(9));
    assert_eq!(path.state(), "startup");
}

/// Section 4.3.4.2: the phase with the higher gain ends when the pipe holds its target, the one with the lower gain
/// when the queue is empty, or after a round trip.
#[test]
fn the_phases_above_and_below_end_by_what_is_in_flight() {
    for pause in [false, true] {
        let mut path = path("4 Mbit/s", "100 ms");
        path.until_state(20, "probe_bw");
        path.until(5, |path| path.gauge("pacing_gain") == 1.25);
        path.until(5, |path| path.gauge("pacing_gain") == 0.75);
        assert!(path.in_flight as f64 >= 1.2 * path.link.product() as f64, "{}", path.in_flight);
        let from = path.now;
        if pause {
            path.application = Application::Silent;
        }
        path.until(5, |path| path.gauge("pacing_gain") == 1.0);
        let lasted = path.now.since(from).as_millis();
        let expected = if pause { 10..60 } else { 95..110 };
        assert!(expected.contains(&lasted), "{lasted} ms, pause: {pause}");
        assert!(path.in_flight as f64 <= 1.2 * path.link.product() as f64, "{}", path.in_flight);
    }
}

/// Section 4.3.5: samples of PROBE_RTT do not count, even if it outlasts the filter on a short path.
#[test]
fn probe_rtt_does_not_lower_the_estimate() {
    let mut path = path("10 Mbit/s", "10 ms");
    path.until_state(20, "probe_rtt");
    path.until_state(2, "probe_bw");
    assert!(path.gauge("max_bw_mbps") > 9.5, "{}", path.gauge("max_bw_mbps"));
}

/// Section 4.3.4.4: a pause can replace PROBE_RTT.
#[test]
fn a_pause_takes_the_place_of_probe_rtt() {
    let mut path = path("10 Mbit/s", "40 ms");
    path.until_state(20, "probe_bw");
    path.application = Application::Silent;
    path.run(Duration::from_secs(12));
    let from = path.now;
    path.application = Application::Bulk;
    path.run(Duration::from_secs(5));
    assert!(path.states.iter().all(|(at, state)| *at < from || *state != "probe_rtt"), "{:?}", path.states);
}

/// Section 4.3.4.2: the phase with the higher gain continues while the pipe is below its target, here for lack of
/// data.
#[test]
fn the_phase_above_lasts_until_the_pipe_is_probed() {
    let mut path = path("4 Mbit/s", "100 ms");
    path.until_state(20, "probe_bw");
    path.until(5, |path| path.gauge("pacing_gain") == 1.25);
    path.application = Application::Limited(Rate::from_bits_per_sec(3_500_000));
    path.run(Duration::from_millis(500));
    assert_eq!(path.gauge("pacing_gain"), 1.25);
    path.application = Application::Bulk;
    path.run(Duration::from_millis(250));
    assert!(path.gauge("pacing_gain") < 1.25);
}

/// Section 4.2.3.4: the end of the recovery restores the window at once.
#[test]
fn the_window_comes_back_with_the_end_of_the_recovery() {
    let mut path = path("10 Mbit/s", "40 ms");
    path.until_state(20, "probe_bw");
    path.run(Duration::from_secs(1));
    let (before, next) = (path.window(), path.next_number + 5);
    path.link.dropped = Some(std::rc::Rc::new(move |number| number == next));
    path.until(5, |path| path.lost == 1);
    assert!(path.window() < before - 10 * path::PACKET, "{} of {before}", path.window());
    path.run(Duration::from_millis(55));
    assert!(path.window() + 4 * path::PACKET >= before, "{} of {before}", path.window());
}
