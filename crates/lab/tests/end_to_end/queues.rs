//! Managed queues, which keep delays short and links busy by drops or marks.

use crate::bed::{ONE_LINK, assert_clean, run, scenario};

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

/// Every queue, with parameters with which nothing but its limit drops a packet.
const LIMITED: &[&str] = &[
    "{ type = \"drop-tail\", limit = \"LIMIT\" }",
    "{ type = \"drop-head\", limit = \"LIMIT\" }",
    "{ type = \"codel\", limit = \"LIMIT\", target = \"10 s\", interval = \"20 s\" }",
    "{ type = \"fq-codel\", limit = \"LIMIT\", target = \"10 s\", interval = \"20 s\" }",
    "{ type = \"red\", limit = \"LIMIT\", min_th = \"80 packets\", max_th = \"90 packets\" }",
    "{ type = \"pie\", limit = \"LIMIT\", target = \"10 s\" }",
    "{ type = \"dualpi2\", limit = \"LIMIT\", target = \"10 s\" }",
    "{ type = \"priority\", classes = [], limit = \"LIMIT\" }",
    "{ type = \"policer\", rate = \"1 Gbit/s\", burst = \"1 MB\", limit = \"LIMIT\" }",
];

/// A sender of twice the rate fills every queue to its limit, over both IP versions. What does not fit is dropped and counted: the
/// books of the run balance, and the download beside it arrives whole.
#[test]
fn every_queue_is_filled_to_its_limit() {
    let noise = "\n[[cross_traffic]]\nname = \"noise\"\nfrom = \"server\"\nto = \"client\"\nstop = \"2 s\"\n\
                 source = { type = \"constant\", size = 1000, gap = \"400 us\" }\n";
    for queue in LIMITED {
        for ip in [4, 6] {
            let queue = format!("link.cell.forward.queue={}", queue.replace("LIMIT", "20 packets"));
            let sets = [queue.as_str(), &format!("flow.get.ip={ip}"), "flow.get.application.size=50 kB"];
            let run = run(&scenario(&format!("{ONE_LINK}{noise}"), &sets));
            let link = run.link("cell", "forward");
            assert_eq!(link["queue_max_packets"], 20, "IPv{ip}, {queue}: {link}");
            let count = |key: &str| link[key].as_u64().unwrap();
            let dropped = link["drops"]["queue"].as_u64().unwrap();
            assert!(dropped > 100, "IPv{ip}, {queue}: {link}");
            let left = count("delivered_packets") + dropped + count("inside_packets");
            assert_eq!(count("offered_packets"), left, "IPv{ip}, {queue}: {link}");
            assert_eq!(run.rows("drop", &[("reason", "queue")]).len() as u64, dropped, "IPv{ip}, {queue}");
            assert_clean(run.connection("get"), &queue);
        }
    }
}
