//! Flows whose clients come back, as the flows that a run has: one for each connection.

use super::model::{Flow, Scenario, Visit};
use std::borrow::Cow;

/// The default port of the first flow's server; the n-th flow has the n-th port after it.
pub(crate) const SERVER_PORT: u16 = 4433;

impl Flow {
    /// The name of a connection of the flow: `get`, `get@2`, `get@3`.
    fn name_of(&self, number: usize) -> String {
        if number == 1 { self.name.clone() } else { format!("{}@{number}", self.name) }
    }

    fn visit(&self, number: usize, visit: &Visit) -> Flow {
        Flow {
            name: self.name_of(number),
            start: visit.at,
            // The flow's end is that of all its connections.
            application: visit.application.clone().unwrap_or_else(|| self.application.clone()),
            visits: Vec::new(),
            ..self.clone()
        }
    }
}

impl Scenario {
    /// The scenario with a flow for each connection: each visit of a flow stands behind it, to the same port.
    pub(crate) fn unfolded(&self) -> Cow<'_, Scenario> {
        if self.flows.iter().all(|flow| flow.visits.is_empty()) {
            return Cow::Borrowed(self);
        }
        let mut flows = Vec::new();
        for flow in &self.flows {
            let default = SERVER_PORT.saturating_add(flows.len() as u16);
            let mut first = flow.clone();
            if !flow.visits.is_empty() {
                first.port = Some(flow.port.unwrap_or(default));
            }
            let visits = flow.visits.iter().zip(2..).map(|(visit, number)| first.visit(number, visit));
            let visits: Vec<Flow> = visits.collect();
            first.visits.clear();
            flows.push(first);
            flows.extend(visits);
        }
        Cow::Owned(Scenario { flows, ..self.clone() })
    }
}
