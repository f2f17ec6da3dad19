//! Clients with repeated visits, and servers with many clients.

use crate::bed::{assert_equal, examples, run, run_into, scenario};
use lab::Scenario;
use std::fs;
use std::path::Path;

fn return_visit(sets: &[&str]) -> Scenario {
    scenario(&fs::read_to_string(examples().join("return-visit.toml")).unwrap(), sets)
}

#[test]
fn a_repeated_visit_resumes_and_sends_0_rtt_packets() {
    for protection in ["null", "tls"] {
        let tls = format!("tls.protection={protection}");
        let run = run_into(&return_visit(&[&tls]), &format!("visits-{protection}"));
        let first_byte = |name: &str| run.connection(name)["first_byte_s"].as_f64().unwrap();
        // Two round trips of at least 600 ms, and then one.
        assert!((1.2..1.35).contains(&first_byte("page")), "{}", first_byte("page"));
        for visit in ["page@2", "page@3"] {
            assert!((0.6..0.75).contains(&first_byte(visit)), "{visit}: {}", first_byte(visit));
            assert_eq!(run.connection(visit)["completed"], true);
            let log = String::from_utf8(run.files[&format!("{visit}-client.sqlog")].clone()).unwrap();
            assert!(log.contains("0RTT"), "{visit}");
        }
        let log = String::from_utf8(run.files["page-client.sqlog"].clone()).unwrap();
        assert!(!log.contains("0RTT"));
        assert_eq!(run.connection("page@3")["delivered_bytes"], 120_000);
    }
}

#[test]
fn without_early_data_or_tickets_a_visit_takes_longer() {
    let first_byte =
        |sets: &[&str]| run(&return_visit(sets)).connection("page@2")["first_byte_s"].as_f64().unwrap();
    assert!(first_byte(&["flow.page.early_data=false"]) > 1.2);
    assert!(first_byte(&["tls.tickets=0"]) > 1.2);
}

#[test]
fn flows_to_one_port_share_session_tickets() {
    let two = r#"
duration = "20 s"
[tls]
tickets = 1
early_data = true
[[link]]
name = "cell"
from = "server"
to = "client"
both = { rate = "10 Mbit/s", delay = "100 ms" }
[[flow]]
name = "first"
client = "client"
server = "server"
port = 443
early_data = true
application = { type = "hq", sizes = ["10 kB"] }
[[flow]]
name = "second"
client = "client"
server = "server"
port = 443
early_data = true
start = "5 s"
application = { type = "hq", sizes = ["10 kB"] }
"#;
    let first_byte =
        |sets: &[&str]| run(&scenario(two, sets)).connection("second")["first_byte_s"].as_f64().unwrap();
    assert!(first_byte(&[]) < 0.25);
    assert!(first_byte(&["flow.second.port=444"]) > 0.4);
}

/// Fifty clients at one port of one server at the same time.
fn crowd(transport: &str) -> String {
    let mut text = format!("duration = \"10 s\"\n[transport]\n{transport}\n");
    text += "[[link]]\nname = \"cell\"\nfrom = \"server\"\nto = \"client\"\nboth = { rate = \"100 Mbit/s\", delay = \"20 ms\" }\n";
    for number in 0..50 {
        text += &format!(
            "[[flow]]\nname = \"get-{number}\"\nclient = \"client\"\nserver = \"server\"\nport = 443\n\
             application = {{ type = \"bulk\", size = \"10 kB\" }}\n"
        );
    }
    text
}

#[test]
fn a_busy_server_validates_addresses_by_retry() {
    let retries = |transport: &str, folder: &str| {
        let run = run_into(&scenario(&crowd(transport), &[]), folder);
        for number in 0..50 {
            assert_eq!(run.connection(&format!("get-{number}"))["completed"], true, "{transport}: {number}");
        }
        let retried = |log: &[u8]| String::from_utf8_lossy(log).contains("\"retry\"");
        run.files.iter().filter(|(name, log)| name.ends_with("-client.sqlog") && retried(log)).count()
    };
    assert_eq!(retries("", "crowd-never"), 0);
    assert_eq!(retries("retry = \"always\"", "crowd-always"), 50);
    let some = retries("retry = \"busy\"\nretry_above = 20", "crowd-busy");
    assert!((20..=30).contains(&some), "{some}");
}

