//! Access points that hold back or pace late acknowledgements.

use crate::bed::{Run, assert_clean, examples, run, scenario};
use lab::Scenario;

/// A server 20 ms behind an access point, over a bottleneck of 10 Mbit/s. The access has 50 Mbit/s and pauses for 60 ms, at 1 s
/// and at 2 s. What has waited leaves in the 15 ms after a pause.
const PAUSES: &str = r#"
duration = "10 s"
[transport]
controller = "cubic"
[[node]]
name = "phone"
[[node]]
name = "ap"
kind = "router"
[[node]]
name = "server"
[[link]]
name = "air"
from = "ap"
to = "phone"
delay = "5 ms"
backward = { rate = "50 Mbit/s" }
[link.forward]
queue = "unlimited"
[link.forward.rate]
type = "changes"
steps = [["0 s", "50 Mbit/s"], ["1 s", "0 bit/s"], ["1060 ms", "50 Mbit/s"], ["2 s", "0 bit/s"], ["2060 ms", "50 Mbit/s"]]
[[link]]
name = "backhaul"
from = "server"
to = "ap"
delay = "20 ms"
forward = { rate = "10 Mbit/s", queue = "50 packets" }
backward = { rate = "10 Mbit/s" }
[[flow]]
name = "get"
client = "phone"
server = "server"
application = { type = "bulk", size = "6 MB" }
"#;

const LDAD: &str = r#"node.ap.kind={ type = "ldad", wireless = ["air"], fixed_rtt = "40 ms" }"#;
const PACER: &str = r#"node.ap.kind={ type = "ack-pacer", wireless = ["air"] }"#;
const MINIMUM: &str = r#"transport.controller={ type = "cubic", pacing_rtt = "windowed-min" }"#;

