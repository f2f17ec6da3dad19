//! Proxies that split TCP connections.

use crate::bed::{LINKS, Run, assert_clean, assert_equal, run, run_into, scenario};
use crate::captures::tshark;
use crate::laws::Author;
use lab::Scenario;
use std::path::Path;

/// A client and a server on both ends of a satellite link, with a node at each end of that link.
const SATELLITE: &str = r#"
seed = 5
duration = "60 s"
[record]
tables = ["connection", "loss", "event", "gauge", "stream", "queue", "drop", "node"]
packets = true
[tcp]
controller = "cubic"
[[node]]
name = "client"
[[node]]
name = "terminal"
[[node]]
name = "gateway"
[[node]]
name = "server"
[[link]]
name = "home"
from = "terminal"
to = "client"
both = { rate = "100 Mbit/s", delay = "1 ms" }
[[link]]
name = "cell"
from = "gateway"
to = "terminal"
both = { delay = "300 ms", queue = "1 BDP" }
forward = { rate = "50 Mbit/s" }
backward = { rate = "10 Mbit/s" }
[[link]]
name = "internet"
from = "server"
to = "gateway"
both = { rate = "1 Gbit/s", delay = "10 ms" }
[[flow]]
name = "get"
client = "client"
server = "server"
protocol = "tcp"
application = { type = "bulk", size = "500 kB" }
"#;

/// A flow that keeps the run going when the transfer is complete, until the proxies have closed their connections.
const LATER: &str = r#"
[[flow]]
name = "later"
client = "client"
server = "server"
start = "30 s"
application = { type = "bulk", size = "1 kB" }
"#;

/// A proxy on the client's side of the satellite, and one on the server's.
const PAIR: [&str; 2] = ["node.terminal.kind=pep", "node.gateway.kind=pep"];

/// A run with a pair of proxies and these changes.
fn pair(sets: &[&str]) -> Run {
    run(&with_pair(sets))
}
fn with_pair(sets: &[&str]) -> Scenario {
    scenario(&format!("{SATELLITE}{LATER}"), &[&PAIR, sets].concat())
}
/// The bytes that arrived at the end of a flow that receives, without requests.
fn received(run: &Run, direction: &str) -> f64 {
    let side = if direction.ends_with("upload") { "server" } else { "client" };
    run.numbers("stream", "received_bytes", &[("connection", "get"), ("side", side)]).iter().sum()
}
fn number(run: &Run, node: &str, counter: &str) -> u64 {
    run.node(node)[counter].as_u64().unwrap_or_else(|| panic!("{counter} in {}", run.node(node)))
}
fn completion(run: &Run) -> f64 {
    run.connection("get")["completion_s"].as_f64().unwrap_or_else(|| panic!("{}", run.connection("get")))
}

/// 500 kB, which are 346 segments of 1448 bytes, over a round trip of 622 ms. Without proxies the request arrives after
/// 1.5 of them, and the answer takes six flights, of 10, 20, 40, 80 and 160 segments and the rest: the last one arrives 5.5
/// round trips after the request. With a pair the request arrives at 601 + 310 ms, and the answer passes the gateway 10 ms later. 300 segments
/// leave it at once, the rest when the first are acknowledged, 600 ms later, or at once too where the window has room.
#[test]
fn a_download_over_a_satellite_takes_fewer_round_trips_with_a_pair() {
    let wide = ["terminal", "gateway"]
        .map(|node| format!("node.{node}.kind={{ type = \"pep\", initial_window = 400 }}"));
    let runs = [
        run(&scenario(SATELLITE, &[])),
        run(&scenario(SATELLITE, &PAIR)),
        run(&scenario(SATELLITE, &wide.each_ref().map(String::as_str))),
    ];
    for run in &runs {
        assert_clean(run.connection("get"), "get");
        assert_eq!(run.connection("get")["delivered_bytes"], 500_000);
    }
    let [without, with, wide] = runs.each_ref().map(completion);
    // At 50 Mbit/s 346 segments take 83 ms, and at the server slow start takes five rounds of 20 ms.
    assert!((7.0 * 0.622..7.5 * 0.622).contains(&without), "{without}");
    assert!((0.921 + 0.6 + 0.301..0.921 + 0.6 + 0.301 + 0.05).contains(&with), "{with}");
    assert!((0.921 + 0.083 + 0.301..0.921 + 0.1 + 0.083 + 0.301).contains(&wide), "{wide}");
}

