//! What managed queues do to a transfer: they keep it short of their limit and the link busy, by drops or by marks.

use crate::bed::{ONE_LINK, run, scenario};

/// 20 s of a download without end through this queue: the link's entry in the summary, and the flow's goodput in Mbit/s.
fn through(queue: &str, sets: &[&str]) -> (serde_json::Value, f64) {
    let text = ONE_LINK.replace(", size = \"300 kB\"", "");
    let queue = format!("link.cell.forward.queue={queue}");
    let sets = [sets, &["duration=20 s", "record.queue_delay=true", &queue]].concat();
    let run = run(&scenario(&text, &sets));
    (run.link("cell", "forward").clone(), run.connection("get")["goodput_mbps"].as_f64().unwrap())
}

/// An unmanaged queue of 250 ms stands full under NewReno; the managed ones keep the median delay below 30 ms, use
/// eight tenths of what headers leave of the link at least, and with ECN mark instead of dropping.
#[test]
fn managed_queues_are_short_and_mark_what_they_can() {
    let median = |link: &serde_json::Value| link["queue_delay_p50_ms"].as_f64().unwrap();
    let (full, _) = through("250 ms", &[]);
    assert!(median(&full) > 100.0, "{full}");
    for queue in ["codel", "fq-codel", "red", "pie", "dualpi2"] {
        let (dropping, goodput) = through(&format!("{{ type = \"{queue}\" }}"), &[]);
        let signals = |link: &serde_json::Value| {
            (link["drops"]["queue"].as_u64().unwrap(), link["marked_packets"].as_u64().unwrap())
        };
        let (drops, marks) = signals(&dropping);
        assert!(median(&dropping) < 30.0 && drops > 3 && marks == 0, "{queue} {dropping}");
        assert!(goodput > 7.5, "{queue} {goodput}");
        let (marking, goodput) = through(&format!("{{ type = \"{queue}\" }}"), &["transport.ecn=true"]);
        let (fewer, marks) = signals(&marking);
        assert!(median(&marking) < 30.0 && marks > 3 && fewer < drops, "{queue} {marking}");
        assert!(goodput > 7.5, "{queue} {goodput}");
        let off = format!("{{ type = \"{queue}\", ecn = false }}");
        let (deaf, _) = through(&off, &["transport.ecn=true"]);
        assert_eq!(signals(&deaf).1, 0, "{queue} {deaf}");
    }
}
