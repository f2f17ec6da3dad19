//! All queues except the default, each with a bulk transfer through it.

use super::varied::Varied;

/// The cases: the name, and the queue as written in a scenario. Required options are set so that all packets
/// pass.
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

/// The case of one queue.
pub(super) fn case((name, queue): (&'static str, &str)) -> Varied {
    let about = "`bulk-null` through this queue in the place of drop-tail";
    Varied::new(name, about, format!("link.wire.forward.queue={queue}"))
}