#[test]
fn each_proxy_relays_the_bytes_of_the_stream() {
    for (direction, counter) in [("download", "downward_bytes"), ("upload", "upward_bytes")] {
        for tls in ["none", "tls1.3"] {
            let direction = format!("flow.get.application.direction={direction}");
            let run = pair(&[&direction, &format!("tcp.tls={tls}")]);
            assert_clean(run.connection("get"), &direction);
            assert_eq!(run.connection("get")["delivered_bytes"], 500_000);
            for node in ["terminal", "gateway"] {
                assert_eq!(number(&run, node, "split_connections"), 1);
                let relayed = number(&run, node, counter);
                assert_eq!(relayed as f64, received(&run, &direction), "what arrives is what was relayed");
                // Records add 22 bytes to 16,384, and the handshake a few kB.
                let records = if tls == "none" { 0 } else { 500_000 / 16_384 * 22 };
                let most = if tls == "none" { 0 } else { 6_000 };
                assert!((500_000 + records..=500_000 + records + most).contains(&relayed), "{relayed}");
            }
        }
    }
}

/// TLS remains between client and server: its exchange takes a round trip over all three connections.
#[test]
fn tls_takes_its_round_trip_through_the_proxies() {
    let [plain, tls] = ["none", "tls1.3"].map(|tls| completion(&pair(&[&format!("tcp.tls={tls}")])));
    assert!((0.6..0.75).contains(&(tls - plain)), "{plain} {tls}");
}

#[test]
fn all_data_arrives_over_every_link_in_both_directions() {
    for (kind, sets) in LINKS {
        for direction in ["download", "upload"] {
            let direction = format!("flow.get.application.direction={direction}");
            let sets: Vec<&str> = sets
                .iter()
                .copied()
                .chain([direction.as_str(), "flow.get.application.streams=3", "link.cell.both.delay=30 ms"])
                .collect();
            let run = pair(&sets);
            assert_eq!(run.connection("get")["delivered_bytes"], 500_000, "{kind} {direction}");
            assert_eq!(run.connection("get")["completed"], true, "{kind} {direction}");
            assert_eq!(number(&run, "terminal", "split_connections"), 3, "{kind} {direction}");
        }
    }
}

/// Options of all kinds but those that end a connection which is only slow. A tail of losses may take a minute.
#[test]
fn all_data_arrives_and_nothing_remains_with_any_options() {
    let rooms = lab::rooms();
    let boxes = rooms.iter().find(|room| room.name == "middleboxes").unwrap();
    let row = boxes.rows.iter().find(|row| row.name == "pep").unwrap();
    let left_out =
        ["retries", "syn_retries", "initial_rto", "min_rto", "max_rto", "client", "server", "controller"];
    let options = row.parameters.iter().filter(|option| !left_out.contains(&option.name)).copied();
    let options: Vec<_> = options.collect();
    for seed in 0..16 {
        let mut author = Author::new(seed);
        let mut kind = |node| format!("node.{node}.kind={}", author.component(row.name, &options));
        let kinds = [kind("terminal"), kind("gateway")];
        let direction = ["download", "upload"][seed as usize % 2];
        let run = run(&scenario(
            &format!("{SATELLITE}{LATER}"),
            &[
                &kinds[0],
                &kinds[1],
                "duration=200 s",
                "flow.later.start=190 s",
                "link.cell.both.delay=30 ms",
                "link.cell.both.loss=2 %",
                "flow.get.application.streams=4",
                &format!("flow.get.application.direction={direction}"),
            ],
        ));
        assert_clean(run.connection("get"), &kinds.join(" "));
        // Each of the four connections has a quarter.
        assert_eq!(received(&run, direction), 125_000.0, "{kinds:?}");
        for node in ["terminal", "gateway"] {
            assert_eq!(number(&run, node, "remaining_connections"), 0, "{kinds:?}");
        }
    }
}

