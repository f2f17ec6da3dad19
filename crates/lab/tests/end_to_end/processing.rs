//! The processing of packets at nodes: the laws of its queue, and its times.

use crate::bed::{Run, assert_clean, assert_equal, run, scenario};
use lab::Scenario;
use random::Generator;

/// A router that takes time between two fast links, with cross traffic through it. The flow elsewhere keeps the run going.
const ROUTER: &str = r#"
seed = 11
duration = "100 s"
[record]
tables = ["queue", "drop", "rate"]
queue_delay = true
[[node]]
name = "left"
[[node]]
name = "box"
kind = "router"
processing = { packet = "1 ms" }
[[node]]
name = "right"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "in"
from = "left"
to = "box"
[[link]]
name = "out"
from = "box"
to = "right"
[[link]]
name = "beside"
from = "a"
to = "b"
both = { rate = "10 kbit/s" }
[[cross_traffic]]
name = "udp"
from = "left"
to = "right"
source = { type = "poisson", gap = "2 ms", size = 100 }
[[flow]]
name = "get"
client = "b"
server = "a"
application = "bulk"
"#;

fn server(run: &Run) -> &serde_json::Value {
    run.summary["processing"].as_array().unwrap().iter().find(|entry| entry["name"] == "box").unwrap()
}

/// Poisson arrivals, one server with a constant time of service s, and load r: the mean waiting time is r s / (2 (1 - r))
/// (Pollaczek and Khinchine), and the mean number of waiting packets is that by the gap between arrivals (Little).
#[test]
fn the_queue_of_poisson_arrivals_is_that_of_m_d_1() {
    for (gap_us, tolerance) in [(4000.0, 0.05), (2000.0, 0.05), (1250.0, 0.08)] {
        let run = run(&scenario(
            ROUTER,
            &[&format!("cross_traffic.udp.source.gap={gap_us} us"), "duration=200 s", "record.tables=[]"],
        ));
        let (service, load) = (1.0, 1000.0 / gap_us);
        let (waiting, at) = (load * service / (2.0 * (1.0 - load)), server(&run));
        let number = |key: &str| at[key].as_f64().unwrap();
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < tolerance;
        assert!(near(number("queue_delay_mean_ms"), waiting), "{waiting} ms: {at}");
        assert!(near(number("queue_mean_packets"), waiting / (gap_us / 1000.0)), "{at}");
        assert!(near(number("utilisation"), load), "{at}");
    }
}

/// Draws the processing of the node, and what passes it.
fn drawn(seed: u64) -> Scenario {
    let mut chance = Generator::new(seed, "processing");
    let mut below = |count: u64| chance.below(count);
    let queue = match below(4) {
        0 => "unlimited".to_owned(),
        1 => format!("{} packets", below(20)),
        2 => format!("{} B", below(5000)),
        _ => "1000 packets".to_owned(),
    };
    let processing = format!(
        "node.box.processing={{ packet = \"{} us\", ack = \"{} us\", byte = \"{} ns\", queue = \"{queue}\" }}",
        below(800),
        below(3000),
        below(500)
    );
    let kind = ["router", "nat", "pep", "ack-pacer"][below(4) as usize];
    let protocol = ["quic", "tcp"][below(2) as usize];
    let direction = ["download", "upload"][below(2) as usize];
    let sets = [
        processing,
        format!("node.box.kind={kind}"),
        format!("seed={seed}"),
        "duration=3 s".to_owned(),
        "link.in.both.rate=20 Mbit/s".to_owned(),
        "link.out.both.delay=5 ms".to_owned(),
        "flow.get.client=right".to_owned(),
        "flow.get.server=left".to_owned(),
        format!("flow.get.protocol={protocol}"),
        format!("flow.get.application={{ type = \"bulk\", size = \"200 kB\", direction = \"{direction}\" }}"),
    ];
    scenario(ROUTER, &sets.each_ref().map(String::as_str))
}

