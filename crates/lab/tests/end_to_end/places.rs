//! Middleboxes and media in whole runs.

use crate::bed::{Run, assert_clean, assert_equal, examples, run, run_into, scenario};
use crate::laws::Author;
use lab::Scenario;
use std::path::Path;
use units::parameter::Parameter;

/// A phone behind a gateway, whose address changes at 1 s and at 2.5 s.
pub(crate) const NAT: &str = r#"
duration = "20 s"
[record]
packets = true
[[node]]
name = "phone"
[[node]]
name = "ap"
kind = { type = "nat", rebind = ["1 s", "2.5 s"] }
[[node]]
name = "server"
[[link]]
name = "home"
from = "ap"
to = "phone"
both = { rate = "10 Mbit/s", delay = "5 ms" }
[[link]]
name = "access"
from = "server"
to = "ap"
both = { rate = "20 Mbit/s", delay = "20 ms" }
[[flow]]
name = "get"
client = "phone"
server = "server"
application = { type = "bulk", size = "4 MB" }
"#;

#[test]
fn a_connection_survives_a_nat_that_forgets_its_mapping() {
    for protection in ["null", "tls"] {
        let run = run(&scenario(NAT, &[&format!("tls.protection={protection}")]));
        let connection = run.connection("get");
        assert_clean(connection, "get");
        let node = run.node("ap");
        assert_eq!(node["kind"], "nat");
        assert_eq!((&node["mappings_made"], &node["mappings_forgotten"]), (&3.into(), &2.into()), "{node}");
        // Packets that the server sent to the old ports before it knew the new ones.
        assert!(node["unsolicited_packets"].as_u64().unwrap() > 0, "{node}");
        // The server validates the new addresses of its client (RFC 9000 section 9.3).
        let moves = run.rows("event", &[("event", "migration_state"), ("side", "server")]);
        let moves: Vec<&str> = moves.iter().map(|row| row[4].as_str()).collect();
        for port in [1025, 1026] {
            let done = format!("migration_complete local 10.0.0.3:4433 remote 10.0.0.2:{port}");
            assert!(moves.contains(&done.as_str()), "{moves:?}");
        }
        let gauges = run.numbers("node", "value", &[("node", "ap"), ("gauge", "mappings")]);
        assert_eq!(gauges, [1.0, 0.0, 1.0, 0.0, 1.0]);
        assert!(!run.rows("drop", &[("link", "ap"), ("reason", "no_mapping")]).is_empty());
    }
}

#[test]
fn tcp_passes_a_nat_but_does_not_survive_a_lost_mapping() {
    let tcp = ["flow.get.protocol=tcp", "node.ap.kind=nat"];
    let passes = run(&scenario(NAT, &tcp));
    assert_eq!(passes.connection("get")["completed"], true);
    let streams = [tcp[0], tcp[1], "flow.get.application.streams=3"];
    let passes = run(&scenario(NAT, &streams));
    assert_eq!(
        (&passes.connection("get")["completed"], &passes.node("ap")["mappings_made"]),
        (&true.into(), &3.into())
    );
    let forgotten = run(&scenario(NAT, &tcp[..1]));
    assert_eq!(forgotten.connection("get")["completed"], false);
}

#[test]
fn the_server_sees_the_new_address_in_its_qlog() {
    let run = run_into(&scenario(NAT, &[]), "nat");
    let log = String::from_utf8(run.files["get-server.sqlog"].clone()).unwrap();
    for address in ["10.0.0.2", "1024", "1025", "1026"] {
        assert!(log.contains(address), "{address}");
    }
    assert!(log.contains("migration_complete"), "{log}");
}

#[test]
fn a_client_outside_of_a_nat_is_warned_of() {
    let warnings = |sets: &[&str]| {
        let lines = lab::describe(&scenario(NAT, sets));
        lines.into_iter().filter(|(subject, _)| subject == "flow get, warning").collect::<Vec<_>>()
    };
    assert_eq!(warnings(&[]), []);
    let found = warnings(&["flow.get.client=server", "flow.get.server=phone"]);
    assert_eq!(found.len(), 1);
    assert!(found[0].1.starts_with("the connection does not open: node ap (nat) drops"), "{found:?}");
}

#[test]
fn a_mapping_ends_after_its_timeout() {
    let late = r#"
[[flow]]
name = "late"
client = "phone"
server = "server"
start = "19 s"
application = { type = "bulk", size = "1 kB" }
"#;
    let short = "node.ap.kind={ type = \"nat\", timeout = \"1 s\" }";
    let run = run(&scenario(&format!("{NAT}{late}"), &[short]));
    assert_eq!(run.node("ap")["mappings_forgotten"], 1);
    assert_eq!(run.connection("late")["completed"], true);
}

