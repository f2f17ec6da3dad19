//! Many flows over one fast bottleneck: the cost of a packet and the memory of a flow if a thousand connections
//! take turns.

use crate::case::{Case, Transfer};
use crate::{clock, heap};
use lab::{Options, Outcome, Prepared, Scenario};
use std::ops::ControlFlow;
use std::path::Path;
use units::Duration;

/// 10 Gbit/s, 20 ms, a queue of one BDP; the flows share two hosts. Flow control does not limit them.
const NETWORK: &str = r#"
name = "many"

[transport]
initial_max_data = "64 MB"
initial_max_stream_data_bidi_local = "64 MB"

[[link]]
name = "wire"
from = "server"
to = "client"
rate = "10 Gbit/s"
delay = "10 ms"
queue = "1 BDP"
"#;

/// The number of flows in the cases with many flows.
const MANY: usize = 1000;

/// A scenario with this number of bulk transfers, read and prepared.
struct Flows {
    scenario: Scenario,
    prepared: Prepared,
}

impl Flows {
    fn new(flows: usize, time: Duration) -> Flows {
        let flow = |number| {
            format!(
                "[[flow]]\nname = \"flow-{number}\"\nclient = \"client\"\nserver = \"server\"\napplication = \"bulk\"\n"
            )
        };
        let document = format!("duration = \"{time}\"{NETWORK}") + &(0..flows).map(flow).collect::<String>();
        let scenario = Scenario::parse(&document, Path::new("bench.toml"), &[])
            .unwrap_or_else(|error| panic!("{error}"));
        let prepared = Prepared::new(&scenario).expect("the options of TLS are sound");
        Flows { scenario, prepared }
    }

    fn run(&self) -> Outcome {
        let options = Options::default();
        lab::run_prepared(&self.scenario, &self.prepared, &options, &mut |_| ControlFlow::Continue(()))
            .expect("the scenario can be run")
    }
}

/// The packets that crossed the bottleneck, from the summary; `bytes` and `seconds` are those of the whole run.
fn crossed(outcome: &Outcome) -> Transfer {
    let summary: serde_json::Value = serde_json::from_str(&outcome.summary).expect("a summary is JSON");
    let count = |pointer: &str| summary.pointer(pointer).and_then(serde_json::Value::as_u64).expect(pointer);
    Transfer {
        data_packets: count("/links/0/delivered_packets"),
        ack_packets: count("/links/1/delivered_packets"),
        dropped: count("/links/0/drops/queue"),
        bytes: count("/links/0/delivered_bytes"),
        seconds: summary["duration_s"].as_f64().expect("a number"),
    }
}

/// The case: data packets delivered per CPU second, by one flow or by many.
pub(super) struct Speed {
    many: bool,
    time: Duration,
    flows: Option<Flows>,
    last: Option<Transfer>,
}

impl Speed {
    /// Creates the case; its scenario is built at the first measurement.
    pub(super) fn new(many: bool, time: Duration) -> Speed {
        Speed { many, time, flows: None, last: None }
    }
}

impl Case for Speed {
    fn name(&self) -> &'static str {
        if self.many { "flows-1000" } else { "flows-1" }
    }
    fn unit(&self) -> &'static str {
        "data packets per CPU second"
    }
    fn about(&self) -> &'static str {
        if self.many {
            "quiclab, the same link shared by 1,000 flows"
        } else {
            "quiclab, one flow over 10 Gbit/s and 20 ms"
        }
    }
    fn run(&mut self) -> f64 {
        let flows = self.flows.get_or_insert_with(|| Flows::new(if self.many { MANY } else { 1 }, self.time));
        let (outcome, seconds) = clock::time(|| flows.run());
        let transfer = crossed(&outcome);
        self.last = Some(transfer);
        transfer.data_packets as f64 / seconds
    }
    fn transfer(&self) -> Option<Transfer> {
        self.last
    }
}

/// The case: the maximum additional memory of one more flow: both of its ends, and its own packets in flight.
pub(super) struct Memory(pub(super) Duration);

impl Case for Memory {
    fn name(&self) -> &'static str {
        "flow-memory"
    }
    fn unit(&self) -> &'static str {
        "bytes"
    }
    fn about(&self) -> &'static str {
        "quiclab, peak memory of the run with 1,000 flows minus that with one, per additional flow"
    }
    fn run(&mut self) -> f64 {
        let most = |flows: usize| {
            let flows = Flows::new(flows, self.0);
            heap::count(|| flows.run()).1.most as f64
        };
        (most(MANY) - most(1)) / (MANY - 1) as f64
    }
}
