//! What a transfer reaches when nothing is in its way but the headers.

use crate::bed::{ONE_LINK, run, scenario};
use units::Duration;

/// The numbers by hand, for 10 MB over 10 Mbit/s, 20 ms each way, drop-tail 1 BDP, MTU 1500:
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
/// 10 Mbit/s x 1440 / 1500 = 9.6 Mbit/s, and 10 MB take 8.333 s at least. BDP: 10 Mbit/s x 40 ms = 50 kB; with the
/// queue 100 kB, or 67 packets, are underway at most, and half of that after a loss: the link never runs dry.
const WIRE: f64 = 1500.0;
const HEADERS: f64 = (20 + 8) as f64 + (1 + 8 + 1) as f64 + (1 + 1 + 4) as f64 + 16.0;

#[test]
fn ten_megabytes_take_what_headers_allow() {
    let allowed = 10.0 * (WIRE - HEADERS) / WIRE;
    assert_eq!(allowed, 9.6);
    let scenario = scenario(ONE_LINK, &["flow.get.application.size=10 MB"]);
    let whole = run(&scenario);
    let download = whole.connection("get");
    assert_eq!((&download["completed"], &download["delivered_bytes"]), (&true.into(), &10_000_000.into()));

    // Slow start overshoots and ends before 0.4 s; a tenth of a second later all that it lost has come, and the next
    // loss is that of a window that has grown by a packet per round trip from half of 100 kB: more than 2 s later.
    let from = 1.0;
    let lost = whole.numbers("loss", "time_s", &[("side", "server")]);
    assert!(lost.iter().any(|at| *at < 0.5) && !lost.iter().any(|at| (0.7..1.5).contains(at)), "{lost:?}");

    // The same run, cut off there, says how much had come.
    let mut early = scenario.clone();
    early.duration = Duration::from_nanos((from * 1e9) as u64);
    let early = run(&early);
    let before = early.connection("get")["delivered_bytes"].as_f64().unwrap();
    let completion = download["completion_s"].as_f64().unwrap();
    let goodput = (10_000_000.0 - before) * 8e-6 / (completion - from);
    let share = goodput / allowed;
    assert!((0.99..=1.0).contains(&share), "{goodput} Mbit/s is {share} of {allowed}");

    // The same from the table of rates: the link is full but for the moments when the window is halved, to no more than
    // the 50 kB that fill it.
    let rates = whole.rows("rate", &[("kind", "delivered"), ("subject", "cell forward")]);
    let full = rates.iter().filter(|row| {
        let at: f64 = row[0].parse().unwrap();
        at > from && at + 0.2 < completion
    });
    let mbps: Vec<f64> = full.map(|row| row[3].parse().unwrap()).collect();
    let mean = mbps.iter().sum::<f64>() / mbps.len() as f64;
    assert!(mbps.len() > 70 && (9.95..=10.0).contains(&mean), "{mean} over {} bins", mbps.len());

    // And from the number of packets: 10 MB / 1440 bytes, and those that were sent again.
    let packets = download["data_packets_sent"].as_f64().unwrap();
    let again = download["retransmitted_bytes"].as_f64().unwrap();
    let least = ((10_000_000.0 + again) / (WIRE - HEADERS)).ceil();
    assert!(packets >= least && packets < least * 1.002, "{packets} packets, {least} at least");
    assert_eq!(download["packets_spuriously_lost"], 0);
    assert_eq!(download["packets_declared_lost"], download["packets_lost"]);
}

#[test]
fn every_way_of_protection_and_every_version_of_ip_takes_what_its_headers_allow() {
    // IPv6: 20 bytes more of header, and so 20 bytes less of UDP payload.
    for (sets, allowed) in [
        (&["tls.protection=tls"][..], 10.0 * 1440.0 / 1500.0),
        (&["flow.get.ip=6", "flow.get.transport.max_udp_payload=1452"], 10.0 * 1420.0 / 1500.0),
    ] {
        let sets: Vec<&str> = sets.iter().copied().chain(["flow.get.application.size=4 MB"]).collect();
        let run = run(&scenario(ONE_LINK, &sets));
        let download = run.connection("get");
        // All of it, slow start and handshake included: 4 MB less about 5 RTT of 40 ms.
        let goodput = download["goodput_mbps"].as_f64().unwrap();
        let steady = 4e6 * 8e-6 / (download["completion_s"].as_f64().unwrap() - 0.2);
        assert!(goodput < allowed && steady > allowed * 0.97, "{sets:?}: {goodput}, {steady}, {allowed}");
    }
}

/// Without congestion control on a link without limits, flow control lets one credit through in each round trip, however
/// early the receiver gives more: what was given then comes a part of a round trip earlier, and is less. Credit / RTT, for the
/// stream and for the whole connection (INET paper, section IV-C).
#[test]
fn flow_control_alone_lets_one_credit_through_in_a_round_trip() {
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
            // The handshake and the request take two round trips, and the last credit half of one.
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