#[test]
fn packets_are_conserved_and_equal_seeds_give_equal_records() {
    let (mut dropped_in_all, mut waited) = (0, 0);
    for seed in 0..60 {
        let scenario = drawn(seed);
        let first = run(&scenario);
        let what = format!("{seed}: {}", scenario.to_toml());
        let at = server(&first);
        let count = |key: &str| at[key].as_u64().unwrap();
        let dropped = at["drops"]["queue"].as_u64().unwrap();
        assert_eq!(
            count("offered_packets"),
            count("delivered_packets") + dropped + count("inside_packets"),
            "{what}: {at}"
        );
        let arrived = |link: &str, way: &str| first.link(link, way)["delivered_packets"].as_u64().unwrap();
        assert_eq!(
            arrived("in", "forward") + arrived("out", "backward"),
            count("offered_packets"),
            "{what}: {at}"
        );
        assert_eq!(first.rows("drop", &[("link", "box processing")]).len() as u64, dropped, "{what}");
        let longest = first.numbers("queue", "packets", &[("link", "box processing")]);
        assert_eq!(longest.into_iter().fold(0.0, f64::max), count("queue_max_packets") as f64, "{what}");
        dropped_in_all += dropped;
        waited += u64::from(count("queue_max_packets") > 0);
        if seed % 4 == 0 {
            assert_equal(&first, &run(&scenario), &what);
        }
    }
    assert!(dropped_in_all > 100 && waited > 30, "{dropped_in_all} {waited}");
}

/// A request of one packet and its response of one: each is served once at each node that it passes or reaches.
#[test]
fn each_packet_is_served_once_at_each_node_by_its_kind_and_size() {
    let chain = |sets: &[&str]| {
        let flow = ["flow.get.client=right", "flow.get.server=left", "cross_traffic.udp.start=99 s"];
        let more = [
            "flow.get.application={ type = \"bulk\", size = \"500 B\", direction = \"upload\" }",
            "flow.get.protocol=tcp",
            "node.box.processing={}",
            "link.in.both.delay=10 ms",
        ];
        let run = run(&scenario(ROUTER, &[&flow[..], &more, sets].concat()));
        assert_clean(run.connection("get"), "get");
        run.connection("get")["completion_s"].as_f64().unwrap() * 1e3
    };
    let none = chain(&[]);
    // SYN, SYN-ACK and then data with the ACK: two packets without data and one with.
    assert!((none - 30.0).abs() < 0.001, "{none}");
    for (processing, more) in [
        ("{ packet = \"3 ms\", ack = \"0 s\" }", 3.0),
        ("{ packet = \"3 ms\", ack = \"1 ms\" }", 5.0),
        ("{ packet = \"2 ms\" }", 6.0),
        ("{ ack = \"5 ms\" }", 10.0),
        // 60 bytes of SYN and of SYN-ACK, and 552 with data.
        ("{ byte = \"1 us\" }", 0.06 + 0.06 + 0.552),
    ] {
        let found = chain(&[&format!("node.box.processing={processing}")]) - none;
        assert!((found - more).abs() < 0.002, "{processing}: {found} ms, expected {more}");
    }
    // At the end that receives, and at a node between.
    let both = chain(&[
        "node.left.processing={ packet = \"1 ms\", ack = \"0 s\" }",
        "node.box.processing={ packet = \"1 ms\", ack = \"0 s\" }",
    ]);
    assert!((both - none - 2.0).abs() < 0.002, "{both}");
}

#[test]
fn a_limit_in_time_is_refused() {
    for limit in ["20 ms", "1 BDP"] {
        let set = format!("node.box.processing={{ packet = \"1 ms\", queue = \"{limit}\" }}");
        let error = Scenario::parse(ROUTER, "test.toml".as_ref(), &[set]).unwrap_err().to_string();
        assert!(error.contains("processing.queue") && error.contains("packets or bytes"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}
