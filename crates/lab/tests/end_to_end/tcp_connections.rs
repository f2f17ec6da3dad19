//! Flows over TCP whose applications open several streams, with a connection for each.

use crate::bed::{LINKS, ONE_LINK, Run, assert_clean, run, run_into, scenario};
use crate::captures::tshark;
use std::collections::BTreeSet;

const THREE: [&str; 2] = ["flow.get.protocol=tcp", "flow.get.application.streams=3"];

fn three(more: &[&str]) -> lab::Scenario {
    let sets: Vec<&str> = THREE.into_iter().chain(more.iter().copied()).collect();
    scenario(ONE_LINK, &sets)
}

/// The distinct words in a column of a table.
fn words(run: &Run, table: &str, column: &str) -> BTreeSet<String> {
    let table = run.table(table);
    let column = table.column(column).unwrap();
    (0..table.rows()).filter_map(|row| column.text(row).map(str::to_owned)).collect()
}

#[test]
fn every_stream_is_a_connection_in_tables_and_captures() {
    // The queue has room for three slow starts: tshark would report retransmissions.
    let run = run_into(&three(&["link.cell.both.queue=4 BDP"]), "tcp-three");
    let connection = run.connection("get");
    for (key, expected) in [
        ("completed", serde_json::json!(true)),
        ("clean", true.into()),
        ("delivered_bytes", 300_000.into()),
        ("sender", "server".into()),
    ] {
        assert_eq!(connection[key], expected, "{key}");
    }
    let names = ["get", "get#1", "get#2"].map(str::to_owned);
    for table in ["connection", "stream", "event", "packet"] {
        assert_eq!(words(&run, table, "connection"), names.clone().into(), "{table}");
    }
    // Each connection carried a third of the bytes.
    let received = run.numbers("stream", "received_bytes", &[("side", "client")]);
    assert_eq!(received, [100_000.0; 3]);
    assert!(run.files.keys().all(|name| !name.ends_with(".sqlog")), "{:?}", run.files.keys());

    let look = ["-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0", "-T", "fields", "-e", "tcp.srcport"];
    let Some(text) = tshark(&run.capture, &look) else { return };
    assert_eq!(text.lines().collect::<BTreeSet<_>>(), ["34433", "34434", "34435"].into());
    let Some(strange) = tshark(&run.capture, &["-Y", "_ws.malformed || tcp.analysis.flags"]) else { return };
    assert_eq!(strange, "");
}

#[test]
fn all_data_arrives_over_every_link_in_both_directions() {
    for (kind, sets) in LINKS {
        for direction in ["download", "upload"] {
            let direction = format!("flow.get.application.direction={direction}");
            let sets: Vec<&str> = sets.iter().copied().chain([direction.as_str()]).collect();
            let run = run(&three(&sets));
            let connection = run.connection("get");
            assert_eq!(connection["delivered_bytes"], 300_000, "{kind} {direction}");
            assert_eq!(connection["completed"], true, "{kind} {direction}");
        }
    }
}

/// RFC 9293 section 3.10.7.4: an end in TIME-WAIT acknowledges a late duplicate, and the closed other end responds with a
/// reset. That is no error, and the other connections of the flow continue.
#[test]
fn a_late_duplicate_ends_no_other_connection() {
    for direction in ["download", "upload"] {
        for seed in 1..=12 {
            let sets = [
                &format!("seed={seed}"),
                &format!("flow.get.application.direction={direction}"),
                "link.cell.both.duplicate=20 %",
                "link.cell.both.loss=5 %",
                "link.cell.both.reorder=true",
                "link.cell.both.jitter={ type = \"uniform\", maximum = \"60 ms\" }",
            ];
            let run = run(&three(&sets.map(|set| -> &str { set })));
            let connection = run.connection("get");
            assert_eq!(connection["delivered_bytes"], 300_000, "{direction} {seed}: {connection}");
            assert_clean(connection, direction);
        }
    }
}

#[test]
fn equal_seeds_give_equal_bytes_and_connections_draw_independently() {
    let loss = "link.cell.both.loss=2 %";
    let [first, second] = ["a", "b"].map(|name| run_into(&three(&[loss]), &format!("tcp-three-{name}")));
    assert_eq!(first.files["capture.pcapng"], second.files["capture.pcapng"]);
    assert_eq!(first.text, second.text);
    // The first connection opens like the only one of a flow.
    let one = run(&scenario(ONE_LINK, &[THREE[0], loss]));
    let opened = |run: &Run| run.rows("event", &[("connection", "get"), ("event", "connection_started")]);
    assert_eq!(opened(&one), opened(&first));
}

#[test]
fn a_flow_that_is_stopped_closes_all_its_connections() {
    let text = format!("{ONE_LINK}stop = \"2 s\"\n");
    let text = text.replace("application = { type = \"bulk\", size = \"300 kB\" }", "application = \"bulk\"");
    let sets = [THREE[0], THREE[1]];
    let run = run(&scenario(&text, &sets));
    assert_eq!(run.connection("get")["clean"], true);
    let closed = run.rows("event", &[("side", "client"), ("event", "connection_closed")]);
    assert_eq!(closed.len(), 3, "{closed:?}");
    assert!(run.summary["duration_s"].as_f64().unwrap() < 3.0);
}

#[test]
fn connections_need_ports() {
    let flow = |index: usize| {
        format!(
            "[[flow]]\nname = \"f{index}\"\nclient = \"client\"\nserver = \"server\"\nprotocol = \"tcp\"\n\
             application = {{ type = \"bulk\", size = \"1 kB\", streams = 256 }}\n"
        )
    };
    let flows = |count: usize| (0..count).map(flow).collect::<String>();
    let check = |count: usize| lab::check(&scenario(&format!("{ONE_LINK}{}", flows(count)), &[]));
    assert!(check(100).is_ok());
    let error = check(118).unwrap_err().to_string();
    assert!(error.contains("more than 30000 TCP connections"), "{error}");
}