#[test]
fn the_example_of_a_busy_server_has_retry_packets() {
    let text = fs::read_to_string(examples().join("busy-server.toml")).unwrap();
    let run = run_into(&scenario(&text, &[]), "busy-server");
    let mut retried = Vec::new();
    for number in 1..=12 {
        let name = format!("get-{number:02}");
        let log = String::from_utf8_lossy(&run.files[&format!("{name}-client.sqlog")]).into_owned();
        retried.push(log.contains("\"packet_type\":\"retry\""));
        let first_byte = run.connection(&name)["first_byte_s"].as_f64().unwrap();
        // Round trips of 40 ms: handshake, request, and Retry, if there was one.
        let trips = if retried[number - 1] { 0.12 } else { 0.08 };
        assert!((trips..trips + 0.04).contains(&first_byte), "{name}: {first_byte}");
    }
    assert_eq!(retried, [[false; 4], [true; 4], [true; 4]].concat());
}

/// Flows of which each starts after another one.
fn chain(more: &str) -> String {
    let flow = |name: &str, rest: &str| {
        format!(
            "[[flow]]\nname = \"{name}\"\nclient = \"client\"\nserver = \"server\"\n{rest}\n\
             application = {{ type = \"hq\", sizes = [\"10 kB\"] }}\n"
        )
    };
    // A flow that waits may be the first in the document.
    let flows = [
        flow("third", "after = \"second\""),
        flow("first", "visits = [{ at = \"2 s\" }]"),
        flow("second", "after = \"first\"\nstart = \"500 ms\""),
    ];
    format!("{LINK}{}{more}", flows.concat())
}

const LINK: &str = "duration = \"10 s\"\n[[link]]\nname = \"cell\"\nfrom = \"server\"\nto = \"client\"\n\
                    both = { rate = \"10 Mbit/s\", delay = \"100 ms\" }\n";

/// Each visit over TCP is a connection of its own, also if its application has several.
#[test]
fn a_client_returns_over_tcp() {
    let flow = "[[flow]]\nname = \"get\"\nclient = \"client\"\nserver = \"server\"\nprotocol = \"tcp\"\n\
                application = { type = \"bulk\", size = \"50 kB\", streams = 2 }\n\
                visits = [{ at = \"3 s\" }, { at = \"6 s\", application = { type = \"bulk\", size = \"20 kB\", streams = 3 } }]\n";
    let run = run(&scenario(&format!("{LINK}{flow}"), &[]));
    for (name, bytes) in [("get", 50_000), ("get@2", 50_000), ("get@3", 20_000)] {
        let connection = run.connection(name);
        assert_eq!((&connection["completed"], &connection["clean"]), (&true.into(), &true.into()), "{name}");
        assert_eq!(connection["delivered_bytes"], bytes, "{name}");
    }
}

#[test]
fn a_flow_starts_after_the_end_of_another() {
    for over in ["quic", "tcp"] {
        let protocol = format!("flow.second.protocol={over}");
        let bulk = "flow.second.application={ type = \"bulk\", size = \"10 kB\" }";
        let run = run(&scenario(&chain(""), &[&protocol, bulk]));
        let number = |name: &str, key: &str| run.connection(name)[key].as_f64().unwrap();
        let end_of_first = 2.0 + number("first@2", "completion_s");
        let second = number("second", "start_s");
        assert!((end_of_first + 0.5..end_of_first + 0.8).contains(&second), "{end_of_first} {second}");
        let end_of_second = second + number("second", "completion_s");
        let third = number("third", "start_s");
        assert!((end_of_second..end_of_second + 0.5).contains(&third), "{end_of_second} {third}");
        // Times count from the start of a flow: handshake and request.
        for name in ["second", "third"] {
            assert!((0.4..0.65).contains(&number(name, "first_byte_s")), "{over} {name}");
        }
        assert!(run.connection("first").get("start_s").is_none());
    }
}

#[test]
fn a_flow_does_not_start_before_the_end_of_another() {
    let run = run(&scenario(&chain(""), &["flow.first.application.sizes=[\"1 GB\"]"]));
    for name in ["second", "third"] {
        let connection = run.connection(name);
        assert_eq!(
            (&connection["completed"], &connection["start_s"]),
            (&false.into(), &serde_json::Value::Null)
        );
        assert_eq!(
            (&connection["goodput_mbps"], &connection["packets_sent"]),
            (&serde_json::Value::Null, &0.into())
        );
    }
}

