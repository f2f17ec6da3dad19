//! Flows that start when another one has ended.

use crate::scenario::Scenario;
use units::Duration;

/// A flow that may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    /// Its number.
    pub flow: usize,
    /// The node of its client.
    pub client: usize,
    /// The time from now until its start.
    pub wait: Duration,
}

/// Flows that wait for others.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The waiting flows, sorted by the number of the flow that each waits for, which comes first.
    waiting: Vec<(usize, Start)>,
    /// Flows that may start.
    ready: Vec<Start>,
}

impl Order {
    pub(crate) fn new(scenario: &Scenario) -> Order {
        let waiting = scenario.flows.iter().enumerate().filter_map(|(number, flow)| {
            Some((flow.after?, Start { flow: number, client: flow.client, wait: flow.start }))
        });
        let mut waiting: Vec<(usize, Start)> = waiting.collect();
        waiting.sort_by_key(|(before, _)| *before);
        Order { waiting, ready: Vec::new() }
    }

    /// Makes the flows ready that waited for the end of this one.
    pub(crate) fn on_end(&mut self, flow: usize) {
        let from = self.waiting.partition_point(|(before, _)| *before < flow);
        let to = self.waiting.partition_point(|(before, _)| *before <= flow);
        debug_assert!(
            self.waiting[from..to].iter().all(|(_, start)| start.flow != flow),
            "no flow waits for itself"
        );
        self.ready.extend(self.waiting[from..to].iter().map(|(_, start)| *start));
    }

    /// Whether any flow may start.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Takes the flows that may start.
    pub(crate) fn take_ready(&mut self) -> Vec<Start> {
        std::mem::take(&mut self.ready)
    }
}
