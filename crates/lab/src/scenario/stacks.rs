//! Limits of hosts with the QUIC endpoints of another stack.

use super::error::ScenarioError;
use super::model::{Flow, Node, Protocol};
use super::read::{Reader, Section};
use super::rooms::rooms;
use super::sections::{FlowOptions, TRANSPORT};
use super::source::quoted;
use foreign::Foreign;
use units::parameter::Options;

impl Node {
    /// The other project whose QUIC endpoints it has; `None`: those of this project.
    pub(crate) fn foreign(&self) -> Option<&'static Foreign> {
        self.stack.as_ref().and_then(|stack| foreign::foreign(stack.name))
    }
}

/// Checks that the other stacks support each flow at one of their hosts.
pub(super) fn check(
    reader: &Reader<'_>,
    nodes: &[Node],
    (flows, sections): (&[Flow], &[Section<'_>]),
) -> Result<(), ScenarioError> {
    for (flow, section) in flows.iter().zip(sections) {
        for (key, node) in [(FlowOptions::SERVER.name, flow.server), (FlowOptions::CLIENT.name, flow.client)]
        {
            if let Some(stack) = nodes[node].foreign()
                && let Some((at, problem)) = refusal(stack, flow, key)
            {
                return Err(reader.error_at(section, at, problem));
            }
        }
    }
    Ok(())
}

/// Why a stack does not take a flow, and the key that is wrong. `key`: the key of its host.
fn refusal<'k>(stack: &Foreign, flow: &Flow, key: &'k str) -> Option<(&'k str, String)> {
    let name = format!("stack = {}", quoted(stack.name));
    if stack.build.is_none() {
        let (project, feature) = (stack.project, stack.feature);
        let problem = format!(
            "a host with {name}, but this build has no {project}; expected a build with the feature `{feature}`: see \
             docs/model/stacks.md"
        );
        return Some((key, problem));
    }
    if flow.protocol == Protocol::Tcp {
        return Some((key, format!("{name} has no TCP; expected a host with stack = \"quiclab\"")));
    }
    let visits = flow.visits.iter().filter_map(|visit| visit.application.as_ref());
    for application in std::iter::once(&flow.application).chain(visits) {
        let (needs, instead) =
            if !stack.datagrams && traffic::needs_datagrams(application.name, &application.arguments) {
                ("sends datagrams", "an application over streams")
            } else if !stack.partial_resets
                && traffic::needs_partial_resets(application.name, &application.arguments)
            {
                ("has a deadline", "no deadline: it has no RESET_STREAM_AT")
            } else {
                continue;
            };
        let problem = format!(
            "{} {needs}, which {name} does not support; expected {instead}",
            quoted(application.name)
        );
        return Some((FlowOptions::APPLICATION.name, problem));
    }
    if flow.early_data && !stack.early_data {
        return Some((FlowOptions::EARLY_DATA.name, format!("{name} has no 0-RTT here; expected false")));
    }
    let controller = flow.transport.value(quic::Config::CONTROLLER);
    if !stack.controllers.contains(&controller.name) {
        let problem = format!(
            "{} is not a controller of {name}; expected {}",
            quoted(controller.name),
            stack.controllers.join(" or ")
        );
        return Some((TRANSPORT, problem));
    }
    None
}

/// The options of `[transport]` that are not as by default, and that neither end of a flow follows, since both have stacks of other
/// projects: their names, and the stacks.
pub(super) fn without_effect(flow: &Flow, nodes: &[Node]) -> Option<(Vec<&'static str>, [&'static str; 2])> {
    let stacks = match flow.protocol {
        Protocol::Tcp => return None,
        Protocol::Quic => [nodes[flow.client].foreign()?, nodes[flow.server].foreign()?],
    };
    let is_default = |name: &str, value| {
        let row = quic::Config::PARAMETERS.iter().find(|row| row.name == name);
        row.expect("the values are those of the table").default_value(rooms()).as_ref() == Some(value)
    };
    let followed = |name: &&str| stacks.iter().any(|stack| stack.options.contains(name));
    let lost: Vec<&'static str> = (flow.transport.0.iter())
        .filter(|(name, value)| !followed(name) && !is_default(name, value))
        .map(|(name, _)| *name)
        .collect();
    (!lost.is_empty()).then(|| (lost, stacks.map(|stack| stack.name)))
}