/// A fast first link and a slow second one: the sender is held back by the window of the proxy.
#[test]
fn buffers_have_their_limits() {
    for (direction, node) in [("download", "gateway"), ("upload", "terminal")] {
        let buffers = "receive_buffer = \"40 kB\", max_receive_buffer = \"40 kB\", send_buffer = \"30 kB\"";
        let run = run(&scenario(
            &format!("{SATELLITE}{LATER}"),
            &[
                &format!("node.{node}.kind={{ type = \"pep\", {buffers} }}"),
                "link.cell.forward.rate=2 Mbit/s",
                "link.cell.backward.rate=2 Mbit/s",
                "link.cell.both.delay=10 ms",
                &format!("flow.get.application.direction={direction}"),
            ],
        ));
        assert_clean(run.connection("get"), direction);
        let most = number(&run, node, "buffered_max_bytes");
        // The window is a multiple of its unit, and its last segment may be taken as a whole.
        assert!((65_000..=70_000 + 1460).contains(&most), "{direction}: {most}");
        let gauges = run.numbers("node", "value", &[("node", node), ("gauge", "buffered_bytes")]);
        assert_eq!(gauges.iter().copied().fold(0.0, f64::max), most as f64);
        assert_eq!(*gauges.last().unwrap(), 0.0);
    }
}

/// A transfer in one direction whose other direction has ended long before.
#[test]
fn a_half_close_is_handed_through() {
    let run = pair(&["flow.get.application.direction=upload", "link.cell.both.rate=1 Mbit/s"]);
    assert_clean(run.connection("get"), "get");
    let states = |name: &str, side: &str| -> Vec<String> {
        let rows = run.rows("event", &[("connection", name), ("side", side), ("event", "connection_state")]);
        rows.into_iter().map(|row| row[4].clone()).collect()
    };
    // The client ends its data first, and so does every connection in its direction.
    for (name, side) in [("get", "client"), ("get at terminal", "client"), ("get at gateway", "client")] {
        let states = states(name, side);
        assert!(states.contains(&"fin_wait_1".to_owned()), "{name}: {states:?}");
    }
    for (name, side) in [("get at terminal", "server"), ("get at gateway", "server"), ("get", "server")] {
        let states = states(name, side);
        assert!(states.contains(&"close_wait".to_owned()), "{name}: {states:?}");
    }
}

/// The flow is stopped, and its client resets the connection in the middle of the transfer.
#[test]
fn a_reset_is_handed_through() {
    let run = pair(&["flow.get.application.size=50 MB", "flow.get.stop=5 s"]);
    let ends = run.rows("event", &[("event", "connection_closed"), ("connection", "get")]);
    assert_eq!(ends.len(), 2, "{ends:?}");
    assert!(ends.iter().any(|row| row.iter().any(|cell| cell.contains("reset by the peer"))), "{ends:?}");
    for node in ["terminal", "gateway"] {
        assert_eq!(
            (number(&run, node, "reset_connections"), number(&run, node, "remaining_connections")),
            (1, 0)
        );
    }
}

/// QUIC packets pass a proxy as they pass a router.
#[test]
fn quic_is_untouched() {
    let quic = ["flow.get.protocol=quic", "link.cell.both.loss=1 %"];
    let [with, without] = [&PAIR[..], &[]].map(|pair| run(&scenario(SATELLITE, &[pair, &quic].concat())));
    for table in ["connection", "loss", "event", "packet", "stream"] {
        assert!(with.rows(table, &[]) == without.rows(table, &[]), "{table}");
    }
    assert_eq!(with.connection("get"), without.connection("get"));
    for node in ["terminal", "gateway"] {
        assert_eq!((number(&with, node, "taken_packets"), number(&with, node, "sent_packets")), (0, 0));
        assert!(number(&with, node, "passed_packets") > 300);
    }
}

