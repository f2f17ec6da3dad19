//! The ways of packets through the network, as the run knows them: by which queues and nodes.

use super::value::{Value, table};
use crate::event::{Targets, ports_of};
use crate::flows::ways_of;
use crate::scenario::Scenario;
use network::{NodeId, Routes};

/// The ways of all traffic of a run.
pub(super) struct Ways<'c> {
    scenario: &'c Scenario,
    routes: &'c Routes,
    /// What events can act on, if there are any.
    targets: Option<Targets>,
}

impl<'c> Ways<'c> {
    pub(super) fn new(scenario: &'c Scenario, routes: &'c Routes) -> Ways<'c> {
        let targets = (!scenario.events.is_empty()).then(|| scenario.event_targets());
        Ways { scenario, routes, targets }
    }

    /// The queues on the way of a flow's packets from its client and from its server, in this order, and the nodes on them.
    /// If events move the client to other ports, the ways by those follow.
    pub(super) fn of_flow(&self, index: usize) -> Value {
        let flow = &self.scenario.flows[index];
        let ports = self
            .targets
            .as_ref()
            .map_or(Vec::new(), |targets| ports_of(&self.scenario.events, targets, index));
        let [there, back] = ways_of(self.routes, flow, &ports);
        table! {
            "there": self.queues(&there),
            "back": self.queues(&back),
            "nodes": self.nodes(&[(flow.client, &there), (flow.server, &back)]),
        }
    }

    /// The queues and the nodes on the way of cross traffic.
    pub(super) fn of_cross(&self, index: usize) -> Value {
        let cross = &self.scenario.cross_traffic[index];
        let [from, to] = [cross.from, cross.to].map(|node| NodeId(node as u32));
        let there = self.routes.route(from, to).expect("the reader refuses cross traffic without a route");
        table! { "there": self.queues(&there), "nodes": self.nodes(&[(cross.from, &there)]) }
    }

    /// The names of queues, each once: those of the table `queue`.
    fn queues(&self, hops: &[usize]) -> Value {
        let label = |hop: &usize| self.scenario.hop(self.routes.topology().hop(*hop)).label;
        once(hops.iter().map(label))
    }

    /// The names of nodes, each once: the first of each way, and the end of each of its hops.
    fn nodes(&self, ways: &[(usize, &Vec<usize>)]) -> Value {
        let end = |hop: &usize| self.scenario.end_of(self.routes.topology().hop(*hop));
        let places =
            ways.iter().flat_map(|(first, hops)| std::iter::once(*first).chain(hops.iter().map(end)));
        once(places.map(|node| self.scenario.nodes[node].name.clone()))
    }
}

/// A list of words without those that it has already.
fn once(words: impl Iterator<Item = String>) -> Value {
    let mut found: Vec<String> = Vec::new();
    for word in words {
        if !found.contains(&word) {
            found.push(word);
        }
    }
    Value::List(found.into_iter().map(Value::from).collect())
}
