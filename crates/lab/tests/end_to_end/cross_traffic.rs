//! Cross traffic, and flows with a stop.

use crate::bed::{ONE_LINK, run, scenario};
use serde_json::json;

/// A download beside cross traffic in its direction.
fn beside(cross: &str) -> String {
    format!("{ONE_LINK}[[cross_traffic]]\nname = \"udp\"\nfrom = \"server\"\nto = \"client\"\n{cross}\n")
}

/// 125 payloads of 1000 bytes per second are 1 Mbit/s, or 1.028 with headers. An endless download uses the rest.
#[test]
fn a_download_uses_the_rest_of_the_rate() {
    let text = beside("source = { type = \"constant\", gap = \"8 ms\" }").replace(", size = \"300 kB\"", "");
    let run = run(&scenario(&text, &["duration=20 s"]));
    let cross = &run.summary["cross_traffic"][0];
    // The first datagram leaves a gap after the start, and the last at the end of the run.
    assert_eq!((&cross["packets_sent"], &cross["sent_bytes"]), (&json!(2500), &json!(2_500_000)));
    assert!(cross["packets_lost"].as_u64().unwrap() < 100, "{cross}");
    let link = run.link("cell", "forward");
    assert!(link["utilisation"].as_f64().unwrap() > 0.97, "{link}");
    let goodput = run.connection("get")["goodput_mbps"].as_f64().unwrap();
    let share = (10.0 - 1.028) * 1200.0 / 1280.0;
    assert!((0.9 * share..share * 1.02).contains(&goodput), "{goodput} of {share}");
    assert_eq!(run.link("cell", "backward")["drops"]["queue"], json!(0));
}

/// Cross traffic has a start and a stop, depends on the seed, and ends with the flows.
#[test]
fn cross_traffic_starts_and_stops() {
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

/// Its draws do not affect those of others.
#[test]
fn cross_traffic_on_another_path_has_no_effect() {
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
fn a_flow_ends_at_its_stop() {
    let endless = ONE_LINK.replace(", size = \"300 kB\"", "");
    let sets = ["flow.get.start=1 s", "flow.get.stop=3 s"];
    let run = run(&scenario(&endless, &sets));
    let flow = run.connection("get");
    assert_eq!((&flow["completed"], &flow["clean"]), (&json!(false), &json!(true)), "{flow}");
    // The goodput counts for the two seconds of the flow, including handshake and slow start.
    let goodput = flow["goodput_mbps"].as_f64().unwrap();
    assert!((8.0..9.4).contains(&goodput), "{goodput}");
    let ended = run.summary["duration_s"].as_f64().unwrap();
    assert!((3.0..3.5).contains(&ended), "the run ends with the last flow: {ended}");
}

/// A download with priority is nearly as fast as alone: it waits only for the packet in service.
#[test]
fn priorities_are_by_the_names_of_flows() {
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
