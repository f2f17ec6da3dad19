//! Limits of hosts with the QUIC endpoints of another stack.

use super::error::ScenarioError;
use super::model::{Flow, HostStack, Node, Protocol};
use super::read::{Reader, Section};
use super::sections::{FlowOptions, TRANSPORT};
use super::source::quoted;

/// The controllers of quinn-proto with which runs are reproducible, by their names in scenarios.
pub(crate) const QUINN_CONTROLLERS: [&str; 2] = ["newreno", "cubic"];
/// Whether this build has quinn-proto.
const HAS_QUINN: bool = cfg!(feature = "quinn");

impl Flow {
    /// Whether the QUIC endpoints of its client and its server are those of another stack.
    pub(crate) fn is_foreign(&self, nodes: &[Node]) -> [bool; 2] {
        let foreign = |node: usize| self.protocol == Protocol::Quic && nodes[node].stack == HostStack::Quinn;
        [self.client, self.server].map(foreign)
    }
}

/// Checks that the other stack supports each flow at one of its hosts.
pub(super) fn check(
    reader: &Reader<'_>,
    nodes: &[Node],
    (flows, sections): (&[Flow], &[Section<'_>]),
) -> Result<(), ScenarioError> {
    for (flow, section) in flows.iter().zip(sections) {
        let [client, server] = [flow.client, flow.server].map(|node| nodes[node].stack == HostStack::Quinn);
        if !client && !server {
            continue;
        }
        let key = if server { FlowOptions::SERVER.name } else { FlowOptions::CLIENT.name };
        if !HAS_QUINN {
            let problem = "a host with stack = \"quinn\", but this build has no quinn-proto; expected a \
                           build with the feature `quinn`: see docs/model/stacks.md";
            return Err(reader.error_at(section, key, problem));
        }
        if flow.protocol == Protocol::Tcp {
            let problem = "stack = \"quinn\" has no TCP; expected a host with stack = \"quiclab\"";
            return Err(reader.error_at(section, key, problem));
        }
        let visits = flow.visits.iter().filter_map(|visit| visit.application.as_ref());
        for application in std::iter::once(&flow.application).chain(visits) {
            let (needs, instead) = if traffic::needs_datagrams(application.name, &application.arguments) {
                ("sends datagrams", "an application over streams")
            } else if traffic::needs_partial_resets(application.name, &application.arguments) {
                ("has a deadline", "no deadline: it has no RESET_STREAM_AT")
            } else {
                continue;
            };
            let problem = format!(
                "{} {needs}, which stack = \"quinn\" does not support; expected {instead}",
                quoted(application.name)
            );
            return Err(reader.error_at(section, FlowOptions::APPLICATION.name, problem));
        }
        if flow.early_data {
            let problem = "stack = \"quinn\" has no 0-RTT here; expected false";
            return Err(reader.error_at(section, FlowOptions::EARLY_DATA.name, problem));
        }
        let controller = flow.transport.value(quic::Config::CONTROLLER);
        if !QUINN_CONTROLLERS.contains(&controller.name) {
            let problem = format!(
                "{} is not a controller of stack = \"quinn\"; expected newreno or cubic",
                quoted(controller.name)
            );
            return Err(reader.error_at(section, TRANSPORT, problem));
        }
    }
    Ok(())
}
