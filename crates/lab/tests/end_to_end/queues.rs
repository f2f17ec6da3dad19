//! Managed queues, which keep delays short and links busy by drops or marks.

use crate::bed::{ONE_LINK, run, scenario};

/// Runs an endless download for 20 s through this queue; returns the link's entry in the summary, and the goodput in Mbit/s.
fn through(queue: &str, sets: &[&str]) -> (serde_json::Value, f64) {
    let text = ONE_LINK.replace(", size = \"300 kB\"", "");
    let queue = format!("link.cell.forward.queue={queue}");
    let sets = [sets, &["duration=20 s", "record.queue_delay=true", &queue]].concat();
    let run = run(&scenario(&text, &sets));
    (run.link("cell", "forward").clone(), run.connection("get")["goodput_mbps"].as_f64().unwrap())
}

/// NewReno fills an unmanaged queue of 250 ms. Managed queues keep the median delay below 30 ms, use at least eight tenths of
/// the link, and with ECN mark packets instead of dropping them.
#[test]
fn managed_queues_are_short_and_mark_packets() {
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
        let (without_ecn, _) = through(&off, &["transport.ecn=true"]);
        assert_eq!(signals(&without_ecn).1, 0, "{queue} {without_ecn}");
    }
}
