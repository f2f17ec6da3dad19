//! Several flows in both directions, routers between them, and the start and end of runs.

use crate::bed::{ONE_LINK, Run, assert_clean, examples, run, scenario};
use lab::Scenario;
use std::ops::ControlFlow;

/// Two hosts on either side of a bottleneck, with flows in both directions.
const DUMBBELL: &str = r#"
seed = 1
duration = "60 s"
[record]
packets = true
[[link]]
name = "west-a"
from = "left"
to = "a"
both = { rate = "100 Mbit/s", delay = "1 ms" }
[[link]]
name = "west-b"
from = "left"
to = "b"
both = { rate = "100 Mbit/s", delay = "1 ms" }
[[link]]
name = "middle"
from = "right"
to = "left"
both = { rate = "10 Mbit/s", delay = "10 ms", queue = "1 BDP" }
[[link]]
name = "east-c"
from = "c"
to = "right"
both = { rate = "100 Mbit/s", delay = "1 ms" }
[[link]]
name = "east-d"
from = "d"
to = "right"
both = { rate = "100 Mbit/s", delay = "1 ms" }
[[flow]]
name = "down"
client = "a"
server = "c"
application = { type = "bulk", size = "2 MB" }
[[flow]]
name = "up"
client = "a"
server = "d"
start = "500 ms"
application = { type = "bulk", size = "2 MB", direction = "upload" }
[[flow]]
name = "late"
client = "b"
server = "d"
start = "1 s"
application = { type = "bulk", size = "1 MB", streams = 10 }
[[flow]]
name = "reverse"
client = "c"
server = "b"
start = "1500 ms"
application = { type = "bulk", size = "300 kB" }
"#;

fn second(run: &Run, flow: &str, field: &str) -> f64 {
    run.connection(flow)[field].as_f64().unwrap_or_else(|| panic!("{flow} has no {field}"))
}

#[test]
fn flows_in_both_directions_share_a_bottleneck() {
    let run = run(&scenario(DUMBBELL, &[]));
    let mut last = 0.0_f64;
    for (flow, start, bytes, sender) in [
        ("down", 0.0, 2_000_000, "server"),
        ("up", 0.5, 2_000_000, "client"),
        ("late", 1.0, 1_000_000, "server"),
        ("reverse", 1.5, 300_000, "server"),
    ] {
        let connection = run.connection(flow);
        assert_clean(connection, flow);
        assert_eq!(connection["delivered_bytes"], bytes, "{flow}");
        assert_eq!(connection["sender"], sender, "{flow}");
        // A flow sends nothing before its start, and its times count from there.
        let started =
            run.rows("event", &[("connection", flow), ("side", "client"), ("event", "connection_started")]);
        assert_eq!(started.len(), 1, "{flow}");
        assert_eq!(started[0][0].parse::<f64>().unwrap(), start, "{flow}");
        let packets = run.numbers("packet", "time_s", &[("connection", flow)]);
        assert!(packets.iter().all(|at| *at >= start), "{flow}");
        // Two round trips of 24 ms before the first byte of a download, and one and a half before that of an upload.
        let least = if sender == "server" { 0.047 } else { 0.0355 };
        assert!(second(&run, flow, "first_byte_s") > least, "{flow}");
        let (completion, goodput) = (second(&run, flow, "completion_s"), second(&run, flow, "goodput_mbps"));
        assert!((goodput - f64::from(bytes) * 8e-6 / completion).abs() < 1e-4, "{flow}");
        last = last.max(start + completion);
    }
    // The run ends when the last connection does: an upload ends 12 ms after it is complete, with the last acknowledgement.
    let end = run.summary["duration_s"].as_f64().unwrap();
    assert!((end - last - 0.012).abs() < 1e-4, "{end} {last}");
    // Both directions of the bottleneck carried data, and its routers lost no packets.
    for (direction, bytes) in [("forward", 3.0e6), ("backward", 2.3e6)] {
        let link = run.link("middle", direction);
        assert!(link["delivered_bytes"].as_f64().unwrap() > bytes);
        assert!(link["utilisation"].as_f64().unwrap() <= 1.0);
    }
    let packets =
        |name: &str, direction: &str| run.link(name, direction)["delivered_packets"].as_u64().unwrap();
    let from_east = packets("east-c", "forward") + packets("east-d", "forward");
    let through =
        packets("middle", "forward") + run.link("middle", "forward")["drops"]["queue"].as_u64().unwrap();
    // Less than a window is still in flight at the end.
    assert!(from_east >= through && from_east - through < 100, "{from_east} {through}");
}

