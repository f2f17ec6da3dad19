//! The qlog files of a run: JSON-SEQ, with the numbers of events from the summary.

use crate::bed::{LINKS, ONE_LINK, Run, run_into, scenario};
use serde_json::Value;

/// The records of a file, each between a record separator and a newline (RFC 7464).
fn records(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("UTF-8");
    assert!(text.ends_with('\n'));
    let record = |line: &str| {
        let line = line.strip_prefix('\u{1e}').unwrap_or_else(|| panic!("no record separator: {line}"));
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    };
    text.lines().map(record).collect()
}

fn events(run: &Run, side: &str) -> Vec<Value> {
    let mut records = records(&run.files[&format!("get-{side}.sqlog")]);
    let header = records.remove(0);
    assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
    assert_eq!(header["serialization_format"], "application/qlog+json-seq");
    assert_eq!(header["trace"]["vantage_point"]["type"], side);
    let mut last = 0.0;
    for event in &records {
        let at = event["time"].as_f64().expect("a time");
        assert!(at >= last, "{event} after {last}");
        last = at;
        assert!(event["name"].as_str().is_some_and(|name| name.contains(':')), "{event}");
        assert!(event["data"].is_object(), "{event}");
    }
    assert!(last <= run.summary["duration_s"].as_f64().unwrap() * 1e3 + 1e-3);
    records
}

fn count(events: &[Value], name: &str) -> u64 {
    events.iter().filter(|event| event["name"] == name).count() as u64
}

fn frames(event: &Value) -> Vec<&str> {
    let frames = event["data"]["frames"].as_array().map_or(&[][..], Vec::as_slice);
    frames.iter().map(|frame| frame["frame_type"].as_str().expect("a type")).collect()
}

fn sent_with(events: &[Value], which: impl Fn(&[&str]) -> bool) -> u64 {
    let sent = events.iter().filter(|event| event["name"] == "quic:packet_sent");
    sent.filter(|event| which(&frames(event))).count() as u64
}

#[test]
fn numbers_of_events_are_those_of_the_summary() {
    for (kind, sets) in LINKS {
        for protection in ["tls.protection=null", "tls.protection=tls"] {
            let sets: Vec<&str> = sets.iter().copied().chain([protection]).collect();
            let run = run_into(&scenario(ONE_LINK, &sets), &format!("qlog-{kind}-{protection}"));
            let get = run.connection("get");
            let number = |field: &str| get[field].as_u64().unwrap();
            let [client, server] = ["client", "server"].map(|side| events(&run, side));
            assert_eq!(count(&server, "quic:packet_sent"), number("packets_sent"), "{kind}");
            assert_eq!(count(&server, "quic:packet_lost"), number("packets_declared_lost"), "{kind}");
            assert_eq!(
                sent_with(&server, |frames| frames.contains(&"stream")),
                number("data_packets_sent"),
                "{kind}"
            );
            let passive = |frames: &[&str]| {
                frames.iter().all(|frame| ["ack", "padding", "connection_close"].contains(frame))
                    && frames.contains(&"ack")
            };
            assert_eq!(sent_with(&client, passive), number("ack_only_packets_received"), "{kind}");
            for (side, events) in [("client", &client), ("server", &server)] {
                for (name, direction) in
                    [("packet_sent", "sent"), ("packet_received", "received"), ("packet_dropped", "dropped")]
                {
                    let rows = run.rows("packet", &[("side", side), ("direction", direction)]);
                    assert_eq!(
                        count(events, &format!("quic:{name}")),
                        rows.len() as u64,
                        "{kind} {side} {name}"
                    );
                }
            }
            assert!(count(&server, "quic:recovery_metrics_updated") > 10, "{kind}");
            // The packets that the client processed contain each byte of the download.
            let mut covered = vec![false; 300_000];
            for event in client.iter().filter(|event| event["name"] == "quic:packet_received") {
                for frame in event["data"]["frames"].as_array().unwrap() {
                    if frame["frame_type"] == "stream" {
                        let offset = frame["offset"].as_u64().unwrap_or(0) as usize;
                        let length = frame["raw"]["length"].as_u64().unwrap() as usize;
                        covered[offset..offset + length].fill(true);
                    }
                }
            }
            assert!(covered.iter().all(|byte| *byte), "{kind}");
        }
    }
}

#[test]
fn tables_contain_all_drops_and_losses() {
    for (kind, sets) in LINKS {
        let run = run_into(&scenario(ONE_LINK, sets), &format!("tables-{kind}"));
        let get = run.connection("get");
        assert_eq!(
            run.rows("loss", &[("side", "server")]).len() as u64,
            get["packets_declared_lost"].as_u64().unwrap(),
            "{kind}"
        );
        let mut drops = 0;
        for direction in ["forward", "backward"] {
            let link = run.link("cell", direction);
            for reason in ["queue", "loss", "mtu"] {
                let rows = run.rows("drop", &[("link", &format!("cell {direction}")), ("reason", reason)]);
                assert_eq!(
                    rows.len() as u64,
                    link["drops"][reason].as_u64().unwrap(),
                    "{kind} {direction} {reason}"
                );
                drops += rows.len();
            }
        }
        assert_eq!(drops, run.table("drop").rows(), "{kind}");
        assert_eq!(run.rows("stream", &[("side", "client")]).len(), 1, "{kind}");
        let received = run.numbers("stream", "received_bytes", &[("side", "client")]);
        assert_eq!(received, [300_000.0], "{kind}");
    }
}
