//! Datagrams without a connection, and flows that are stopped.

use crate::bed::{ONE_LINK, run, scenario};
use serde_json::json;

/// A download beside cross traffic in its direction.
fn beside(cross: &str) -> String {
    format!("{ONE_LINK}[[cross_traffic]]\nname = \"udp\"\nfrom = \"server\"\nto = \"client\"\n{cross}\n")
}

/// 125 payloads of 1000 bytes a second are 1 Mbit/s, with their headers 1.028; a download that does not end fills the rest.
#[test]
fn a_download_gets_what_cross_traffic_leaves() {
    let text = beside("source = { type = \"constant\", gap = \"8 ms\" }").replace(", size = \"300 kB\"", "");
    let run = run(&scenario(&text, &["duration=20 s"]));
    let cross = &run.summary["cross_traffic"][0];
    // The first leaves a gap after the start, the last as the run ends.
    assert_eq!((&cross["packets_sent"], &cross["sent_bytes"]), (&json!(2500), &json!(2_500_000)));
    assert!(cross["packets_lost"].as_u64().unwrap() < 100, "{cross}");
    let link = run.link("cell", "forward");
    assert!(link["utilisation"].as_f64().unwrap() > 0.97, "{link}");
    let goodput = run.connection("get")["goodput_mbps"].as_f64().unwrap();
    let share = (10.0 - 1.028) * 1200.0 / 1280.0;
    assert!((0.9 * share..share * 1.02).contains(&goodput), "{goodput} of {share}");
    assert_eq!(run.link("cell", "backward")["drops"]["queue"], json!(0));
}

/// It begins and ends as it is told, is the same with the same seed, and comes to an end with the flows.
#[test]
fn it_begins_and_ends_as_it_is_told() {
    let source = "source = { type = \"poisson\", gap = \"1 ms\", size = 100 }\n";
    let sent = |text: &str, sets: &[&str]| {
        let run = run(&scenario(text, sets));
        run.summary["cross_traffic"][0]["packets_sent"].as_u64().unwrap()
    };
    let text = beside(&format!("{source}start = \"50 ms\"\nstop = \"150 ms\""));
    let some = sent(&text, &[]);
    assert!((60..140).contains(&some), "{some}");
    assert_eq!(sent(&text, &[]), some);
    assert_ne!(sent(&text, &["seed=4"]), some);
    assert_ne!(sent(&text, &["cross_traffic.udp.source.gap=2 ms"]), some);
    let to_the_end = sent(&beside(source), &[]);
    assert!(to_the_end > 300 && to_the_end < 2000, "while 300 kB were fetched: {to_the_end}");
}

/// What it draws moves nobody else's draws.
#[test]
fn it_changes_nothing_where_it_does_not_pass() {
    let lossy = ["link.cell.forward.loss=1 %"];
    let alone = run(&scenario(ONE_LINK, &lossy));
    let other = beside("source = { type = \"poisson\", gap = \"1 ms\" }")
        .replace("from = \"server\"\nto = \"client\"\nsource", "from = \"else\"\nto = \"where\"\nsource")
        + "[[link]]\nname = \"far\"\nfrom = \"else\"\nto = \"where\"\nboth = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n";
    let beside = run(&scenario(&other, &lossy));
    assert_eq!(alone.connection("get"), beside.connection("get"));
    assert!(beside.link("far", "forward")["delivered_packets"].as_u64().unwrap() > 10);
}

#[test]
fn a_flow_is_stopped() {
    let endless = ONE_LINK.replace(", size = \"300 kB\"", "");
    let sets = ["flow.get.start=1 s", "flow.get.stop=3 s"];
    let run = run(&scenario(&endless, &sets));
    let flow = run.connection("get");
    assert_eq!((&flow["completed"], &flow["clean"]), (&json!(false), &json!(true)), "{flow}");
    // Two seconds of a link of 10 Mbit/s, less the handshake and slow start; not over the 30 s of the run.
    let goodput = flow["goodput_mbps"].as_f64().unwrap();
    assert!((8.0..9.4).contains(&goodput), "{goodput}");
    let ended = run.summary["duration_s"].as_f64().unwrap();
    assert!((3.0..3.5).contains(&ended), "the run is over when all flows are: {ended}");
}

/// A download above cross traffic is as fast as alone, but for the packet in service that it waits for; below, it is not.
#[test]
fn priority_is_by_name() {
    let noise = "source = { type = \"constant\", gap = \"1 ms\", size = 900 }";
    let completion = |text: &str, sets: &[&str]| {
        run(&scenario(text, sets)).connection("get")["completion_s"].as_f64().unwrap()
    };
    let alone = completion(ONE_LINK, &[]);
    let classes = |first: &str| {
        let queue = format!("link.cell.forward.queue={{ type = \"priority\", classes = [[\"{first}\"]] }}");
        completion(&beside(noise), &[&queue])
    };
    let (above, below) = (classes("get"), classes("udp"));
    assert!(above < 1.15 * alone && below > 1.5 * alone, "{alone} {above} {below}");
    let wrong = "link.cell.forward.queue={ type = \"priority\", classes = [[\"got\"]] }";
    let scenario = scenario(&beside(noise), &[wrong]);
    let error = lab::run(&scenario, &lab::Options::default(), &mut |_| std::ops::ControlFlow::Continue(()));
    assert!(error.err().unwrap().to_string().contains("is named \"got\""));
}
