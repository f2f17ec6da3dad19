//! Connections that resume from the capacity that an earlier one observed (RFC 9959).

use crate::bed::{Run, assert_clean, assert_equal, run, run_into, scenario};
use lab::Options;
use serde_json::Value;
use std::ops::ControlFlow;

/// A client that returns twice over a satellite: 10 MB, then 500 kB, then 10 MB.
const SATELLITE: &str = r#"
duration = "60 s"
[transport]
initial_max_data = "16 MB"
initial_max_stream_data_bidi_local = "16 MB"
[tcp]
receive_buffer = "16 MB"
max_receive_buffer = "16 MB"
send_buffer = "16 MB"
[[link]]
name = "geo"
from = "server"
to = "client"
rate = "50 Mbit/s"
delay = "300 ms"
queue = "3.75 MB"
[link.backward]
rate = "10 Mbit/s"
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "10 MB" }
visits = [
    { at = "20 s", application = { type = "bulk", size = "500 kB" } },
    { at = "40 s", application = { type = "bulk", size = "10 MB" } },
]
"#;

/// Settings for 0-RTT, in which BDP_FRAME comes back, and for a token, without which the server waits for the client's address to
/// be validated.
const EARLY: [&str; 4] =
    ["flow.get.early_data=true", "tls.tickets=1", "tls.early_data=true", "transport.new_tokens=1"];

fn completions(run: &Run) -> [f64; 3] {
    ["get", "get@2", "get@3"].map(|name| {
        assert_clean(run.connection(name), name);
        run.connection(name)["completion_s"].as_f64().unwrap()
    })
}

/// The completion of the second connection of a client that has nothing but tokens, and an event.
fn plain_tampered(event: &str) -> f64 {
    completions(&run(&scenario(SATELLITE, &[&EARLY[..], &[event]].concat())))[1]
}

/// The changes of the phase in a qlog file.
fn phases(log: &[u8]) -> Vec<Value> {
    let lines = String::from_utf8_lossy(log).into_owned();
    let events =
        lines.lines().filter_map(|line| serde_json::from_str(line.trim_start_matches('\u{1e}')).ok());
    let phases = events.filter(|event: &Value| event["name"] == "quic:careful_resume_phase_updated");
    phases.map(|event| event["data"].clone()).collect()
}

/// 500 kB take 4.25 s in slow start from ten packets. Half of what ten megabytes found, at once, takes half of that.
#[test]
fn a_returning_client_is_served_from_the_saved_capacity() {
    for (protocol, section) in [("quic", "transport"), ("tcp", "tcp")] {
        for controller in ["newreno", "cubic", "bbr1", "bbr3"] {
            let with = |resume: &str| {
                let sets = [
                    format!("flow.get.protocol={protocol}"),
                    format!("{section}.controller={controller}"),
                    format!("{section}.resume={resume}"),
                ];
                let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
                completions(&run(&scenario(SATELLITE, &sets)))
            };
            let ([first, short, long], careful, seed) = (with("none"), with("careful"), with("seed"));
            let what = format!("{protocol} {controller} {careful:?} {seed:?}");
            assert_eq!((first, first), (long, careful[0]), "{what}: nothing is known yet");
            assert!((0.45..0.65).contains(&(1.0 - careful[1] / short)), "{what} {short}");
            assert!(careful[2] < 0.65 * long && seed[1] < careful[1] && seed[2] < careful[2], "{what}");
        }
    }
}

