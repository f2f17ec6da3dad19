//! The response of both BBRs to CE (draft-ietf-ccwg-bbr-06 section 3.7, RFC 3168 section 5).

use crate::path::{Link, PACKET, Path};
use units::Duration;

fn marking(name: &str, products: f64) -> Path {
    let mut link = Link::new("50 Mbit/s", "40 ms", 8.0);
    link.mark_above = (link.product() as f64 * products) as u64;
    Path::new(name, &[("probe_rtt_interval", "60 s"), ("min_rtt_filter_len", "100 s")], link)
}

/// Marks end Startup as losses do, and set a bound on the bytes in flight.
#[test]
fn marks_end_the_startup_of_bbr3() {
    let mut path = marking("bbr3", 0.2);
    path.until(10, |path| path.state() != "startup");
    assert!(path.marked > 0 && path.lost == 0);
    assert!(path.gauge("full_bw_count") < 3.0, "before the rate has ceased to grow for three round trips");
    assert!(path.gauge("inflight_longterm_bytes").is_finite());
}

/// A probe ends at marks and keeps its bound; the queue stays near the marking threshold.
#[test]
fn marks_end_a_probe_of_bbr3_and_bound_the_queue() {
    let mut path = marking("bbr3", 0.1);
    path.until_state(20, "probe_bw_up");
    path.until(20, |path| path.state() != "probe_bw_up");
    assert!(path.gauge("inflight_longterm_bytes").is_finite());
    path.run(Duration::from_secs(2));
    let (mut most, from) = (0, path.marked);
    path.until(20, |path| {
        most = most.max(path.queue());
        path.now.as_secs_f64() > 20.0
    });
    assert!(path.marked > from && path.lost == 0);
    assert!(most < path.link.product() / 2, "{most} bytes where marks begin at {}", path.link.mark_above);
    assert!(path.use_over(Duration::from_secs(3)) > 0.85);
}

/// Marks while cruising lower the short-term bounds, as a loss does, until the next probe.
#[test]
fn marks_lower_the_short_term_bounds_of_bbr3() {
    let mut path = marking("bbr3", 8.0);
    path.until_state(20, "probe_bw_cruise");
    assert!(!path.gauge("inflight_shortterm_bytes").is_finite());
    path.link.mark_above = 0;
    path.run(Duration::from_millis(200));
    assert_eq!(path.state(), "probe_bw_cruise");
    assert!(path.marked > 0);
    assert!(
        path.gauge("inflight_shortterm_bytes").is_finite() && path.gauge("bw_shortterm_mbps").is_finite()
    );
}

/// BBRv1 responds to a mark as to a loss: the window follows deliveries for a round trip, and recovers.
#[test]
fn a_mark_is_a_loss_to_bbr1() {
    let mut link = Link::new("10 Mbit/s", "40 ms", 8.0);
    let product = link.product();
    link.mark_above = u64::MAX;
    let mut path = Path::new("bbr1", &[], link);
    path.until_state(20, "probe_bw");
    path.run(Duration::from_secs(1));
    let before = path.window();
    path.link.mark_above = 0;
    path.until(5, |path| path.marked > 0);
    path.link.mark_above = u64::MAX;
    assert!(path.window() < before - 10 * PACKET, "{} of {before}", path.window());
    path.run(Duration::from_millis(200));
    assert!(path.window() + 4 * PACKET >= before && before > 2 * product);
}
