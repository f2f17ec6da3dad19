//! A bulk transfer in the simulated network with one change to the default scenario.

use crate::case::{BULK, Case, Protection, Transfer};
use crate::clock;
use crate::quiclab::{Run, Traces, transfer};

/// The case: data packets delivered per CPU second.
pub(super) struct Varied {
    name: &'static str,
    about: &'static str,
    set: String,
    /// Not measured; built at the first measurement.
    prepared: Option<Run>,
    last: Option<Transfer>,
}

impl Varied {
    /// Creates the case; `set` is the change to the scenario.
    pub(super) fn new(name: &'static str, about: &'static str, set: String) -> Varied {
        Varied { name, about, set, prepared: None, last: None }
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
        let set = std::slice::from_ref(&self.set);
        let prepared =
            self.prepared.get_or_insert_with(|| Run::with(Protection::Null, BULK, Traces::None, set));
        let (outcome, seconds) = clock::time(|| prepared.run());
        let transfer = transfer(&outcome);
        assert_eq!(transfer.bytes, BULK as u64, "all bytes arrive");
        self.last = Some(transfer);
        transfer.data_packets as f64 / seconds
    }

    fn transfer(&self) -> Option<Transfer> {
        self.last
    }
}