#[test]
fn the_trace_has_the_phases_by_their_names() {
    let run = run_into(&scenario(SATELLITE, &["transport.resume=careful"]), "resume-phases");
    assert!(
        phases(&run.files["get-server.sqlog"]).is_empty()
            && phases(&run.files["get@3-client.sqlog"]).is_empty()
    );
    let phases = phases(&run.files["get@3-server.sqlog"]);
    let names: Vec<_> = phases.iter().map(|data| (data["new"].clone(), data["trigger"].clone())).collect();
    let expected = [
        ("reconnaissance", Value::Null),
        ("unvalidated", "congestion_window_limited".into()),
        ("validating", "last_unvalidated_packet_sent".into()),
        ("normal", "last_unvalidated_packet_acknowledged".into()),
    ];
    assert_eq!(names, expected.map(|(new, trigger)| (new.into(), trigger)));
    let number = |at: usize, group: &str, key: &str| phases[at][group][key].as_f64().unwrap();
    let saved = number(0, "restored_data", "saved_congestion_window");
    // 10 MB end before slow start has reached 50 Mbit/s x 600 ms.
    assert!((1.9e6..3.75e6).contains(&saved), "{saved}");
    assert_eq!(number(1, "state_data", "congestion_window"), (saved / 2.0).floor());
    assert!((600.0..601.0).contains(&number(0, "restored_data", "saved_rtt")));
    let [first, last] =
        ["first_unvalidated_packet", "last_unvalidated_packet"].map(|key| number(3, "state_data", key));
    // Half of the capacity, less what was in flight, in packets of 1472 bytes.
    let sent = saved / 2.0 / 1472.0;
    assert!((0.8..1.01).contains(&((last - first) / sent)), "{first} {last} {sent}");
    let rows = run.rows("event", &[("event", "saved_path")]);
    assert_eq!(rows.len(), 2, "{rows:?}");
}

/// Each check keeps a saved capacity from being used, and can be switched off.
#[test]
fn a_failed_check_is_a_plain_start() {
    let short = |sets: &[&str]| completions(&run(&scenario(SATELLITE, sets)))[1];
    let (plain, careful) = (short(&[]), short(&["transport.resume=careful"]));
    let with = |check: bool| {
        let resume = format!("{{ type = \"careful\", lifetime = \"1 s\", check_lifetime = {check} }}");
        short(&[&format!("transport.resume={resume}")])
    };
    assert_eq!((with(true), with(false)), (plain, careful));
    // A path with less than half of the round trip is another one.
    let nearer =
        "link.geo.jitter={ type = \"changes\", steps = [[\"0 s\", \"700 ms\"], [\"19 s\", \"0 s\"]] }";
    let with =
        |on: bool| short(&[nearer, &format!("transport.resume={{ type = \"careful\", check_rtt = {on} }}")]);
    assert_eq!(with(true), short(&[nearer]));
    assert!(with(false) < with(true));
    // A server that has forgotten everything.
    let forgets = "event=[{ at = \"15 s\", type = \"forget\", node = \"server\" }]";
    assert_eq!(short(&["transport.resume=careful", forgets]), short(&["transport.resume=none", forgets]));
}

/// A token that comes back does what a store does, once the first connection has filled the link: while slow start lasts, the
/// last token is a round trip older than what the server knows in the end.
#[test]
fn each_carrier_resumes_as_fast() {
    let of = |resume: &str| {
        let resume = format!("transport.resume={{ type = \"careful\", {resume} }}");
        let run =
            run(&scenario(SATELLITE, &[&EARLY[..], &["flow.get.application.size=50 MB", &resume]].concat()));
        let rows = run.rows("event", &[("event", "saved_path")]);
        (
            completions(&run),
            rows.iter().flatten().filter(|text| text.ends_with("accepted")).cloned().collect::<Vec<_>>(),
        )
    };
    let (store, how) = of("store = \"address\"");
    assert_eq!(how, ["store accepted"; 2]);
    for (carrier, options) in [
        ("store", "store = \"ticket\""),
        ("token", "store = \"off\", token = true"),
        ("bdp_frame", "store = \"off\", bdp_frame = true"),
    ] {
        let (times, how) = of(options);
        assert_eq!(how, [format!("{carrier} accepted"), format!("{carrier} accepted")]);
        for visit in 1..3 {
            assert!((times[visit] / store[visit] - 1.0).abs() < 0.02, "{carrier} {times:?} {store:?}");
        }
    }
    // All at once: the first one counts.
    let (_, how) = of("store = \"ticket\", token = true, bdp_frame = true");
    assert_eq!(how, ["token accepted"; 2]);
    // A client that lies gains nothing.
    for (carrier, options) in [("token", "token = true"), ("bdp_frame", "bdp_frame = true")] {
        let resume = format!("transport.resume={{ type = \"careful\", store = \"off\", {options} }}");
        let tamper = "event=[{ at = \"15 s\", type = \"tamper\", node = \"client\" }]";
        let run = run(&scenario(SATELLITE, &[&EARLY[..], &[&resume, tamper]].concat()));
        let rows = run.rows("event", &[("event", "saved_path")]);
        let first = rows[0].iter().find(|text| text.starts_with(carrier)).unwrap();
        assert_eq!(*first, format!("{carrier} forged"));
        // A token with a capacity is longer than one without.
        assert!((completions(&run)[1] - plain_tampered(tamper)).abs() < 0.001);
    }
    let (none, how) = of("store = \"off\"");
    assert_eq!(how, [""; 0]);
    assert_eq!(
        none,
        completions(&run(&scenario(SATELLITE, &[&EARLY[..], &["flow.get.application.size=50 MB"]].concat())))
    );
}