/// The values of a column of the server's table `connection` in a period, in s.
fn server(run: &Run, column: &str, (from, to): (f64, f64)) -> Vec<f64> {
    let select = [("connection", "get"), ("side", "server")];
    let of = |name| run.numbers("connection", name, &select).into_iter();
    of("time_s")
        .zip(of(column))
        .filter(|(time, _)| (from..to).contains(time))
        .map(|(_, value)| value)
        .collect()
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

/// Shortly before the second pause the server has an sRTT of 86 ms, and paces at 12.5 Mbit/s.
#[test]
fn late_acknowledgements_that_are_held_back_do_not_lower_the_pace() {
    let (before, after) = ((1.9, 2.0), (2.0, 2.3));
    let measure = |sets: &[&str]| {
        let run = run(&scenario(PAUSES, sets));
        assert_clean(run.connection("get"), "get");
        let rise = greatest(&server(&run, "smoothed_rtt_ms", after))
            / greatest(&server(&run, "smoothed_rtt_ms", before));
        let fall = least(&server(&run, "pacing_rate_mbps", after))
            / least(&server(&run, "pacing_rate_mbps", before));
        (rise, fall, run)
    };
    let (rise, fall, _) = measure(&[]);
    assert!(rise > 1.35 && fall < 0.8, "without: {rise} {fall}");
    let (rise, fall, held) = measure(&[LDAD]);
    assert!(rise < 1.1 && fall > 0.95, "ldad: {rise} {fall}");
    let (.., paced) = measure(&[PACER]);
    assert!(paced.node("ap")["delayed_packets"].as_u64().unwrap() > 1000, "{}", paced.node("ap"));
    // The sender does without the network's help what ldad attempts, although its sRTT rises.
    let (rise, fall, _) = measure(&[MINIMUM]);
    assert!(rise > 1.35 && fall > 0.95, "windowed-min: {rise} {fall}");

    let node = held.node("ap");
    let count = |name: &str| node[name].as_u64().unwrap();
    // At 10 Mbit/s and 1,500 bytes for a packet, about 50 packets and 25 acknowledgements are late in each pause.
    assert!((40..=60).contains(&count("held_packets")), "{node}");
    assert_eq!((count("superseded_packets"), count("congestion_judgments")), (count("held_packets"), 0));
    let held_ms = held.numbers("node", "value", &[("node", "ap"), ("gauge", "held_ms")]);
    assert_eq!(held_ms.len() as u64, count("held_packets"));
    assert_eq!(held_ms.iter().sum::<f64>() as u64, count("held_ms"));
    assert_eq!(held.rows("drop", &[("reason", "superseded")]).len() as u64, count("held_packets"));
    // Once both flows of packets run, the node sees 40 ms and at least the 10 ms over the air and back, less half of that.
    let usual = held.numbers("node", "value", &[("node", "ap"), ("gauge", "usual_rtt_ms")]);
    assert!(least(&usual[100..]) > 44.0 && greatest(&usual[100..]) < 60.0);
}

/// The scenario with the server's host behind another node, in no time.
fn with_a_node_before_the_server() -> String {
    let node = "[[node]]\nname = \"front\"\nkind = \"router\"\n[[link]]\nname = \"inside\"\nfrom = \"server\"\nto = \"front\"\n";
    let text = PAUSES.replace("from = \"server\"\nto = \"ap\"", "from = \"front\"\nto = \"ap\"");
    text.replacen("[[link]]", &format!("{node}[[link]]"), 1)
}

/// A middlebox at the server's host does what it would do at a node of its own that costs no time.
#[test]
fn the_server_itself_may_hold_back_or_pace_late_acknowledgements() {
    let plain = run(&scenario(PAUSES, &[]));
    for (kind, counter) in [("ldad", "held_packets"), ("ack-pacer", "delayed_packets")] {
        let at_host = run(&scenario(PAUSES, &[&format!("node.server.kind={kind}")]));
        let set = format!(r#"node.front.kind={{ type = "{kind}", wireless = ["backhaul"] }}"#);
        let before = run(&scenario(&with_a_node_before_the_server(), &[&set]));
        assert_clean(at_host.connection("get"), "get");
        let (here, there) = (at_host.node("server"), before.node("front"));
        assert!(here[counter].as_u64().unwrap() > 20, "{here}");
        let names = ["uplink_packets", "ack_only_packets", counter];
        assert!(names.iter().all(|name| here[*name] == there[*name]), "{here} {there}");
        for column in ["time_s", "smoothed_rtt_ms", "pacing_rate_mbps", "cwnd_bytes"] {
            let [here, there, without] =
                [&at_host, &before, &plain].map(|run| server(run, column, (0.0, 10.0)));
            assert!(here == there, "{kind}: {column}");
            assert!(here != without, "{kind} changes {column}");
        }
    }
    let (before, after) = ((1.9, 2.0), (2.0, 2.3));
    let held = run(&scenario(PAUSES, &["node.server.kind=ldad"]));
    let rise = greatest(&server(&held, "smoothed_rtt_ms", after))
        / greatest(&server(&held, "smoothed_rtt_ms", before));
    assert!(rise < 1.2, "{rise}");
    let drops = held.rows("drop", &[("reason", "superseded")]).len() as u64;
    assert_eq!(held.node("server")["superseded_packets"].as_u64(), Some(drops));
}

/// A client has no downlink packets to map acknowledgements to.
#[test]
fn at_a_host_wrong_options_give_one_error_and_a_client_holds_nothing() {
    let mistake = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Scenario::parse(PAUSES, &examples().join("a.toml"), &sets).map(drop).unwrap_err().to_string()
    };
    let all = mistake(&[r#"node.server.kind={ type = "ldad", wireless = ["backhaul", "server"] }"#]);
    assert!(
        all.contains("all or none of the node's links and media; expected some of backhaul, server"),
        "{all}"
    );
    let wrong = mistake(&[r#"node.server.kind={ type = "ldad", wireless = ["air"] }"#]);
    assert!(wrong.contains("found \"air\"; expected one of backhaul, server"), "{wrong}");
    let nat = mistake(&["node.server.kind=nat"]);
    assert!(nat.contains("found \"nat\"; expected host, ack-pacer or ldad"), "{nat}");
    let client = run(&scenario(PAUSES, &["node.phone.kind=ldad"]));
    assert_eq!(
        (&client.node("phone")["downlink_packets"], &client.node("phone")["uplink_packets"]),
        (&0.into(), &0.into())
    );
}

/// The access falls to 5 Mbit/s for good: its queue grows by 1 ms in 2 ms, and so do the RTT and its usual range.
#[test]
fn in_growing_congestion_nothing_is_held() {
    let slow =
        r#"link.air.forward.rate={ type = "changes", steps = [["0 s", "50 Mbit/s"], ["2 s", "5 Mbit/s"]] }"#;
    let (plain, held) = (run(&scenario(PAUSES, &[slow])), run(&scenario(PAUSES, &[slow, LDAD])));
    assert_eq!(held.node("ap")["held_packets"], 0);
    let srtts = |run: &Run| server(run, "smoothed_rtt_ms", (0.0, 10.0));
    assert!(greatest(&srtts(&plain)) > 200.0);
    assert_eq!(srtts(&held), srtts(&plain));
}

/// After the second pause the access has 12 Mbit/s: what has waited takes 300 ms to leave. The interception ends after 20 ms.
#[test]
fn lasting_congestion_ends_the_interception() {
    let slow = r#"link.air.forward.rate={ type = "changes", steps = [["0 s", "50 Mbit/s"], ["2 s", "0 bit/s"], ["2.06 s", "12 Mbit/s"]] }"#;
    let short = LDAD.replace(" }", ", congestion_after = \"20 ms\" }");
    let run = run(&scenario(PAUSES, &[slow, &short]));
    assert_clean(run.connection("get"), "get");
    let node = run.node("ap");
    // An acknowledgement is for two packets, which take 2 ms. Each supersedes the one before, and the last is sent.
    for (name, count) in [
        ("held_packets", 10),
        ("superseded_packets", 9),
        ("congestion_packets", 1),
        ("congestion_judgments", 1),
        ("held_ms", 20),
    ] {
        assert_eq!(node[name], count, "{name}: {node}");
    }
}

#[test]
fn the_example_holds_acknowledgements_in_its_pauses() {
    let text = std::fs::read_to_string(examples().join("ldad.toml")).unwrap();
    let run = run(&scenario(&text, &[]));
    for name in ["segment", "segment@2", "segment@3"] {
        assert_clean(run.connection(name), name);
    }
    assert!(run.node("ap")["held_packets"].as_u64().unwrap() > 0, "{}", run.node("ap"));
}

#[test]
fn unusable_options_give_one_error() {
    let set = r#"node.ap.kind={ type = "ldad", wireless = ["air"], ports = ["https"] }"#;
    let error = Scenario::parse(PAUSES, &examples().join("a.toml"), &[set.to_owned()]).unwrap_err();
    let expected = "not a port, found \"https\"; expected a number up to 65535 or a range like \"4433-4435\"";
    assert!(error.to_string().contains(expected) && error.to_string().contains("ports"), "{error}");
}