/// A proxy that may split no connection is a router.
#[test]
fn connections_beyond_the_limit_pass() {
    let none = ["node.gateway.kind={ type = \"pep\", connections = 0 }"];
    let [with, without] = [run(&scenario(SATELLITE, &none)), run(&scenario(SATELLITE, &[]))];
    assert!(with.rows("packet", &[]) == without.rows("packet", &[]));
    assert_eq!(number(&with, "gateway", "unsplit_connections"), 1);
    // Of six connections two are split, which is to say that all data arrives.
    let two = [
        "node.gateway.kind={ type = \"pep\", connections = 2 }",
        "flow.get.application.streams=6",
        "link.cell.both.loss=1 %",
    ];
    let run = run(&scenario(SATELLITE, &two));
    assert_eq!(run.connection("get")["delivered_bytes"], 500_000);
    assert_eq!(number(&run, "gateway", "split_connections"), 2);
    assert!(number(&run, "gateway", "unsplit_connections") >= 4);
}

/// A client whose SYN carries data: the proxies take it, and pass it on in SYNs of their own.
#[test]
fn fast_open_saves_a_round_trip_on_each_side() {
    let cached = |kind: &str| {
        let nodes =
            ["terminal", "gateway"].map(|node| format!("node.{node}.kind={{ type = \"pep\"{kind} }}"));
        let sets = [nodes[0].as_str(), nodes[1].as_str(), "tcp.fast_open=cached", "tcp.tls=tls1.3"];
        completion(&run(&scenario(SATELLITE, &sets)))
    };
    let [off, on] = ["", ", fast_open = \"cached\""].map(cached);
    // The ClientHello leaves with the SYN on each of the three connections.
    assert!((0.6..0.66).contains(&(off - on)), "{off} {on}");
}

/// Each side negotiates ECN for itself.
#[test]
fn ecn_is_negotiated_on_each_side() {
    let red = "link.cell.forward.queue={ type = \"codel\", ecn = true, limit = \"1 BDP\" }";
    let size = "flow.get.application.size=20 MB";
    let side = "node.terminal.kind={ type = \"pep\", server = { ecn = true } }";
    let gateway = "node.gateway.kind={ type = \"pep\", client = { ecn = true } }";
    let marked = |sets: &[&str]| {
        let run =
            run(&scenario(SATELLITE, &[sets, &[red, size, "link.cell.forward.rate=10 Mbit/s"]].concat()));
        assert_clean(run.connection("get"), "get");
        run.link("cell", "forward")["marked_packets"].as_u64().unwrap()
    };
    assert!(marked(&[side, gateway]) > 0);
    assert_eq!(marked(&PAIR), 0);
}

/// The segments of each side fit its link.
#[test]
fn segments_fit_the_carriers_around() {
    let sizes = ["link.internet.both.mtu=9000", "link.cell.both.mtu=1200", "tcp.mss=8000"];
    let run = run(&scenario(SATELLITE, &[&PAIR[..], &sizes].concat()));
    assert_clean(run.connection("get"), "get");
    let largest = |connection: &str, side: &str| {
        let select = [("connection", connection), ("side", side), ("direction", "sent")];
        run.numbers("packet", "length_bytes", &select).into_iter().fold(0.0, f64::max)
    };
    // Without the IP header. The ends know the MTU of the whole way.
    assert_eq!(largest("get at gateway", "server"), 1180.0);
    assert_eq!(largest("get", "server"), 1180.0);
    for link in ["home", "cell", "internet"] {
        for direction in ["forward", "backward"] {
            assert_eq!(run.link(link, direction)["drops"]["mtu"], 0);
        }
    }
}

/// A NAT between two proxies, and HTTP with several connections.
#[test]
fn pages_and_visits_pass_over_several_connections() {
    for (application, connections) in [
        ("{ type = \"page\", page = { type = \"ns3\" }, over = \"http2\" }", 1),
        ("{ type = \"page\", page = { type = \"ns3\" }, over = \"http1.1\" }", 2),
    ] {
        let run = pair(&[&format!("flow.get.application={application}"), "link.cell.both.loss=0.5 %"]);
        assert_clean(run.connection("get"), application);
        assert!(number(&run, "gateway", "split_connections") >= connections, "{}", run.node("gateway"));
    }
    let visits = "flow.get.visits=[{ at = \"20 s\" }, { at = \"40 s\" }]";
    let run = pair(&[visits, "flow.get.ip=6"]);
    for name in ["get", "get@2", "get@3"] {
        assert_clean(run.connection(name), name);
    }
    assert_eq!(number(&run, "terminal", "split_connections"), 3);
    assert!(!run.rows("event", &[("connection", "get@2 at terminal")]).is_empty());
}

