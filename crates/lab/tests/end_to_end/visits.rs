//! Clients that come back, and servers that many clients share.

use crate::bed::{assert_equal, examples, run, run_into, scenario};
use lab::Scenario;
use std::fs;
use std::path::Path;

fn return_visit(sets: &[&str]) -> Scenario {
    scenario(&fs::read_to_string(examples().join("return-visit.toml")).unwrap(), sets)
}

#[test]
fn a_client_that_comes_back_resumes_and_sends_in_0_rtt_packets() {
    for protection in ["null", "tls"] {
        let tls = format!("tls.protection={protection}");
        let run = run_into(&return_visit(&[&tls]), &format!("visits-{protection}"));
        let first_byte = |name: &str| run.connection(name)["first_byte_s"].as_f64().unwrap();
        // Two round trips of 600 ms and more, then one.
        assert!((1.2..1.35).contains(&first_byte("page")), "{}", first_byte("page"));
        for visit in ["page@2", "page@3"] {
            assert!((0.6..0.75).contains(&first_byte(visit)), "{visit}: {}", first_byte(visit));
            assert_eq!(run.connection(visit)["completed"], true);
            let log = String::from_utf8(run.files[&format!("{visit}-client.sqlog")].clone()).unwrap();
            assert!(log.contains("0RTT"), "{visit}");
        }
        let log = String::from_utf8(run.files["page-client.sqlog"].clone()).unwrap();
        assert!(!log.contains("0RTT"));
        assert_eq!(run.connection("page@3")["delivered_bytes"], 20_000);
    }
}

#[test]
fn without_early_data_and_without_tickets_it_takes_longer() {
    let first_byte =
        |sets: &[&str]| run(&return_visit(sets)).connection("page@2")["first_byte_s"].as_f64().unwrap();
    assert!(first_byte(&["flow.page.early_data=false"]) > 1.2);
    assert!(first_byte(&["tls.tickets=0"]) > 1.2);
}

#[test]
fn flows_to_one_port_share_what_their_client_has_learned() {
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

/// Fifty clients at one port of one server, all at once.
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
fn a_server_under_load_asks_its_clients_to_show_their_address() {
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
fn equal_seeds_give_equal_records() {
    let text = crowd("retry = \"busy\"\nretry_above = 20");
    assert_equal(&run(&scenario(&text, &[])), &run(&scenario(&text, &[])), "crowd");
    assert_equal(&run(&return_visit(&[])), &run(&return_visit(&[])), "visits");
}

#[test]
fn visits_and_ports_are_read_strictly_and_written_as_they_were_read() {
    let scenario = return_visit(&["flow.page.port=443"]);
    let again = Scenario::parse(&scenario.to_toml(), Path::new("a.toml"), &[]).unwrap();
    assert_eq!(again, scenario, "{}", scenario.to_toml());
    let refused = |set: &str| {
        let text = fs::read_to_string(examples().join("return-visit.toml")).unwrap();
        Scenario::parse(&text, Path::new("a.toml"), &[set.to_owned()]).unwrap_err().to_string()
    };
    for (set, part) in [
        ("flow.page.visits=[{ at = \"0 s\" }]", "flow.page.visits.0.at: too early, found 0 s"),
        ("flow.page.visits=[{ at = \"40 s\" }]", "too late, found 40 s"),
        ("flow.page.visits=[{ at = \"1 s\", application = \"bulk\" }]", "another application protocol"),
        ("flow.page.visits=[{ when = \"1 s\" }]", "unknown key, found \"when\""),
        ("flow.page.port=0", "flow.page.port"),
    ] {
        assert!(refused(set).contains(part), "{}", refused(set));
    }
}
