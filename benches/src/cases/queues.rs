//! A bulk transfer by quiclab through each queue that is not the default one.

use crate::case::{BULK, Case, Protection, Transfer};
use crate::clock;
use crate::quiclab::{Run, Traces, transfer};

/// The cases: name, and the queue as a scenario says it. With the options that it must have, it lets all through.
pub(super) const QUEUES: &[(&str, &str)] = &[
    ("queue-drop-head", "{ type = \"drop-head\" }"),
    ("queue-codel", "{ type = \"codel\" }"),
    ("queue-fq-codel", "{ type = \"fq-codel\" }"),
    ("queue-red", "{ type = \"red\" }"),
    ("queue-pie", "{ type = \"pie\" }"),
    ("queue-dualpi2", "{ type = \"dualpi2\" }"),
    ("queue-priority", "{ type = \"priority\", classes = [[\"download\"]] }"),
    ("queue-policer", "{ type = \"policer\", rate = \"1 Gbit/s\", burst = \"1 MB\" }"),
];

/// The case: data packets delivered per CPU second.
pub(super) struct Queued {
    name: &'static str,
    prepared: Run,
    last: Option<Transfer>,
}

impl Queued {
    /// Builds what is not measured.
    pub(super) fn new((name, queue): (&'static str, &str)) -> Queued {
        let set = format!("link.wire.forward.queue={queue}");
        Queued { name, prepared: Run::with(Protection::Null, BULK, Traces::None, &[set]), last: None }
    }
}

impl Case for Queued {
    fn name(&self) -> &'static str {
        self.name
    }

    fn unit(&self) -> &'static str {
        "data packets per CPU second"
    }

    fn about(&self) -> &'static str {
        "`bulk-null` through this queue in the place of drop-tail"
    }

    fn run(&mut self) -> f64 {
        let (outcome, seconds) = clock::time(|| self.prepared.run());
        let transfer = transfer(&outcome);
        assert_eq!(transfer.bytes, BULK as u64, "all bytes arrive");
        self.last = Some(transfer);
        transfer.data_packets as f64 / seconds
    }

    fn transfer(&self) -> Option<Transfer> {
        self.last
    }
}