#[test]
fn losses_of_the_network_are_counted_for_each_flow() {
    let run = run(&scenario(DUMBBELL, &["flow.down.application.size=5 MB"]));
    let flows = ["down", "up", "late", "reverse"];
    let lost: u64 = flows.iter().map(|flow| run.connection(flow)["packets_lost"].as_u64().unwrap()).sum();
    let drops: u64 = run.summary["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| {
            ["queue", "loss", "mtu"].iter().map(|reason| link["drops"][reason].as_u64().unwrap()).sum::<u64>()
        })
        .sum();
    // Dropped acknowledgements count for the other ends.
    assert!(lost > 0 && lost <= drops, "{lost} {drops}");
    assert_eq!(run.table("drop").rows() as u64, drops);
    for flow in flows {
        let connection = run.connection(flow);
        let declared = connection["packets_declared_lost"].as_u64().unwrap();
        let spurious = connection["packets_spuriously_lost"].as_u64().unwrap();
        assert_eq!(declared - spurious, connection["packets_lost"].as_u64().unwrap(), "{flow}");
    }
}

#[test]
fn long_transfers_share_a_bottleneck_fairly() {
    let sets = [
        "flow.down.application=bulk",
        "flow.late.application=bulk",
        "flow.late.start=0 s",
        "flow.up.start=59 s",
        "flow.reverse.start=59 s",
    ];
    let run = run(&scenario(DUMBBELL, &sets));
    let [first, second] = ["down", "late"].map(|flow| second(&run, flow, "goodput_mbps"));
    // With equal round trips, the shares over a minute differ by less than a quarter, and the link is full.
    assert!((0.8..1.25).contains(&(first / second)), "{first} {second}");
    assert!(first + second > 9.3, "{first} {second}");
}

#[test]
fn the_duration_cuts_off_unfinished_flows() {
    let run = run(&scenario(ONE_LINK, &["flow.get.application.size=10 MB", "duration=2 s"]));
    let get = run.connection("get");
    assert_eq!(run.summary["duration_s"], 2.0);
    assert_eq!((&get["completed"], &get["completion_s"]), (&false.into(), &serde_json::Value::Null));
    assert_eq!((&get["close"], &get["clean"]), (&"open".into(), &true.into()));
    let delivered = get["delivered_bytes"].as_f64().unwrap();
    assert!(delivered > 1e6 && delivered < 2.4e6, "{delivered}");
    // The goodput of an unfinished flow counts to the end of the run.
    assert!((get["goodput_mbps"].as_f64().unwrap() - delivered * 4e-6).abs() < 1e-5);
    assert!(run.numbers("packet", "time_s", &[]).iter().all(|at| *at <= 2.0));
}

#[test]
fn a_run_waits_for_a_flow_that_starts_after_the_end_of_all_others() {
    let text = ONE_LINK.to_owned()
        + "[[flow]]\nname = \"later\"\nclient = \"client\"\nserver = \"server\"\nstart = \"20 s\"\n\
           application = { type = \"bulk\", size = \"1 kB\" }\n";
    let run = run(&scenario(&text, &[]));
    assert_eq!(run.connection("later")["completed"], true);
    let end = run.summary["duration_s"].as_f64().unwrap();
    assert!((20.08..20.1).contains(&end), "{end}");
    // The second flow does not affect the first. (Alone, the run ends when its client closes, while an acknowledgement of the
    // server is still on its way.)
    let alone = crate::bed::run(&scenario(ONE_LINK, &[]));
    for field in ["completion_s", "retransmitted_bytes", "packets_lost", "goodput_mbps", "cwnd_bytes"] {
        assert_eq!(alone.connection("get")[field], run.connection("get")[field], "{field}");
    }
}

#[test]
fn many_flows_between_two_hosts() {
    let mut text = ONE_LINK.to_owned();
    for flow in 0..40 {
        text += &format!(
            "[[flow]]\nname = \"n{flow}\"\nclient = \"{}\"\nserver = \"{}\"\nstart = \"{flow} ms\"\n\
             application = {{ type = \"bulk\", size = \"20 kB\", direction = \"{}\" }}\n",
            ["client", "server"][flow % 2],
            ["server", "client"][flow % 2],
            ["download", "upload"][flow / 2 % 2],
        );
    }
    let run = run(&scenario(&text, &["tls.protection=tls"]));
    for flow in 0..40 {
        let connection = run.connection(&format!("n{flow}"));
        assert_eq!(connection["completed"], true, "{connection}");
        assert_eq!(connection["delivered_bytes"], 20_000, "{connection}");
    }
}