/// Nothing happens between visits, so that two days of it take as many steps of the simulation as a minute, and as many packets and
/// records. What was saved is used if its lifetime is longer than that.
#[test]
fn the_time_between_visits_is_not_simulated() {
    let of = |gap: [&str; 2], lifetime: &str| {
        let [second, third] = gap;
        let visit = |at: &str, size: &str| {
            format!("{{ at = \"{at}\", application = {{ type = \"bulk\", size = \"{size}\" }} }}")
        };
        let visits = format!("flow.get.visits=[{}, {}]", visit(second, "500 kB"), visit(third, "10 MB"));
        let resume = format!("transport.resume={{ type = \"careful\", lifetime = \"{lifetime}\" }}");
        let tables = "record.tables=[\"connection\", \"event\", \"gauge\"]";
        let sets = [&visits, &resume, "duration=100 h", tables, "record.packets=true"];
        let mut steps = 0;
        let options = Options { tables: true, ..Options::default() };
        let outcome = lab::run(&scenario(SATELLITE, &sets), &options, &mut |_| {
            steps += 1;
            ControlFlow::Continue(())
        });
        let outcome = outcome.unwrap();
        let summary: Value = serde_json::from_str(&outcome.summary).unwrap();
        let rows: Vec<_> = outcome.tables.iter().map(|table| (table.name, table.rows())).collect();
        let entries = summary["connections"].as_array().unwrap();
        let counts =
            entries.iter().map(|entry| (entry["packets_sent"].as_u64(), entry["bytes_sent"].as_u64()));
        let times = entries.iter().map(|entry| entry["completion_s"].as_f64().unwrap());
        assert!(steps > 2 && rows[0].1 > 1000, "{steps} {rows:?}");
        ((steps, rows, counts.collect::<Vec<_>>()), times.collect::<Vec<_>>())
    };
    let (minute, days) = (["60 s", "120 s"], ["48 h", "96 h"]);
    let (near, near_times) = of(minute, "120 h");
    let (far, far_times) = of(days, "120 h");
    assert_eq!(near, far);
    assert!(near_times.iter().zip(&far_times).all(|(near, far)| (near - far).abs() < 1e-6));
    // A short connection leaves what is known as old as it is, so that the third one finds what is four days old. A day is too short.
    let (_, kept) = of(minute, "24 h");
    let (_, expired) = of(days, "24 h");
    assert_eq!(kept, near_times);
    assert!(expired[1] > 1.5 * far_times[1] && expired[2] > 1.3 * far_times[2], "{expired:?} {far_times:?}");
}

