//! A bulk transfer in the simulated network with changes to the default scenario.

use crate::case::{BULK, Case, Protection, Transfer};
use crate::clock;
use crate::quiclab::{Run, Traces, transfer};

/// The case: data packets delivered per CPU second.
pub(super) struct Varied {
    name: &'static str,
    about: &'static str,
    sets: Vec<String>,
    size: usize,
    /// Not measured; built at the first measurement.
    prepared: Option<Run>,
    last: Option<Transfer>,
}

impl Varied {
    /// Creates the case; `set` is the change to the scenario.
    pub(super) fn new(name: &'static str, about: &'static str, set: String) -> Varied {
        Varied { name, about, sets: vec![set], size: BULK, prepared: None, last: None }
    }

    /// 1 GB over 10 Gbit/s and 100 ms with these changes, for what takes place in a large window. Flow control does not limit.
    fn wide(name: &'static str, about: &'static str, changes: &[&str]) -> Varied {
        let wide = [
            "link.wire.rate=10 Gbit/s",
            "link.wire.delay=50 ms",
            "transport.initial_max_data=2 GB",
            "transport.initial_max_stream_data_bidi_local=2 GB",
        ];
        let sets = wide.iter().chain(changes).map(|set| (*set).to_owned()).collect();
        Varied { name, about, sets, size: 1_000_000_000, prepared: None, last: None }
    }

    /// quinn-proto at both ends of a scenario; the yardstick in `quinn` has a leaner loop of its own.
    pub(super) fn of_quinn() -> Varied {
        let about = "`bulk-null` with quinn-proto at both ends, in the simulated network";
        let nodes = r#"node=[{ name = "client", stack = "quinn" }, { name = "server", stack = "quinn" }]"#;
        Varied::new("quinn-simulated", about, nodes.to_owned())
    }
}

impl Case for Varied {
    fn name(&self) -> &'static str {
        self.name
    }

    fn unit(&self) -> &'static str {
        "data packets per CPU second"
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn run(&mut self) -> f64 {
        let read = || Run::with(Protection::Null, self.size, Traces::None, &self.sets);
        let prepared = self.prepared.get_or_insert_with(read);
        let (outcome, seconds) = clock::time(|| prepared.run());
        let transfer = transfer(&outcome);
        assert_eq!(transfer.bytes, self.size as u64, "all bytes arrive");
        self.last = Some(transfer);
        transfer.data_packets as f64 / seconds
    }

    fn transfer(&self) -> Option<Transfer> {
        self.last
    }
}

/// What losses cost: a window of 125 MB, a bandwidth-delay product, in which packets are lost, and a slow start that overshoots the
/// queue beside one for which the queue is large enough.
pub(super) fn losses() -> [Varied; 5] {
    let window = "transport.controller={ type = \"fixed\", window = \"125 MB\" }";
    [
        Varied::wide(
            "window-125MB",
            "quiclab, 1 GB over 10 Gbit/s and 100 ms, a window of 125 MB",
            &[window],
        ),
        Varied::wide(
            "window-125MB-loss-1",
            "the same with 1 % loss",
            &[window, "link.wire.forward.loss=1 %"],
        ),
        Varied::wide(
            "window-125MB-loss-5",
            "the same with 5 % loss",
            &[window, "link.wire.forward.loss=5 %"],
        ),
        Varied::wide(
            "slow-start",
            "quiclab, 1 GB with NewReno, a queue of 100 bandwidth-delay products: nothing is lost",
            &["link.wire.queue=100 BDP"],
        ),
        Varied::wide(
            "slow-start-overshoot",
            "the same with a queue of one, which slow start overshoots",
            &[],
        ),
    ]
}
