//! The controller of this crate in a scenario, by its name.

use std::ops::ControlFlow;
use std::path::Path;

fn queue_and_loss(controller: &str) -> (f64, f64) {
    let text = r#"
duration = "20 s"
[transport]
initial_max_data = "16 MB"
[[link]]
name = "wire"
from = "server"
to = "client"
rate = "10 Mbit/s"
delay = "10 ms"
queue = "100 packets"
[[flow]]
name = "flow"
client = "client"
server = "server"
application = "bulk"
"#;
    let sets = [format!("transport.controller={controller}")];
    let scenario = lab::Scenario::parse(text, Path::new("own.toml"), &sets).unwrap();
    let outcome = lab::run(&scenario, &lab::Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
    let number = |key: &str| -> f64 {
        let from = outcome.summary.find(key).unwrap() + key.len();
        let rest = outcome.summary[from..].trim_start_matches(['"', ':', ' ']);
        rest.split([',', '}', '\n']).next().unwrap().parse().unwrap()
    };
    (number("queue_mean_packets"), number("goodput_mbps"))
}

#[test]
fn it_is_found_by_its_name_and_keeps_what_it_is_told_to_in_the_queue() {
    congestion::plug(own_controller::ROW).unwrap();
    for queued in [4.0, 20.0] {
        let (mean, goodput) = queue_and_loss(&format!("{{ type = \"keeper\", queued = {queued} }}"));
        assert!((mean - queued).abs() < 3.0 && goodput > 9.0, "{queued}: {mean} packets, {goodput} Mbit/s");
    }
    assert!(queue_and_loss("newreno").0 > 25.0);
}
