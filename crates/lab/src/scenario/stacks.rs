//! What hosts cannot carry whose QUIC endpoints somebody else wrote.

use super::error::ScenarioError;
use super::model::{Flow, HostStack, Node, Protocol};
use super::read::{Reader, Section};
use super::sections::TRANSPORT;
use super::source::quoted;

/// The controllers of quinn-proto that a run can be repeated with, by their names here.
pub(crate) const QUINN_CONTROLLERS: [&str; 2] = ["newreno", "cubic"];
/// Whether this build has quinn-proto.
const HAS_QUINN: bool = cfg!(feature = "quinn");

impl Flow {
    /// Whether the endpoint of one of its ends is not ours.
    pub(crate) fn is_foreign(&self, nodes: &[Node]) -> [bool; 2] {
        let foreign = |node: usize| self.protocol == Protocol::Quic && nodes[node].stack == HostStack::Quinn;
        [foreign(self.client), foreign(self.server)]
    }
}

/// That each flow with a foreign end is one that it can carry.
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
        let wrong = |key: &str, problem: String| {
            let place = section.get(key).map_or(section.place, |entry| entry.item.place);
            Err(reader.source.error(place, &section.at(key), problem))
        };
        let key = if server { "server" } else { "client" };
        if !HAS_QUINN {
            return wrong(
                key,
                "a host with stack = \"quinn\", and this build has no quinn-proto; expected a build with the \
                 feature `quinn`: see docs/model/stacks.md"
                    .to_owned(),
            );
        }
        if flow.protocol == Protocol::Tcp {
            return wrong(
                key,
                "a host with stack = \"quinn\", and a flow over TCP; expected a host with stack = \"quiclab\""
                    .to_owned(),
            );
        }
        let visits = flow.visits.iter().filter_map(|visit| visit.application.as_ref());
        for application in std::iter::once(&flow.application).chain(visits) {
            if traffic::needs_datagrams(application.name, &application.arguments) {
                return wrong(
                    "application",
                    format!(
                        "{} sends datagrams, and a host with stack = \"quinn\" none; expected an application over streams",
                        quoted(application.name)
                    ),
                );
            }
        }
        if flow.early_data {
            return wrong(
                "early_data",
                "no 0-RTT with a host whose stack is \"quinn\"; expected false".to_owned(),
            );
        }
        let controller = flow.transport.component("controller");
        if !QUINN_CONTROLLERS.contains(&controller.name) {
            return wrong(
                TRANSPORT,
                format!(
                    "{} is no controller of a host with stack = \"quinn\"; expected one of newreno and cubic",
                    quoted(controller.name)
                ),
            );
        }
    }
    Ok(())
}