#[test]
fn a_nat_between_two_proxies_is_no_obstacle() {
    let nat = "\n[[node]]\nname = \"nat\"\nkind = { type = \"nat\", inside = [\"cell\"] }\n[[link]]\nname = \"yard\"\n\
               from = \"gateway\"\nto = \"nat\"\nboth = { rate = \"1 Gbit/s\", delay = \"1 ms\" }\n";
    let text = SATELLITE.replace("name = \"cell\"\nfrom = \"gateway\"", "name = \"cell\"\nfrom = \"nat\"");
    let text = text.replace("[[flow]]", &format!("{nat}[[flow]]"));
    let run = run(&scenario(&text, &PAIR));
    assert_clean(run.connection("get"), "get");
    assert_eq!([number(&run, "gateway", "split_connections"), number(&run, "nat", "mappings_made")], [1, 1]);
}

/// Both connections of each proxy are in the tables and, each side with an interface of its own, in the capture.
#[test]
fn both_sides_are_in_tables_and_captures() {
    let run = run_into(&scenario(SATELLITE, &PAIR), "pep");
    for node in ["terminal", "gateway"] {
        for side in ["client", "server"] {
            let name = format!("get at {node}");
            assert!(!run.rows("connection", &[("connection", &name), ("side", side)]).is_empty());
        }
    }
    assert!(run.files.keys().all(|name| !name.ends_with(".sqlog")), "{:?}", run.files.keys());
    let Some(text) = tshark(
        &run.capture,
        &["-T", "fields", "-Y", "tcp.srcport == 4433", "-e", "frame.interface_name", "-e", "tcp.len"],
    ) else {
        return;
    };
    let bytes = |interface: &str| -> u64 {
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        lines.filter(|(name, _)| *name == interface).map(|(_, length)| length.parse::<u64>().unwrap()).sum()
    };
    for node in ["terminal", "gateway"] {
        for side in ["client", "server"] {
            assert_eq!(bytes(&format!("node {node} {side} side")), 500_000, "{node} {side}");
        }
    }
}

#[test]
fn sides_are_written_and_described_and_their_controllers_draw() {
    let side = "node.terminal.kind={ type = \"pep\", ecn = true, client = { initial_window = 10, controller = \"bbr1\" } }";
    let scenario = scenario(SATELLITE, &[side]);
    let written = scenario.to_toml();
    let again = Scenario::parse(&written, Path::new("a.toml"), &[]).unwrap();
    assert!(again == scenario && again.to_toml() == written, "{written}");
    let lines = lab::describe(&scenario);
    let line = &lines.iter().find(|(subject, _)| subject == "node terminal").unwrap().1;
    assert_eq!(line, "pep client side controller bbr1 initial_window 10 ecn true");
    assert_eq!(lab::draws(&scenario).ok(), Some(true));
    assert_eq!(lab::draws(&with_pair(&[])).ok(), Some(false));
}

/// Equal seeds give equal records and captures, with any options.
#[test]
fn equal_seeds_give_equal_records() {
    let rooms = lab::rooms();
    let boxes = rooms.iter().find(|room| room.name == "middleboxes").unwrap();
    let row = boxes.rows.iter().find(|row| row.name == "pep").unwrap();
    for seed in 0..12 {
        let kind = format!("node.gateway.kind={}", Author::new(seed).component(row.name, row.parameters));
        let lossy = "link.cell.both.loss=1 %";
        let sets = [kind.as_str(), PAIR[0], lossy, "duration=10 s", "flow.get.application.streams=2"];
        let scenario = scenario(SATELLITE, &sets);
        let [one, other] = ["a", "b"].map(|name| run_into(&scenario, &format!("pep-{name}")));
        assert_equal(&one, &other, &kind);
    }
}
