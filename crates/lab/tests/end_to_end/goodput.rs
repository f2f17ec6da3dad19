//! The goodput of transfers that only headers and windows limit.

use crate::bed::{ONE_LINK, run, scenario};
use units::Duration;

/// The computation for 10 MB over 10 Mbit/s, 20 ms each way, drop-tail 1 BDP, MTU 1500:
///
/// ```text
///   1500  bytes on the wire per full packet
/// -   20  IPv4 header
/// -    8  UDP header
/// = 1472  UDP payload
/// -    1  first byte of the short header
/// -    8  destination connection id
/// -    1  packet number (less than 128 packets are in flight)
/// -    1  type of the STREAM frame (with offset, without length: it ends the packet)
/// -    1  stream id
/// -    4  offset (from 16,384 to 2^30 - 1)
/// -   16  tag of the AEAD
/// = 1440  bytes of the stream
/// ```
///
/// 10 Mbit/s x 1440 / 1500 = 9.6 Mbit/s, and 10 MB take at least 8.333 s. BDP: 10 Mbit/s x 40 ms = 50 kB. With the queue, at
/// most 100 kB, or 67 packets, are in flight, and half of that after a loss, so that the link is always busy.
const WIRE: f64 = 1500.0;
const HEADERS: f64 = (20 + 8) as f64 + (1 + 8 + 1) as f64 + (1 + 1 + 4) as f64 + 16.0;

#[test]
fn headers_limit_the_goodput() {
    let allowed = 10.0 * (WIRE - HEADERS) / WIRE;
    assert_eq!(allowed, 9.6);
    let scenario = scenario(ONE_LINK, &["flow.get.application.size=10 MB"]);
    let whole = run(&scenario);
    let download = whole.connection("get");
    assert_eq!((&download["completed"], &download["delivered_bytes"]), (&true.into(), &10_000_000.into()));

    // Slow start overshoots and ends before 0.4 s. A tenth of a second later its losses are repaired. The window grows by a
    // packet per round trip from half of 100 kB, so that the next loss is more than 2 s later.
    let from = 1.0;
    let lost = whole.numbers("loss", "time_s", &[("side", "server")]);
    assert!(lost.iter().any(|at| *at < 0.5) && !lost.iter().any(|at| (0.7..1.5).contains(at)), "{lost:?}");

    // The same run until then has the number of bytes before.
    let mut early = scenario.clone();
    early.duration = Duration::from_nanos((from * 1e9) as u64);
    let early = run(&early);
    let before = early.connection("get")["delivered_bytes"].as_f64().unwrap();
    let completion = download["completion_s"].as_f64().unwrap();
    let goodput = (10_000_000.0 - before) * 8e-6 / (completion - from);
    let share = goodput / allowed;
    assert!((0.99..=1.0).contains(&share), "{goodput} Mbit/s is {share} of {allowed}");

    // The same from the table of rates: the link is full, except shortly after the window is halved to the 50 kB that just
    // fill it.
    let rates = whole.rows("rate", &[("kind", "delivered"), ("subject", "cell forward")]);
    let full = rates.iter().filter(|row| {
        let at: f64 = row[0].parse().unwrap();
        at > from && at + 0.2 < completion
    });
    let mbps: Vec<f64> = full.map(|row| row[3].parse().unwrap()).collect();
    let mean = mbps.iter().sum::<f64>() / mbps.len() as f64;
    assert!(mbps.len() > 70 && (9.95..=10.0).contains(&mean), "{mean} over {} bins", mbps.len());

    // And from the number of packets: 10 MB / 1440 bytes, and retransmissions.
    let packets = download["data_packets_sent"].as_f64().unwrap();
    let again = download["retransmitted_bytes"].as_f64().unwrap();
    let least = ((10_000_000.0 + again) / (WIRE - HEADERS)).ceil();
    assert!(packets >= least && packets < least * 1.002, "{packets} packets, {least} at least");
    assert_eq!(download["packets_spuriously_lost"], 0);
    assert_eq!(download["packets_declared_lost"], download["packets_lost"]);
}

#[test]
fn headers_limit_the_goodput_of_both_protections_and_ip_versions() {
    // IPv6 has 20 more bytes of headers, and so 20 fewer of UDP payload.
    for (sets, allowed) in [
        (&["tls.protection=tls"][..], 10.0 * 1440.0 / 1500.0),
        (&["flow.get.ip=6", "flow.get.transport.max_udp_payload=1452"], 10.0 * 1420.0 / 1500.0),
    ] {
        let sets: Vec<&str> = sets.iter().copied().chain(["flow.get.application.size=4 MB"]).collect();
        let run = run(&scenario(ONE_LINK, &sets));
        let download = run.connection("get");
        // The whole transfer, and without 5 RTT of 40 ms for handshake and slow start.
        let goodput = download["goodput_mbps"].as_f64().unwrap();
        let steady = 4e6 * 8e-6 / (download["completion_s"].as_f64().unwrap() - 0.2);
        assert!(goodput < allowed && steady > allowed * 0.97, "{sets:?}: {goodput}, {steady}, {allowed}");
    }
}

/// Without congestion control on an unlimited link, flow control gives a rate of credit / RTT, for a stream and for the whole
/// connection (INET paper, section IV-C). The threshold does not matter: earlier updates are smaller.
#[test]
fn flow_control_limits_the_bytes_of_a_round_trip() {
    for (credit, which) in [(65_000.0, "initial_max_stream_data_bidi_local"), (140_000.0, "initial_max_data")]
    {
        for (rtt_ms, threshold) in [(2, "0.5"), (20, "0.5"), (20, "0.9"), (60, "0.25"), (60, "0")] {
            let sets = [
                "link.cell.both.rate=unlimited".to_owned(),
                format!("link.cell.both.delay={} ms", rtt_ms / 2),
                "flow.get.transport.controller=none".to_owned(),
                format!("flow.get.transport.{which}={credit} B"),
                format!("flow.get.transport.credit_threshold={threshold}"),
                "flow.get.application.size=5 MB".to_owned(),
                "duration=8 s".to_owned(),
            ];
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let run = run(&scenario(ONE_LINK, &sets));
            let get = run.connection("get");
            assert_eq!((&get["completed"], &get["packets_lost"]), (&true.into(), &0.into()));
            let seconds = get["completion_s"].as_f64().unwrap();
            // Handshake and request take two round trips, and the last credit half of one.
            let rtt = f64::from(rtt_ms) / 1000.0;
            let rounds = (seconds - 2.0 * rtt) / rtt;
            let expected = 5_000_000.0 / credit;
            assert!(
                (rounds / expected - 1.0).abs() < 0.03,
                "{which} {rtt_ms} ms {threshold}: {rounds} {expected}"
            );
        }
    }
}
