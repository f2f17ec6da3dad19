//! The bottleneck in the summary, and values that are null.

use crate::bed::{ONE_LINK, examples, run, scenario};
use lab::Scenario;

/// Each of three flows over three links has its own bottleneck.
#[test]
fn each_connection_has_the_bottleneck_of_its_own_route() {
    let scenario = Scenario::from_file(examples().join("page.toml"), &[]).unwrap();
    let run = run(&scenario);
    for (flow, link) in [("http1", "first forward"), ("http2", "second forward"), ("http3", "third forward")]
    {
        assert_eq!(run.connection(flow)["bottleneck"], link, "{flow}");
    }
}

/// The bottleneck is in the direction of the data.
#[test]
fn the_bottleneck_is_in_the_direction_of_the_data() {
    let of = |sets: &[&str]| run(&scenario(ONE_LINK, sets)).connection("get")["bottleneck"].clone();
    assert_eq!(of(&[]), "cell forward");
    assert_eq!(of(&["flow.get.application.direction=upload"]), "cell backward");
}

/// Of several links on a route, the bottleneck is the one with the longest queue, or else the slowest.
#[test]
fn the_bottleneck_is_the_link_with_the_longest_queue() {
    let text = r#"
seed = 1
duration = "20 s"
[[link]]
name = "a"
from = "server"
to = "router"
both = { rate = "50 Mbit/s", delay = "5 ms", queue = "200 packets" }
[[link]]
name = "b"
from = "router"
to = "client"
both = { rate = "10 Mbit/s", delay = "5 ms", queue = "200 packets" }
[[flow]]
name = "get"
client = "client"
server = "server"
application = { type = "bulk", size = "1 MB" }
"#;
    let of = |sets: &[&str]| run(&scenario(text, sets)).connection("get")["bottleneck"].clone();
    assert_eq!(of(&[]), "b forward");
    assert_eq!(of(&["link.b.both.rate=400 Mbit/s"]), "a forward");
    // A single packet meets no queue.
    assert_eq!(of(&["flow.get.application.size=1 kB"]), "b forward");
}

/// Before the first sample, the latest and the minimum RTT are null, not 0 ms.
#[test]
fn there_is_no_rtt_before_the_first_sample() {
    // The first packet of each end is lost, so that its timer fires before the first sample.
    let lost = "link.cell.both.loss={ type = \"list\", packets = [1] }";
    for protocol in ["quic", "tcp"] {
        let run = run(&scenario(ONE_LINK, &[&format!("flow.get.protocol={protocol}"), lost]));
        let table = run.table("connection");
        for column in ["latest_rtt_ms", "min_rtt_ms"] {
            let column = table.column(column).unwrap();
            let values: Vec<Option<f64>> = (0..table.rows()).map(|row| column.number(row)).collect();
            assert!(values.iter().any(Option::is_none), "{protocol}");
            // 20 ms each way.
            assert!(values.iter().flatten().all(|ms| *ms >= 40.0), "{protocol}");
        }
    }
}

/// The goodput is null if the completion time rounds to 0 s.
#[test]
fn there_is_no_goodput_over_no_time() {
    let none =
        ["link.cell.both.delay=0 s", "link.cell.both.rate=unlimited", "flow.get.application.size=1 kB"];
    let run = run(&scenario(ONE_LINK, &none));
    let connection = run.connection("get");
    assert_eq!(connection["completion_s"], 0.0);
    assert!(connection["goodput_mbps"].is_null(), "{}", connection["goodput_mbps"]);
    assert_eq!(connection["delivered_bytes"], 1000);
}