#[test]
fn a_host_forwards_packets_of_others() {
    let text = r#"
duration = "20 s"
[[link]]
name = "one"
from = "a"
to = "b"
both = { rate = "10 Mbit/s", delay = "5 ms" }
[[link]]
name = "two"
from = "b"
to = "c"
both = { rate = "10 Mbit/s", delay = "5 ms" }
[[flow]]
name = "through"
client = "a"
server = "c"
application = { type = "bulk", size = "500 kB" }
[[flow]]
name = "to"
client = "a"
server = "b"
application = { type = "bulk", size = "500 kB" }
[[flow]]
name = "from"
client = "b"
server = "c"
application = { type = "bulk", size = "500 kB" }
"#;
    let run = run(&scenario(text, &[]));
    for flow in ["through", "to", "from"] {
        assert_eq!(run.connection(flow)["completed"], true, "{flow}");
    }
    assert!(second(&run, "through", "first_byte_s") > 0.04);
    assert!((0.02..0.03).contains(&second(&run, "to", "first_byte_s")));
}

#[test]
fn a_server_on_a_router_and_a_flow_to_itself_are_mistakes() {
    let nodes = "[[node]]\nname = \"client\"\n[[node]]\nname = \"server\"\nkind = \"router\"\n[[link]]";
    let text = ONE_LINK.replacen("[[link]]", nodes, 1);
    let path = examples().join("a.toml");
    let error = Scenario::parse(&text, &path, &[]).unwrap_err().to_string();
    assert!(error.contains("router") && error.lines().count() == 1, "{error}");
    let error =
        Scenario::parse(ONE_LINK, &path, &["flow.get.server=client".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("flow.get") && error.lines().count() == 1, "{error}");
}

#[test]
fn a_client_without_a_response_gives_up() {
    let run = run(&scenario(ONE_LINK, &["link.cell.forward.loss=100 %", "duration=300 s"]));
    let get = run.connection("get");
    assert_eq!((&get["completed"], &get["delivered_bytes"]), (&false.into(), &0.into()));
    assert!(get["close"].as_str().unwrap().contains("idle"), "{}", get["close"]);
    // The idle timeout of 30 s ends the only flow, and the run.
    let end = run.summary["duration_s"].as_f64().unwrap();
    assert!((30.0..31.0).contains(&end), "{end}");
}

#[test]
fn packets_fit_the_path() {
    // The default UDP payload of 1472 bytes would give IPv6 packets of 1520 bytes; a path may be as small as 1300.
    for (sets, payload) in [
        (&["flow.get.ip=6"][..], 1452.0),
        (&["link.cell.backward.mtu=1300"], 1272.0),
        (&["link.cell.forward.mtu=1300", "flow.get.ip=6"], 1252.0),
        (&["link.cell.both.mtu=9000"], 1472.0),
        (&["link.cell.both.mtu=9000", "flow.get.transport.max_udp_payload=8972"], 8972.0),
    ] {
        let run = run(&scenario(ONE_LINK, sets));
        assert_eq!(run.connection("get")["completed"], true, "{sets:?}");
        for direction in ["forward", "backward"] {
            assert_eq!(run.link("cell", direction)["drops"]["mtu"], 0, "{sets:?}");
        }
        let sent = run.numbers("packet", "length_bytes", &[("side", "server"), ("direction", "sent")]);
        assert_eq!(sent.iter().copied().fold(0.0, f64::max), payload, "{sets:?}");
    }
}

/// RFC 8899: path MTU discovery finds the largest packets of the path.
#[test]
fn endpoints_discover_the_path_mtu() {
    let sets = [
        "link.cell.both.mtu=1400",
        "flow.get.transport.mtu_discovery=true",
        "flow.get.application.size=2 MB",
    ];
    let run = run(&scenario(ONE_LINK, &sets));
    assert_eq!(run.connection("get")["completed"], true);
    let dropped = run.link("cell", "forward")["drops"]["mtu"].as_u64().unwrap();
    assert!((3..=30).contains(&dropped), "{dropped} probes");
    let sent = run.numbers("packet", "length_bytes", &[("side", "server"), ("direction", "sent")]);
    let fits = sent.iter().copied().filter(|length| *length <= 1372.0).fold(0.0, f64::max);
    assert!(fits > 1364.0, "{fits}");
    assert_eq!(sent.iter().filter(|length| **length > 1372.0).count() as u64, dropped);
}

/// RFC 9002 section 7.1: a queue that marks packets limits a sender without losses.
#[test]
fn a_queue_that_marks_loses_nothing() {
    let queue = "link.cell.forward.queue={ type = \"drop-tail\", limit = \"100 packets\", mark_above = \"25 packets\" }";
    let sets = [queue, "flow.get.application.size=4 MB", "flow.get.transport.ecn=true"];
    let marking = run(&scenario(ONE_LINK, &sets));
    let plain = run(&scenario(ONE_LINK, &[queue, "flow.get.application.size=4 MB"]));
    let drops = |run: &Run| run.link("cell", "forward")["drops"]["queue"].as_u64().unwrap();
    assert_eq!(drops(&marking), 0);
    assert!(drops(&plain) > 0);
    let longest = |run: &Run| run.numbers("queue", "packets", &[]).into_iter().fold(0.0, f64::max);
    assert!(longest(&marking) < longest(&plain), "{} {}", longest(&marking), longest(&plain));
    for run in [marking, plain] {
        assert_eq!(run.connection("get")["delivered_bytes"], 4_000_000);
    }
}

#[test]
fn a_path_too_small_for_quic_is_a_mistake() {
    for sets in [&["link.cell.forward.mtu=1227"][..], &["link.cell.backward.mtu=1247", "flow.get.ip=6"]] {
        let scenario = scenario(ONE_LINK, sets);
        let error =
            lab::run(&scenario, &lab::Options::default(), &mut |_| ControlFlow::Continue(())).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("flow get") && error.contains("MTU") && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn a_connection_survives_an_outage() {
    let rate = r#"link.cell.forward.rate={ type = "changes", steps = [["0 s", "10 Mbit/s"], ["200 ms", "0 bit/s"], ["3 s", "10 Mbit/s"]] }"#;
    let run = run(&scenario(ONE_LINK, &[rate, "flow.get.application.size=1 MB"]));
    let get = run.connection("get");
    assert_eq!((&get["completed"], &get["delivered_bytes"]), (&true.into(), &1_000_000.into()));
    assert!(second(&run, "get", "completion_s") > 3.0);
    assert!(get["probe_timeouts"].as_u64().unwrap() > 0);
}

#[test]
fn all_data_arrives_with_a_loss_of_one_packet_in_five() {
    for seed in 1..=100 {
        let sets = [
            format!("seed={seed}"),
            format!("tls.protection={}", ["null", "tls"][seed % 2]),
            format!("tls.certificate_chain={} kB", [1, 3, 10][seed % 3]),
            format!("flow.get.application.direction={}", ["download", "upload"][seed / 2 % 2]),
        ];
        let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        sets.extend(["link.cell.both.loss=20 %", "flow.get.application.size=30 kB", "duration=300 s"]);
        let run = run(&scenario(ONE_LINK, &sets));
        let get = run.connection("get");
        assert_eq!(
            (&get["completed"], &get["delivered_bytes"]),
            (&true.into(), &30_000.into()),
            "{seed}: {get}"
        );
    }
}

/// A limited send queue lets a sender send that much per round trip without losses, in both directions.
#[test]
fn a_send_queue_limits_the_bytes_of_a_round_trip() {
    let window = 30_000.0;
    for direction in ["download", "upload"] {
        for streams in [1, 3] {
            let sets = [
                "link.cell.both.rate=1 Gbit/s".to_owned(),
                "transport.send_queue=30 kB".to_owned(),
                "transport.initial_window=1000".to_owned(),
                format!(
                    "flow.get.application={{ type = \"bulk\", size = \"3 MB\", direction = \"{direction}\", streams = {streams} }}"
                ),
            ];
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let run = run(&scenario(ONE_LINK, &sets));
            let flow = run.connection("get");
            assert_eq!(flow["delivered_bytes"], 3_000_000, "{flow}");
            // A hundred round trips of 40 ms, and two for handshake and request.
            let rounds = flow["completion_s"].as_f64().unwrap() / 0.04;
            let least = 3e6 / window;
            assert!((least..least * 1.05 + 3.0).contains(&rounds), "{direction} {streams}: {rounds}");
        }
    }
}