#[test]
fn a_host_that_forgets_repeats_the_full_handshake() {
    let first_byte = |node: &str| {
        let event = format!("event=[{{ at = \"5 s\", type = \"forget\", node = \"{node}\" }}]");
        let run = run_into(&return_visit(&[&event]), &format!("forget-{node}"));
        let log = String::from_utf8(run.files["page@2-client.sqlog"].clone()).unwrap();
        // A client that forgot offers no 0-RTT; a server that forgot refuses it.
        assert_eq!(log.contains("0RTT"), node == "server");
        // The next visit resumes again.
        assert!(run.connection("page@3")["first_byte_s"].as_f64().unwrap() < 0.75);
        run.connection("page@2")["first_byte_s"].as_f64().unwrap()
    };
    for node in ["server", "client"] {
        assert!((1.2..1.4).contains(&first_byte(node)), "{node}: {}", first_byte(node));
    }
}

#[test]
fn a_server_that_forgets_refuses_earlier_tokens() {
    let retries = |sets: &[&str]| {
        let mut all = vec!["transport.retry=always", "transport.new_tokens=1"];
        all.extend(sets);
        let run = run_into(&return_visit(&all), &format!("tokens-{}", sets.len()));
        ["page", "page@2", "page@3"].map(|name| {
            let log = String::from_utf8_lossy(&run.files[&format!("{name}-client.sqlog")]).into_owned();
            log.contains("\"packet_type\":\"retry\"")
        })
    };
    assert_eq!(retries(&[]), [true, false, false]);
    let forget = "event=[{ at = \"5 s\", type = \"forget\", node = \"server\" }]";
    assert_eq!(retries(&[forget]), [true, true, false]);
}

#[test]
fn equal_seeds_give_equal_records() {
    let text = crowd("retry = \"busy\"\nretry_above = 20");
    assert_equal(&run(&scenario(&text, &[])), &run(&scenario(&text, &[])), "crowd");
    assert_equal(&run(&return_visit(&[])), &run(&return_visit(&[])), "visits");
}

#[test]
fn visits_and_ports_are_checked_and_written() {
    let scenario = return_visit(&["flow.page.port=443"]);
    let again = Scenario::parse(&scenario.to_toml(), Path::new("a.toml"), &[]).unwrap();
    assert_eq!(again, scenario, "{}", scenario.to_toml());
    let chained = self::scenario(&chain(""), &[]);
    assert_eq!(Scenario::parse(&chained.to_toml(), Path::new("test.toml"), &[]).unwrap(), chained);
    let refused = |set: &str| {
        let text = fs::read_to_string(examples().join("return-visit.toml")).unwrap();
        Scenario::parse(&text, Path::new("a.toml"), &[set.to_owned()]).unwrap_err().to_string()
    };
    for (set, part) in [
        ("flow.page.visits=[{ at = \"0 s\" }]", "flow.page.visits.0.at: too early, found 0 s"),
        ("flow.page.visits=[{ at = \"40 s\" }]", "too late, found 40 s"),
        (
            "flow.page.visits=[{ at = \"1 s\", application = \"bulk\" }]",
            "not the application protocol of the flow",
        ),
        ("flow.page.visits=[{ when = \"1 s\" }]", "unknown key, found \"when\""),
        ("flow.page.port=0", "flow.page.port"),
        ("flow.page.after=page", "a flow that starts after another cannot have visits"),
        ("flow.page.after=pgae", "unknown flow, found \"pgae\"; expected page"),
        ("event=[{ at = \"1 s\", type = \"forget\", node = \"satellite\" }]", "unknown node"),
    ] {
        assert!(refused(set).contains(part), "{}", refused(set));
    }
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        Scenario::parse(&chain(""), Path::new("a.toml"), &sets).unwrap_err().to_string()
    };
    for (sets, part) in [
        (&["flow.first.after=third"][..], "starts after another cannot have visits"),
        (
            &[
                "flow.first.protocol=tcp",
                "flow.first.application=bulk",
                "flow.first.visits=[{ at = \"1 s\", application = { type = \"bulk\", streams = 9999 } }]",
            ],
            "visits.0.application: found 9999, each of them a TCP connection",
        ),
        (&["flow.second.stop=5 s"], "flow.second.stop: a flow that starts after another cannot have stop"),
        (&["flow.first.visits=[]", "flow.first.after=third"], "flows that wait for each other, found"),
        (
            &["flow.third.server=client", "flow.third.client=server", "flow.third.port=34434"],
            "already in use, found 34434",
        ),
        (
            &["flow.second.after=second"],
            "flow.second.after: flows that wait for each other, found \"second\"",
        ),
        (
            &["flow.third.port=4436", "flow.second.protocol=tcp", "flow.second.application=bulk"],
            "flow.third.port: already in use, found 4436",
        ),
    ] {
        assert!(refused(sets).contains(part), "{sets:?}: {}", refused(sets));
    }
}