/// Two connections at once: the second starts without what the first one uses.
#[test]
fn one_connection_at_a_time_uses_a_saved_capacity() {
    let both = "flow.get.visits=[{ at = \"20 s\" }, { at = \"20.001 s\" }]";
    let results = |resume: &str| {
        let run = run(&scenario(SATELLITE, &[both, &format!("transport.resume={resume}")]));
        let mut rows = run.rows("event", &[("event", "saved_path")]);
        rows.retain(|row| row.iter().any(|text| text.starts_with("store")));
        rows.into_iter()
            .map(|row| row.iter().find(|text| text.starts_with("store")).unwrap().clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(results("careful"), ["store accepted", "store in_use"]);
    assert_eq!(
        results("{ type = \"careful\", check_single_use = false }"),
        ["store accepted", "store accepted"]
    );
}

/// A saved capacity that is ten times too large is tried, given up, and forgotten.
#[test]
fn a_capacity_that_is_gone_is_retreated_from() {
    let slower =
        "link.geo.rate={ type = \"changes\", steps = [[\"0 s\", \"50 Mbit/s\"], [\"15 s\", \"5 Mbit/s\"]] }";
    let sets = ["transport.resume=careful", slower, "link.geo.queue=375 kB", "duration=90 s"];
    let run = run_into(&scenario(SATELLITE, &sets), "resume-retreat");
    completions(&run);
    let last = phases(&run.files["get@3-server.sqlog"]);
    let names: Vec<_> = last.iter().map(|data| data["new"].as_str().unwrap()).collect();
    assert_eq!(names, ["reconnaissance", "unvalidated", "validating", "safe_retreat", "normal"]);
    let of = |at: usize, key: &str| last[at]["state_data"][key].as_f64().unwrap();
    assert!(of(3, "congestion_window") <= of(3, "pipesize") / 2.0);
    assert!(of(4, "ssthresh") <= of(4, "pipesize") / 2.0);
}

/// The summary says what the hosts know, and a scenario can begin with it.
#[test]
fn a_scenario_begins_with_what_another_one_has_learned() {
    let visit = "flow.get.visits=[]";
    for (protocol, section) in [("quic", "transport"), ("tcp", "tcp")] {
        let sets = [format!("flow.get.protocol={protocol}"), format!("{section}.resume=careful")];
        let sets = [&sets[0], &sets[1], visit];
        let first = run(&scenario(SATELLITE, &sets));
        let known = first.summary["memory"].as_array().unwrap().clone();
        let [known] = &known[..] else { panic!("{known:?}") };
        assert_eq!((&known["node"], &known["peer"]), (&"server".into(), &"client".into()));
        assert_eq!((&known["protocol"], &known["ip"]), (&protocol.into(), &4.into()));
        let (capacity, rtt) = (known["capacity_bytes"].as_u64().unwrap(), known["rtt_ms"].as_f64().unwrap());
        let entry = |capacity: u64, age: &str| {
            format!(
                "memory=[{{ name = \"geo\", node = \"server\", peer = \"client\", protocol = \"{protocol}\", \
                 capacity = \"{capacity} B\", rtt = \"{rtt} ms\", age = \"{age}\" }}]"
            )
        };
        let again = |memory: &str| {
            let sets = [&sets[..], &["flow.get.application.size=500 kB", memory]].concat();
            let run = run(&scenario(SATELLITE, &sets));
            run.connection("get")["completion_s"].as_f64().unwrap()
        };
        let (plain, resumed) = (again("memory=[]"), again(&entry(capacity, "1 h")));
        assert!((0.45..0.65).contains(&(1.0 - resumed / plain)), "{protocol} {plain} {resumed}");
        assert_eq!(again(&entry(capacity, "25 h")), plain, "older than its lifetime");
        assert!(again(&entry(capacity / 8, "1 h")) > resumed);
    }
}

#[test]
fn equal_seeds_give_equal_records() {
    let of = |sets: &[&str]| run(&scenario(SATELLITE, sets));
    for sets in
        [["flow.get.protocol=quic", "transport.resume=careful"], ["flow.get.protocol=tcp", "tcp.resume=seed"]]
    {
        assert_equal(&of(&sets), &of(&sets), sets[1]);
    }
}