/// A station with two terminals in the air, and a server behind it.
const AIR: &str = r#"
duration = "4 s"
[record]
queue_delay = true
[[link]]
name = "backhaul"
from = "server"
to = "ap"
both = { rate = "100 Mbit/s", delay = "10 ms" }
[[medium]]
name = "air"
type = "shared"
station = "ap"
terminals = ["phone", "tablet"]
rate = "10 Mbit/s"
delay = "1 ms"
queue = "50 packets"
[[flow]]
name = "get"
client = "phone"
server = "server"
application = "bulk"
[[flow]]
name = "backup"
client = "tablet"
server = "server"
application = { type = "bulk", direction = "upload" }
"#;

#[test]
fn attachments_share_one_rate() {
    let run = run(&scenario(AIR, &[]));
    let busy: f64 = ["ap", "phone", "tablet"]
        .map(|node| run.attachment("air", node)["utilisation"].as_f64().unwrap())
        .iter()
        .sum();
    assert!((0.9..=1.0 + 1e-9).contains(&busy), "{busy}");
    let sum = |key: &str| -> f64 {
        ["get", "backup"].iter().map(|name| run.connection(name)[key].as_f64().unwrap()).sum()
    };
    let goodput = sum("goodput_mbps");
    assert!((7.0..10.0).contains(&goodput), "{goodput}");
    assert_eq!(run.connection("get")["bottleneck"], "air ap");
    assert_eq!(run.connection("backup")["bottleneck"], "air tablet");
    let station = run.attachment("air", "ap");
    assert!(station["queue_delay_mean_ms"].as_f64().unwrap() > 5.0, "{station}");
    let rates = run.numbers("rate", "mbps", &[("subject", "air"), ("kind", "capacity")]);
    assert!(rates.len() >= 39 && rates.iter().all(|rate| *rate == 10.0), "{rates:?}");
    assert!(!run.rows("queue", &[("link", "air tablet")]).is_empty());
}

#[test]
fn an_attachment_has_options_of_its_own() {
    let run = run(&scenario(AIR, &["medium.air.at.phone.loss=5 %", "medium.air.at.tablet.queue=4 packets"]));
    assert!(run.attachment("air", "ap")["drops"]["loss"].as_u64().unwrap() > 0, "towards the phone");
    assert!(run.attachment("air", "phone")["drops"]["loss"].as_u64().unwrap() > 0, "from the phone");
    assert_eq!(run.attachment("air", "tablet")["drops"]["loss"], 0);
    assert_eq!(run.attachment("air", "tablet")["queue_max_packets"], 4);
}

#[test]
fn packets_between_terminals_pass_the_station_if_there_is_one() {
    let between = ["flow.backup.server=phone", "flow.get.start=3.9 s"];
    let with = run(&scenario(AIR, &between));
    let station = "station = \"ap\"\nterminals = [\"phone\", \"tablet\"]";
    let alone = AIR.replace(station, "terminals = [\"ap\", \"phone\", \"tablet\"]");
    let without = run(&scenario(&alone, &between));
    let goodput = |run: &Run| run.connection("backup")["goodput_mbps"].as_f64().unwrap();
    let ratio = goodput(&without) / goodput(&with);
    assert!((1.8..2.2).contains(&ratio), "each packet is sent once instead of twice: {ratio}");
}

/// Changes to scenarios that use each middlebox and each medium, with random options.
fn cases() -> Vec<(&'static str, String)> {
    let rooms = lab::rooms();
    let rows = |name: &str| rooms.iter().find(|room| room.name == name).unwrap().rows.clone();
    let mut cases = Vec::new();
    for row in rows("middleboxes") {
        let drawn = (0..200).map(|seed| Author::new(seed).component(row.name, row.parameters));
        let sets = drawn.map(|value| format!("node.ap.kind={value}"));
        cases.extend(sets.filter(|set| reads(NAT, set)).take(4).map(|set| (NAT, set)));
    }
    for row in rows("media") {
        // QUIC needs 1,200 bytes.
        let options: Vec<Parameter> =
            row.parameters.iter().filter(|parameter| parameter.name != "mtu").copied().collect();
        let drawn = (0..200).map(|seed| Author::new(seed).component(row.name, &options));
        let sets = drawn.map(|value| {
            let options = value.strip_prefix('{').unwrap().to_owned();
            format!(
                "medium.0={{ name = \"air\", station = \"ap\", terminals = [\"phone\", \"tablet\"],{options}"
            )
        });
        cases.extend(sets.filter(|set| reads(AIR, set)).take(4).map(|set| (AIR, set)));
    }
    assert_eq!(cases.len(), 4 * (rows("middleboxes").len() + rows("media").len()));
    cases
}

