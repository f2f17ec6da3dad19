//! The parts of this crate in a scenario, by their names.

use std::ops::ControlFlow;
use std::path::Path;

const TEXT: &str = r#"
duration = "20 s"
[transport]
initial_max_data = "16 MB"
initial_max_stream_data_bidi_local = "16 MB"
[[node]]
name = "client"
[[node]]
name = "box"
kind = "router"
[[node]]
name = "server"
[[link]]
name = "slow"
from = "server"
to = "box"
both = { rate = "10 Mbit/s", delay = "10 ms", queue = "30 packets" }
[[link]]
name = "fast"
from = "box"
to = "client"
both = { rate = "100 Mbit/s", delay = "1 ms" }
[[flow]]
name = "flow"
client = "client"
server = "server"
application = { type = "bulk", size = "5 MB" }
"#;

/// The first number behind a key of the summary.
fn number(set: &str, key: &str) -> f64 {
    let text =
        TEXT.replace("kind = \"router\"", if set.starts_with("kind") { set } else { "kind = \"router\"" });
    let sets: Vec<String> = if set.starts_with("link") { vec![set.to_owned()] } else { Vec::new() };
    first(&text, &sets, key)
}

/// The first number behind a key of the summary of a scenario.
fn first(text: &str, sets: &[String], key: &str) -> f64 {
    let scenario = lab::Scenario::parse(text, Path::new("own.toml"), sets).unwrap();
    let outcome = lab::run(&scenario, &lab::Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let from = outcome.summary.find(&format!("\"{key}\"")).unwrap() + key.len() + 2;
    let rest = outcome.summary[from..].trim_start_matches([':', ' ']);
    rest.split([',', '}', '\n']).next().unwrap().trim().parse().unwrap()
}

#[test]
fn they_are_found_by_their_names_and_do_what_they_say() {
    own_parts::plug().unwrap();
    let last = |most: u64| format!("link.slow.both.queue={{ type = \"last-first\", most = {most} }}");
    for most in [5, 30] {
        assert!(number(&last(most), "queue_max_packets") <= most as f64);
    }
    assert!(number(&last(5), "queue") > 0.0, "some packets find it full");
    let mean = |set: &str| number(set, "rtt_mean_ms");
    assert!((mean(&last(30)) - mean("")).abs() > 1.0, "packets wait for other times");
    let (seen, dropped) =
        ["ack_only_packets", "dropped_packets"].map(|key| number("kind = \"thin\"", key)).into();
    assert!(dropped > 100.0 && (dropped - seen / 4.0).abs() <= 1.0, "{dropped} of {seen}");
    assert!(number("kind = { type = \"thin\", every = 2 }", "dropped_packets") > 1.5 * dropped);
}

#[test]
fn an_application_asks_as_often_as_it_should_over_any_protocol() {
    own_parts::plug().unwrap();
    for protocol in ["quic", "tcp"] {
        let asking = |think: u64| {
            let text = format!(
                "protocol = \"{protocol}\"\napplication = {{ type = \"asking\", count = 5, think = \"{think} ms\" }}"
            );
            TEXT.replace("application = { type = \"bulk\", size = \"5 MB\" }", &text)
        };
        let (soon, late) = (asking(0), asking(200));
        assert_eq!(first(&soon, &[], "delivered_bytes"), 5.0 * 20_000.0);
        assert_eq!(first(&late, &[], "number"), 5.0);
        let thought = first(&late, &[], "completion_s") - first(&soon, &[], "completion_s");
        assert!((thought - 4.0 * 0.2).abs() < 0.1, "{protocol}: {thought}");
    }
}
