//! Flows that start when another one is over.

use crate::scenario::Scenario;
use units::Duration;

/// A flow that may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Start {
    /// Its number.
    pub flow: usize,
    /// The node of its client.
    pub client: usize,
    /// How long it waits from now on.
    pub wait: Duration,
}

/// The order of flows.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Flows that wait, with the number of the flow that they wait for, sorted by that.
    waiting: Vec<(usize, Start)>,
    /// Flows whose time has come.
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

    /// A flow is over.
    pub(crate) fn on_end(&mut self, flow: usize) {
        let from = self.waiting.partition_point(|(before, _)| *before < flow);
        let to = self.waiting.partition_point(|(before, _)| *before <= flow);
        self.ready.extend(self.waiting[from..to].iter().map(|(_, start)| *start));
    }

    /// Whether a flow may start.
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The flows that may start, each once.
    pub(crate) fn take_ready(&mut self) -> Vec<Start> {
        std::mem::take(&mut self.ready)
    }
}