fn reads(text: &str, set: &str) -> bool {
    Scenario::parse(text, &crate::bed::examples().join("a.toml"), &[set.to_owned()]).is_ok()
}

#[test]
fn equal_seeds_and_both_protections_give_equal_records() {
    for (at, (text, set)) in cases().iter().enumerate() {
        let seed = format!("seed={at}");
        let of =
            |protection: &str| run(&scenario(text, &[set, &seed, &format!("tls.protection={protection}")]));
        let null = of("null");
        assert_equal(&null, &of("null"), set);
        assert_equal(&null, &of("tls"), set);
        if *text == NAT {
            let tcp =
                || run(&scenario(text, &[set, &seed, "flow.get.protocol=tcp", "link.home.both.loss=1 %"]));
            assert_equal(&tcp(), &tcp(), set);
        }
    }
}

#[test]
fn middleboxes_and_media_are_described_and_written() {
    for text in [NAT, AIR] {
        let sets: &[&str] = if text == AIR { &["medium.air.at.phone.loss=5 %"] } else { &[] };
        let scenario = scenario(text, sets);
        let written = scenario.to_toml();
        let again = Scenario::parse(&written, Path::new("a.toml"), &[]).unwrap();
        assert_eq!(again, scenario, "{written}");
        assert_eq!(again.to_toml(), written);
    }
    let lines = lab::describe(&scenario(AIR, &["medium.air.at.phone.loss=5 %"]));
    let line = |subject: &str| &lines.iter().find(|(known, _)| known == subject).unwrap().1;
    assert_eq!(line("network"), "4 nodes, 1 link, 1 medium");
    assert_eq!(
        line("medium air"),
        "shared, rate 10 Mbit/s, delay 1 ms, queue 50 packets: ap with phone, tablet"
    );
    assert_eq!(line("medium air, phone"), "loss 0.05");
    assert_eq!(line("flow get, server to phone"), "bottleneck air ap 10 Mbit/s, base RTT 22 ms, BDP 27.5 kB");
    let lines = lab::describe(&scenario(NAT, &[]));
    assert!(
        lines.iter().any(|(subject, words)| subject == "node ap" && words.starts_with("nat")),
        "{lines:?}"
    );
}

#[test]
fn the_summary_has_the_route_of_every_connection() {
    let run = run(&scenario(
        r#"
duration = "2 s"
[[node]]
name = "client"
[[node]]
name = "server"
[[node]]
name = "printer"
[[node]]
name = "shaper"
processing = { type = "server", packet = "10 us" }
[[link]]
name = "far"
from = "server"
to = "shaper"
both = { rate = "10 Mbit/s", delay = "5 ms" }
[[link]]
name = "near"
from = "client"
to = "shaper"
both = { rate = "10 Mbit/s", delay = "5 ms" }
[[link]]
name = "side"
from = "shaper"
to = "printer"
both = { rate = "10 Mbit/s", delay = "5 ms" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "30 kB" }
[[cross_traffic]]
name = "noise"
from = "printer"
to = "client"
source = { type = "constant", gap = "10 ms" }
"#,
        &[],
    ));
    let words = |value: &serde_json::Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let route = &run.connection("get")["route"];
    assert_eq!(words(&route["there"]), ["near forward", "far backward"]);
    assert_eq!(words(&route["back"]), ["far forward", "near backward"]);
    assert_eq!(words(&route["nodes"]), ["client", "shaper", "server"]);
    let cross = &run.summary["cross_traffic"][0]["route"];
    assert_eq!(words(&cross["there"]), ["side backward", "near backward"]);
    assert_eq!(words(&cross["nodes"]), ["printer", "shaper", "client"]);
}

#[test]
fn the_route_has_the_ways_by_all_ports_of_a_client_that_moves() {
    let text = std::fs::read_to_string(examples().join("migration.toml")).unwrap();
    let run = run(&scenario(&text, &[]));
    let route = run.connection("film")["route"].to_string();
    for queue in ["wlan forward", "wlan backward", "cellular forward", "cellular backward"] {
        assert!(route.contains(queue), "{route}");
    }
}
